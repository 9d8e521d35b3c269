//! Report recovery: makes the reports that a client requests again from the notes of the journal.
//!
//! ```text
//!   BW > Oms > ReportRequest > ReportArchive: a checkpoint, the notes behind it
//!                                   |           each note > ReportReplay > report
//!   client < Oms < ReportBatch <----+  (another thread)
//! ```
//!
//! Reports are made again from the events, not copied from the sent messages of the journal. The same code makes a
//! report from the state before an event and the event, so the report has the same fields as the first time.
//!
//! The events also have reports that were never sent: those for a session outside its schedule, or for a drop copy that
//! was configured later. The events also give the account of each report; the reject of a cancel has no account.
//!
//! Reading the events has two costs: a second state in memory while a request is carried out, and reports that a newer
//! version of the OMS may write with other fields.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use fixwire_protocol::{Decoder, Dictionary, Outbox, tag};

use crate::fix::before::Before;
use crate::fix::clients::{self, Client};
use crate::fix::names::{symbol_by_id, symbol_of, write_with_symbol};
use crate::fix::report_requests::ReportFilter;
use crate::fix::reports;
use crate::fix::venue_fields::{ReportReader, VenueFields};
use crate::state::OmsState;
use crate::state::event::{
    ConditionEvent, LifecycleEvent, OrderEvent, ParentEvent, RejectedEvent, RequestEvent,
    SpreadEvent, timed_event,
};
use crate::state::orders::Order;
use crate::values::fields::conversion::FieldConverter;
use crate::values::fields::report_tags::ReportSettings;
use crate::values::ids::SessionNo;
use crate::values::rules::{SecurityIndex, UserRule, matches};
use crate::values::value::Number;

/// Reads the notes of the journal again. All methods return at once, since another thread reads the notes.
pub trait ReportArchive: Send {
    /// Begins to carry out a request. Only one request may be carried out at a time.
    fn ask(&mut self, request: ReportRequest);

    /// Progress of the request since the last call; `None` when there is no progress.
    fn news(&mut self) -> Option<ArchiveNews>;

    /// Gives up the request: nothing more about it is returned by [`news`](Self::news).
    fn stop(&mut self);
}

/// Progress of a request.
#[derive(Debug)]
pub enum ArchiveNews {
    /// The journal is open, and reports from number `from` on are available. This value is always the first progress of
    /// a request.
    Opened {
        /// The number of the first report that is available.
        from: u64,
    },
    /// Some reports.
    Reports(ReportBatch),
    /// All notes of the request were read.
    Done,
    /// The journal could not be read, for this reason.
    Failed(String),
}

/// Reports in their order, as messages without headers.
#[derive(Debug, Default)]
pub struct ReportBatch {
    bytes: Vec<u8>,
    /// MsgType(35) of each report, and the offset at which the report ends.
    ends: Vec<(u8, usize)>,
    /// Index of the first report that was not taken yet, and the offset at which it begins.
    next: (usize, usize),
}

impl ReportBatch {
    /// Number of bytes of all reports of the batch.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    fn push(&mut self, msg_type: u8, body: &[u8]) {
        self.bytes.extend_from_slice(body);
        self.ends.push((msg_type, self.bytes.len()));
    }

    /// Takes the next report: its MsgType(35) and its fields.
    pub(crate) fn take(&mut self) -> Option<([u8; 1], &[u8])> {
        let (at, start) = self.next;
        let (msg_type, end) = *self.ends.get(at)?;
        self.next = (at + 1, end);
        Some(([msg_type], &self.bytes[start..end]))
    }
}

impl ReportFilter {
    /// Whether the filter depends on later events of the same order.
    fn looks_ahead(self) -> bool {
        self.last || self.working || self.with_fills
    }

