//! Breaks between reports of a venue and orders of the OMS, as operators list and settle them.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::Write as _;

use crate::decide::core::{Core, Sink};
use crate::decide::venue::EndNote;
use crate::state::copies::{CopyBreak, FillTerms};
use crate::state::event::{BreakEvent, LifecycleEvent, OrderEvent};
use crate::state::orders::Order;
use crate::state::orders::breaks::VenueBreak;
use crate::state::orders::transition::OrderState;
use crate::values::show::{Parts, price, text};
use crate::values::slab::mixed;
use crate::values::units::{MOST, half_even};
use crate::values::value::{Amount, BreakKind, End, Number, Price, Quantity, Text};
use crate::values::verbs::By;
use crate::values::words::Words;

/// What settling a break changes in an order.
enum Correction {
    Fill(u64, Quantity, Price),
    Fills(Quantity, Amount, bool),
    Terms(Quantity, Price),
    End(End),
}

impl Core {
    /// Settles a break on an operator's command: `break=57 venue` takes the venue's values, `break=57 ours` keeps the
    /// OMS's values.
    pub(crate) fn settle_break(
        &mut self,
        at: i64,
        words: &Words<'_>,
        By { who, why }: By<'_>,
        sink: &mut impl Sink,
    ) -> Result<String, String> {
        let number = words.get("break").parse::<u64>();
        let number = number.map_err(|_| "give the number of the break: break=57")?;
        let venue = match (words.has("venue"), words.has("ours")) {
            (true, false) => true,
            (false, true) => false,
            _ => return Err("say who is right: venue or ours".into()),
        };
        if let Some(stray) = self.state.strays.get(number) {
            let asked_by = stray.asked_by.clone();
            return self.settle_stray(
                at,
                (number, venue, asked_by.as_ref()),
                By { who, why },
                sink,
            );
        }
        let breaks = &self.state.breaks;
        let Some(found) = breaks.get(number).cloned() else {
            return Err(match self.state.copies.breaks().contains_key(&number) {
                true => format!(
                    "break {number} is of a drop copy: close it with fixwire oms accept-break"
                ),
                false => format!("no open break {number}: fixwire oms breaks lists them"),
            });
        };
        let correction = match venue {
            true => {
                let order = self.state.orders().get(found.order);
                let scales = order.map(|order| self.state.scales(order.instrument));
                let scale = scales.unwrap_or_default().quantity;
                in_range(self.correction(number, &found)?, scale)?
            }
            false => None,
        };
        let asked_by = found.asked_by.as_ref();
        if let Some(text) =
            self.ask_second_settle(at, number, venue, asked_by, By { who, why }, sink)?
        {
            return Ok(text);
        }
        if let Some(correction) = correction {
            self.correct(at, found.order, &correction, sink);
        }
        self.close_equal(at, found.order, sink);
        self.settle(at, found.order, sink);
        self.work.look_again(&self.state, found.order);
        self.forget(at, sink);
        let which = if venue { "the venue's" } else { "our" };
        Ok(format!("break {number}: settled with {which} value"))
    }

    /// Closes the other breaks about fills of the order that are resolved too when one break is settled, because two
    /// reports may show the same difference.
    fn close_equal(&mut self, at: i64, number: Number, sink: &mut impl Sink) {
        let next = |core: &Self| {
            let state = core.state();
            let filled = state.orders().get(number)?.filled;
            let mut of = state.breaks.of(number);
            let equal = of.find(|(_, it)| match it.kind {
                BreakKind::FillsMissing => it.filled.is_some_and(|cum| cum <= filled),
                BreakKind::FillsSurplus => it.filled.is_some_and(|cum| cum >= filled),
                _ => it.counted_in_part().is_some_and(|cum| cum <= filled),
            });
            equal.map(|(number, _)| number)
        };
        while let Some(other) = next(self) {
            self.close_break(at, other, sink);
        }
    }

    /// Settles a fill of an unknown order.
    fn settle_stray(
        &mut self,
        at: i64,
        (number, venue, asked_by): (u64, bool, Option<&(Text, bool)>),
        by: By<'_>,
        sink: &mut impl Sink,
    ) -> Result<String, String> {
        if let Some(text) = self.ask_second_settle(at, number, venue, asked_by, by, sink)? {
            return Ok(text);
        }
        Ok(match venue {
            true => format!("break {number}: settled: the position keeps the fill"),
            false => format!("break {number}: settled: the fill is taken out of the position"),
        })
    }

