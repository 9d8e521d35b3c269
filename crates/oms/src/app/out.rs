//! Output of events: journal notes, reports to clients, orders and requests to venues.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_ledger::{Pen, Wire as _};
use fixwire_protocol::{Message, Outbox, Tag};

use super::OmsSession;
use crate::app::market_watches::MarketWatches;
use crate::decide::core::{Core, Sink};
use crate::decide::venue::VenueId;
use crate::decide::venue::strays::{DoubtfulUndo, undo_doubt};
use crate::desk::notice::{OmsEvent, OmsListener};
use crate::fix::before::Before;
use crate::fix::carried::{ConvertedFields, LineContract, count_dropped};
use crate::fix::clients::{self, Client};
use crate::fix::lines::{self, RequestForm, VenueLine};
use crate::fix::names::{MissingTags, NamingLine, VenueNameIndex};
use crate::fix::reports;
use crate::fix::venue_fields::{ReportReader, VenueFields};
use crate::state::OmsState;
use crate::state::apply::fill_time::traded;
use crate::state::event::{
    BreakEvent, CopyEvent, DayEvent, InquiryEvent, LifecycleEvent, LimitEvent, LineEvent,
    OrderEvent, Outgoing, PoolEvent, QuoteEvent, ReloadEvent, RequestEvent, SentInquiry,
    SetupEvent, SpreadEvent, StrayEvent, UndoEvent,
};
use crate::state::roll::{open_at_venues, unconfirmed_at_venues};
use crate::state::show::scope_name;
use crate::state::tag_counts::{ContractOf, TagCounts};
use crate::tmp::TmpLines;
use crate::values::canary::{self, OmsPlantedFault};
use crate::values::fields::conversion::FieldConverter;
use crate::values::ids::{SessionNo, Table};
use crate::values::limits::RiskControl;
use crate::values::rules::{UserRule, matches};
use crate::values::show::figure;
use crate::values::value::{End, MassEnd, Number, RequestKind};

use super::texts::Languages;

/// The sessions and links to which messages are sent.
#[derive(Default)]
pub(super) struct Links {
    /// The engine session of each state session that speaks FIX.
    pub clients: Table<SessionNo, Option<Client>>,
    /// The contract of each line whose group names fields; empty when no group does.
    pub contracts: Table<SessionNo, Option<LineContract>>,
    /// By line: the fields of the order that a cancel and a status request of the OMS repeat, in this order.
    pub whose: Table<SessionNo, [Vec<Tag>; 2]>,
    /// By line: the OMS's own fields in requests, in the form of the line's dictionary.
    pub forms: Table<SessionNo, RequestForm>,
    /// Converts the carried fields of requests to lines of other FIX versions, and the fields of venues' reports.
    pub converter: FieldConverter,
    /// The converted fields of the requests that are being sent.
    pub converted: ConvertedFields,
    /// By line: the tags of names at the venue that the line's dictionary does not have in a request.
    pub not_named: Table<SessionNo, MissingTags>,
    /// By line: finds the instruments and accounts of the OMS that messages on the line name.
    pub venue_names: BTreeMap<SessionNo, VenueNameIndex>,
    pub tmp: TmpLines,
    /// Subscriptions of clients to the state of a market.
    pub watches: MarketWatches,
}

/// The events whose note, reports and messages to venues the OMS writes into the outbox.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) enum WrittenEvents {
    #[default]
    All,
    /// Only rejects of orders and requests: a trial reads nothing else, and its OMS has no journal and no sessions.
    Rejects,
}

impl WrittenEvents {
    #[inline]
    fn has(self, event: &OrderEvent<'_>) -> bool {
        self == Self::All
            || matches!(
                event,
                OrderEvent::Request(RequestEvent::Refused { .. })
                    | OrderEvent::Order(
                        LifecycleEvent::Rejected { .. }
                            | LifecycleEvent::Declined { .. }
                            | LifecycleEvent::Ended {
                                how: End::Rejected,
                                ..
                            }
                    )
            )
    }
}

