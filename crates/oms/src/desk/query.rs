//! Operator queries. Each query is a verb of [`QUERIES`] with its arguments, and the answer is a table.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt::Write as _;

use fixwire_protocol::OperatorRight;
use fixwire_text::first_word;

use crate::decide::core::Core;
use crate::decide::reload::RELOAD;
use crate::desk::browse;
use crate::desk::command::check_prices;
use crate::desk::positions::check_load;
use crate::state::OmsState;
use crate::state::orders::Order;
use crate::state::orders::transition::OrderState;
use crate::state::show::state_name;
use crate::state::show::{reason_text, scope_name};
use crate::state::tag_counts::DroppedFields;
use crate::values::day::{minute, written};
use crate::values::fields::carried::CarriedFields;
use crate::values::limits::RiskControl;
use crate::values::scope::Scope;
use crate::values::show::text;
use crate::values::show::{Parts, average, carried, counted, figure, price};
use crate::values::value::{Market, Number, Trading};
use crate::values::verbs::{OperatorVerb, QUERIES, QueryVerb};
use crate::values::words::{Words, no_order};

/// The right that a query requires; `None` for a query that does not exist.
pub(crate) fn right(query: &[u8]) -> Option<OperatorRight> {
    if query == RELOAD {
        // As a query, `reload` only shows what a reload would change.
        return Some(OperatorRight::Read);
    }
    let words = Words::parse(core::str::from_utf8(query).ok()?).ok()?;
    OperatorVerb::named(&QUERIES, words.verb).map(|it| it.right)
}

/// Answers a query.
///
/// # Errors
///
/// Why the query failed, and what to do.
pub fn answer(core: &Core, query: &[u8]) -> Result<String, String> {
    let text = core::str::from_utf8(query).map_err(|_| "the query is not UTF-8 text")?;
    let words = Words::parse(text)?;
    let state = core.state();
    let Some(known) = OperatorVerb::named(&QUERIES, words.verb) else {
        let queries = OperatorVerb::listed(&QUERIES, words.verb);
        let verb = words.verb;
        return Err(format!("unknown query {verb}: the queries are {queries}"));
    };
    match known.verb {
        // The query that `fixwire status` sends.
        QueryVerb::Counts => Ok(counts(state)),
        QueryVerb::Figures => Ok(figures(state)),
        QueryVerb::Status => Ok(status(core, &DroppedFields::default())),
        QueryVerb::Orders => orders(state, &words),
        QueryVerb::Order => {
            let number = words.rest.trim().parse().ok();
            let order = number.and_then(|number| state.orders().get(number));
            let order = order.ok_or_else(|| no_order(words.rest.trim()))?;
            Ok(format!(
                "{}\n{}",
                order_columns(state),
                order_line(state, order)
            ))
        }
        QueryVerb::Positions => match first_word(words.rest) {
            ("", _) => Ok(positions(state)),
            // Sent before a command `load`: the answer lists the mistakes in its rows.
            ("check", command) => check_load(core, command),
            (other, _) => Err(format!(
                "unknown word {other}: write positions, or positions check"
            )),
        },
        QueryVerb::Limits => Ok(limits(state)),
        QueryVerb::Pools => Ok(pools(core)),
        QueryVerb::Held => Ok(held(state)),
        QueryVerb::Rejected => Ok(rejected(state)),
        QueryVerb::Breaks => Ok(core.breaks()),
        QueryVerb::Accounts => Ok(browse::accounts(state)),
        QueryVerb::Symbols => Ok(browse::symbols(core)),
        // Sent before `report` commands: the answer lists the mistakes in the reports.
        QueryVerb::CheckReports => core.check_reports(words.rest),
        // Sent before `price` commands: the answer lists the mistakes in the prices.
        QueryVerb::CheckPrices => Ok(check_prices(core, words.rest)),
    }
}

/// Answers the queries `orders`, `positions` and `limits` from a state alone, such as an earlier state. The answers are
/// those that a running OMS in this state would give.
///
/// # Errors
///
/// Why the query failed, and what to do. Any other query fails, because its answer needs more than a state.
pub fn stored_answer(state: &OmsState, query: &str) -> Result<String, String> {
    let words = Words::parse(query)?;
    let known = OperatorVerb::named(&QUERIES, words.verb);
    match known.map(|known| known.verb) {
        Some(QueryVerb::Orders) => orders(state, &words),
        Some(QueryVerb::Positions) => Ok(positions(state)),
        Some(QueryVerb::Limits) => Ok(limits(state)),
        Some(
            QueryVerb::Status
            | QueryVerb::Order
            | QueryVerb::Pools
            | QueryVerb::Held
            | QueryVerb::Rejected
            | QueryVerb::Breaks
            | QueryVerb::Accounts
            | QueryVerb::Symbols
            | QueryVerb::Counts
            | QueryVerb::Figures
            | QueryVerb::CheckReports
            | QueryVerb::CheckPrices,
        )
        | None => Err(format!(
            "{} has no answer about an earlier time: use orders, positions or limits",
            words.verb
        )),
    }
}

