//! Fields that orders carry through an OMS: drawn at random, and found again at the exchange.

use super::dialogue::{Carried, Dialogue};
use crate::random::Random;
use crate::wire::fields;
use std::collections::{BTreeMap, BTreeSet};

/// A tag that no dictionary has.
pub const CUSTOM: u32 = 6001;
/// The fields that are drawn, members of groups too, and what another version makes of them.
const DRAWN: [&str; 16] = [
    "47", "58", "76", "109", "204", "354", "355", "376", "447", "448", "452", "453", "523", "528",
    "802", "6001",
];
/// The Parties, which a cancel of the OMS has of its order; in FIX 4.2 they are single fields.
const PARTIES: [&str; 8] = ["453", "448", "447", "452", "802", "523", "76", "109"];

/// The versions of client and lines.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Versions {
    /// Both have all fields that are drawn.
    Alike,
    /// A client of FIX 4.2, lines of 4.4 and 5.0 SP2.
    From42,
    /// A client of FIX 4.4, lines of 4.2.
    Into42,
}

/// The carried fields of a message, in their order, with `|` after each.
#[must_use]
pub fn carried(raw: &[u8]) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    let all = fields(raw).map(|(tag, value)| (text(tag), text(value.unwrap_or_default())));
    let drawn = all.filter(|(tag, _)| DRAWN.contains(&&**tag));
    drawn
        .map(|(tag, value)| format!("{tag}={value}|"))
        .collect()
}

/// The Parties of these fields.
fn parties(fields: &str) -> String {
    let tag = |field: &&str| {
        field
            .split('=')
            .next()
            .is_some_and(|tag| PARTIES.contains(&tag))
    };
    fields.split_inclusive('|').filter(tag).collect()
}

/// The Text(58) of these fields.
#[must_use]
pub fn text_of(fields: &str) -> &str {
    let mut fields = fields.split_inclusive('|');
    fields.find(|it| it.starts_with("58=")).unwrap_or_default()
}

/// Draws fields for an order or a replace, with `|` after each; each Text(58) is another one.
pub fn draw(random: &mut Random, versions: Versions) -> String {
    let mut is = |once_in| random.below(once_in) == 0;
    let (desk, custom, has_capacity, data) = (is(3), is(3), is(2), is(4));
    let (has_party, has_sub) = (is(2), is(2));
    let (id, number) = (random.below(1_000), random.below(u64::MAX));
    let mut fields = format!("58=T{number}|");
    for (field, is_there) in [("376=DESK7|", desk), ("6001=x|", custom)] {
        fields += if is_there { field } else { "" };
    }
    if data {
        // It looks like another field.
        let text = format!("58=no{id}");
        fields += &format!("354={}|355={text}|", text.len());
    }
    let (roles, capacity): (&[u32], _) = match versions {
        Versions::Alike => (&[1, 3, 7, 36], "528=A|"),
        Versions::From42 => (&[], "47=A|"),
        Versions::Into42 => (&[1, 3], "528=A|"),
    };
    fields += if has_capacity { capacity } else { "" };
    if has_party && roles.is_empty() {
        fields += &format!("109=P{id}|");
    } else if has_party {
        let role = roles[random.below(roles.len() as u64) as usize];
        fields += &format!("453=1|448=P{id}|447=D|452={role}|");
        if has_sub && versions == Versions::Alike {
            fields += &format!("802=1|523=S{id}|");
        }
    }
    fields
}

/// These fields of a client as the exchange gets them: those that are the same in the version of its line, then the
/// others.
fn there(said: &str, versions: Versions) -> String {
    let value = |tag: &str| {
        let mut fields = said.split_terminator('|');
        fields.find_map(|it| it.strip_prefix(tag))
    };
    let (moved, more): (&[&str], _) = match versions {
        Versions::Alike => return said.to_owned(),
        Versions::From42 => {
            let party = value("109=").map(|id| format!("453=1|448={id}|447=D|452=3|"));
            let capacity = value("47=").map(|it| format!("528={it}|"));
            (&["109=", "47="], [party, capacity])
        }
        // FIX 4.2 has CustomerOrFirm(204) for OrderCapacity(528), and a field for each of these roles.
        Versions::Into42 => {
            let tag = if value("452=") == Some("3") { 109 } else { 76 };
            let party = value("448=").map(|id| format!("{tag}={id}|"));
            let capacity = value("528=").map(|_| "204=0|".to_owned());
            (&["453=", "448=", "447=", "452=", "528="], [party, capacity])
        }
    };
    let is_same = |it: &&str| !moved.iter().any(|tag| it.starts_with(tag));
    let same: String = said.split_inclusive('|').filter(is_same).collect();
    let more = more.into_iter().flatten();
    more.fold(same, |fields, more| fields + more.as_str())
}

/// Whether a request has all that was drawn for it. A client repeats single fields of its order in a replace, so a
/// replace may have more.
fn has_drawn(asked: &Carried, drawn: &BTreeSet<String>) -> bool {
    drawn.contains(&asked.fields)
        || asked.msg_type == "G" && {
            let of = |fields: &str| -> BTreeSet<String> {
                fields.split_inclusive('|').map(str::to_owned).collect()
            };
            let (text, has) = (text_of(&asked.fields), of(&asked.fields));
            let mut from_text = drawn.range(text.to_owned()..);
            let drawn = from_text.next().filter(|it| it.starts_with(text));
            drawn.is_some_and(|drawn| of(drawn).is_subset(&has))
        }
}