    /// Notes that the break is settled. Returns the answer to the operator when another operator must settle it too;
    /// then only the request is noted.
    pub(crate) fn ask_second_settle(
        &mut self,
        at: i64,
        number: u64,
        venue: bool,
        asked_by: Option<&(Text, bool)>,
        By { who, why }: By<'_>,
        sink: &mut impl Sink,
    ) -> Result<Option<String>, String> {
        let is_second = self.is_second_settle(asked_by, who, venue)?;
        let order = self.state.breaks.get(number).map(|it| it.order);
        let order = order.or_else(|| Some(self.state.strays.undos.get(&number)?.order));
        // The report of such a break may name no order.
        let order = order.filter(|order| *order > 0);
        let event = match is_second {
            true => BreakEvent::BreakSettled {
                number,
                venue,
                order,
                who,
                why,
            },
            false => BreakEvent::SettleAsked {
                number,
                venue,
                order,
                who,
                why,
            },
        };
        self.emit(at, &OrderEvent::Break(event), sink);
        Ok((!is_second).then(|| {
            format!("break {number}: requested; another operator must settle it the same way")
        }))
    }

    /// Whether this command settles the break. With `arming = "two people"`, another operator must have given the same
    /// command before.
    fn is_second_settle(
        &self,
        asked_by: Option<&(Text, bool)>,
        who: &[u8],
        venue: bool,
    ) -> Result<bool, String> {
        if !self.rules.two_arm {
            return Ok(true);
        }
        let me = Text::new(&who[..who.len().min(Text::MAX)]);
        // A request for the other value takes the place of the request before.
        match asked_by.filter(|(_, said)| *said == venue) {
            Some((other, _)) if *other == me => {
                Err("you already requested it: another operator must settle it too".into())
            }
            known => Ok(known.is_some()),
        }
    }

    /// The correction that gives the order the values of the venue; `None` when the order already has them.
    fn correction(&self, number: u64, found: &VenueBreak) -> Result<Option<Correction>, String> {
        let order = self.state.orders().get(found.order);
        let order = order.ok_or_else(|| format!("no order {} in memory", found.order))?;
        if order.line().is_none() {
            return Err("the order is at no venue: settle the break with our value".into());
        }
        let is_recalled = self.state.strays.is_recalled(found.order);
        let takes = matches!(
            found.kind,
            BreakKind::Bust | BreakKind::Correction | BreakKind::FillsSurplus | BreakKind::Average
        );
        if is_recalled && !takes {
            return Err(format!(
                "order {} was read from the journal: it stays closed, and only busts and corrections of its fills change it: settle the break with our value, and change the position with fixwire oms position adjust",
                found.order
            ));
        }
        let is_live = !is_recalled && !matches!(found.status, b'2' | b'3' | b'4' | b'8' | b'C');
        let is_open = order.state.is_open();
        let may_trade = is_open || order.state == OrderState::Ended(End::Filled);
        Ok(Some(match found.kind {
            BreakKind::FillsMissing => missing_fill(number, order, found, None)?,
            BreakKind::NotCounted if found.counted_in_part().is_some() => {
                missing_fill(number, order, found, Some(found.price))?
            }
            BreakKind::NotCounted | BreakKind::ReusedExec => {
                Correction::Fill(found.exec, found.quantity, found.price)
            }
            BreakKind::Bust | BreakKind::FillsSurplus => {
                let (filled, paid) = less(order, found)?;
                // An order that ended by its fills opens again when it has fewer fills. A cancelled order stays closed.
                Correction::Fills(filled, paid, is_live && may_trade)
            }
            BreakKind::Correction if self.state.legs(order.instrument).is_some() => {
                return Err(format!(
                    "order {} is of a spread, and the report does not say what becomes of its legs: settle the break with our value, and change the positions of the legs with fixwire oms position adjust",
                    found.order
                ));
            }
            BreakKind::Correction => {
                let (filled, paid) = corrected(order, found)?;
                Correction::Fills(filled, paid, is_live && may_trade)
            }
            BreakKind::Quantity => Correction::Terms(found.quantity, order.price),
            BreakKind::LimitPrice => Correction::Terms(order.quantity, found.price),
            // A closed order has no LeavesQty(151) to correct.
            BreakKind::Leaves if !may_trade => return Ok(None),
            BreakKind::Leaves => Correction::Terms(found.total, order.price),
            BreakKind::Status => match End::of(found.status) {
                // The venue has filled a smaller quantity than OrderQty(38). The order gets the filled quantity as
                // OrderQty, and is filled.
                Some(End::Filled) if is_open && order.filled > 0 => {
                    Correction::Terms(order.filled, order.price)
                }
                Some(End::Filled) if is_open => Correction::End(End::Cancelled),
                Some(how) if is_open => Correction::End(how),
                Some(_) => return Ok(None),
                None => Correction::Fills(order.filled, order.paid, true),
            },
            BreakKind::Average => {
                let paid = found.paid.filter(|_| found.filled == Some(order.filled));
                let paid = paid.ok_or("the order has other fills by now: wait for the venue")?;
                Correction::Fills(order.filled, paid, is_open)
            }
            BreakKind::NoCopy
            | BreakKind::NoReport
            | BreakKind::Differs
            | BreakKind::NotClosed
            | BreakKind::Unplaced
            | BreakKind::OtherCopy => return Err("it is of a drop copy".into()),
        }))
    }

