//! Rerun: an operator places again an order that a control rejected, and turns some controls off for it.
//!
//! A rejected order stays rejected. The OMS places a new order for the same client, under a ClOrdID(11) of the OMS,
//! because the client's own ClOrdID was used by the rejected order.

use alloc::format;
use alloc::string::{String, ToString};

use fixwire_protocol::Decimal;

use crate::decide::core::{Core, NewOrder, Proposed, Sink};
use crate::decide::risk;
use crate::decide::spreads;
use crate::state::event::{OrderEvent, RejectedEvent, RequestEvent};
use crate::state::orders::rejected::{RefusedTerms, RejectedOrder, RejectedTerms};
use crate::state::proposal::Proposal;
use crate::state::show::reason_text;
use crate::state::show::state_name;
use crate::state::tally::Tally;
use crate::values::ids::{InstrumentNo, Party};
use crate::values::locate::Locate;
use crate::values::reason::{Reason, Why};
use crate::values::show::text;
use crate::values::units::{MOST, scaled};
use crate::values::value::Price;
use crate::values::verbs::By;
use crate::values::waived::{Waived, may_be_off};
use crate::values::words::Words;

impl Core {
    /// What a rejected new order asked for.
    #[cold]
    pub(crate) fn refused_terms(&self, new: &NewOrder<'_>) -> RefusedTerms {
        let state = self.state();
        let user = self.user(new.session).ok();
        let default = user.and_then(|user| user.default_account.as_ref());
        let account = match (new.account, default) {
            (b"", Some(default)) => default.as_bytes(),
            (account, _) => account,
        };
        let account = state.accounts().find(account);
        RefusedTerms {
            account,
            side: new.side,
            ..self.refused_values(
                state.instruments().find(new.symbol),
                Some(new.quantity),
                new.price,
            )
        }
    }

    /// Quantity and price of a rejected request in the units of its instrument.
    #[cold]
    pub(crate) fn refused_values(
        &self,
        instrument: Option<InstrumentNo>,
        quantity: Option<Decimal>,
        price: Option<Decimal>,
    ) -> RefusedTerms {
        let state = self.state();
        RefusedTerms {
            instrument,
            quantity: instrument.and_then(|it| state.units(it, quantity)),
            price: instrument.and_then(|it| scaled(price?, state.scale(it)).ok()),
            ..RefusedTerms::default()
        }
    }

    /// The terms of a rejected new order, for a rerun; `None` when the order cannot be run again.
    #[cold]
    pub(crate) fn kept(
        &self,
        at: i64,
        new: &NewOrder<'_>,
        reason: Reason,
    ) -> Option<RejectedTerms> {
        if !may_be_off(reason.why) {
            return None;
        }
        // The order was rejected by a check before the controls, for another reason.
        let Proposed {
            proposal, asked, ..
        } = self.proposed::<false>(at, new).ok()?;
        if proposal.quantity == 0
            || asked.is_some_and(|asked| asked.stays() || asked.parent().is_some())
        {
            return None;
        }
        Some(RejectedTerms {
            session: proposal.session,
            account: proposal.account,
            instrument: proposal.instrument,
            side: proposal.side,
            kind: proposal.kind,
            tif: proposal.tif,
            price: proposal.price,
            stop: proposal.stop,
            quantity: proposal.quantity,
            until: new.until,
            effect: proposal.effect,
            is_located: new.is_located,
            route: new.route,
            reason,
        })
    }

    /// Checks a rejected order again; returns the price at which its value is reserved.
    fn check_rerun(
        &self,
        at: i64,
        terms: &RejectedTerms,
        waived: &Waived,
    ) -> Result<Price, Reason> {
        let state = self.state();
        if state.violations() > 0 {
            return Err(Reason::of(Why::Incomplete));
        }
        if let Some(why) = self.work.closed() {
            return Err(Reason::of(why));
        }
        let account = state.accounts().name(terms.account);
        let rights = self.user(terms.session)?.rights(account);
        if !rights.is_some_and(|rights| rights.new) {
            return Err(Reason::of(Why::NotAllowed));
        }
        let rule = self.rule(terms.instrument)?;
        self.check_not_expired(terms.instrument, rule)?;
        // The symbol may have got more decimals since the reject.
        if terms.quantity > MOST {
            return Err(Reason::of(Why::Number));
        }
        let proposal = Proposal {
            session: terms.session,
            account: terms.account,
            instrument: terms.instrument,
            side: terms.side,
            kind: terms.kind,
            price: terms.price,
            stop: terms.stop,
            quantity: terms.quantity,
            filled: 0,
            counted: Tally::default(),
            held_at: 0,
            held: 0,
            tif: terms.tif,
            effect: terms.effect,
            replaces: 0,
            market_price: self.market_price(terms.instrument, terms.side),
            at,
        };
        if !self.tmp_scales.is_empty() {
            let group = self.lines.group_by(terms.route, terms.instrument);
            self.check_tmp(&proposal, group, false)?;
        }
        if !waived.restricted {
            self.check_restricted(&proposal, terms.is_located)?;
        }
        let hold = risk::check_without(state, rule, &proposal, waived)?;
        if !state.spreads.is_empty() {
            spreads::check_legs(self, &proposal, None, waived)?;
        }
        if !waived.self_trade {
            self.own.check(state, &proposal, 0)?;
        }
        Ok(hold)
    }

