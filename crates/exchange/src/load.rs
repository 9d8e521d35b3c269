//! Reads the tables of an exchange in a settings file, or reports every mistake in them.
//!
//! Each key is declared once, in the registry of its table. The reader, the list of known keys and the table of the
//! reference page are made from this declaration (`UPDATE=1 cargo test -p fixwire-exchange --lib page` writes the
//! page).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::Decimal;
use fixwire_text::ReloadEffect::{FirstStart, Restart};
use fixwire_text::{
    Diagnostic, REQUIRED, SettingKey, TableReader, TomlFile, TomlTable, TomlValue, keys,
};

use crate::config::{ConfigTable, ExchangeConfig, InstrumentConfig, STATES, TraderConfig};
use crate::faults::{check_fault_names, check_session};
use crate::leg_config::parse_legs;
use crate::script::{OrderScript, ScriptStep};

struct Reader<'a> {
    errors: Vec<Diagnostic>,
    /// Sessions and TMP lines that a fault or script may name.
    sessions: &'a [&'a str],
    lines: &'a [&'a str],
}

impl TableReader for Reader<'_> {
    fn mistakes(&mut self) -> &mut Vec<Diagnostic> {
        &mut self.errors
    }
}

type Done = Result<(), Diagnostic>;
type Keys<T> = &'static [SettingKey<T, fn(&mut Reader<'_>, &mut T, TomlValue<'_>) -> Done>];

/// A fault in the words of the command.
#[derive(Default)]
struct FaultWords {
    kind: String,
    rest: String,
}

const EXCHANGE: Keys<ExchangeConfig> = keys! {
    /// maximum open orders per book; the exchange rejects further orders
    max_orders: Plain("number", |_, config, value| limit(value).map(|it| config.orders_max = it)), "100000", Restart;
    /// number of closed orders that the exchange remembers: it answers status requests for these orders and rejects
    /// their ClOrdIDs as duplicates; it forgets the oldest orders first
    max_remembered: Plain("number", |_, config, value| limit(value).map(|it| config.remembered_max = it)), "100000", Restart;
};

const INSTRUMENT: Keys<InstrumentConfig> = keys! {
    /// Symbol(55), at most 32 characters
    symbol: Text(symbol), REQUIRED, Restart;
    /// prices must be multiples of this
    tick: Plain("decimal", |_, it, value| decimal(value).map(|read| it.tick = read)), REQUIRED, Restart;
    /// quantities must be multiples of this
    lot: Plain("decimal", |_, it, value| decimal(value).map(|read| it.lot = read)), "1", Restart;
    /// lower end of the price band: the exchange rejects orders with a limit or stop price below
    low: Plain("decimal", |_, it, value| decimal(value).map(|read| it.low = Some(read))), "", Restart;
    /// upper end of the price band: the exchange rejects orders with a limit or stop price above
    high: Plain("decimal", |_, it, value| decimal(value).map(|read| it.high = Some(read))), "", Restart;
    /// reference price of an auction before the first trade
    reference: Plain("decimal", |_, it, value| decimal(value).map(|read| it.reference = Some(read))), "", Restart;
    /// `continuous`, `auction`, `halted` or `closed`
    state: Plain("word", |_, it, value| value.choice(&STATES).map(|read| it.state = read)), "\"continuous\"", FirstStart;
    /// legs of a [spread](#spreads): `"buy 1 JUN sell 1 MAR"`
    legs: Plain("text", |_, it, value| {
        let legs = parse_legs(value.text()?).map_err(|what| value.wrong(what, ""));
        legs.map(|read| it.legs = Some(read))
    }), "", Restart;
};

