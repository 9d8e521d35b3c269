//! What operators tell and ask: lines of words, answered in lines of columns.
//!
//! | command | |
//! | --- | --- |
//! | `limit SCOPE... CODE=VALUE...` | sets a limit; `CODE=none` takes it away |
//! | `cancel SCOPE...` | cancels the open orders; new ones pass |
//! | `market symbol=NAME STATE` | `open`, `auction`, `halted` or `closed` |
//! | `kill SCOPE...`, `reducing SCOPE...`, `arm SCOPE...` | no new risk, only what reduces it, as usual |
//!
//! SCOPE is `firm`, `session=NAME`, `account=NAME`, `symbol=NAME`, or `account=NAME symbol=NAME`. Queries are
//! `status`, `orders [account=NAME] [open]`, `order NUMBER`, `positions`, `limits`. The first line of their
//! answers names the columns, which a tab parts.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::Write as _;

use fixwire_protocol::{Decimal, OperatorCommand};

use crate::core::{Core, Sink};
use crate::fix::{average, figure, price, scope_name};
use crate::limits::Control;
use crate::mass::Filter;
use crate::order::Order;
use crate::rules::ScopeName;
use crate::scope::Scope;
use crate::state::State;
use crate::transition::OrderState;
use crate::value::{End, Market, Trading};

/// Carries a command out; what was done.
///
/// # Errors
///
/// Why not, and what would do.
pub fn carry_out(
    core: &mut Core,
    at: i64,
    command: OperatorCommand<'_>,
    sink: &mut impl Sink,
) -> Result<String, String> {
    let text = core::str::from_utf8(command.bytes).map_err(|_| "the command is no text")?;
    let words = Words::parse(text)?;
    if command.why.is_empty() {
        return Err("say why: --why \"...\"".into());
    }
    let by = (cut(command.who), cut(command.why));
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
            let filter = Filter::of(scope);
            let orders = filter.count(core.state());
            core.withdraw(at, filter, (None, b""), by, sink);
            return Ok(format!("{name}: {orders} open orders are being cancelled"));
        }
        "market" => return market(core, at, &words, scope, by, sink),
        "limit" => return limit(core, at, &words, (scope, &name), by, sink),
        other => {
            return Err(format!(
                "unknown command {other}: there are limit, cancel, market, kill, reducing, arm"
            ));
        }
    };
    let open = core.state().standing(scope).map_or(0, |it| it.tally.orders);
    if let Scope::Session(index) = scope
        && core.is_line(index)
    {
        return Err(format!(
            "{name} is a line to a venue: log it out (fixwire session logout)"
        ));
    }
    core.set_trading(at, (scope, state), by, sink);
    Ok(match state {
        Trading::Killed => format!("{name}: killed; {open} open orders are being cancelled"),
        _ => format!("{name}: {state}"),
    })
}

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
        return Err("say symbol=NAME and one of open, auction, halted, closed".into());
    };
    core.set_market(at, (instrument, *state), by, sink);
    Ok(format!("{}: {name}", scope_name(core.state(), scope)))
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
    let mut limits = alloc::vec::Vec::new();
    for (code, value) in codes {
        let controls = Control::named(code);
        if controls.is_empty() {
            let known: alloc::vec::Vec<&str> = Control::ALL.iter().map(|it| it.code()).collect();
            return Err(format!("no control {code}; there are {}", known.join(", ")));
        }
        for control in controls {
            let value = match value {
                "none" => None,
                value => Some(limit_value(*control, value)?),
            };
            if limits.iter().any(|(known, _)| known == control) {
                return Err(format!("{control} stands there twice"));
            }
            limits.push((*control, value));
        }
    }
    if limits.is_empty() {
        return Err("say which limit: RC6=1000".into());
    }
    for (control, value) in limits {
        let old = core.state().limit(scope, control);
        core.set_limit(at, (scope, control, value), by, sink);
        let text = |value: Option<i128>| {
            let digits = control.unit().digits();
            value.map_or("none".to_string(), |value| figure(value, digits))
        };
        let _ = writeln!(
            done,
            "{name}: {control} is {} (was {})",
            text(value),
            text(old)
        );
    }
    Ok(done.trim_end().into())
}

