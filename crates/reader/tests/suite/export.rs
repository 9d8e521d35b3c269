//! Exported messages have the chosen fields and no secret.

use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Decoder, Dictionary};
use fixwire_reader::{ExportColumns, covered};

use crate::samples::message;

#[test]
fn cells_have_quotes_where_they_need_them() {
    let names = Dictionary::built_in(Version::Fix44);
    let columns = ExportColumns::parse("11, Text,554,448,99", &names).unwrap();
    let bytes = message("35=D|11=a,\"b\"|554=tiger|58= x|448=P|448=Q|");
    let mut decoder = Decoder::with_capacity(64);
    let mut text = Vec::new();
    columns.write_heads(&mut text).unwrap();
    columns
        .write_values(&decoder.decode(&bytes), &mut text)
        .unwrap();
    let expected = ",11,Text,554,448,99,\"a,\"\"b\"\"\",\" x\",***,P|Q,";
    assert_eq!(String::from_utf8(text).unwrap(), expected);
    let bytes = message("35=D|58=|11=a|");
    let values = columns.values(&decoder.decode(&bytes)).collect::<Vec<_>>();
    let texts: Vec<_> = values.iter().map(Option::as_deref).collect();
    assert_eq!(texts, [Some("a"), Some(""), None, None, None]);
    let why = ExportColumns::parse("11,Nonsense", &names).unwrap_err();
    assert!(why.contains("Nonsense"), "{why}");
}

#[test]
fn secrets_are_covered_by_as_many_stars() {
    let bytes = message("35=A|95=5|96=a\x01b\x01c|554=tiger|58=x|");
    let mut decoder = Decoder::with_capacity(64);
    let text = covered(&decoder.decode(&bytes));
    let shown = String::from_utf8(text.clone())
        .unwrap()
        .replace('\x01', "|");
    assert!(shown.contains("|95=5|96=*****|554=*****|58=x|"), "{shown}");
    assert!(decoder.decode(&text).fault().is_none());
    let sum = fixwire_protocol::frame::check_sum(&text[..text.len() - 7]);
    assert!(shown.ends_with(&format!("|10={sum:03}|")), "{shown}");
}
