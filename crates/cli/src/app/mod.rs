//! The built-in applications of `fixwire run`.

pub mod conformance;
pub mod echo;
pub mod log;

use clap::ValueEnum;
use fixwire_protocol::session::Config;
use fixwire_protocol::{
    AdminOut, Application, DiskRoom, Hangup, Ledger, Link, Message, Mono, Now, OperatorCommand,
    OperatorRight, Outbox, Parting, PeerLogout, Permission, Refusal, SessionId, Timestamp,
};
use fixwire_stamps::scenario::Echo;

/// The name of an application on the command line.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum AppName {
    /// Accepts each order with an ExecutionReport of its own fields; cancels and replaces orders, fills none
    Echo,
    /// Answers each NewOrderSingle with the same report, that of the published benchmark; FIX 4.2 only
    Bench,
    /// Behaves as the public conformance suites ask for
    Conformance,
    /// Prints what arrives
    #[default]
    Log,
}

/// One of the built-in applications.
pub enum BuiltIn {
    /// See [`echo`].
    Echo(echo::OrderEcho),
    /// Answers with the report of the benchmarks.
    Bench(Echo),
    /// See [`conformance`].
    Conformance(conformance::Conformance),
    /// See [`log`].
    Log(log::MessageLog),
}

impl BuiltIn {
    fn get(&self) -> &dyn Application {
        match self {
            Self::Echo(app) => app,
            Self::Bench(app) => app,
            Self::Conformance(app) => app,
            Self::Log(app) => app,
        }
    }

    fn get_mut(&mut self) -> &mut dyn Application {
        match self {
            Self::Echo(app) => app,
            Self::Bench(app) => app,
            Self::Conformance(app) => app,
            Self::Log(app) => app,
        }
    }
}

#[deny(clippy::missing_trait_methods)]
impl Application for BuiltIn {
    fn on_message(
        &mut self,
        now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        match self {
            // The application that benchmarks measure; its call is direct.
            Self::Bench(app) => app.on_message(now, from, message, outbox),
            other => other.get_mut().on_message(now, from, message, outbox),
        }
    }

    fn on_frame(
        &mut self,
        now: Now,
        from: SessionId,
        frame: &[u8],
        outbox: &mut Outbox,
    ) -> Result<(), Hangup> {
        self.get_mut().on_frame(now, from, frame, outbox)
    }

    fn on_link(&mut self, now: Now, session: SessionId, link: Link, outbox: &mut Outbox) {
        self.get_mut().on_link(now, session, link, outbox);
    }

    fn on_admin_out(&mut self, now: Now, session: SessionId, message: &mut AdminOut<'_>) {
        self.get_mut().on_admin_out(now, session, message);
    }

    fn on_admin(
        &mut self,
        now: Now,
        session: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) {
        self.get_mut().on_admin(now, session, message, outbox);
    }

    fn on_poss_dup(
        &mut self,
        now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) {
        self.get_mut().on_poss_dup(now, from, message, outbox);
    }

    fn on_reject(
        &mut self,
        now: Now,
        session: SessionId,
        reject: &Message<'_>,
        refused: Option<&[u8]>,
        outbox: &mut Outbox,
    ) {
        self.get_mut()
            .on_reject(now, session, reject, refused, outbox);
    }

    fn on_business_reject(
        &mut self,
        now: Now,
        from: SessionId,
        reject: &Message<'_>,
        refused: Option<&[u8]>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        self.get_mut()
            .on_business_reject(now, from, reject, refused, outbox)
    }

    fn on_reject_sent(
        &mut self,
        now: Now,
        session: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) {
        self.get_mut().on_reject_sent(now, session, message, outbox);
    }

    fn on_resend(&mut self, now: Now, session: SessionId, stored: &[u8]) -> bool {
        self.get_mut().on_resend(now, session, stored)
    }

    fn on_reset(&mut self, now: Now, session: SessionId, outbox: &mut Outbox) {
        self.get_mut().on_reset(now, session, outbox);
    }

