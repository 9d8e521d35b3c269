//! Bulletins. The command `bulletin TEXT` sends an R14 to each TMP line that is logged in; with an R13 a member
//! requests earlier bulletins. Bulletins are not part of the market: a restart forgets them.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::{Hangup, Mono, Nanos, Now, Outbox};
use fixwire_tmp::messages::{R13, R14};
use fixwire_tmp::uncertain::BULLETIN_EVERY_NS;
use fixwire_tmp::{ExchangeLinkState, TmpStatus, TmpTime};

use super::Exchange;
use crate::tmp::bulletin::{KeptBulletin, frame};
use crate::tmp::line::link_now;

/// Maximum length of a bulletin, in bytes.
const TEXT_MAX: usize = 200;
/// Number of bulletins that are kept for R13.
const KEPT: usize = 8;

impl Exchange {
    /// Sends a bulletin to each line that is logged in and sends orders.
    pub(super) fn publish(
        &mut self,
        now: Now,
        text: &str,
        outbox: &mut Outbox,
    ) -> Result<String, String> {
        let text = text.trim();
        if text.is_empty() || text.len() > TEXT_MAX || text.chars().any(char::is_control) {
            return Err(format!(
                "a bulletin is a text of 1 to {TEXT_MAX} bytes: bulletin Trading ends early today"
            ));
        }
        let last = self.bulletins.last().map_or(0, |it| it.number);
        let bulletin = KeptBulletin {
            number: last + 1,
            time: TmpTime::from_wall_ns(link_now(now).wall_ns),
            text: text.to_string(),
        };
        let mut count = 0;
        for at in 0..self.lines.len() {
            let numbers = self.line_numbers(at);
            let line = &mut self.lines[at];
            if line.gets_copies() || line.link(numbers).state() != ExchangeLinkState::Ready {
                continue;
            }
            let system_type = line.settings.system_type;
            let mut frame = bulletin.frame(0, TmpStatus::OK, system_type);
            self.push_frame(now, at, &mut frame, outbox);
            count += 1;
        }
        let number = bulletin.number;
        self.bulletins.push(bulletin);
        if self.bulletins.len() > KEPT {
            self.bulletins.remove(0);
        }
        let plural = if count == 1 { "" } else { "s" };
        Ok(format!("bulletin {number}: sent to {count} line{plural}"))
    }

    /// Answers an R13 with the bulletins from the requested number on. Without bulletins from that number on, the
    /// answer is one R14 without text.
    pub(super) fn bulletins_asked(
        &mut self,
        now: Now,
        at: usize,
        asked: &R13<'_>,
        (flow, refusal): (TmpStatus, Option<TmpStatus>),
        outbox: &mut Outbox,
    ) -> Result<(), Hangup> {
        let line = &mut self.lines[at];
        let every = Nanos(BULLETIN_EVERY_NS);
        let is_too_soon = line.asked.is_some_and(|last: Mono| now.mono < last + every);
        let status = refusal.unwrap_or(match is_too_soon {
            true => TmpStatus::BULLETIN_TOO_SOON,
            false => flow,
        });
        let mut frames = Vec::new();
        if status.is_success() {
            line.asked = Some(now.mono);
            let wanted = self.bulletins.iter();
            let wanted = wanted.filter(|it| it.number >= asked.bulletin_req_id);
            frames.extend(wanted.map(|it| it.frame(asked.fcm_req_id, status, asked.system_type)));
        }
        if frames.is_empty() {
            frames.push(frame(&R14 {
                status,
                fcm_req_id: asked.fcm_req_id,
                bulletin_seq: 0,
                time: TmpTime::from_wall_ns(link_now(now).wall_ns),
                system_type: asked.system_type,
                data: b"",
            }));
        }
        for mut frame in frames {
            self.send(now, at, &mut frame, outbox)?;
        }
        Ok(())
    }
}
