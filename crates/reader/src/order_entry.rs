//! The fields of a message that belong to one order, when a repeating group has several orders.

use fixwire_protocol::Dictionary;
use fixwire_protocol::Tag;
use fixwire_protocol::dictionary::GroupDef;

use crate::field::fields;

/// Fields whose values identify an order: ClOrdID, OrigClOrdID, SecondaryClOrdID, OrderID, SecondaryOrderID.
const NAMES: [Tag; 5] = [11, 41, 526, 37, 198];

/// The fields of a message that belong to the order with one of these ids, in sequence: all fields outside repeating
/// groups, and in a group whose entries identify orders, only the entries of this order. When no entry identifies
/// this order, returns all fields.
pub fn fields_of_order<'b>(
    bytes: &'b [u8],
    dictionary: &Dictionary,
    ids: &[Vec<u8>],
) -> Vec<(Tag, &'b [u8])> {
    let mut all: Vec<(Tag, &[u8])> = fields(bytes).collect();
    let msg_type = all
        .iter()
        .find(|(tag, _)| *tag == 35)
        .map(|(_, value)| *value);
    let definition = msg_type.and_then(|msg_type| dictionary.message(msg_type));
    let groups = definition.into_iter().flat_map(|it| it.members());
    for group in groups.filter_map(|member| member.group.as_deref()) {
        if NAMES.iter().any(|tag| is_in(group, *tag)) {
            keep_entries(&mut all, group, ids);
        }
    }
    all
}

/// Whether an entry may have this field, itself or in a nested group.
fn is_in(group: &GroupDef, tag: Tag) -> bool {
    let mut nested = group.members().iter().filter_map(|it| it.group.as_deref());
    group.member(tag).is_some() || nested.any(|group| is_in(group, tag))
}

fn keep_entries(all: &mut Vec<(Tag, &[u8])>, group: &GroupDef, ids: &[Vec<u8>]) {
    let Some(count) = all.iter().position(|(tag, _)| *tag == group.count()) else {
        return;
    };
    let first = count + 1;
    let len = all[first..].iter().position(|(tag, _)| !is_in(group, *tag));
    let end = len.map_or(all.len(), |len| first + len);
    let is_begin = |at: &usize| all[*at].0 == group.delimiter();
    let mut begins: Vec<usize> = (first..end).filter(is_begin).collect();
    begins.push(end);
    let is_named = |entry: &[(Tag, &[u8])]| {
        let mut names = entry.iter().filter(|(tag, _)| NAMES.contains(tag));
        names.any(|(_, value)| ids.iter().any(|id| id == value))
    };
    let entries = begins.windows(2).map(|it| &all[it[0]..it[1]]);
    let own: Vec<(Tag, &[u8])> = entries
        .filter(|entry| is_named(entry))
        .flatten()
        .copied()
        .collect();
    if !own.is_empty() {
        all.splice(first..end, own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire_protocol::dictionary::Version;

    #[test]
    fn an_order_has_the_entry_that_names_it() {
        let dictionary = Dictionary::built_in(Version::Fix50Sp2);
        for (text, id, wanted) in [
            // NewOrderList, its entries with a nested group.
            (
                "35=E|66=L|73=2|11=A|55=VOD|78=1|79=X|54=1|11=B|55=SAP|54=2|44=7|10=0|",
                "B",
                "35=E|66=L|73=2|11=B|55=SAP|54=2|44=7|10=0",
            ),
            // ListStatus.
            (
                "35=N|66=L|73=2|11=A|39=0|11=B|39=8|10=0|",
                "B",
                "35=N|66=L|73=2|11=B|39=8|10=0",
            ),
            // NewOrderCross: the side begins an entry.
            (
                "35=s|548=X|552=2|54=1|11=A|38=1|54=2|11=B|38=2|55=VOD|44=5|",
                "B",
                "35=s|548=X|552=2|54=2|11=B|38=2|55=VOD|44=5",
            ),
            // AllocationInstruction: also found by the OrderID.
            (
                "35=J|70=1|73=2|11=A|37=1|11=B|37=2|55=VOD|",
                "2",
                "35=J|70=1|73=2|11=B|37=2|55=VOD",
            ),
            // A field of no entry, and one without a group.
            ("35=N|66=L|73=1|11=A|39=0|", "Z", "35=N|66=L|73=1|11=A|39=0"),
            ("35=8|11=A|37=2|", "A", "35=8|11=A|37=2"),
        ] {
            let bytes = text.replace('|', "\x01").into_bytes();
            let own = fields_of_order(&bytes, &dictionary, &[id.as_bytes().to_vec()]);
            let shown: Vec<String> = own
                .iter()
                .map(|(tag, value)| format!("{tag}={}", String::from_utf8_lossy(value)))
                .collect();
            assert_eq!(shown.join("|"), wanted, "{text}");
        }
    }
}