    /// Whether the filter selects an event, without regard to later events of the order.
    fn fits(self, event: &OrderEvent<'_>, order: Option<Number>) -> bool {
        let is_pending = matches!(
            event,
            OrderEvent::Request(RequestEvent::Queued { .. })
                | OrderEvent::Condition(ConditionEvent::Held { .. })
                | OrderEvent::Condition(ConditionEvent::Triggered { .. })
                | OrderEvent::Rejected(RejectedEvent::Rerun { .. })
        );
        let is_fill = matches!(
            event,
            OrderEvent::Order(LifecycleEvent::Filled { .. })
                | OrderEvent::Parent(ParentEvent::ParentFilled { .. })
                | OrderEvent::Undo(_)
                | OrderEvent::Spread(SpreadEvent::LegUndone { .. })
                | OrderEvent::Spread(SpreadEvent::LegFilled { .. })
        );
        if is_pending && self.no_pending {
            return false;
        }
        is_fill || (!self.fills && (order.is_some() || !self.looks_ahead()))
    }
}

/// For whom the reports are made.
#[derive(Clone, Debug)]
pub(crate) enum ReportReceiver {
    /// A client: reports of its own requests, for accounts with the right `reports`.
    Client {
        /// The session, by its number in the state.
        session: SessionNo,
        /// Settings of the user, with its rights.
        user: Box<UserRule>,
    },
    /// A drop copy: executions of these accounts.
    Copy {
        /// Names of the accounts; `*` matches any suffix.
        accounts: Vec<String>,
    },
}

/// A request for the reports of a range of event numbers.
#[derive(Clone, Debug)]
pub struct ReportRequest {
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) client: Client,
    pub(crate) receiver: ReportReceiver,
    /// The client's dictionary.
    pub(crate) dictionary: Arc<Dictionary>,
    /// The dictionaries of all sessions. Each message that caused a report was read with one of the dictionaries.
    pub(crate) dictionaries: Vec<Arc<Dictionary>>,
    /// The settings for the fields of venues' reports.
    pub(crate) settings: Arc<ReportSettings>,
    /// Converts the fields of venues' reports.
    pub(crate) converter: FieldConverter,
    /// The index that finds symbols by identifier.
    pub(crate) securities: Arc<SecurityIndex>,
    pub(crate) filter: ReportFilter,
}

impl ReportRequest {
    /// The number of the first event of the range.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The number of the last event of the range; the event has happened.
    #[must_use]
    pub fn last(&self) -> u64 {
        self.last
    }
}

/// The later outcome of an order that has reports in the range.
#[derive(Clone, Copy, Debug, Default)]
struct OrderOutcome {
    /// The event number of the order's last report.
    last: u64,
    has_fill: bool,
    is_open: bool,
}

/// Makes the reports of a request from notes.
///
/// Notes are read once, or twice if the filter depends on later events of an order. The first time then only collects
/// the outcome of each order, in a few bytes.
#[derive(Debug)]
pub struct ReportReplay {
    request: ReportRequest,
    state: OmsState,
    before: Before,
    outbox: Outbox,
    /// Buffer for a report with fields of its venue.
    body: Vec<u8>,
    /// A request that names its instrument by SecurityID(48) alone, with Symbol(55).
    named: Vec<u8>,
    decoder: Decoder,
    outcomes: BTreeMap<Number, OrderOutcome>,
    /// Whether the notes are being read only to collect the outcomes of orders.
    collects: bool,
}

impl ReportReplay {
    /// Maximum number of bytes of the reports of one event.
    const ROOM: usize = 16 << 10;

    /// A replay for a request; [`begin`](Self::begin) must be called first.
    #[must_use]
    pub fn new(request: ReportRequest) -> Self {
        let mut decoder = Decoder::with_capacity(128);
        request.dictionaries.iter().for_each(|it| decoder.learn(it));
        Self {
            collects: request.filter.looks_ahead(),
            request,
            state: OmsState::default(),
            before: Before::default(),
            outbox: Outbox::new(Self::ROOM, 4, 0),
            body: Vec::new(),
            named: Vec::new(),
            decoder,
            outcomes: BTreeMap::new(),
        }
    }

    /// Begins to read. `state` is the state before the first note, and has no event of the range.
    pub fn begin(&mut self, state: OmsState) {
        self.state = state;
    }

