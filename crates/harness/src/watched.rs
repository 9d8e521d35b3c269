//! The application under test, as the engine sees it. The state of the application is recorded after every call. The
//! application gets no more calls after its process was killed.

use std::rc::Rc;

use fixwire_engine::journal::sim::SimDisk;
use fixwire_engine::protocol::session::Config;
use fixwire_engine::protocol::{
    AdminOut, Application, DiskRoom, Hangup, Ledger, Link, Message, Mono, Now, OperatorCommand,
    OperatorRight, Outbox, Parting, PeerLogout, Permission, Refusal, SessionId, Timestamp,
};

/// A function that returns, as text, the state of an application that must survive.
pub(crate) type Look<A> = Rc<dyn Fn(&A) -> String>;

/// An application and the states that it had so far.
pub(crate) struct Watched<A> {
    pub(crate) app: A,
    look: Option<Look<A>>,
    disk: SimDisk,
    /// The states of the application since [`begin_turn`](Self::begin_turn), without repetitions. The state before
    /// that call is included.
    states: Vec<String>,
    /// MsgSeqNums of all messages that were given to the application, each with its session.
    pub(crate) handed: Vec<(SessionId, u64)>,
}

impl<A> Watched<A> {
    pub(crate) fn new(app: A, look: Option<Look<A>>, disk: SimDisk) -> Self {
        Self {
            app,
            look,
            disk,
            states: Vec::new(),
            handed: Vec::new(),
        }
    }

    pub(crate) fn state(&self) -> Option<String> {
        self.look.as_ref().map(|look| look(&self.app))
    }

    /// Begins a turn, because everything before it is committed. Returns the states that the application had until
    /// then.
    pub(crate) fn begin_turn(&mut self) -> Vec<String> {
        self.note_state();
        let last = self.states.len().saturating_sub(1);
        self.states.drain(..last).collect()
    }

    /// The states in which the application may be when its process is killed in this turn.
    pub(crate) fn states(&self) -> &[String] {
        &self.states
    }

    fn note_state(&mut self) {
        let state = self.state();
        if let Some(state) = state
            && self.states.last() != Some(&state)
        {
            self.states.push(state);
        }
    }

    fn note_first(&mut self) {
        if self.states.is_empty() {
            self.note_state();
        }
    }

    /// Calls the application, unless its process was killed.
    fn with<T: Default>(&mut self, hand: impl FnOnce(&mut A) -> T) -> T {
        if self.disk.has_stopped() {
            return T::default();
        }
        self.note_first();
        let answer = hand(&mut self.app);
        self.note_state();
        answer
    }
}

#[deny(clippy::missing_trait_methods)]
impl<A: Application> Application for Watched<A> {
    fn on_message(
        &mut self,
        now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        if self.disk.has_stopped() {
            return Ok(());
        }
        if let Some(Ok(seq)) = message.uint(34) {
            self.handed.push((from, seq));
        }
        self.note_first();
        let answer = self.app.on_message(now, from, message, outbox);
        self.note_state();
        answer
    }

    fn on_frame(
        &mut self,
        now: Now,
        from: SessionId,
        frame: &[u8],
        outbox: &mut Outbox,
    ) -> Result<(), Hangup> {
        if self.disk.has_stopped() {
            return Ok(());
        }
        self.note_first();
        let answer = self.app.on_frame(now, from, frame, outbox);
        self.note_state();
        answer
    }

    fn on_link(&mut self, now: Now, session: SessionId, link: Link, outbox: &mut Outbox) {
        self.with(|app| app.on_link(now, session, link, outbox));
    }

    fn on_poss_dup(&mut self, now: Now, from: SessionId, it: &Message<'_>, outbox: &mut Outbox) {
        self.with(|app| app.on_poss_dup(now, from, it, outbox));
    }

    fn on_admin_out(&mut self, now: Now, session: SessionId, message: &mut AdminOut<'_>) {
        self.with(|app| app.on_admin_out(now, session, message));
    }

    fn on_admin(&mut self, now: Now, session: SessionId, it: &Message<'_>, outbox: &mut Outbox) {
        self.with(|app| app.on_admin(now, session, it, outbox));
    }

    fn on_reject(
        &mut self,
        now: Now,
        session: SessionId,
        reject: &Message<'_>,
        refused: Option<&[u8]>,
        outbox: &mut Outbox,
    ) {
        self.with(|app| app.on_reject(now, session, reject, refused, outbox));
    }

    fn on_business_reject(
        &mut self,
        now: Now,
        from: SessionId,
        reject: &Message<'_>,
        refused: Option<&[u8]>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        if self.disk.has_stopped() {
            return Ok(());
        }
        if let Some(Ok(seq)) = reject.uint(34) {
            self.handed.push((from, seq));
        }
        self.note_first();
        let answer = self
            .app
            .on_business_reject(now, from, reject, refused, outbox);
        self.note_state();
        answer
    }

