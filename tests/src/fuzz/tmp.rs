//! Any frames and any course of events on a link of TMP.
//!
//! Input: a byte of settings, then steps: a byte for its kind, and its arguments. A frame is a byte for its layout and
//! a piece for the bytes after the length; length, type and checksum are written into it.

use std::collections::BTreeMap;

use fixwire_tmp::messages::{LAYOUTS, R01, R02, TmpMessage};
use fixwire_tmp::{
    ClientLinkSettings, ClientLinkState, ExchangeLinkSettings, ExchangeLinkState, HeartbeatRule,
    LinkAction, LinkActions, LinkClient, LinkExchange, LinkNow, LinkNumbers, LinkWarning,
    ResendStore, SystemType, TmpFrame, TmpHeader, TmpLayout, TmpPassword, checksum,
};

use super::hold;
use super::input::Input;

/// MessageType and length of a frame, as the specification has them.
const FIXED: [(u8, usize); 26] = [
    (10, 23),
    (20, 19),
    (30, 27),
    (40, 33),
    (42, 19),
    (50, 22),
    (60, 19),
    (101, 80),
    (102, 133),
    (103, 44),
    (104, 19),
    (105, 19),
    (106, 135),
    (107, 54),
    (108, 51),
    (109, 84),
    (111, 23),
    (112, 23),
    (115, 25),
    (116, 26),
    (122, 76),
    (131, 100),
    (132, 153),
    (137, 74),
    (138, 71),
    (139, 104),
];
/// The frames with data, and the length of the shortest.
const OPEN: [(u8, usize); 5] = [(41, 24), (113, 27), (114, 34), (117, 18), (118, 19)];
const PASSWORD: u32 = 987_654_321;

/// Panics when a promise is broken for these bytes.
pub fn run(data: &[u8]) {
    check(data, |bytes| TmpFrame::read(bytes).is_ok()).unwrap_or_else(|what| panic!("{what}"));
}

/// [`run`] for any reader of frames.
///
/// # Errors
///
/// The violated property.
pub fn check(data: &[u8], is_frame: impl Fn(&[u8]) -> bool) -> Result<(), String> {
    let mut input = Input::new(data);
    let mut line = TestLink::new(input.byte());
    let mut steps = 0;
    while !input.is_empty() && steps < 200 {
        steps += 1;
        let what = input.byte();
        match what % 8 {
            0 | 1 => {
                let bytes = frame(&mut input, what >= 128);
                reads_back(&bytes, &is_frame)?;
                line.arrive(what.is_multiple_of(2), &bytes)?;
            }
            2 => {
                let bytes = input.piece(200);
                reads_back(bytes, &is_frame)?;
                line.arrive(what >= 128, bytes)?;
            }
            3 => line.pass(u64::from(input.short()) * 1_000_000)?,
            4 => line.send(what >= 128)?,
            5 => line.connect()?,
            6 => line.disconnect()?,
            _ => line.settle()?,
        }
    }
    let shown = format!("{:?} {:?}", line.client, line.exchange);
    hold!(!shown.contains("987654321"), "a password is shown");
    Ok(())
}

/// A frame of some layout, with valid ids or the ids in the input.
fn frame(input: &mut Input<'_>, own: bool) -> Vec<u8> {
    let layout = LAYOUTS[usize::from(input.byte()) % LAYOUTS.len()];
    let mut frame = input.piece(255).to_vec();
    let size = if layout.has_data {
        frame.len().max(layout.size)
    } else {
        layout.size
    };
    frame.resize(size, 0);
    frame[..2].copy_from_slice(&(size as u16 - 3).to_be_bytes());
    frame[12] = layout.code;
    if own {
        frame[13..17].copy_from_slice(&[0, 1, 0, 2]);
    }
    frame[size - 1] = checksum(&frame[..size - 1]);
    frame
}

/// A second reader, from the specification.
fn is_sound(bytes: &[u8]) -> bool {
    let Some((sum, before)) = bytes.split_last() else {
        return false;
    };
    let len = bytes.len();
    let known = |code| {
        FIXED.contains(&(code, len))
            || OPEN
                .iter()
                .any(|(open, least)| *open == code && len >= *least)
    };
    len >= 19
        && usize::from(bytes[0]) * 256 + usize::from(bytes[1]) + 3 == len
        && known(bytes[12])
        && before.iter().map(|byte| u32::from(*byte)).sum::<u32>() % 256 == u32::from(*sum)
}

