//! Operator commands: a verb of [`COMMANDS`], followed by its arguments.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write as _;

use siphasher::sip::SipHasher24;

use fixwire_protocol::{Decimal, OperatorCommand, OperatorRight, Permission};

use crate::decide::core::{Core, Sink};
use crate::decide::venue::strays::undo_name;
use crate::decide::venue::undo::undo_report;
use crate::decide::venue::{ReportOutcome, VenueReport};
use crate::desk::history::recall::RecallCommand;
use crate::desk::positions;
use crate::state::event::{LimitEvent, OrderEvent, StrayEvent};
use crate::state::filter::OrderFilter;
use crate::state::orders::strays::StrayUndo;
use crate::state::show::scope_name;
use crate::values::ids::InstrumentNo;
use crate::values::limits::RiskControl;
use crate::values::rules::ScopeName;
use crate::values::scope::Scope;
use crate::values::show::counted;
use crate::values::show::{figure, text};
use crate::values::units::scaled;
use crate::values::value::{Price, PriceField, Text, Trading};
use crate::values::verbs::{By, COMMANDS, CommandVerb, OperatorVerb};
use crate::values::words::{MARKETS, Words, cut, limit_value, no_order};

/// Carries out a command; returns a text that says what was done.
///
/// # Errors
///
/// Why the command failed, and what to do.
pub fn carry_out(
    core: &mut Core,
    at: i64,
    command: OperatorCommand<'_>,
    sink: &mut impl Sink,
) -> Result<String, String> {
    let text = core::str::from_utf8(command.bytes).map_err(|_| "the command is not UTF-8 text")?;
    let words = Words::parse(text)?;
    if command.why.is_empty() {
        return Err("reason missing: add --why \"...\"".into());
    }
    core.check_right(command.who, words.verb)?;
    let Some(known) = OperatorVerb::named(&COMMANDS, words.verb) else {
        let commands = OperatorVerb::listed(&COMMANDS, words.verb);
        let verb = words.verb;
        return Err(format!(
            "unknown command {verb}: the commands are {commands}"
        ));
    };
    let by = By {
        who: cut(command.who),
        why: cut(command.why),
    };
    let trading = match known.verb {
        CommandVerb::Limit => {
            let scope = scope_of(core, &words)?;
            return limit(core, at, &words, scope, by, sink);
        }
        CommandVerb::Cancel => {
            let scope = scope_of(core, &words)?;
            let filter = OrderFilter::of(scope);
            let orders = filter.count(core.state());
            core.withdraw(at, filter, by, sink);
            let (name, orders) = (
                scope_name(core.state(), scope),
                counted(orders, "open order"),
            );
            return Ok(format!("{name}: cancelling {orders}"));
        }
        CommandVerb::Market => {
            let scope = scope_of(core, &words)?;
            return market(core, at, &words, scope, by, sink);
        }
        CommandVerb::Price => {
            let scope = scope_of(core, &words)?;
            return price(core, at, &words, scope, by, sink);
        }
        CommandVerb::Report => return core.report_by_hand(at, words.rest, by, sink),
        CommandVerb::Bust | CommandVerb::Correct => {
            return undo(core, at, &words, by, sink);
        }
        CommandVerb::Recall => return recall(core, at, &words, by, sink),
        CommandVerb::Rerun => return core.rerun(at, &words, by, sink),
        CommandVerb::Accept => return core.accept_break(at, words.get("break"), by, sink),
        CommandVerb::Settle => return settle_any_break(core, at, &words, by, sink),
        CommandVerb::Roll => return core.roll(at, &words, by, sink),
        CommandVerb::Position => return positions::set_position(core, at, words.rest, by, sink),
        CommandVerb::Load => return positions::load_positions(core, at, words.rest, by, sink),
        // The application carries out these commands, because it has the lines, the new settings and the listener of
        // events.
        CommandVerb::Bulletin | CommandVerb::Reload | CommandVerb::Differ => {
            return Err(format!(
                "{} is a command of the application, not of the OMS",
                known.name
            ));
        }
        CommandVerb::Kill => Trading::Killed,
        CommandVerb::Reducing => Trading::Reducing,
        CommandVerb::Arm => Trading::Active,
    };
    let scope = scope_of(core, &words)?;
    let name = scope_name(core.state(), scope);
    let open = core.state().standing(scope).map_or(0, |it| it.tally.orders);
    if let Scope::Session(index) = scope
        && core.is_line(index)
    {
        return Err(format!(
            "{name} is a session to a venue: log it out with fixwire session logout"
        ));
    }
    let is_killed = core.state().trading(scope) == Trading::Killed;
    if trading == Trading::Reducing && is_killed {
        core.check_right(command.who, "arm")?;
    }
    let arms = trading == Trading::Active || (trading == Trading::Reducing && is_killed);
    if arms && !core.arms(at, scope, trading, by, sink)? {
        return Ok(match trading {
            Trading::Active => {
                format!("{name}: arming requested; another operator must arm it too")
            }
            _ => format!("{name}: {trading} requested; another operator must request the same"),
        });
    }
    core.set_trading(at, scope, trading, by, sink);
    Ok(match trading {
        Trading::Killed => {
            let open = counted(open, "open order");
            format!("{name}: killed; cancelling {open}")
        }
        _ => format!("{name}: {trading}"),
    })
}

