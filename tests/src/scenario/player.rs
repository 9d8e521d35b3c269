//! Plays a scenario against the pure session, in microseconds.

use std::collections::{BTreeMap, VecDeque};

use fixwire_protocol::session::{DisconnectReason, Role, Verdict};
use fixwire_protocol::{
    Decoder, Mono, MsgSeqNumSource, Nanos, Now, Outbox, Session, SessionId, Timestamp,
};

use super::peer::{self, Peer, Setup, written};
use super::{Action, Failure, Fields, Scenario, message};

/// 2026-08-21T13:30:00Z.
const START: Timestamp = Timestamp(1_787_319_000_000_000_000);
const ID: SessionId = SessionId(7);

/// The actions of the session.
#[derive(Clone, Debug)]
enum Event {
    Send(Vec<u8>),
    Deliver(Vec<u8>),
    Duplicate(Vec<u8>),
    Disconnect(DisconnectReason),
}

impl Event {
    fn show(&self) -> String {
        match self {
            Self::Send(bytes) => format!("send {}", message::show(bytes)),
            Self::Deliver(bytes) => format!("deliver {}", message::show(bytes)),
            Self::Duplicate(bytes) => format!("duplicate {}", message::show(bytes)),
            Self::Disconnect(reason) => format!("disconnect {}", peer::reason(*reason)),
        }
    }
}

/// Plays a scenario under one of [`super::VERSIONS`].
///
/// # Errors
///
/// The first line at which the session differs from the scenario, or that cannot be played.
pub fn play(scenario: &Scenario, version: &str) -> Result<(), Failure> {
    let failure = |line, what| Failure {
        scenario: format!("{} [{version}]", scenario.name),
        line,
        what,
    };
    let mut player = Player::new(version, &scenario.settings)
        .map_err(|what| failure(scenario.settings_line, what))?;
    let mut last = 0;
    for step in &scenario.steps {
        last = step.line;
        player
            .step(&step.action)
            .map_err(|what| failure(step.line, what))?;
    }
    player
        .nothing_left()
        .map_err(|what| failure(last + 1, what))
}

/// The session with the state that an engine would keep for it.
pub struct Player {
    session: Session,
    peer: Peer,
    now: Now,
    outbox: Outbox,
    decoder: Decoder,
    stored: BTreeMap<u64, Vec<u8>>,
    epoch: u64,
    next_new: u64,
    delivered: Option<Vec<u8>>,
    events: VecDeque<Event>,
}

impl Player {
    /// A session of this version with these settings.
    ///
    /// # Errors
    ///
    /// An unknown setting.
    pub fn new(version: &str, settings: &[(String, String)]) -> Result<Self, String> {
        let Setup {
            config,
            peer,
            next_out,
        } = Setup::new(version, settings)?;
        let mut session = Session::new(ID, config);
        session.restore(next_out, peer.next, 0);
        Ok(Self {
            outbox: Outbox::new(1 << 20, 256, session.header_room()),
            session,
            peer,
            now: Now {
                wall: START,
                mono: Mono(1_000_000_000),
            },
            decoder: Decoder::with_capacity(128),
            stored: BTreeMap::new(),
            epoch: 0,
            next_new: next_out,
            delivered: None,
            events: VecDeque::new(),
        })
    }

    /// Plays a line, or checks it.
    ///
    /// # Errors
    ///
    /// The difference between the line and the session.
    pub fn step(&mut self, action: &Action) -> Result<(), String> {
        if !action.is_expectation() {
            self.nothing_left()?;
        }
        match action {
            Action::Connect => {
                let verdict = self.session.connected(self.now, &mut self.outbox);
                self.follow(verdict, None)
            }
            Action::LoggedOn => self.log_on(),
            Action::Receive(fields) => self.receive(fields),
            Action::Garbled(fields) => {
                let bytes = match fields {
                    Some(fields) => peer::spoil(self.peer.message(fields, self.now.wall)?),
                    None => b"8=FIX.4.4\x019=5\x01".to_vec(),
                };
                let verdict = self.session.garbled(self.now, &bytes, &mut self.outbox);
                self.follow(verdict, None)?;
                self.receive_held()
            }
            Action::Wait(span) => self.wait(Nanos(span.as_nanos() as u64)),
            Action::AppSend(fields) => self.app_send(fields),
            Action::Refuse(what) => self.refuse(what),
            Action::LogOut(text) => {
                let verdict = self.session.log_out(self.now, text, &mut self.outbox);
                self.follow(verdict, None)
            }
            Action::Reset => {
                let verdict = self.session.reset(self.now, &mut self.outbox);
                self.follow(verdict, None)
            }
            Action::OutOfHours => {
                self.session.allow_logons(false);
                Ok(())
            }
            Action::Drop => {
                self.session.disconnected(self.now);
                self.notice_epoch();
                Ok(())
            }
            Action::Restart => {
                let (old, id) = (&self.session, self.session.id());
                let mut session = Session::new(id, old.config().clone());
                session.restore(old.next_out(), old.next_in_to_keep(), old.epoch());
                self.session = session;
                self.notice_epoch();
                Ok(())
            }
            Action::Forget => {
                self.stored.clear();
                Ok(())
            }
            Action::Send(fields) => self.expect_send(fields),
            Action::Deliver(fields) => self.expect_deliver("deliver", fields),
            Action::Duplicate(fields) => self.expect_deliver("duplicate", fields),
            Action::Disconnect(reason) => match self.events.pop_front() {
                Some(Event::Disconnect(got))
                    if reason.is_empty() || *reason == peer::reason(got) =>
                {
                    Ok(())
                }
                other => Err(difference(&format!("disconnect {reason}"), other)),
            },
            Action::Numbers(numbers) => {
                for (key, wanted) in numbers {
                    let is = match key.as_str() {
                        "in" => self.session.next_in(),
                        "out" => self.session.next_out(),
                        _ => self.session.epoch(),
                    };
                    if is != *wanted {
                        return Err(format!("expected {key}={wanted}, got {key}={is}"));
                    }
                }
                Ok(())
            }
        }
    }

