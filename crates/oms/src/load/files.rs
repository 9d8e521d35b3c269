//! The CSV files that the settings name.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::{Decimal, Timestamp};

use fixwire_text::Diagnostic;

use super::{Reader, is_name, securities};
use crate::load::table::{self, Row};
use crate::values::limits::RiskControl;
use crate::values::rules::currency::{CurrencyCode, RateTime, SymbolCurrency};
use crate::values::rules::{
    InstrumentRule, LimitRule, PositionRule, Restricted, RestrictedRule, ScopeName, SecurityData,
    SecurityId, TickBand, is_pattern, matches,
};
use crate::values::show::figure;
use crate::values::units::{MOST, MOST_DECIMALS, Scales, units};
use crate::values::value::{MOST_QUANTITY_DECIMALS, Quantity};
use crate::values::words::limit_value;

/// Optional columns of the file of instruments, before those of [`securities::COLUMNS`].
const INSTRUMENT_COLUMNS: [&str; 11] = [
    "decimals",
    "lot",
    "multiplier",
    "rate",
    "reference",
    "positions",
    "flow_group",
    "legs",
    "quantity_decimals",
    "tick_table",
    "currency",
];

/// Maximum number of decimals of a rate.
const RATE_DECIMALS: u8 = 9;
const MULTIPLIER_DECIMALS: u8 = 6;
const MULTIPLIER_ONE: i128 = 1_000_000;

