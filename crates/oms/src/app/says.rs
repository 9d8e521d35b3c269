//! Handles messages of clients and venues.

use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Field, Indexed, Message, Now, Outbox, Refusal, SessionId, tag, value};

use super::Oms;
use super::requests::names;
use crate::decide::core::{Core, Sink};
use crate::decide::venue::rejects::VenueReject;
use crate::decide::venue::{ReportKind, ReportOutcome, TEXT_MOST, VenueId, VenueReport, cut};
use crate::desk::notice::{OmsEvent, ignored};
use crate::fix::lines::HashedExecs;
use crate::fix::mass::Listing;
use crate::fix::{inquiries, lines, markets, mass, prices, spreads, status};
use crate::state::client_rate::Passage;
use crate::state::mass_status::MassReport;
use crate::values::fields::contract::Treatment;
use crate::values::fields::field_table::{Glance, report_bit};
use crate::values::ids::SessionNo;
use crate::values::rules::RejectCode;
use crate::values::units::scaled;
use crate::values::value::{Number, RequestKind};

impl Oms {
    /// Checks a client's request against the client's rate limit. A request above the limit is rejected; a client with
    /// too many rejects is logged out.
    pub(super) fn admit(
        &mut self,
        at: i64,
        session: SessionId,
        index: SessionNo,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        match self.rates.request(index, at) {
            Passage::Taken => return Ok(()),
            Passage::Rejected => {}
            Passage::LoggedOut(rate) => {
                outbox.log_out(session, &rate.logout_text());
                let session = &self.sessions[session.0 as usize].name;
                (self.listener)(OmsEvent::LoggedOut { session, rate });
            }
        }
        Err(Refusal::ThrottleLimitExceeded)
    }

    pub(super) fn client_says(
        &mut self,
        at: i64,
        from: SessionId,
        index: SessionNo,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        if let Some(symbol) = names::unnamed(self, message) {
            return names::with_symbol(self, message, symbol, |oms, message| {
                oms.client_says(at, from, index, message, outbox)
            });
        }
        match message.msg_type() {
            b"D" => return self.new_order_asked(at, index, message, outbox),
            b"G" | b"F" => return self.change_asked(at, index, message, outbox),
            b"q" => return self.mass_cancel_asked(at, index, message, outbox),
            b"S" | b"Z" | b"R" => return self.quote_asked(at, index, message, outbox),
            b"c" | b"x" | b"e" | b"g" | b"H" | b"AF" | b"BW" => {
                self.all_fields_count(index, message)?;
            }
            _ => {}
        }
        match message.msg_type() {
            b"c" | b"x" => return self.securities_asked(from, index, message),
            b"e" | b"g" => return self.market_asked(index, message, outbox),
            b"H" => return self.status(index, message, outbox),
            b"AF" => return self.mass_status(index, message),
            b"BW" => return self.reports_asked(from, index, message, outbox),
            b"8" | b"9" | b"j" if self.core.state().copies.is_source(index) => {
                return names::in_own_names(self, index, message, |oms, message| {
                    oms.copy_says(at, from, index, message, outbox)
                });
            }
            b"W" | b"X" if self.gives_prices(index) => self.prices(at, index, message, outbox),
            _ => return Err(Refusal::UnsupportedMessageType),
        }
        Ok(())
    }

    /// Refuses a request that the OMS answers itself, if the request has a field that the OMS would ignore.
    fn all_fields_count(&mut self, index: SessionNo, message: &Message<'_>) -> Result<(), Refusal> {
        // The table of fields lets pass what the request uses.
        let contract = self.core.user(index).ok().map(|user| &user.contract);
        let refuses = |field: &&Field| {
            contract.is_some_and(|it| matches!(it.of(field.tag), Some(Treatment::Refuse)))
        };
        let refused = message.fields().iter().find(refuses).map(|it| it.tag);
        match refused.or_else(|| self.not_carried(index, message)) {
            Some(tag) => Err(Refusal::FieldNotSupported(tag)),
            None => Ok(()),
        }
    }

    /// Whether a session provides market prices.
    pub(super) fn gives_prices(&self, index: SessionNo) -> bool {
        let name = self.core.state().sessions().name(index);
        let mut sessions = self.rules().market_data.iter();
        sessions.any(|session| session.as_bytes() == name)
    }

