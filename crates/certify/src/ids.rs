//! [`IdMaker`]: makes ids that are unique across runs, and knows for which case each was made.

use std::collections::BTreeMap;

use fixwire_protocol::{Tag, Timestamp, tag};

use crate::tmp::fields;
use crate::wire_message::value;

/// Fields of a report that identify the request, and thereby the case.
const NAMES_REQUEST: [Tag; 3] = [
    tag::CL_ORD_ID,
    tag::ORIG_CL_ORD_ID,
    tag::BUSINESS_REJECT_REF_ID,
];

/// Makes ids, and remembers for which round of a case each id was made. A round is one repetition of a case
/// (`repeat`).
#[derive(Debug)]
pub(crate) struct IdMaker {
    /// The prefix of all ids of this run.
    prefix: String,
    /// For each id in the order in which they were made: the round of a case for which it was made.
    owners: Vec<u64>,
    /// The next order number over TMP.
    next_number: u64,
    /// For each order number over TMP: the round of a case for which it was made.
    number_owners: BTreeMap<String, u64>,
}

/// Characters allowed in order numbers over TMP.
const NUMBER_DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Length of an order number.
const NUMBER_WIDTH: u32 = 5;

impl IdMaker {
    /// A maker of ids that begin with this time. The first 9,999 ids have at most 12 characters.
    pub(crate) fn new(at: Timestamp) -> Self {
        const DIGITS: &[u8; 36] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let mut tenths = at.0.unsigned_abs() / 100_000_000;
        let mut prefix = String::new();
        for _ in 0..7 {
            prefix.insert(0, char::from(DIGITS[(tenths % 36) as usize]));
            tenths /= 36;
        }
        Self {
            prefix: prefix + "-",
            owners: Vec::new(),
            // With a hundred order numbers a second, no number repeats for months.
            next_number: at.0.unsigned_abs() / 10_000_000,
            number_owners: BTreeMap::new(),
        }
    }

    /// A new id for this field.
    pub(crate) fn make_for(&mut self, tag: Tag, owner: u64) -> String {
        match fields::name_of(tag) {
            None => self.make(owner),
            Some("ord_id") => {
                self.next_number += 1;
                // The number has at most seven digits.
                (1 + self.next_number % 9_999_999).to_string()
            }
            Some(_) => {
                let number = self.number();
                self.number_owners.insert(number.clone(), owner);
                number
            }
        }
    }

    /// A new order number for TMP: five characters.
    fn number(&mut self) -> String {
        self.next_number += 1;
        let mut rest = self.next_number;
        let mut number = String::new();
        for _ in 0..NUMBER_WIDTH {
            number.insert(0, char::from(NUMBER_DIGITS[(rest % 62) as usize]));
            rest /= 62;
        }
        number
    }

    /// A new id.
    pub(crate) fn make(&mut self, owner: u64) -> String {
        self.owners.push(owner);
        format!("{}{:03}", self.prefix, self.owners.len())
    }

    fn owner(&self, id: &str) -> Option<u64> {
        let place: usize = id.strip_prefix(&self.prefix)?.parse().ok()?;
        self.owners.get(place.checked_sub(1)?).copied()
    }

    /// Whether a message answers a request of a round before `owner`.
    pub(crate) fn is_late(&self, message: &[(Tag, String)], owner: u64) -> bool {
        let number = fields::tag_of("order_no").and_then(|tag| value(message, tag));
        let of_number = number.and_then(|number| self.number_owners.get(number).copied());
        let ids = NAMES_REQUEST.iter().filter_map(|tag| value(message, *tag));
        let mut owners = of_number
            .into_iter()
            .chain(ids.filter_map(|id| self.owner(id)));
        let first = owners.next();
        first.is_some_and(|first| first != owner && owners.all(|other| other != owner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire_message::text_fields;

    #[test]
    fn a_message_for_an_earlier_case_is_late() {
        let mut ids = IdMaker::new(Timestamp(0));
        let (first, second) = (ids.make(1), ids.make(2));
        let late = |text: String| ids.is_late(&text_fields(&text), 2);
        assert!(late(format!("35=8|11={first}|41={first}")));
        assert!(!late(format!("35=8|11={second}")));
        assert!(!late(format!("35=8|11={second}|41={first}")));
        assert!(!late("35=8|11=other".to_owned()));
        assert!(late(format!("35=j|379={first}")));
    }

    #[test]
    fn numbers_over_tmp_belong_to_a_case_too() {
        let tag = |name: &str| fields::tag_of(name).unwrap();
        let mut ids = IdMaker::new(Timestamp(1_795_685_411_000_000_000));
        let numbers = [1, 2].map(|owner| ids.make_for(tag("order_no"), owner));
        assert!(numbers.iter().all(|number| number.len() == 5));
        assert_ne!(numbers[0], numbers[1]);
        let report = |number: &String| vec![(tag("order_no"), number.clone())];
        assert!(ids.is_late(&report(&numbers[0]), 2) && !ids.is_late(&report(&numbers[1]), 2));
        let id: u32 = ids.make_for(tag("ord_id"), 2).parse().unwrap();
        assert!((1..10_000_000).contains(&id));
        // A run that begins a second later uses none of them.
        let mut later = IdMaker::new(Timestamp(1_795_685_412_000_000_000));
        let next = later.make_for(tag("order_no"), 1);
        assert!(!numbers.contains(&next), "{next}");
    }
}
