//! A venue's own fields: nested groups and data containing SOH are read and validated like the standard's.

use fixwire_dictionary::delta::{self, Delta};
use fixwire_dictionary::{DocumentLimits, quickfix};
use fixwire_protocol::Decoder;
use fixwire_protocol::dictionary::validate::RejectReason::{self, *};
use fixwire_protocol::dictionary::validate::check;
use fixwire_protocol::dictionary::{Dictionary, Scratch, ValidationRules, Version};

const VENUE: &str = "\
add field 9000 NoVenueLegs NUMINGROUP
add field 9001 VenueLegID STRING
add field 9002 NoVenueSubs NUMINGROUP
add field 9003 VenueSub INT
add field 9004 VenueSubType CHAR
add value A ALPHA to VenueSubType
add field 9010 VenueBlobLen LENGTH
add field 9011 VenueBlob DATA
add field 70001 VenueFar STRING
add field 9020 Counter LENGTH
add field 9030 Packed XMLDATA length Counter
add group NoVenueLegs to D begin VenueLegID required
add group NoVenueSubs to NoVenueLegs of D begin VenueSub
add member VenueSubType to NoVenueSubs of NoVenueLegs of D
add member 9010 to NoVenueLegs of D
add member 9011 to NoVenueLegs of D
add member VenueFar to NoVenueLegs of D
add member Counter to D
add member Packed to D
";
const ORDER: &str =
    "35=D|34=2|49=A|52=20260821-13:30:00|56=B|11=A|55=M|54=1|60=20260821-13:30:00|38=1|40=1";

fn venue() -> Dictionary {
    let delta = Delta::read("venue.delta", VENUE, DocumentLimits::default()).expect("a delta");
    delta::apply(&Dictionary::built_in(Version::Fix44), &[delta]).expect("it fits")
}

fn bytes(more: &str) -> Vec<u8> {
    format!("8=FIX.4.4|9=1|{ORDER}|{more}10=000|")
        .replace('|', "\x01")
        .replace('~', "\x01")
        .into_bytes()
}

fn judge(more: &str) -> Result<(), (RejectReason, Option<u32>)> {
    let dictionary = venue();
    let mut decoder = Decoder::with_capacity(100);
    decoder.learn(&dictionary);
    let bytes = bytes(more);
    let message = decoder.decode(&bytes);
    let rules = ValidationRules::default();
    check(&dictionary, &message, &rules, &mut Scratch::default())
        .map_err(|fault| (fault.reason, fault.tag))
}

#[test]
fn custom_groups_nest() {
    let two = "9000=2|9001=a|9002=2|9003=1|9004=A|9003=2|70001=x|9001=b|";
    assert_eq!(judge(two), Ok(()));
    let wrong = |from: &str, to: &str| judge(&two.replace(from, to)).expect_err(to);
    assert_eq!(
        wrong("9002=2", "9002=3"),
        (IncorrectNumInGroupCount, Some(9002))
    );
    assert_eq!(wrong("9004=A", "9004=B"), (ValueIncorrect, Some(9004)));
    assert_eq!(wrong("9003=2", "9003=x"), (IncorrectDataFormat, Some(9003)));
    assert_eq!(wrong("9001=a|", ""), (GroupFieldsOutOfOrder, Some(9002)));
    let dictionary = venue();
    let bytes = bytes(two);
    let mut decoder = Decoder::with_capacity(100);
    let message = decoder.decode(&bytes);
    let legs = dictionary.group(b"D", 9000).expect("a group");
    let subs: Vec<usize> = message
        .group(legs)
        .expect("it is there")
        .map(|leg| leg.group(9002).map_or(0, Iterator::count))
        .collect();
    assert_eq!(subs, [2, 0]);
}

#[test]
fn custom_data_is_as_long_as_its_length_says() {
    // Found by name, inside a group and with tags above those in the lookup table.
    assert_eq!(judge("9000=1|9001=a|9010=7|9011=x~9003=|70001=y|"), Ok(()));
    // Named in the delta.
    assert_eq!(judge("9020=3|9030=<~>|"), Ok(()));
    assert_eq!(
        judge("9020=4|9030=<~>|").map_err(|(reason, _)| reason),
        Err(IncorrectDataFormat)
    );
    let dictionary = venue();
    let mut decoder = Decoder::with_capacity(100);
    let bytes = bytes("9020=3|9030=<~>|");
    decoder.learn(&dictionary);
    assert_eq!(decoder.decode(&bytes).get(9030), Some(&b"<\x01>"[..]));
}

#[test]
fn a_custom_dictionary_adds_fields_groups_and_messages() {
    let xml = r#"<fix type="FIX" major="4" minor="4">
        <header><field name="BeginString" required="Y"/><field name="BodyLength" required="Y"/>
          <field name="MsgType" required="Y"/></header>
        <messages><message name="Ping" msgtype="U1" msgcat="app">
          <field name="PingID" required="Y"/>
          <group name="NoHosts" required="N"><component name="Host" required="Y"/></group></message></messages>
        <trailer><field name="CheckSum" required="Y"/></trailer>
        <components><component name="Host"><field name="HostName" required="Y"/><field name="HostPort" required="N"/></component></components>
        <fields><field number="8" name="BeginString" type="STRING"/><field number="9" name="BodyLength" type="LENGTH"/>
          <field number="10" name="CheckSum" type="STRING"/><field number="35" name="MsgType" type="STRING"/>
          <field number="9001" name="PingID" type="STRING"/><field number="9002" name="NoHosts" type="NUMINGROUP"/>
          <field number="9003" name="HostName" type="STRING"/><field number="1000001" name="HostPort" type="INT"/></fields></fix>"#;
    let custom = quickfix::read(xml, DocumentLimits::default()).expect("a good dictionary");
    let judge = |text: &str| {
        let text = format!("8=FIX.4.4|9=100|{text}|10=000|").replace('|', "\x01");
        let mut decoder = Decoder::with_capacity(100);
        let (message, rules) = (decoder.decode(text.as_bytes()), ValidationRules::default());
        check(&custom, &message, &rules, &mut Scratch::default())
            .map_err(|fault| (fault.reason, fault.tag))
    };
    assert_eq!(
        judge("35=U1|9001=p|9002=2|9003=a|1000001=80|9003=b"),
        Ok(())
    );
    let refused = [
        ("35=U1|9002=1|9003=a", RequiredTagMissing, 9001),
        (
            "35=U1|9001=p|9002=1|9003=a|1000001=x",
            IncorrectDataFormat,
            1_000_001,
        ),
        ("35=U1|9001=p|9004=x", InvalidTagNumber, 9004),
    ];
    for (text, reason, tag) in refused {
        assert_eq!(judge(text), Err((reason, Some(tag))), "{text}");
    }
    assert_eq!(
        custom.group(b"U1", 9002).map(|group| group.delimiter()),
        Some(9003)
    );
    assert_eq!(custom.tag_of("HostPort"), Some(1_000_001));
}