    /// Handles market data. At most eight prices trigger orders in the same turn; further prices trigger orders in the
    /// next turns.
    fn prices(&mut self, at: i64, index: SessionNo, message: &Message<'_>, outbox: &mut Outbox) {
        const MOST: usize = 8;
        let (core, mut out) = self.parts(outbox, None);
        prices::each(message, &mut |symbol, field, price| {
            let Some(instrument) = core.state().instruments().find(symbol) else {
                return;
            };
            let scale = core.state().scale(instrument);
            match price.map(|price| scaled(price, scale)) {
                Some(Ok(price)) => core.set_price(instrument, field, Some(price), Some(index)),
                // The price is unknown, or has more decimals than prices of the instrument.
                None | Some(Err(_)) => core.set_price(instrument, field, None, Some(index)),
            }
        });
        core.touch_all(at, MOST, &mut out);
    }

    /// Handles the venue's answer to a status request. The client that requested the status gets the present state of
    /// the order.
    #[cold]
    fn status_answered(&mut self, number: Number, outbox: &mut Outbox) {
        let Some(at) = self.status_waits.iter().position(|it| *it == number) else {
            return;
        };
        self.status_waits.swap_remove(at);
        let state = self.core.state();
        let order = state.orders().get(number);
        let client = order.and_then(|order| {
            let client = self.links.clients.get(order.session);
            client.copied().flatten()
        });
        if let (Some(order), Some(client)) = (order, client) {
            status::answer(state, order, client, outbox);
        }
    }

    /// Stores a mass status request; the OMS answers it when no other work is pending.
    fn mass_status(&mut self, index: SessionNo, message: &Message<'_>) -> Result<(), Refusal> {
        /// Maximum number of pending mass status requests of a session.
        const MOST: usize = 4;
        let Some(Some(client)) = self.links.clients.get(index) else {
            return Err(Refusal::NotAuthorized);
        };
        let account = message.get(tag::ACCOUNT).unwrap_or_default();
        let account = self.core.state().accounts().find(account);
        if !self.core.may_with_all(index, account, |it| it.status) {
            return Err(Refusal::NotAuthorized);
        }
        let own = self.listings.iter();
        if own.filter(|it| it.session() == client.session).count() == MOST {
            return Err(Refusal::NotAvailable);
        }
        let listing = mass::listing(self.core.state(), index, message, *client)?;
        self.listings.push_back(listing);
        Ok(())
    }

    /// Writes reports for mass status requests, as far as the outbox has room.
    pub(super) fn list(&mut self, outbox: &mut Outbox) {
        while self.has_room(outbox) {
            let Some(listing) = self.listings.front_mut() else {
                return;
            };
            let session = listing.session();
            if !listing.step(self.core.state(), outbox) {
                self.listings.pop_front();
            }
            // The sessions take turns, with one order each.
            let is_its = |listing: &Listing| listing.session() == session;
            if !self.listings.iter().all(is_its) {
                self.listings.make_contiguous().sort_by_key(is_its);
            }
        }
    }

    pub(super) fn venue_says(
        &mut self,
        at: i64,
        line: SessionNo,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let version = self.links.clients.get(line).copied().flatten();
        let version = version.map_or(Version::Fix44, |client| client.version);
        let mut report = None;
        let is_passed = match message.msg_type() {
            b"8" => {
                let mut seen = Glance::at(report_bit(b"8"));
                let hashed = HashedExecs::of_lines(self.core.state());
                let visit = |tag| seen.add_of_report(tag);
                report = Indexed::read_with(message, visit, |it| {
                    lines::report(line, it, version, hashed)
                });
                self.count_seen(line, message, &seen)
            }
            _ => self.count_report(Some(line), message),
        };
        let has_words = is_passed || self.report_settings.exec_id_lines.contains(&line);
        let words = has_words.then_some(message);
        let reject = |tag, code: fn(u64) -> RejectCode| {
            let reason = message.get(tag).and_then(|it| value::uint(it).ok());
            VenueReject {
                code: reason.map(code),
                status: match message.get(tag::ORD_STATUS) {
                    Some([status]) => *status,
                    _ => 0,
                },
                text: cut(message.get(tag::TEXT).unwrap_or_default()),
            }
        };
        let id = |tag| message.get(tag).and_then(VenueId::parse);
        let heard = match message.msg_type() {
            b"8" => match report {
                Some(report) => self.report_said(at, &report, (message, words), outbox),
                None => ReportOutcome::Unreadable,
            },
            b"9" => match self.core.rejected_request(
                id(tag::CL_ORD_ID),
                id(tag::ORIG_CL_ORD_ID),
                rejected_kind(message),
            ) {
                Some(id) => {
                    self.count_cut(message);
                    let (core, mut out, _) = self.parts_of(outbox, None, words);
                    let reject = reject(tag::CXL_REJ_REASON, RejectCode::Cancel);
                    if core.may_reject(line, id.order) {
                        match core.declined(at, id, &reject, &mut out) {
                            ReportOutcome::Known if core.has_stray_cancel(id.order) => {
                                ReportOutcome::Unknown
                            }
                            heard => heard,
                        }
                    } else {
                        let what = b"OrderCancelReject(9)";
                        core.foreign_message(at, line, id.order, what, &mut out)
                    }
                }
                None => ReportOutcome::Unknown,
            },
            b"j" => {
                self.business_reject(at, line, message, None, outbox);
                return Ok(());
            }
            b"W" | b"X" if self.gives_prices(line) => {
                self.prices(at, line, message, outbox);
                return Ok(());
            }
            b"f" | b"h" => {
                self.market_status(at, line, message, outbox);
                return Ok(());
            }
            b"AI" | b"AG" | b"b" | b"S" => {
                self.inquiry_says(at, line, message, outbox);
                return Ok(());
            }
            msg_type => {
                self.is_not_used(line, msg_type);
                return Ok(());
            }
        };
        if let ReportOutcome::FillsMissing(order) = heard {
            self.fills_missing(order);
        }
        if let ReportOutcome::NotAtVenue(order) = heard {
            (self.listener)(OmsEvent::NotAtVenue { order });
        }
        if matches!(heard, ReportOutcome::Unknown | ReportOutcome::Unreadable) {
            self.ignored(line, message, version, heard == ReportOutcome::Unreadable);
        }
        Ok(())
    }

