//! Price inquiries. A client asks the market makers of a venue for a quote, and the venue accepts or refuses the
//! request.
//!
//! ```text
//!   QuoteRequest(R) > rights, kill switch, market, line > Inquired: R over FIX, R07 over TMP
//!   AI, b, AG, S, j over FIX, R08 or R03 over TMP, or nothing for 30 s > InquiryAnswered
//! ```
//!
//! The quotes of the market makers go to the market, not to the client who asked.

use fixwire_protocol::{Decimal, Nanos};

use crate::decide::core::{Core, Sink};
use crate::state::event::{InquiryEvent, LifecycleEvent, OrderEvent, QuoteEvent};
use crate::state::inquiries::{Inquiry, InquiryKey};
use crate::values::form::Written;
use crate::values::ids::{AccountNo, InstrumentNo, Party, PoolNo, SessionNo};
use crate::values::reason::{Reason, Why};
use crate::values::scope::Scope;
use crate::values::units::units;
use crate::values::value::{Market, Number, Quantity, Side, Trading};

/// Maximum number of inquiries of a session that wait for their answer.
const MOST: usize = 16;
/// How long the OMS waits for the venue's answer, in nanoseconds.
const PATIENCE: i64 = 30_000_000_000;

/// QuoteRequest(R); `None` for values that could not be read.
#[derive(Clone, Copy, Debug)]
pub struct NewInquiry<'a> {
    /// The client's session, by its number in the state.
    pub session: SessionNo,
    /// QuoteReqID(131).
    pub id: &'a [u8],
    /// Account(1); empty for none.
    pub account: &'a [u8],
    /// Symbol(55).
    pub symbol: &'a [u8],
    /// Side(54), when it is supported.
    pub side: Option<Side>,
    /// OrderQty(38).
    pub quantity: Option<Decimal>,
    /// Whether the inquiry has further symbols, which the OMS does not support.
    pub has_more: bool,
}

impl NewInquiry<'_> {
    /// Maximum length of QuoteReqID(131), in bytes.
    pub const ID_MOST: usize = InquiryKey::MOST;
}

/// An inquiry that passed the checks and may be sent.
struct Accepted {
    instrument: InstrumentNo,
    line: SessionNo,
    quantity: Quantity,
    /// The pool, the number taken from it, and the number as text.
    number: Option<(PoolNo, u64, Written)>,
}

impl Core {
    /// Handles a price inquiry of a client: sends it at once, or refuses it.
    pub fn new_inquiry(&mut self, at: i64, inquiry: &NewInquiry<'_>, sink: &mut impl Sink) {
        let (session, id) = (inquiry.session, inquiry.id);
        let accepted = match self.accept_inquiry(at, inquiry) {
            Ok(accepted) => accepted,
            Err(reason) => {
                let event = OrderEvent::Quote(QuoteEvent::QuoteRefused {
                    session,
                    kind: b'R',
                    id,
                    reason,
                });
                return self.emit(at, &event, sink);
            }
        };
        let Accepted {
            instrument,
            line,
            quantity,
            number,
        } = accepted;
        let (pool, index, text) = match &number {
            Some((pool, index, text)) => (Some(*pool), *index, text.bytes()),
            None => (None, 0, &b""[..]),
        };
        let event = OrderEvent::Inquiry(InquiryEvent::Inquired {
            inquiry: self.state.last + 1,
            session,
            instrument,
            line,
            side: inquiry.side,
            quantity,
            pool,
            number: index,
            order_no: text,
            id,
        });
        self.emit(at, &event, sink);
        // The inquiry counts for the rate limit of the venue session, like other messages.
        let order = 0;
        let counted = OrderEvent::Order(LifecycleEvent::Asked { order, line, at });
        self.lines.note(&self.state, &counted);
        if let Some(pool) = pool {
            self.look_at_pool(at, pool, sink);
        }
    }

    fn accept_inquiry(&self, at: i64, new: &NewInquiry<'_>) -> Result<Accepted, Reason> {
        let state = &self.state;
        let refused = |why| Err(Reason::of(why));
        if state.has_inquired(new.session, new.id) {
            return refused(Why::Duplicate);
        }
        if state.violations() > 0 {
            return refused(Why::Incomplete);
        }
        if self.work.ends_day() {
            return refused(Why::DayEnds);
        }
        let account = self.inquiring(new)?;
        if new.has_more {
            return refused(Why::InquirySymbols);
        }
        let instrument = state.instruments().find(new.symbol);
        let instrument = instrument.ok_or(Reason::of(Why::Symbol))?;
        self.rule(instrument)?;
        let quantity = match new.quantity {
            Some(quantity) => units(quantity, state.scales(instrument).quantity)?,
            None => 0,
        };
        let party = Party {
            session: Some(new.session),
            account,
            instrument: Some(instrument),
        };
        let scopes = state.standings(party);
        let mut scopes = scopes.all().iter();
        let killed = scopes.find(|(_, it)| it.limits.trading == Trading::Killed);
        if let Some((scope, _)) = killed {
            return Err(Reason {
                scope: *scope,
                ..Reason::of(Why::Killed)
            });
        }
        if matches!(state.market(instrument), Market::Halted | Market::Closed) {
            return refused(Why::Market);
        }
        let waiting = state.quotes.inquiries.of_session(new.session);
        if waiting >= MOST {
            return Err(Reason {
                scope: Scope::Session(new.session),
                value: waiting as i128 + 1,
                limit: MOST as i128,
                ..Reason::of(Why::Inquiries)
            });
        }
        let line = self.line_for_inquiry(at, instrument, party)?;
        let number = self.number_of_inquiry(new.session, instrument, line)?;
        Ok(Accepted {
            instrument,
            line,
            quantity,
            number,
        })
    }

