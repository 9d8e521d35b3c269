//! The sentence for each event, as the operator reads it.

use std::fmt;

use super::{ConnectionRefusal, Event, PeerText};
use crate::schedule;
use fixwire_protocol::{AdminOutError, Timestamp};

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listening { at } => write!(f, "listening at {at}"),
            Self::Unprotected { at } => write!(
                f,
                "warning: {at} accepts remote connections without TLS; traffic can be read and modified in \
                 transit (set SocketUseSSL=Y, or SocketAcceptAddress=127.0.0.1)"
            ),
            Self::DictionaryMissing { file, version } => write!(
                f,
                "warning: dictionary {} is missing; using the built-in dictionary of {version}: add the \
                 file, or set `built-in`",
                file.escape_debug()
            ),
            Self::FewDescriptors(shortage) => write!(f, "warning: {shortage}"),
            Self::Connected { peer, .. } => write!(f, "connected with {peer}"),
            Self::OptionsNotSet { error, .. } => {
                write!(f, "warning: socket options not set: {error}")
            }
            Self::DialFailed {
                host,
                port,
                error,
                again_in,
                ..
            } => write!(
                f,
                "cannot connect to {host} port {port}: {error}; next attempt in {:.1} s",
                again_in.0 as f64 / 1e9
            ),
            Self::LoggedOn { .. } => f.write_str("logged on"),
            Self::LoggedOut { .. } => f.write_str("logged out"),
            Self::Disconnected { why, detail, .. } => {
                write!(f, "disconnected: {why}{}", Said(detail))
            }
            Self::Operated { what, .. } => write!(f, "operator: {what}"),
            Self::OperationRefused { what, .. } => write!(f, "refused: {what}"),
            Self::LogoutReceived { text, .. } => write!(f, "received Logout{}", Said(text)),
            Self::LogoutSent { text, .. } => write!(f, "sent Logout{}", Said(text)),
            Self::RejectReceived { reject, .. } => write!(f, "received {reject}"),
            Self::RejectSent { reject, .. } => write!(f, "sent {reject}"),
            Self::FieldRefused {
                msg_type, error, ..
            } => write_refused(*msg_type, *error, f),
            Self::GapDetected { .. }
            | Self::GapAnnounced { .. }
            | Self::GapFilled { .. }
            | Self::GapNotFilled { .. }
            | Self::ResendRequestReceived { .. }
            | Self::ResendCompleted { .. }
            | Self::ResendCutShort { .. }
            | Self::SequenceResetReceived { .. } => write_gap(self, f),
            Self::SessionOpened { .. } => f.write_str("open: the session schedule allows logon"),
            Self::SessionClosed { opens, .. } => write_closed(*opens, f),
            Self::NumbersRestarted { .. } => {
                f.write_str("sequence numbers reset to 1 by the session schedule")
            }
            Self::NumbersReset { .. } => f.write_str("sequence numbers reset to 1 by Logon"),
            Self::LinkRefused { from, why, .. } => {
                write!(f, "connection from {from} refused: {why}")
            }
            Self::Refused { from, why, logon } if logon.is_empty() => {
                write!(f, "connection from {from} refused: {why}")
            }
            Self::Refused { from, why, logon } => {
                let what = if *why == ConnectionRefusal::NotALogon {
                    "message"
                } else {
                    "Logon"
                };
                write!(
                    f,
                    "connection from {from} refused: {why}: {what} with {logon}"
                )
            }
            Self::CannotAccept { error } => write!(f, "cannot accept connections: {error}"),
            Self::SessionAdded { name, .. } => write!(f, "session {} added", name.escape_debug()),
            Self::SessionRemoved { .. } => f.write_str("session removed"),
            Self::SlowReader { bytes, .. } => write!(
                f,
                "slow consumer: {bytes} bytes are waiting for the peer in the journal"
            ),
            Self::NotLogged { messages, most, .. } => write!(
                f,
                "{messages} out-of-sequence or resent messages not logged: over JournalLogOnlyLimit \
                 ({most} bytes) for this hour; check why the peer repeats messages or ResendRequests"
            ),
            Self::Garbled { why, rejected, .. } => {
                let done = if *rejected { "rejected" } else { "ignored" };
                write!(f, "garbled message {done}: {why}")
            }
            Self::NotSent { .. } | Self::MessagesLost { .. } | Self::Panicked { .. } => {
                write_dropped(self, f)
            }
            Self::NotReset { .. } | Self::HeartBtIntDiffers { .. } | Self::NumberMovedOn { .. } => {
                write_agreed(self, f)
            }
            Self::JournalFailed { error } => write!(f, "{error}"),
            Self::JournalCut { cut } => write!(f, "{cut}"),
            Self::JournalTrouble { trouble } => write!(f, "{trouble}"),
            Self::LogIncomplete { .. }
            | Self::LogResumed { .. }
            | Self::LogReopened { .. }
            | Self::LogFailed { .. } => write_log(self, f),
            Self::Suppressed { kind, events, .. } => {
                write!(f, "{} not shown: {kind}", Counted(*events, "more event"))
            }
        }
    }
}