/// Output of events.
pub(super) struct Out<'a> {
    pub outbox: &'a mut Outbox,
    pub written: WrittenEvents,
    pub note: &'a mut Vec<u8>,
    pub before: &'a mut Before,
    pub links: &'a mut Links,
    pub copies: &'a [(Client, Vec<String>)],
    pub watchers: &'a [(Client, UserRule)],
    /// Languages of clients; `None` when all texts are English.
    pub languages: Option<&'a mut Languages>,
    /// Fields of the venue's report that is being handled, if clients get some of them.
    pub venue: Option<VenueWords<'a>>,
    /// Counts the fields of requests that contracts drop.
    pub dropped: &'a mut BTreeMap<(ContractOf, Tag), u64>,
    /// The client message being handled.
    pub message: Option<&'a Message<'a>>,
    pub listener: &'a mut OmsListener,
}

/// Fields of a venue's report for clients and drop copies.
pub(super) struct VenueWords<'a> {
    pub fields: VenueFields<'a>,
    /// Engine sessions.
    pub sessions: &'a [OmsSession],
    /// Buffer in which a body is written.
    pub body: &'a mut Vec<u8>,
    /// Counts the fields that a receiver cannot get.
    pub dropped: &'a mut TagCounts,
}

static NO_TAGS: [Vec<Tag>; 2] = [Vec::new(), Vec::new()];
static NONE_MISSING: MissingTags = MissingTags([const { Vec::new() }; 5]);

impl VenueWords<'_> {
    /// Adds the fields to the reports of an event, from entry `from` of the outbox on.
    #[cold]
    fn add(
        &mut self,
        event: &OrderEvent<'_>,
        before: &Before,
        from: usize,
        converter: &mut FieldConverter,
        outbox: &mut Outbox,
    ) {
        if !self.fields.is_of(event, before) {
            return;
        }
        let Self {
            fields,
            sessions,
            body,
            dropped,
        } = self;
        let without_room = outbox.rewrite(from, body, |entry, old, new| {
            let session = sessions.get(entry.session.0 as usize);
            if let Some(session) = session.filter(|_| fields.is_in(entry.msg_type())) {
                let receiver = ReportReader {
                    session: entry.session,
                    version: session.version,
                    dictionary: &session.dictionary,
                };
                let left = |tag| dropped.add(tag);
                fields.write(event, receiver, old, converter, new, left);
            }
        });
        for _ in 0..without_room {
            fields.tags().for_each(|tag| dropped.add(tag));
        }
    }
}

