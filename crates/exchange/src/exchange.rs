//! The exchange as an application of the engine.

mod bulletins;
mod copies;
mod deliver;
pub(crate) mod feeds;
mod inquiries;
mod lines;
mod operate;
mod rights;
mod securities;
mod watches;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use fixwire_protocol::session::Config;
use fixwire_protocol::{
    Application, BodyError, Decimal, DecimalError, Hangup, Indexed, Ledger, Link, Message, Mono,
    Nanos, Now, OperatorCommand, OperatorRight, Outbox, Parting, PeerLogout, Refusal, SessionId,
    Tag, Timestamp, tag,
};
use fixwire_tmp::LinkActions;

use crate::config::{ConfigProblem, ExchangeConfig};
use crate::dialect::Dialect;
use crate::event::{MarketEvent, MemberRequest, RequestMsgType};
use crate::faults::{FaultNames, Faults};
use crate::fields::{FieldWriter, RequestFields};
use crate::instrument::Instrument;
use crate::ledger::{self, MarketLedger};
use crate::market::{Market, Member, digits};
use crate::script::OrderScript;
use crate::tmp::bulletin::KeptBulletin;
use crate::tmp::copies::CopySubscription;
pub use crate::tmp::line::ExchangeTmpLine;
use crate::tmp::line::TmpLine;
use crate::watch::Watch;
use feeds::Feeds;
pub use rights::RIGHTS;

/// Maximum number of reports that wait for room in the outbox. When more wait, requests are rejected.
const WAITING_MAX: usize = 100_000;
/// Maximum size of a note, without the fields of a request, in bytes.
const NOTE_ROOM: usize = 256;
/// Number of bytes that is enough for the fields of most requests.
const FIELDS_ROOM: usize = 256;
/// Interval at which the exchange tries again to send waiting reports.
const RETRY: Nanos = Nanos::from_millis(1);

/// A simulated exchange: the application above the sessions of its members.
#[derive(Debug)]
pub struct Exchange {
    pub(crate) config: ExchangeConfig,
    pub(crate) market: Market,
    /// The members' sessions, by session id.
    pub(crate) seats: Vec<Seat>,
    /// The session of each member, by the number of the member in the market.
    pub(crate) routes: BTreeMap<u32, SessionId>,
    /// Whether the instruments in the journal are the same as those in the configuration.
    pub(crate) is_listed: bool,
    /// Whether a note could not be read. If so, all requests are ignored.
    pub(crate) is_broken: bool,
    pub(crate) note: Vec<u8>,
    pub(crate) faults: Faults,
    /// The scripts, as text in the form that notes use.
    pub(crate) scripts: Vec<Arc<str>>,
    /// TMP lines, by the number of the link.
    pub(crate) lines: Vec<TmpLine>,
    /// Memory for the actions of a link, kept to be reused.
    pub(crate) actions: LinkActions,
    /// Subscriptions of members to trading states.
    pub(crate) watches: Vec<Watch>,
    /// Subscriptions of members to market data.
    pub(crate) feeds: Feeds,
    /// Subscriptions of TMP lines to copies of reports.
    pub(crate) subscriptions: Vec<CopySubscription>,
    /// The last bulletins, which members request by R13.
    pub(crate) bulletins: Vec<KeptBulletin>,
}

/// A session of the engine, with what the exchange needs to know about it.
#[derive(Clone, Copy, Debug)]
pub struct ExchangeSession<'a> {
    /// Name of the session. After a restart, the session's orders are found by this name.
    pub name: &'a str,
    /// Configuration of the session, which determines the FIX version.
    pub session: &'a Config,
}

#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) name: String,
    /// The FIX dialect of the session; `None` for an unsupported FIX version.
    pub(crate) dialect: Option<Dialect>,
    pub(crate) digits: u8,
    /// Number of the session's member, as last looked up; `None` before the first look-up.
    pub(crate) member: Option<u32>,
}