/// Both readers agree, and a frame encodes to its bytes.
fn reads_back(bytes: &[u8], is_frame: &impl Fn(&[u8]) -> bool) -> Result<(), String> {
    let sound = is_sound(bytes);
    hold!(is_frame(bytes) == sound, "a frame is {sound}: {bytes:02x?}");
    let Ok(frame) = TmpFrame::read(bytes) else {
        return Ok(());
    };
    let message = TmpMessage::of(&frame).map_err(|error| error.to_string())?;
    let mut buffer = [0; 512];
    let len = message.encode(&frame.header(), &mut buffer);
    let len = len.map_err(|error| error.to_string())?;
    hold!(
        &buffer[..len] == bytes,
        "{message:?} encodes to other bytes"
    );
    Ok(())
}

#[derive(Default)]
struct TestStore(BTreeMap<u32, Vec<u8>>);

impl ResendStore for TestStore {
    fn append(&mut self, msg_seq_num: u32, to: &mut Vec<u8>) -> bool {
        let frame = self.0.get(&msg_seq_num);
        to.extend_from_slice(frame.map_or(&[], |frame| frame));
        frame.is_some()
    }
}

/// Both ends, and the frames between them.
struct TestLink {
    now: LinkNow,
    client: LinkClient,
    exchange: LinkExchange,
    store: TestStore,
    /// MsgSeqNum of the last message given to the broker.
    last: u32,
    to_exchange: Vec<Vec<u8>>,
    to_client: Vec<Vec<u8>>,
}

impl TestLink {
    fn new(flags: u8) -> Self {
        let password = TmpPassword::new(PASSWORD);
        let mut client = ClientLinkSettings::new(1, 2, password, SystemType::FUTURES_DAY);
        let mut exchange = ExchangeLinkSettings::new(1, 2, password, SystemType::FUTURES_DAY);
        exchange.split_messages = flags & 1 == 1;
        if flags & 2 == 2 {
            client.heartbeat = HeartbeatRule::IdleSender;
            exchange.heartbeat = HeartbeatRule::IdleSender;
        }
        exchange.max_flow_ctrl_cnt = u16::from(flags >> 4);
        exchange.block_bytes = 256 * (1 + u16::from(flags >> 2) % 4);
        Self {
            now: LinkNow {
                mono_ns: 1,
                wall_ns: 1_700_000_000_000_000_000,
            },
            client: LinkClient::new(client, LinkNumbers::default()),
            exchange: LinkExchange::new(exchange, LinkNumbers::default()),
            store: TestStore::default(),
            last: 0,
            to_exchange: Vec::new(),
            to_client: Vec::new(),
        }
    }

    fn arrive(&mut self, at_exchange: bool, frame: &[u8]) -> Result<(), String> {
        let mut out = LinkActions::new();
        if at_exchange {
            let down = self.exchange.state() == ExchangeLinkState::Down;
            self.exchange
                .on_frame(self.now, frame, &mut self.store, &mut out);
            hold!(!down || out.is_empty(), "a closed exchange acts: {out:?}");
        } else {
            let down = self.client.state() == ClientLinkState::Down;
            self.client.on_frame(self.now, frame, &mut out);
            hold!(!down || out.is_empty(), "a closed broker acts: {out:?}");
        }
        self.apply(at_exchange, &out)
    }

    fn pass(&mut self, by: u64) -> Result<(), String> {
        self.now.mono_ns += by;
        self.now.wall_ns += by;
        let mut out = LinkActions::new();
        self.client.on_time(self.now, &mut out);
        self.apply(false, &out)?;
        out.clear();
        self.exchange.on_time(self.now, &mut out);
        self.apply(true, &out)
    }

    fn send(&mut self, by_exchange: bool) -> Result<(), String> {
        let (mut out, mut buffer) = (LinkActions::new(), [0; 160]);
        let header = TmpHeader::default();
        if by_exchange {
            let len = R02::default().encode(&header, &mut buffer);
            let len = len.map_err(|error| error.to_string())?;
            let sent = self.exchange.send(self.now, &mut buffer[..len], &mut out);
            hold!(sent.is_ok(), "a report is not taken: {sent:?}");
        } else {
            let len = R01::default().encode(&header, &mut buffer);
            let len = len.map_err(|error| error.to_string())?;
            let sent = self.client.send(self.now, &mut buffer[..len], &mut out);
            hold!(sent.is_ok() != out.is_empty(), "{sent:?}, and {out:?}");
        }
        self.apply(by_exchange, &out)
    }

