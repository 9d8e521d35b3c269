//! Operator commands: a verb and its arguments.
//!
//! | command | |
//! | --- | --- |
//! | `limit SCOPE... CODE=VALUE...` | sets a limit; `CODE=none` removes it |
//! | `cancel SCOPE...` | cancels the open orders; new ones are allowed |
//! | `market symbol=NAME STATE` | `open`, `auction`, `halted` or `closed` |
//! | `price symbol=NAME last=PRICE` | prices of a market, also `bid` and `offer`, for conditional orders |
//! | `kill SCOPE...`, `reducing SCOPE...`, `arm SCOPE...` | kill switch on; only orders that reduce positions; trading resumes |
//!
//! | `report order=NUMBER type=...` | a report of a venue, entered by hand |
//! | `rerun order=NUMBER without=RC8` | places an order again that a control rejected; also `order=SESSION/ClOrdID` |
//! | `accept break=NUMBER` | closes a break between a line and a drop copy of the venue |
//! | `settle break=NUMBER venue` | settles a break between a report of a venue and its order; also `ours` |
//! | `roll day=2026-11-23 cancel` | starts a trading day; `cancel` cancels the Day orders that are live first |
//! | `bulletin line=NAME from=NUMBER` | asks an exchange over TMP for its bulletins |
//! | `reload` | goes on with the settings that were put beside the OMS ([`SettingsSource`](crate::SettingsSource)) |
//!
//! SCOPE is `firm`, `session=NAME`, `account=NAME`, `symbol=NAME`, or `account=NAME symbol=NAME`. A limit with
//! `until=17:00` (UTC) expires then, and the limit before it is restored.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write as _;

use siphasher::sip::SipHasher24;

use fixwire_protocol::{Decimal, OperatorCommand, OperatorRight, Permission};

use crate::decide::core::{Core, Sink, scaled};
use crate::fix::{figure, scope_name};
use crate::state::event::OrderEvent;
use crate::values::counted::counted;
use crate::values::filter::OrderFilter;
use crate::values::limits::RiskControl;
use crate::values::rules::ScopeName;
use crate::values::scope::Scope;
use crate::values::value::{Market, Price, PriceField, Text, Trading};

/// Executes a command; returns what was done.
///
/// # Errors
///
/// Why it failed, and what to do.
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
    let by = (cut(command.who), cut(command.why));
    if words.verb == "report" {
        return core.report_by_hand(at, words.rest, by, sink);
    }
    if words.verb == "rerun" {
        return core.rerun(at, &words, by, sink);
    }
    if words.verb == "accept" {
        return core.accept_break(at, words.get("break"), by, sink);
    }
    if words.verb == "settle" {
        return core.settle_break(at, &words, by, sink);
    }
    if words.verb == "roll" {
        return core.roll(at, &words, by, sink);
    }
    let scope = words.scope()?;
    let scope = core
        .scope(&scope)
        .ok_or_else(|| format!("unknown {}", words.scope_text()))?;
    let name = scope_name(core.state(), scope);
    let state = match words.verb {
        "kill" => Trading::Killed,
        "reducing" => Trading::Reducing,
        "arm" => Trading::Active,
        "cancel" => {
            let filter = OrderFilter::of(scope);
            let orders = filter.count(core.state());
            core.withdraw(at, filter, (None, b""), by, sink);
            let orders = counted(orders, "open order");
            return Ok(format!("{name}: cancelling {orders}"));
        }
        "market" => return market(core, at, &words, scope, by, sink),
        "price" => return price(core, at, &words, scope, by, sink),
        "limit" => return limit(core, at, &words, (scope, &name), by, sink),
        other => {
            return Err(format!(
                "unknown command {other}: the commands are {}",
                VERBS.map(|(verb, _)| verb).join(", ")
            ));
        }
    };
    let open = core.state().standing(scope).map_or(0, |it| it.tally.orders);
    if let Scope::Session(index) = scope
        && core.is_line(index)
    {
        return Err(format!(
            "{name} is a session to a venue: log it out with fixwire session logout"
        ));
    }
    let is_killed = core.state().trading(scope) == Trading::Killed;
    if state == Trading::Reducing && is_killed {
        core.check_right(command.who, "arm")?;
    }
    let arms = state == Trading::Active || (state == Trading::Reducing && is_killed);
    if arms && !core.arms(at, scope, by, sink)? {
        return Ok(format!(
            "{name}: arming requested; another operator must arm it too"
        ));
    }
    core.set_trading(at, (scope, state), by, sink);
    Ok(match state {
        Trading::Killed => {
            let open = counted(open, "open order");
            format!("{name}: killed; cancelling {open}")
        }
        _ => format!("{name}: {state}"),
    })
}