/// The requests that carry fields, by kind: orders, replaces, and cancels of the OMS.
#[derive(Clone, Copy, Debug, Default)]
pub struct CarriedCounts {
    /// Orders (D).
    pub orders: usize,
    /// Replaces (G).
    pub replaces: usize,
    /// Cancels (F) that the OMS made.
    pub cancels: usize,
}

impl CarriedCounts {
    /// Whether orders, replaces or cancels have carried nothing.
    #[must_use]
    pub fn lacks_some(&self) -> bool {
        [self.orders, self.replaces, self.cancels].contains(&0)
    }
}

/// Compares what requests of the client carry with what was drawn, and what requests at the exchange carry with what
/// those of the client do.
///
/// # Errors
///
/// The first difference.
pub fn compare(
    (drawn, versions): (&BTreeSet<String>, Versions),
    client: &Dialogue,
    exchange: &Dialogue,
) -> Result<CarriedCounts, String> {
    let mut counts = CarriedCounts::default();
    let roots: BTreeMap<&str, &str> = client
        .orders
        .iter()
        .map(|(root, told)| (&*told.order_id, &**root))
        .collect();
    let mut asked_of: BTreeMap<&str, Vec<&Carried>> = BTreeMap::new();
    for (id, asked) in &client.carried {
        asked_of.entry(&asked.root).or_default().push(asked);
        if asked.msg_type != "F" && !has_drawn(asked, drawn) {
            return Err(format!(
                "{id} carries {}, which was not drawn",
                asked.fields
            ));
        }
    }
    for (id, at_venue) in &exchange.carried {
        let number = id.split('-').next().unwrap_or_default();
        let root = roots.get(number);
        let root = *root.ok_or_else(|| format!("no client has an order for {id}"))?;
        let asked: &[_] = asked_of.get(root).map_or(&[], |it| it);
        let mut changes = asked.iter().filter(|it| it.msg_type != "F");
        let fields = &at_venue.fields;
        let is_right = match &*at_venue.msg_type {
            // The client's own cancels carry nothing; those of the OMS have the Parties that the order has then.
            "F" if fields.is_empty() && changes.clone().count() < asked.len() => true,
            "F" => changes.any(|it| parties(&there(&it.fields, versions)) == *fields),
            kind => changes.any(|it| it.msg_type == kind && there(&it.fields, versions) == *fields),
        };
        if !is_right {
            return Err(format!(
                "{id} carries {at_venue:?} at the exchange, of {asked:?}"
            ));
        }
        let count = match &*at_venue.msg_type {
            "D" => &mut counts.orders,
            "G" => &mut counts.replaces,
            _ => &mut counts.cancels,
        };
        *count += usize::from(!fields.is_empty());
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: &str = "35=D|34=1|11=A|55=VOD|58=T1|453=1|448=P1|447=D|452=1|";
    const ACCEPTED: &str = "35=8|11=A|37=7|17=e1|150=0|39=0|38=100|14=0|151=100|6=0|";
    const REPLACE: &str = "35=G|34=2|11=B|41=A|58=T2|";

    fn of(said: &[&str]) -> Dialogue {
        let said = said
            .iter()
            .map(|text| (!text.starts_with("35=8"), (*text).to_owned()));
        Dialogue::tell(said).unwrap()
    }

    fn judge(there: &[&str]) -> Result<CarriedCounts, String> {
        let drawn = ["58=T1|453=1|448=P1|447=D|452=1|", "58=T2|"].map(str::to_owned);
        let drawn = (&BTreeSet::from(drawn), Versions::Alike);
        compare(drawn, &of(&[ORDER, ACCEPTED, REPLACE]), &of(there))
    }

    #[test]
    fn requests_carry_what_their_client_said() {
        let order = ORDER.replace("11=A", "11=7");
        let replace = REPLACE.replace("11=B|41=A", "11=7-8|41=7");
        let cancel = "35=F|34=4|11=7-9|41=7-8|453=1|448=P1|447=D|452=1|";
        let counts = judge(&[&order, &replace, cancel]).unwrap();
        assert_eq!((counts.orders, counts.replaces, counts.cancels), (1, 1, 1));
        for (from, to) in [("58=T1|", ""), ("58=T1|", "58=T2|"), ("448=P1", "448=P2")] {
            let fault = judge(&[&order.replace(from, to)]).unwrap_err();
            assert!(fault.contains("7 carries"), "{fault}");
        }
        assert!(judge(&[&order, &replace.replace("T2", "T1")]).is_err());
        assert!(judge(&[&order, &cancel.replace("P1", "P2")]).is_err());
        assert!(judge(&["35=D|34=1|11=9|55=VOD|58=T1|"]).is_err());
    }

    #[test]
    fn fields_in_another_version_come_after_the_others() {
        let new = "58=T1|453=1|448=P1|447=D|452=3|528=A|6001=x|";
        let old = "58=T1|109=P1|47=A|6001=x|";
        assert_eq!(there(new, Versions::Alike), new);
        assert_eq!(there(new, Versions::Into42), "58=T1|6001=x|109=P1|204=0|");
        let converted = "58=T1|6001=x|453=1|448=P1|447=D|452=3|528=A|";
        assert_eq!(there(old, Versions::From42), converted);
    }
}
