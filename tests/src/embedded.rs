//! Our engine in this process, as one side of a trade.

use crate::peers::Role;
use crate::trade::{Event, Side};
use fixwire::protocol::dictionary::{Dictionary, Version};
use fixwire::protocol::session::{self, BeginString, ResetOn};
use fixwire::protocol::{Application, Message, Now, Outbox, PeerLogout, Refusal, SessionId, tag};
use fixwire::{Connection, Engine, EngineConfig, EngineError, Handle, SendError, SessionConfig};
use std::collections::HashSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// The only session of the engine.
const SESSION: SessionId = SessionId(0);

/// Starts an engine on a journal in `folder`: it listens at the port, or connects to it.
///
/// # Errors
///
/// The engine's error.
pub fn start(
    role: Role,
    port: u16,
    sender: &str,
    target: &str,
    folder: &Path,
) -> Result<Side, String> {
    start_with(role, port, sender, target, folder, |_| ())
}

/// The same with changes to the session, for example TLS.
///
/// # Errors
///
/// The engine's error.
pub fn start_with(
    role: Role,
    port: u16,
    sender: &str,
    target: &str,
    folder: &Path,
    change: impl FnOnce(&mut SessionConfig),
) -> Result<Side, String> {
    let (events, received) = channel();
    let mut config = config(role, port, sender, target, folder);
    change(&mut config.sessions[0]);
    let mut embedded = Embedded {
        config,
        events,
        running: None,
        sent: 0,
        name: sender.to_owned(),
        reset: false,
    };
    embedded.start()?;
    Ok(Side::new(sender, move |line| embedded.obey(line), received))
}

fn config(role: Role, port: u16, sender: &str, target: &str, folder: &Path) -> EngineConfig {
    let (fix_role, connection) = match role {
        Role::Acceptor => (
            session::Role::Acceptor,
            Connection::Acceptor {
                listen: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            },
        ),
        Role::Initiator => (
            session::Role::Initiator,
            Connection::Initiator {
                hosts: vec![("127.0.0.1".to_owned(), port)],
                reconnect: vec![Duration::from_millis(200)],
                timeout: Duration::from_secs(5),
            },
        ),
    };
    let (own, peer) = (sender.as_bytes(), target.as_bytes());
    let mut fix = session::Config::new(BeginString::Fix42, fix_role, own, peer);
    fix.dictionary = Some(Arc::new(Dictionary::built_in(Version::Fix42)));
    EngineConfig {
        journal_dir: folder.join("journal"),
        sessions: vec![SessionConfig::new(
            format!("FIX.4.2:{sender}->{target}"),
            fix,
            connection,
        )],
        ..EngineConfig::default()
    }
}

/// The state that the commands of a side act on.
struct Embedded {
    config: EngineConfig,
    events: Sender<Event>,
    running: Option<(Handle, JoinHandle<Result<(), EngineError>>)>,
    name: String,
    sent: usize,
    reset: bool,
}

impl Embedded {
    fn start(&mut self) -> Result<(), String> {
        let trader = Trader {
            events: self.events.clone(),
            answered: HashSet::new(),
            reports: 0,
        };
        let mut engine =
            Engine::new(self.config.clone(), trader).map_err(|error| error.to_string())?;
        let events = self.events.clone();
        engine.on_event(move |now, event| {
            // The test may have ended before the engine.
            let _ = events.send(Event::told(format!("{} {event}", now.wall)));
        });
        let handle = engine.handle();
        self.running = Some((handle, std::thread::spawn(move || engine.run())));
        Ok(())
    }

    fn stop(&mut self) -> Result<(), String> {
        let Some((mut handle, thread)) = self.running.take() else {
            return Ok(());
        };
        handle.stop().map_err(|error| error.to_string())?;
        let ended = thread
            .join()
            .map_err(|_| "the engine panicked".to_owned())?;
        ended.map_err(|error| error.to_string())
    }

