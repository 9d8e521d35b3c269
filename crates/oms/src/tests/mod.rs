//! Test fixture: a core with one venue.

use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use fixwire_protocol::{Decimal, Ledger};

use crate::decide::core::{Change, Core, NewOrder, Others};
use crate::decide::venue::{ReportKind, VenueId, VenueReport};
use crate::load::load;
use crate::state::OmsState;
use crate::state::event::{LifecycleEvent, OrderEvent, QuoteEvent, RequestEvent};
use crate::state::tally::Tally;
use crate::values::ids::SessionNo;
use crate::values::reason::Why;
use crate::values::rules::RiskRules;
use crate::values::value::{Number, OrderType, RequestKind, Side, TimeInForce};
use crate::values::verbs::By;

mod breaks;
mod bytes;
mod conditions;
mod controls;
mod day;
mod effects;
mod family;
mod fields;
mod files;
mod helpers;
mod history;
mod inquiries;
mod keys;
mod late;
mod life;
mod markets;
mod mass;
mod operators;
mod pools;
mod positions;
mod queue;
mod quotes;
mod random;
mod reference_price;
mod reload;
mod rerun;
mod retry;
mod rights;
mod roll;
mod tmp;
mod venue_ids;

/// Somebody with a reason.
const fn by(who: &'static [u8], why: &'static [u8]) -> By<'static> {
    By { who, why }
}

const SETTINGS: &str = r#"[oms]
day_begins = "00:00 UTC"
instruments = "instruments.csv"
limits = "limits.csv"
remembered = 4
[[account]]
name = "DESK"
[[account]]
name = "A1"
parent = "DESK"
[[account]]
name = "A2"
parent = "DESK"
[[user]]
session = "CLIENT"
accounts = ["A*"]
may = ["new", "replace", "cancel", "mass cancel", "status"]
account = "A1"
on_logout = "cancel"
on_disconnect = "cancel after 5s"
[[line_group]]
name = "SIM"
lines = ["SIM-1", "SIM-2"]
[[route]]
symbols = ["*"]
to = "SIM"
"#;

const INSTRUMENTS: &str = "symbol,tick,lot,multiplier,reference\nXYZ,0.05,10,2,100\nABC,1,1,1,50\n";

const LIMITS: &str = "scope,control,limit\nfirm,RC6,1000\nfirm,RC7,1000000\nfirm,RC8,10\nfirm,RC13,100\n\
                      firm,RC14,100000000\nfirm,RC15,5000\n";

const SESSIONS: [&str; 3] = ["CLIENT", "SIM-1", "SIM-2"];
const CLIENT: SessionNo = SessionNo::new(0);
const LINES: [SessionNo; 2] = [SessionNo::new(1), SessionNo::new(2)];

fn rules(limits: &str) -> RiskRules {
    let mut open = |file: &str| match file {
        "instruments.csv" => Ok(INSTRUMENTS.to_string()),
        "limits.csv" => Ok(limits.to_string()),
        other => Err(format!("no {other}")),
    };
    let mut rules = load(SETTINGS, &SESSIONS, &mut open).unwrap();
    // Tests of rolls wait.
    rules.roll_wait = 0;
    rules
}

/// A core and its notes.
struct World {
    core: Core,
    at: i64,
    notes: Vec<(i64, Vec<u8>)>,
    /// The events of the last input, by name.
    said: Vec<String>,
    /// Why the last input was rejected.
    refused: Option<Why>,
    /// Orders and requests sent, and their session.
    sent: Vec<(VenueId, SessionNo)>,
    execs: u64,
    ids: u64,
}

impl World {
    fn new() -> Self {
        Self::with(LIMITS)
    }

    fn with(limits: &str) -> Self {
        Self::of(rules(limits))
    }

    fn of(rules: RiskRules) -> Self {
        let mut world = Self {
            core: Core::new(rules),
            at: 1_000,
            notes: Vec::new(),
            said: Vec::new(),
            refused: None,
            sent: Vec::new(),
            execs: 0,
            ids: 0,
        };
        world.begin(20_261_122);
        for line in LINES {
            world.tell(|core, at, mut sink| core.line_up(at, line, &mut sink));
        }
        world
    }

    fn begin(&mut self, day: u32) {
        let names = SESSIONS.map(String::from);
        self.tell(|core, at, mut sink| while !core.begin(at, day, 7, &names, 3, &mut sink) {});
    }

