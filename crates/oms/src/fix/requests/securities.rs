//! Requests of clients for instruments: SecurityDefinitionRequest(c) is answered by SecurityDefinition(d),
//! SecurityListRequest(x) by SecurityList(y). An answer has the fields that the dictionary of the client's session has
//! in this message, in the order of the dictionary.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::Member;
use fixwire_protocol::{Dictionary, Indexed, Message, Outbox, Refusal, SessionId, Tag, tag};

use super::security_fields::{InstrumentFields, allowed};
use super::{byte, id, required};
use crate::fix::names::{symbol_by_id, symbol_of};
use crate::values::day::compact;
use crate::values::rules::{InstrumentRule, Maturity, SecurityIndex};
use crate::values::value::Text;

/// Maximum number of instruments in one SecurityList(y).
const LIST_MAX: usize = 50;
/// Number of bytes of instruments after which a SecurityList(y) gets no further one.
const LIST_BYTES: usize = 8 << 10;
/// SecurityType(167) of a spread.
const SPREAD: &[u8] = b"MLEG";

/// The message that answers a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum SecurityMessage {
    /// SecurityDefinition(d): one for each instrument.
    Definition,
    /// SecurityList(y): one for up to 50 instruments.
    List,
}

impl SecurityMessage {
    /// The answer to a request with this MsgType(35).
    pub(crate) fn to(msg_type: &[u8]) -> Self {
        if msg_type == b"x" {
            Self::List
        } else {
            Self::Definition
        }
    }

    fn msg_type(self) -> &'static [u8] {
        match self {
            Self::Definition => b"d",
            Self::List => b"y",
        }
    }
}

/// The instrument that a request names.
#[derive(Clone, Debug, Eq, PartialEq)]
enum NamedSecurity {
    /// The request names no instrument.
    Any,
    /// Symbol(55), or the symbol of SecurityID(48).
    Symbol(Text),
    /// SecurityID(48) of no instrument, or of another one than Symbol(55).
    Unknown,
}

/// Which instruments a request wants: those that have each of its fields.
#[derive(Clone, Debug)]
struct SecurityFilter {
    named: NamedSecurity,
    kind: Option<Text>,
    exchange: Option<Text>,
    currency: Option<Text>,
    /// MaturityMonthYear(200), which may have a day.
    month: Option<Maturity>,
    day: Option<u32>,
}

impl SecurityFilter {
    fn read(message: &Message<'_>, index: &SecurityIndex) -> Result<Self, Refusal> {
        let text = |tag| match message.get(tag) {
            Some(value) if value.len() > Text::MAX => Err(Refusal::ValueOutOfRange(tag)),
            value => Ok(value.map(Text::new)),
        };
        let month = message.get(tag::MATURITY_MONTH_YEAR);
        let month = month
            .map(|value| {
                let month = Maturity::of_month_year(value);
                month.ok_or(Refusal::ValueOutOfRange(tag::MATURITY_MONTH_YEAR))
            })
            .transpose()?;
        let day = message.get(tag::MATURITY_DATE);
        let day = day
            .map(|it| compact(it).ok_or(Refusal::ValueOutOfRange(tag::MATURITY_DATE)))
            .transpose()?;
        let (has_id, has_source) = (
            message.has(tag::SECURITY_ID),
            message.has(tag::SECURITY_ID_SOURCE),
        );
        if has_id != has_source {
            let missing = if has_id {
                tag::SECURITY_ID_SOURCE
            } else {
                tag::SECURITY_ID
            };
            return Err(Refusal::ConditionallyRequiredFieldMissing(missing));
        }
        let by_id = symbol_by_id(index, message).map(str::as_bytes);
        let named = match (symbol_of(message), by_id) {
            (Some(symbol), _) if symbol.len() > Text::MAX => {
                return Err(Refusal::ValueOutOfRange(tag::SYMBOL));
            }
            (None, None) if has_id => NamedSecurity::Unknown,
            (Some(symbol), of_id) if has_id && of_id != Some(symbol) => NamedSecurity::Unknown,
            (Some(symbol), _) | (None, Some(symbol)) => NamedSecurity::Symbol(Text::new(symbol)),
            (None, None) => NamedSecurity::Any,
        };
        Ok(Self {
            named,
            kind: text(tag::SECURITY_TYPE)?,
            exchange: text(tag::SECURITY_EXCHANGE)?,
            currency: text(tag::CURRENCY)?,
            month,
            day,
        })
    }

