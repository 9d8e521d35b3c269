//! Just enough FIX 4.2: a preallocated NewOrderSingle, framing, and the checks
//! on what comes back.

use crate::machine::{now_ns, wall_base};

const SOH: u8 = 1;
/// CompIDs of the scenario: ours and the acceptor's.
const SENDER: &str = "BENCH";
const TARGET: &str = "EXEC";

/// The order of the scenario. Everything but MsgSeqNum, the two times, ClOrdID
/// and CheckSum is laid out once; a new layout happens only when MsgSeqNum gets
/// one digit longer.
pub struct OrderTemplate {
    buf: Vec<u8>,
    digits: u32,
    seq_at: usize,
    sending_at: usize,
    clord_at: usize,
    transact_at: usize,
    check_at: usize,
    last_ms: u64,
    stamp: [u8; 21],
}

impl OrderTemplate {
    /// With MsgSeqNum 1.
    pub fn new() -> Self {
        let mut t = Self {
            buf: Vec::new(),
            digits: 0,
            seq_at: 0,
            sending_at: 0,
            clord_at: 0,
            transact_at: 0,
            check_at: 0,
            last_ms: 0,
            stamp: [b'0'; 21],
        };
        t.layout(1);
        t
    }

    fn layout(&mut self, digits: u32) {
        const STAMP: &str = "20000101-00:00:00.000";
        let mut b = String::with_capacity(512);
        b.push_str("35=D\x01");
        let seq_rel = b.len() + 3;
        b.push_str(&format!("34={:0w$}\x01", 0, w = digits as usize));
        b.push_str(&format!("49={SENDER}\x01"));
        let sending_rel = b.len() + 3;
        b.push_str(&format!("52={STAMP}\x01"));
        b.push_str(&format!("56={TARGET}\x01"));
        b.push_str("1=ABCTEST1\x01");
        let clord_rel = b.len() + 3;
        b.push_str(&format!("11={:019}\x01", 0));
        b.push_str("21=3\x01");
        b.push_str("55=LCOM1\x01");
        b.push_str("48=LCOM1\x01");
        b.push_str("22=5\x01");
        b.push_str("167=FUT\x01");
        b.push_str("200=201106\x01");
        b.push_str("54=1\x01");
        let transact_rel = b.len() + 3;
        b.push_str(&format!("60={STAMP}\x01"));
        b.push_str("38=1\x01");
        b.push_str("40=2\x01");
        b.push_str("44=200\x01");
        b.push_str("59=0\x01");
        let head = format!("8=FIX.4.2\x019={}\x01", b.len());
        self.buf.clear();
        self.buf.extend_from_slice(head.as_bytes());
        self.buf.extend_from_slice(b.as_bytes());
        self.check_at = self.buf.len() + 3;
        self.buf.extend_from_slice(b"10=000\x01");
        let o = head.len();
        self.seq_at = o + seq_rel;
        self.sending_at = o + sending_rel;
        self.clord_at = o + clord_rel;
        self.transact_at = o + transact_rel;
        self.digits = digits;
        self.last_ms = 0;
    }

    #[inline]
    pub fn render(&mut self, seq: u64, clord: u64, built: u64) -> &[u8] {
        let d = seq.ilog10() + 1;
        if d != self.digits {
            self.layout(d);
        }
        put_num(&mut self.buf[self.seq_at..self.seq_at + d as usize], seq);
        put_num(&mut self.buf[self.clord_at..self.clord_at + 19], clord);
        let ms = (wall_base() + built) / 1_000_000;
        if ms != self.last_ms {
            self.last_ms = ms;
            utc_stamp(ms, &mut self.stamp);
            self.buf[self.sending_at..self.sending_at + 21].copy_from_slice(&self.stamp);
            self.buf[self.transact_at..self.transact_at + 21].copy_from_slice(&self.stamp);
        }
        let sum = sum8(&self.buf[..self.check_at - 3]);
        put_num(&mut self.buf[self.check_at..self.check_at + 3], sum as u64);
        &self.buf
    }
}