    /// Applies a report that a trial makes in place of a venue. No received message has this report.
    pub(crate) fn trial_reported(
        &mut self,
        now: Now,
        report: &VenueReport<'_>,
        outbox: &mut Outbox,
    ) {
        let at = self.at(now);
        let (core, mut out) = self.parts(outbox, None);
        core.report(at, report, &mut out);
    }

    /// Applies the reject of a replace or cancel that a trial makes in place of a venue.
    pub(crate) fn trial_declined(
        &mut self,
        now: Now,
        id: VenueId,
        reject: &VenueReject<'_>,
        outbox: &mut Outbox,
    ) {
        let at = self.at(now);
        let (core, mut out) = self.parts(outbox, None);
        core.declined(at, id, reject, &mut out);
    }

    /// Counts a Text(58) of a reject that clients get in part.
    pub(super) fn count_cut(&mut self, reject: &Message<'_>) {
        let text = reject.get(tag::TEXT).unwrap_or_default();
        if text.len() > TEXT_MOST {
            self.dropped.reports.add(tag::TEXT);
        }
    }

    /// Raises the event for a report or reject that changes nothing.
    #[cold]
    fn ignored(
        &mut self,
        line: SessionNo,
        message: &Message<'_>,
        version: Version,
        unreadable: bool,
    ) {
        let id = message.get(tag::CL_ORD_ID).unwrap_or(b"NONE");
        if unreadable && message.get(tag::EXEC_TYPE) == Some(b"D") {
            let reason = message.get(tag::EXEC_RESTATEMENT_REASON);
            let reason = reason.unwrap_or_default();
            return (self.listener)(OmsEvent::Restatement { id, reason });
        }
        let state = self.core.state();
        let said = match message.msg_type() {
            b"8" => {
                let hashed = HashedExecs::All;
                let report = Indexed::read(message, |it| lines::report(line, it, version, hashed));
                ignored::report(state, report.as_ref(), unreadable)
            }
            _ => {
                let id = |tag| message.get(tag).and_then(VenueId::parse);
                ignored::reject(state, id(tag::CL_ORD_ID), id(tag::ORIG_CL_ORD_ID))
            }
        };
        (self.listener)(OmsEvent::StrayReport {
            id,
            unreadable,
            is_known: said.is_known,
            why: &said.why,
        });
    }

    fn report_said(
        &mut self,
        at: i64,
        report: &VenueReport<'_>,
        (message, words): (&Message<'_>, Option<&Message<'_>>),
        outbox: &mut Outbox,
    ) -> ReportOutcome {
        if let Some(words) = words
            && self.core.state().exec_ids.is_on()
        {
            let kind = words
                .get(tag::EXEC_TYPE)
                .or_else(|| words.get(tag::ORD_STATUS));
            let kind = kind.and_then(|kind| kind.first()).copied();
            let id = words.get(tag::EXEC_ID);
            let (core, mut out) = self.parts(outbox, None);
            core.pass_exec_id(
                at,
                report,
                kind.unwrap_or(0),
                id.unwrap_or_default(),
                &mut out,
            );
        }
        let (core, mut out, _) = self.parts_of(outbox, None, words);
        let mut heard = if core.state().spreads.is_empty() {
            core.report(at, report, &mut out)
        } else {
            report_spread(core, at, report, message, &mut out)
        };
        if core.is_asked_for_all() {
            let said = MassReport::of(message);
            if core.mass_reported(at, report, said, heard, &mut out) {
                heard = ReportOutcome::Known;
            }
        }
        if !self.status_waits.is_empty() && matches!(report.kind, ReportKind::Status(_)) {
            self.status_answered(report.id.order, outbox);
        }
        self.is_not_followed(report, message);
        heard
    }