    fn has(&self, rule: &InstrumentRule) -> bool {
        let is = |wanted: &Option<Text>, value: Option<&[u8]>| match wanted {
            Some(wanted) => value == Some(wanted.bytes()),
            None => true,
        };
        let matures = rule.security.maturity;
        let is_month = self
            .month
            .is_none_or(|wanted| matures.is_some_and(|it| it.fits(wanted)));
        let is_named = match &self.named {
            NamedSecurity::Any => true,
            NamedSecurity::Symbol(symbol) => symbol.bytes() == rule.symbol.as_bytes(),
            NamedSecurity::Unknown => false,
        };
        let security = &rule.security;
        is_named
            && is(&self.kind, kind(rule))
            && is(
                &self.exchange,
                security.exchange.as_ref().map(String::as_bytes),
            )
            && self.currency.as_ref().is_none_or(|wanted| {
                let currency = rule.currency.as_ref();
                currency.is_some_and(|it| it.code.is(wanted.bytes()))
            })
            && is_month
            && (self.day.is_none() || self.day == matures.and_then(Maturity::day))
    }
}

/// SecurityType(167) of an instrument.
pub(super) fn kind(rule: &InstrumentRule) -> Option<&[u8]> {
    let own = rule.security.kind.as_ref().map(String::as_bytes);
    own.or(rule.legs.is_some().then_some(SPREAD))
}

/// What a request wants.
#[derive(Clone, Debug)]
enum WantedSecurities {
    /// The instrument that the request describes.
    One(SecurityFilter),
    /// A list of instruments.
    List(SecurityFilter),
    /// A list of the values of SecurityType(167) that these instruments have.
    Types(SecurityFilter),
    /// The type of the request is not supported.
    Unsupported,
}

/// A SecurityDefinitionRequest(c) or SecurityListRequest(x).
#[derive(Clone, Debug)]
pub(crate) struct SecurityRequest {
    message: SecurityMessage,
    /// SecurityReqID(320).
    id: Text,
    wanted: WantedSecurities,
}

impl SecurityRequest {
    /// The symbol that the request names.
    pub(crate) fn symbol(&self) -> Option<&[u8]> {
        match &self.wanted {
            WantedSecurities::One(filter)
            | WantedSecurities::List(filter)
            | WantedSecurities::Types(filter) => match &filter.named {
                NamedSecurity::Symbol(symbol) => Some(symbol.bytes()),
                NamedSecurity::Any | NamedSecurity::Unknown => None,
            },
            WantedSecurities::Unsupported => None,
        }
    }
}

