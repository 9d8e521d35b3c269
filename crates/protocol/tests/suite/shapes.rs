//! Validation that remembers the fields of earlier messages finds what validation without memory finds.

use fixwire_protocol::dictionary::validate::check;
use fixwire_protocol::dictionary::{
    DataType, Dictionary, FieldDef, GroupDef, Member, MessageDef, Scratch, ValidationRules, Version,
};
use fixwire_protocol::{Decoder, Tag};
use proptest::prelude::*;
use proptest::sample::Index;

/// The fields of a message, in its order.
type Fields = Vec<(Tag, String)>;

/// A valid value of a field.
fn value(field: &FieldDef) -> String {
    let listed = field.values.first().map(|value| value.value.as_str());
    let usual = match field.kind {
        DataType::Char | DataType::Boolean => "Y",
        DataType::UtcTimestamp => "20260821-13:30:00.123",
        DataType::UtcTimeOnly | DataType::LocalMktTime => "13:30:00",
        DataType::UtcDateOnly | DataType::LocalMktDate => "20260821",
        DataType::MonthYear => "202608",
        DataType::TzTimeOnly => "07:39Z",
        DataType::TzTimestamp => "20260821-07:39Z",
        DataType::MultipleCharValue => "A",
        kind if kind.is_decimal() => "12.50",
        _ => "7",
    };
    listed.unwrap_or(usual).to_owned()
}

/// Adds a group of one or two entries, with the required fields and some others, without data fields.
fn add_group(dictionary: &Dictionary, group: &GroupDef, chosen: u64, fields: &mut Fields) {
    let entries = 1 + chosen % 2;
    fields.push((group.count(), entries.to_string()));
    for _ in 0..entries {
        for (place, member) in group.members().iter().enumerate() {
            let field = dictionary.field(member.tag);
            let is_data = field.is_some_and(|field| field.kind.is_data());
            let is_chosen = chosen >> (place % 64) & 1 == 1 && place % 3 == 0;
            if is_data || !(place == 0 || member.required || is_chosen) {
                continue;
            }
            match &member.group {
                Some(inner) => add_group(dictionary, inner, chosen.rotate_right(7), fields),
                None => fields.push((member.tag, field.map_or_else(|| "x".to_owned(), value))),
            }
        }
    }
}

/// A message with the required fields and groups and some others, without data fields.
fn message(dictionary: &Dictionary, definition: &MessageDef, chosen: u64) -> Fields {
    let mut number = 0;
    let mut take = |member: &&Member| {
        number += 1;
        let kind = dictionary.field(member.tag).map(|field| field.kind);
        let is_chosen = chosen >> (number % 64) & 1 == 1;
        let is_chosen = is_chosen && number % if member.group.is_some() { 7 } else { 5 } == 0;
        !kind.is_some_and(DataType::is_data) && (member.required || is_chosen)
    };
    let head = [8, 9, 35, 49, 56, 34, 52];
    let (header, trailer) = (dictionary.header(), dictionary.trailer());
    let mut members: Vec<&Member> = Vec::new();
    for part in [header.members(), definition.members(), trailer.members()] {
        let more = part.iter().filter(&mut take);
        members.extend(more.filter(|it| it.tag != 10 && !head.contains(&it.tag)));
    }
    let mut fields: Fields = Vec::new();
    let add = |tag: Tag, fields: &mut Fields| {
        let text = match tag {
            35 => definition.msg_type().to_owned(),
            10 => "000".to_owned(),
            tag => dictionary.field(tag).map_or_else(|| "x".to_owned(), value),
        };
        fields.push((tag, text));
    };
    head.into_iter().for_each(|tag| add(tag, &mut fields));
    for member in members {
        match &member.group {
            Some(group) => add_group(dictionary, group, chosen, &mut fields),
            None => add(member.tag, &mut fields),
        }
    }
    add(10, &mut fields);
    fields
}

/// A change of a message: what, where, and with which text.
type Change = (u8, Index, Index, String);

fn change(fields: &mut Fields, (what, one, other, text): &Change) {
    let (one, other) = (one.index(fields.len()), other.index(fields.len()));
    match what {
        0 | 1 => fields[one].1.clone_from(text),
        2 => {
            fields.remove(one);
        }
        3 => fields.swap(one, other),
        4 => fields[one].0 = fields[other].0,
        5 => {
            let again = fields[one].clone();
            fields.insert(other, again);
        }
        6 => fields.insert(other, ([453, 78, 5001, 60, 1, 43][one % 6], text.clone())),
        _ => fields[one].1.push_str(text),
    }
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let text = "[0-9.:A-Y -]{0,10}";
    let change = (0_u8..8, any::<Index>(), any::<Index>(), text);
    prop_oneof![
        3 => Just(Vec::new()),
        2 => proptest::collection::vec(change, 1..3),
    ]
}

fn dictionaries() -> &'static [Dictionary] {
    static ALL: std::sync::LazyLock<Vec<Dictionary>> = std::sync::LazyLock::new(|| {
        let transport = Dictionary::built_in(Version::Fixt11);
        let whole = |version| {
            let dictionary = Dictionary::built_in(version);
            match version {
                Version::Fix50 | Version::Fix50Sp1 | Version::Fix50Sp2 => {
                    dictionary.over(&transport)
                }
                _ => dictionary,
            }
        };
        Version::ALL.into_iter().map(whole).collect()
    });
    &ALL
}

proptest! {
    #[test]
    fn remembered_fields_change_no_verdict(
        kinds in proptest::collection::vec((any::<Index>(), any::<Index>(), any::<u64>()), 1..7),
        order in proptest::collection::vec((any::<Index>(), changes()), 1..60),
        all_rules: bool,
    ) {
        let rules = ValidationRules {
            required_fields: all_rules,
            duplicate_tags: all_rules,
            fields_out_of_order: all_rules,
            allow_unknown_msg_fields: !all_rules,
            ..ValidationRules::default()
        };
        let mut decoder = Decoder::with_capacity(256);
        let mut scratch = Scratch::default();
        for (kind, changes) in &order {
            let (dictionary, definition, chosen) = &kinds[kind.index(kinds.len())];
            let dictionary = &dictionaries()[dictionary.index(dictionaries().len())];
            let messages = dictionary.messages();
            let mut fields = message(dictionary, &messages[definition.index(messages.len())], *chosen);
            changes.iter().for_each(|step| change(&mut fields, step));
            let text: String = fields.iter().map(|(tag, value)| format!("{tag}={value}\x01")).collect();
            let message = decoder.decode(text.as_bytes());
            let found = check(dictionary, &message, &rules, &mut scratch);
            let wanted = check(dictionary, &message, &rules, &mut Scratch::default());
            prop_assert_eq!(found, wanted, "{} {}", dictionary.version(), text.replace('\x01', "|"));
        }
    }
}

#[test]
fn the_messages_of_this_test_are_valid_before_they_are_changed() {
    let (mut valid, mut all) = (0, 0);
    for dictionary in dictionaries() {
        for definition in dictionary.messages() {
            let fields = message(dictionary, definition, u64::MAX);
            let text: String = fields
                .iter()
                .map(|(tag, value)| format!("{tag}={value}\x01"))
                .collect();
            let mut decoder = Decoder::with_capacity(256);
            let message = decoder.decode(text.as_bytes());
            let rules = ValidationRules {
                required_fields: false,
                ..ValidationRules::default()
            };
            all += 1;
            valid +=
                usize::from(check(dictionary, &message, &rules, &mut Scratch::default()).is_ok());
        }
    }
    assert!(valid * 10 > all * 9, "{valid} of {all}");
}