/// The sentence for a session closed by its schedule.
fn write_closed(opens: Option<Timestamp>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match opens {
        None => f.write_str("closed by the session schedule"),
        Some(opens) => write!(
            f,
            "closed until {} by the session schedule",
            schedule::utc(opens)
        ),
    }
}

/// The sentence about a field that the application may not write.
fn write_refused(msg_type: char, error: AdminOutError, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "35={msg_type} sent without ")?;
    match error {
        AdminOutError::NoRoom(_) => write!(f, "the fields written by the application: {error}"),
        _ => write!(
            f,
            "field {} written by the application: {error}",
            error.tag()
        ),
    }
}

/// The sentences for gaps and resends; empty for other events.
fn write_gap(event: &Event, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match event {
        Event::GapDetected {
            expected,
            received,
            begin,
            end,
            ..
        } => {
            match received {
                Some(received) => {
                    write!(f, "gap: expected MsgSeqNum {expected}, received {received}")?
                }
                None => write!(f, "gap: still expecting MsgSeqNum {expected}")?,
            }
            write!(f, "; sent ResendRequest {begin} to {end}")
        }
        Event::GapAnnounced { first, last, .. } => write!(
            f,
            "gap: MsgSeqNum {first} to {last} missing; our Logon asked for them (NextExpectedMsgSeqNum)"
        ),
        Event::GapFilled { first, last, .. } => {
            write!(f, "gap filled: MsgSeqNum {first} to {last}")
        }
        Event::GapNotFilled { first, last, .. } => {
            write!(f, "gap not filled: MsgSeqNum {first} to {last} missing")
        }
        Event::ResendRequestReceived { begin, end, .. } => {
            write!(f, "received ResendRequest {begin} to {end}")
        }
        Event::ResendCompleted {
            first,
            last,
            messages,
            gap_fills,
            ..
        } => write!(
            f,
            "resend complete: MsgSeqNum {first} to {last}, {} and {}",
            Counted(*messages, "message"),
            Counted(*gap_fills, "gap fill")
        ),
        Event::ResendCutShort {
            first, last, next, ..
        } => write!(
            f,
            "resend not complete: MsgSeqNum {next} to {last} of {first} to {last} not resent"
        ),
        Event::SequenceResetReceived { expected, new, .. } => write!(
            f,
            "received SequenceReset-Reset: next expected MsgSeqNum is {new}, was {expected}"
        ),
        _ => Ok(()),
    }
}

/// The sentences for a Logon or Logout of the peer that does not agree with ours; empty for other events.
fn write_agreed(event: &Event, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match event {
        Event::HeartBtIntDiffers { interval, .. } => write!(
            f,
            "HeartBtInt(108) of the peer's Logon is {} s, ours is {} s: ours is used; set the same \
            on both sides",
            interval.peers, interval.ours
        ),
        Event::NumberMovedOn { was, next, .. } => write!(
            f,
            "next MsgSeqNum is {next}, was {was}: NextExpectedMsgSeqNum(789) of the peer's Logout"
        ),
        Event::NotReset { .. } => f.write_str(
            "sequence numbers not reset: log out first, or wait for the end of the Logon or Logout",
        ),
        _ => Ok(()),
    }
}

/// The sentences for messages that are not sent; empty for other events.
fn write_dropped(event: &Event, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match event {
        Event::NotSent { messages } => write!(
            f,
            "{} dropped: longer than MaxMessageSize, bad frame, link not connected, or session unknown",
            Counted(*messages, "message")
        ),
        Event::MessagesLost {
            messages,
            why,
            what,
            ..
        } => {
            let done = match why.is_numbered() {
                true => "dropped before sending",
                false => "not sent",
            };
            let messages = Counted(*messages, "message");
            write!(f, "{messages} {done}: {what}; {why}")
        }
        Event::Panicked { messages } => write!(
            f,
            "the application panicked: {} rejected",
            Counted(*messages, "message")
        ),
        _ => Ok(()),
    }
}

/// The sentences for logs; empty for other events.
fn write_log(event: &Event, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match event {
        Event::LogIncomplete { log, first, last } => write!(
            f,
            "message log in {}: messages missing, because journal segments {first} to {last} were removed before \
             they were logged; set JournalKeep longer than the longest outage of the log",
            log_name(log)
        ),
        Event::LogResumed { log } => write!(f, "message log in {}: resumed", log_name(log)),
        Event::LogReopened { log } => {
            write!(f, "message and event log in {}: reopened", log_name(log))
        }
        Event::LogFailed { error } => write!(f, "message log: {error}"),
        _ => Ok(()),
    }
}

/// A text after a colon; nothing if the text is empty.
struct Said<'a>(&'a PeerText);

impl fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.is_empty() {
            true => Ok(()),
            false => write!(f, ": {}", self.0),
        }
    }
}

/// A number and the name of what is counted.
struct Counted(u64, &'static str);

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(count, thing) = self;
        write!(f, "{count} {thing}{}", if *count == 1 { "" } else { "s" })
    }
}

fn log_name(log: &str) -> &str {
    match log {
        "sql" => "a database",
        other => other,
    }
}