    /// Reads the next note and adds its report to the batch. `cause` is the message that caused the event, empty if no
    /// message did. Returns true at the end of the range.
    pub fn take(&mut self, note: &[u8], cause: &[u8], batch: &mut ReportBatch) -> bool {
        let Some((at, event)) = timed_event(note) else {
            self.state.apply_note(note);
            return false;
        };
        self.before.note(&self.state, &event);
        self.state.apply(at, &event);
        let number = self.state.events();
        if number >= self.request.first && self.wants(number, &event, cause) {
            self.write(&event, cause, batch);
        }
        number >= self.request.last
    }

    /// Whether the notes must be read a second time, from the same state on. Called at the end of the range.
    pub fn goes_again(&mut self) -> bool {
        if !self.collects {
            return false;
        }
        self.collects = false;
        for (order, fate) in &mut self.outcomes {
            let known = self.state.orders().get(*order);
            fate.is_open = known.is_some_and(|order| order.state.is_open());
        }
        true
    }

    /// Whether the request selects the report of an event. Also collects the outcome of the event's order.
    fn wants(&mut self, number: u64, event: &OrderEvent<'_>, cause: &[u8]) -> bool {
        let filter = self.request.filter;
        let order = clients::order_of(event, &self.before);
        if !filter.fits(event, order) || !self.receives(event, cause) {
            return false;
        }
        let Some(order) = order.filter(|_| filter.looks_ahead()) else {
            return true;
        };
        if self.collects {
            let known = self.state.orders().get(order);
            let has_fill = known.is_some_and(|order| order.filled > 0);
            let fate = self.outcomes.entry(order).or_default();
            fate.last = number;
            fate.has_fill |= has_fill;
            return false;
        }
        let fate = self.outcomes.get(&order).copied().unwrap_or_default();
        (!filter.last || fate.last == number)
            && (!filter.working || fate.is_open)
            && (!filter.with_fills || fate.has_fill)
    }

    fn receives(&mut self, event: &OrderEvent<'_>, cause: &[u8]) -> bool {
        let Self {
            state,
            before,
            request,
            decoder,
            ..
        } = self;
        let account_of = |order: Number| {
            let order = state.orders().get(order)?;
            Some(state.accounts().name(order.account))
        };
        let order = clients::order_of(event, before);
        let order = order.and_then(|order| state.orders().get(order));
        let is_external = order.is_some_and(Order::is_external);
        if is_external && request.filter.no_external {
            return false;
        }
        let (session, user) = match &request.receiver {
            ReportReceiver::Client { session, user } => (*session, user),
            ReportReceiver::Copy { accounts } => {
                let order = clients::order_of(event, before);
                // As in live operation: a parent order is at no venue.
                let order = order.filter(|order| !state.families.is_parent(*order));
                let account = order.and_then(account_of);
                return account.is_some_and(|account| {
                    accounts.iter().any(|pattern| matches(pattern, account))
                });
            }
        };
        if !is_external && clients::session_of(state, event, before) != Some(session) {
            return false;
        }
        let may_see = |account: &[u8]| user.rights(account).is_some_and(|it| it.reports);
        let order = match *event {
            OrderEvent::Request(RequestEvent::Refused { kind: None, .. }) => {
                // An account that does not belong to the client is only a value in its request.
                let order = decoder.decode(cause);
                let default = user.default_account.as_ref();
                let account = order.get(tag::ACCOUNT);
                let account = account.or(default.map(String::as_bytes));
                let rights = account.and_then(|account| user.rights(account));
                return rights.is_none_or(|rights| rights.reports);
            }
            OrderEvent::Request(RequestEvent::Refused { order, .. }) => {
                return order.and_then(account_of).is_none_or(may_see);
            }
            OrderEvent::Request(RequestEvent::MassCancelTaken { filter, .. }) => {
                let account = filter.account.map(|it| state.accounts().name(it));
                return account.is_none_or(may_see);
            }
            OrderEvent::Request(RequestEvent::MassCancelRefused { .. }) => return true,
            OrderEvent::Order(LifecycleEvent::Declined { .. }) => before.order(),
            OrderEvent::Setup(_)
            | OrderEvent::Day(_)
            | OrderEvent::Line(_)
            | OrderEvent::Limit(_)
            | OrderEvent::Reload(_)
            | OrderEvent::Pool(_)
            | OrderEvent::Request(_)
            | OrderEvent::Order(_)
            | OrderEvent::Remade(_)
            | OrderEvent::Stray(_)
            | OrderEvent::Condition(_)
            | OrderEvent::Parent(_)
            | OrderEvent::Quote(_)
            | OrderEvent::Inquiry(_)
            | OrderEvent::Rejected(_)
            | OrderEvent::Copy(_)
            | OrderEvent::Spread(_)
            | OrderEvent::Break(_)
            | OrderEvent::Undo(_) => clients::order_of(event, before),
        };
        order.and_then(account_of).is_some_and(may_see)
    }