const SCRIPT: Keys<OrderScript> = keys! {
    /// name of the [script](#scripts) for operators
    name: Text(name), REQUIRED, Restart;
    /// steps of the script
    steps: Plain("list", steps), REQUIRED, Restart;
    /// name or TargetCompID of the session, or TMP line, whose orders match; without this key orders of all sessions
    /// match. The keys below work in the same way
    session: Plain("text", |reader, script, value| {
        let name = value.text()?;
        let known = check_session(name, reader.sessions, reader.lines);
        script.session = Some(name.into());
        known.map_err(|what| value.wrong(what, ""))
    }), "", Restart;
    /// Symbol(55)
    symbol: Text(symbol), "", Restart;
    /// `buy`, `sell` (2, 5 or 6), or Side(54) itself
    side: Text(side), "", Restart;
    /// Account(1)
    account: Text(account), "", Restart;
    /// OrderQty(38)
    quantity: Plain("decimal", |_, it, value| decimal(value).map(|read| it.quantity = Some(read))), "", Restart;
    /// Price(44)
    price: Plain("decimal", |_, it, value| decimal(value).map(|read| it.price = Some(read))), "", Restart;
};

const FAULT: Keys<FaultWords> = keys! {
    /// the [fault](#faults), active from the start
    kind: Plain("drop, duplicate, delay, reorder, repeat, change, stall, reject, checksum, gap, logout or disconnect; for a link also refuse, silence or cut",
        |_, fault, value| word(value).map(|it| fault.kind = it.into())), REQUIRED, Restart;
    /// number of messages
    count: Plain("number", fault_word), "", Restart;
    /// milliseconds
    ms: Plain("number", fault_word), "", Restart;
    /// percentage of the messages that have the fault
    percent: Plain("number", fault_word), "", Restart;
    /// seed of the random numbers for `percent`
    seed: Plain("number", fault_word), "", Restart;
    /// the session or TMP line
    session: Plain("text", fault_word), "", Restart;
    /// fields that `change` sets
    set: Plain("list", fault_sets), "", Restart;
    /// the status of a rejection
    status: Plain("number", fault_word), "", Restart;
    /// MsgType, or the name of a TMP message
    type_: Plain("text", fault_word), "", Restart;
};

const TRADER: Keys<TraderConfig> = keys! {
    /// the instruments that the [trader](#traders) quotes: `["VOD"]`; `["*"]` means all but spreads
    symbols: Plain("list", symbols), REQUIRED, Restart;
    /// seed of the trader's random numbers
    seed: Plain("number", |_, it, value| limit(value).map(|read| it.seed = read)), "1", Restart;
    /// the trader's first best bid; by default the instrument's `reference`
    price: Plain("decimal", |_, it, value| decimal(value).map(|read| it.price = Some(read))), "", Restart;
    /// distance of the trader's best bid from the trader's best offer; by default two ticks
    spread: Plain("decimal", |_, it, value| decimal(value).map(|read| it.spread = Some(read))), "", Restart;
    /// number of prices that the trader quotes on each side, a tick apart: 1 to 20
    levels: Plain("number", |_, it, value| limit(value).map(|read| it.levels = read)), "3", Restart;
    /// largest quantity of an order; by default a hundred lots
    size: Plain("decimal", |_, it, value| decimal(value).map(|read| it.size = Some(read))), "", Restart;
    /// steps a second, on average: 1 to 1000
    rate: Plain("number", |_, it, value| limit(value).map(|read| it.rate = read)), "2", Restart;
    /// largest move of the trader's prices in one step; by default one tick
    volatility: Plain("decimal", |_, it, value| decimal(value).map(|read| it.volatility = Some(read))), "", Restart;
    /// percentage of the steps in which the trader trades
    trades: Plain("number", |_, it, value| limit(value).map(|read| it.trades = read)), "30", Restart;
};