/// The scope that a command names.
fn scope_of(core: &Core, words: &Words<'_>) -> Result<Scope, String> {
    let name = words.scope()?;
    core.scope(&name).ok_or_else(|| {
        let unknown = format!("unknown {}", words.scope_text());
        let created = match &name {
            ScopeName::Session(session) => core.rules().user_of_created(session),
            ScopeName::Firm
            | ScopeName::Account(_)
            | ScopeName::Instrument(_)
            | ScopeName::Holding(..) => None,
        };
        match created {
            Some(user) => format!(
                "{unknown}: [[user]] {} takes a session of this name when a Logon creates it; until then give the command for its accounts",
                user.session
            ),
            None => unknown,
        }
    })
}

/// The arguments of a command that the application carries out, such as `bulletin`; an error if the operator may not
/// give it. `None` for any other command.
#[cold]
pub(crate) fn of_application<'a>(
    core: &Core,
    verb: &str,
    command: OperatorCommand<'a>,
) -> Option<Result<&'a str, String>> {
    let words = Words::parse(core::str::from_utf8(command.bytes).ok()?).ok()?;
    if words.verb != verb {
        return None;
    }
    if command.why.is_empty() {
        return Some(Err("reason missing: add --why \"...\"".into()));
    }
    let may = core.check_right(command.who, words.verb);
    Some(may.map(|()| words.rest))
}

/// The right that a command requires; `None` for a command that does not exist.
pub(crate) fn right(command: &[u8]) -> Option<OperatorRight> {
    let words = Words::parse(core::str::from_utf8(command).ok()?).ok()?;
    OperatorVerb::named(&COMMANDS, words.verb).map(|it| it.right)
}

/// Busts or corrects a fill. With `arming = "two people"` two operators must give the command.
fn undo(
    core: &mut Core,
    at: i64,
    words: &Words<'_>,
    by: By<'_>,
    sink: &mut impl Sink,
) -> Result<String, String> {
    let undo = core.undo_named(words)?;
    let asked = core.undo_request(&undo);
    if !core.is_confirmed(at, asked, by, sink)? {
        return Ok(format!(
            "fill {}: requested, nothing is changed; another operator must request the same",
            undo.name
        ));
    }
    core.undo_by_hand(at, &undo, by, sink)
}

/// Takes a closed order into memory again.
fn recall(
    core: &mut Core,
    at: i64,
    words: &Words<'_>,
    By { who, why }: By<'_>,
    sink: &mut impl Sink,
) -> Result<String, String> {
    let asked = RecallCommand::parse(words)?;
    if core.state().orders().get(asked.order).is_some() {
        return Ok(format!("order {}: in memory already", asked.order));
    }
    // A child order needs its parent in memory too.
    if core.rules().remembered < 2 {
        return Err(format!(
            "order {}: remembered must be at least 2: with {} the OMS removes closed orders from memory at once",
            asked.order,
            core.rules().remembered
        ));
    }
    asked.check(core.state())?;
    let event = OrderEvent::Stray(StrayEvent::Recalled {
        order: asked.order,
        price_scale: asked.scales.price,
        quantity_scale: asked.scales.quantity,
        row: &asked.row,
        who,
        why,
    });
    core.emit(at, &event, sink);
    core.forget(at, sink);
    let orders = core.state().orders();
    if orders.get(asked.order).is_none() {
        return Err(format!(
            "order {}: it has left memory again at once: {} closed orders with open breaks take the place of remembered = {}: settle them with fixwire oms breaks settle, or raise remembered",
            asked.order,
            orders.kept_count(),
            core.rules().remembered
        ));
    }
    Ok(format!("order {}: in memory again", asked.order))
}