    fn obey(&mut self, line: &str) -> Result<(), String> {
        let (command, count) = line.split_once(' ').unwrap_or((line, "0"));
        let count: usize = count.parse().map_err(|_| format!("no number: {count}"))?;
        match command {
            "send" => (0..count).try_for_each(|_| self.send_order()),
            "reset" => {
                self.reset = true;
                Ok(())
            }
            "logout" => self
                .handle()?
                .log_out(SESSION, "")
                .map_err(|error| error.to_string()),
            "logon" if self.reset => {
                // A reset at logon is a setting, so this is a new engine on the same journal.
                self.stop()?;
                self.reset = false;
                for session in &mut self.config.sessions {
                    session.session.reset_on = ResetOn {
                        logon: true,
                        ..ResetOn::default()
                    };
                }
                self.start()
            }
            "logon" => self
                .handle()?
                .log_on(SESSION)
                .map_err(|error| error.to_string()),
            _ => Err("no such command".to_owned()),
        }
    }

    fn handle(&mut self) -> Result<&mut Handle, String> {
        self.running
            .as_mut()
            .map(|(handle, _)| handle)
            .ok_or_else(|| "the engine is stopped".to_owned())
    }

    fn send_order(&mut self) -> Result<(), String> {
        self.sent += 1;
        let id = format!("{}-{}", self.name, self.sent);
        let time = crate::wire::timestamp(0, true);
        let handle = self.handle()?;
        loop {
            let result = handle.send(SESSION, b"D", |order| {
                order
                    .field(tag::CL_ORD_ID, id.as_bytes())
                    .char(tag::HANDL_INST, b'1')
                    .field(tag::SYMBOL, b"EFX")
                    .char(tag::SIDE, b'1')
                    .field(tag::TRANSACT_TIME, time.as_bytes())
                    .int(tag::ORDER_QTY, 100)
                    .char(tag::ORD_TYPE, b'2')
                    .field(tag::PRICE, b"101.5");
            });
            match result {
                Err(SendError::Full) => std::thread::sleep(Duration::from_millis(1)),
                result => return result.map_err(|error| error.to_string()),
            }
        }
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        if let Err(error) = self.stop() {
            println!("{}: {error}", self.name);
        }
    }
}

/// Answers orders with reports, and prints the messages it saw.
struct Trader {
    events: Sender<Event>,
    answered: HashSet<Vec<u8>>,
    reports: u64,
}

impl Trader {
    fn tell(&self, name: &str, message: Option<&Message<'_>>) {
        let text = |tag| {
            let value = message
                .and_then(|message| message.get(tag))
                .unwrap_or_default();
            String::from_utf8_lossy(value).into_owned()
        };
        let event = Event {
            name: name.to_owned(),
            id: text(tag::CL_ORD_ID),
            seq: text(tag::MSG_SEQ_NUM).parse().unwrap_or_default(),
            dup: text(tag::POSS_DUP_FLAG) == "Y" || text(tag::POSS_RESEND) == "Y",
            text: message
                .map(|message| crate::wire::show(message.bytes()))
                .unwrap_or_default(),
        };
        // The test may have ended before the engine.
        let _ = self.events.send(event);
    }
}

impl Application for Trader {
    fn on_message(
        &mut self,
        _now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        match message.msg_type() {
            b"8" => {
                self.tell("report", Some(message));
                Ok(())
            }
            b"D" => {
                self.tell("order", Some(message));
                let id = message.get(tag::CL_ORD_ID).unwrap_or_default();
                if !self.answered.insert(id.to_vec()) {
                    return Ok(());
                }
                self.reports += 1;
                let number = format!("{}", self.reports);
                let mut report = outbox.begin(from, b"8");
                report
                    .field(tag::ORDER_ID, number.as_bytes())
                    .field(tag::CL_ORD_ID, id)
                    .field(tag::EXEC_ID, number.as_bytes())
                    .char(tag::EXEC_TRANS_TYPE, b'0')
                    .char(tag::EXEC_TYPE, b'0')
                    .char(tag::ORD_STATUS, b'0')
                    .field(tag::SYMBOL, b"EFX")
                    .char(tag::SIDE, b'1')
                    .int(tag::LEAVES_QTY, 100)
                    .int(tag::CUM_QTY, 0)
                    .int(tag::AVG_PX, 0);
                report.finish().map_err(|_| Refusal::NotAvailable)
            }
            _ => {
                self.tell("rejected", Some(message));
                Err(Refusal::UnsupportedMessageType)
            }
        }
    }

    fn on_logon(&mut self, _: Now, _: SessionId, _: &Message<'_>, _: &mut Outbox) {
        self.tell("logon", None);
    }

    fn on_logout(&mut self, _now: Now, _session: SessionId, logout: PeerLogout<'_>) {
        self.tell("logout", logout.message());
    }
}
