//! The field of a message to which BusinessRejectRefID(379) of a BusinessMessageReject refers.

use crate::{Message, Tag, tag};

/// Maximum length in bytes of an id that is repeated. With this limit there is always room for a reject.
const LONGEST: usize = 512;

/// The business-level id of a message; `None` when messages of this type have no such id, or this message does not
/// have it.
///
/// An ExecutionReport(8) has no such id here. A receiver that does not know its order answers with Don't Know
/// Trade(Q).
///
/// # Source
///
/// FIX 4.4 Volume 2, Business Message Reject.
pub(super) fn business_id<'a>(message: &Message<'a>) -> Option<&'a [u8]> {
    let id = message.get(field(message.msg_type())?)?;
    (1..=LONGEST).contains(&id.len()).then_some(id)
}

fn field(msg_type: &[u8]) -> Option<Tag> {
    let tag = match msg_type {
        b"D" | b"F" | b"G" | b"H" | b"q" | b"AB" | b"AC" => tag::CL_ORD_ID,
        b"AF" => tag::MASS_STATUS_REQ_ID,
        b"E" | b"K" | b"L" | b"M" | b"N" => tag::LIST_ID,
        b"s" | b"t" | b"u" => tag::CROSS_ID,
        b"6" => tag::IOI_ID,
        b"7" => tag::ADV_ID,
        b"C" => tag::EMAIL_THREAD_ID,
        b"J" | b"P" => tag::ALLOC_ID,
        b"Q" => tag::EXEC_ID,
        b"R" => tag::QUOTE_REQ_ID,
        b"S" | b"Z" | b"a" | b"i" => tag::QUOTE_ID,
        b"V" | b"W" | b"X" | b"Y" => tag::MD_REQ_ID,
        b"c" | b"d" | b"v" | b"w" | b"x" | b"y" | b"z" => tag::SECURITY_REQ_ID,
        b"e" | b"f" => tag::SECURITY_STATUS_REQ_ID,
        b"g" | b"h" => tag::TRAD_SES_REQ_ID,
        b"AD" => tag::TRADE_REQUEST_ID,
        b"AE" => tag::TRADE_REPORT_ID,
        b"AN" => tag::POS_REQ_ID,
        _ => return None,
    };
    Some(tag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Decoder;
    use alloc::format;
    use alloc::vec::Vec;

    fn id(text: &str) -> Option<Vec<u8>> {
        let text = text.replace('|', "\x01");
        let mut decoder = Decoder::with_capacity(16);
        business_id(&decoder.decode(text.as_bytes())).map(<[u8]>::to_vec)
    }

    #[test]
    fn the_id_is_that_of_the_type() {
        for (text, wanted) in [
            ("8=FIX.4.4|35=D|11=A|37=B|", Some("A")),
            ("8=FIX.4.4|35=F|41=B|11=A|", Some("A")),
            ("8=FIX.4.4|35=V|262=M|", Some("M")),
            ("8=FIX.4.4|35=S|117=Q|131=R|", Some("Q")),
            ("8=FIX.4.4|35=R|131=R|", Some("R")),
            ("8=FIX.4.4|35=c|320=S|", Some("S")),
            ("8=FIX.4.4|35=g|335=T|", Some("T")),
            ("8=FIX.4.4|35=E|66=L|11=A|", Some("L")),
            ("8=FIX.4.4|35=D|37=B|", None),
            ("8=FIX.4.4|35=8|11=A|17=E|37=B|", None),
            ("8=FIX.4.4|35=B|148=News|", None),
        ] {
            assert_eq!(id(text).as_deref(), wanted.map(str::as_bytes), "{text}");
        }
    }

    #[test]
    fn an_id_that_is_too_long_is_left_out() {
        let order = |len: usize| format!("8=FIX.4.4|35=D|11={}|", "A".repeat(len));
        assert_eq!(id(&order(LONGEST)).map(|it| it.len()), Some(LONGEST));
        assert_eq!(id(&order(LONGEST + 1)), None);
    }
}