/// Settles a break with a venue. A bust or correction that was of no order in memory may be of one by now.
fn settle_any_break(
    core: &mut Core,
    at: i64,
    words: &Words<'_>,
    by: By<'_>,
    sink: &mut impl Sink,
) -> Result<String, String> {
    let venue = words.has("venue");
    let number = words.get("break").parse::<u64>().ok();
    let undos = &core.state().strays.undos;
    let undo = number.and_then(|number| Some((number, undos.get(&number)?.clone())));
    match undo.filter(|_| venue != words.has("ours")) {
        Some((number, undo)) => settle_stray_undo(core, at, number, &undo, venue, by, sink),
        None => core.settle_break(at, words, by, sink),
    }
}

const OURS: &str = "settle it with ours, and change the position with fixwire oms position adjust";

/// Settles a bust or correction of a fill that was not in memory. As the venue's it is applied to its order, which
/// must be in memory by now.
fn settle_stray_undo(
    core: &mut Core,
    at: i64,
    number: u64,
    undo: &StrayUndo,
    venue: bool,
    by: By<'_>,
    sink: &mut impl Sink,
) -> Result<String, String> {
    let report = match venue {
        true => Some(report_again(core, undo)?),
        false => None,
    };
    if let Some(report) = &report {
        if undo.is_correction
            && let Some(order) = core.state().orders().get(undo.order)
        {
            core.widen(at, order.instrument, report.last_price, sink);
        }
        fits_now(core, undo, report)?;
    }
    let asked_by = undo.asked_by.as_ref();
    if let Some(text) = core.ask_second_settle(at, number, venue, asked_by, by, sink)? {
        return Ok(text);
    }
    let Some(report) = report else {
        return Ok(format!("break {number}: settled: nothing is changed"));
    };
    let done = match core.undone(at, &report, undo.is_correction, sink) {
        ReportOutcome::Taken => "is applied to",
        _ => "was known already, and changes nothing of",
    };
    core.settle(at, undo.order, sink);
    core.work.look_again(&core.state, undo.order);
    core.forget(at, sink);
    Ok(format!(
        "break {number}: settled: the {} {done} order {}",
        undo_name(undo.is_correction),
        undo.order
    ))
}

/// The report of a bust or correction, for its order. An error says why it cannot be applied.
fn report_again<'a>(core: &Core, undo: &'a StrayUndo) -> Result<VenueReport<'a>, String> {
    let number = undo.order;
    if number == 0 {
        return Err(format!(
            "ClOrdID(11) or Symbol(55) of the report is unknown: {OURS}"
        ));
    }
    let state = core.state();
    let order = state.orders().get(number);
    let order = order.ok_or_else(|| format!("{}; {OURS}", no_order(number)))?;
    let is_its = undo.instrument.is_none_or(|it| it == order.instrument)
        && undo.side.is_none_or(|it| it.agrees(order.side))
        && core.may_report(undo.line, order);
    if !is_its {
        return Err(format!(
            "order {number} has another Symbol(55), Side(54) or line than the report: {OURS}"
        ));
    }
    if state.legs(order.instrument).is_some() {
        return Err(format!("order {number} is of a spread: {OURS}"));
    }
    let report = VenueReport {
        exec: undo.exec,
        last_quantity: undo.quantity,
        last_price: undo.price,
        filled: undo.filled,
        reference: Some(undo.of),
        status: undo.status,
        at: undo.at,
        text: undo.text.bytes(),
        ..undo_report(undo.line, order, undo.is_correction)
    };
    Ok(report)
}

/// Refuses a report that fits no fill of its order.
fn fits_now(core: &Core, undo: &StrayUndo, report: &VenueReport<'_>) -> Result<(), String> {
    let number = undo.order;
    if core.is_repeated(number, report) {
        return Ok(());
    }
    let fill = text(undo.fill.bytes());
    let fits = core.undo_of(number, report, undo.is_correction);
    fits.map(|_| ())
        .map_err(|what| format!("fill {fill} of order {number}: {what}: {OURS}"))
}