/// The arguments of a command `bulletin`, or why it may not be given; `None` for another command.
#[cold]
pub(crate) fn bulletin<'a>(
    core: &Core,
    command: OperatorCommand<'a>,
) -> Option<Result<&'a str, String>> {
    let words = Words::parse(core::str::from_utf8(command.bytes).ok()?).ok()?;
    if words.verb != "bulletin" {
        return None;
    }
    if command.why.is_empty() {
        return Some(Err("reason missing: add --why \"...\"".into()));
    }
    let may = core.check_right(command.who, words.verb);
    Some(may.map(|()| words.rest))
}

/// Commands, and the right that each one requires.
pub const VERBS: [(&str, OperatorRight); 14] = [
    ("limit", OperatorRight::Limit),
    ("cancel", OperatorRight::Kill),
    ("kill", OperatorRight::Kill),
    ("reducing", OperatorRight::Kill),
    ("arm", OperatorRight::Arm),
    ("market", OperatorRight::Market),
    ("price", OperatorRight::Market),
    ("report", OperatorRight::Report),
    ("rerun", OperatorRight::Rerun),
    ("accept", OperatorRight::Break),
    ("settle", OperatorRight::Settle),
    ("roll", OperatorRight::Roll),
    ("bulletin", OperatorRight::Market),
    ("reload", OperatorRight::Reload),
];

/// The right that a command requires; `None` for one that nobody knows.
pub(crate) fn right(command: &[u8]) -> Option<OperatorRight> {
    let words = Words::parse(core::str::from_utf8(command).ok()?).ok()?;
    let known = VERBS.iter().find(|(verb, _)| *verb == words.verb);
    known.map(|(_, right)| *right)
}

/// Maximum number of limits in one command.
const MOST: usize = 6;

const MARKETS: [(&str, Market); 4] = [
    ("open", Market::Open),
    ("auction", Market::Auction),
    ("halted", Market::Halted),
    ("closed", Market::Closed),
];

fn market(
    core: &mut Core,
    at: i64,
    words: &Words<'_>,
    scope: Scope,
    by: (&[u8], &[u8]),
    sink: &mut impl Sink,
) -> Result<String, String> {
    let mut states = MARKETS.iter().filter(|(name, _)| words.has(name));
    let (Scope::Instrument(instrument), Some((name, state)), None) =
        (scope, states.next(), states.next())
    else {
        return Err("give symbol=NAME and one of open, auction, halted, closed".into());
    };
    core.set_market(at, (instrument, *state), by, sink);
    Ok(format!("{}: {name}", scope_name(core.state(), scope)))
}

/// Prices of a market, which trigger the conditional orders that they meet.
fn price(
    core: &mut Core,
    at: i64,
    words: &Words<'_>,
    scope: Scope,
    (who, _): (&[u8], &[u8]),
    sink: &mut impl Sink,
) -> Result<String, String> {
    let (instrument, prices) = prices(core, words, scope)?;
    for (field, price) in prices {
        core.price_by_hand(at, (instrument, field, price), who, sink);
    }
    let met = core.met();
    let name = scope_name(core.state(), scope);
    let met = counted(met as u64, "order");
    Ok(format!("{name}: price set; condition of {met} met"))
}