    /// Whether the session did more than the lines so far expect.
    ///
    /// # Errors
    ///
    /// The actions.
    pub fn nothing_left(&self) -> Result<(), String> {
        match self.events.front() {
            None => Ok(()),
            Some(event) => Err(format!("expected nothing, got {}", event.show())),
        }
    }

    /// Both Logons, which must be the usual ones.
    fn log_on(&mut self) -> Result<(), String> {
        self.step(&Action::Connect)?;
        let logon = peer::usual_logon();
        let role = self.session.config().role;
        if role == Role::Acceptor {
            self.receive(&logon)?;
        }
        match self.events.pop_front() {
            Some(Event::Send(bytes)) if message::split(&bytes)[2].1 == "A" => {}
            other => return Err(difference("send 35=A", other)),
        }
        if role == Role::Initiator {
            self.receive(&logon)?;
        }
        match self.session.is_logged_on() {
            true => self.nothing_left(),
            false => Err("the session is not logged on".to_owned()),
        }
    }

    fn receive(&mut self, fields: &Fields) -> Result<(), String> {
        let bytes = self.peer.message(fields, self.now.wall)?;
        self.receive_bytes(&bytes)?;
        self.receive_held()
    }

    fn receive_held(&mut self) -> Result<(), String> {
        let mut held = Vec::new();
        while self.session.take_held(&mut held) {
            self.receive_bytes(&held)?;
        }
        Ok(())
    }

    fn receive_bytes(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut decoder = std::mem::replace(&mut self.decoder, Decoder::with_capacity(0));
        let was_logged_on = self.session.is_logged_on();
        let verdict = {
            let decoded = decoder.decode(bytes);
            self.session.receive(self.now, &decoded, &mut self.outbox)
        };
        self.decoder = decoder;
        let is_over = matches!(verdict, Verdict::Ended { .. } | Verdict::Disconnect(_));
        if was_logged_on && !self.session.is_logged_on() && !is_over {
            return Err(format!(
                "the session ended, and the verdict was {verdict:?}"
            ));
        }
        self.follow(verdict, Some(bytes))
    }

    fn wait(&mut self, span: Nanos) -> Result<(), String> {
        let end = self.now.mono + span;
        let mut calls = 0;
        while let Some(due) = self.session.next_due().filter(|due| *due <= end) {
            calls += 1;
            if calls > 10_000 {
                return Err("the session's timers never come to rest".to_owned());
            }
            self.pass_to(due.max(self.now.mono));
            let verdict = self.session.elapse(self.now, &mut self.outbox);
            self.follow(verdict, None)?;
        }
        self.pass_to(end);
        Ok(())
    }

    fn pass_to(&mut self, mono: Mono) {
        self.now.wall.0 += (mono - self.now.mono).0 as i64;
        self.now.mono = mono;
    }

    fn app_send(&mut self, fields: &Fields) -> Result<(), String> {
        let msg_type = match fields.first() {
            Some((35, msg_type)) => msg_type.as_bytes(),
            _ => return Err("`app-send` begins with 35".to_owned()),
        };
        let mut body = self.outbox.begin(ID, msg_type);
        for (tag, value) in &fields[1..] {
            let value = message::resolve(value, self.now.wall, self.peer.precision)?;
            body.field(*tag, value.as_bytes());
        }
        body.finish().map_err(|error| error.to_string())?;
        self.follow(Verdict::Handled, None)
    }