/// Reads a request.
///
/// # Errors
///
/// A field is missing, is too long, or has a value that is not supported.
pub(crate) fn read(
    message: &Message<'_>,
    index: &SecurityIndex,
) -> Result<SecurityRequest, Refusal> {
    let indexed = &Indexed::new(message);
    let answer = SecurityMessage::to(message.msg_type());
    let of_type = match answer {
        SecurityMessage::Definition => tag::SECURITY_REQUEST_TYPE,
        SecurityMessage::List => tag::SECURITY_LIST_REQUEST_TYPE,
    };
    let id = Text::new(id(indexed, tag::SECURITY_REQ_ID)?);
    required(indexed, of_type)?;
    // The OMS sends no updates.
    if !matches!(
        indexed.get(tag::SUBSCRIPTION_REQUEST_TYPE),
        None | Some(b"0")
    ) {
        return Err(Refusal::ValueOutOfRange(tag::SUBSCRIPTION_REQUEST_TYPE));
    }
    let filter = SecurityFilter::read(message, index)?;
    let missing = Refusal::ConditionallyRequiredFieldMissing;
    let is_named = filter.named != NamedSecurity::Any;
    let is_of_kind = filter.kind.is_some();
    let wanted = match (answer, byte(indexed, of_type)) {
        (SecurityMessage::Definition, Some(b'0' | b'4')) | (SecurityMessage::List, Some(b'0')) => {
            if !is_named {
                return Err(missing(tag::SYMBOL));
            }
            match answer {
                SecurityMessage::Definition => WantedSecurities::One(filter),
                SecurityMessage::List => WantedSecurities::List(filter),
            }
        }
        (SecurityMessage::Definition, Some(b'1')) => WantedSecurities::One(filter),
        (SecurityMessage::Definition, Some(b'2')) => WantedSecurities::Types(filter),
        (SecurityMessage::Definition, Some(b'5')) if !is_of_kind => {
            return Err(missing(tag::SECURITY_TYPE));
        }
        (SecurityMessage::List, Some(b'1')) if !is_of_kind && filter.exchange.is_none() => {
            return Err(missing(tag::SECURITY_TYPE));
        }
        (SecurityMessage::Definition, Some(b'3' | b'5' | b'8'))
        | (SecurityMessage::List, Some(b'1' | b'4')) => WantedSecurities::List(filter),
        (SecurityMessage::Definition | SecurityMessage::List, _) => WantedSecurities::Unsupported,
    };
    Ok(SecurityRequest {
        message: answer,
        id,
        wanted,
    })
}

/// Why an answer has no instruments.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum NoSecurities {
    Unsupported,
    NoneFound,
    NotAuthorized,
}

/// An answer that is being sent: message by message, all from the same instruments.
#[derive(Debug)]
pub(crate) struct SecurityAnswer {
    /// The session of the client.
    pub(crate) to: SessionId,
    dictionary: Arc<Dictionary>,
    request: SecurityRequest,
    may: bool,
    /// The types of a list of types.
    types: Vec<Text>,
    /// Number of instruments or types of the whole answer, and of those that are sent.
    total: usize,
    sent: usize,
    /// Number of messages that are sent.
    messages: usize,
    /// Index of the instrument with which the search goes on.
    next: usize,
    /// The instruments at the time of the request, if the settings were reloaded since or the request names a symbol;
    /// `None`: the present ones.
    before: Option<Arc<Vec<InstrumentRule>>>,
}

impl SecurityAnswer {
    /// The answer from these instruments, and the one of them that the request names by its symbol; `may` is whether the
    /// client may request it. `None` if the dictionary of the session does not have the message.
    pub(crate) fn new(
        to: SessionId,
        dictionary: &Arc<Dictionary>,
        request: SecurityRequest,
        may: bool,
        instruments: &[InstrumentRule],
        found: Option<&InstrumentRule>,
    ) -> Option<Self> {
        dictionary.message(request.message.msg_type())?;
        let mut types = Vec::new();
        let mut before = None;
        let total = match &request.wanted {
            _ if !may => 0,
            WantedSecurities::One(filter) | WantedSecurities::List(filter) => match filter.named {
                NamedSecurity::Unknown => 0,
                // A symbol has one instrument, which is not searched again.
                NamedSecurity::Symbol(_) => {
                    let found = found.filter(|it| filter.has(it));
                    before = Some(Arc::new(found.cloned().into_iter().collect()));
                    usize::from(found.is_some())
                }
                NamedSecurity::Any => instruments.iter().filter(|it| filter.has(it)).count(),
            },
            WantedSecurities::Types(filter) => {
                let wanted = instruments.iter().filter(|it| filter.has(it));
                let all: BTreeSet<&[u8]> = wanted.filter_map(kind).collect();
                let all = all.into_iter();
                let all = all.filter(|kind| allowed(dictionary, tag::SECURITY_TYPE, kind));
                types.extend(all.map(Text::new));
                types.len()
            }
            WantedSecurities::Unsupported => 0,
        };
        Some(Self {
            to,
            dictionary: Arc::clone(dictionary),
            request,
            may,
            types,
            total,
            sent: 0,
            messages: 0,
            next: 0,
            before,
        })
    }