impl Reader<'_> {
    pub(super) fn file(&mut self, key: &str, file: &str, text: &str) {
        let cells = match table::read(file, text) {
            Ok(cells) => cells,
            Err(error) => {
                self.errors.push(error);
                return;
            }
        };
        let instruments = [&INSTRUMENT_COLUMNS[..], &securities::COLUMNS].concat();
        let columns: (&[&str], &[&str]) = match key {
            "instruments" => (&["symbol", "tick"], &instruments),
            "rates" => (&["currency", "rate"], &["as_of"]),
            "tick_tables" => (&["table", "from", "tick"], &[]),
            "limits" => (&["scope", "control", "limit"], &[]),
            "restricted" => (&["symbol"], &["account", "from", "to", "what"]),
            "texts" => (&["language", "text", "translation"], &[]),
            _ => (&["account", "symbol"], &["long", "short"]),
        };
        let rows = table::rows(file, &cells, columns.0, columns.1, &mut self.errors);
        for row in rows {
            let done = match key {
                "instruments" => self.instrument(&row),
                "rates" => self.rate(&row),
                "tick_tables" => self.tick_band(&row),
                "limits" => self.limit(&row),
                "restricted" => self.restriction(&row),
                "texts" => self.translation(&row),
                _ => self.position(&row),
            };
            if let Err((what, hint)) = done {
                self.errors
                    .push(Diagnostic::in_file(file, row.line, what, hint));
            }
        }
        match key {
            "instruments" => self.known.instruments_file = file.into(),
            "limits" => self.rules.limits_file = file.into(),
            "positions" => self.rules.positions_file = file.into(),
            _ => {}
        }
    }

    fn instrument(&mut self, row: &Row<'_>) -> Result<(), (String, &'static str)> {
        let symbol = row.cells[0].unwrap_or_default();
        if !is_name(symbol) {
            return Err((format!("{symbol} must not contain blanks or ="), ""));
        }
        if self.has_symbol(symbol) {
            return Err((format!("{symbol} is listed twice"), "leave one row"));
        }
        let tick = price("tick", row.cells[1])?;
        let table = row.cells[11].unwrap_or_default();
        let bands = match (table, self.known.tick_tables.get(table)) {
            ("", _) => &[],
            (_, Some(bands)) => bands.as_slice(),
            _ => return Err((format!("unknown tick_table {table}"), "see tick_tables")),
        };
        let least = bands.iter().map(|(from, tick)| from.scale.max(tick.scale));
        let least = least.fold(tick.scale, u8::max);
        let decimals = match row.cells[2] {
            Some(text) => text.parse().ok().filter(|decimals| *decimals <= 9),
            None => Some(least),
        };
        let what = format!("decimals must be a number from {least} to 9");
        let scale = decimals.filter(|decimals| *decimals >= least);
        let scale = scale.filter(|scale| *scale <= 9).ok_or((what, ""))?;
        let units = |name: &str, value: Decimal, scale: u8| {
            let scaled = crate::values::units::scaled(value, scale);
            scaled.map_err(|_| (format!("{name} is too large or has too many decimals"), ""))
        };
        let tick = units("tick", tick, scale)?;
        let band = |&(from, tick): &(Decimal, Decimal)| {
            Ok(TickBand {
                from: units("from of the tick_table", from, scale)?,
                tick: units("tick of the tick_table", tick, scale)?,
            })
        };
        let ticks = bands.iter().map(band).collect::<Result<Vec<_>, _>>()?;
        let (quantity_scale, lot) = lots(row.cells[3], row.cells[10])?;
        let multiplier = row.cells[4].map_or(Ok(Decimal::from_int(1)), |it| {
            decimal("multiplier", Some(it))
        })?;
        let currency = match (row.cells[12], row.cells[5]) {
            (Some(_), Some(_)) => {
                let hint = "leave out rate: the rate is that of the currency";
                return Err((format!("{symbol} has both currency and rate"), hint));
            }
            (Some(text), None) => Some(currency_of(text)?),
            (None, _) => None,
        };
        let known = currency.and_then(|code| self.known.rates.get(&code));
        let rate = match (known, row.cells[5]) {
            (Some((rate, _)), _) => *rate,
            (None, Some(it)) => rate_of(Some(it))?,
            (None, None) => Decimal::from_int(1),
        };
        let currency = currency.map(|code| SymbolCurrency {
            code,
            rate: known.map(|(_, time)| *time),
            max_age: self.rules.rates_max_age,
        });
        let given = rate.normalized();
        let digits = RATE_DECIMALS.checked_sub(given.scale);
        let one = digits.map(|digits| 10_i128.pow(digits.into()));
        let rate = one.and_then(|one| i128::from(given.mantissa).checked_mul(one));
        let rate = rate.ok_or(("rate has too many decimals".to_string(), ""))?;
        let worth =
            i128::from(units("multiplier", multiplier, MULTIPLIER_DECIMALS)?).checked_mul(rate);
        // Rounded up, so that an order counts for at least its value.
        let worth = worth.map(|worth| worth.saturating_add(MULTIPLIER_ONE - 1) / MULTIPLIER_ONE);
        let worth = worth.and_then(|worth| u64::try_from(worth).ok());
        let reference = match row.cells[6] {
            Some(text) => {
                let price = Decimal::parse(text.as_bytes());
                let price = price.map_err(|_| ("reference must be a price".to_string(), ""))?;
                Some(units("reference", price, scale)?)
            }
            None => None,
        };
        let has_effect = match row.cells[7].unwrap_or("netting") {
            "netting" => false,
            "effect" => true,
            other => {
                let hint = "write netting, or effect: PositionEffect(77) opens or closes a side";
                return Err((format!("unknown value positions = {other}"), hint));
            }
        };
        let flow_group = match row.cells[8] {
            Some(text) => text
                .parse()
                .map_err(|_| ("flow_group must be a number from 0 to 255".to_string(), ""))?,
            None => 0,
        };
        let legs = match row.cells[9] {
            Some(text) => {
                let scales = Scales {
                    price: scale,
                    quantity: quantity_scale,
                };
                Some(self.legs(symbol, text, (scales, has_effect))?)
            }
            None => None,
        };
        let mut security = securities::security(&row.cells[2 + INSTRUMENT_COLUMNS.len()..])?;
        security.multiplier = row.cells[4].map(|_| multiplier.normalized());
        self.note_identifiers(symbol, row.line, &security)?;
        let rule = InstrumentRule {
            security,
            legs,
            least_hold: 0,
            collar_base: 0,
            has_effect,
            flow_group,
            symbol: symbol.into(),
            scale,
            quantity_scale,
            worth: worth.ok_or_else(|| {
                let what = format!(
                    "multiplier {} times rate {given} is out of range: at most {}",
                    multiplier.normalized(),
                    figure(u64::MAX.into(), 9)
                );
                let hint = "choose a smaller unit of the firm's currency, or another multiplier";
                (what, hint)
            })?,
            tick: Some(tick)
                .filter(|tick| *tick > 0)
                .ok_or(("tick must be above 0".to_string(), ""))?,
            lot,
            ticks,
            currency,
            reference,
        };
        self.known.symbols.insert(symbol.into());
        if quantity_scale > 0 {
            self.known.with_parts.push((symbol.into(), row.line));
        }
        self.rules.instruments.push(rule);
        Ok(())
    }

    /// Notes the identifiers of an instrument; an identifier belongs to one instrument.
    fn note_identifiers(
        &mut self,
        symbol: &str,
        line: usize,
        security: &SecurityData,
    ) -> Result<(), (String, &'static str)> {
        for SecurityId { source, id } in &security.ids {
            let key = (source.clone(), id.clone());
            if let Some((other, before)) = self.known.identifiers.get(&key) {
                let what = format!(
                    "{symbol} has SecurityID(48) {id} with SecurityIDSource(22) {source}, as {other} in line {before}"
                );
                return Err((what, "an identifier belongs to one instrument"));
            }
            self.known.identifiers.insert(key, (symbol.into(), line));
        }
        Ok(())
    }

    fn rate(&mut self, row: &Row<'_>) -> Result<(), (String, &'static str)> {
        let text = row.cells[0].unwrap_or_default();
        let code = currency_of(text)?;
        let rate = rate_of(row.cells[1])?;
        let time = match row.cells[2] {
            None => RateTime::Always,
            Some(text) => match Timestamp::parse(text.as_bytes()) {
                Ok(Timestamp(time)) => RateTime::AsOf(time),
                Err(_) => {
                    let hint = "write a UTC time such as 20261122-08:00:00";
                    return Err((format!("as_of {text} is not a time"), hint));
                }
            },
        };
        match self.known.rates.insert(code, (rate, time)) {
            Some(_) => Err((
                format!("the rate of {text} is listed twice"),
                "leave one row",
            )),
            None => Ok(()),
        }
    }

    fn tick_band(&mut self, row: &Row<'_>) -> Result<(), (String, &'static str)> {
        let table = row.cells[0].unwrap_or_default();
        let from = Decimal::parse(row.cells[1].unwrap_or_default().as_bytes()).ok();
        let from = from.filter(|from| from.mantissa >= 0);
        let from = from.ok_or(("from must be a price, 0 or above".to_string(), ""))?;
        let (from, tick) = (from.normalized(), price("tick", row.cells[2])?);
        if from.scale > MOST_DECIMALS {
            return Err(too_fine("from"));
        }
        let in_units = |value| units_of(value, from.scale.max(tick.scale));
        let (Some(first), Some(step)) = (in_units(from), in_units(tick)) else {
            return Err(("from or tick is too large".into(), ""));
        };
        if first % step != 0 {
            let what = format!("from {from} is no multiple of tick {tick}");
            return Err((what, "let each price begin on its tick"));
        }
        let bands = self.known.tick_tables.entry(table.into()).or_default();
        if bands.last().is_some_and(|(before, _)| *before >= from) {
            let what = format!("prices of table {table} do not rise");
            return Err((what, "list the rows of a table by price"));
        }
        bands.push((from, tick));
        Ok(())
    }

    /// Checks quantities: TMP has only whole quantities.
    pub(super) fn check_tmp_quantities(&mut self) {
        let rules = &self.rules;
        let group = |name: &String| rules.groups.iter().find(|it| it.name == *name);
        let over_tmp = |symbol: &str| {
            let routes = rules.routes_of(symbol.as_bytes());
            let own = routes.filter_map(|route| rules.groups.get(route.group));
            let all = own.flat_map(|own| own.helpers.iter().filter_map(group).chain([own]));
            let mut lines = all.flat_map(|it| &it.lines);
            lines.find(|line| self.links.contains(line))
        };
        let wrong = self.known.with_parts.iter().filter_map(|(symbol, line)| {
            let link = over_tmp(symbol)?;
            let what =
                format!("{symbol} has quantities with decimals, but its line {link} speaks TMP");
            let hint = "set its lot to a whole number and its quantity_decimals to 0, or route it to \
                 another line group";
            let file = &self.known.instruments_file;
            Some(Diagnostic::in_file(file, *line, what, hint))
        });
        let wrong: Vec<Diagnostic> = wrong.collect();
        self.errors.extend(wrong);
    }

    fn limit(&mut self, row: &Row<'_>) -> Result<(), (String, &'static str)> {
        let scope = self.scope(row.cells[0].unwrap_or_default())?;
        if let ScopeName::Session(name) = &scope
            && is_pattern(name)
        {
            self.known.limit_patterns.push((name.clone(), row.line));
        }
        let code = row.cells[1].unwrap_or_default();
        let controls = RiskControl::named(code);
        if controls.is_empty() {
            let known: Vec<&str> = RiskControl::ALL.iter().map(|it| it.code()).collect();
            let what = format!(
                "unknown control {code}; the controls are {}",
                known.join(", ")
            );
            return Err((what, ""));
        }
        for &control in controls {
            let value = limit_value(control, row.cells[2].unwrap_or_default());
            let value = value.map_err(|what| (what, ""))?;
            let rule = LimitRule {
                scope: scope.clone(),
                control,
                value,
            };
            if !self.known.limits.insert((scope.clone(), control.index())) {
                let what = format!("the limit of {control} for this scope is listed twice");
                return Err((what, "leave one row"));
            }
            self.rules.limits.push(rule);
        }
        Ok(())
    }

    fn scope(&self, text: &str) -> Result<ScopeName, (String, &'static str)> {
        const HINT: &str =
            "a scope is firm, session=NAME, account=NAME, symbol=NAME, or account=NAME symbol=NAME";
        let mut words = text.split_whitespace().map(|word| word.split_once('='));
        let (first, second, third) = (words.next(), words.next(), words.next());
        let scope = match (first, second, third) {
            (Some(None), None, None) if text.trim() == "firm" => ScopeName::Firm,
            (Some(Some(("session", name))), None, None) => ScopeName::Session(name.into()),
            (Some(Some(("account", name))), None, None) => ScopeName::Account(name.into()),
            (Some(Some(("symbol", name))), None, None) => ScopeName::Instrument(name.into()),
            (Some(Some(("account", account))), Some(Some(("symbol", symbol))), None) => {
                ScopeName::Holding(account.into(), symbol.into())
            }
            _ => return Err((format!("{text} is not a scope"), HINT)),
        };
        let unknown = match &scope {
            ScopeName::Firm => None,
            // Which users fit a pattern is known once the users are read.
            ScopeName::Session(name) if is_pattern(name) => None,
            ScopeName::Session(name) => (!self.is_session(name)).then_some(("session", name)),
            ScopeName::Account(name) => (!self.has_account(name)).then_some(("account", name)),
            ScopeName::Instrument(name) => (!self.has_symbol(name)).then_some(("symbol", name)),
            ScopeName::Holding(account, symbol) => (!self.has_account(account))
                .then_some(("account", account))
                .or_else(|| (!self.has_symbol(symbol)).then_some(("symbol", symbol))),
        };
        match unknown {
            Some((kind, name)) => Err((format!("unknown {kind} {name}"), "see the settings")),
            None => Ok(scope),
        }
    }

    fn restriction(&mut self, row: &Row<'_>) -> Result<(), (String, &'static str)> {
        let symbol = row.cells[0].unwrap_or_default();
        let mut known = self.rules.instruments.iter();
        if !known.any(|it| matches(symbol, it.symbol.as_bytes())) {
            let hint = "see the file of instruments";
            return Err((format!("unknown symbol {symbol}"), hint));
        }
        let account = row.cells[1].unwrap_or("*");
        let mut known = self.rules.accounts.iter();
        if !known.any(|it| matches(account, it.name.as_bytes())) {
            return Err((format!("unknown account {account}"), "see [[account]]"));
        }
        let day = |name: &str, text: Option<&str>| {
            let day = text.map(|text| crate::values::day::parse(text).ok_or(text));
            let wrong = |_| (format!("{name} must be a day such as 2026-11-22"), "");
            day.transpose().map_err(wrong)
        };
        let what = match row.cells[4].unwrap_or("all") {
            "all" => Restricted::All,
            "buy" => Restricted::Buy,
            "sell" => Restricted::Sell,
            "short" => Restricted::Short,
            "locate" => Restricted::Locate,
            other => {
                let hint = "write all, buy, sell, short or locate";
                return Err((format!("{other} cannot be restricted"), hint));
            }
        };
        let (from, to) = (day("from", row.cells[2])?, day("to", row.cells[3])?);
        if from.zip(to).is_some_and(|(from, to)| from > to) {
            let hint = "write the first and the last day of the restriction";
            return Err(("from is later than to".into(), hint));
        }
        self.rules.restricted.push(RestrictedRule {
            symbol: symbol.into(),
            account: account.into(),
            from,
            to,
            what,
        });
        Ok(())
    }

    fn position(&mut self, row: &Row<'_>) -> Result<(), (String, &'static str)> {
        let (account, symbol) = (
            row.cells[0].unwrap_or_default(),
            row.cells[1].unwrap_or_default(),
        );
        if !self.has_account(account) {
            return Err((format!("unknown account {account}"), "see [[account]]"));
        }
        if !self.has_symbol(symbol) {
            return Err((
                format!("unknown symbol {symbol}"),
                "see the file of instruments",
            ));
        }
        let mut known = self.rules.instruments.iter();
        if known.any(|it| it.symbol == symbol && it.legs.is_some()) {
            let hint = "give the positions of its legs";
            return Err((format!("{symbol} is a spread, which has no position"), hint));
        }
        if !self.known.positions.insert((account.into(), symbol.into())) {
            let what = format!("the position of {account} in {symbol} is listed twice");
            return Err((what, "leave one row"));
        }
        let mut known = self.rules.instruments.iter();
        let rule = known.find(|it| it.symbol == symbol);
        let scale = rule.map_or(0, |rule| rule.quantity_scale);
        let long = opening("long", row.cells[2], scale)?;
        let short = opening("short", row.cells[3], scale)?;
        if long > 0 && short > 0 && rule.is_none_or(|rule| !rule.has_effect) {
            let what = format!("positions of {symbol} net, so one of long and short must be 0");
            return Err((what, ""));
        }
        let position = PositionRule {
            account: account.into(),
            symbol: symbol.into(),
            long,
            short,
        };
        self.rules.positions.push(position);
        Ok(())
    }
}

