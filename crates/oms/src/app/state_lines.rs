//! The parts of the OMS outside its core, as lines of [`crate::desk::state_lines`].

use alloc::format;
use alloc::string::String;

use fixwire_protocol::SessionId;

use super::Oms;
use super::out::Links;
use super::recoveries::{Recoveries, Recovery};
use crate::app::market_watches::{MarketWatch, MarketWatches};
use crate::app::recovery::ReportRequest;
use crate::desk::state_lines::line::{OrderNo, StateLines};
use crate::fix::market_requests::MarketRequest;
use crate::fix::mass::Listing;
use crate::fix::report_requests::ReportFilter;
use crate::state::OmsState;
use crate::state::client_rate::{ClientRate, ClientRates};
use crate::state::tag_counts::{DroppedFields, NotUsed, TagCounts};
use crate::tmp::{TmpLine, TmpLines};
use crate::values::value::Presence;

impl Oms {
    /// All values of the OMS that influence what it sends, as sorted lines.
    #[must_use]
    pub fn state_lines(&self) -> String {
        let mut lines = StateLines::default();
        self.put_lines(&mut lines);
        lines.sorted()
    }

    fn session_named(&self, session: SessionId) -> String {
        let own = self.sessions.get(session.0 as usize);
        let name = own.map(|it| it.name.clone());
        name.unwrap_or_else(|| match self.links.tmp.index(session) {
            Some(index) => format!("{}", self.state().session_name(index)),
            None => format!("without name {}", session.0),
        })
    }

    fn put_lines(&self, to: &mut StateLines) {
        let Self {
            core,
            sessions: _,   // Settings.
            configured: _, // Settings.
            templates: _,  // Settings.
            created: _,    // Derived from the names of the state.
            samples: _,    // Settings.
            sources: _,    // Settings.
            written: _,    // Set for a trial only.
            key: _,        // Settings.
            begun,
            changed,
            start,
            indices: _, // Derived from the names of the state.
            links,
            copies: _,    // Settings.
            watchers: _,  // Settings.
            languages: _, // Settings.
            before: _,    // For the time of one event.
            rates,
            listings,
            recoveries,
            securities,
            dropped,
            not_used,
            status_waits,
            note: _,            // A buffer.
            report_settings: _, // Settings.
            dictionaries: _,    // Settings.
            body: _,            // A buffer.
            decoder: _,         // A buffer.
            renamed: _,         // A buffer.
            listener: _,        // Not state.
            settings: _,        // Not state.
            day_finder: _,      // Settings.
            reaches: _,         // Derived from the settings.
            direct: _,          // Derived from the settings.
            adds_fields: _,     // Derived from the settings.
            looks_at_all: _,    // Derived from the settings.
            gathered: _,        // Of one message.
            span: _,            // Derived from the clock and the settings.
        } = self;
        core.put_lines(to);
        let state = core.state();
        to.of(format_args!("oms"));
        to.flag("has begun", *begun);
        to.some("started at", start.map(|(_, at)| at));
        let changed = changed.iter().map(|(session, is)| {
            let is = match is {
                None => "not connected",
                Some(Presence::Connected) => "here",
                Some(Presence::LoggedOut) => "logged out",
                Some(Presence::Lost) => "lost",
            };
            format!("{} {is}", self.session_named(*session))
        });
        to.each("change of a session", changed);
        let waits = status_waits.iter().copied();
        to.each("client waits for the status of", waits.map(OrderNo));
        of_rates(state, rates, to);
        for (place, listing) in (1_u64..).zip(listings) {
            let to_whom = self.session_named(listing.client.session);
            of_listing(place, &to_whom, listing, to);
        }
        self.of_recoveries(recoveries, to);
        for (place, answer) in (1_u64..).zip(securities.all()) {
            let whom = self.session_named(answer.to);
            to.of(format_args!("request {place} for instruments of {whom}"));
            to.say("id", answer.id().escape_ascii());
            to.count("left", answer.left() as u64);
        }
        of_dropped(dropped, to);
        let NotUsed { counts } = not_used;
        for ((line, msg_type), count) in counts {
            to.of(format_args!("messages of {}", state.session_name(*line)));
            let name = format!("not used {}", msg_type.escape_ascii());
            to.say(&name, count);
        }
        let Links {
            clients: _,     // Settings.
            contracts: _,   // Settings.
            whose: _,       // Settings.
            forms: _,       // Settings.
            converter: _,   // Settings.
            converted: _,   // Empty between messages.
            not_named: _,   // Settings.
            venue_names: _, // Derived from the state.
            tmp,
            watches,
        } = links;
        self.of_watches(state, watches, to);
        of_tmp(state, tmp, to);
    }

    fn of_watches(&self, state: &OmsState, watches: &MarketWatches, to: &mut StateLines) {
        let MarketWatches { all, next } = watches;
        to.of(format_args!("market watches"));
        to.some("next", next.map(|it| it + 1));
        for (place, watch) in (1_u64..).zip(all) {
            let MarketWatch {
                client,
                request,
                said,
            } = watch;
            let MarketRequest {
                kind,
                id,
                instrument,
                name,
            } = request;
            to.of(format_args!("market watch {place}"));
            to.say("client", self.session_named(client.session));
            to.say("type", core::ascii::escape_default(*kind));
            to.text("id", id);
            to.some("symbol", instrument.map(|it| state.symbol(it)));
            to.text("name", name);
            to.some("said", *said);
        }
    }

