//! The built-in applications of `fixwire run`.

pub mod conformance;
pub mod echo;
pub mod log;

use clap::ValueEnum;
use fixwire_protocol::{
    Application, Message, Mono, Now, Outbox, Refusal, SessionId, forward_application,
};
use fixwire_stamps::scenario::Echo;

/// The name of an application on the command line.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub enum AppName {
    /// Accepts each order with an ExecutionReport of its own fields; cancels and replaces orders, fills none
    Echo,
    /// Answers each NewOrderSingle with the same report, that of the published benchmark; FIX 4.2 only
    Bench,
    /// Answers as the public conformance suites expect
    Conformance,
    /// Prints what arrives
    #[default]
    Log,
}

/// A built-in application.
pub enum BuiltIn {
    /// See [`echo`].
    Echo(echo::OrderEcho),
    /// Answers with the execution report of the benchmarks.
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
            // Benchmarks measure this application, so it is called directly.
            Self::Bench(app) => app.on_message(now, from, message, outbox),
            other => other.get_mut().on_message(now, from, message, outbox),
        }
    }

    fn on_time(&mut self, now: Now, outbox: &mut Outbox) -> Option<Mono> {
        match self {
            // This is called in each turn. The benchmark application has no timers.
            Self::Bench(_) => None,
            other => other.get_mut().on_time(now, outbox),
        }
    }

    forward_application!(
        get, get_mut:
        on_frame on_link on_admin_out on_admin on_poss_dup on_reject on_business_reject
        on_reject_sent on_resend on_reset survives_panics on_note ledger on_checkpoint state_hash
        on_logon_request on_logon on_logout on_disconnect on_hours on_disk on_session_request
        on_session_added command_right query_right permission owns on_query on_command
    );
}

#[cfg(test)]
pub mod tests {
    use fixwire_protocol::Decoder;

    use super::*;

    /// The answers of an application to a message, which is written with `|` for SOH: MsgType and body of each answer.
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
