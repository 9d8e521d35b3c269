//! Bulletins of an exchange over TMP. Each R14 that arrives raises an event for operators; the operator command
//! `bulletin` requests bulletins by an R13. The operator command `differ`, which also raises an event, is here too.

use alloc::format;
use alloc::string::String;

use fixwire_protocol::Now;
use fixwire_tmp::messages::{R13, R14};
use fixwire_tmp::uncertain::BULLETIN_EVERY_NS;
use fixwire_tmp::{ClientLinkState, TmpFrame};

use super::Oms;
use crate::desk::notice::OmsEvent;
use crate::desk::positions::differences;
use crate::tmp::RequestFrame;

impl Oms {
    /// Whether a frame is a bulletin; if so, raises an event with the bulletin.
    pub(super) fn bulletin(&mut self, link: usize, frame: &TmpFrame<'_>) -> bool {
        let Ok(said) = frame.body::<R14>() else {
            return false;
        };
        let line = &self.links.tmp.lines[link].name;
        (self.listener)(OmsEvent::Bulletin {
            line,
            number: said.bulletin_seq,
            status: said.status,
            text: said.data,
        });
        true
    }

    /// The operator command `bulletin line=NAME`, optionally with `from=NUMBER`. Requests bulletins from the exchange
    /// of this line.
    pub(super) fn ask_bulletins(&mut self, now: Now, words: &str) -> Result<String, String> {
        const WANTED: &str =
            "give the line: bulletin line=FUT-1, with from=NUMBER for those from a number on";
        let (mut name, mut from) = ("", 0);
        for word in words.split_whitespace() {
            match word.split_once('=') {
                Some(("line", value)) => name = value,
                Some(("from", value)) => from = value.parse().map_err(|_| WANTED)?,
                _ => return Err(WANTED.into()),
            }
        }
        if name.is_empty() {
            return Err(WANTED.into());
        }
        let mut lines = self.links.tmp.lines.iter_mut();
        let line = lines.find(|it| it.name == name && it.copies.is_none());
        let line = line.ok_or_else(|| format!("no line {name} over TMP: {WANTED}"))?;
        if line.client.state() != ClientLinkState::Ready {
            return Err(format!(
                "line {name} is not logged in: try again when it is"
            ));
        }
        let at = now.mono.0;
        let due = line
            .bulletins
            .map_or(at, |last| last.saturating_add(BULLETIN_EVERY_NS));
        if due > at {
            let left = (due - at).div_ceil(1_000_000_000);
            return Err(format!(
                "line {name}: the exchange takes one R13 in 10 s: try again in {left} s"
            ));
        }
        line.bulletins = Some(at);
        line.bulletin_requests = line.bulletin_requests.wrapping_add(1);
        line.queue.extend(RequestFrame::of(&R13 {
            fcm_req_id: line.bulletin_requests,
            bulletin_req_id: from,
            system_type: line.system_type,
            data: b"",
        }));
        Ok(format!(
            "line {name}: bulletins asked for; each is an event"
        ))
    }

    /// The operator command `differ`. Raises the event that a file differs from the positions or fills of the OMS.
    pub(super) fn differ(&mut self, who: &str, words: &str) -> Result<String, String> {
        let (rows, file) = differences(words)?;
        (self.listener)(OmsEvent::PositionsDiffer { file, rows, who });
        Ok(format!("{file}: event raised"))
    }
}
