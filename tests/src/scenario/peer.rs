//! The peer that a scenario plays: its messages, and its judgement of ours.

use fixwire_protocol::session::{ApplVerId, BeginString, Config, DisconnectReason, Role};
use fixwire_protocol::{Precision, Refusal, Timestamp};

use super::message::{self, Header};
use super::{Fields, settings};

/// The two ends, by the names the session has for them.
const OWN: &str = "FIXWIRE";
const PEER: &str = "PEER";

/// The peer of the session under test.
#[derive(Clone, Debug)]
pub struct Peer {
    /// BeginString(8) of both sides.
    pub begin_string: BeginString,
    appl_ver_id: Option<&'static str>,
    /// Digits of times.
    pub precision: Precision,
    /// MsgSeqNum(34) of the peer's next message.
    pub next: u64,
}

/// The settings that a `session` line and a version give the session under test.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The session's settings.
    pub config: Config,
    /// Its peer, who has sent `next_in - 1` messages.
    pub peer: Peer,
    /// MsgSeqNum(34) of our next message.
    pub next_out: u64,
}

impl Setup {
    /// A session of this version with these settings.
    ///
    /// # Errors
    ///
    /// An unknown version or setting.
    pub fn new(version: &str, settings: &[(String, String)]) -> Result<Self, String> {
        let (begin_string, appl_ver_id) = match version {
            "4.0" => (BeginString::Fix40, None),
            "4.1" => (BeginString::Fix41, None),
            "4.2" => (BeginString::Fix42, None),
            "4.3" => (BeginString::Fix43, None),
            "4.4" => (BeginString::Fix44, None),
            "5.0" => (BeginString::Fixt11, Some("7")),
            "5.0SP1" => (BeginString::Fixt11, Some("8")),
            "5.0SP2" => (BeginString::Fixt11, Some("9")),
            _ => return Err(format!("unknown version {version}")),
        };
        let (own, peer) = (OWN.as_bytes(), PEER.as_bytes());
        let mut config = Config::new(begin_string, Role::Acceptor, own, peer);
        config.default_appl_ver_id = appl_ver_id.and_then(|id| ApplVerId::parse(id.as_bytes()));
        let (mut next_in, mut next_out) = (1, 1);
        for (key, value) in settings {
            let number = || {
                value
                    .parse::<u64>()
                    .map_err(|_| format!("{key}={value}: not a number"))
            };
            match key.as_str() {
                "in" => next_in = number()?,
                "out" => next_out = number()?,
                _ => settings::set(&mut config, version, key, value)?,
            }
        }
        let peer = Peer {
            begin_string,
            appl_ver_id,
            precision: config.precision,
            next: next_in,
        };
        Ok(Self {
            config,
            peer,
            next_out,
        })
    }
}

/// The message with another CheckSum.
#[must_use]
pub fn spoil(mut message: Vec<u8>) -> Vec<u8> {
    let last_digit = message.len() - 2;
    message[last_digit] = match message[last_digit] {
        b'9' => b'0',
        digit => digit + 1,
    };
    message
}

impl Peer {
    /// A message of the peer. The peer's counter continues from the given number, unless the message is a repetition.
    ///
    /// # Errors
    ///
    /// A value that looks like a time and is not one.
    pub fn message(&mut self, fields: &Fields, now: Timestamp) -> Result<Vec<u8>, String> {
        let mut fields = fields.clone();
        let value = |fields: &Fields, wanted| {
            let found = fields.iter().find(|(tag, _)| *tag == wanted);
            found.map(|(_, value)| value.clone())
        };
        if value(&fields, 35).as_deref() == Some("A") && value(&fields, 1137).is_none() {
            fields.extend(self.appl_ver_id.map(|id| (1137, id.to_owned())));
        }
        let number = match value(&fields, 34) {
            None => Some(self.next),
            Some(text) => text.parse().ok().filter(|number| *number < u64::MAX),
        };
        let header = Header {
            begin_string: self.begin_string.as_str(),
            sender: PEER,
            target: OWN,
            number: self.next,
            now,
            precision: self.precision,
        };
        let bytes = message::build(header, &fields)?;
        if value(&fields, 43).as_deref() != Some("Y")
            && let Some(number) = number
        {
            self.next = number + 1;
        }
        Ok(bytes)
    }

    /// The expectation of a `send` line, with the implied fields.
    #[must_use]
    pub fn expected(&self, wanted: &Fields) -> Fields {
        let mut wanted = wanted.clone();
        if wanted.contains(&(35, "A".to_owned())) && !wanted.iter().any(|(tag, _)| *tag == 1137) {
            wanted.extend(self.appl_ver_id.map(|id| (1137, id.to_owned())));
        }
        match wanted.iter().find(|(tag, _)| *tag == 35) {
            Some((_, msg_type)) if msg_type == "2" => self.age_resend_request(&mut wanted),
            Some((_, msg_type)) if msg_type == "3" => self.age_reject(&mut wanted),
            _ => {}
        }
        wanted
    }

    /// Before FIX 4.2, EndSeqNo(16) had no 0: the open end was 999999.
    fn age_resend_request(&self, wanted: &mut Fields) {
        if self.begin_string < BeginString::Fix42 {
            let open = |field: &&mut (u32, String)| field.0 == 16 && field.1 == "0";
            wanted
                .iter_mut()
                .filter(open)
                .for_each(|field| field.1 = "999999".to_owned());
        }
    }