impl Seat {
    fn of(name: &str, session: &Config) -> Self {
        Self {
            name: name.to_string(),
            dialect: Dialect::of_session(session),
            digits: digits(session.precision),
            member: None,
        }
    }
}

/// Why an exchange could not be created.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ExchangeError {
    /// The configuration has mistakes.
    Config(Vec<ConfigProblem>),
    /// A fault in the configuration is not valid.
    Fault {
        /// The mistake, as a sentence.
        what: String,
    },
    /// A session uses a FIX version before 4.2.
    Version {
        /// The session's name.
        session: String,
    },
}

impl fmt::Display for ExchangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(problems) => {
                for (index, problem) in problems.iter().enumerate() {
                    let end = if index + 1 < problems.len() { "; " } else { "" };
                    write!(f, "{}{end}", problem.what)?;
                }
                Ok(())
            }
            Self::Fault { what } => f.write_str(what),
            Self::Version { session } => write!(
                f,
                "session {session}: the exchange speaks FIX 4.2 and later: change its BeginString"
            ),
        }
    }
}

impl core::error::Error for ExchangeError {}

impl Exchange {
    /// An exchange for the sessions of an engine, in the order of their ids.
    ///
    /// # Errors
    ///
    /// The configuration is invalid, or a session uses a FIX version before 4.2.
    pub fn new<'a>(
        config: ExchangeConfig,
        sessions: impl IntoIterator<Item = ExchangeSession<'a>>,
    ) -> Result<Self, ExchangeError> {
        let problems = config.problems();
        if !problems.is_empty() {
            return Err(ExchangeError::Config(problems));
        }
        let sessions = sessions.into_iter();
        let seats: Vec<Seat> = sessions.map(|it| Seat::of(it.name, it.session)).collect();
        if let Some(old) = seats.iter().find(|seat| seat.dialect.is_none()) {
            let session = old.name.clone();
            return Err(ExchangeError::Version { session });
        }
        let mut faults = Faults::new(config.wire.clone());
        // TMP lines are added later, so a name that is not a session may be a TMP line.
        let names = FaultNames {
            sessions: &seats.iter().map(|seat| &*seat.name).collect::<Vec<_>>(),
            lines: None,
        };
        for words in &config.faults {
            let added = faults.operate(words, names);
            added.map_err(|what| ExchangeError::Fault { what })?;
        }
        let scripts = config.scripts.iter();
        let scripts = scripts.map(|script| script.noted().into()).collect();
        Ok(Self {
            config,
            market: Market::default(),
            seats,
            routes: BTreeMap::new(),
            is_listed: false,
            is_broken: false,
            note: Vec::new(),
            faults,
            scripts,
            lines: Vec::new(),
            actions: LinkActions::new(),
            watches: Vec::new(),
            feeds: Feeds::default(),
            subscriptions: Vec::new(),
            bulletins: Vec::new(),
        })
    }

    /// Adds members that speak TMP over the links of the engine, in the order of their ids.
    #[must_use]
    pub fn with_tmp_lines(mut self, lines: Vec<ExchangeTmpLine>) -> Self {
        self.lines = lines.into_iter().map(TmpLine::new).collect();
        self
    }

    /// The number of open orders, and the number of reports that wait for room in the outbox.
    #[must_use]
    pub fn open(&self) -> (usize, usize) {
        (self.market.orders.open(), self.market.waiting.len())
    }

    /// Checks that the books are consistent and contain exactly the open orders. For tests only, because it visits
    /// every order.
    ///
    /// # Errors
    ///
    /// The violated invariant, as a sentence.
    pub fn check(&self) -> Result<(), String> {
        self.market.check()
    }

    /// Writes the note of an event, and then applies the event to the market.
    fn keep(&mut self, event: MarketEvent<'_>, outbox: &mut Outbox) -> Result<(), BodyError> {
        self.note.clear();
        event.put(&mut self.note);
        debug_assert_eq!(MarketEvent::of(&self.note), Some(event), "it reads back");
        outbox.note(&self.note)?;
        self.is_broken |= self.market.apply(event).is_err();
        Ok(())
    }

    /// Writes notes for the differences between configuration and journal, once after a start.
    fn list(&mut self, now: Now, outbox: &mut Outbox) -> Result<(), BodyError> {
        if self.is_listed {
            return Ok(());
        }
        let remembered_max = self.config.remembered_max;
        if self.market.orders.remembered_max() != remembered_max {
            self.keep(MarketEvent::Limits { remembered_max }, outbox)?;
        }
        if self.market.copies.is_none() && self.lines.iter().any(TmpLine::gets_copies) {
            self.keep(MarketEvent::Copies {}, outbox)?;
        }
        let orders_max = self.config.orders_max;
        let wanted = self.config.instruments.iter();
        let wanted: Vec<String> = wanted.map(|it| Instrument::noted(it, orders_max)).collect();
        let at = now.wall;
        let known = |market: &Market, noted: &String| {
            let mut known = market.instruments.iter();
            known.any(|it| it.noted == *noted && !it.is_gone)
        };
        for noted in &wanted {
            if !known(&self.market, noted) {
                self.keep(MarketEvent::Instrument { at, noted }, outbox)?;
            }
        }
        let is_wanted = |symbol: &str| wanted.iter().any(|it| Instrument::symbol_of(it) == symbol);
        let known = self.market.instruments.iter();
        let gone = known.filter(|it| !it.is_gone && !is_wanted(&it.symbol));
        let gone: Vec<String> = gone.map(|it| it.symbol.clone()).collect();
        for symbol in &gone {
            self.keep(MarketEvent::Gone { at, symbol }, outbox)?;
        }
        for noted in &wanted {
            let symbol = Instrument::symbol_of(noted);
            let terms = self.config.trader(symbol);
            let index = self.market.instrument(symbol.as_bytes());
            let known = index.and_then(|index| self.market.traders.get(&(index as u32)));
            if known.map(|trader| trader.terms) != terms {
                self.keep(MarketEvent::Trader { at, symbol, terms }, outbox)?;
            }
        }
        self.is_listed = true;
        Ok(())
    }

    /// The member number of a session; the first request of a session assigns it.
    fn member(&mut self, from: SessionId, outbox: &mut Outbox) -> Result<u32, Refusal> {
        let seat = self
            .seats
            .get(from.0 as usize)
            .ok_or(Refusal::NotAvailable)?;
        let is_same = |it: &Member| {
            it.name == seat.name && Some(it.dialect) == seat.dialect && it.digits == seat.digits
        };
        let members = &self.market.members;
        let known = seat.member;
        if let Some(number) = known.filter(|it| members.get(*it as usize).is_some_and(is_same)) {
            self.routes.insert(number, from);
            return Ok(number);
        }
        let dialect = seat.dialect.ok_or(Refusal::UnsupportedMessageType)?;
        let (name, digits) = (seat.name.clone(), seat.digits);
        let number = self.seat(&name, dialect, digits, outbox);
        let number = number.map_err(|_| Refusal::NotAvailable)?;
        self.routes.insert(number, from);
        self.seats[from.0 as usize].member = Some(number);
        Ok(number)
    }

    /// The number of the member with this name. Writes a note if the member is new, or if its FIX version has
    /// changed.
    fn seat(
        &mut self,
        name: &str,
        dialect: Dialect,
        digits: u8,
        outbox: &mut Outbox,
    ) -> Result<u32, BodyError> {
        let number = self.market.member(name);
        let known = number.and_then(|number| self.market.members.get(number as usize));
        let same = known.is_some_and(|it| it.dialect == dialect && it.digits == digits);
        let number = number.unwrap_or(self.market.members.len() as u32);
        if !same {
            let event = MarketEvent::Member {
                number,
                dialect,
                digits,
                name,
            };
            self.keep(event, outbox)?;
        }
        Ok(number)
    }

    /// The script that a new order follows; `None` if no script matches the order.
    fn script(&self, member: &str, request: &MemberRequest<'_>) -> Option<Arc<str>> {
        let is_for = |it: &OrderScript| it.is_for(member, request.fields);
        let index = self.config.scripts.iter().position(is_for)?;
        Some(Arc::clone(&self.scripts[index]))
    }

    /// Continues scripted orders whose wait is over. Returns the time at which the next wait ends.
    fn step(&mut self, now: Now, outbox: &mut Outbox) -> Option<Mono> {
        while let Some((until, order)) = self.market.scripted.next() {
            if until > now.wall {
                let left = until.0.abs_diff(now.wall.0);
                return Some(now.mono + Nanos(left));
            }
            let at = now.wall;
            if self.keep(MarketEvent::Step { at, order }, outbox).is_err() {
                return Some(now.mono + RETRY);
            }
        }
        None
    }

    /// Lets traders take the steps that are due. Returns the time at which the next step is due.
    fn trade(&mut self, now: Now, outbox: &mut Outbox) -> Option<Mono> {
        let mut next: Option<Mono> = None;
        let traders: Vec<u32> = self.market.traders.keys().copied().collect();
        for index in traders {
            if self.market.traders[&index].due <= now.wall {
                let symbol = self.market.instruments[index as usize].symbol.clone();
                let (at, symbol) = (now.wall, symbol.as_str());
                let step = MarketEvent::TraderStep { at, symbol };
                if self.keep(step, outbox).is_err() {
                    return Some(now.mono + RETRY);
                }
            }
            let wait = self.market.traders[&index].due.0.saturating_sub(now.wall.0);
            let due = now.mono + Nanos(wait.max(0).cast_unsigned());
            next = Some(next.map_or(due, |next| next.min(due)));
        }
        next
    }

    /// Checks that a request has its required fields, and that its numbers can be read.
    fn look(msg_type: &[u8], message: &Indexed<'_, '_>) -> Result<(), Refusal> {
        let needed: &[Tag] = match msg_type {
            b"D" => &[tag::CL_ORD_ID, tag::SYMBOL, tag::SIDE, tag::ORD_TYPE],
            b"G" => &[tag::CL_ORD_ID, tag::ORIG_CL_ORD_ID, tag::ORD_TYPE],
            b"F" => &[tag::CL_ORD_ID, tag::ORIG_CL_ORD_ID],
            b"q" => &[tag::CL_ORD_ID, tag::MASS_CANCEL_REQUEST_TYPE],
            b"AF" => &[tag::MASS_STATUS_REQ_ID, tag::MASS_STATUS_REQ_TYPE],
            b"R" => &[tag::QUOTE_REQ_ID, tag::SYMBOL],
            b"e" => &[
                tag::SECURITY_STATUS_REQ_ID,
                tag::SYMBOL,
                tag::SUBSCRIPTION_REQUEST_TYPE,
            ],
            b"g" => &[tag::TRAD_SES_REQ_ID, tag::SUBSCRIPTION_REQUEST_TYPE],
            b"V" => &[tag::MD_REQ_ID, tag::SUBSCRIPTION_REQUEST_TYPE],
            b"c" => &[tag::SECURITY_REQ_ID, tag::SECURITY_REQUEST_TYPE],
            b"x" => &[tag::SECURITY_REQ_ID, tag::SECURITY_LIST_REQUEST_TYPE],
            _ => &[tag::CL_ORD_ID],
        };
        let is_missing = |tag: &&Tag| message.get(**tag).is_none_or(<[u8]>::is_empty);
        if let Some(missing) = needed.iter().find(is_missing) {
            return Err(Refusal::ConditionallyRequiredFieldMissing(*missing));
        }
        let numbers = [
            tag::ORDER_QTY,
            tag::PRICE,
            tag::STOP_PX,
            tag::MAX_FLOOR,
            tag::DISPLAY_QTY,
        ];
        for number in numbers {
            match message.get(number).map(Decimal::parse) {
                None | Some(Ok(_)) => {}
                Some(Err(DecimalError::Range)) => return Err(Refusal::ValueOutOfRange(number)),
                Some(Err(_)) => return Err(Refusal::IncorrectDataFormat(number)),
            }
        }
        Ok(())
    }
}

