//! [`IdMaker`]: ids that no other run has, and the case that each belongs to.

use fixwire_protocol::{Tag, Timestamp, tag};

use crate::wire_message::value;

/// Fields of a report that name the request, and so the case that it belongs to.
const NAMES_REQUEST: [Tag; 3] = [
    tag::CL_ORD_ID,
    tag::ORIG_CL_ORD_ID,
    tag::BUSINESS_REJECT_REF_ID,
];

/// Makes ids, each once, and knows who has which.
#[derive(Debug)]
pub(crate) struct IdMaker {
    /// The beginning of all ids of this run.
    prefix: String,
    /// The round of a case that has the id, by its place.
    owners: Vec<u64>,
}

impl IdMaker {
    /// Ids that begin with this moment: at most 12 characters until the thousandth.
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
        }
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

    /// Whether a message answers a request of an earlier round or case than `owner`.
    pub(crate) fn is_late(&self, fields: &[(Tag, String)], owner: u64) -> bool {
        let ids = NAMES_REQUEST.iter().filter_map(|tag| value(fields, *tag));
        let mut owners = ids.filter_map(|id| self.owner(id));
        let first = owners.next();
        first.is_some_and(|first| first != owner && owners.all(|other| other != owner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire_message::text_fields as fields;

    #[test]
    fn a_message_for_an_earlier_case_is_late() {
        let mut ids = IdMaker::new(Timestamp(0));
        let (first, second) = (ids.make(1), ids.make(2));
        let late = |text: String| ids.is_late(&fields(&text), 2);
        assert!(late(format!("35=8|11={first}|41={first}")));
        assert!(!late(format!("35=8|11={second}")));
        assert!(!late(format!("35=8|11={second}|41={first}")));
        assert!(!late("35=8|11=other".to_owned()));
        assert!(late(format!("35=j|379={first}")));
    }
}
