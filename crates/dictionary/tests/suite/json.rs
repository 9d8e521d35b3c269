//! Messages as JSON and back: the same bytes.

use fixwire_dictionary::json::{self, JsonError};
use fixwire_protocol::dictionary::{Dictionary, Version};
use fixwire_protocol::{Decoder, frame};
use proptest::prelude::*;

fn fix44() -> Dictionary {
    Dictionary::built_in(Version::Fix44)
}

fn message(body: &[u8]) -> Vec<u8> {
    let body: Vec<u8> = body
        .iter()
        .map(|byte| if *byte == b'|' { 1 } else { *byte })
        .collect();
    let mut bytes = format!("8=FIX.4.4\x019={}\x01", body.len()).into_bytes();
    bytes.extend(body);
    let sum = frame::check_sum(&bytes);
    bytes.extend(format!("10={sum:03}\x01").into_bytes());
    bytes
}

fn to_json(bytes: &[u8]) -> Result<String, JsonError> {
    let dictionary = fix44();
    let mut decoder = Decoder::with_capacity(200);
    decoder.learn(&dictionary);
    json::write(&dictionary, &decoder.decode(bytes))
}

const ORDER: &[u8] = b"35=D|34=2|49=A|52=20260821-13:30:00|56=B|11=X\"1|453=2|448=P|447=D|802=1|523=s|448=Q|95=3|96=a|b|44=1.10|9001=v|";

#[test]
fn an_order_has_names_and_its_groups_are_arrays() {
    let bytes = message(ORDER);
    let text = to_json(&bytes).expect("well-formed");
    assert_eq!(
        text,
        "{\"Header\":{\"BeginString\":\"FIX.4.4\",\"BodyLength\":\"111\",\"MsgType\":\"D\",\"MsgSeqNum\":\"2\",\
         \"SenderCompID\":\"A\",\"SendingTime\":\"20260821-13:30:00\",\"TargetCompID\":\"B\"},\
         \"Body\":{\"ClOrdID\":\"X\\\"1\",\"NoPartyIDs\":[{\"PartyID\":\"P\",\"PartyIDSource\":\"D\",\
         \"NoPartySubIDs\":[{\"PartySubID\":\"s\"}]},{\"PartyID\":\"Q\"}],\"RawDataLength\":\"3\",\
         \"RawData\":\"YQFi\",\"Price\":\"1.10\",\"9001\":\"v\"},\"Trailer\":{\"CheckSum\":\"034\"}}"
    );
    assert_eq!(json::read(&fix44(), &text), Ok(bytes));
}

#[test]
fn what_is_edited_gets_its_lengths_and_counts_anew() {
    let text = "{\"Header\":{\"BeginString\":\"FIX.4.4\",\"MsgType\":\"D\",\"34\":7},\
                \"Body\":{\"RawDataLength\":\"99\",\"RawData\":\"YQFi\",\"NoPartyIDs\":[]}}";
    assert_eq!(
        json::read(&fix44(), text),
        Ok(message(b"35=D|34=7|95=3|96=a|b|453=0|"))
    );
}

#[test]
fn a_second_body_length_is_a_field_of_the_body() {
    let bytes = message(b"35=D|34=2|11=A|9=1.10|9001=v|");
    let text = to_json(&bytes).expect("well-formed");
    assert!(
        text.contains("\"Body\":{\"ClOrdID\":\"A\",\"BodyLength\":\"1.10\""),
        "{text}"
    );
    assert_eq!(json::read(&fix44(), &text), Ok(bytes));
}

#[test]
fn a_msg_type_that_is_no_text_is_kept() {
    let bytes = message(b"35=\xff\xfe|34=2|");
    let text = to_json(&bytes).expect("well-formed");
    assert_eq!(json::read(&fix44(), &text), Ok(bytes));
}

#[test]
fn bytes_that_are_no_text_are_kept() {
    let bytes = message(b"35=D|34=2|58=\xff\xfe|");
    let text = to_json(&bytes).expect("well-formed");
    assert!(text.contains("\"Text\":{\"base64\":\"//4=\"}"), "{text}");
    assert_eq!(json::read(&fix44(), &text), Ok(bytes));
}

#[test]
fn what_cannot_be_said_is_refused() {
    assert_eq!(
        to_json(&message(b"35=D|11=A|11=B|")),
        Err(JsonError::Repeated(11))
    );
    assert_eq!(
        to_json(&message(b"35=D|453=2|448=P|")),
        Err(JsonError::Count(453))
    );
    assert_eq!(
        to_json(&message(b"35=D|11=A|95=03|96=abc|")),
        Err(JsonError::Length(95))
    );
    assert_eq!(to_json(&message(b"35=D|x|")), Err(JsonError::Malformed));
    let read = |text: &str| json::read(&fix44(), text).expect_err(text);
    let with = |body: &str| {
        format!("{{\"Header\":{{\"BeginString\":\"FIX.4.4\",\"MsgType\":\"D\"}},\"Body\":{body}}}")
    };
    assert!(matches!(read("{"), JsonError::Form(_)));
    assert!(matches!(read("[]"), JsonError::Form(_)));
    assert!(matches!(read("{\"Head\":{}}"), JsonError::Form(_)));
    assert!(matches!(read(&with("3")), JsonError::Form(_)));
    assert!(matches!(read(&"[".repeat(100_000)), JsonError::Form(_)));
    assert_eq!(read("{\"Header\":{\"MsgType\":\"D\"}}"), JsonError::Header);
    assert_eq!(
        read(&with("{\"Prize\":\"1\"}")),
        JsonError::UnknownField("Prize".into())
    );
    assert_eq!(
        read(&with("{\"Price\":\"1\\u0001\"}")),
        JsonError::Value("Price".into())
    );
    assert_eq!(
        read(&with("{\"Price\":[]}")),
        JsonError::Value("Price".into())
    );
    assert_eq!(
        read(&with("{\"RawData\":\"?\"}")),
        JsonError::Value("RawData".into())
    );
    assert_eq!(
        read(&with("{\"Price\":\"1\",\"44\":\"2\"}")),
        JsonError::Repeated(44)
    );
    assert!(
        matches!(read(&with("{\"Price\":1.5}")), JsonError::Form(_)),
        "a float is not exact"
    );
}

proptest! {
    #[test]
    fn what_can_be_said_comes_back(fields in proptest::collection::vec((prop::sample::select(vec![11u32, 1, 55, 453, 448, 447, 802, 523, 44, 9001, 10, 8, 93, 89, 34, 627, 628]), "[0-9A-Z\"é ]{1,4}"), 0..30)) {
        let mut body = String::from("35=D|");
        fields.iter().for_each(|(tag, value)| body += &format!("{tag}={value}|"));
        let bytes = message(body.as_bytes());
        if let Ok(text) = to_json(&bytes) {
            let made = |bytes: &[u8]| bytes.split(|byte| *byte == 1).any(|field| field.starts_with(b"10=") || field.starts_with(b"9="));
            let inner = &bytes[bytes.iter().position(|byte| *byte == 1).unwrap_or(0)..bytes.len() - 7];
            // CheckSums and lengths in other places are recalculated.
            if made(inner) && body.contains("|10=") { return Ok(()); }
            prop_assert_eq!(json::read(&fix44(), &text), Ok(bytes), "{}", text);
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "[{}\\[\\]\":,a-zA-Z0-9]{0,60}") {
        let _ = json::read(&fix44(), &text);
    }
}