impl Sink for Out<'_> {
    fn happens(&mut self, state: &OmsState, event: &OrderEvent<'_>) {
        self.before.note(state, event);
    }

    #[cold]
    fn happened_after_totals(&mut self, state: &OmsState, event: &OrderEvent<'_>) {
        for total in state.totals_with(event) {
            (self.listener)(OmsEvent::FillInTotal {
                order: traded(event).unwrap_or_default(),
                account: state.accounts().name(total.account),
                symbol: state.instruments().name(total.instrument),
                file: &total.file,
            });
        }
    }

    fn happened(&mut self, state: &OmsState, event: &OrderEvent<'_>) {
        if !self.written.has(event) {
            return;
        }
        self.note.clear();
        let pen = &mut Pen::new(self.note);
        state.time().put(pen);
        event.put_with(pen);
        // The outbox has room: that was checked before the first event.
        let noted = match canary::is(OmsPlantedFault::SkipNote) && state.events().is_multiple_of(5)
        {
            true => Ok(()),
            false => self.outbox.note(pen.whole()),
        };
        // A state that is ahead of its notes must not be used any more: the next start recovers from the notes.
        assert!(noted.is_ok(), "no room for the note of {event:?}");
        let (line, sent) = match *event {
            OrderEvent::Request(RequestEvent::Sent { line, number }) => {
                (line, Outgoing::Request(number))
            }
            OrderEvent::Order(LifecycleEvent::Asked { line, order, .. }) => {
                (line, Outgoing::Status(order))
            }
            OrderEvent::Line(LineEvent::MassAsked { line, at }) => {
                (line, Outgoing::MassStatus { at })
            }
            OrderEvent::Inquiry(InquiryEvent::Inquired {
                line,
                inquiry: number,
                session,
                instrument,
                side,
                quantity,
                order_no,
                ..
            }) => {
                let inquiry = SentInquiry {
                    number,
                    session,
                    instrument,
                    side,
                    quantity,
                    order_no,
                };
                (line, Outgoing::Inquiry(inquiry))
            }
            OrderEvent::Quote(QuoteEvent::QuoteSent { line, order }) => {
                (line, Outgoing::Quote(order))
            }
            OrderEvent::Stray(StrayEvent::StrayCancelled {
                line,
                order,
                former,
                request,
            }) => {
                (self.listener)(OmsEvent::LiveAfterEnd { order, former });
                let sent = Outgoing::StrayCancel {
                    order,
                    former,
                    request,
                };
                (line, sent)
            }
            OrderEvent::Limit(LimitEvent::Trading {
                scope, who, why, ..
            }) if who == Core::GUARD => {
                let scope = &scope_name(state, scope);
                return (self.listener)(OmsEvent::Killed { scope, why });
            }
            OrderEvent::Limit(LimitEvent::Limit {
                scope,
                control,
                value,
                who: Core::GUARD,
                why: Core::LIMIT_ENDED,
                ..
            }) => {
                let scope = &scope_name(state, scope);
                let control = RiskControl::of(control);
                let digits = control.map_or(0, |it| it.unit().digits());
                let limit = value.map(|value| figure(value, digits));
                let control = control.map_or("", RiskControl::code);
                return (self.listener)(OmsEvent::LimitEnded {
                    scope,
                    control,
                    limit: limit.as_deref().unwrap_or("none"),
                });
            }
            OrderEvent::Setup(SetupEvent::Market { .. })
            | OrderEvent::Copy(CopyEvent::VenueMarket { .. }) => {
                return self.links.watches.changed();
            }
            OrderEvent::Pool(PoolEvent::NumbersLow { pool, left }) => {
                let pool = state.pool_names.name(pool);
                return (self.listener)(OmsEvent::NumbersLow { pool, left });
            }
            OrderEvent::Copy(CopyEvent::CopyBroken {
                kind, order, text, ..
            }) => {
                let number = state.events();
                return (self.listener)(OmsEvent::CopyBreak {
                    number,
                    kind,
                    order,
                    text,
                });
            }
            OrderEvent::Break(BreakEvent::BreakAlarmed { number }) => {
                if let Some(found) = state.breaks.get(number) {
                    (self.listener)(OmsEvent::VenueBreak {
                        number,
                        kind: found.kind,
                        order: found.order,
                        ours: found.ours.bytes(),
                        venue: found.venue.bytes(),
                    });
                }
                return;
            }
            OrderEvent::Reload(ReloadEvent::Reloaded { who, back, .. }) => {
                return (self.listener)(OmsEvent::Reloaded { who, back });
            }
            OrderEvent::Reload(ReloadEvent::ReloadAsked { who, .. }) => {
                return (self.listener)(OmsEvent::ReloadAsked { who });
            }
            OrderEvent::Order(LifecycleEvent::ForeignReport { line, order, text }) => {
                let line = state.sessions().name(line);
                return (self.listener)(OmsEvent::ForeignReport { line, order, text });
            }
            OrderEvent::Line(LineEvent::MassAnswered { line, how, orders }) => {
                if orders > 0 || how != MassEnd::Complete {
                    let line = state.sessions().name(line);
                    (self.listener)(OmsEvent::MassAnswered { line, how, orders });
                }
                return;
            }
            OrderEvent::Order(LifecycleEvent::LapseCancelled { order, line }) => {
                let line = state.sessions().name(line);
                return (self.listener)(OmsEvent::LapseCancelled { line, order });
            }
            OrderEvent::Order(LifecycleEvent::NoAnswer { request }) => {
                return self.no_answer(state, request);
            }
            OrderEvent::Day(ref event) => return self.day(state, event),
            OrderEvent::Spread(SpreadEvent::LegsMissing { order }) => {
                return (self.listener)(OmsEvent::LegsMissing { order });
            }
            OrderEvent::Stray(StrayEvent::StrayFill { id, effect, .. }) => {
                let (number, nets) = (state.events(), effect.is_none());
                let order = VenueId::parse(id).and_then(|it| state.orders().get(it.order));
                return (self.listener)(OmsEvent::StrayFill {
                    number,
                    id,
                    nets,
                    is_known: order.is_some(),
                });
            }
            OrderEvent::Stray(StrayEvent::StrayUndo {
                line,
                order,
                of,
                instrument,
                side,
                id,
                fill,
                ..
            }) => {
                let doubtful = DoubtfulUndo {
                    line,
                    order,
                    of,
                    instrument,
                    side,
                };
                let doubt = undo_doubt(state, &doubtful);
                let number = state.events();
                return (self.listener)(OmsEvent::StrayUndo {
                    number,
                    id,
                    fill,
                    doubt,
                });
            }
            OrderEvent::Stray(StrayEvent::Recalled { .. }) => return,
            OrderEvent::Order(LifecycleEvent::Filled { order, .. })
                if state
                    .orders()
                    .get(order)
                    .is_some_and(|it| it.filled > it.quantity || is_late(state, order)) =>
            {
                (self.listener)(match is_late(state, order) {
                    true => OmsEvent::LateFill { order },
                    false => OmsEvent::Overfilled { order },
                });
                return self.report(state, event);
            }
            OrderEvent::Undo(UndoEvent::Corrected { order, .. })
                if state
                    .orders()
                    .get(order)
                    .is_some_and(|it| it.filled > it.quantity) =>
            {
                (self.listener)(OmsEvent::Overfilled { order });
                return self.report(state, event);
            }
            OrderEvent::Setup(_)
            | OrderEvent::Line(_)
            | OrderEvent::Limit(_)
            | OrderEvent::Pool(_)
            | OrderEvent::Request(_)
            | OrderEvent::Order(_)
            | OrderEvent::Remade(_)
            | OrderEvent::Condition(_)
            | OrderEvent::Parent(_)
            | OrderEvent::Quote(_)
            | OrderEvent::Inquiry(_)
            | OrderEvent::Rejected(_)
            | OrderEvent::Copy(_)
            | OrderEvent::Spread(_)
            | OrderEvent::Break(_)
            | OrderEvent::Undo(_) => return self.report(state, event),
        };
        if let Some(&Some(link)) = self.links.clients.get(line) {
            if self.links.converter.has_versions() && !state.carried.is_empty() {
                let Links {
                    converter,
                    converted,
                    ..
                } = &mut *self.links;
                converted.find(state, &sent, line, converter);
            }
            let link = VenueLine {
                session: link.session,
                version: link.version,
                contract: self.links.contracts.get(line).and_then(Option::as_ref),
                whose: self.links.whose.get(line).map_or(&NO_TAGS, |it| it),
                form: self.links.forms.get(line).copied().unwrap_or_default(),
                converted: &self.links.converted,
                names: NamingLine {
                    number: line,
                    missing: self.links.not_named.get(line).unwrap_or(&NONE_MISSING),
                },
            };
            if let Some(contract) = link.contract.filter(|_| !state.carried.is_empty()) {
                count_dropped(state, &sent, contract, link.converted, self.dropped);
            }
            lines::send(state, &sent, link, self.outbox);
            self.links.converted.clear();
        } else if !self.links.tmp.send(state, &sent, line) {
            let (line, number) = (state.sessions().name(line), sent.number());
            (self.listener)(OmsEvent::NotSendable { line, number });
        }
    }
}

