//! A venue's own fields: nested groups and data with SOH in it are read and checked like the standard's.

use fixwire_protocol::Decoder;
use fixwire_protocol::dictionary::delta::{self, Delta};
use fixwire_protocol::dictionary::validate::RejectReason::{self, *};
use fixwire_protocol::dictionary::validate::check;
use fixwire_protocol::dictionary::{Dictionary, Limits, Rules, Scratch, Version};

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
    let delta = Delta::read("venue.delta", VENUE, Limits::default()).expect("a delta");
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
    let rules = Rules::default();
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
    // Found by its name, inside a group and with tags above those looked up in a table.
    assert_eq!(judge("9000=1|9001=a|9010=7|9011=x~9003=|70001=y|"), Ok(()));
    // Named by the delta.
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
