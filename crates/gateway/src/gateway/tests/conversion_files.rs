//! Conversion tables that the file names, instead of built-in ones.

use super::super::{Reload, conversion_files};
use super::*;
use crate::convert::Conversion;
use crate::rules::TableFile;

const PAIR: &str = "FIX.4.2 to FIX.4.4";
const ORDER: &str = "35=D|11=A|21=1|55=VOD|54=1|60=20261120-09:59:59|38=9|40=1|";

/// A file with this entry in `[conversion]`.
fn file(pair: &str) -> String {
    format!("[conversion]\n\"{pair}\" = 'my.conv'\n{PLAIN}")
}

/// The built-in table with one more line.
fn changed(line: &str) -> String {
    let text = Conversion::built_in_text(Version::Fix42, Version::Fix44).unwrap();
    format!("{text}\nfor D\n{line}\n")
}

fn loaded(
    text: &str,
    sessions: &[(&'static str, Version)],
    given: (&str, &str),
) -> Result<Gateway, Vec<RuleError>> {
    with_conversions(sessions, &[given], |context| {
        Gateway::load(text, context, std::boxed::Box::new(|_| {}))
    })
}

/// The message written for an order of the first session.
fn sent(sessions: &[(&'static str, Version)], text: &str, given: (&str, &str)) -> Vec<String> {
    let rules = "[[rule]]\nfrom = ['ANNA']\ndo = ['stop']\n";
    let mut rig = Rig::of(rules, sessions);
    rig.gateway = loaded(text, sessions, given).unwrap();
    rig.all_log_on();
    rig.hears("ANNA", ORDER)
}

#[track_caller]
fn refused(text: &str, given: (&str, &str), wanted: &str) {
    let errors = loaded(text, &SESSIONS, given).unwrap_err();
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(errors, [wanted]);
}

#[test]
fn a_table_of_the_file_converts() {
    let order = sent(&SESSIONS, &file(PAIR), (PAIR, &changed("set 58=ours")));
    assert!(order[0].ends_with("|58=ours|"), "{order:?}");
    let order = sent(&SESSIONS, &file(PAIR), (PAIR, &changed("set 58=theirs")));
    assert!(order[0].ends_with("|58=theirs|"), "{order:?}");
}

#[test]
fn it_is_a_link_of_chains() {
    let sessions = [("ANNA", Version::Fix41), ("VENUE", Version::Fix44)];
    let rule = "[[rule]]\nfrom = ['ANNA']\ndo = ['convert', 'send VENUE']\n";
    let text = |pair| format!("[conversion]\n\"{pair}\" = 'my.conv'\n{rule}");
    let order = sent(&sessions, &text(PAIR), (PAIR, &changed("set 58=ours")));
    assert!(order[0].ends_with("|58=ours|"), "{order:?}");

    // A table between versions that are not neighbours replaces all tables on the way.
    let pair = "FIX.4.1 to FIX.4.4";
    let table = "from FIX.4.1\nto FIX.4.4\nfor D\nset 60=@52\nset 58=direct\n";
    let order = sent(&sessions, &text(pair), (pair, table));
    assert!(order[0].ends_with("|58=direct|"), "{order:?}");
}

#[test]
fn files_are_asked_for_by_their_versions() {
    let wanted = TableFile {
        name: PAIR.into(),
        file: "my.conv".into(),
        line: 2,
        column: 24,
    };
    assert_eq!(conversion_files(&file(PAIR)), [wanted]);
    assert_eq!(conversion_files("[conversion]\nx = 1\n"), []);
    assert_eq!(conversion_files("conversion = 1\n"), []);
    assert_eq!(conversion_files("[conversion\n"), []);
}

#[test]
fn mistakes_are_named_with_their_lines() {
    let table = "from FIX.4.2\nto FIX.4.4\nfor D\nset Texd=ours\n";
    refused(
        &file(PAIR),
        (PAIR, table),
        "2:24: line 4 of the table: neither version has a field Texd; use its tag, or its name as \
         the FIX specification spells it (my.conv)",
    );
    let other = "from FIX.4.2\nto FIX.4.3\n";
    refused(
        &file(PAIR),
        (PAIR, other),
        "2:24: line 2 of the table: the table is for version FIX.4.3, but the dictionary is for version FIX.4.4; use a \
         dictionary of the version that the table names (my.conv)",
    );
    let pair = "FIX.4.3 to FIX.4.4";
    let unused = "from FIX.4.3\nto FIX.4.4\n";
    refused(
        &file(pair),
        (pair, unused),
        "2:1: this table is not used: no rule converts from FIX.4.3 to FIX.4.4 (remove it)",
    );
    let wanted = "this must be two versions, such as \"FIX.4.2 to FIX.4.4\"";
    for (pair, hint) in [
        ("FIX.4.2", ""),
        ("FIX.4.2 to FIX.4.5", " (did you mean 'FIX.4.0'?)"),
        (
            "FIX.4.2 to FIX.4.2",
            " (no conversion between these versions)",
        ),
        (
            "FIXT.1.1 to FIX.4.2",
            " (no conversion between these versions)",
        ),
    ] {
        refused(&file(pair), (pair, table), &format!("2:1: {wanted}{hint}"));
    }
    refused(
        &file(PAIR),
        ("", ""),
        &format!("2:1: unknown table '{PAIR}'"),
    );
    refused(
        &file(PAIR).replace("'my.conv'", "7"),
        (PAIR, table),
        "2:24: this must be the path of a file",
    );
    refused(
        &format!("conversion = 7\n{PLAIN}"),
        (PAIR, table),
        "1:14: this must be the table [conversion]",
    );
}

#[test]
fn a_reload_takes_other_tables() {
    let mut rig = Rig::new(PLAIN);
    let order = |id: &str| ORDER.replace("11=A", &format!("11={id}|440=C"));
    let arrives = |rig: &mut Rig, id, text: &str| {
        let sent = rig.hears("ANNA", &order(id));
        assert_eq!(sent[0].contains("58="), !text.is_empty(), "{sent:?}");
        assert!(sent[0].contains(text), "{sent:?}");
    };
    arrives(&mut rig, "A", "");
    for (id, line, text) in [
        ("B", "set 58=one", "|58=one|"),
        ("C", "set 58=two", "|58=two|"),
    ] {
        let read = with_conversions(&SESSIONS, &[(PAIR, &changed(line))], |context| {
            Reload::read(&file(PAIR), context)
        });
        assert_eq!(rig.gateway.reload(&mut read.unwrap()), Ok(()));
        arrives(&mut rig, id, text);
    }
    let read = in_context(&SESSIONS, |context| Reload::read(PLAIN, context));
    assert_eq!(rig.gateway.reload(&mut read.unwrap()), Ok(()));
    arrives(&mut rig, "D", "");
    let lost: u64 = rig.gateway.losses().map(|(.., lost)| lost.of(440)).sum();
    assert_eq!(lost, 4);
}
