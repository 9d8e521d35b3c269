//! The values of the core in addition to the state: queues, timers that are due, prices, pending work.

use super::line::{At, Name, OrderNo, StateLines};
use crate::decide::core::Core;
use crate::decide::queue::{Group, Line, Lines};
use crate::decide::venue::unanswered::{Step, Unanswered};
use crate::decide::work::Work;
use crate::state::OmsState;
use crate::state::known_prices::Prices;
use crate::state::mass_status::{MassQuestion, MassQuestions};
use crate::state::orders::lapsed::LapsedOrders;
use crate::state::orders::retries::Retries;
use crate::state::orders::waiting::Waiting;
use crate::state::roll::Roll;
use crate::values::ids::SessionNo;
use crate::values::value::Price;

impl Core {
    pub(crate) fn put_lines(&self, to: &mut StateLines) {
        let Self {
            state,
            rules,
            instruments: _,   // Settings.
            converter: _,     // Settings.
            accepting: _,     // For the time of one input.
            taken_names: _,   // Settings and names of the state.
            unchecked: _,     // Only says which fields are checked a second time.
            missing_terms: _, // Settings.
            users: _,         // Settings.
            lines,
            restrictions: _, // Settings.
            own: _,          // Derived from the orders.
            pools: _,        // Settings.
            prices,
            venue_ids: _, // Derived from the orders.
            work,
            copy_since,
            tmp_scales: _,  // Settings.
            has_parents: _, // Settings.
            replaces_journal,
            dated_back: _, // For a load of positions within the same second.
        } = self;
        state.put_lines(to);
        to.of(format_args!("oms"));
        to.flag("replaces a journal", *replaces_journal);
        for (session, since) in copy_since {
            to.of(format_args!("session {}", state.session_name(*session)));
            to.say("logged on for copies since", since);
        }
        let names: alloc::vec::Vec<&str> = rules.groups.iter().map(|it| &*it.name).collect();
        all_lines(state, lines, &names, to);
        of_prices(state, prices, to);
        of_work(state, work, to);
    }
}

fn orders(name: &str, all: impl IntoIterator<Item = u64>, to: &mut StateLines) {
    to.each(name, all.into_iter().map(OrderNo));
}

fn timers(name: &str, all: impl IntoIterator<Item = (i64, u64)>, to: &mut StateLines) {
    let all = all.into_iter().map(|(at, order)| At(at, OrderNo(order)));
    to.each(name, all);
}

fn waiting(name: &str, of: &Waiting, to: &mut StateLines) {
    let Waiting {
        all,
        patient,
        limited,
    } = of;
    let also = |what| alloc::format!("{name} {what}");
    orders(name, all.iter().copied(), to);
    orders(&also("with patience"), patient.iter().copied(), to);
    timers(&also("valid until"), limited.iter().copied(), to);
}

fn all_lines(state: &OmsState, of: &Lines, names: &[&str], to: &mut StateLines) {
    let Lines {
        groups,
        lines,
        sessions: _, // Settings.
        group_of: _, // Settings.
        unknown_until,
        lost,
        has_queued: _, // Derived from the queues.
    } = of;
    for (place, group) in groups.iter().enumerate() {
        let Group {
            lines: of_group,
            helpers: _, // Settings.
            next,
            affinity: _,       // Settings.
            flow: _,           // Settings.
            patience: _,       // Settings.
            cannot_replace: _, // Settings.
            cannot_stop: _,    // Settings.
            over_tmp: _,       // Settings.
            needs_effect: _,   // Settings.
            has_futures: _,    // Settings.
            orders,
        } = group;
        let name = names.get(place).copied().unwrap_or_default();
        to.of(format_args!("line group {name}"));
        let next = of_group.get(*next).map(|it| state.session_name(*it));
        to.some("next line", next);
        waiting("queue", orders, to);
    }
    for (session, line) in lines.numbered() {
        let Some(line) = line else { continue };
        let Line {
            group: _, // Settings.
            sent,
            cancels,
            replaces,
        } = line;
        to.of(format_args!("line {}", state.session_name(session)));
        to.each("sent at", sent);
        orders("cancel queue", cancels.iter().copied(), to);
        waiting("replace queue", replaces, to);
    }
    to.of(format_args!("lines"));
    to.count("sent messages are unknown until", *unknown_until);
    orders("lost", lost.iter().copied(), to);
}

