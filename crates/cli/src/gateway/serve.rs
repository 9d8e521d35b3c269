//! The gateway under `fixwire run`: what its operator hears, and its counts.

use std::io;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use fixwire::control::COUNTS;
use fixwire::{Handle, OperationError, Operator, SendError};
use fixwire_gateway::Gateway;
use fixwire_gateway::gateway::{Event, Listener, Reload};
use fixwire_protocol::session::Config;
use fixwire_protocol::time::{Precision, Stamp};
use fixwire_protocol::{
    Application, Ledger, Message, Mono, Now, OperatorCommand, Outbox, Parting, PeerLogout, Refusal,
    SessionId, Timestamp,
};

use crate::failure::Failure;
use crate::print::Printer;
use crate::readable::{Escaped, Fields};

/// The command that takes the rules that were put beside the gateway.
const RELOAD: &[u8] = b"reload";

/// Where the answer of an engine comes.
type Answered = Receiver<Result<Vec<u8>, OperationError>>;

/// What became of other rules: they hold, or the old ones stay; both as a line for the operator.
pub type Outcome = Result<String, String>;

/// How other threads, and the listener, reach a gateway that runs.
#[derive(Clone, Default)]
pub struct Remote {
    rules: Arc<Mutex<Option<Handed>>>,
    /// The engine, once there is one.
    engine: Arc<Mutex<Option<Handle>>>,
}

/// Rules on their way to the gateway's thread, and back.
enum Handed {
    New(Box<Reload>),
    /// Those that it had before, which are not for that thread to free.
    Spent(Box<Reload>),
}

impl Remote {
    /// From now on the engine can be told something.
    pub fn give(&self, engine: Handle) {
        *locked(&self.engine) = Some(engine);
    }

    /// What was counted since the start, a line each.
    pub fn counts(&self) -> Outcome {
        let asked = locked(&self.engine)
            .as_mut()
            .map(|engine| engine.query(COUNTS));
        answered(asked)
    }

    /// Goes on with other rules, between two messages, for somebody; one call at a time.
    pub fn reload(&self, new: Reload, by: Operator) -> Outcome {
        *locked(&self.rules) = Some(Handed::New(Box::new(new)));
        let asked = locked(&self.engine)
            .as_mut()
            .map(|engine| engine.command(RELOAD, by));
        let outcome = answered(asked);
        let spent = locked(&self.rules).take();
        if let Some(Handed::New(rules) | Handed::Spent(rules)) = spent {
            drop(rules);
        }
        outcome
    }
}

/// What the engine answers, once it does.
fn answered(asked: Option<Result<Answered, SendError>>) -> Outcome {
    let asked = asked.ok_or("the gateway has not started yet; try again")?;
    let answer = asked.map_err(|error| error.to_string())?;
    let answer = answer
        .recv()
        .map_err(|_| "the gateway is stopping".to_owned())?;
    let text = answer.map_err(|why| why.to_string())?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A listener that prints a line for each event, and connects and ends sessions where a rule says so.
///
/// # Errors
///
/// The system gives no thread.
pub fn listener(names: Vec<String>, remote: &Remote) -> Result<Listener, Failure> {
    let mut printer = Printer::new(io::stderr())?;
    let (mut stamp, engine) = (Stamp::new(), Arc::clone(&remote.engine));
    Ok(Box::new(move |event| {
        let name = |session: SessionId| names.get(session.0 as usize).map_or("", String::as_str);
        let said = match event {
            Event::Notify { rule, text } => format!("gateway {rule}: {}", Escaped(text)),
            Event::Connect { rule, session } => {
                let done = ask(&engine, |engine| engine.log_on(session));
                format!("{} connect by {rule}{done}", name(session))
            }
            Event::Disconnect { rule, session } => {
                let done = ask(&engine, |engine| engine.log_out(session, ""));
                format!("{} disconnect by {rule}{done}", name(session))
            }
            Event::Trouble {
                from,
                message,
                rule,
                trouble,
            } => {
                let rule = rule.map(|rule| format!("{rule}: ")).unwrap_or_default();
                format!("{} {rule}{trouble}: {}", name(from), Fields(&message))
            }
            Event::Undelivered {
                from,
                to,
                message,
                trouble,
            } => {
                let [from, to] = [from, to].map(|one| one.map_or("a removed session", name));
                format!("{from} to {to}: {trouble}: {}", Fields(&message))
            }
            Event::Room {
                limit,
                client,
                is_share,
                taken,
                of,
            } => {
                let client = client.map_or("a removed session", name);
                if is_share {
                    format!("gateway {limit}: {client} uses {taken} of its share of {of}")
                } else {
                    format!("gateway {limit}: {taken} of {of} used, most by {client}")
                }
            }
            Event::Note(error) => format!("gateway {error}"),
            other => format!("gateway {other:?}"),
        };
        let time = Escaped(stamp.format(now(), Precision::Millis)).to_string();
        printer.line(format!("{time} {}", Escaped(said.as_bytes())));
    }))
}

/// Asks the engine for something, when there is one; says why it cannot be asked.
fn ask(
    engine: &Mutex<Option<Handle>>,
    wish: impl FnOnce(&mut Handle) -> Result<(), SendError>,
) -> String {
    let failed = locked(engine).as_mut().map(wish).and_then(Result::err);
    let failed = failed.map(|error| format!(", which failed: {error}"));
    failed.unwrap_or_default()
}

/// The wall clock.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos());
    Timestamp(i64::try_from(nanos).unwrap_or(i64::MAX))
}