    fn on_reject_sent(
        &mut self,
        now: Now,
        session: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) {
        self.with(|app| app.on_reject_sent(now, session, message, outbox));
    }

    fn on_resend(&mut self, now: Now, session: SessionId, stored: &[u8]) -> bool {
        self.app.on_resend(now, session, stored)
    }

    fn on_note(&mut self, at: Timestamp, note: &[u8]) {
        self.app.on_note(at, note);
    }

    fn ledger(&self) -> Option<Box<dyn Ledger>> {
        self.app.ledger()
    }

    fn on_checkpoint(&mut self, version: u32, state: &[u8]) -> Result<(), String> {
        self.app.on_checkpoint(version, state)
    }

    fn state_hash(&self) -> Option<u64> {
        self.app.state_hash()
    }

    fn on_logon_request(
        &mut self,
        now: Now,
        session: SessionId,
        logon: &Message<'_>,
    ) -> Result<(), String> {
        if self.disk.has_stopped() {
            return Ok(());
        }
        self.app.on_logon_request(now, session, logon)
    }

    fn on_logon(&mut self, now: Now, session: SessionId, it: &Message<'_>, outbox: &mut Outbox) {
        self.with(|app| app.on_logon(now, session, it, outbox));
    }

    fn on_logout(&mut self, now: Now, session: SessionId, logout: PeerLogout<'_>) {
        self.with(|app| app.on_logout(now, session, logout));
    }

    fn on_disconnect(
        &mut self,
        now: Now,
        session: SessionId,
        parting: Parting,
        logout: PeerLogout<'_>,
        outbox: &mut Outbox,
    ) {
        self.with(|app| app.on_disconnect(now, session, parting, logout, outbox));
    }

    fn on_reset(&mut self, now: Now, session: SessionId, outbox: &mut Outbox) {
        self.with(|app| app.on_reset(now, session, outbox));
    }

    fn on_hours(&mut self, now: Now, session: SessionId, open: bool) {
        self.with(|app| app.on_hours(now, session, open));
    }

    fn on_disk(&mut self, now: Now, room: DiskRoom) {
        self.with(|app| app.on_disk(now, room));
    }

    fn on_session_request(
        &mut self,
        now: Now,
        name: &str,
        config: &Config,
    ) -> Result<(), &'static str> {
        if self.disk.has_stopped() {
            return Err("the process has ended");
        }
        self.app.on_session_request(now, name, config)
    }

    fn on_session_added(&mut self, now: Now, session: SessionId, name: &str, config: &Config) {
        self.with(|app| app.on_session_added(now, session, name, config));
    }

    fn on_command(
        &mut self,
        now: Now,
        command: OperatorCommand<'_>,
        answer: &mut Vec<u8>,
        outbox: &mut Outbox,
    ) -> Result<(), String> {
        if self.disk.has_stopped() {
            return Err("the process has ended".to_owned());
        }
        self.note_first();
        let done = self.app.on_command(now, command, answer, outbox);
        self.note_state();
        done
    }

    fn command_right(&self, command: &[u8]) -> Option<OperatorRight> {
        self.app.command_right(command)
    }

    fn query_right(&self, query: &[u8]) -> Option<OperatorRight> {
        self.app.query_right(query)
    }

    fn permission(&self, who: &str, right: OperatorRight) -> Permission {
        self.app.permission(who, right)
    }

    fn owns(&self, session: SessionId, msg_type: &[u8]) -> Option<&'static str> {
        self.app.owns(session, msg_type)
    }

    fn on_query(&self, now: Now, query: &[u8], answer: &mut Vec<u8>) -> Result<(), String> {
        self.app.on_query(now, query, answer)
    }

    fn survives_panics(&self) -> bool {
        self.app.survives_panics()
    }

    fn on_time(&mut self, now: Now, outbox: &mut Outbox) -> Option<Mono> {
        self.with(|app| app.on_time(now, outbox))
    }
}

#[cfg(test)]
mod tests {
    /// A method that is not forwarded would hide the application's own.
    #[test]
    fn every_method_of_an_application_is_handed_on() {
        let page = include_str!("../../protocol/src/application.rs");
        let (_, rest) = page.split_once("pub trait Application {").unwrap();
        let (methods, _) = rest.split_once("\n}\n").unwrap();
        let names = methods
            .lines()
            .filter_map(|line| line.strip_prefix("    fn "));
        let names: Vec<&str> = names.filter_map(|line| line.split('(').next()).collect();
        assert!(names.len() > 20, "{names:?}");
        // A long call is split over lines.
        let own: String = include_str!("watched.rs").split_whitespace().collect();
        for name in names {
            let calls = format!("app.{name}(");
            assert!(own.contains(&calls), "{name} is not handed on");
        }
    }
}