/// A limit as people write it, in its control's unit.
///
/// # Errors
///
/// What a limit of this control is.
pub fn limit_value(control: Control, text: &str) -> Result<i128, String> {
    let digits = control.unit().digits();
    let wanted = || match digits {
        0 => format!("{control}={text}: the limit is a whole number"),
        _ => format!("{control}={text}: the limit is a number with at most {digits} decimals"),
    };
    let value = Decimal::parse(text.as_bytes()).map_err(|_| wanted())?;
    let value = value.normalized();
    let more = digits.checked_sub(value.scale).ok_or_else(wanted)?;
    if value.mantissa < 0 {
        return Err(format!("{control}={text}: a limit is not below zero"));
    }
    Ok(i128::from(value.mantissa) * 10_i128.pow(more.into()))
}

/// What a note has room for.
fn cut(text: &str) -> &[u8] {
    &text.as_bytes()[..text.len().min(256)]
}

/// A verb and `key=value` pairs.
struct Words<'a> {
    verb: &'a str,
    rest: &'a str,
}

impl<'a> Words<'a> {
    fn parse(text: &'a str) -> Result<Self, String> {
        let text = text.trim();
        if text.chars().any(char::is_control) {
            return Err("the command has control characters".into());
        }
        let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
        let words = Self { verb, rest };
        let known = ["firm", "session", "account", "symbol", "open"];
        let is_known = |key: &str| {
            known.contains(&key) || key.starts_with("RC") || MARKETS.iter().any(|it| it.0 == key)
        };
        let unknown = words.pairs().find(|(key, _)| !is_known(key));
        match unknown {
            Some((key, _)) if verb != "order" => Err(format!(
                "unknown word {key}: say for what (firm, session=NAME, account=NAME, symbol=NAME)"
            )),
            _ => Ok(words),
        }
    }

    fn pairs(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let words = self.rest.split_whitespace();
        words.map(|word| word.split_once('=').unwrap_or((word, "")))
    }

    fn get(&self, key: &str) -> &'a str {
        let mut pairs = self.pairs();
        pairs.find(|(known, _)| *known == key).map_or("", |it| it.1)
    }

    fn has(&self, key: &str) -> bool {
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
                        "say for what: firm, session=NAME, account=NAME, symbol=NAME, or account=NAME symbol=NAME"
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
        named.collect::<alloc::vec::Vec<_>>().join(" or ")
    }
}

/// Answers a query.
///
/// # Errors
///
/// Why not, and what would do.
pub fn answer(core: &Core, query: &[u8]) -> Result<String, String> {
    let text = core::str::from_utf8(query).map_err(|_| "the query is no text")?;
    let words = Words::parse(text)?;
    let state = core.state();
    match words.verb {
        // As `fixwire status` asks.
        "counts" => Ok(counts(state)),
        "status" => Ok(status(state)),
        "orders" => orders(state, &words),
        "order" => {
            let number = words.rest.trim().parse().ok();
            let order = number.and_then(|number| state.orders().get(number));
            let order = order.ok_or_else(|| {
                format!(
                    "no order {} in memory: it is unknown, or ended long ago",
                    words.rest.trim()
                )
            })?;
            Ok(format!("{ORDER_COLUMNS}\n{}", order_line(state, order)))
        }
        "positions" => Ok(positions(state)),
        "limits" => Ok(limits(state)),
        other => Err(format!(
            "unknown query {other}: there are status, orders, order, positions, limits"
        )),
    }
}

fn counts(state: &State) -> String {
    let open = state.orders().iter().filter(|it| it.state.is_open());
    format!(
        "oms: day {}, {} events, {} open orders, trading {}",
        state.day(),
        state.events(),
        open.count(),
        state.trading(Scope::Firm),
    )
}

fn status(state: &State) -> String {
    let count = |is: fn(&Order) -> bool| state.orders().iter().filter(|order| is(order)).count();
    let open = count(|order| order.state.is_open());
    let unknown = count(|order| order.state == OrderState::Unknown);
    format!(
        "day\tevents\topen\tunknown\tended\tlate fills\ttrading\tbuild\tsettings\n\
         {}\t{}\t{open}\t{unknown}\t{}\t{}\t{}\t{}\t{:016x}",
        state.day(),
        state.events(),
        state.orders().len() - open,
        state.late_fills(),
        state.trading(Scope::Firm),
        state.build,
        state.settings,
    )
}