/// Maximum number of limits that one command sets.
const MOST: usize = 6;

fn market(
    core: &mut Core,
    at: i64,
    words: &Words<'_>,
    scope: Scope,
    by: By<'_>,
    sink: &mut impl Sink,
) -> Result<String, String> {
    let mut states = MARKETS.iter().filter(|(name, _)| words.has(name));
    let (Scope::Instrument(instrument), Some((name, state)), None) =
        (scope, states.next(), states.next())
    else {
        return Err("give symbol=NAME and one of open, auction, halted, closed".into());
    };
    core.set_market(at, instrument, *state, by, sink);
    Ok(format!("{}: {name}", scope_name(core.state(), scope)))
}

/// Sets prices of a market. The prices trigger the conditional orders whose condition they meet.
fn price(
    core: &mut Core,
    at: i64,
    words: &Words<'_>,
    scope: Scope,
    by: By<'_>,
    sink: &mut impl Sink,
) -> Result<String, String> {
    let (instrument, prices) = prices(core, words, scope)?;
    for (field, price) in prices {
        core.price_by_hand(at, instrument, field, price, by.who, sink);
    }
    let met = core.met();
    let name = scope_name(core.state(), scope);
    let met = counted(met as u64, "order");
    Ok(format!(
        "{name}: price set; it meets the condition of {met}"
    ))
}

/// The instrument and the prices of a `price` command.
fn prices(
    core: &Core,
    words: &Words<'_>,
    scope: Scope,
) -> Result<(InstrumentNo, Vec<(PriceField, Price)>), String> {
    const WANTED: &str = "give symbol=NAME and a price: last=101.5, bid=101 or offer=102";
    let Scope::Instrument(instrument) = scope else {
        return Err(WANTED.into());
    };
    let scale = core.state().scale(instrument);
    let mut prices = Vec::new();
    for field in [PriceField::Last, PriceField::Bid, PriceField::Offer] {
        let text = words.get(&field.to_string());
        if text.is_empty() {
            continue;
        }
        let price = Decimal::parse(text.as_bytes()).ok();
        let price = price.and_then(|price| scaled(price, scale).ok());
        let price = price.ok_or_else(|| {
            format!("{field}={text} is not a price with at most {scale} decimals")
        })?;
        prices.push((field, price));
    }
    if prices.is_empty() {
        return Err(WANTED.into());
    }
    Ok((instrument, prices))
}

/// Checks `price` commands that are separated by `;`. The answer has one line for each mistake, with the position of
/// the command and the error.
pub(crate) fn check_prices(core: &Core, commands: &str) -> String {
    let mut wrong = String::new();
    for (place, text) in (1..).zip(commands.split(';')) {
        let found = Words::parse(text).and_then(|words| {
            let scope = scope_of(core, &words)?;
            prices(core, &words, scope)
        });
        if let Err(what) = found {
            let _ = writeln!(wrong, "{place}\t{what}");
        }
    }
    wrong
}

