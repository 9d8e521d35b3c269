//! [`FixSession`]: a [`RawSession`] with what the player does itself: Logon, Logout, and a TestRequest after each
//! case.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fixwire_engine::SessionConfig;
use fixwire_protocol::{Mono, Nanos, Now, Tag, tag};

use crate::raw_session::RawSession;
use crate::record::CaseRecord;
use crate::session::{
    Inbound, LogOnFailure, PlayedSession, Pumped, SendFailure, SessionWords, seconds,
};
use crate::wire_message::{TextFields, value};

/// A session over FIX.
pub(crate) struct FixSession {
    raw: RawSession,
    /// Whether the player's Logons reset the sequence numbers.
    resets: bool,
    /// Number of TestRequests that the player has sent.
    probes: u64,
}

impl FixSession {
    /// The session. If `numbers` has initial sequence numbers, the player's Logons do not reset them.
    pub(crate) fn new(
        session: &SessionConfig,
        numbers: Option<(u64, Option<u64>)>,
        stop: Arc<AtomicBool>,
    ) -> io::Result<Self> {
        let (next_out, next_in) = numbers.unwrap_or((1, None));
        Ok(Self {
            raw: RawSession::new(session, next_out, next_in, stop)?,
            resets: numbers.is_none(),
            probes: 0,
        })
    }

    /// Exchanges Logons on an open connection.
    fn exchange_logons(&mut self, within: Nanos) -> Result<(), LogOnFailure> {
        let failed = |why: String| Err(LogOnFailure::Venue(why));
        let until = self.now().mono + within;
        let mut probe: Option<String> = None;
        loop {
            while let Some(message) = self.raw.inbox.pop_front() {
                if let Some(fault) = &message.fault {
                    return failed(format!("received {}: {fault}", message.shown));
                }
                match &probe {
                    // Messages that the venue had for us while there was no connection are skipped until the
                    // TestRequest is answered.
                    Some(id) if self.is_answer(&message, id) => return Ok(()),
                    Some(_) if message.msg_type() != "5" => {}
                    None if message.msg_type() == "A" => probe = Some(self.probe()),
                    _ => return failed(format!("received {}", message.shown)),
                }
            }
            match self.raw.pump(until) {
                Pumped::Message => {}
                Pumped::Closed => return failed("the venue closed the connection".to_owned()),
                Pumped::Stopped => return Err(LogOnFailure::Stopped),
                Pumped::TimedOut => {
                    let what = if probe.is_none() {
                        "Logon"
                    } else {
                        "Heartbeat"
                    };
                    return failed(format!("no {what} within {}", seconds(within)));
                }
            }
        }
    }
}

impl PlayedSession for FixSession {
    fn now(&mut self) -> Now {
        self.raw.now()
    }

    fn inbox(&mut self) -> &mut VecDeque<Inbound> {
        &mut self.raw.inbox
    }

    fn record(&mut self) -> &mut CaseRecord {
        &mut self.raw.record
    }

    fn words(&self) -> SessionWords {
        SessionWords {
            login: "a Logon",
            no_answer: "received no Heartbeat for the TestRequest after the last step",
        }
    }

    fn is_logged_on(&self) -> bool {
        self.raw.is_logged_on()
    }

    fn connect(&mut self) -> Result<(), String> {
        self.raw.connect()
    }

    fn disconnect(&mut self) {
        self.raw.disconnect();
    }

    fn time(&mut self, offset: i64) -> String {
        self.raw.time(offset)
    }

    fn skip(&mut self, count: u64) {
        self.raw.skip(count);
    }

    fn set_answers(&mut self, are_sent: bool) {
        self.raw.answers = are_sent;
    }

    fn logon_fields(&self) -> TextFields {
        self.raw.logon(false)
    }

    fn send(
        &mut self,
        fields: &[(Tag, String)],
        left_out: &[Tag],
        is_garbled: bool,
    ) -> Result<TextFields, SendFailure> {
        Ok(self.raw.send(fields, left_out, is_garbled)?)
    }

    fn burst(&mut self, count: u32, fields: &[(Tag, String)]) -> Result<TextFields, SendFailure> {
        let mut sent = TextFields::new();
        for _ in 0..count {
            sent = self.send(fields, &[], false)?;
        }
        Ok(sent)
    }

    fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), SendFailure> {
        Ok(self.raw.send_bytes(bytes)?)
    }

    fn pump(&mut self, until: Mono) -> Pumped {
        self.raw.pump(until)
    }

    fn gather(&mut self, until: Mono) -> Pumped {
        self.raw.gather(until)
    }

    /// Sends a TestRequest; returns its TestReqID(112).
    fn probe(&mut self) -> String {
        self.probes += 1;
        let id = format!("CERTIFY-{}", self.probes);
        let fields = [
            (tag::MSG_TYPE, "1".to_owned()),
            (tag::TEST_REQ_ID, id.clone()),
        ];
        // A failed write is not an error here: the next read finds that the connection is closed.
        let _ = self.raw.send(&fields, &[], false);
        id
    }

    fn is_answer(&self, message: &Inbound, id: &str) -> bool {
        message.msg_type() == "0" && value(&message.fields, tag::TEST_REQ_ID) == Some(id)
    }

    /// Whether a message is a Heartbeat or a TestRequest.
    fn is_chatter(&self, message: &Inbound) -> bool {
        matches!(message.msg_type(), "0" | "1")
    }

    fn log_on(&mut self, within: Nanos) -> Result<(), LogOnFailure> {
        self.raw.connect().map_err(LogOnFailure::Venue)?;
        let logon = self.raw.logon(self.resets);
        if value(&logon, tag::RESET_SEQ_NUM_FLAG) != Some("Y") {
            self.raw.allow_gap_before_logon();
        }
        let sent = self.raw.send(&logon, &[], false);
        sent.map_err(|error| LogOnFailure::Venue(error.to_string()))?;
        self.exchange_logons(within)
    }

    fn log_out(&mut self, within: Nanos) {
        if self.raw.is_logged_on() {
            self.raw.answers = true;
            let logout = [(tag::MSG_TYPE, "5".to_owned())];
            let _ = self.raw.send(&logout, &[], false);
            let until = self.now().mono + within;
            while self.raw.is_logged_on() && self.raw.pump(until) == Pumped::Message {
                self.raw.inbox.clear();
            }
        }
        self.raw.disconnect();
        self.raw.inbox.clear();
    }

    fn hide(&mut self, secret: &str) {
        self.raw.hide(secret);
    }
}
