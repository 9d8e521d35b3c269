//! Received frames: decoded, counted and recorded.

use fixwire_protocol::Timestamp;
use fixwire_tmp::messages::{L30, L41, L50};
use fixwire_tmp::uncertain::{is_numbered, may_be_numbered};
use fixwire_tmp::{FRAME_BYTES_LEAST, TmpFrame};

use super::TmpSession;
use crate::session::{Inbound, PlayedSession};
use crate::tmp::fields::ORDINAL;
use crate::tmp::frames;
use crate::wire_message::TextFields;

impl TmpSession {
    /// Handles a received frame.
    pub(super) fn received(&mut self, at: Timestamp, bytes: &[u8]) {
        let frame = match TmpFrame::read(bytes) {
            Ok(frame) => frame,
            Err(error) => return self.received_wrong(at, bytes, &error.to_string()),
        };
        let mut fields = frames::read(&frame);
        let line = frames::shown(&fields, &self.secrets);
        self.record.at(at, &format!("< {line}"));
        self.record.line(&format!("  {}", frames::hex(bytes)));
        let mut fault = self.count(&frame);
        self.learn(&frame);
        if frame.name() == "R05" {
            self.answered += 1;
            fields.push((ORDINAL, self.answered.to_string()));
        }
        let mut inside = Vec::new();
        if let Ok(block) = frame.body::<L41<'_>>() {
            let read = self.unpack(at, &block, &mut inside);
            fault = fault.or(read.err());
        }
        self.add(fields, line, fault);
        self.inbox.extend(inside);
        match frame.name() {
            "R04" if self.answers => self.due.push_back("R05"),
            "L41" if self.answers => self.due.push_back("L42"),
            _ => {}
        }
    }

    fn add(&mut self, fields: TextFields, shown: String, fault: Option<String>) {
        if let Some(fault) = &fault {
            self.note(fault);
        }
        self.inbox.push_back(Inbound {
            fields,
            shown,
            fault,
        });
    }

    fn received_wrong(&mut self, at: Timestamp, bytes: &[u8], why: &str) {
        let hex = frames::hex(bytes);
        self.record.at(at, &format!("< {} bytes", bytes.len()));
        self.record.line(&format!("  {hex}"));
        let fault = Some(format!("bad frame: {why}"));
        self.add(TextFields::new(), hex, fault);
    }

    /// Checks and counts the MsgSeqNum of a message.
    fn count(&mut self, frame: &TmpFrame<'_>) -> Option<String> {
        let found = frame.header().msg_seq_num;
        let without = !may_be_numbered(frame.code()) || (found == 0 && !is_numbered(frame));
        if without {
            return None;
        }
        let expected = self.numbers.inbound.saturating_add(1);
        if found == expected {
            self.numbers.inbound = found;
            return None;
        }
        let why = match found > expected {
            true => {
                self.numbers.inbound = found;
                ": a message is missing"
            }
            false => ": it was received before",
        };
        Some(format!("msg_seq_num is {found}, expected {expected}{why}"))
    }

    /// Updates the state on which the messages that we send later depend.
    pub(super) fn learn(&mut self, frame: &TmpFrame<'_>) {
        if let Ok(l30) = frame.body::<L30>() {
            self.append_no = l30.append_no;
            if l30.end_out_bound_num < self.numbers.inbound {
                let (from, to) = (self.numbers.inbound, l30.end_out_bound_num);
                self.note(&format!(
                    "the venue has sent {to} messages, {from} were received: the last MsgSeqNum is lowered to {to}"
                ));
                self.numbers.inbound = to;
            }
        } else if let Ok(l50) = frame.body::<L50>() {
            self.max_flow = l50.max_flow_ctrl_cnt;
            self.accepted = l50.status.0 == 0;
        } else if frame.name() == "L10" && frame.bytes()[17] != 0 {
            // The venue refuses the link, and will close the connection.
            self.ready = false;
        }
    }

    /// Handles the messages in an L41 as if each had been received alone.
    fn unpack(
        &mut self,
        at: Timestamp,
        block: &L41<'_>,
        inside: &mut Vec<Inbound>,
    ) -> Result<(), String> {
        let mut bytes = std::mem::take(&mut self.tail);
        bytes.extend_from_slice(block.data);
        let mut rest = &bytes[..];
        while let Some(length) = stated(rest).filter(|length| *length <= rest.len()) {
            if length < FRAME_BYTES_LEAST {
                return Err(format!(
                    "L41 has a message of {length} bytes, which is too short"
                ));
            }
            let (frame, behind) = rest.split_at(length);
            rest = behind;
            let frame = TmpFrame::read(frame).map_err(|error| format!("in L41: {error}"))?;
            let fields = frames::read(&frame);
            let shown = frames::shown(&fields, &self.secrets);
            self.record.at(at, &format!("  {shown}"));
            let fault = self.count(&frame);
            if let Some(fault) = &fault {
                self.note(fault);
            }
            inside.push(Inbound {
                fields,
                shown,
                fault,
            });
        }
        if block.is_eof != 0 && !rest.is_empty() {
            let length = rest.len();
            return Err(format!(
                "the last L41 ends inside a message: only the first {length} bytes of the message arrived"
            ));
        }
        self.tail = rest.to_vec();
        Ok(())
    }
}

/// The frame that begins here; it ends where its length field says.
fn stated(bytes: &[u8]) -> Option<usize> {
    let (length, _) = bytes.split_first_chunk::<2>()?;
    Some(usize::from(u16::from_be_bytes(*length)) + 3)
}