/// A gateway that does between its messages what other threads want.
pub struct Serving {
    gateway: Gateway,
    remote: Remote,
    printer: Printer,
}

impl Serving {
    /// # Errors
    ///
    /// The system gives no thread.
    pub fn new(gateway: Gateway, remote: &Remote) -> Result<Self, Failure> {
        Ok(Self {
            gateway,
            remote: remote.clone(),
            printer: Printer::new(io::stderr())?,
        })
    }

    fn reload(&mut self) -> Outcome {
        let given = locked(&self.remote.rules).take_if(|rules| matches!(rules, Handed::New(_)));
        let Some(Handed::New(mut new)) = given else {
            return Err("no rules to reload".to_owned());
        };
        let outcome = match self.gateway.reload(&mut new) {
            Ok(()) => {
                let rules = self.gateway.rules().len();
                Ok(format!("gateway reloaded: {rules} rules"))
            }
            Err(error) => Err(format!("gateway not reloaded: {error}")),
        };
        *locked(&self.remote.rules) = Some(Handed::Spent(new));
        let (Ok(said) | Err(said)) = &outcome;
        self.printer.line(said.clone());
        outcome
    }

    /// Prints what was counted since the start.
    pub fn tell(&mut self) {
        self.printer.line(shown(&counts(&self.gateway).join("\n")));
    }
}

/// Counts as they are printed: as one text, so that none of its lines is left out.
pub fn shown(counts: &str) -> String {
    let lines = counts.lines();
    let lines = lines.map(|line| format!("counts: {}", Escaped(line.as_bytes())));
    lines.collect::<Vec<_>>().join("\n")
}

fn counts(gateway: &Gateway) -> Vec<String> {
    let (all, orders) = (gateway.counters(), gateway.orders().counters());
    let mut lines = vec![
        format!(
            "received {}, sent {}, copied {}, returned {}, rejected {}",
            all.received, all.sent, all.copied, all.returned, all.rejected
        ),
        format!(
            "unmatched {}, unsolicited {}, came back {}, scripts failed {}, troubles {}",
            all.unmatched, all.unsolicited, all.came_back, all.scripts_failed, all.troubles
        ),
        format!(
            "orders live {}, remembered {}, refused {}, ids rewritten {}",
            orders.live, orders.remembered, orders.refused, orders.rewritten
        ),
    ];
    if all.held > 0 {
        let (held, undelivered) = (all.held, all.undelivered);
        lines.push(format!("held {held}, undelivered {undelivered}"));
    }
    for waiting in gateway.held() {
        lines.push(format!(
            "held for {}: {} messages in {} bytes",
            waiting.session, waiting.messages, waiting.bytes
        ));
    }
    let remembered = gateway.remembered();
    if remembered.bytes > 0 {
        lines.push(format!(
            "remembered for {} orders in {} bytes, dropped {}",
            remembered.orders, remembered.bytes, remembered.dropped
        ));
    }
    for (rule, matched) in gateway.matched().iter().enumerate() {
        let name = gateway.rules().name(rule).unwrap_or_default();
        lines.push(format!("rule {name}: {matched}"));
    }
    for (name, count) in gateway.counted() {
        lines.push(format!("counter {name}: {count}"));
    }
    for (from, to, losses) in gateway.losses() {
        let (from, to) = (from.name(), to.name());
        for (tag, count) in losses.iter() {
            lines.push(format!("lost from {from} to {to}: field {tag}: {count}"));
        }
        if losses.others() > 0 {
            let count = losses.others();
            lines.push(format!("lost from {from} to {to}: other fields: {count}"));
        }
    }
    lines
}