#[inline]
pub fn sum8(b: &[u8]) -> u8 {
    b.iter().fold(0u8, |a, &x| a.wrapping_add(x))
}

#[inline]
fn put_num(out: &mut [u8], mut v: u64) {
    for c in out.iter_mut().rev() {
        *c = b'0' + (v % 10) as u8;
        v /= 10;
    }
}

/// "YYYYMMDD-HH:MM:SS.sss" of a count of ms since 1970.
pub fn utc_stamp(ms: u64, out: &mut [u8; 21]) {
    let days = (ms / 86_400_000) as i64;
    let in_day = ms % 86_400_000;
    // days to civil date (proleptic Gregorian), era of 400 years from 0000-03-01
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    let year = yoe + era * 400 + i64::from(month <= 2);
    put_num(&mut out[0..4], year as u64);
    put_num(&mut out[4..6], month as u64);
    put_num(&mut out[6..8], day as u64);
    out[8] = b'-';
    put_num(&mut out[9..11], in_day / 3_600_000);
    out[11] = b':';
    put_num(&mut out[12..14], in_day / 60_000 % 60);
    out[14] = b':';
    put_num(&mut out[15..17], in_day / 1000 % 60);
    out[17] = b'.';
    put_num(&mut out[18..21], in_day % 1000);
}

/// A whole session message, built slowly.
pub fn admin(msg_type: &str, msg_seq_num: u64, body: &str) -> Vec<u8> {
    let mut stamp = [0u8; 21];
    utc_stamp((wall_base() + now_ns()) / 1_000_000, &mut stamp);
    let stamp = String::from_utf8_lossy(&stamp);
    let b = format!(
        "35={msg_type}\x0134={msg_seq_num}\x0149={SENDER}\x0152={stamp}\x0156={TARGET}\x01{body}"
    );
    let mut m = format!("8=FIX.4.2\x019={}\x01{b}", b.len()).into_bytes();
    let sum = sum8(&m);
    m.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    m
}

/// What is at the front of the bytes received.
pub enum Frame {
    /// Not yet a whole message.
    Partial,
    /// Nothing that could become one.
    Garbled,
    /// A message of so many bytes.
    Whole { len: usize },
}

const BEGIN: &[u8] = b"8=FIX.4.2\x019=";

/// Is there a whole message at the front of `b`?
#[inline]
pub fn frame(b: &[u8]) -> Frame {
    if b.len() < BEGIN.len() {
        return if BEGIN.starts_with(b) {
            Frame::Partial
        } else {
            Frame::Garbled
        };
    }
    if &b[..BEGIN.len()] != BEGIN {
        return Frame::Garbled;
    }
    let mut n = 0usize;
    let mut i = BEGIN.len();
    loop {
        match b.get(i) {
            None => return Frame::Partial,
            Some(&SOH) => break,
            Some(c @ b'0'..=b'9') => n = n * 10 + (c - b'0') as usize,
            Some(_) => return Frame::Garbled,
        }
        i += 1;
        if i > BEGIN.len() + 6 {
            return Frame::Garbled;
        }
    }
    let len = i + 1 + n + 7;
    if b.len() < len {
        return Frame::Partial;
    }
    if &b[len - 7..len - 4] != b"10=" || b[len - 1] != SOH || b[len - 8] != SOH {
        return Frame::Garbled;
    }
    Frame::Whole { len }
}

/// What the driver checks of an inbound message.
pub struct Inbound {
    pub check_sum_is_right: bool,
    pub comp_ids_are_right: bool,
    /// When it is one character, else 0.
    pub msg_type: u8,
    pub msg_seq_num: u64,
    pub cl_ord_id: u64,
}