fn counts(state: &OmsState) -> String {
    let open = state.orders().iter().filter(|it| it.state.is_open());
    format!(
        "oms: day {}, {}, {}, trading {}",
        state.day(),
        counted(state.events(), "event"),
        counted(open.count() as u64, "open order"),
        state.trading(Scope::Firm),
    )
}

/// The values of [`counts`], each on a line with its name.
fn figures(state: &OmsState) -> String {
    let open = state.orders().iter().filter(|it| it.state.is_open());
    format!(
        "day\t{}\nevents\t{}\nopen_orders\t{}\ntrading\t{}",
        state.day(),
        state.events(),
        open.count(),
        state.trading(Scope::Firm),
    )
}

/// The state of the OMS, and the number of fields that contracts dropped.
pub(crate) fn status(core: &Core, dropped: &DroppedFields) -> String {
    let state = core.state();
    let count = |is: fn(&Order) -> bool| state.orders().iter().filter(|order| is(order)).count();
    let open = count(|order| order.state.is_open());
    let unknown = count(|order| order.state == OrderState::Unknown);
    format!(
        "day\tevents\topen\tunknown\tended\tlate fills\tbreaks\tmarkets\ttrading\tdropped fields\treport fields not passed on\tbuild\tsettings\n\
         {}\t{}\t{open}\t{unknown}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{:016x}",
        state.day(),
        state.events(),
        state.orders().len() - open,
        state.late_fills(),
        state.copies.breaks().len() + state.breaks.open() + state.strays.len(),
        browse::markets(state),
        trading(core),
        browse::dropped(core, dropped),
        dropped.reports.text(),
        state.build,
        state.settings,
    )
}

/// Whether the firm may trade, and whether new orders are rejected because of the trading day.
fn trading(core: &Core) -> String {
    let trading = core.state().trading(Scope::Firm);
    match (core.work.day_after(), core.far_day()) {
        (Some(day), _) => format!("{trading}, {} is starting", written(day)),
        (None, Some(day)) => format!("{trading}, roll to {} first", written(day)),
        (None, None) => trading.to_string(),
    }
}

const ORDER_COLUMNS: &str = "order\tsession\tClOrdID\taccount\tside\tsymbol\tquantity\tprice\tstate\tfilled\taverage\tline\tbreaks\tpool number\tparent\tlegs";

pub(crate) fn side_name(side: crate::Side) -> &'static str {
    match side {
        crate::Side::Buy => "buy",
        crate::Side::Sell => "sell",
        crate::Side::SellShort => "sell short",
        crate::Side::SellShortExempt => "sell short exempt",
    }
}

/// The column names of the table of orders, with `fields` only if an order in memory carries fields.
fn order_columns(state: &OmsState) -> String {
    let fields = if state.carried.is_empty() {
        ""
    } else {
        "\tfields"
    };
    format!("{ORDER_COLUMNS}{fields}")
}

fn order_line(state: &OmsState, order: &Order) -> String {
    let scale = state.scale(order.instrument);
    let side = side_name(order.side);
    let parent = state.families.parent_of(order.number);
    let fields = match state.carried.is_empty() {
        true => String::new(),
        false => {
            let CarriedFields { header, body, .. } = state.carried.of(order.number);
            format!("\t{}", carried(&[header, body]))
        }
    };
    let at = if order.kind.has_price() {
        price(order.price, scale).to_string()
    } else {
        "market".into()
    };
    format!(
        "{}\t{}\t{}\t{}\t{side}\t{}\t{}\t{at}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}{fields}",
        order.number,
        text(state.sessions().name(order.session)),
        text(order.id.bytes()),
        text(state.accounts().name(order.account)),
        text(state.instruments().name(order.instrument)),
        state.shown(order.instrument, order.quantity),
        state_name(order),
        state.shown(order.instrument, order.filled),
        average(order.paid, order.filled, scale),
        order
            .line()
            .map_or_else(String::new, |it| text(state.sessions().name(it))),
        crate::decide::venue::breaks::venue_says(state, order.number),
        text(order.pool_number.bytes()),
        parent.map(|parent| parent.to_string()).unwrap_or_default(),
        browse::legs(state, order),
    )
}

/// Maximum number of orders in one answer. The answer has the orders with the highest numbers below `before`; the desk
/// requests the other orders by further queries.
const LISTED: usize = 1000;