    /// SecurityReqID(320) of the request.
    #[cfg(any(test, feature = "state-lines"))]
    pub(crate) fn id(&self) -> &[u8] {
        self.request.id.bytes()
    }

    /// Number of instruments or types that are sent.
    pub(crate) fn sent(&self) -> usize {
        self.sent
    }

    /// Ends the answer, since the client has lost the right: the next message is the last one and says so.
    pub(crate) fn end_without_right(&mut self) {
        self.may = false;
        self.total = self.sent;
    }

    /// Number of instruments or types that are left to send.
    #[cfg(any(test, feature = "state-lines"))]
    pub(crate) fn left(&self) -> usize {
        self.total - self.sent
    }

    /// Whether the answer takes its instruments from the settings in use.
    pub(crate) fn is_of_present(&self) -> bool {
        self.before.is_none()
    }

    /// Keeps the instruments of the answer, since the settings were reloaded.
    pub(crate) fn keep(&mut self, before: &Arc<Vec<InstrumentRule>>) {
        self.before.get_or_insert_with(|| Arc::clone(before));
    }

    /// Writes the next message; returns false after the last one. The outbox has room for a message.
    pub(crate) fn step(&mut self, instruments: &[InstrumentRule], outbox: &mut Outbox) -> bool {
        let before = self.before.clone();
        let instruments = before
            .as_ref()
            .map_or(instruments, |before| before.as_slice());
        let dictionary = Arc::clone(&self.dictionary);
        let msg_type = self.request.message.msg_type();
        let Some(def) = dictionary.message(msg_type) else {
            return false;
        };
        self.messages += 1;
        let sent = self.sent;
        let mut out = InstrumentFields::new(&dictionary);
        match self.request.message {
            SecurityMessage::List => self.list(def.members(), instruments, &mut out),
            SecurityMessage::Definition => self.define(def.members(), instruments, &mut out),
        }
        let mut body = outbox.begin(self.to, msg_type);
        body.encoded(&out.bytes);
        // The outbox has room: that was checked before.
        let _ = body.finish();
        // A message without an instrument or type is the last one.
        self.sent > sent && self.sent < self.total
    }

