//! Masks secrets. Passwords are masked before a message is stored.
//!
//! In frames of links, the places that the application names are masked.
//!
//! Messages of type Logon and UserRequest are never resent, so their bytes are not needed later. The journal stores
//! only those values of a Logon or UserRequest that are known to be harmless. In other received messages, password
//! fields are masked, because a peer may have put them there by mistake. Other messages that we have sent stay
//! unchanged. Lengths stay the same, and CheckSum is calculated again, so that the stored message is still a valid
//! message.

use alloc::vec::Vec;
use core::ops::Range;

use crate::{Decoder, Framing, Message, SECRETS, SOH, Tag, frame};

/// Fields of Logon and UserRequest whose values may be stored: the fields of header and trailer except Signature(89),
/// and the fields that both sides of a session must agree on.
const HARMLESS: &[Tag] = &[
    8, 9, 10, 34, 35, 36, 43, 45, 49, 50, 52, 56, 57, 58, 93, 95, 97, 98, 108, 115, 116, 122, 128,
    129, 141, 142, 143, 144, 145, 212, 347, 354, 369, 370, 371, 372, 373, 383, 384, 385, 464, 553,
    627, 628, 629, 630, 789, 923, 924, 926, 927, 1128, 1129, 1130, 1131, 1137, 1156, 1400, 1401,
    1403, 1406, 1407, 1408, 1409, 1410,
];
/// Whether anybody may read the value of a field, even in a Logon.
#[inline]
pub fn is_harmless(tag: Tag) -> bool {
    HARMLESS.contains(&tag)
}

/// Whether the value of a field is masked in a copy. In a private message this is every field that is not known to be
/// harmless.
#[inline(always)]
fn is_secret(tag: Tag, private: bool, more: &[Tag]) -> bool {
    more.contains(&tag)
        || match private {
            true => !is_harmless(tag),
            false => SECRETS.contains(&tag),
        }
}

/// Number of bytes of the trailer: `10=ddd` and SOH.
const TRAILER: usize = 7;

/// Makes copies of messages with their secrets masked.
#[derive(Debug)]
pub struct Redactor {
    decoder: Decoder,
    bytes: Vec<u8>,
    /// The indexes of the messages in the outbox that have a copy, each with the place of the copy.
    copies: Vec<(usize, Range<usize>)>,
    /// Further fields whose values are secrets.
    more: Vec<Tag>,
}

impl Redactor {
    /// Maximum number of fields of a message, where nothing else gives a limit. Fields above this number are
    /// recognised by their form.
    pub const FIELDS: usize = 4096;

    /// A redactor for messages with at most this number of bytes and fields.
    #[must_use]
    pub fn new(max_message: usize, max_fields: usize) -> Self {
        Self {
            decoder: Decoder::with_capacity(max_fields),
            bytes: Vec::with_capacity(max_message),
            copies: Vec::new(),
            more: Vec::new(),
        }
    }

    /// A redactor for showing messages of a journal. The values of the fields `more` are masked too.
    pub fn for_showing(more: &[Tag]) -> Self {
        Self {
            more: more.to_vec(),
            ..Self::new(0, Self::FIELDS)
        }
    }

    /// Whether messages of this type may contain secrets.
    #[inline]
    pub fn concerns(msg_type: &[u8]) -> bool {
        matches!(msg_type, b"A" | b"BE")
    }

    /// Whether a received message may contain secrets. A malformed message may hide secrets.
    #[inline]
    pub fn concerns_message(message: &Message<'_>) -> bool {
        message.has_secret() || message.fault().is_some() || Self::concerns(message.msg_type())
    }