    fn refuse(&mut self, what: &str) -> Result<(), String> {
        let refusal = peer::refusal(what)?;
        let Some(bytes) = self.delivered.take() else {
            return Err("nothing was delivered that could be refused".to_owned());
        };
        let mut decoder = Decoder::with_capacity(128);
        let message = decoder.decode(&bytes);
        self.session
            .refuse(self.now, &message, refusal, &mut self.outbox);
        self.follow(Verdict::Handled, None)
    }

    /// The engine's work after a call: seal, store, send, and then the verdict.
    fn follow(&mut self, verdict: Verdict, message: Option<&[u8]>) -> Result<(), String> {
        self.seal()?;
        match (verdict, message) {
            (Verdict::Deliver, Some(bytes)) => {
                let number = message::split(bytes)
                    .into_iter()
                    .find(|(tag, _)| *tag == 34)
                    .and_then(|(_, value)| value.parse::<u64>().ok());
                if number != Some(self.session.next_in() - 1) {
                    return Err(format!("delivered out of order: {}", message::show(bytes)));
                }
                self.delivered = Some(bytes.to_vec());
                self.events.push_back(Event::Deliver(bytes.to_vec()));
            }
            (Verdict::Duplicate, Some(bytes)) => {
                self.events.push_back(Event::Duplicate(bytes.to_vec()));
            }
            (Verdict::Deliver | Verdict::Duplicate, None) => {
                return Err("delivered nothing".to_owned());
            }
            (Verdict::LoggedOn | Verdict::Replay, _) => self.replay()?,
            (Verdict::Disconnect(reason), _) => {
                self.events.push_back(Event::Disconnect(reason));
                self.session.disconnected(self.now);
                self.notice_epoch();
            }
            _ => {}
        }
        Ok(())
    }

    fn replay(&mut self) -> Result<(), String> {
        while let Some(number) = self.session.replay_due() {
            let stored = self.stored.get(&number).map(Vec::as_slice);
            self.session.replay(self.now, stored, &mut self.outbox);
            self.seal()?;
        }
        Ok(())
    }

    fn seal(&mut self) -> Result<(), String> {
        self.notice_epoch();
        for index in self.outbox.unsealed() {
            let entry = self.outbox.entries()[index];
            self.session.seal(self.now, &mut self.outbox, index);
            let bytes = self.outbox.sealed(index).to_vec();
            let number = self.outbox.entries()[index].seq;
            self.peer.check_frame(&bytes)?;
            if entry.number == MsgSeqNumSource::Next {
                if number != self.next_new {
                    let wanted = self.next_new;
                    return Err(format!(
                        "sent {number}, should be {wanted}: {}",
                        message::show(&bytes)
                    ));
                }
                self.next_new = number + 1;
                self.stored.insert(number, bytes.clone());
            } else {
                peer::check_repetition(self.stored.get(&number).map(Vec::as_slice), &bytes)?;
            }
            self.events.push_back(Event::Send(bytes));
        }
        self.outbox.clear();
        Ok(())
    }

    /// After a reset the sequence numbers begin again, and nothing older is ever sent.
    fn notice_epoch(&mut self) {
        if self.session.epoch() != self.epoch {
            self.epoch = self.session.epoch();
            self.stored.clear();
            self.next_new = 1;
            if self.session.next_in() == 1 {
                self.peer.next = 1;
            }
        }
    }

    fn expect_send(&mut self, wanted: &Fields) -> Result<(), String> {
        let wanted = self.peer.expected(wanted);
        let what = format!("send {}", written(&wanted));
        let event = self.events.pop_front();
        let Some(Event::Send(bytes)) = &event else {
            return Err(difference(&what, event));
        };
        let mut resolved = wanted;
        for (_, value) in &mut resolved {
            *value = message::resolve(value, self.now.wall, self.peer.precision)?;
        }
        match peer::is_exactly(&resolved, bytes, |wanted, is| wanted == is) {
            true => Ok(()),
            false => Err(difference(&what, event)),
        }
    }

    fn expect_deliver(&mut self, how: &str, wanted: &Fields) -> Result<(), String> {
        let what = format!("{how} {}", written(wanted));
        let event = self.events.pop_front();
        let bytes = match &event {
            Some(Event::Deliver(bytes)) if how == "deliver" => bytes,
            Some(Event::Duplicate(bytes)) if how == "duplicate" => bytes,
            _ => return Err(difference(&what, event)),
        };
        let has = message::split(bytes);
        match wanted.iter().all(|field| has.contains(field)) {
            true => Ok(()),
            false => Err(difference(&what, event)),
        }
    }
}

fn difference(wanted: &str, got: Option<Event>) -> String {
    let got = got.map_or("nothing".to_owned(), |event| event.show());
    format!("expected {wanted}, got {got}")
}
