//! A login for which the case has no steps. This login uses the login of the broker's real link.

use fixwire_protocol::{Mono, Nanos};
use fixwire_tmp::messages::{L10, L60};
use fixwire_tmp::{LinkAction, LinkActions, LinkClient, LinkNow, TmpFrame, TmpLayout};

use super::TmpSession;
use crate::session::{LogOnFailure, PlayedSession, Pumped, seconds};
use crate::tmp::frames;
use crate::venue_line::LineRead;

/// Number of login messages that count toward the flow limit.
const COUNTED: usize = 4;

/// The state of a login.
enum LoginStep {
    GoesOn,
    Done,
}

impl TmpSession {
    /// Connects and logs in. Messages that the venue had for us while there was no connection are recovered and then
    /// ignored.
    pub(super) fn log_in(&mut self, within: Nanos) -> Result<(), LogOnFailure> {
        self.disconnect();
        self.pace(COUNTED);
        self.connect().map_err(LogOnFailure::Venue)?;
        let mut settings = self.settings.clone();
        settings.step_within_ns = within.0;
        let mut link = LinkClient::new(settings, self.numbers);
        let mut actions = LinkActions::new();
        link.on_connect(self.link_now(), &mut actions);
        let mut recovered = 0;
        let until = loop {
            match self.carry_out(&actions, &mut recovered)? {
                LoginStep::GoesOn => {}
                LoginStep::Done => break self.now().mono + within,
            }
            actions.clear();
            self.next_frame(&mut link, &mut actions)?;
        };
        self.numbers.inbound = link.numbers().inbound;
        if recovered > 0 {
            self.note(&format!(
                "{recovered} missed messages were recovered by L41"
            ));
        }
        self.catch_up(until, within)
    }

    fn link_now(&mut self) -> LinkNow {
        let now = self.line.now();
        LinkNow {
            mono_ns: now.mono.0,
            wall_ns: now.wall.0.max(0).cast_unsigned(),
        }
    }

    /// Passes a frame to the link, or the time if no frame arrives.
    fn next_frame(
        &mut self,
        link: &mut LinkClient,
        actions: &mut LinkActions,
    ) -> Result<(), LogOnFailure> {
        use fixwire_protocol::framing::Framed;
        loop {
            let bytes = std::mem::take(&mut self.bytes);
            match self.framing.next(&bytes) {
                Framed::Whole(length) => {
                    self.bytes = bytes[length..].to_vec();
                    self.record_frame(&bytes[..length]);
                    let now = self.link_now();
                    link.on_frame(now, &bytes[..length], actions);
                    return Ok(());
                }
                Framed::Bad(why) => {
                    self.bytes = bytes;
                    self.disconnect();
                    return Err(LogOnFailure::Venue(format!(
                        "received bytes that are not a frame: {why}"
                    )));
                }
                Framed::More => self.bytes = bytes,
            }
            let due = link.next_due().map_or(Mono::NEVER, Mono);
            match self.line.read(due, &mut self.bytes) {
                LineRead::Bytes => {}
                LineRead::Stopped => return Err(LogOnFailure::Stopped),
                LineRead::TimedOut => {
                    let now = self.link_now();
                    link.on_time(now, actions);
                    return Ok(());
                }
                LineRead::Closed => {
                    self.note("connection closed by the venue");
                    self.ended();
                    let why = "the venue closed the connection".to_owned();
                    return Err(LogOnFailure::Venue(why));
                }
            }
        }
    }

    fn record_frame(&mut self, bytes: &[u8]) {
        let at = self.line.now().wall;
        let line = match TmpFrame::read(bytes) {
            Ok(frame) => frames::shown(&frames::read(&frame), &self.secrets),
            Err(error) => format!("bad frame: {error}"),
        };
        self.record.at(at, &format!("< {line}"));
        self.record.line(&format!("  {}", frames::hex(bytes)));
        if let Ok(frame) = TmpFrame::read(bytes) {
            self.learn(&frame);
        }
    }

    fn carry_out(
        &mut self,
        actions: &LinkActions,
        recovered: &mut u32,
    ) -> Result<LoginStep, LogOnFailure> {
        let mut step = LoginStep::GoesOn;
        for action in actions {
            match action {
                LinkAction::Send(frame) => {
                    let read = TmpFrame::read(frame);
                    let line = read.map_or_else(
                        |_| "bytes".to_owned(),
                        |read| frames::shown(&frames::read(&read), &self.secrets),
                    );
                    let sent = self.write_shown(frame, &line, &frames::hex(frame));
                    sent.map_err(|error| LogOnFailure::Venue(error.to_string()))?;
                    self.ready |= frame.get(12) == Some(&L60::CODE);
                }
                LinkAction::Deliver { .. } => *recovered += 1,
                LinkAction::Warn(warning) => self.note(&format!("{warning:?}")),
                LinkAction::Ready(_) => step = LoginStep::Done,
                LinkAction::Close(end) => {
                    self.disconnect();
                    return Err(LogOnFailure::Venue(end.to_string()));
                }
                _ => {}
            }
        }
        Ok(step)
    }

    /// Receives the messages that belong to the login and to no step, until the R05 that answers an R04 of the
    /// player.
    fn catch_up(&mut self, until: Mono, within: Nanos) -> Result<(), LogOnFailure> {
        let failed = |why: String| Err(LogOnFailure::Venue(why));
        let id = self.probe();
        loop {
            while let Some(message) = self.inbox.pop_front() {
                if let Some(fault) = &message.fault {
                    return failed(format!("received {}: {fault}", message.shown));
                }
                if self.is_answer(&message, &id) {
                    return Ok(());
                }
                if message.msg_type() == L10::NAME {
                    return failed(format!("received {}", message.shown));
                }
            }
            match self.wait_beyond(0, until) {
                Pumped::Message => {}
                Pumped::Closed => return failed("the venue closed the connection".to_owned()),
                Pumped::Stopped => return Err(LogOnFailure::Stopped),
                Pumped::TimedOut => {
                    return failed(format!("no R05 within {}", seconds(within)));
                }
            }
        }
    }
}