    fn of_recoveries(&self, recoveries: &Recoveries, to: &mut StateLines) {
        let Recoveries {
            archive: _, // Not state.
            queue,
            batch,
            count,
        } = recoveries;
        to.of(format_args!("requests for reports"));
        to.count("since the start", *count);
        to.count("bytes to send", batch.bytes());
        for (place, recovery) in (1_u64..).zip(queue) {
            let Recovery {
                id,
                number,
                request,
                is_asked,
            } = recovery;
            let ReportRequest {
                first,
                last,
                client,
                receiver: _,     // Rights of the client.
                dictionary: _,   // Settings.
                dictionaries: _, // Settings.
                settings: _,     // Settings.
                converter: _,    // Settings.
                securities: _,   // Settings.
                filter,
            } = request;
            to.of(format_args!("request for reports {place}"));
            to.text("ApplReqID", id);
            to.say("number", number);
            to.flag("the archive has it", *is_asked);
            to.say("from", first);
            to.say("to", last);
            to.say("client", self.session_named(client.session));
            of_filter(*filter, to);
        }
    }
}

fn of_filter(filter: ReportFilter, to: &mut StateLines) {
    let ReportFilter {
        last,
        working,
        fills,
        with_fills,
        no_pending,
        no_external,
    } = filter;
    to.flag("last", last);
    to.flag("working", working);
    to.flag("fills", fills);
    to.flag("with-fills", with_fills);
    to.flag("no-pending", no_pending);
    to.flag("no-external", no_external);
}

fn of_rates(state: &OmsState, rates: &ClientRates, to: &mut StateLines) {
    let ClientRates(rates) = rates;
    for (session, rate) in rates.numbered() {
        let Some(rate) = rate else { continue };
        let ClientRate {
            rule: _, // Settings.
            taken,
            next,
            rejected,
            is_leaving,
        } = rate;
        to.of(format_args!("rate of {}", state.session_name(session)));
        let (newer, older) = taken.split_at((*next).min(taken.len()));
        let taken = older.iter().chain(newer);
        to.each("request at", taken.filter(|at| **at != i64::MIN));
        to.count("rejected", *rejected);
        to.flag("is logged out", *is_leaving);
    }
}

fn of_listing(place: u64, to_whom: &str, listing: &Listing, to: &mut StateLines) {
    let Listing {
        client: _, // Named by the caller.
        id,
        total,
        left,
        is_new,
        why,
    } = listing;
    to.of(format_args!("mass status request {place}"));
    to.say("client", to_whom);
    to.text("id", id);
    to.say("total", total);
    to.each("left", left.iter().copied().map(OrderNo));
    to.flag("is new", *is_new);
    to.some("reason", why.map(|it| it.byte()));
}

fn of_dropped(dropped: &DroppedFields, to: &mut StateLines) {
    let DroppedFields { requests, reports } = dropped;
    to.of(format_args!("dropped fields of requests"));
    for ((whose, tag), count) in requests {
        to.say(&format!("{tag} by {whose:?}"), count);
    }
    let TagCounts { low, high, others } = reports;
    to.of(format_args!("dropped fields of reports"));
    for (tag, count) in low.iter().enumerate().filter(|it| *it.1 > 0) {
        to.say(&format!("{tag}"), count);
    }
    for (tag, count) in high {
        to.say(&format!("{tag}"), count);
    }
    to.count("others", *others);
}

fn of_tmp(state: &OmsState, tmp: &TmpLines, to: &mut StateLines) {
    let TmpLines {
        lines,
        scales: _, // Settings.
        unsent,
        greets_at,
    } = tmp;
    to.of(format_args!("tmp"));
    to.each("not written", unsent.iter().copied().map(OrderNo));
    to.count("first login at", *greets_at);
    for line in lines {
        of_tmp_line(state, line, to);
    }
}

fn of_tmp_line(state: &OmsState, line: &TmpLine, to: &mut StateLines) {
    let TmpLine {
        name,
        fcm_id: _,     // Settings.
        session_id: _, // Settings.
        marks: _,      // Settings.
        is_short: _,   // Settings.
        index,
        client,
        actions,
        done,
        behind,
        queue,
        is_overfull,
        due,
        is_up,
        greets,
        day,
        warned,
        is_lowered,
        refused,
        bulletins,
        bulletin_requests,
        system_type: _, // Settings.
        copies: _,      // Settings.
    } = line;
    to.of(format_args!("link {name}"));
    to.flag(
        "is known",
        index.is_some_and(|it| state.sessions.get(it).is_some()),
    );
    let numbers = client.numbers();
    to.count("last received", numbers.inbound);
    to.count("last sent", numbers.outbound);
    to.say("login", format_args!("{:?}", client.state()));
    to.some("login due", client.next_due());
    to.count("actions to do", actions.iter().count() - done);
    to.count("bytes since they were done", *behind);
    to.each("request", queue.iter().map(|it| it.bytes().escape_ascii()));
    to.flag("is overfull", *is_overfull);
    to.some("request due", *due);
    to.flag("is up", *is_up);
    to.flag("greets", *greets);
    to.count("day", *day);
    to.count("flow warning", warned.0);
    to.flag("inbound number is lowered", *is_lowered);
    to.count("logins refused", *refused);
    to.some("bulletins asked at", *bulletins);
    to.count("bulletin requests", *bulletin_requests);
}