/// Whether the last fill of an order arrived after the order had ended in another way than by fills.
fn is_late(state: &OmsState, order: u64) -> bool {
    let end = state.end_of(order);
    end.is_some_and(|how| how != crate::End::Filled)
}

impl Out<'_> {
    /// Reports a request that the venue has not answered.
    #[cold]
    fn no_answer(&mut self, state: &OmsState, request: Number) {
        if let Some((known, order)) = state.orders().request(request) {
            let is_cancel = known.kind == RequestKind::Cancel;
            let (order, was_asked) = (order.number, order.asked > 0);
            (self.listener)(OmsEvent::NoAnswer {
                order,
                request,
                is_cancel,
                was_asked,
            });
        }
    }

    /// Sends copies of the reports of an order to the sessions that receive drop copies.
    fn copy(&mut self, state: &OmsState, event: &OrderEvent<'_>) {
        if self.copies.is_empty() {
            return;
        }
        let order = clients::order_of(event, self.before);
        let Some(order) = order.and_then(|order| state.orders().get(order)) else {
            return;
        };
        // A parent order is at no venue: only its children are.
        if state.families.is_parent(order.number) {
            return;
        }
        let account = state.accounts().name(order.account);
        for (client, accounts) in self.copies {
            if accounts.iter().any(|pattern| matches(pattern, account)) {
                reports::report(state, event, self.before, None, *client, self.outbox);
            }
        }
    }

    /// Reports an order placed elsewhere to the clients that may see it.
    #[cold]
    fn external(&mut self, state: &OmsState, event: &OrderEvent<'_>) {
        let order = clients::order_of(event, self.before);
        let order = order.and_then(|order| state.orders().get(order));
        let Some(order) = order.filter(|order| order.is_external()) else {
            return;
        };
        let account = state.accounts().name(order.account);
        for (client, user) in self.watchers {
            if user.rights(account).is_some_and(|rights| rights.reports) {
                reports::report(state, event, self.before, None, *client, self.outbox);
            }
        }
    }

    /// Raises the events about the trading day.
    #[cold]
    fn day(&mut self, state: &OmsState, event: &DayEvent<'_>) {
        match *event {
            DayEvent::DayAsked { date, who, .. } => {
                let (from, open) = (state.day(), &open_at_venues(state, date));
                (self.listener)(OmsEvent::DayAsked {
                    from,
                    day: date,
                    who,
                    open,
                });
            }
            DayEvent::Day { date, .. } => {
                // The first day of a new journal raises no event.
                if state.last > 0 {
                    let unconfirmed = &unconfirmed_at_venues(state);
                    (self.listener)(OmsEvent::DayStarted {
                        day: date,
                        unconfirmed,
                    });
                }
            }
            DayEvent::DayBack { date, who, .. } => {
                (self.listener)(OmsEvent::DayBack { day: date, who });
            }
            DayEvent::NumbersAfter { .. } => {}
        }
    }

    fn report(&mut self, state: &OmsState, event: &OrderEvent<'_>) {
        let written = self.outbox.entries().len();
        self.report_in_english(state, event);
        if let Some(venue) = &mut self.venue {
            let converter = &mut self.links.converter;
            venue.add(event, self.before, written, converter, self.outbox);
        }
        if let Some(languages) = &mut self.languages {
            languages.translate(written, self.outbox);
        }
    }

    #[inline(always)]
    fn report_in_english(&mut self, state: &OmsState, event: &OrderEvent<'_>) {
        self.copy(state, event);
        let session = clients::session_of(state, event, self.before);
        let client = session.and_then(|index| self.links.clients.get(index));
        let Some(&Some(client)) = client else {
            if !self.watchers.is_empty() {
                self.external(state, event);
            }
            return;
        };
        reports::report(state, event, self.before, self.message, client, self.outbox);
    }
}