fn orders(state: &OmsState, words: &Words<'_>) -> Result<String, String> {
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
    let before = match words.get("before") {
        "" => Number::MAX,
        number => number
            .parse()
            .map_err(|_| format!("before={number} is not the number of an order"))?,
    };
    let orders = state.orders().iter().filter(|order| {
        order.number < before
            && account.is_none_or(|account| order.account == account)
            && (!open || order.state.is_open())
    });
    let mut orders: alloc::vec::Vec<&Order> = orders.collect();
    let older = orders.len().saturating_sub(LISTED);
    if older > 0 {
        orders.select_nth_unstable_by_key(older, |order| order.number);
    }
    let newest = &mut orders[older..];
    newest.sort_unstable_by_key(|order| order.number);
    let mut text = order_columns(state);
    for order in newest {
        text.push('\n');
        text.push_str(&order_line(state, order));
    }
    Ok(text)
}

fn positions(state: &OmsState) -> String {
    let mut text =
        String::from("account\tsymbol\tlong\tshort\tbought\tsold\topen to buy\topen to sell");
    for (account, instrument, position) in state.positions() {
        let open = state.standing(Scope::Holding(account, instrument));
        let (buying, selling) = open.map_or((0, 0), |it| (it.tally.buying, it.tally.selling));
        let shown = |quantity| state.shown(instrument, quantity);
        let _ = write!(
            text,
            "\n{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
            String::from_utf8_lossy(state.accounts().name(account)),
            String::from_utf8_lossy(state.instruments().name(instrument)),
            shown(position.long),
            shown(position.short),
            shown(position.bought),
            shown(position.sold),
            shown(buying),
            shown(selling),
        );
    }
    text
}

fn pools(core: &Core) -> String {
    let state = core.state();
    let mut list = String::from("pool\tnext\tleft\tof");
    for (at, (name, pool)) in state
        .pool_names
        .numbers()
        .zip(state.pool_names.iter().zip(&state.pools))
    {
        let form = core.pools.form(at).filter(|_| pool.left() > 0);
        let next = form.map(|form| text(form.write(pool.next).bytes()));
        let _ = write!(
            list,
            "\n{}\t{}\t{}\t{}",
            text(name),
            next.unwrap_or_default(),
            pool.left(),
            pool.last.saturating_sub(pool.first).saturating_add(1),
        );
    }
    list
}

/// The table of held conditional orders, the oldest first.
fn held(state: &OmsState) -> String {
    let mut list = String::from("order\tClOrdID\taccount\tsymbol\tcondition");
    for (number, condition) in state.conditions.held().take(LISTED) {
        let Some(order) = state.orders().get(number) else {
            continue;
        };
        let scale = state.scale(order.instrument);
        let _ = write!(
            list,
            "\n{number}\t{}\t{}\t{}\t{} {} {}",
            text(order.id.bytes()),
            text(state.accounts().name(order.account)),
            text(state.instruments().name(order.instrument)),
            condition.field,
            if condition.rises { ">=" } else { "<=" },
            price(condition.price, scale),
        );
    }
    list
}

/// The table of orders that a control rejected today, and of their reruns.
fn rejected(state: &OmsState) -> String {
    let mut list = String::from(
        "reject\tsession\tClOrdID\taccount\tside\tsymbol\tquantity\tprice\trun again as\twhy",
    );
    for rejected in state.rejected.iter() {
        let terms = &rejected.terms;
        let scales = state.scales(terms.instrument);
        let at = match terms.kind.has_price() {
            true => price(terms.price, scales.price).to_string(),
            false => "market".into(),
        };
        let again = match rejected.rerun {
            0 => String::new(),
            order => order.to_string(),
        };
        let _ = write!(
            list,
            "\n{}\t{}\t{}\t{}\t{}\t{}\t{}\t{at}\t{again}\t{}",
            rejected.number,
            text(state.sessions().name(terms.session)),
            text(rejected.id.bytes()),
            text(state.accounts().name(terms.account)),
            side_name(terms.side),
            text(state.instruments().name(terms.instrument)),
            Parts(terms.quantity, scales.quantity),
            text(reason_text(state, &terms.reason, scales).bytes()),
        );
    }
    list
}

fn limits(state: &OmsState) -> String {
    let mut text = String::from("scope\tcontrol\tlimit\ttrading\tuntil");
    for scope in state.limited_scopes() {
        let Some(standing) = state.standing(scope) else {
            continue;
        };
        let trading = standing.limits.trading;
        let name = scope_name(state, scope);
        if trading != Trading::Active {
            let _ = write!(text, "\n{name}\t\t\t{trading}\t");
        }
        if let Scope::Instrument(index) = scope
            && state.market(index) != Market::Open
        {
            let market = state.market(index);
            let _ = write!(text, "\n{name}\tmarket\t{market}\t{trading}\t");
        }
        for control in RiskControl::ALL {
            if let Some(value) = standing.limits.get(*control) {
                let value = figure(value, control.unit().digits());
                let mut ends = state.expiries.iter();
                let ends = ends.find(|it| (it.scope, it.control) == (scope, *control));
                let until = ends.map_or_else(String::new, |it| minute(it.until));
                let _ = write!(text, "\n{name}\t{control}\t{value}\t{trading}\t{until}");
            }
        }
    }
    text
}