impl Application for Serving {
    fn on_message(
        &mut self,
        now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        self.gateway.on_message(now, from, message, outbox)
    }

    fn on_poss_dup(
        &mut self,
        now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) {
        self.gateway.on_poss_dup(now, from, message, outbox);
    }

    fn on_reject(
        &mut self,
        now: Now,
        session: SessionId,
        reject: &Message<'_>,
        refused: Option<&[u8]>,
        outbox: &mut Outbox,
    ) {
        self.gateway
            .on_reject(now, session, reject, refused, outbox);
    }

    fn on_reject_sent(
        &mut self,
        now: Now,
        session: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) {
        self.gateway.on_reject_sent(now, session, message, outbox);
    }

    fn on_resend(&mut self, now: Now, session: SessionId, stored: &[u8]) -> bool {
        self.gateway.on_resend(now, session, stored)
    }

    fn on_reset(&mut self, now: Now, session: SessionId, outbox: &mut Outbox) {
        self.gateway.on_reset(now, session, outbox);
    }

    fn survives_panics(&self) -> bool {
        self.gateway.survives_panics()
    }

    fn on_note(&mut self, at: Timestamp, note: &[u8]) {
        self.gateway.on_note(at, note);
    }

    fn ledger(&self) -> Option<Box<dyn Ledger>> {
        self.gateway.ledger()
    }

    fn on_checkpoint(&mut self, version: u32, state: &[u8]) -> Result<(), String> {
        self.gateway.on_checkpoint(version, state)
    }

    fn state_hash(&self) -> Option<u64> {
        self.gateway.state_hash()
    }

    fn on_logon_request(
        &mut self,
        now: Now,
        session: SessionId,
        logon: &Message<'_>,
    ) -> Result<(), String> {
        self.gateway.on_logon_request(now, session, logon)
    }

    fn on_logon(&mut self, now: Now, session: SessionId, logon: &Message<'_>, outbox: &mut Outbox) {
        self.gateway.on_logon(now, session, logon, outbox);
    }

    fn on_logout(&mut self, now: Now, session: SessionId, logout: PeerLogout<'_>) {
        self.gateway.on_logout(now, session, logout);
    }

    fn on_disconnect(
        &mut self,
        now: Now,
        session: SessionId,
        parting: Parting,
        logout: PeerLogout<'_>,
        outbox: &mut Outbox,
    ) {
        self.gateway
            .on_disconnect(now, session, parting, logout, outbox);
    }

    fn on_hours(&mut self, now: Now, session: SessionId, open: bool) {
        self.gateway.on_hours(now, session, open);
    }

    fn on_session_added(&mut self, now: Now, session: SessionId, name: &str, config: &Config) {
        self.gateway.on_session_added(now, session, name, config);
    }

    fn on_time(&mut self, now: Now, outbox: &mut Outbox) -> Option<Mono> {
        self.gateway.on_time(now, outbox)
    }

    fn on_query(&self, _: Now, query: &[u8], answer: &mut Vec<u8>) -> Result<(), String> {
        if query != COUNTS {
            return Err("unknown query: a gateway supports only `counts`".into());
        }
        answer.extend_from_slice(counts(&self.gateway).join("\n").as_bytes());
        Ok(())
    }

    fn on_command(
        &mut self,
        _: Now,
        command: OperatorCommand<'_>,
        answer: &mut Vec<u8>,
        _: &mut Outbox,
    ) -> Result<(), String> {
        if command.bytes != RELOAD {
            return Err("a gateway accepts no commands other than `fixwire gateway reload`".into());
        }
        answer.extend_from_slice(self.reload()?.as_bytes());
        Ok(())
    }
}
