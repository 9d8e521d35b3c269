//! Fields that orders carry through an OMS: drawn at random, and found again at the exchange.

use super::dialogue::Dialogue;
use crate::random::Random;
use crate::wire::fields;
use std::collections::BTreeMap;

/// A tag that no dictionary has.
pub const CUSTOM: u32 = 6001;
/// The fields that are drawn, members of groups too.
const DRAWN: [&str; 10] = [
    "58", "376", "528", "6001", "453", "448", "447", "452", "802", "523",
];
/// The Parties, which a cancel of the OMS has of its order.
const PARTIES: &str = "453=";

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

/// Draws fields for an order or a replace; each Text(58) is another one.
pub fn draw(random: &mut Random) -> String {
    let mut text = format!("58=T{}|", random.below(u64::MAX));
    for (field, once_in) in [("376=DESK7|", 3), ("528=A|", 2), ("6001=x|", 3)] {
        if random.below(once_in) == 0 {
            text += field;
        }
    }
    if random.below(2) == 0 {
        let (id, role) = (random.below(1_000), [1, 3, 7, 36][random.below(4) as usize]);
        text += &format!("{PARTIES}1|448=P{id}|447=D|452={role}|");
        if random.below(2) == 0 {
            text += &format!("802=1|523=S{id}|");
        }
    }
    text
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

/// Compares what requests at the exchange carry with what the client's requests carried, and the client's orders with
/// what was drawn, by Text(58).
///
/// # Errors
///
/// The first difference.
pub fn compare(
    drawn: &BTreeMap<String, String>,
    client: &Dialogue,
    exchange: &Dialogue,
) -> Result<CarriedCounts, String> {
    let mut counts = CarriedCounts::default();
    let roots: BTreeMap<&str, &str> = client
        .orders
        .iter()
        .map(|(root, told)| (&*told.order_id, &**root))
        .collect();
    for (id, asked) in client.carried.iter().filter(|(_, it)| it.msg_type == "D") {
        let text = asked.fields.split_inclusive('|').next().unwrap_or_default();
        match drawn.get(text) {
            Some(drawn) if *drawn == asked.fields => {}
            other => return Err(format!("{id} carries {}, not {other:?}", asked.fields)),
        }
    }
    for (id, there) in &exchange.carried {
        let number = id.split('-').next().unwrap_or_default();
        let root = roots.get(number);
        let root = *root.ok_or_else(|| format!("no client has an order for {id}"))?;
        let of_order = client.carried.values().filter(|it| it.root == root);
        let mut same_kind = of_order.clone().filter(|it| it.msg_type == there.msg_type);
        let has_it = |fields: &str| {
            fields
                .find(PARTIES)
                .is_some_and(|at| fields[at..] == there.fields)
        };
        let is_right = match &*there.msg_type {
            // The client's own cancels carry nothing.
            "F" => there.fields.is_empty() || of_order.clone().any(|it| has_it(&it.fields)),
            _ => same_kind.any(|it| it.fields == there.fields),
        };
        if !is_right {
            let said: Vec<_> = of_order.collect();
            return Err(format!(
                "{id} carries {there:?} at the exchange, of {said:?}"
            ));
        }
        let count = match &*there.msg_type {
            "D" => &mut counts.orders,
            "G" => &mut counts.replaces,
            _ => &mut counts.cancels,
        };
        *count += usize::from(!there.fields.is_empty());
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
        let drawn = "58=T1|453=1|448=P1|447=D|452=1|";
        let drawn = BTreeMap::from([("58=T1|".to_owned(), drawn.to_owned())]);
        compare(&drawn, &of(&[ORDER, ACCEPTED, REPLACE]), &of(there))
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
}