impl Application for Exchange {
    fn on_message(
        &mut self,
        now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let seat = self.seats.get(from.0 as usize);
        let dialect = seat.and_then(|seat| seat.dialect);
        let known = match message.msg_type() {
            b"D" | b"F" | b"G" | b"H" | b"R" | b"V" | b"c" | b"e" | b"g" => dialect.is_some(),
            b"q" | b"AF" | b"x" => dialect.is_some_and(Dialect::has_mass_requests),
            _ => false,
        };
        if !known {
            return Err(Refusal::UnsupportedMessageType);
        }
        if self.is_broken || self.market.waiting.len() > WAITING_MAX {
            return Err(Refusal::NotAvailable);
        }
        let indexed = Indexed::new(message);
        Self::look(message.msg_type(), &indexed)?;
        if let Some(seat) = self.seats.get(from.0 as usize)
            && self.faults.rejects(&seat.name, message.msg_type())
        {
            return deliver::business_reject(from, message, outbox);
        }
        let full = |_| Refusal::NotAvailable;
        if let (b"R" | b"V" | b"c" | b"e" | b"g" | b"x", Some(dialect)) =
            (message.msg_type(), dialect)
        {
            self.list(now, outbox).map_err(full)?;
            return match message.msg_type() {
                b"R" => self.quote_request(now, (from, dialect), message, outbox),
                b"c" => securities::define(&self.market, from, dialect, message, outbox),
                b"x" => securities::list(&self.market, from, dialect, message, outbox),
                b"V" => {
                    let (feeds, market) = (&mut self.feeds, &mut self.market);
                    feeds.request(market, from, dialect, message, outbox)?;
                    self.deliver(now, outbox);
                    Ok(())
                }
                _ => self.status_request(now, from, message, outbox),
            };
        }
        let msg_type = RequestMsgType::of_fix(message.msg_type());
        let msg_type = msg_type.ok_or(Refusal::UnsupportedMessageType)?;
        let mut bytes = FieldWriter(Vec::with_capacity(FIELDS_ROOM));
        let fields = RequestFields::of(&indexed, &mut bytes).map_err(Refusal::ValueOutOfRange)?;
        self.list(now, outbox).map_err(full)?;
        let member = self.member(from, outbox)?;
        let request = MemberRequest {
            member,
            at: now.wall,
            msg_type,
            fields,
        };
        let is_new = msg_type == RequestMsgType::New && !self.scripts.is_empty();
        let seat = self.seats.get(from.0 as usize).filter(|_| is_new);
        let script = seat.and_then(|seat| self.script(&seat.name, &request));
        let event = match &script {
            Some(script) => MarketEvent::Scripted { request, script },
            None => MarketEvent::Request { request },
        };
        self.keep(event, outbox).map_err(full)?;
        self.deliver(now, outbox);
        Ok(())
    }