const ORDER_COLUMNS: &str =
    "order\tsession\tClOrdID\taccount\tside\tsymbol\tquantity\tprice\tstate\tfilled\taverage\tline";

fn state_name(order: &Order) -> &'static str {
    match order.state {
        OrderState::Queued => "queued",
        OrderState::Sent => "sent",
        OrderState::Unknown => "unknown",
        OrderState::Working if order.filled > 0 => "partially filled",
        OrderState::Working => "working",
        OrderState::Ended(End::Filled) => "filled",
        OrderState::Ended(End::Cancelled) => "cancelled",
        OrderState::Ended(End::Rejected) => "rejected",
        OrderState::Ended(End::Expired) => "expired",
        OrderState::Ended(End::DoneForDay) => "done for day",
    }
}

fn order_line(state: &State, order: &Order) -> String {
    // A line is a line, and a tab parts columns.
    let text = |bytes: &[u8]| -> String {
        let text = String::from_utf8_lossy(bytes);
        let shown = text.chars();
        shown
            .map(|it| if it.is_control() { '?' } else { it })
            .collect()
    };
    let scale = state.scale(order.instrument);
    let side = match order.side {
        crate::Side::Buy => "buy",
        crate::Side::Sell => "sell",
        crate::Side::SellShort => "sell short",
    };
    let at = if order.kind.has_price() {
        price(order.price, scale).to_string()
    } else {
        "market".into()
    };
    format!(
        "{}\t{}\t{}\t{}\t{side}\t{}\t{}\t{at}\t{}\t{}\t{}\t{}",
        order.number,
        text(state.sessions().name(order.session)),
        text(order.id.bytes()),
        text(state.accounts().name(order.account)),
        text(state.instruments().name(order.instrument)),
        order.quantity,
        state_name(order),
        order.filled,
        average(order.paid, order.filled, scale),
        text(state.sessions().name(order.line)),
    )
}

/// The most orders of an answer: more are counted, not listed.
const LISTED: usize = 1000;

fn orders(state: &State, words: &Words<'_>) -> Result<String, String> {
    let account = match words.get("account") {
        "" => None,
        name => Some(
            state
                .accounts()
                .find(name.as_bytes())
                .ok_or_else(|| format!("unknown account {name}"))?,
        ),
    };
    let open = words.has("open");
    let orders = state.orders().iter().filter(|order| {
        account.is_none_or(|account| order.account == account) && (!open || order.state.is_open())
    });
    let mut orders: alloc::vec::Vec<&Order> = orders.collect();
    orders.sort_unstable_by_key(|order| order.number);
    let mut text = String::from(ORDER_COLUMNS);
    // The newest matter most.
    for order in &orders[orders.len().saturating_sub(LISTED)..] {
        text.push('\n');
        text.push_str(&order_line(state, order));
    }
    Ok(text)
}

fn positions(state: &State) -> String {
    let mut text =
        String::from("account\tsymbol\tlong\tshort\tbought\tsold\topen to buy\topen to sell");
    for (account, instrument, position) in state.positions() {
        let open = state.standing(Scope::Holding(account, instrument));
        let (buying, selling) = open.map_or((0, 0), |it| (it.tally.buying, it.tally.selling));
        let _ = write!(
            text,
            "\n{}\t{}\t{}\t{}\t{}\t{}\t{buying}\t{selling}",
            String::from_utf8_lossy(state.accounts().name(account)),
            String::from_utf8_lossy(state.instruments().name(instrument)),
            position.long,
            position.short,
            position.bought,
            position.sold,
        );
    }
    text
}

fn limits(state: &State) -> String {
    let mut text = String::from("scope\tcontrol\tlimit\ttrading");
    for scope in state.limited_scopes() {
        let Some(standing) = state.standing(scope) else {
            continue;
        };
        let trading = standing.limits.trading;
        let name = scope_name(state, scope);
        if trading != Trading::Active {
            let _ = write!(text, "\n{name}\t\t\t{trading}");
        }
        if let Scope::Instrument(index) = scope
            && state.market(index) != Market::Open
        {
            let _ = write!(text, "\n{name}\tmarket\t{}\t{trading}", state.market(index));
        }
        for control in Control::ALL {
            if let Some(value) = standing.limits.get(*control) {
                let value = figure(value, control.unit().digits());
                let _ = write!(text, "\n{name}\t{control}\t{value}\t{trading}");
            }
        }
    }
    text
}