    fn correct(&mut self, at: i64, order: Number, correction: &Correction, sink: &mut impl Sink) {
        match *correction {
            Correction::Fill(exec, quantity, price) => {
                self.fill_settled(at, order, exec, quantity, price, sink);
            }
            Correction::Fills(filled, paid, open) => {
                let event = OrderEvent::Break(BreakEvent::FillsSettled {
                    order,
                    filled,
                    paid,
                    open,
                });
                self.emit(at, &event, sink);
                self.decline_filled(at, order, None, sink);
                self.guard_order(at, order, sink);
            }
            Correction::Terms(quantity, price) => {
                let event = OrderEvent::Break(BreakEvent::TermsSettled {
                    order,
                    quantity,
                    price,
                });
                self.emit(at, &event, sink);
                self.decline_filled(at, order, None, sink);
            }
            Correction::End(how) => {
                let text = b"closed at the venue: settled by an operator";
                self.end(at, order, how, None, EndNote { at: 0, text }, sink);
            }
        }
    }

    /// Applies a fill that the venue counts after all, or that an operator settled.
    pub(crate) fn fill_settled(
        &mut self,
        at: i64,
        order: Number,
        exec: u64,
        quantity: Quantity,
        price: Price,
        sink: &mut impl Sink,
    ) {
        if self.state().orders().has_fill(order, exec) {
            return;
        }
        let event = OrderEvent::Order(LifecycleEvent::Filled {
            order,
            exec,
            quantity,
            price,
            at: 0,
        });
        self.emit(at, &event, sink);
        if self.has_copies() {
            self.compare(at, (order, exec), b"", sink);
        }
        self.decline_filled(at, order, None, sink);
        self.guard_order(at, order, sink);
    }

    /// Adds one line for each open break with a venue.
    pub(crate) fn list_breaks(&self, list: &mut String) {
        let state = self.state();
        for (number, found) in state.breaks.iter() {
            let order = state.orders().get(found.order);
            let line = found.line.map(|it| state.sessions().name(it));
            let account = order.map(|it| state.accounts().name(it.account));
            let symbol = order.map(|it| state.instruments().name(it.instrument));
            let _ = write!(
                list,
                "\n{number}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
                found.kind,
                found.order,
                line.map_or_else(String::new, text),
                account.map_or_else(String::new, text),
                symbol.map_or_else(String::new, text),
                text(found.ours.bytes()),
                text(found.venue.bytes()),
                order.map_or_else(String::new, |it| text(it.venue_id.bytes())),
            );
        }
    }

    /// The table of the open breaks.
    pub(crate) fn breaks(&self) -> String {
        let mut list = String::from(
            "break\twhat\torder\tsession\taccount\tsymbol\there\tvenue says\tvenue's ids",
        );
        for (number, found) in self.state().copies.breaks() {
            let _ = write!(list, "\n{number}\t{}", self.break_line(found));
        }
        self.list_breaks(&mut list);
        self.list_strays(&mut list);
        list
    }