    fn write(&mut self, event: &OrderEvent<'_>, cause: &[u8], batch: &mut ReportBatch) {
        let wanted: &[u8] = match event {
            OrderEvent::Request(RequestEvent::Refused { kind: None, .. }) => b"D",
            OrderEvent::Request(RequestEvent::MassCancelTaken { .. })
            | OrderEvent::Request(RequestEvent::MassCancelRefused { .. }) => b"q",
            OrderEvent::Setup(_)
            | OrderEvent::Day(_)
            | OrderEvent::Line(_)
            | OrderEvent::Limit(_)
            | OrderEvent::Reload(_)
            | OrderEvent::Pool(_)
            | OrderEvent::Request(_)
            | OrderEvent::Order(_)
            | OrderEvent::Remade(_)
            | OrderEvent::Stray(_)
            | OrderEvent::Condition(_)
            | OrderEvent::Parent(_)
            | OrderEvent::Quote(_)
            | OrderEvent::Inquiry(_)
            | OrderEvent::Rejected(_)
            | OrderEvent::Copy(_)
            | OrderEvent::Spread(_)
            | OrderEvent::Break(_)
            | OrderEvent::Undo(_) => b"",
        };
        let cause = match wanted.is_empty() || self.request.securities.is_empty() {
            true => cause,
            false => with_symbol(
                &self.request.securities,
                &mut self.decoder,
                cause,
                &mut self.named,
            ),
        };
        let message = self.decoder.decode_whole(cause);
        let asked = Some(&message).filter(|it| !wanted.is_empty() && it.msg_type() == wanted);
        let client = self.request.client;
        reports::report(
            &self.state,
            event,
            &self.before,
            asked,
            client,
            &mut self.outbox,
        );
        let (settings, dictionaries) = (&self.request.settings, &self.request.dictionaries);
        if let Some(venue) = VenueFields::of(&message, &self.state, settings, dictionaries)
            && venue.is_of(event, &self.before)
        {
            let receiver = ReportReader {
                session: client.session,
                version: client.version,
                dictionary: &self.request.dictionary,
            };
            let converter = &mut self.request.converter;
            self.outbox.rewrite(0, &mut self.body, |entry, old, new| {
                if venue.is_in(entry.msg_type()) {
                    venue.write(event, receiver, old, converter, new, |_| {});
                }
            });
        }
        for index in self.outbox.unsealed() {
            // The status of a quote has no event number, so it is not sent again.
            if let [msg_type @ (b'8' | b'9' | b'r')] = *self.outbox.msg_type(index) {
                batch.push(msg_type, self.outbox.body(index));
            }
        }
        self.outbox.clear();
    }
}

/// A request with Symbol(55), as the OMS handled it.
fn with_symbol<'a>(
    securities: &SecurityIndex,
    decoder: &mut Decoder,
    request: &'a [u8],
    named: &'a mut Vec<u8>,
) -> &'a [u8] {
    let message = decoder.decode_whole(request);
    let symbol = symbol_by_id(securities, &message).filter(|_| symbol_of(&message).is_none());
    let Some(symbol) = symbol else {
        return request;
    };
    named.clear();
    write_with_symbol(&message, symbol.as_bytes(), named);
    named
}
