//! Reads the fields of TMP requests and reports that stamps need. Checks nothing, because the engine and the link do
//! that.

use std::io::Write;

use fixwire_oms::tmp_order_number;
use fixwire_tmp::TmpExecType;
use fixwire_tmp::messages::{R01, R02, R03, R22, R31, R32};
use fixwire_tmp::{FRAME_BYTES_LEAST, TmpLayout};

use super::{FirstState, Stamp, Written};

/// Offsets of MsgSeqNum and type in a frame.
const SEQ_AT: usize = 2;
const TYPE_AT: usize = 12;
/// The length field counts neither itself nor the checksum.
const LENGTH_ADDS: usize = 3;
/// ord_id is the last seven digits of the number of a request. For a new order, that is the order number.
const ORD_IDS: u64 = 10_000_000;

/// The offsets of ExecType, ord_id and user_define in a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Places {
    exec_type: usize,
    ord_id: usize,
    user_define: usize,
}

const OF_REQUEST: Places = Places {
    exec_type: 17,
    ord_id: 27,
    user_define: 31,
};
const OF_EXECUTION: Places = Places {
    exec_type: 18,
    ord_id: 28,
    user_define: 32,
};
/// Offsets in R03 and R22.
const OF_SHORT: Places = Places {
    exec_type: 18,
    ord_id: 26,
    user_define: 30,
};

/// The offsets in a request or a report, by message type; `None` for other messages.
fn places(code: u8) -> Option<Places> {
    match code {
        R01::CODE | R31::CODE => Some(OF_REQUEST),
        R02::CODE | R32::CODE => Some(OF_EXECUTION),
        R03::CODE | R22::CODE => Some(OF_SHORT),
        _ => None,
    }
}

fn code(frame: &[u8]) -> u8 {
    frame.get(TYPE_AT).copied().unwrap_or_default()
}

fn chunk<const N: usize>(frame: &[u8], at: usize) -> Option<[u8; N]> {
    frame.get(at..)?.first_chunk().copied()
}

/// MsgSeqNum and length of the frame that begins here; `None` until its header is complete.
pub(super) fn head(bytes: &[u8]) -> Option<(u64, usize)> {
    let len = usize::from(u16::from_be_bytes(chunk(bytes, 0)?)) + LENGTH_ADDS;
    let seq = u32::from_be_bytes(chunk(bytes, SEQ_AT)?);
    (len >= FRAME_BYTES_LEAST).then_some((seq.into(), len))
}

/// Identifies a complete frame.
pub(super) fn written(frame: &[u8]) -> Option<Written> {
    let (seq, len) = head(frame)?;
    let sum = [*frame.last()?, code(frame), 0];
    Some(Written { seq, len, sum })
}

/// Whether the frame is an order, or a change or cancel of an order.
pub(super) fn is_request(frame: &[u8]) -> bool {
    let is_query = frame.get(OF_REQUEST.exec_type) == Some(&TmpExecType::QUERY.0);
    matches!(code(frame), R01::CODE | R31::CODE) && !is_query
}

/// The OMS's order number in a request or a report; 0 without one.
pub(super) fn order(frame: &[u8]) -> u64 {
    let places = places(code(frame));
    let text = places.and_then(|places| chunk(frame, places.user_define));
    text.and_then(tmp_order_number).unwrap_or_default()
}

/// The stamp of a report, without times. The stamp's kind is `8` for an execution or the reject of an order, `9` for
/// the reject of a change or cancel. The id of a stamp has the numbers of the order and of the request, as over FIX.
pub(super) fn report(frame: &[u8], state: FirstState) -> Option<Stamp> {
    let code = code(frame);
    let places = places(code).filter(|_| !matches!(code, R01::CODE | R31::CODE))?;
    let kind = match *frame.get(places.exec_type)? {
        kind if code == R03::CODE && kind != TmpExecType::NEW.0 => b'9',
        _ => b'8',
    };
    let ord_id = u32::from_be_bytes(chunk(frame, places.ord_id)?);
    let number = order(frame);
    const ROOM: usize = 32;
    let mut id = [0; ROOM];
    let mut rest = &mut id[..];
    // The buffer has room for two numbers.
    let _ = match u64::from(ord_id) == number % ORD_IDS {
        true => write!(rest, "{number}"),
        false => write!(rest, "{number}-{ord_id}"),
    };
    let len = ROOM - rest.len();
    let mut stamp = Stamp::new(kind, &id[..len], state);
    stamp.order = number;
    Some(stamp)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire_tmp::messages::LAYOUTS;
    use fixwire_tmp::{TmpHeader, TmpStatus};

    #[test]
    fn the_places_are_those_of_the_layouts() {
        for code in [101, 131, 102, 132, 103, 122] {
            let layout = LAYOUTS.iter().find(|it| it.code == code).unwrap();
            let at = |name| layout.fields.iter().find(|it| it.name == name).unwrap().at;
            let found = Places {
                exec_type: at("exec_type"),
                ord_id: at("ord_id"),
                user_define: at("user_define"),
            };
            assert_eq!(places(code), Some(found), "{}", layout.name);
        }
        assert_eq!(places(104), None);
    }

    fn frame<'a>(message: &impl TmpLayout<'a>, msg_seq_num: u32) -> Vec<u8> {
        let header = TmpHeader {
            msg_seq_num,
            ..TmpHeader::default()
        };
        let mut bytes = vec![0; 200];
        let len = message.encode(&header, &mut bytes).unwrap();
        bytes.truncate(len);
        bytes
    }

    #[test]
    fn frames_are_found_and_their_numbers_read() {
        let order = R01 {
            exec_type: TmpExecType::NEW,
            ord_id: 63,
            user_define: *b"00000011",
            ..R01::default()
        };
        let bytes = frame(&order, 7);
        assert_eq!(head(&bytes), Some((7, bytes.len())));
        assert_eq!(head(&bytes[..5]), None, "its header is not there yet");
        assert_eq!(head(&[0; 20]), None, "no frame is that short");
        assert!(is_request(&bytes));
        assert_eq!(
            (
                super::order(&bytes),
                report(&bytes, FirstState::Kept).is_none()
            ),
            (63, true)
        );
        let query = R01 {
            exec_type: TmpExecType::QUERY,
            ..order
        };
        assert!(!is_request(&frame(&query, 0)));
    }

    #[test]
    fn a_report_has_the_ids_of_its_order_and_request() {
        let shown = |bytes: &[u8]| {
            let stamp = report(bytes, FirstState::Reported).unwrap();
            (
                stamp.kind,
                stamp.order,
                String::from_utf8(stamp.id().to_vec()).unwrap(),
            )
        };
        let accepted = R02 {
            exec_type: TmpExecType::NEW,
            ord_id: 63,
            user_define: *b"00000011",
            ..R02::default()
        };
        assert_eq!(shown(&frame(&accepted, 1)), (b'8', 63, "63".to_owned()));
        let cancelled = R02 {
            exec_type: TmpExecType::CANCEL,
            ord_id: 64,
            ..accepted
        };
        assert_eq!(shown(&frame(&cancelled, 2)), (b'8', 63, "63-64".to_owned()));
        let refused = |exec_type| R03 {
            status: TmpStatus(5),
            exec_type,
            ord_id: 65,
            user_define: *b"00000011",
            ..R03::default()
        };
        let (order, cancel) = (refused(TmpExecType::NEW), refused(TmpExecType::CANCEL));
        assert_eq!(shown(&frame(&order, 3)), (b'8', 63, "63-65".to_owned()));
        assert_eq!(shown(&frame(&cancel, 4)), (b'9', 63, "63-65".to_owned()));
    }
}