/// The instrument and prices of a command `price`.
fn prices(
    core: &Core,
    words: &Words<'_>,
    scope: Scope,
) -> Result<(u32, Vec<(PriceField, Price)>), String> {
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

/// The mistakes of commands `price`, separated by `;`: a line for each, its place and what is wrong.
pub(crate) fn check_prices(core: &Core, commands: &str) -> String {
    let mut wrong = String::new();
    for (place, text) in (1..).zip(commands.split(';')) {
        let found = Words::parse(text).and_then(|words| {
            let scope = core.scope(&words.scope()?);
            let scope = scope.ok_or_else(|| format!("unknown {}", words.scope_text()))?;
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
    (scope, name): (Scope, &str),
    by: (&[u8], &[u8]),
    sink: &mut impl Sink,
) -> Result<String, String> {
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
    if core.rules.two_arm && !core.is_second(asked, by.0)? {
        let (who, why) = by;
        let event = OrderEvent::ReloadAsked {
            settings: asked,
            who,
            why,
        };
        core.emit(at, &event, sink);
        return Ok(format!(
            "{name}: limit requested, nothing is changed; another operator must request the same"
        ));
    }
    for (control, value) in limits {
        let old = core.state().limit(scope, control);
        // For a temporary limit the one before it counts.
        let mut expiries = core.state().expiries.iter();
        let expiry = expiries.find(|it| (it.scope, it.control) == (scope, control));
        let before = expiry.map_or(old, |expiry| expiry.before);
        core.set_limit(at, (scope, control, value), by, sink);
        if let Some(until) = until {
            core.limit_until(at, (scope, control, before), until, sink);
        }
        let text = |value: Option<i128>| {
            let digits = control.unit().digits();
            value.map_or("none".to_string(), |value| figure(value, digits))
        };
        let _ = write!(done, "{name}: {control} is {}", text(value));
        let _ = match words.get("until") {
            "" => writeln!(done, " (was {})", text(old)),
            until => writeln!(done, " until {until} UTC, then {} again", text(before)),
        };
    }
    Ok(done.trim_end().into())
}

/// What two operators must have in common who set limits together.
fn limit_hash(scope: &str, limits: &[(RiskControl, Option<i128>)], until: &str) -> u64 {
    let mut limits: Vec<String> = limits
        .iter()
        .map(|(control, value)| format!("{control}={value:?}"))
        .collect();
    limits.sort_unstable();
    let text = format!("limit {scope} {} {until}", limits.join(" "));
    SipHasher24::new().hash(text.as_bytes())
}

/// Parses a limit in the unit of its control.
///
/// # Errors
///
/// The expected form of this limit.
pub fn limit_value(control: RiskControl, text: &str) -> Result<i128, String> {
    let digits = control.unit().digits();
    let wanted = || match digits {
        0 => format!("{control}={text}: the limit must be a whole number"),
        _ => format!("{control}={text}: the limit must be a number with at most {digits} decimals"),
    };
    let value = Decimal::parse(text.as_bytes()).map_err(|_| wanted())?;
    let value = value.normalized();
    let more = digits.checked_sub(value.scale).ok_or_else(wanted)?;
    if value.mantissa < 0 {
        return Err(format!("{control}={text}: the limit must not be negative"));
    }
    Ok(i128::from(value.mantissa) * 10_i128.pow(more.into()))
}

impl Core {
    /// Checks the right to a command. Without operators in the settings the engine has checked who asks.
    pub(crate) fn check_right(&self, who: &str, verb: &str) -> Result<(), String> {
        let Some((_, right)) = VERBS.iter().find(|(known, _)| *known == verb) else {
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

    /// What the settings say about a user and a right.
    pub(crate) fn permission(&self, who: &str, right: OperatorRight) -> Permission {
        let operators = self.rules.operators.iter();
        let rights = operators.map(|one| {
            let may = one.may.iter().any(|may| may == right.name());
            (one.user.as_str(), may)
        });
        Permission::of(who, rights)
    }

    /// Whether this request arms the scope. When two operators must arm it, the first request is recorded and returns
    /// false.
    fn arms(
        &mut self,
        at: i64,
        scope: Scope,
        (who, why): (&[u8], &[u8]),
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
            return Err("the operator who stopped it may not arm it: two others must".into());
        }
        match &stop.armed_by {
            Some(other) if *other == me => {
                Err("you already requested it: another operator must arm it too".into())
            }
            Some(_) => Ok(true),
            None => {
                self.emit(at, &OrderEvent::ArmAsked { scope, who, why }, sink);
                Ok(false)
            }
        }
    }
}

/// Cuts a text to what a note can hold.
pub(crate) fn cut(text: &str) -> &[u8] {
    &text.as_bytes()[..text.len().min(256)]
}

/// Verbs with words of their own.
const FREE: [&str; 7] = [
    "bulletin",
    "order",
    "report",
    "rerun",
    "settle",
    "check-reports",
    "check-prices",
];

/// A verb and `key=value` pairs.
pub(crate) struct Words<'a> {
    pub verb: &'a str,
    pub rest: &'a str,
}

impl<'a> Words<'a> {
    pub fn parse(text: &'a str) -> Result<Self, String> {
        let text = text.trim();
        if text.chars().any(char::is_control) {
            return Err("the command has control characters".into());
        }
        let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
        let words = Self { verb, rest };
        let known = [
            "firm", "session", "account", "symbol", "open", "until", "day", "last", "bid", "offer",
            "break",
        ];
        let is_known = |key: &str| {
            let is_of_roll = verb == "roll" && key == "cancel";
            let is_market = MARKETS.iter().any(|it| it.0 == key);
            known.contains(&key) || key.starts_with("RC") || is_market || is_of_roll
        };
        let unknown = words.pairs().find(|(key, _)| !is_known(key));
        match unknown {
            Some((key, _)) if !FREE.contains(&verb) => Err(format!(
                "unknown word {key}: name the scope (firm, session=NAME, account=NAME, symbol=NAME)"
            )),
            _ => Ok(words),
        }
    }

    pub fn pairs(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let words = self.rest.split_whitespace();
        words.map(|word| word.split_once('=').unwrap_or((word, "")))
    }

    pub fn get(&self, key: &str) -> &'a str {
        let mut pairs = self.pairs();
        pairs.find(|(known, _)| *known == key).map_or("", |it| it.1)
    }

    pub fn has(&self, key: &str) -> bool {
        self.pairs().any(|(known, _)| known == key)
    }

    fn scope(&self) -> Result<ScopeName, String> {
        let owned = |key| self.get(key).to_string();
        Ok(
            match (
                self.has("firm"),
                self.has("session"),
                self.has("account"),
                self.has("symbol"),
            ) {
                (true, false, false, false) => ScopeName::Firm,
                (false, true, false, false) => ScopeName::Session(owned("session")),
                (false, false, true, false) => ScopeName::Account(owned("account")),
                (false, false, false, true) => ScopeName::Instrument(owned("symbol")),
                (false, false, true, true) => ScopeName::Holding(owned("account"), owned("symbol")),
                _ => {
                    return Err(
                        "name the scope: firm, session=NAME, account=NAME, symbol=NAME, or account=NAME symbol=NAME"
                            .into(),
                    );
                }
            },
        )
    }

    fn scope_text(&self) -> String {
        let keys = ["session", "account", "symbol"];
        let named = self.pairs().filter(|(key, _)| keys.contains(key));
        let named = named.map(|(key, value)| format!("{key} {value}"));
        named.collect::<Vec<_>>().join(" or ")
    }
}