    /// The rejected order named by `57`, the number of the reject, or by `CLIENT/C17`, the session and the ClOrdID(11).
    fn find_rejected(&self, named: &str) -> Result<&RejectedOrder, String> {
        let (state, rejected) = (self.state(), &self.state().rejected);
        if let Some((session, id)) = named.split_once('/') {
            let index = state.sessions().find(session.as_bytes());
            let index = index.ok_or_else(|| format!("unknown session {session}"))?;
            let is_it =
                |it: &&RejectedOrder| it.terms.session == index && it.id.bytes() == id.as_bytes();
            return rejected.iter().find(is_it).ok_or_else(|| {
                let placed = state.used(index, id.as_bytes()).unwrap_or(0);
                let what = format!("{id} of {session}");
                self.why_not_rejected(placed, &what)
            });
        }
        let number = named.parse::<u64>().map_err(|_| {
            "name the order by the ExecID(17) of its reject, or by SESSION/ClOrdID".to_string()
        })?;
        if rejected.is_past(number) {
            return Err(format!(
                "reject {number} is of an earlier trading day: the client must send a new order"
            ));
        }
        let found = rejected.get(number);
        found.ok_or_else(|| self.why_not_rejected(number, &format!("reject {number}")))
    }

    /// Why `what` does not name a rejected order that can be run again. `what` may also be the number of an accepted
    /// order.
    fn why_not_rejected(&self, placed: u64, what: &str) -> String {
        let order = self.state().orders().get(placed);
        match order {
            Some(order) => format!(
                "no control of the OMS rejected {what}: order {placed} is {}",
                state_name(order)
            ),
            None => format!(
                "{what} is not an order that a control rejected today: fixwire oms rejected lists those that can \
                 be run again (at most the last 1000; not conditional, parent or child orders, nor those rejected by RC1, RC2 or RC4)"
            ),
        }
    }

    /// Places a rejected order again, with some controls turned off.
    pub(crate) fn rerun(
        &mut self,
        at: i64,
        words: &Words<'_>,
        By { who, why }: By<'_>,
        sink: &mut impl Sink,
    ) -> Result<String, String> {
        let known = ["order", "without"];
        if let Some((key, _)) = words.pairs().find(|(key, _)| !known.contains(key)) {
            return Err(format!("unknown word {key}: the words are order, without"));
        }
        let without = words.get("without");
        if without.is_empty() {
            return Err("name the controls to leave out: --without RC8".into());
        }
        let waived = Waived::parse(without)?;
        let rejected = self.find_rejected(words.get("order"))?;
        let RejectedOrder {
            number: reject,
            terms,
            id: old,
            rerun,
            fields,
        } = rejected.clone();
        if rerun > 0 {
            return Err(format!(
                "{} was run again already, as order {}",
                text(old.bytes()),
                rerun
            ));
        }
        let day = self.state().day();
        if terms.until.is_some_and(|until| until < day) {
            return Err("its ExpireDate(432) is in the past".into());
        }
        let hold = self.check_rerun(at, &terms, &waived).map_err(|reason| {
            let scales = self.state().scales(terms.instrument);
            let sentence = reason_text(self.state(), &reason, scales);
            format!("still rejected: {}", text(sentence.bytes()))
        })?;
        let order = self.state().last + 1;
        let id = format!("RERUN-{order}");
        if self.state().used(terms.session, id.as_bytes()).is_some() {
            return Err(format!(
                "the client already uses {id}, the ClOrdID that this rerun would get: rerun after the client's next order"
            ));
        }
        let event = OrderEvent::Request(RequestEvent::Taken {
            order,
            session: terms.session,
            account: terms.account,
            instrument: terms.instrument,
            side: terms.side,
            kind: terms.kind,
            tif: terms.tif,
            price: terms.price,
            stop: terms.stop,
            hold,
            quantity: terms.quantity,
            until: terms.until,
            effect: terms.effect,
            id: id.as_bytes(),
        });
        self.emit(at, &event, sink);
        if terms.is_located {
            let located = Locate {
                reqd: b'N',
                broker: b"",
            };
            self.located(at, order, located, sink);
        }
        self.routed(at, order, terms.route, sink);
        self.carry(at, order, fields.get(), sink);
        self.unchecked = order;
        let event = OrderEvent::Rejected(RejectedEvent::Rerun {
            order,
            reject,
            old: old.bytes(),
            without: without.as_bytes(),
            who,
            why,
        });
        self.emit(at, &event, sink);
        let party = Party::new(terms.session, terms.account, terms.instrument);
        if let Some(reason) = self.guard(at, party, sink) {
            self.reject_unsent_for(at, order, reason, sink);
        } else {
            self.send_order(at, order, sink);
        }
        let known = self.state().orders().get(order);
        Ok(format!(
            "order {order}: {} run again without {without}; {}",
            text(old.bytes()),
            known.map_or("closed", state_name)
        ))
    }
}