    /// Makes a copy of the message with this index, if it contains a secret. For a `private` message, a Logon or
    /// UserRequest, the copy only has the values that are harmless.
    #[cold]
    pub fn copy(&mut self, index: usize, message: &[u8], private: bool) {
        let more = &self.more;
        let start = self.bytes.len();
        self.bytes.extend_from_slice(message);
        let copy = &mut self.bytes[start..];
        // These are the fields that the decoder finds. The value of a data field may contain SOH.
        for field in self.decoder.decode(message).fields() {
            if is_secret(field.tag, private, more) {
                copy[field.start as usize..field.end as usize].fill(b'*');
            }
        }
        // After a malformed field, or after the last field for which there is room, fields are recognised by their
        // form.
        let mut at = 0;
        for piece in message.split(|byte| *byte == SOH) {
            let equals = piece.iter().position(|byte| *byte == b'=');
            let value = match equals.map(|equals| (seeming_tag(&piece[..equals]), equals + 1)) {
                Some((Some(tag), value)) if is_secret(tag, private, more) => value,
                Some((Some(_), _)) => piece.len(),
                _ if private => 0,
                _ => piece.len(),
            };
            copy[at + value..at + piece.len()].fill(b'*');
            at += piece.len() + 1;
        }
        let is_changed = copy != message;
        if !is_changed {
            self.bytes.truncate(start);
            return;
        }
        if copy.len() > TRAILER && copy[copy.len() - TRAILER..].starts_with(b"10=") {
            let at = copy.len() - TRAILER;
            let sum = frame::check_sum(&copy[..at]);
            copy[at + 3..at + 6].copy_from_slice(&[
                b'0' + sum / 100,
                b'0' + sum / 10 % 10,
                b'0' + sum % 10,
            ]);
        }
        self.copies.push((index, start..self.bytes.len()));
    }

    /// Makes a copy of a message of any type, if the message contains a secret.
    pub fn copy_any(&mut self, index: usize, message: &[u8]) {
        let private = Self::concerns(self.decoder.decode(message).msg_type());
        self.copy(index, message, private);
    }

    /// Makes a copy of the frame with this index, with stars at these places. The copy is a valid frame: its length
    /// is never masked, and its checksum is calculated again.
    #[cold]
    pub fn copy_frame(
        &mut self,
        index: usize,
        frame: &[u8],
        framing: &Framing,
        secrets: impl Iterator<Item = Range<usize>>,
    ) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(frame);
        let copy = &mut self.bytes[start..];
        for secret in secrets {
            let end = secret.end.min(copy.len());
            if let Some(secret) = copy.get_mut(secret.start..end) {
                secret.fill(b'*');
            }
        }
        framing.mend(copy, frame);
        self.copies.push((index, start..self.bytes.len()));
    }

    /// The copy of a message, or the message itself if it needed no copy.
    #[inline]
    pub fn kept<'a>(&'a self, index: usize, message: &'a [u8]) -> &'a [u8] {
        if self.copies.is_empty() {
            return message;
        }
        let copy = self.copies.iter().find(|copy| copy.0 == index);
        copy.map_or(message, |(_, range)| &self.bytes[range.clone()])
    }

    /// Forgets all copies.
    #[inline]
    pub fn clear(&mut self) {
        if !self.copies.is_empty() {
            self.bytes.fill(0);
            self.bytes.clear();
            self.copies.clear();
        }
    }
}