/// The decimals of quantities, and the lot in units of these decimals. Without `quantity_decimals`, quantities have as
/// many decimals as the lot.
fn lots(
    lot: Option<&str>,
    decimals: Option<&str>,
) -> Result<(u8, Quantity), (String, &'static str)> {
    let lot = lot.map_or(Ok(Decimal::from_int(1)), |it| decimal("lot", Some(it)))?;
    let lot = lot.normalized();
    let scale = match decimals {
        Some(text) => text.parse().ok(),
        None => Some(lot.scale),
    };
    let scale = scale.filter(|scale| (lot.scale..=MOST_QUANTITY_DECIMALS).contains(scale));
    let scale = scale.ok_or_else(|| {
        let what = match lot.scale {
            0..=MOST_QUANTITY_DECIMALS => format!(
                "quantity_decimals must be a number from {} to {MOST_QUANTITY_DECIMALS}",
                lot.scale
            ),
            _ => format!("lot has at most {MOST_QUANTITY_DECIMALS} decimals"),
        };
        (what, "")
    })?;
    let lot = units(lot, scale).map_err(|_| ("lot is too large".to_string(), ""))?;
    Ok((scale, lot))
}

/// The long or short quantity of an opening position.
fn opening(name: &str, text: Option<&str>, scale: u8) -> Result<Quantity, (String, &'static str)> {
    let text = text.unwrap_or("0");
    let quantity = Decimal::parse(text.as_bytes()).ok();
    if quantity.is_some_and(|it| it.mantissa < 0) {
        let hint = "a position to sell is short, and both quantities are 0 or above";
        return Err((format!("{name} {text} is below 0"), hint));
    }
    let quantity = quantity.and_then(|it| units(it, scale).ok());
    quantity.ok_or_else(|| {
        let most = figure(MOST.into(), scale);
        let what = match scale {
            0 => format!("{name} {text} must be a whole number up to {most}"),
            _ => format!(
                "{name} {text} must be a number with at most {scale} decimals, up to {most}"
            ),
        };
        (what, "")
    })
}