    fn connect(&mut self) -> Result<(), String> {
        self.disconnect()?;
        let mut out = LinkActions::new();
        self.exchange.on_connect(self.now);
        self.client.on_connect(self.now, &mut out);
        self.apply(false, &out)
    }

    fn disconnect(&mut self) -> Result<(), String> {
        (self.to_exchange, self.to_client) = (Vec::new(), Vec::new());
        self.client.on_disconnect();
        self.exchange.on_disconnect();
        let due = (self.client.next_due(), self.exchange.next_due());
        hold!(due == (None, None), "a closed link waits: {due:?}");
        Ok(())
    }

    /// All messages on their way arrive, and the answers to them.
    fn settle(&mut self) -> Result<(), String> {
        for _ in 0..2_000 {
            let (there, back) = (
                std::mem::take(&mut self.to_exchange),
                std::mem::take(&mut self.to_client),
            );
            if there.is_empty() && back.is_empty() {
                return Ok(());
            }
            for frame in there {
                self.arrive(true, &frame)?;
            }
            for frame in back {
                self.arrive(false, &frame)?;
            }
        }
        Err("two ends talk without an end".to_owned())
    }

    fn apply(&mut self, by_exchange: bool, out: &LinkActions) -> Result<(), String> {
        for action in out {
            match action {
                LinkAction::Send(frame) => {
                    hold!(is_sound(frame), "sent, and no frame: {frame:02x?}");
                    let way = if by_exchange {
                        &mut self.to_client
                    } else {
                        &mut self.to_exchange
                    };
                    way.push(frame.to_vec());
                }
                LinkAction::Keep { msg_seq_num, frame } => {
                    let next = self.store.0.len() as u32 + 1;
                    hold!(
                        msg_seq_num == next,
                        "{msg_seq_num} is kept after {}",
                        next - 1
                    );
                    self.store.0.insert(msg_seq_num, frame.to_vec());
                }
                LinkAction::Deliver { frame, .. } => {
                    hold!(is_sound(frame), "delivered, and no frame: {frame:02x?}");
                    if !by_exchange {
                        self.follow(frame)?;
                    }
                }
                LinkAction::Warn(LinkWarning::NumberLowered { to, .. }) => {
                    hold!(to < self.last, "lowered from {} to {to}", self.last);
                    self.last = to;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Each numbered report has the number after the last.
    fn follow(&mut self, frame: &[u8]) -> Result<(), String> {
        let number = u32::from_be_bytes([frame[2], frame[3], frame[4], frame[5]]);
        // R02, R03, R22 and R32; 0 in answers to queries, and in R03 of a closed market.
        if !matches!(frame[12], 102 | 103 | 122 | 132) || number == 0 {
            return Ok(());
        }
        let last = self.last;
        hold!(
            last.checked_add(1) == Some(number),
            "{number} is delivered after {last}"
        );
        self.last = number;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A login, an order, a report, a lost connection, another login.
    const COURSE: &[u8] = &[0, 132, 132, 5, 7, 4, 132, 7, 6, 132, 5, 7, 4, 7];

    #[test]
    fn a_course_of_events_passes() {
        run(COURSE);
        let mut line = TestLink::new(0);
        line.send(true).unwrap();
        line.connect().unwrap();
        line.settle().unwrap();
        assert_eq!(line.client.state(), ClientLinkState::Ready);
        assert_eq!(line.client.numbers().inbound, 1);
    }

    #[test]
    fn a_reader_that_believes_the_checksum_is_found() {
        let mut bad = vec![0, 2, 19];
        let mut frame = vec![0; 19];
        (frame[1], frame[12], frame[18]) = (16, 20, 37);
        bad.extend(frame);
        run(&bad);
        assert!(check(&bad, |bytes| bytes.len() == 19).is_err());
    }

    #[test]
    fn a_report_that_is_delivered_twice_is_found() {
        let mut line = TestLink::new(0);
        line.send(true).unwrap();
        line.connect().unwrap();
        line.settle().unwrap();
        let report = line.store.0[&1].clone();
        // The broker drops the frame.
        line.arrive(false, &report).unwrap();
        assert_eq!(line.client.state(), ClientLinkState::Ready);
        let twice = line.follow(&report).unwrap_err();
        assert_eq!(twice, "1 is delivered after 1");
    }

    #[test]
    fn a_reader_that_refuses_a_frame_is_found() {
        let input = [0, 128, 1, 0];
        run(&input);
        assert!(check(&input, |_| false).is_err());
    }
}