/// Reads the text before `=` as a tag. A malformed text counts too, if a person would read it as that tag.
fn seeming_tag(text: &[u8]) -> Option<Tag> {
    let text = core::str::from_utf8(text).ok()?;
    text.trim_matches(|c: char| c.is_whitespace() || c == '+')
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Frame;
    use crate::framing::{Framed, sum_of_bytes};
    use alloc::format;
    use alloc::string::String;

    fn kept(private: bool, body: &str) -> String {
        let whole = format!("8=FIX.4.4\x019={}\x01{body}", body.len());
        let whole = format!("{whole}10={:03}\x01", frame::check_sum(whole.as_bytes()));
        let mut redactor = Redactor::new(1024, 16);
        redactor.copy(0, whole.as_bytes(), private);
        let kept = redactor.kept(0, whole.as_bytes());
        assert_eq!(
            frame::next(kept, 4096),
            Frame::Whole {
                skip: 0,
                len: whole.len()
            }
        );
        String::from_utf8_lossy(kept).replace('\x01', "|")
    }

    #[test]
    fn of_a_logon_only_what_is_harmless_stays() {
        for (field, stays) in [
            ("553=me|", true),
            ("108=30|", true),
            ("554=tiger|", false),
            ("0554=tiger|", false),
            (" 554=tiger|", false),
            ("+925=tiger|", false),
            ("89=tiger|", false),
            ("5001=tiger|", false),
            ("tiger|", false),
            ("x=tiger|", false),
            ("=tiger|", false),
            ("1401=7|1402=ti|ger|", false),
            ("95=7|96=ti|ger|", false),
            ("1401=9|1402=tiger|", false),
        ] {
            let many = "58=x|".repeat(if stays { 0 } else { 30 });
            for before in ["", &many] {
                let body = format!("35=A|34=1|{before}{field}98=0|").replace('|', "\x01");
                let text = kept(true, &body);
                assert_eq!(text.contains(field), stays, "{field}: {text}");
                assert!(!text.contains("ger"), "{text}");
                assert!(text.contains("|98=0|10="), "{text}");
            }
        }
    }

    #[test]
    fn of_another_message_only_passwords_go() {
        let body = "35=D|34=1|11=x|96=tail|554=tiger|925=tiger|0554=tiger|58=fine|";
        let text = kept(false, &body.replace('|', "\x01"));
        assert!(
            text.contains("|11=x|96=tail|554=*****|925=*****|0554=*****|58=fine|10="),
            "{text}"
        );
        let text = kept(false, "35=D\x0111=x\x01");
        assert!(text.contains("|35=D|11=x|10="));
    }

    #[test]
    fn of_what_is_shown_further_fields_go() {
        let body = "35=A\x0149=us\x0158=hello\x01553=me\x01";
        let whole = format!("8=FIX.4.4\x019={}\x01{body}", body.len());
        let whole = format!("{whole}10={:03}\x01", frame::check_sum(whole.as_bytes()));
        let mut redactor = Redactor::for_showing(&[58, 553]);
        redactor.copy_any(0, whole.as_bytes());
        let kept = redactor.kept(0, whole.as_bytes());
        let text = String::from_utf8_lossy(kept).replace('\x01', "|");
        assert!(text.contains("|49=us|58=*****|553=**|10="), "{text}");
        let len = whole.len();
        assert_eq!(frame::next(kept, 4096), Frame::Whole { skip: 0, len });
    }

    #[test]
    fn of_a_frame_the_named_places_go_and_it_is_a_frame_still() {
        let framing = Framing::big_endian(1, 2)
            .adding(4)
            .within(4, 100)
            .with_sum_of_bytes();
        let mut frame = *b"!\0\x0cuser,secret.\0";
        let last = frame.len() - 1;
        frame[last] = sum_of_bytes(&frame[..last]);
        let whole = Framed::Whole(frame.len());
        assert_eq!(framing.next(&frame), whole);
        let mut redactor = Redactor::new(1024, 16);
        for (secrets, stored) in [
            ([8..14, 0..0], "!\0\x0cuser,******."),
            ([0..4, 14..99], "*\0\x0c*ser,secret*"),
            ([99..100, Range { start: 9, end: 8 }], "!\0\x0cuser,secret."),
        ] {
            redactor.copy_frame(7, &frame, &framing, secrets.into_iter());
            let kept = redactor.kept(7, &frame);
            assert_eq!(&kept[..last], stored.as_bytes());
            assert_eq!(framing.next(kept), whole);
            redactor.clear();
        }
    }

    #[test]
    fn secrets_are_starred_out_and_the_copy_is_still_a_message() {
        let body = "35=A\x0134=1\x0195=5\x0196=a\x01b=c\x01553=me\x01554=tiger\x01";
        let whole = format!("8=FIX.4.4\x019={}\x01{body}", body.len());
        let whole = format!("{whole}10={:03}\x01", frame::check_sum(whole.as_bytes()));
        let mut redactor = Redactor::new(1024, 64);
        redactor.copy(3, whole.as_bytes(), true);
        let kept = redactor.kept(3, whole.as_bytes());
        let text = String::from_utf8_lossy(kept);
        assert!(
            text.contains("\x0196=*****\x01553=me\x01554=*****\x01"),
            "{text}"
        );
        assert_eq!(
            frame::next(kept, 1024),
            Frame::Whole {
                skip: 0,
                len: whole.len()
            }
        );
        assert_eq!(redactor.kept(4, b"other"), b"other");
        redactor.clear();
        assert_eq!(redactor.kept(3, b"same"), b"same");
    }
}