    /// Before FIX 4.2 a Reject had only Text(58), which names the tag; SessionRejectReason(373) ended
    /// with 11 there and with 17 in FIX 4.3.
    fn age_reject(&self, wanted: &mut Fields) {
        let last = match self.begin_string {
            BeginString::Fix40 | BeginString::Fix41 => {
                let tag = wanted.iter().find(|(tag, _)| *tag == 371);
                let named = tag.map(|(_, value)| format!(" ({value})"));
                for (_, text) in wanted.iter_mut().filter(|(tag, _)| *tag == 58) {
                    if let Some(named) = named.as_deref().filter(|_| text != "*") {
                        text.push_str(named);
                    }
                }
                wanted.retain(|(tag, _)| ![371, 372, 373].contains(tag));
                return;
            }
            BeginString::Fix42 => 11,
            BeginString::Fix43 => 17,
            _ => return,
        };
        wanted
            .retain(|(tag, value)| *tag != 373 || value.parse().is_ok_and(|code: u8| code <= last));
    }

    /// Whether these bytes are one whole message of ours to this peer.
    ///
    /// # Errors
    ///
    /// The message in the place of these bytes.
    pub fn check_frame(&self, bytes: &[u8]) -> Result<(), String> {
        use fixwire_protocol::Frame;
        match fixwire_protocol::frame::next(bytes, 1 << 20) {
            Frame::Whole { skip: 0, len, .. } if len == bytes.len() => {}
            other => {
                let shown = message::show(bytes);
                return Err(format!("sent no message ({other:?}): {shown}"));
            }
        }
        let fields = message::split(bytes);
        let is = |tag, value: &str| fields.iter().any(|(t, v)| *t == tag && v == value);
        match is(8, self.begin_string.as_str()) && is(49, OWN) && is(56, PEER) {
            true => Ok(()),
            false => Err(format!("wrong header: {}", message::show(bytes))),
        }
    }
}

/// A resent message equals the stored one except for 43, 52, 122, 9 and 10; or it is a gap fill.
///
/// # Errors
///
/// The message that is neither.
pub fn check_repetition(stored: Option<&[u8]>, bytes: &[u8]) -> Result<(), String> {
    let plain = |bytes: &[u8]| {
        let mut fields = message::split(bytes);
        fields.retain(|(tag, _)| ![9, 10, 43, 52, 122].contains(tag));
        fields
    };
    let fields = message::split(bytes);
    let has = |tag, value: &str| fields.iter().any(|(t, v)| *t == tag && v == value);
    let same = stored.is_some_and(|stored| plain(stored) == plain(bytes));
    match has(43, "Y") && (same || has(35, "4") && has(123, "Y")) {
        true => Ok(()),
        false => {
            let shown = message::show(bytes);
            Err(format!("neither a repetition nor a gap fill: {shown}"))
        }
    }
}

/// Whether a message has exactly these fields, besides the header and trailer that every message has; `same` compares a
/// value of the scenario with one of the message.
#[must_use]
pub fn is_exactly(wanted: &Fields, bytes: &[u8], same: impl Fn(&str, &str) -> bool) -> bool {
    let mut left = message::split(bytes);
    for (tag, value) in wanted {
        let fits = |(t, v): &(u32, String)| t == tag && (value == "*" || same(value, v));
        match left.iter().position(fits) {
            Some(at) => left.remove(at),
            None => return false,
        };
    }
    left.retain(|(tag, _)| ![8, 9, 34, 49, 52, 56, 10].contains(tag));
    left.is_empty()
}

/// Both Logons are usual ones.
#[must_use]
pub fn usual_logon() -> Fields {
    vec![(35, "A".into()), (98, "0".into()), (108, "30".into())]
}

/// The application's answer, by the word of a `refuse` line.
///
/// # Errors
///
/// An unknown word, or one that needs a tag.
pub fn refusal(what: &str) -> Result<Refusal, String> {
    let (word, tag) = what.split_once(' ').unwrap_or((what, ""));
    let tag = || {
        tag.parse()
            .map_err(|_| format!("`refuse {word}` wants a tag"))
    };
    Ok(match word {
        "unsupported" => Refusal::UnsupportedMessageType,
        "not-available" => Refusal::NotAvailable,
        "missing" => Refusal::ConditionallyRequiredFieldMissing(tag()?),
        "not-authorized" => Refusal::NotAuthorized,
        "range" => Refusal::ValueOutOfRange(tag()?),
        "format" => Refusal::IncorrectDataFormat(tag()?),
        _ => return Err(format!("unknown refusal `{word}`")),
    })
}

/// The reason in a `disconnect` line.
#[must_use]
pub fn reason(reason: DisconnectReason) -> String {
    let text = format!("{reason:?}");
    text.split(' ').next().unwrap_or_default().to_owned()
}

/// In the notation of scenarios.
#[must_use]
pub fn written(fields: &Fields) -> String {
    let fields: Vec<String> = fields
        .iter()
        .map(|(tag, value)| format!("{tag}={value}"))
        .collect();
    fields.join("|")
}
