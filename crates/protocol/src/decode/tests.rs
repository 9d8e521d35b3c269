use std::vec::Vec;

use proptest::prelude::*;

use super::*;
use crate::Dictionary;
use crate::dictionary::assemble::{Definitions, assemble};
use crate::dictionary::{DataType, FieldDef, OtherValues, Version};

/// The decoder as one would write it first: a field at a time, byte by byte.
fn model(bytes: &[u8], capacity: usize) -> (Vec<Field>, Option<FieldFault>) {
    let mut fields: Vec<Field> = Vec::new();
    let mut fault: Option<FieldFault> = None;
    let mut at = 0;
    while at < bytes.len() {
        let index = fields.len();
        let data_end = fields
            .last()
            .and_then(|length| data_end(bytes, at, *length));
        if data_end == Some(None) {
            let tag = Some(fields[index - 1].tag);
            fault.get_or_insert(FaultKind::BadDataLength.of(tag, index - 1));
        }
        let soh = bytes[at..]
            .iter()
            .position(|b| *b == SOH)
            .map(|len| at + len);
        let Some(end) = data_end.flatten().or(soh) else {
            fault.get_or_insert(FaultKind::NoEnd.of(None, index));
            break;
        };
        if index == capacity {
            fault.get_or_insert(FaultKind::TooManyFields.of(None, index));
            break;
        }
        let text = &bytes[at..end];
        let (mut tag, mut start) = (0, at);
        match text.iter().position(|b| *b == b'=') {
            None => {
                fault.get_or_insert(FaultKind::NoValue.of(parse_tag(text), index));
            }
            Some(equals) => {
                start = at + equals + 1;
                match parse_tag(&text[..equals]) {
                    Some(parsed) => tag = parsed,
                    None => {
                        fault.get_or_insert(FaultKind::BadTag.of(None, index));
                    }
                }
            }
        }
        fields.push(Field {
            tag,
            start: start as u32,
            end: end as u32,
        });
        at = end + 1;
    }
    (fields, fault)
}

/// If a length field is followed by its data field, the end of the data field, when the length is right.
fn data_end(bytes: &[u8], at: usize, length: Field) -> Option<Option<usize>> {
    let (_, data) = DATA_PAIRS.iter().find(|pair| pair.0 == length.tag)?;
    let name = std::format!("{data}=").into_bytes();
    if !bytes[at..].starts_with(&name) {
        return None;
    }
    let stated = &bytes[length.start as usize..length.end as usize];
    let stated = core::str::from_utf8(stated).ok()?.parse::<usize>().ok();
    let end = stated.and_then(|len| (at + name.len()).checked_add(len));
    Some(end.filter(|end| bytes.get(*end) == Some(&SOH)))
}

fn soh(text: &str) -> Vec<u8> {
    text.bytes()
        .map(|b| if b == b'|' { SOH } else { b })
        .collect()
}

fn fault_of(text: &str) -> Option<FieldFault> {
    Decoder::with_capacity(16).decode(&soh(text)).fault()
}

#[test]
fn fields_stand_where_they_are() {
    let bytes = soh("8=FIX.4.2|9=5|35=D|34=7|5001=a=b|58=|10=000|");
    let mut decoder = Decoder::with_capacity(16);
    let message = decoder.decode(&bytes);
    assert_eq!(message.fault(), None);
    let got: Vec<_> = message
        .fields()
        .iter()
        .map(|f| (f.tag, message.value(*f)))
        .collect();
    let wanted: Vec<(Tag, &[u8])> = std::vec![
        (8, b"FIX.4.2"),
        (9, b"5"),
        (35, b"D"),
        (34, b"7"),
        (5001, b"a=b"),
        (58, b""),
        (10, b"000"),
    ];
    assert_eq!(got, wanted);
    assert_eq!(message.msg_type(), b"D");
    assert_eq!(message.seq_num(), Some(Ok(7)));
    assert_eq!(message.get(43), None);
    assert_eq!(message.get(5001), Some(&b"a=b"[..]));
    assert_eq!(message.raw(3..5), soh("34=7|5001=a=b|"));
    assert_eq!(message.raw(0..7), bytes);
    assert_eq!(message.raw(3..8), b"");
}