    /// The next instrument of the answer.
    fn next<'i>(&mut self, instruments: &'i [InstrumentRule]) -> Option<&'i InstrumentRule> {
        let filter = match &self.request.wanted {
            WantedSecurities::One(filter) | WantedSecurities::List(filter) => filter,
            WantedSecurities::Types(_) | WantedSecurities::Unsupported => return None,
        };
        if self.sent == self.total {
            return None;
        }
        let rest = instruments.get(self.next..)?;
        let place = rest.iter().position(|rule| filter.has(rule))?;
        self.next += place + 1;
        self.sent += 1;
        rest.get(place)
    }

    fn why_none(&self) -> Option<NoSecurities> {
        match self.request.wanted {
            _ if !self.may => Some(NoSecurities::NotAuthorized),
            WantedSecurities::Unsupported => Some(NoSecurities::Unsupported),
            _ if self.total == 0 => Some(NoSecurities::NoneFound),
            WantedSecurities::One(_) | WantedSecurities::List(_) | WantedSecurities::Types(_) => {
                None
            }
        }
    }

    /// Writes a SecurityList(y).
    fn list(
        &mut self,
        members: &[Member],
        instruments: &[InstrumentRule],
        out: &mut InstrumentFields<'_>,
    ) {
        let mut entries = InstrumentFields::new(out.dictionary());
        let mut count = 0;
        let group = members.iter().find(|it| it.tag == tag::NO_RELATED_SYM);
        let group = group.and_then(|it| it.group.as_ref());
        while let Some(group) = group
            && count < LIST_MAX
            && entries.bytes.len() < LIST_BYTES
            && let Some(rule) = self.next(instruments)
        {
            entries.instrument(group.members(), rule, |_, _| false);
            count += 1;
        }
        let is_last = self.sent == self.total || group.is_none();
        let result = match self.why_none() {
            None => "0",
            Some(NoSecurities::Unsupported) => "1",
            Some(NoSecurities::NoneFound) => "2",
            Some(NoSecurities::NotAuthorized) => "3",
        };
        for member in members {
            match member.tag {
                tag::SECURITY_REQ_ID => out.put(member.tag, self.request.id.bytes()),
                tag::SECURITY_RESPONSE_ID => out.put(member.tag, &self.response_id()),
                tag::SECURITY_REQUEST_RESULT => out.text(member.tag, result),
                tag::TOT_NO_RELATED_SYM => out.text(member.tag, &self.total.to_string()),
                tag::LAST_FRAGMENT => out.text(member.tag, if is_last { "Y" } else { "N" }),
                tag::NO_RELATED_SYM if count > 0 => {
                    out.text(member.tag, &count.to_string());
                    out.bytes.extend_from_slice(&entries.bytes);
                }
                _ => {}
            }
        }
    }

    /// Writes a SecurityDefinition(d).
    fn define(
        &mut self,
        members: &[Member],
        instruments: &[InstrumentRule],
        out: &mut InstrumentFields<'_>,
    ) {
        let why = match self.why_none() {
            None => "",
            Some(NoSecurities::Unsupported) => {
                "SecurityRequestType(321) is not supported: request 0 with a Symbol(55), or 3 for all symbols"
            }
            Some(NoSecurities::NotAuthorized) => "the session does not have the right securities",
            Some(NoSecurities::NoneFound) => "no instrument has these fields",
        };
        let is_named = |wanted: &WantedSecurities| matches!(wanted, WantedSecurities::One(_));
        let (response, why) = match &self.request.wanted {
            // FIX 4.4 does not have 3 and 4.
            WantedSecurities::Types(_)
                if self.may && !allowed(out.dictionary(), tag::SECURITY_RESPONSE_TYPE, b"3") =>
            {
                (
                    "5",
                    "this FIX version has no list of security types in SecurityDefinition(d)",
                )
            }
            wanted => match (self.why_none(), wanted) {
                (Some(NoSecurities::Unsupported | NoSecurities::NotAuthorized), _) => ("5", why),
                (Some(NoSecurities::NoneFound), _) => ("6", why),
                (None, WantedSecurities::Types(_)) => ("3", why),
                (None, wanted) if is_named(wanted) && self.total == 1 => ("1", why),
                (None, _) if allowed(out.dictionary(), tag::SECURITY_RESPONSE_TYPE, b"4") => {
                    ("4", why)
                }
                (None, _) => ("1", why),
            },
        };
        let response_id = self.response_id();
        let total = self.total.to_string();
        let id = self.request.id.clone();
        let head = |of: Tag, out: &mut InstrumentFields<'_>| {
            match of {
                tag::SECURITY_REQ_ID => out.put(of, id.bytes()),
                tag::SECURITY_RESPONSE_ID => out.put(of, &response_id),
                tag::SECURITY_RESPONSE_TYPE => out.text(of, response),
                tag::TOTAL_NUM_SECURITIES => out.text(of, &total),
                _ => return false,
            }
            true
        };
        if why.is_empty()
            && let Some(rule) = self.next(instruments)
        {
            return out.instrument(members, rule, head);
        }
        let listed = self
            .types
            .get(self.sent)
            .filter(|_| why.is_empty())
            .cloned();
        self.sent += usize::from(listed.is_some());
        let symbol = self.request.symbol().unwrap_or_default();
        for member in members {
            match member.tag {
                tag::SYMBOL => out.put(member.tag, symbol),
                tag::SECURITY_TYPE => out.put(member.tag, listed.as_ref().map_or(b"", Text::bytes)),
                tag::TEXT => out.text(member.tag, why),
                other => {
                    head(other, out);
                }
            }
        }
    }

    /// SecurityResponseID(322): each message has its own.
    fn response_id(&self) -> Vec<u8> {
        let number = format!("-{}", self.messages);
        [self.request.id.bytes(), number.as_bytes()].concat()
    }
}
