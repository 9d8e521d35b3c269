//! Replays a recorded session: sends the recorded outgoing messages to an acceptor, and compares the answers with the
//! recorded answers.
//!
//! [`recording`] reads the log, [`Replayer`] is the application that sends, [`comparison`] compares. The engine sets
//! MsgSeqNum and SendingTime, and handles Heartbeats, TestRequests and ResendRequests.

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fixwire::{Connection, Durability, EngineConfig, SessionConfig};
use fixwire_protocol::session::{ApplVerId, BeginString, Config, Role};

pub mod comparison;
pub mod recording;
mod replayer;

pub use replayer::{ReplayEnd, Replayer};

use comparison::ReplayComparison;
use recording::{Recorded, RecordedSession, SessionSurvey};

/// How fast messages are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReplayPace {
    /// The recorded pace, multiplied by this factor.
    Recorded(f64),
    /// As fast as possible, with at most 256 orders without an answer.
    Flood,
}

/// Recording, target and options of a replay.
#[derive(Clone, Debug)]
pub struct ReplayConfig {
    /// The acceptor.
    pub to: SocketAddr,
    /// SenderCompID(49), if different from the recorded one.
    pub sender: Option<String>,
    /// TargetCompID(56), if different from the recorded one.
    pub target: Option<String>,
    /// The pace.
    pub pace: ReplayPace,
    /// Whether ClOrdIDs(11) are replaced, and OrigClOrdIDs(41) with them.
    pub fresh_ids: bool,
    /// Timeout for the Logon, and for the answers after the last message.
    pub timeout: Duration,
    /// Whether the Logon has ResetSeqNumFlag(141)=Y. In both cases MsgSeqNum(34) begins with 1.
    pub reset: bool,
}

/// Inputs and outputs of a [`Replayer`].
pub struct ReplayParts {
    /// The recorded messages, in order.
    pub recorded: Receiver<Recorded>,
    /// The comparison so far, shared with the thread that reports it.
    pub comparison: Arc<Mutex<ReplayComparison>>,
    /// Receives the outcome.
    pub ended: Sender<ReplayEnd>,
}

/// Settings of the replaying engine: one initiator without a journal.
///
/// # Errors
///
/// A sentence that says why sessions of this FIX version cannot be replayed.
pub fn engine_config(
    session: &RecordedSession,
    survey: &SessionSurvey,
    config: &ReplayConfig,
) -> Result<EngineConfig, String> {
    let begin_string = BeginString::parse(session.begin_string.as_bytes())
        .ok_or_else(|| format!("{}: no session can have this version", session.begin_string))?;
    let sender = config.sender.as_ref().unwrap_or(&session.sender);
    let target = config.target.as_ref().unwrap_or(&session.target);
    let mut own = Config::new(
        begin_string,
        Role::Initiator,
        sender.as_bytes(),
        target.as_bytes(),
    );
    own.reset_on.logon = config.reset && begin_string > BeginString::Fix40;
    own.check_comp_id = true;
    for (tag, value) in &survey.logon {
        let text = String::from_utf8_lossy(value);
        match tag {
            108 => own.heart_bt_int_seconds = text.parse().unwrap_or(30),
            1137 => own.default_appl_ver_id = ApplVerId::parse(value).or(own.default_appl_ver_id),
            553 => own.username.clone_from(value),
            554 => own.password = value.clone().into(),
            _ => own.logon_fields.push((*tag, value.clone().into())),
        }
    }
    let connection = Connection::Initiator {
        hosts: vec![(config.to.ip().to_string(), config.to.port())],
        // Retry, because the acceptor may still be starting. Once the session was logged on, a disconnect ends the
        // replay.
        reconnect: vec![Duration::from_secs(1)],
        timeout: config.timeout,
    };
    let name = format!("{}:{sender}->{target}", session.begin_string);
    Ok(EngineConfig {
        durability: Durability::Memory,
        sessions: vec![SessionConfig::new(name, own, connection)],
        ..EngineConfig::default()
    })
}