    fn survives_panics(&self) -> bool {
        self.get().survives_panics()
    }

    fn on_note(&mut self, at: Timestamp, note: &[u8]) {
        self.get_mut().on_note(at, note);
    }

    fn ledger(&self) -> Option<Box<dyn Ledger>> {
        self.get().ledger()
    }

    fn on_checkpoint(&mut self, version: u32, state: &[u8]) -> Result<(), String> {
        self.get_mut().on_checkpoint(version, state)
    }

    fn state_hash(&self) -> Option<u64> {
        self.get().state_hash()
    }

    fn on_logon_request(
        &mut self,
        now: Now,
        session: SessionId,
        logon: &Message<'_>,
    ) -> Result<(), String> {
        self.get_mut().on_logon_request(now, session, logon)
    }

    fn on_logon(&mut self, now: Now, session: SessionId, logon: &Message<'_>, outbox: &mut Outbox) {
        self.get_mut().on_logon(now, session, logon, outbox);
    }

    fn on_logout(&mut self, now: Now, session: SessionId, logout: PeerLogout<'_>) {
        self.get_mut().on_logout(now, session, logout);
    }

    fn on_disconnect(
        &mut self,
        now: Now,
        session: SessionId,
        parting: Parting,
        logout: PeerLogout<'_>,
        outbox: &mut Outbox,
    ) {
        self.get_mut()
            .on_disconnect(now, session, parting, logout, outbox);
    }

    fn on_hours(&mut self, now: Now, session: SessionId, open: bool) {
        self.get_mut().on_hours(now, session, open);
    }

    fn on_disk(&mut self, now: Now, room: DiskRoom) {
        self.get_mut().on_disk(now, room);
    }

    fn on_session_added(&mut self, now: Now, session: SessionId, name: &str, config: &Config) {
        self.get_mut().on_session_added(now, session, name, config);
    }

    fn on_time(&mut self, now: Now, outbox: &mut Outbox) -> Option<Mono> {
        match self {
            // Called in each turn; this application has no timers.
            Self::Bench(_) => None,
            other => other.get_mut().on_time(now, outbox),
        }
    }

    fn command_right(&self, command: &[u8]) -> Option<OperatorRight> {
        self.get().command_right(command)
    }

    fn query_right(&self, query: &[u8]) -> Option<OperatorRight> {
        self.get().query_right(query)
    }

    fn permission(&self, who: &str, right: OperatorRight) -> Permission {
        self.get().permission(who, right)
    }

    fn owns(&self, session: SessionId) -> Option<&'static str> {
        self.get().owns(session)
    }

    fn on_query(&self, now: Now, query: &[u8], answer: &mut Vec<u8>) -> Result<(), String> {
        self.get().on_query(now, query, answer)
    }

    fn on_command(
        &mut self,
        now: Now,
        command: OperatorCommand<'_>,
        answer: &mut Vec<u8>,
        outbox: &mut Outbox,
    ) -> Result<(), String> {
        self.get_mut().on_command(now, command, answer, outbox)
    }
}

#[cfg(test)]
pub mod tests {
    use fixwire_protocol::Decoder;

    use super::*;

    /// What an application answers to a message (`|` for SOH): MsgType and body of each message.
    pub fn answer(app: &mut dyn Application, text: &str) -> Result<Vec<String>, Refusal> {
        let bytes = text.replace('|', "\x01").into_bytes();
        let mut decoder = Decoder::with_capacity(64);
        let message = decoder.decode(&bytes);
        let mut outbox = Outbox::new(1 << 16, 16, 256);
        app.on_message(Now::default(), SessionId(0), &message, &mut outbox)?;
        let said = (0..outbox.entries().len()).map(|index| {
            let body = String::from_utf8_lossy(outbox.body(index)).replace('\x01', "|");
            format!("{} {body}", String::from_utf8_lossy(outbox.msg_type(index)))
        });
        Ok(said.collect())
    }
}
