//! Rewrites the bodies of messages before they are sealed.

use alloc::vec::Vec;

use super::{Content, Entry, Outbox, RESERVE, SLACK, State};

impl Outbox {
    /// Rewrites messages from entry `from` on that have not been sealed. `change` gets each message and its body, and
    /// writes the new body into the empty `room`. If it writes nothing, the message stays unchanged.
    ///
    /// Returns the number of new bodies for which the outbox had no room without its reserve. Messages whose new bodies
    /// have no room stay unchanged too.
    pub fn rewrite(
        &mut self,
        from: usize,
        room: &mut Vec<u8>,
        mut change: impl FnMut(&Entry, &[u8], &mut Vec<u8>),
    ) -> usize {
        let mut left = 0;
        for index in from.max(self.next)..self.entries.len() {
            let entry = self.entries[index];
            if entry.state != State::Body || entry.content != Content::Message {
                continue;
            }
            room.clear();
            change(&entry, &self.buffer[entry.start..entry.end], room);
            if !room.is_empty() && !self.put_body(index, room) {
                left += 1;
            }
        }
        left
    }

    /// Replaces the body of a message. The bytes after it move.
    fn put_body(&mut self, index: usize, body: &[u8]) -> bool {
        let Entry { start, end, .. } = self.entries[index];
        let new_end = start + body.len();
        let is_longer = new_end > end;
        if is_longer && self.at + new_end - end > self.buffer.len() - RESERVE - SLACK {
            return false;
        }
        self.buffer.copy_within(end..self.at, new_end);
        self.buffer[start..new_end].copy_from_slice(body);
        self.entries[index].end = new_end;
        for entry in &mut self.entries[index + 1..] {
            if matches!(entry.state, State::Body | State::Whole) {
                entry.start = entry.start + new_end - end;
                entry.end = entry.end + new_end - end;
            }
        }
        self.at = self.at + new_end - end;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::HeaderTemplate;
    use super::*;
    use crate::SessionId;
    use alloc::string::String;
    use alloc::vec;

    const TIME: &[u8] = b"20260821-13:30:00";

    fn header() -> HeaderTemplate {
        HeaderTemplate::new(b"FIX.4.4", b"A", b"B", &[])
    }

    fn sealed(outbox: &mut Outbox) -> Vec<String> {
        let texts = (0..outbox.entries().len()).map(|index| {
            if outbox.entries()[index].is_note() {
                outbox.seal_note(index, 1, crate::Timestamp(0));
                return String::from("note");
            }
            outbox.seal(index, &header(), index as u64 + 1, TIME);
            let text = String::from_utf8_lossy(outbox.sealed(index)).replace('\x01', "|");
            text[text.find("56=B|").unwrap() + 5..text.len() - 7].into()
        });
        texts.collect()
    }

    fn filled(bytes: usize) -> Outbox {
        let mut outbox = Outbox::new(bytes, 8, header().room());
        for text in [b"one", b"two", b"six"] {
            let mut body = outbox.begin(SessionId(0), b"8");
            body.field(58, text);
            body.finish().unwrap();
            outbox.note(b"a note").unwrap();
        }
        outbox
    }

    #[test]
    fn bodies_grow_where_they_stand_and_others_stay() {
        let mut outbox = filled(4096);
        let mut room = Vec::new();
        let left = outbox.rewrite(1, &mut room, |_, body, new| {
            if body == b"58=two\x01" {
                new.extend_from_slice(b"347=UTF-8\x0158=two\x01354=4\x01355=zwei\x01");
            }
        });
        assert_eq!(left, 0);
        assert_eq!(
            sealed(&mut outbox),
            [
                "58=one|",
                "note",
                "347=UTF-8|58=two|354=4|355=zwei|",
                "note",
                "58=six|",
                "note"
            ]
        );
        // What follows has its place.
        outbox.clear();
        outbox.begin(SessionId(0), b"8").field(58, b"next");
        assert_eq!(sealed(&mut outbox), ["58=next|"]);
    }

    #[test]
    fn bodies_shrink_and_what_follows_moves() {
        let mut outbox = filled(4096);
        let left = outbox.rewrite(0, &mut Vec::new(), |_, body, new| {
            if body == b"58=two\x01" {
                new.extend_from_slice(b"58=\x01");
            }
        });
        assert_eq!(left, 0);
        outbox.begin(SessionId(0), b"8").field(58, b"next");
        let texts = [
            "58=one|", "note", "58=|", "note", "58=six|", "note", "58=next|",
        ];
        assert_eq!(sealed(&mut outbox), texts);
    }

    #[test]
    fn what_is_sealed_discarded_or_too_long_stays() {
        let mut outbox = filled(1024);
        let mut header = header();
        header.set_last(369, 7);
        outbox.seal(0, &header, 1, TIME);
        let first = outbox.sealed(0).to_vec();
        outbox.discard(2);
        {
            let new = vec![b'x'; 1100];
            let mut seen = Vec::new();
            let left = outbox.rewrite(0, &mut Vec::new(), |_, body, room| {
                seen.push(body.to_vec());
                room.extend_from_slice(&new);
            });
            assert_eq!(seen, [b"58=six\x01"]);
            assert_eq!(left, 1);
        }
        assert_eq!(outbox.sealed(0), first);
        assert_eq!(outbox.body(4), b"58=six\x01");
        assert_eq!(outbox.entries().len(), 6);
    }
}