    /// Passes an input to the core; returns the result.
    fn tell<T>(
        &mut self,
        input: impl FnOnce(&mut Core, i64, &mut dyn FnMut(&OmsState, &OrderEvent<'_>)) -> T,
    ) -> T {
        self.at += 1_000_000;
        let Self {
            core,
            at,
            notes,
            said,
            refused,
            sent,
            ..
        } = self;
        said.clear();
        *refused = None;
        let mut sink = |state: &OmsState, event: &OrderEvent<'_>| {
            let mut note = state.time().to_le_bytes().to_vec();
            event.put(&mut note);
            assert_eq!(
                OrderEvent::of(&note[8..]).as_ref(),
                Some(event),
                "it comes back"
            );
            notes.push((*at, note));
            said.push(event.name().to_string());
            match *event {
                OrderEvent::Request(RequestEvent::Refused { reason, .. })
                | OrderEvent::Request(RequestEvent::MassCancelRefused { reason, .. })
                | OrderEvent::Quote(QuoteEvent::QuoteRefused { reason, .. })
                | OrderEvent::Order(LifecycleEvent::Rejected { reason, .. }) => {
                    *refused = Some(reason.why);
                }
                OrderEvent::Quote(QuoteEvent::QuoteSent { order, line }) => {
                    let both = [order, order + 1];
                    sent.extend(both.map(|order| (queue::order(order), line)));
                }
                OrderEvent::Request(RequestEvent::Sent { number, line }) => {
                    let id = match (state.orders().request(number), state.orders().get(number)) {
                        (Some((_, order)), _) => (order.number, number),
                        (None, order) => (number, order.map_or(number, |it| it.attempt())),
                    };
                    let (order, request) = id;
                    sent.push((VenueId { order, request }, line));
                }
                _ => {}
            }
        };
        input(core, *at, &mut sink)
    }

    fn order(&mut self, side: Side, quantity: i64, price: &str) -> Option<Number> {
        self.ids += 1;
        let id = format!("C{}", self.ids);
        self.order_of(&id, b"A1", side, quantity, price)
    }

    /// An order with another TimeInForce(59).
    fn order_with(&mut self, tif: TimeInForce) -> Option<Number> {
        self.ids += 1;
        let id = format!("C{}", self.ids);
        self.place(&id, b"A1", (Side::Buy, tif), 10, "100")
    }

    fn order_of(
        &mut self,
        id: &str,
        account: &[u8],
        side: Side,
        quantity: i64,
        price: &str,
    ) -> Option<Number> {
        self.place(id, account, (side, TimeInForce::Day), quantity, price)
    }

    fn place(
        &mut self,
        id: &str,
        account: &[u8],
        (side, tif): (Side, TimeInForce),
        quantity: i64,
        price: &str,
    ) -> Option<Number> {
        let (kind, price) = match price {
            "market" => (OrderType::Market, None),
            price => (OrderType::Limit, Decimal::parse(price.as_bytes()).ok()),
        };
        let new = NewOrder {
            session: CLIENT,
            id: id.as_bytes(),
            account,
            symbol: b"XYZ",
            side: Some(side),
            kind: Some(kind),
            tif: Some(tif),
            price,
            stop: None,
            quantity: Decimal::from_int(quantity),
            is_located: false,
            own_number: b"",
            route: None,
            terms: crate::Terms::NONE,
            until: None,
            effect: Some(crate::values::value::Effect::Netting),
        };
        self.tell(|core, at, mut sink| core.new_order(at, &new, &mut sink));
        self.refused.is_none().then(|| self.core.state().last)
    }

    fn request(
        &mut self,
        order: Number,
        kind: RequestKind,
        quantity: Option<i64>,
        price: Option<&str>,
    ) -> Option<Number> {
        self.ids += 1;
        let id = format!("C{}", self.ids);
        let known = self.core.state().orders().get(order);
        let original = known.map_or("gone".to_string(), |order| order.id.to_string());
        let change = Change {
            order_id: None,
            session: CLIENT,
            kind,
            id: id.as_bytes(),
            original: original.as_bytes(),
            symbol: b"XYZ",
            side: None,
            quantity: quantity.map(Decimal::from_int),
            price: price.and_then(|price| Decimal::parse(price.as_bytes()).ok()),
            valid_for: None,
            others: Others::default(),
        };
        self.tell(|core, at, mut sink| core.change(at, &change, &mut sink));
        self.refused.is_none().then(|| self.core.state().last)
    }

    fn cancel(&mut self, order: Number) -> Option<Number> {
        self.request(order, RequestKind::Cancel, None, None)
    }

    fn replace(&mut self, order: Number, quantity: i64, price: &str) -> Option<Number> {
        self.request(order, RequestKind::Replace, Some(quantity), Some(price))
    }

    fn report(&mut self, report: &VenueReport<'_>) {
        self.tell(|core, at, mut sink| core.report(at, report, &mut sink));
    }

    fn accept(&mut self, order: Number) {
        self.report(&about(order, order, ReportKind::New));
    }

    /// A new fill; returns its number, for duplicates.
    fn fill(&mut self, order: Number, quantity: i64, price: &str) -> u64 {
        self.execs += 1;
        self.fill_again(order, quantity, price, self.execs);
        self.execs
    }

    fn fill_again(&mut self, order: Number, quantity: i64, price: &str, exec: u64) {
        let report = VenueReport {
            // Of an order that nobody knows.
            side: Some(Side::Buy).filter(|_| self.core.state().orders().get(order).is_none()),
            exec,
            last_quantity: Some(Decimal::from_int(quantity)),
            last_price: Decimal::parse(price.as_bytes()).ok(),
            ..about(order, order, ReportKind::Fill)
        };
        self.report(&report);
    }

    fn decline(&mut self, request: Number) {
        self.tell(|core, at, mut sink| core.decline(at, request, Why::Venue, b"no", &mut sink));
    }

    /// The state after a crash: from all notes.
    fn replayed(&self) -> OmsState {
        let mut state = OmsState::with_capacity(0);
        for (_, note) in &self.notes {
            state.apply_note(note);
        }
        state
    }

    /// Kills and restarts the process.
    fn restart(&mut self, day: u32) {
        let mut core = Core::new(self.core.rules().clone());
        for (_, note) in &self.notes {
            core.replay_note(note);
        }
        assert_eq!(core.state().hash(), self.core.state().hash());
        self.core = core;
        self.begin(day);
    }

    fn work(&mut self) {
        let mut said = Vec::new();
        while self.core.has_work(self.at) {
            self.tell(|core, at, mut sink| core.work(at, &mut sink));
            said.append(&mut self.said);
        }
        self.said = said;
    }

    /// Checks the invariants of a state.
    fn check(&self) {
        let state = self.core.state();
        assert_eq!(state.violations(), 0);
        assert_eq!(self.replayed().hash(), state.hash(), "the notes make it");
        day::check_live_rows(self);
        let mut written = Vec::new();
        state.write(&mut |bytes| written.extend_from_slice(bytes));
        let mut read = OmsState::default();
        read.read(state.form().1, &written).unwrap();
        assert_eq!(read.hash(), state.hash(), "a checkpoint holds it");
        assert!(
            self.core.own.is_of(state),
            "levels are those of open orders"
        );
        let mut firm = Tally::default();
        for order in state.orders().iter() {
            let request = state.orders().request_of(order);
            firm.change(&Tally::default(), &state.counted(order, request));
            assert!(order.filled + order.leaves() <= order.quantity.max(order.filled));
        }
        firm.traded = state.firm.tally.traded;
        let holdings = state.holdings.iter();
        let gained = holdings.map(|it| state.gain(it.instrument, it.gained()));
        firm.gained = gained.sum();
        assert_eq!(firm, state.firm.tally, "what is reserved is what is open");
    }
}

impl World {
    /// An operator says that the venue is wrong in all breaks.
    fn settle_all(&mut self) {
        let breaks = self.core.state().breaks.iter().map(|(number, _)| number);
        for number in breaks.collect::<Vec<u64>>() {
            self.settle(number, "ours");
        }
    }

    fn settle(&mut self, number: u64, which: &str) -> String {
        let text = format!("settle break={number} {which}");
        let mut answer = String::new();
        self.tell(|core, at, mut sink| {
            let command = fixwire_protocol::OperatorCommand {
                bytes: text.as_bytes(),
                who: "ann",
                why: "why",
            };
            let done = crate::desk::command::carry_out(core, at, command, &mut sink);
            answer = done.unwrap_or_else(|error| error);
        });
        answer
    }
}

/// A report about an order or a request of it.
fn about<'a>(order: Number, request: Number, kind: ReportKind) -> VenueReport<'a> {
    VenueReport {
        venue_id: b"V",
        account: b"A1",
        symbol: b"XYZ",
        ..VenueReport::of(LINES[0], VenueId { order, request }, kind)
    }
}