    fn break_line(&self, found: &CopyBreak) -> String {
        let state = self.state();
        // The order may have left memory.
        let of = found.what.of;
        let scales = of.map(|of| state.scales(of.instrument));
        let scales = scales.unwrap_or_default();
        let said = |fill: Option<FillTerms>| match fill {
            None => "-".to_string(),
            Some((0, _)) => "closed".to_string(),
            Some((quantity, at)) => {
                let quantity = Parts(quantity, scales.quantity);
                format!("{quantity} at {}", price(at, scales.price))
            }
        };
        let ours = match found.kind {
            BreakKind::NotClosed => "open".to_string(),
            _ => said(found.what.ours),
        };
        let order_text = match found.key.0 {
            0 => String::new(),
            order => order.to_string(),
        };
        format!(
            "{}\t{order_text}\t{}\t{}\t{}\t{ours}\t{}\t{}",
            found.kind,
            found
                .what
                .line
                .map_or_else(String::new, |it| text(state.sessions().name(it))),
            of.map_or_else(String::new, |it| text(state.accounts().name(it.account))),
            of.map_or_else(String::new, |it| text(
                state.instruments().name(it.instrument)
            )),
            said(found.what.copy),
            text(found.text.bytes()),
        )
    }
}

/// Refuses a correction with quantities that an order cannot have.
fn in_range(correction: Option<Correction>, scale: u8) -> Result<Option<Correction>, String> {
    match correction {
        Some(Correction::Fills(quantity, ..) | Correction::Terms(quantity, _))
            if quantity > MOST =>
        {
            Err(format!(
                "quantity {} is out of range: at most {}",
                Parts(quantity, scale),
                Parts(MOST, scale)
            ))
        }
        correction => Ok(correction),
    }
}

/// The fill that brings the order to the venue's CumQty(14). The price of the fill follows from AvgPx(6), or is the
/// given price if there is no AvgPx.
fn missing_fill(
    number: u64,
    order: &Order,
    found: &VenueBreak,
    price: Option<Price>,
) -> Result<Correction, String> {
    let said = found.filled.and_then(|it| it.checked_sub(order.filled));
    let missing = said.filter(|missing| *missing > 0);
    let missing = missing.ok_or("no fills are missing")?;
    let price = match (found.paid, price) {
        (Some(paid), _) => i64::try_from(half_even(paid - order.paid, missing.into()))
            .map_err(|_| "the price that follows from AvgPx(6) is too large")?,
        (None, Some(price)) => price,
        (None, None) => {
            return Err(
                "the venue gave no AvgPx(6): enter the fill with fixwire oms report-in".into(),
            );
        }
    };
    Ok(Correction::Fill(mixed(number ^ 1 << 63), missing, price))
}

/// CumQty(14) of an order, and the amount paid for it, after the quantity of a break is taken back.
fn less(order: &Order, found: &VenueBreak) -> Result<(Quantity, Amount), String> {
    let by = match found.kind {
        BreakKind::Bust => found.quantity,
        _ => found.opposite,
    };
    let left = order.filled.checked_sub(by).filter(|_| by > 0);
    let left = left.ok_or(
        "the report does not say how much the order loses, or says two quantities: ask the venue, and settle the break with our value",
    )?;
    if let Some(paid) = found.paid.filter(|_| found.filled == Some(left)) {
        return Ok((left, paid));
    }
    let worth = match found.price {
        0 => half_even(
            order.paid.saturating_mul(by.into()),
            i128::from(order.filled).max(1),
        ),
        price => i128::from(price) * i128::from(by),
    };
    Ok((left, order.paid.saturating_sub(worth)))
}

/// CumQty(14) and the amount paid of the venue after a correction that fits no fill.
fn corrected(order: &Order, found: &VenueBreak) -> Result<(Quantity, Amount), String> {
    const BY_HAND: &str = "ask the venue, settle the break with our value, and enter the correction with fixwire oms correct";
    let filled = found.filled.ok_or_else(|| {
        format!(
            "CumQty(14) of the report is missing, or is not that after the correction: {BY_HAND}"
        )
    })?;
    if order.filled != found.quantity {
        return Err(format!("the order has other fills by now: {BY_HAND}"));
    }
    match found.paid.or((filled == 0).then_some(0)) {
        Some(paid) => Ok((filled, paid)),
        None => Err(format!("the report has no AvgPx(6): {BY_HAND}")),
    }
}

/// The values of the venue that differ from an order; empty when none differs.
pub(crate) fn venue_says(state: &crate::OmsState, order: Number) -> String {
    let said = state.breaks.of(order);
    let said = said.map(|(number, it)| {
        format!(
            "break {number}: {}, {} here, {} there",
            it.kind,
            text(it.ours.bytes()),
            text(it.venue.bytes())
        )
    });
    let all: alloc::vec::Vec<String> = said.collect();
    all.join("; ").to_string()
}