impl Inbound {
    /// Reads a whole message.
    #[inline]
    pub fn parse(m: &[u8]) -> Self {
        let n = m.len();
        let sum = sum8(&m[..n - 7]);
        let want = num(&m[n - 4..n - 1]);
        let mut inb = Self {
            check_sum_is_right: want == sum as u64,
            comp_ids_are_right: false,
            msg_type: 0,
            msg_seq_num: 0,
            cl_ord_id: 0,
        };
        let (mut s_ok, mut t_ok) = (false, false);
        let mut i = 0;
        while i < n {
            let mut tag = 0u32;
            while i < n && m[i] != b'=' {
                tag = tag
                    .wrapping_mul(10)
                    .wrapping_add((m[i].wrapping_sub(b'0')) as u32);
                i += 1;
            }
            i += 1;
            let a = i.min(n);
            while i < n && m[i] != SOH {
                i += 1;
            }
            let v = &m[a..i.max(a).min(n)];
            match tag {
                35 => inb.msg_type = if v.len() == 1 { v[0] } else { 0 },
                34 => inb.msg_seq_num = num(v),
                11 => inb.cl_ord_id = num(v),
                49 => s_ok = v == TARGET.as_bytes(),
                56 => t_ok = v == SENDER.as_bytes(),
                _ => {}
            }
            i += 1;
        }
        inb.comp_ids_are_right = s_ok && t_ok;
        inb
    }
}

#[inline]
fn num(v: &[u8]) -> u64 {
    let mut n = 0u64;
    for &c in v {
        if !c.is_ascii_digit() {
            return u64::MAX;
        }
        n = n.wrapping_mul(10).wrapping_add((c - b'0') as u64);
    }
    n
}

/// The first value of a tag (slow; for session messages).
pub fn field<'a>(m: &'a [u8], tag: &[u8]) -> Option<&'a [u8]> {
    m.split(|&c| c == SOH)
        .find_map(|f| f.strip_prefix(tag).and_then(|r| r.strip_prefix(b"=")))
}

pub fn printable(m: &[u8]) -> String {
    String::from_utf8_lossy(m).replace('\x01', "|")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The message as the acceptor would send it.
    fn turned(message: &[u8]) -> Vec<u8> {
        let text = String::from_utf8_lossy(message);
        let text = text
            .replace("49=BENCH", "49=EXEC\u{0}")
            .replace("56=EXEC", "56=BENCH");
        text.replace('\0', "").into_bytes()
    }

    #[test]
    fn an_order_is_a_correct_message_at_any_sequence_number() {
        let mut template = OrderTemplate::new();
        for msg_seq_num in [1_u64, 9, 10, 99, 100, 123_456, 1_000_000] {
            let id = 1_795_253_164_123_456_789;
            let order = template.render(msg_seq_num, id, now_ns()).to_vec();
            let Frame::Whole { len } = frame(&order) else {
                panic!("{}", printable(&order))
            };
            assert_eq!(len, order.len());
            let read = Inbound::parse(&order);
            assert!(read.check_sum_is_right, "{}", printable(&order));
            assert!(!read.comp_ids_are_right, "these are ours");
            // CheckSum is the same: the bytes only change places.
            let read = Inbound::parse(&turned(&order));
            assert!(read.check_sum_is_right && read.comp_ids_are_right);
            assert_eq!(
                (read.msg_seq_num, read.cl_ord_id, read.msg_type),
                (msg_seq_num, id, b'D')
            );
            for cut in 0..order.len() {
                assert!(matches!(frame(&order[..cut]), Frame::Partial), "{cut}");
            }
        }
    }

    #[test]
    fn a_changed_byte_is_noticed() {
        let mut message = admin("0", 7, "");
        assert!(Inbound::parse(&message).check_sum_is_right);
        let at = message.len() - 20;
        message[at] ^= 1;
        assert!(!Inbound::parse(&message).check_sum_is_right);
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        let mut stamp = [0_u8; 21];
        for (millis, text) in [
            (0, b"19700101-00:00:00.000"),
            (1_709_210_096_789, b"20240229-12:34:56.789"),
            (1_795_253_163_999, b"20261121-09:26:03.999"),
        ] {
            utc_stamp(millis, &mut stamp);
            assert_eq!(&stamp, text);
        }
    }
}