#[test]
fn malformed_fields_are_told_with_their_place() {
    let fault = |kind, tag, index| Some(FieldFault { kind, tag, index });
    assert_eq!(fault_of("8=F|58|"), fault(FaultKind::NoValue, Some(58), 1));
    assert_eq!(fault_of("8=F||58=a|"), fault(FaultKind::NoValue, None, 1));
    assert_eq!(fault_of("8=F|=a|"), fault(FaultKind::BadTag, None, 1));
    assert_eq!(fault_of("8=F|0058=a|"), fault(FaultKind::BadTag, None, 1));
    assert_eq!(fault_of("8=F|0=a|"), fault(FaultKind::BadTag, None, 1));
    assert_eq!(fault_of("8=F|-5=a|"), fault(FaultKind::BadTag, None, 1));
    assert_eq!(fault_of("8=F|5 8=a|"), fault(FaultKind::BadTag, None, 1));
    assert_eq!(
        fault_of("8=F|1234567890=a|"),
        fault(FaultKind::BadTag, None, 1)
    );
    assert_eq!(fault_of("8=F|123456789=a|"), None);
    assert_eq!(
        fault_of("8=F|4294967304=a|"),
        fault(FaultKind::BadTag, None, 1)
    );
    assert_eq!(fault_of("8=F|58=a"), fault(FaultKind::NoEnd, None, 1));
    assert_eq!(fault_of(&"58=a|".repeat(16)), None);
    assert_eq!(
        fault_of(&"58=a|".repeat(17)),
        fault(FaultKind::TooManyFields, None, 16)
    );
}

#[test]
fn data_is_taken_by_its_length() {
    let bytes = soh("35=A|95=7|96=a|34=9||98=0|");
    let mut decoder = Decoder::with_capacity(16);
    let message = decoder.decode(&bytes);
    assert_eq!(message.fault(), None);
    assert_eq!(message.get(96), Some(&soh("a|34=9|")[..]));
    assert_eq!(message.get(34), None);
    assert_eq!(message.get(98), Some(&b"0"[..]));
    assert_eq!(message.fields().len(), 4);

    for text in [
        "95=8|96=a|98=0|",
        "95=999999999|96=a|98=0|",
        "95=-1|96=a|98=0|",
        "95=|96=a|98=0|",
        "95=18446744073709551615|96=a|98=0|",
        "95=18446744073709551617|96=a|98=0|",
        "95=0|96=a|98=0|",
    ] {
        let fault = fault_of(text).map(|fault| (fault.kind, fault.tag, fault.index));
        assert_eq!(
            fault,
            Some((FaultKind::BadDataLength, Some(95), 0)),
            "{text}"
        );
    }
    assert_eq!(fault_of("95=0|96=|98=0|"), None);
    assert_eq!(
        fault_of("95=5|98=0|"),
        None,
        "a length without its data is validated later"
    );
}