/// The tables of an exchange with their keys.
#[cfg(test)]
fn setting_tables() -> [(&'static str, Vec<fixwire_text::KeyInfo>); 5] {
    fn of<T, R>(keys: &[SettingKey<T, R>]) -> Vec<fixwire_text::KeyInfo> {
        keys.iter().map(SettingKey::info).collect()
    }
    [
        ("[exchange]", of(EXCHANGE)),
        ("[[instrument]]", of(INSTRUMENT)),
        ("[[script]]", of(SCRIPT)),
        ("[[trader]]", of(TRADER)),
        ("[[fault]]", of(FAULT)),
    ]
}

/// Reads the exchange of a settings file with these sessions and TMP lines.
///
/// # Errors
///
/// Every mistake, with its place.
pub fn load(
    text: &str,
    sessions: &[&str],
    lines: &[&str],
) -> Result<ExchangeConfig, Vec<Diagnostic>> {
    let file = TomlFile::parse(text).map_err(|mistake| Vec::from([mistake]))?;
    let root = file.root();
    let mut reader = Reader {
        errors: Vec::new(),
        sessions,
        lines,
    };
    let mut config = ExchangeConfig::default();
    let table = root.get("exchange").map(|value| value.table());
    let table = table.and_then(|table| reader.keep(table));
    if let Some(table) = table {
        reader.read_keys(EXCHANGE, &mut config, table);
    }
    let (instruments, scripts, traders);
    (instruments, config.instruments) = reader.read_list(INSTRUMENT, root, "instrument");
    (scripts, config.scripts) = reader.read_list(SCRIPT, root, "script");
    (traders, config.traders) = reader.read_list(TRADER, root, "trader");
    config.faults = reader.faults(root);
    if reader.errors.is_empty() {
        let problems = config.problems().into_iter().map(|problem| {
            let table = match problem.table {
                ConfigTable::Exchange => table.unwrap_or(root),
                ConfigTable::Instrument(at) => instruments[at],
                ConfigTable::Script(at) => scripts[at],
                ConfigTable::Trader(at) => traders[at],
            };
            let value = table.get(problem.key);
            let entry = problem.entry.and_then(|at| value?.items()?.nth(at));
            let span = entry.or(value).map(|value| value.span());
            Diagnostic::of(span.unwrap_or(table.span()), problem.what, "")
        });
        reader.errors.extend(problems);
    }
    reader.errors.sort_by_key(|mistake| mistake.at);
    match reader.errors.is_empty() {
        true => Ok(config),
        false => Err(reader.errors),
    }
}

impl Reader<'_> {
    /// The faults, each in the words of the command.
    fn faults(&mut self, root: TomlTable<'_>) -> Vec<String> {
        let (tables, faults) = self.read_list(FAULT, root, "fault");
        let words = tables.iter().zip(faults).map(|(table, fault)| {
            let words = format!("{}{}", fault.kind, fault.rest);
            let known = check_fault_names(&words, self.sessions, self.lines);
            if let (Err(what), false) = (known, fault.kind.is_empty()) {
                self.errors.push(Diagnostic::of(table.span(), what, ""));
            }
            words
        });
        words.collect()
    }
}

fn limit(value: TomlValue<'_>) -> Result<u32, Diagnostic> {
    value.number(u32::MAX as usize).map(|number| number as u32)
}

/// A number, read from its digits, so that it stays exact.
fn decimal(value: TomlValue<'_>) -> Result<Decimal, Diagnostic> {
    let read = value
        .digits()
        .and_then(|it| Decimal::parse(it.as_bytes()).ok());
    read.ok_or_else(|| {
        let what = format!("{} is not a decimal number", value.key);
        value.wrong(what, "give a number such as 0.01, in quotes or without")
    })
}

fn steps(reader: &mut Reader<'_>, script: &mut OrderScript, value: TomlValue<'_>) -> Done {
    for step in value.items().into_iter().flatten() {
        let words = step.string().unwrap_or_default();
        reader.keep(ScriptStep::read(words).map_err(|what| step.wrong(what, "")));
        script.steps.push(words.into());
    }
    let hint = "write steps = [\"ack\", \"fill rest\"]";
    let wrong = || value.wrong("steps is not a list", hint);
    value.items().map(drop).ok_or_else(wrong)
}

fn symbols(_: &mut Reader<'_>, trader: &mut TraderConfig, value: TomlValue<'_>) -> Done {
    let wrong = || {
        value.wrong(
            "symbols is not a list of symbols",
            "write symbols = [\"VOD\"]",
        )
    };
    for item in value.items().ok_or_else(wrong)? {
        trader.symbols.push(item.text()?.into());
    }
    if trader.symbols.is_empty() {
        return Err(wrong());
    }
    Ok(())
}

/// A value that can be a word of a command.
fn word(value: TomlValue<'_>) -> Result<&str, Diagnostic> {
    let is_word = |text: &&str| !text.is_empty() && !text.contains(char::is_whitespace);
    value.digits().filter(is_word).ok_or_else(|| {
        let what = format!("{} is neither a word nor a number", value.key);
        value.wrong(what, "give a number, or a word in quotes")
    })
}

