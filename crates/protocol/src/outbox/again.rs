//! Sends the body of an earlier message again, in a new message.

use super::{BodyError, Outbox, State};
use crate::repeat::{RepeatError, field_at, in_header};
use crate::session::is_resendable;
use crate::{SOH, SessionId, Tag, tag};

/// Number of bytes of the trailer: `10=ddd` and SOH.
const TRAILER: usize = 7;

impl Outbox {
    /// Removes PossDupFlag(43) and OrigSendingTime(122) from the beginning of a message that is not sealed. A new
    /// message must not have these fields.
    #[inline]
    pub fn leave_out_poss_dup(&mut self, index: usize) {
        let entry = &mut self.entries[index];
        if entry.state != State::Body {
            return;
        }
        while let [b'4', b'3', b'=', rest @ ..] | [b'1', b'2', b'2', b'=', rest @ ..] =
            &self.buffer[entry.start..entry.end]
        {
            let value = rest.iter().position(|byte| *byte == SOH);
            let left = value.map_or(0, |end| rest.len() - end - 1);
            entry.start = entry.end - left;
        }
    }

    /// Sends a stored application message again as a new message with PossResend(97) = Y. The new message gets the
    /// next MsgSeqNum; its body and its routing fields stay as they were. Use this when it is unknown whether the
    /// peer has received the message.
    ///
    /// # Errors
    ///
    /// [`RepeatError::Full`] when the outbox is full, [`RepeatError::TooLong`] when the message is longer than
    /// `MaxMessageSize` allows. [`RepeatError::NotAMessage`] when `stored` is not an
    /// application message, or is a UserRequest(BE), whose secrets are masked in the journal.
    ///
    /// # Source
    ///
    /// FIX 4.4 Volume 2, possible resends: same body, new MsgSeqNum, PossResend(97) = Y.
    pub fn send_again(&mut self, session: SessionId, stored: &[u8]) -> Result<(), RepeatError> {
        let end = stored
            .len()
            .checked_sub(TRAILER)
            .filter(|at| stored[*at..].starts_with(b"10="))
            .ok_or(RepeatError::NotAMessage)?;
        let fields = || Header { stored, at: 0, end };
        let msg_type = fields().find(|(tag, ..)| *tag == tag::MSG_TYPE);
        let msg_type = msg_type
            .map(|(_, value, _)| value)
            .filter(|msg_type| is_resendable(msg_type))
            .ok_or(RepeatError::NotAMessage)?;
        let body_at = fields().last().map_or(end, |(.., end)| end);
        let mut body = self.begin(session, msg_type);
        body.bool(tag::POSS_RESEND, true);
        let mut start = 0;
        for (tag, _, end) in fields() {
            if is_routing(tag) {
                body.encoded(&stored[start..end]);
            }
            start = end;
        }
        body.encoded(&stored[body_at..end]);
        body.finish().map_err(|error| match error {
            BodyError::Full => RepeatError::Full,
            BodyError::TooLong(_) => RepeatError::TooLong,
            BodyError::Value(_) | BodyError::NotALink => RepeatError::NotAMessage,
        })
    }
}

/// Header fields that an application may have written.
fn is_routing(tag: Tag) -> bool {
    matches!(
        tag,
        115 | 116 | 128 | 129 | 144 | 145 | 347 | 1128 | 1129 | 1156
    )
}

/// The fields in the header of a stored message. Each has its tag, its value, and the offset of the next field.
struct Header<'a> {
    stored: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Iterator for Header<'a> {
    type Item = (Tag, &'a [u8], usize);

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = &self.stored[..self.end];
        let (tag, value) = bytes
            .get(self.at)
            .and_then(|_| field_at(bytes, self.at, None))?;
        if !matches!(tag, 8 | 9 | 35 | 43 | 52 | 122) && !in_header(tag) {
            return None;
        }
        self.at = value.end + 1;
        Some((tag, &bytes[value], self.at))
    }
}

#[cfg(test)]
mod tests {
    use super::super::HeaderTemplate;
    use super::*;
    use alloc::string::String;

    fn again(stored: &str) -> Result<String, RepeatError> {
        let header = HeaderTemplate::new(b"FIX.4.4", b"A", b"B", &[(50, b"DESK")]);
        let mut outbox = Outbox::new(4096, 4, header.room());
        outbox.send_again(SessionId(0), stored.replace('|', "\x01").as_bytes())?;
        outbox.seal(0, &header, 9, b"20260821-13:30:00");
        let text = String::from_utf8_lossy(outbox.sealed(0)).replace('\x01', "|");
        Ok(text[text.find("35=").unwrap_or(0)..text.len() - TRAILER].into())
    }

    #[test]
    fn the_body_and_the_route_stay_and_the_rest_is_new() {
        let stored = "8=FIX.4.4|9=99|35=D|34=2|49=A|52=20260821-13:00:00|56=B|50=DESK|43=Y|122=20260821-12:00:00|115=CLIENT|11=X1|55=S|34=body|10=000|";
        assert_eq!(
            again(stored).unwrap(),
            "35=D|34=9|49=A|52=20260821-13:30:00|56=B|50=DESK|97=Y|115=CLIENT|11=X1|55=S|34=body|"
        );
    }

    #[test]
    fn session_messages_and_other_bytes_are_not_sent_again() {
        for stored in [
            "8=FIX.4.4|9=5|35=0|34=2|10=000|",
            "8=FIX.4.4|9=5|",
            "",
            "10=000|",
        ] {
            assert_eq!(again(stored), Err(RepeatError::NotAMessage), "{stored}");
        }
    }
}