    /// The account of an inquiry; `None` if the inquiry names no account. Fails when the session has no right to
    /// inquire for the account, or has no right to inquire without an account.
    fn inquiring(&self, new: &NewInquiry<'_>) -> Result<Option<AccountNo>, Reason> {
        let user = self.user(new.session)?;
        let default = user.default_account.as_ref();
        let account = match (new.account, default) {
            (b"", Some(default)) => default.as_bytes(),
            (account, _) => account,
        };
        if account.is_empty() {
            let mut rights = user.rights.iter();
            let is_allowed = rights.any(|it| it.inquiry);
            return is_allowed
                .then_some(None)
                .ok_or(Reason::of(Why::NotAllowed));
        }
        let rights = user.rights(account);
        if !rights.map_or_else(|| user.may_always(|it| it.inquiry), |it| it.inquiry) {
            return Err(Reason::of(Why::NotAllowed));
        }
        let known = self.state.accounts().find(account);
        let known = known.filter(|_| rights.is_some());
        known.map(Some).ok_or(Reason::of(Why::Account))
    }

    /// A session that can send the inquiry now. An inquiry is never queued, and is not sent while messages are queued
    /// for the session.
    fn line_for_inquiry(
        &self,
        at: i64,
        instrument: InstrumentNo,
        party: Party,
    ) -> Result<SessionNo, Reason> {
        let group = self
            .lines
            .group(instrument)
            .ok_or(Reason::of(Why::NoRoute))?;
        if !self.lines.groups[group].orders.is_empty() {
            return Err(Reason::of(Why::Busy));
        }
        let leaving = |line| self.work.is_leaving(line);
        let line = self.lines.choose(&self.state, at, group, party, leaving);
        line.map_err(|(why, _)| Reason::of(why))
    }

    /// The order_no of an inquiry over TMP; `None` over FIX, which needs no order_no.
    fn number_of_inquiry(
        &self,
        session: SessionNo,
        instrument: InstrumentNo,
        line: SessionNo,
    ) -> Result<Option<(PoolNo, u64, Written)>, Reason> {
        let pool = self.pools.of(session, self.lines.group(instrument));
        let Some(pool) = pool.filter(|_| self.speaks_tmp(line)) else {
            return Ok(None);
        };
        let number = self.next_number(pool).ok_or(Reason {
            value: pool.place().into(),
            ..Reason::of(Why::NoNumber)
        })?;
        Ok(Some((pool, number.0, number.1)))
    }

    /// Handles the venue's answer to an inquiry: accepted, or refused for a reason. Returns false when no such inquiry
    /// waits on the line.
    pub(crate) fn inquiry_answered(
        &mut self,
        at: i64,
        line: SessionNo,
        inquiry: Number,
        reason: Option<Reason>,
        text: &[u8],
        sink: &mut impl Sink,
    ) -> bool {
        let known = self.state.quotes.inquiries.get(inquiry);
        let Some(known) = known.filter(|it| it.line == line).cloned() else {
            return false;
        };
        let Inquiry {
            session,
            instrument,
            ref id,
            ..
        } = known;
        let event = OrderEvent::Inquiry(InquiryEvent::InquiryAnswered {
            inquiry,
            session,
            instrument,
            reason,
            id: id.bytes(),
            text,
        });
        self.emit(at, &event, sink);
        true
    }

    /// Whether an inquiry with this QuoteReqID(131) of the OMS still waits for its answer. Its message may then be
    /// resent.
    pub(crate) fn inquires(&self, id: &[u8]) -> bool {
        let number = fixwire_protocol::value::uint(id).ok();
        number.is_some_and(|number| self.state.quotes.inquiries.get(number).is_some())
    }

    /// Refuses an inquiry that the venue does not answer in time. Over TMP, also refuses an inquiry whose line is
    /// disconnected, because TMP does not resend inquiries.
    pub(crate) fn due_inquiries(&mut self, at: i64, sink: &mut impl Sink) -> Option<Nanos> {
        if self.state.quotes.inquiries.is_empty() {
            return None;
        }
        let mut next = i64::MAX;
        let mut lost = None;
        for (number, inquiry) in self.state.quotes.inquiries.iter() {
            let line = inquiry.line;
            let due = inquiry.at.saturating_add(PATIENCE);
            let is_down = !self.state.is_ready(line) && self.speaks_tmp(line);
            if is_down || due <= at || !self.is_line(line) {
                lost = Some((line, number));
                break;
            }
            next = next.min(due);
        }
        let Some((line, inquiry)) = lost else {
            return Some(Nanos((next - at).unsigned_abs()));
        };
        let reason = Some(Reason::of(Why::InquiryLost));
        self.inquiry_answered(at, line, inquiry, reason, b"", sink);
        Some(Nanos(0))
    }
}