    /// Raises an event for a venue's report that changes no order of the OMS. No event is raised for a pending status,
    /// which belongs to a request, or for a fill without a quantity.
    #[inline]
    fn is_not_followed(&mut self, report: &VenueReport<'_>, message: &Message<'_>) {
        let is_odd = match report.kind {
            ReportKind::Other => true,
            ReportKind::Status(status) => matches!(status, b'7' | b'9' | b'B' | b'D'),
            _ => false,
        };
        if is_odd {
            self.not_followed(report, message);
        }
    }

    #[cold]
    fn not_followed(&mut self, report: &VenueReport<'_>, message: &Message<'_>) {
        let exec_type = message.get(tag::EXEC_TYPE).unwrap_or_default();
        let is_usual = matches!(exec_type, b"A" | b"6" | b"E" | b"1" | b"2")
            || (exec_type.is_empty() && matches!(report.status, b'A' | b'6' | b'E' | b'1' | b'2'));
        let order = self.core.state().orders().get(report.id.order);
        let is_its = order.is_some_and(|order| self.core.may_report(report.line, order));
        if is_its && !is_usual {
            (self.listener)(OmsEvent::NotFollowed {
                order: report.id.order,
                exec_type,
                status: report.status,
            });
        }
    }

    /// Counts a message of a venue that the OMS does not use. A message that the OMS does not use is only written to
    /// the journal.
    #[cold]
    fn is_not_used(&mut self, line: SessionNo, msg_type: &[u8]) {
        let count = self.not_used.add(line, msg_type);
        // The event is raised for the first such message, the tenth, the hundredth and so on.
        if count == 10_u64.pow(count.ilog10()) {
            (self.listener)(OmsEvent::NotUsed {
                line: self.core.state().sessions().name(line),
                msg_type,
                count,
            });
        }
    }

    /// Handles a venue's answer to a price inquiry. An answer to an inquiry that no longer waits changes nothing.
    #[cold]
    fn inquiry_says(
        &mut self,
        at: i64,
        line: SessionNo,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) {
        self.count_cut(message);
        if let Some(answer) = inquiries::answer(message) {
            let (core, mut out) = self.parts(outbox, None);
            let (inquiry, reason) = (answer.inquiry, answer.reason());
            core.inquiry_answered(at, line, inquiry, reason, answer.text, &mut out);
        }
    }

    /// Handles a venue's report of the state of a market.
    #[cold]
    fn market_status(
        &mut self,
        at: i64,
        line: SessionNo,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) {
        let Some(report) = markets::market(message) else {
            return;
        };
        let (state, why) = (report.state, report.why.as_bytes());
        let (core, mut out) = self.parts(outbox, None);
        let symbols = core.venue_market(at, line, report.symbol, state, why, &mut out);
        if symbols > 0 {
            let line = self.core.state().sessions().name(line);
            (self.listener)(OmsEvent::MarketStatus {
                line,
                state: report.state,
                symbols,
            });
        }
    }
}

/// The kind of the rejected request by CxlRejResponseTo(434); FIX 4.0 and 4.1 do not have this field.
fn rejected_kind(message: &Message<'_>) -> Option<RequestKind> {
    match message.get(tag::CXL_REJ_RESPONSE_TO) {
        Some(b"1") => Some(RequestKind::Cancel),
        Some(b"2") => Some(RequestKind::Replace),
        _ => None,
    }
}

/// Applies a report when the settings have spreads. The report of a fill may then have legs.
#[cold]
fn report_spread(
    core: &mut Core,
    at: i64,
    report: &VenueReport<'_>,
    message: &Message<'_>,
    sink: &mut impl Sink,
) -> ReportOutcome {
    let has_legs = matches!(report.kind, ReportKind::Fill | ReportKind::Correct);
    if !has_legs || spreads::is_of_leg(message) {
        return core.report(at, report, sink);
    }
    let (said, count) = spreads::legs(message);
    match report.kind {
        ReportKind::Correct => core.correct_with_legs(at, report, &said[..count], sink),
        _ if count == 0 => core.report(at, report, sink),
        _ => core.report_with_legs(at, report, &said[..count], sink),
    }
}