fn currency_of(text: &str) -> Result<CurrencyCode, (String, &'static str)> {
    let hint = "write Currency(15), at most 8 letters and digits: EUR, USDT";
    CurrencyCode::parse(text).ok_or((format!("{text} is not a currency"), hint))
}

fn units_of(value: Decimal, scale: u8) -> Option<i64> {
    crate::values::units::scaled(value, scale).ok()
}

/// A price above 0, with the decimals that it needs.
fn price(name: &str, text: Option<&str>) -> Result<Decimal, (String, &'static str)> {
    let price = decimal(name, text)?.normalized();
    match price.scale {
        0..=MOST_DECIMALS => Ok(price),
        _ => Err(too_fine(name)),
    }
}

fn too_fine(name: &str) -> (String, &'static str) {
    (
        format!("{name} has more than {MOST_DECIMALS} decimals"),
        "prices have at most 9",
    )
}

/// The rate of a currency.
fn rate_of(text: Option<&str>) -> Result<Decimal, (String, &'static str)> {
    let rate = decimal("rate", text)?.normalized();
    match rate.scale {
        0..=RATE_DECIMALS => Ok(rate),
        _ => {
            let what = format!("rate has more than {RATE_DECIMALS} decimals");
            Err((what, "round the rate"))
        }
    }
}

fn decimal(name: &str, text: Option<&str>) -> Result<Decimal, (String, &'static str)> {
    let parsed = Decimal::parse(text.unwrap_or_default().as_bytes()).ok();
    let parsed = parsed.filter(|it| it.mantissa > 0);
    parsed.ok_or((format!("{name} must be a number above 0"), ""))
}