    fn on_frame(
        &mut self,
        now: Now,
        from: SessionId,
        frame: &[u8],
        outbox: &mut Outbox,
    ) -> Result<(), Hangup> {
        // The journal gets the frame even if the exchange does not handle it, so the password proof in it is masked.
        lines::mask_proof(frame, outbox);
        let Some(at) = from.link().filter(|at| *at < self.lines.len()) else {
            return Err(Hangup("the link is not a TMP line of the exchange"));
        };
        if self.is_broken {
            let why = "the journal could not be read: the exchange is not available";
            return Err(Hangup(why));
        }
        let done = self.line_frame(now, at, frame, outbox);
        self.deliver(now, outbox);
        done
    }

    fn on_link(&mut self, now: Now, session: SessionId, link: Link, outbox: &mut Outbox) {
        let Some(at) = session.link().filter(|at| *at < self.lines.len()) else {
            return;
        };
        match link {
            Link::Up if self.is_broken => {}
            Link::Up => self.line_up(now, at, outbox),
            Link::Down { .. } => {
                self.lines[at].disconnect();
                self.stop_watches(session);
                self.unsubscribe(session);
            }
        }
    }

    fn on_disconnect(
        &mut self,
        _now: Now,
        session: SessionId,
        _parting: Parting,
        _logout: PeerLogout<'_>,
        _outbox: &mut Outbox,
    ) {
        self.stop_watches(session);
        self.feeds.stop(session, &mut self.market);
    }

