//! Fields that settings name and that the dictionary of a line does not have.

use fixwire_engine::protocol::dictionary::Version;
use fixwire_oms::{Oms, OmsSession};

use super::conversion::desk_between;
use super::{CLIENT, VENUE, base, open, refuses, setup};
use crate::desk::Input;

#[test]
fn an_instruction_that_a_line_lacks_is_refused_although_the_settings_name_it() {
    for (client, line, tag) in [
        (Version::Fix44, Version::Fix40, 210),
        (Version::Fix50Sp2, Version::Fix42, 1138),
        (Version::Fix50Sp2, Version::Fix44, 1138),
    ] {
        for (user, group) in [(true, false), (false, true)] {
            let carry = format!("carry = [{tag}]\n");
            let of = |is_named: bool| if is_named { &*carry } else { "" };
            let mut desk = desk_between(client, line, of(user), of(group));
            open(&mut desk, "O");
            for (msg_type, id) in [("D", "N1"), ("G", "N2")] {
                let body = format!("{}{tag}=5|", base(msg_type, id, "O"));
                let (heard, said) = desk.asks(CLIENT, msg_type, &body);
                assert!(
                    refuses(&heard, &said, tag),
                    "{client:?} {line:?} {msg_type} {said:?}"
                );
            }
            // Queued since the line had another dictionary.
            let queue = format!("{}queue = \"1h\"\n", of(group));
            let mut desk = desk_between(client, client, of(user), &queue);
            desk.hear(&Input::Down(VENUE, false));
            desk.says(CLIENT, "D", &format!("{}{tag}=5|", base("D", "Q1", "")));
            desk.set_version(VENUE, line);
            desk.hear(&Input::Restart(0, false));
            desk.hear(&Input::Up(CLIENT, false));
            let said = desk.hear(&Input::Up(VENUE, false));
            assert!(refuses(&Ok(()), &said, tag), "{client:?} {line:?} {said:?}");
        }
    }
}

/// What a check of settings with these keys warns of.
fn warnings(user: &str, group: &str) -> Vec<String> {
    let setup = setup(Version::Fix44, user, group);
    let mut open = |wanted: &str| {
        let file = setup.files.iter().find(|(name, _)| *name == wanted);
        file.map(|(_, text)| text.clone()).ok_or_else(String::new)
    };
    let rules = fixwire_oms::load::load(&setup.settings, &["C", "V"], &mut open).unwrap();
    let session = |name: &str| OmsSession {
        name: name.into(),
        version: Version::Fix44,
        dictionary: OmsSession::built_in(Version::Fix44),
        ids: Vec::new(),
    };
    let oms = Oms::new(rules, vec![session("C"), session("V")], 7, Box::new(|_| {}));
    oms.line_warnings()
}

#[test]
fn a_check_warns_of_values_that_the_dictionary_of_a_line_does_not_allow() {
    let text = |setting: &str, tag: u32, values: &str| {
        format!(
            "{setting} gives {tag} {values}, which the dictionary of V does not allow: the venue may reject the request"
        )
    };
    // Free text, a value of the list, and a tag that the dictionary does not have.
    let right = "set = {58 = \"desk 1\", 528 = \"A\"}\nmap.6000 = {A = \"Z\"}";
    assert_eq!(warnings(right, ""), [""; 0]);
    let mapped = "map.528 = {A = \"A\", P = \"Y\", R = \"Z\", I = \"Z\"}";
    assert_eq!(
        warnings("set = {581 = \"77\"}", mapped),
        [
            text("set of [[user]] C", 581, "the value 77"),
            text("map of [[line_group]] V", 528, "the values Y, Z")
        ]
    );
    // What a user's map makes is the source of the group's.
    let again = "map.528 = {Y = \"A\"}";
    assert_eq!(warnings("map.528 = {P = \"Y\"}", again), [""; 0]);
}

#[test]
fn a_check_warns_of_standard_tags_that_a_line_lacks() {
    assert_eq!(
        warnings("carry = [58, 6000]", "set = {528 = \"A\"}"),
        [""; 0]
    );
    let text = |setting: &str, tag: u32| {
        format!(
            "{setting} names {tag}, which no request of the dictionary of V has: the venue may ignore the field"
        )
    };
    assert_eq!(
        warnings("carry = [1138]", "set = {47 = \"A\"}"),
        [
            text("carry of [[user]] C", 1138),
            text("set of [[line_group]] V", 47)
        ]
    );
}
