//! Invalid tables are refused.

use super::*;

#[track_caller]
fn refused(line: usize, table: &str, words: &[&str]) {
    let text = format!("# a table\nfrom FIX.4.2\nto FIX.4.4\n{table}\n");
    let error = Conversion::read(&text).map(|_| ()).expect_err(table);
    let sentence = format!("{error}");
    assert_eq!(error.line, line, "{sentence}");
    for word in words {
        assert!(sentence.contains(word), "{word} is not in: {sentence}");
    }
}

#[test]
fn a_table_begins_with_its_versions() {
    for (text, line, word) in [
        ("", 1, "from FIX.4.2"),
        ("# nothing", 1, "from FIX.4.2"),
        ("\nto FIX.4.2", 2, "from FIX.4.2"),
        ("from FIX.4.9", 1, "FIX.5.0SP2"),
        ("from FIX.4.2\n\nfor D", 3, "to FIX.4.4"),
    ] {
        let error = Conversion::read(text).unwrap_err();
        assert_eq!(error.line, line, "{error}");
        assert!(format!("{error}").contains(word), "{error}");
    }
    refused(
        4,
        "from FIX.4.4",
        &["use a dictionary of the version that the table names"],
    );
    let long = format!("from FIX.4.2\nto FIX.4.4\n#{}", "x".repeat(MAX_TABLE));
    assert_eq!(
        Conversion::read(&long).unwrap_err().problem,
        ConversionProblem::TooLong
    );
}

#[test]
fn names_and_values_are_those_of_the_dictionaries() {
    refused(
        5,
        "for D\nset 9999=1",
        &["9999", "as the FIX specification spells it"],
    );
    refused(
        5,
        "for D\nremove ClientId",
        &["ClientId", "as the FIX specification spells it"],
    );
    refused(4, "for Order", &["Order", "MsgType"]);
    refused(4, "for D/74", &["group 74", "E/73/78"]);
    refused(4, "for E/9999", &["9999"]);
    refused(6, "for 8\n\nset 150=1", &["150", "value 1"]);
    refused(5, "for 8\nset 14=many", &["14", "many"]);
    refused(5, "for 8\nremove 20 if 150=Q", &["150", "Q"]);
    refused(5, "for 8\nremove 20 if 18~?", &["18", "?"]);
    refused(5, "for D\nmap 204 -> 528 0=A 7=P", &["204", "7"]);
    refused(5, "for D\nmap 204 -> 528 0=Z", &["528", "Z"]);
    refused(5, "for D\nentry 109 -> 453 448 452=999", &["452", "999"]);
}

#[test]
fn statements_have_a_form() {
    refused(4, "drop 20", &["drop", "begins with set"]);
    refused(4, "for", &["for MESSAGE"]);
    refused(5, "for D\nset 21", &["set TAG=VALUE"]);
    refused(5, "for D\nmove 109 453", &["move TAG -> TAG"]);
    refused(5, "for D\nmap 204 -> 528", &["map TAG+TAG"]);
    refused(5, "for D\nmap 204 -> 528 0=A+B", &["map TAG+TAG"]);
    refused(5, "for D\nmap 204 -> 528 0=*", &["map TAG+TAG"]);
    refused(5, "for D\nentry 109 -> 453", &["COUNT VALUETAG"]);
    refused(5, "for D\nentry 109 -> 453 448 452=*", &["entry TAG"]);
    refused(5, "for D\nset 21=1 if", &["... if TAG=VALUE"]);
    refused(5, "for D\nset 21=1 if has", &["... if TAG=VALUE"]);
    refused(5, "for D\nset 21=1 if 461^", &["... if TAG=VALUE"]);
    refused(5, "for D\nwrap", &["wrap COUNT"]);
    refused(5, "for D\nunwrap 78 79", &["unwrap COUNT"]);
    refused(5, "for 8\nsum 14 -> 38", &["sum TAG TAG -> TAG"]);
    refused(5, "for 8\ndifference 38 14", &["difference TAG TAG -> TAG"]);
    refused(5, "for D\nif 21=1", &["begins with set"]);
    refused(5, "for D\nset 58=\"a b", &["closing quote"]);
    refused(4, "set 21=1", &["put `for`"]);
    refused(4, "homeless keep", &["neither"]);
    refused(4, "homeless 109 keep", &["homeless [TAG]"]);
    refused(4, "homeless tag 300", &["300", "5000 to 100000000"]);
    refused(
        5,
        "homeless 109 drop\nhomeless 109 reject",
        &["109", "remove one"],
    );
}

#[test]
fn statements_can_apply() {
    refused(5, "for D\nremove 20", &["field 20", "name fewer places"]);
    refused(
        5,
        "for D 9\nentry 109 -> 453 448 452=3",
        &["field 453", "name fewer places"],
    );
    refused(5, "for 8\nset 20=0", &["field 20", "name fewer places"]);
    refused(5, "for D\nset 21=1 if 150=0", &["field 150"]);
    refused(5, "for D\nset 49=me", &["field 49"]);
    refused(5, "for D\nset 52=@60", &["field 52"]);
    refused(5, "for D\nwrap 55", &["field 55"]);
    refused(5, "for D\nunwrap 73", &["field 73"]);
    refused(5, "for D\nsum 38 14 -> 151", &["field 14"]);
    refused(5, "for D\nset 21=1 if 14^1", &["field 14"]);
    refused(
        5,
        "for D\nset 21=1 if no 461 461^O",
        &["exclude each other"],
    );
    refused(5, "for *\nmove 92 -> 660", &["no message or group"]);
    refused(
        5,
        "for D\nset 21=1 if 109=x no 109",
        &["109", "exclude each other"],
    );
    refused(
        5,
        "for D\nmap 204 -> 528 0=A 0=P",
        &["row 0=P", "earlier row"],
    );
    refused(
        5,
        "for D\nmap 204+47 -> 528 *+*=A",
        &["has no value on the left"],
    );
    let gone = Conversion::read("from FIX.4.4\nto FIX.4.2\nfor AE\nremove 571").unwrap_err();
    assert_eq!(
        (gone.line, gone.problem),
        (3, ConversionProblem::NoSuchTarget("AE".into()))
    );
}