    fn on_resend(&mut self, _now: Now, session: SessionId, stored: &[u8]) -> bool {
        self.feeds.resends(session, stored)
    }

    fn on_note(&mut self, _at: Timestamp, note: &[u8]) {
        self.is_broken |= self.market.replay(note).is_err();
    }

    fn ledger(&self) -> Option<Box<dyn Ledger>> {
        Some(Box::new(MarketLedger::default()))
    }

    fn on_checkpoint(&mut self, version: u32, state: &[u8]) -> Result<(), String> {
        self.market = ledger::read(version, state)?;
        Ok(())
    }

    fn state_hash(&self) -> Option<u64> {
        Some(self.market.hash())
    }

    fn on_session_added(&mut self, _now: Now, session: SessionId, name: &str, config: &Config) {
        let seat = Seat::of(name, config);
        match self.seats.get_mut(session.0 as usize) {
            Some(known) => *known = seat,
            None => self.seats.push(seat),
        }
        self.routes.clear();
    }

    fn on_command(
        &mut self,
        now: Now,
        command: OperatorCommand<'_>,
        answer: &mut Vec<u8>,
        outbox: &mut Outbox,
    ) -> Result<(), String> {
        if self.is_broken {
            return Err("the journal could not be read: the exchange is not available".into());
        }
        let full = |error: BodyError| format!("command not executed: {error:?}; try again");
        self.list(now, outbox).map_err(full)?;
        let done = self.operate(now, command.bytes, outbox)?;
        answer.extend_from_slice(done.as_bytes());
        self.report_watches(now, outbox);
        self.deliver(now, outbox);
        Ok(())
    }

    fn on_query(&self, _now: Now, query: &[u8], answer: &mut Vec<u8>) -> Result<(), String> {
        let text = self.answer(query)?;
        answer.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn command_right(&self, command: &[u8]) -> Option<OperatorRight> {
        rights::right(command)
    }

    fn query_right(&self, query: &[u8]) -> Option<OperatorRight> {
        rights::right(query)
    }

    fn survives_panics(&self) -> bool {
        // False: after a note was written the market has changed, and a panic would discard the note but not the
        // change.
        false
    }

    fn on_time(&mut self, now: Now, outbox: &mut Outbox) -> Option<Mono> {
        if self.is_broken {
            return None;
        }
        // Try again to send the reports for which the outbox had no room.
        let is_listed = self.list(now, outbox).is_ok();
        if !is_listed {
            self.deliver(now, outbox);
            return Some(now.mono + RETRY);
        }
        let next = self.step(now, outbox);
        let trade = self.trade(now, outbox);
        let told = (!self.report_watches(now, outbox)).then_some(now.mono + RETRY);
        let line = self.line_time(now, outbox);
        let due = self.deliver(now, outbox);
        [next, trade, told, line, due].into_iter().flatten().min()
    }
}