#[test]
fn a_dictionary_may_add_pairs() {
    let bytes = soh("35=U1|5001=3|5002=a|b|20001=3|20002=c|d|");
    let mut decoder = Decoder::with_capacity(16);
    assert_eq!(decoder.decode(&bytes).fields().len(), 7);
    decoder.add_data_pairs(&[(5001, 5002), (20_001, 20_002)]);
    let message = decoder.decode(&bytes);
    assert_eq!(message.get(5002), Some(&soh("a|b")[..]));
    assert_eq!(message.get(20_002), Some(&soh("c|d")[..]));
    assert_eq!(message.fields().len(), 5);
    let field = |tag, name: &str, kind| FieldDef {
        tag,
        name: name.into(),
        kind,
        values: Vec::new(),
        others: OtherValues::None,
        partner: None,
    };
    let dictionary = assemble(Definitions {
        fields: std::vec![
            field(5011, "SealLength", DataType::Length),
            field(5012, "Seal", DataType::Data),
        ],
        ..Definitions::default()
    });
    let dictionary = dictionary.expect("it is one");
    let sealed = soh("5011=3|5012=a|b|");
    assert_eq!(decoder.decode(&sealed).fields().len(), 3);
    decoder.learn(&dictionary);
    assert_eq!(decoder.decode(&sealed).fields().len(), 2);
    decoder.add_data_pairs(&[(34, 5003)]);
    assert_eq!(decoder.decode(&soh("34=1|5003=x|")).fault(), None);
}

#[test]
fn every_quick_tag_is_found_and_missed() {
    let mut decoder = Decoder::with_capacity(64);
    for tag in QUICK {
        let bytes = std::format!("8=F\x01{tag}=x\x0158=y\x01").into_bytes();
        let message = decoder.decode(&bytes);
        for other in QUICK {
            let wanted = (other == tag).then_some(&b"x"[..]);
            assert_eq!(message.get(other), wanted, "{other} where {tag} is");
        }
    }
}

#[test]
fn the_pairs_are_those_of_the_standard() {
    for version in Version::ALL {
        let dictionary = Dictionary::built_in(version);
        let data = |kind| matches!(kind, DataType::Data | DataType::XmlData);
        for field in dictionary.fields().iter().filter(|f| data(f.kind)) {
            let pair = (field.partner.unwrap_or(0), field.tag);
            let name = &field.name;
            assert!(DATA_PAIRS.contains(&pair), "{version:?} {name}: {pair:?}");
        }
        for &(length, data) in DATA_PAIRS {
            let (length, data) = (dictionary.field(length), dictionary.field(data));
            if let (Some(length), Some(data)) = (length, data) {
                assert_eq!(
                    length.partner,
                    Some(data.tag),
                    "{version:?} {}",
                    length.name
                );
            }
        }
    }
}

/// Fields that are often right, often nearly, and sometimes noise.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => (1_u32..200, "[ -~]{0,40}").prop_map(|(tag, value)| std::format!("{tag}={value}\x01").into_bytes()),
        2 => (any::<u32>(), "[a-z=]{0,4}").prop_map(|(tag, value)| std::format!("{tag}={value}\x01").into_bytes()),
        2 => (0..DATA_PAIRS.len(), prop::collection::vec(0_u8..4, 0..90), 0_usize..3).prop_map(|(pair, data, lie)| {
            let (length, tag) = DATA_PAIRS[pair];
            let stated = if lie == 2 { data.len() / 2 } else { data.len() };
            let mut bytes = std::format!("{length}={stated}\x01{tag}=").into_bytes();
            bytes.extend(data);
            bytes.push(SOH);
            bytes
        }),
        1 => prop::collection::vec(any::<u8>(), 0..12),
        1 => "[0-9=\x01]{0,14}".prop_map(std::string::String::into_bytes),
        // The bytes whose upper half is that of digits.
        2 => "[0-?]{1,3}=[a-z]{0,4}\x01".prop_map(std::string::String::into_bytes),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn decodes_as_the_model_does(bytes in pieces(), capacity in 1_usize..40) {
        let (fields, fault) = model(&bytes, capacity);
        let mut decoder = Decoder::with_capacity(capacity);
        let message = decoder.decode(&bytes);
        prop_assert_eq!(message.fields(), &fields[..]);
        prop_assert_eq!(message.fault(), fault);
        for tag in 0..200 {
            let wanted = fields.iter().find(|f| f.tag == tag).map(|f| message.value(*f));
            prop_assert_eq!(message.get(tag), wanted);
        }
    }
}