fn limit(
    core: &mut Core,
    at: i64,
    words: &Words<'_>,
    scope: Scope,
    by: By<'_>,
    sink: &mut impl Sink,
) -> Result<String, String> {
    let name = &scope_name(core.state(), scope);
    let codes = words.pairs().filter(|(key, _)| key.starts_with("RC"));
    let mut done = String::new();
    let mut limits = Vec::new();
    for (code, value) in codes {
        let controls = RiskControl::named(code);
        if controls.is_empty() {
            let known: alloc::vec::Vec<&str> =
                RiskControl::ALL.iter().map(|it| it.code()).collect();
            return Err(format!(
                "unknown control {code}; the controls are {}",
                known.join(", ")
            ));
        }
        for control in controls {
            let value = match value {
                "none" => None,
                value => Some(limit_value(*control, value)?),
            };
            if limits.iter().any(|(known, _)| known == control) {
                return Err(format!("{control} is listed twice"));
            }
            limits.push((*control, value));
        }
    }
    if limits.is_empty() {
        return Err("give a limit as CONTROL=VALUE, for example RC6=1000".into());
    }
    if limits.len() > MOST {
        return Err(format!("at most {MOST} limits in one command"));
    }
    let until =
        match words.get("until") {
            "" => None,
            text => Some(crate::values::day::next(at, text).ok_or_else(|| {
                format!("until={text}: write a time of day in UTC, such as 17:00")
            })?),
        };
    let asked = limit_hash(name, &limits, words.get("until"));
    if !core.is_confirmed(at, asked, by, sink)? {
        return Ok(format!(
            "{name}: limit requested, nothing is changed; another operator must request the same"
        ));
    }
    for (control, value) in limits {
        let old = core.state().limit(scope, control);
        // While a temporary limit applies, the limit before the temporary one must be restored.
        let mut expiries = core.state().expiries.iter();
        let expiry = expiries.find(|it| (it.scope, it.control) == (scope, control));
        let before = expiry.map_or(old, |expiry| expiry.before);
        core.set_limit(at, scope, control, value, by, sink);
        if let Some(until) = until {
            core.limit_until(at, scope, control, before, until, sink);
        }
        let text = |value: Option<i128>| {
            let digits = control.unit().digits();
            value.map_or("none".to_string(), |value| figure(value, digits))
        };
        let _ = write!(done, "{name}: {control} is {}", text(value));
        let _ = match until.map(crate::values::day::minute) {
            None => writeln!(done, " (was {})", text(old)),
            Some(until) => writeln!(done, " until {until}, then {} again", text(before)),
        };
    }
    Ok(done.trim_end().into())
}

/// Hash of a request to set limits. Two operators who set limits together must give requests with the same hash.
fn limit_hash(scope: &str, limits: &[(RiskControl, Option<i128>)], until: &str) -> u64 {
    let mut limits: Vec<String> = limits
        .iter()
        .map(|(control, value)| format!("{control}={value:?}"))
        .collect();
    limits.sort_unstable();
    let text = format!("limit {scope} {} {until}", limits.join(" "));
    SipHasher24::new().hash(text.as_bytes())
}

impl Core {
    /// Checks whether an operator has the right for a command. When the settings name no operators, the engine has
    /// already checked the user.
    pub(crate) fn check_right(&self, who: &str, verb: &str) -> Result<(), String> {
        let Some(OperatorVerb { right, .. }) = OperatorVerb::named(&COMMANDS, verb) else {
            return Ok(());
        };
        match self.permission(who, *right) {
            Permission::Open | Permission::Granted => Ok(()),
            Permission::Missing => Err(format!(
                "{who} has no permission to {verb}: the right {right} is missing; an [[operator]] table of the \
                 settings grants it"
            )),
            Permission::NoOperator => Err(format!(
                "{who} is not an operator: an [[operator]] table of the settings names operators"
            )),
        }
    }

    /// Whether the settings give a user a right.
    pub(crate) fn permission(&self, who: &str, right: OperatorRight) -> Permission {
        let operators = self.rules.operators.iter();
        let rights = operators.map(|one| {
            let may = one.may.iter().any(|may| may == right.name());
            (one.user.as_str(), may)
        });
        Permission::of(who, rights)
    }

    /// Whether this request sets the trading state of the scope now. When two operators must request the same state,
    /// the first request is recorded, in place of one for another state, and the result is false.
    fn arms(
        &mut self,
        at: i64,
        scope: Scope,
        state: Trading,
        By { who, why }: By<'_>,
        sink: &mut impl Sink,
    ) -> Result<bool, String> {
        if !self.rules.two_arm {
            return Ok(true);
        }
        let known = self.state.stops.iter().find(|stop| stop.scope == scope);
        let Some(stop) = known else {
            return Ok(true);
        };
        let me = Text::new(&who[..who.len().min(Text::MAX)]);
        if stop.by == me {
            return Err(
                "the operator who stopped the scope may not arm it: two other operators must"
                    .into(),
            );
        }
        match stop.asked.as_ref().filter(|asked| asked.state == state) {
            Some(asked) if asked.by == me => Err(match state {
                Trading::Active => {
                    "you already requested it: another operator must arm it too".into()
                }
                _ => "you already requested it: another operator must request the same".into(),
            }),
            Some(_) => Ok(true),
            None => {
                let event = OrderEvent::Limit(LimitEvent::ArmAsked {
                    scope,
                    state,
                    who,
                    why,
                });
                self.emit(at, &event, sink);
                Ok(false)
            }
        }
    }
}