fn fault_word(_: &mut Reader<'_>, fault: &mut FaultWords, value: TomlValue<'_>) -> Done {
    fault.rest += &format!(" {}={}", value.key, word(value)?);
    Ok(())
}

fn fault_sets(reader: &mut Reader<'_>, fault: &mut FaultWords, value: TomlValue<'_>) -> Done {
    let Some(items) = value.items() else {
        return fault_word(reader, fault, value);
    };
    for item in items {
        let done = fault_word(reader, fault, item);
        reader.keep(done);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire_text::page_rows;
    use std::string::ToString;

    const PAGE: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/reference/exchange.md"
    );

    #[test]
    fn the_table_of_the_page_is_the_registry() {
        let page = std::fs::read_to_string(PAGE).unwrap();
        let header = "| table | key | value | default | a change needs | |\n| --- | --- | --- | --- | --- | --- |\n";
        let start = page.find("| table | key |").unwrap();
        let end = start + page[start..].find("\n\n").unwrap() + 1;
        let rows = setting_tables().map(|(table, keys)| page_rows(&format!("`{table}`"), &keys));
        let made = format!(
            "{}{header}{}{}",
            &page[..start],
            rows.concat(),
            &page[end..]
        );
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(PAGE, &made).unwrap();
        }
        assert!(
            std::fs::read_to_string(PAGE).unwrap() == made,
            "docs/reference/exchange.md is behind the registry of keys: run with UPDATE=1"
        );
    }

    #[test]
    fn a_default_is_what_a_missing_key_means() {
        let needed = "[[instrument]]\nsymbol = 'VOD'\ntick = 0.01\n";
        let without = load(needed, &[], &[]).unwrap();
        let said = "[exchange]\nmax_orders = 100000\nmax_remembered = 100000\n";
        let with = load(
            &format!("{said}{needed}lot = 1\nstate = 'continuous'\n"),
            &[],
            &[],
        );
        assert_eq!(format!("{without:?}"), format!("{:?}", with.unwrap()));
    }

    #[test]
    fn a_mistake_says_what_to_write() {
        let said = |text: &str| {
            let mistakes = load(text, &["OMS"], &[]).unwrap_err();
            mistakes
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join("\n")
        };
        for (text, wanted) in [
            (
                "exchange = 1",
                "exchange must be a table; write KEY = VALUE lines in it",
            ),
            (
                "[exchange]\nmax_order = 1",
                "unknown key max_order; the keys are max_orders, max_remembered; did you mean max_orders?",
            ),
            (
                "[exchange]\nmax_orders = 'x'",
                "max_orders must be a number from 0 to 4294967295",
            ),
            ("[instrument]\n", "[[instrument]] needs double brackets"),
            (
                "[[instrument]]\ntick = 1",
                "symbol is missing; add symbol = ... (text)",
            ),
            (
                "[[instrument]]\nsymbol = 5\ntick = 1",
                "symbol must be a text of 1 to 255 bytes; write it in quotes",
            ),
            (
                "[[instrument]]\nsymbol = 'A'\ntick = 'x'",
                "tick is not a decimal number; give a number such as 0.01, in quotes or without",
            ),
            (
                "[[instrument]]\nsymbol = 'A'\ntick = 1\nstate = 'open'",
                "state = \"open\" is not known; write continuous, auction, halted, or closed",
            ),
            (
                "[[fault]]\nkind = 'drop'\nset = [' ']",
                "set is neither a word nor a number; give a number, or a word in quotes",
            ),
            (
                "[[fault]]\ntype = 8",
                "kind is missing; add kind = ... (drop, duplicate, ",
            ),
            (
                "[[script]]\nname = 'a'\nsteps = 'ack'",
                "steps is not a list; write steps = [\"ack\", \"fill rest\"]",
            ),
            ("", "an exchange needs at least one [[instrument]]"),
        ] {
            assert!(said(text).contains(wanted), "{text}: {}", said(text));
        }
    }
}
