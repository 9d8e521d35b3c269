//! What orders carry, as operators see it.

use fixwire_engine::protocol::dictionary::Version;

use super::carried::{PARTIES, accept};
use super::{CLIENT, base, desk, open};

/// A row of an answer by the names of its columns.
fn row<'a>(answer: &'a str, column: &str) -> Option<&'a str> {
    let mut lines = answer.lines();
    let names = lines.next()?.split('\t');
    let values = lines.next_back()?.split('\t');
    let mut pairs = names.zip(values);
    pairs.find(|(name, _)| *name == column).map(|it| it.1)
}

#[test]
fn an_order_is_listed_with_all_that_it_carries() {
    let mut desk = desk(Version::Fix44);
    open(&mut desk, "O");
    assert_eq!(row(&desk.query("orders"), "fields"), None);
    let order = base("D", "A1", "");
    let fields = format!("{PARTIES}354=6|355=a|b\\\u{e4}|");
    // The data has a separator of fields, a line and a letter of two bytes.
    desk.says(
        CLIENT,
        "D",
        &format!("50=T|115=FIRM|{order}{fields}58=x y|"),
    );
    accept(&mut desk, "2");
    let parties = PARTIES.trim_end_matches('|');
    let wanted = format!("50=T|115=FIRM|{parties}|354=6|355=a\\x01b\\x5c\u{e4}|58=x y");
    for query in ["orders", "order 2"] {
        assert_eq!(row(&desk.query(query), "fields"), Some(&*wanted), "{query}");
    }
    assert_eq!(row(&desk.query("order 1"), "fields"), Some(""));
}