fn of_prices(state: &OmsState, prices: &Prices, to: &mut StateLines) {
    let Prices {
        quotes,
        ticks,
        deadlines,
    } = prices;
    for (instrument, quote) in quotes.numbered() {
        to.of(format_args!("market price {}", state.symbol(instrument)));
        let price = |it: Option<Price>| it.map(|it| state.price_in(instrument, it));
        let [last, bid, offer] = *quote;
        to.some("last", price(last));
        to.some("bid", price(bid));
        to.some("offer", price(offer));
    }
    to.of(format_args!("prices"));
    let ticks = ticks.iter().map(|(instrument, field, price, session)| {
        alloc::format!(
            "{field} of {} {} from {}",
            state.symbol(*instrument),
            state.price_in(*instrument, *price),
            state.session_name(*session)
        )
    });
    to.each("that meet a condition", ticks);
    timers("held until", deadlines.iter().copied(), to);
}

fn of_work(state: &OmsState, work: &Work, to: &mut StateLines) {
    let Work {
        asking,
        cancelling,
        far_day,
        expiring,
        renewing,
        roll,
        pended,
        alarms,
        later,
        gone,
        leaving,
        reset,
        retries,
        settling,
        unanswered,
        mass,
        lapsed,
        is_revalued,
        on_reserve,
    } = work;
    to.of(format_args!("work"));
    orders("to ask about", asking.iter().copied(), to);
    orders("to cancel", cancelling.iter().copied(), to);
    orders("to expire", expiring.iter().copied(), to);
    orders("to renew", renewing.iter().copied(), to);
    orders("parents to settle", settling.iter().copied(), to);
    to.some("far day", *far_day);
    to.flag("rates changed", *is_revalued);
    to.flag("journal on its reserve", *on_reserve);
    timers("waits for fills since", pended.iter().copied(), to);
    timers("cancel rejected", later.iter().copied(), to);
    let alarms = alarms.iter().map(|(at, number)| At(*at, number));
    to.each("alarm of break", alarms);
    let gone = gone.iter();
    let gone = gone.map(|(at, session)| At(*at, state.session_name(*session)));
    to.each("cancels orders of", gone);
    let names = |all: &[SessionNo]| -> alloc::vec::Vec<Name<'_>> {
        all.iter().map(|it| state.session_name(*it)).collect()
    };
    to.each("leaving line", names(leaving));
    to.each("reset line", names(reset));
    if let Some(roll) = roll {
        of_roll(roll, to);
    }
    of_retries(retries, to);
    of_unanswered(unanswered, to);
    of_mass(state, mass, to);
    of_lapsed(lapsed, to);
}

fn of_roll(roll: &Roll, to: &mut StateLines) {
    let Roll {
        day,
        key,
        until,
        awaited,
        at_start,
        closing,
    } = roll;
    to.of(format_args!("roll"));
    to.say("day", day);
    to.say("key", format_args!("{key:032x}"));
    to.say("waits until", until);
    orders("waits for", awaited.iter().copied(), to);
    to.flag("is at the start", *at_start);
    to.flag("is closing", *closing);
}

fn of_retries(retries: &Retries, to: &mut StateLines) {
    let Retries { waiting, look } = retries;
    to.of(format_args!("retries"));
    timers("due", waiting.iter().copied(), to);
    match *look {
        i64::MAX => {}
        i64::MIN => to.say("looked at", "once"),
        look => to.say("looked at", look),
    }
}

fn of_unanswered(unanswered: &Unanswered, to: &mut StateLines) {
    let Unanswered { waiting } = unanswered;
    to.of(format_args!("unanswered requests"));
    let all = waiting.iter().map(|(at, request, step)| {
        let step = match step {
            Step::Ask => "ask about",
            Step::Tell => "give up",
        };
        At(*at, alloc::format!("{step} {request}"))
    });
    to.each("due", all);
}

fn of_mass(state: &OmsState, mass: &MassQuestions, to: &mut StateLines) {
    let MassQuestions { waiting, asked } = mass;
    to.of(format_args!("mass status"));
    to.each("waits", waiting.iter().map(|it| state.session_name(*it)));
    for question in asked {
        let MassQuestion {
            line,
            id,
            due,
            count,
            total,
            expected,
            listed,
        } = question;
        to.of(format_args!("mass status {}", state.session_name(*line)));
        to.say("id", id);
        to.say("due", due);
        to.count("reports", *count);
        to.some("total", *total);
        orders("expects", expected.iter().copied(), to);
        for order in listed {
            to.say("has", OrderNo(*order));
        }
    }
}

fn of_lapsed(lapsed: &LapsedOrders, to: &mut StateLines) {
    let LapsedOrders {
        asked,
        waiting,
        lost,
    } = lapsed;
    to.of(format_args!("lapsed orders"));
    for (order, waits) in asked {
        to.say("asked about", OrderNo(*order));
        if *waits {
            to.say("asked about and waits", OrderNo(*order));
        }
    }
    timers("may be answered until", waiting.iter().copied(), to);
    for order in lost {
        to.say("cancel lost", OrderNo(*order));
    }
}
