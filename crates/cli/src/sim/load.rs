//! Loads the tables of an exchange from a settings file, or reports every error in them.

use fixwire::settings::{Id, LoadError, Problem, Settings, SettingsReport, Source, Span};
use fixwire_exchange::{
    BookState, ConfigTable, ExchangeConfig, InstrumentConfig, OrderScript, check_fault_names,
    check_session, check_step, parse_legs, state_of,
};
use fixwire_protocol::Decimal;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const OF_EXCHANGE: &str = "the keys of [exchange] are max_orders and max_remembered";
const OF_INSTRUMENT: &str =
    "the keys of [[instrument]] are symbol, tick, lot, low, high, reference, state and legs";
const OF_FAULT: &str =
    "the keys of [[fault]] are kind, session, type, count, percent, seed, ms, set and status";
const OF_SCRIPT: &str =
    "the keys of [[script]] are name, session, symbol, side, account, quantity, price and steps";
const STATES: &str = "give \"continuous\", \"auction\", \"halted\" or \"closed\"";

/// Reads the exchange of a settings file.
///
/// # Errors
///
/// [`LoadError::Content`] with all errors, each with its position.
pub fn load(source: &Source, settings: &Settings) -> Result<ExchangeConfig, LoadError> {
    let mut reader = Reader {
        problems: Vec::new(),
        places: Vec::new(),
        names: settings.sessions.iter().map(|it| it.name()).collect(),
        links: settings.links.iter().map(|it| it.name()).collect(),
    };
    reader.sessions(settings);
    let config = reader.exchange(source);
    if reader.problems.is_empty() {
        for problem in config.problems() {
            let span = reader.place(problem.table, problem.key, problem.entry);
            reader.report(span, &problem.what, None);
        }
    }
    if reader.problems.is_empty() {
        return Ok(config);
    }
    reader.problems.sort_by_key(|problem| problem.span.start);
    Err(LoadError::Content(Box::new(SettingsReport {
        source: settings.report.source.clone(),
        problems: reader.problems,
    })))
}

struct Reader<'a> {
    problems: Vec<Problem>,
    /// Sessions and links that a fault may name.
    names: Vec<String>,
    links: Vec<&'a str>,
    /// Positions of the values of keys, and of the entries of those with several; the table itself has an empty key.
    places: Vec<(ConfigTable, String, Option<usize>, Span)>,
}

/// Whether the text can be part of a command.
fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_whitespace)
}

impl Reader<'_> {
    /// An exchange and a gateway, or a version before FIX 4.2, cannot be combined.
    fn sessions(&mut self, settings: &Settings) {
        for (other, tables) in [("a gateway", &settings.gateway), ("an OMS", &settings.oms)] {
            if let Some(table) = tables.first() {
                let title = format!(
                    "a file has an exchange or {other}, not both: `{table}` belongs to \
                             {other}"
                );
                let help = match *table {
                    "script" => {
                        "write [[script]], with two brackets, for each script of an exchange".into()
                    }
                    _ => format!("move {other} to a separate file"),
                };
                self.report(Span::default(), &title, Some(&help));
            }
        }
        if settings.exchange.is_empty() {
            let help = "add [[instrument]] tables as in examples/sim.toml, or use fixwire run";
            self.report(Span::default(), "the file has no exchange", Some(help));
        }
        for session in &settings.sessions {
            let version = session.text(Id::BeginString).unwrap_or_default();
            if matches!(version, "FIX.4.0" | "FIX.4.1") {
                let setting = session.find(Id::BeginString);
                let span = setting.and_then(|setting| setting.origin.span());
                let title = format!("an exchange does not support {version}");
                let help = "give FIX.4.2 or a later version";
                self.report(span.unwrap_or(session.header), &title, Some(help));
            }
        }
    }

    fn exchange(&mut self, source: &Source) -> ExchangeConfig {
        let mut config = ExchangeConfig::default();
        // The settings have already checked that it is TOML.
        let Ok(document) = DeTable::parse(&source.text) else {
            return config;
        };
        for (name, value) in document.get_ref() {
            match (name.get_ref().as_ref(), value.get_ref()) {
                ("exchange", DeValue::Table(table)) => self.limits(table, &mut config),
                ("exchange", _) => {
                    let help = Some("write [exchange] on a line of its own");
                    self.report(Span::from(value.span()), "exchange is a table", help);
                }
                ("instrument" | "fault" | "script", DeValue::Array(tables)) => {
                    for (index, one) in tables.iter().enumerate() {
                        self.one_of(name.get_ref(), index, one, &mut config);
                    }
                }
                (name @ ("instrument" | "fault" | "script"), _) => {
                    let title = format!("{name} is a list of tables");
                    let help = format!("write [[{name}]], with two brackets, for each");
                    self.report(Span::from(value.span()), &title, Some(&help));
                }
                _ => {}
            }
        }
        config
    }

    /// A table in a list.
    fn one_of(
        &mut self,
        name: &str,
        index: usize,
        one: &Spanned<DeValue<'_>>,
        config: &mut ExchangeConfig,
    ) {
        let header = Span::from(one.span());
        let DeValue::Table(table) = one.get_ref() else {
            let title = format!("each {name} is a table");
            return self.report(header, &title, Some(&format!("write [[{name}]]")));
        };
        match name {
            "instrument" => config
                .instruments
                .extend(self.instrument(index, header, table)),
            "fault" => config.faults.extend(self.fault(header, table)),
            _ => config.scripts.extend(self.script(index, header, table)),
        }
    }

    fn limits(&mut self, table: &DeTable<'_>, config: &mut ExchangeConfig) {
        for (name, value) in table {
            let limit = match name.get_ref().as_ref() {
                "max_orders" => &mut config.orders_max,
                "max_remembered" => &mut config.remembered_max,
                _ => {
                    self.unknown(name, OF_EXCHANGE);
                    continue;
                }
            };
            let span = Span::from(value.span());
            let number = match value.get_ref() {
                DeValue::Integer(number) if number.radix() == 10 => number.as_str().parse().ok(),
                _ => None,
            };
            match number {
                Some(number) => *limit = number,
                None => {
                    let title = format!(
                        "{} is not a whole number from 0 to {}",
                        name.get_ref(),
                        u32::MAX
                    );
                    self.report(span, &title, Some("give a number without quotes"));
                }
            }
            let key = name.get_ref().to_string();
            self.places.push((ConfigTable::Exchange, key, None, span));
        }
    }

    /// A fault in the words of the command.
    fn fault(&mut self, header: Span, table: &DeTable<'_>) -> Option<String> {
        let (mut kind, mut rest): (Option<String>, String) = (None, String::new());
        for (name, value) in table {
            let span = Span::from(value.span());
            let key: &str = name.get_ref();
            if let ("set", DeValue::Array(values)) = (key, value.get_ref()) {
                for value in values {
                    let word = value.get_ref().as_str().filter(|word| is_word(word));
                    match word {
                        Some(word) => rest += &format!(" set={word}"),
                        None => self.report(
                            Span::from(value.span()),
                            "set is a list of texts",
                            Some("write set = [\"14:40\", \"151:60\"]"),
                        ),
                    }
                }
                continue;
            }
            let word = match value.get_ref() {
                DeValue::String(text) => Some(text.to_string()),
                DeValue::Integer(number) if number.radix() == 10 => {
                    Some(number.as_str().to_owned())
                }
                _ => None,
            };
            let word = word.filter(|word| is_word(word));
            match (key, word) {
                ("kind", Some(word)) => kind = Some(word),
                (
                    "session" | "type" | "count" | "percent" | "seed" | "ms" | "set" | "status",
                    Some(word),
                ) => {
                    rest += &format!(" {key}={word}");
                }
                (
                    "kind" | "session" | "type" | "count" | "percent" | "seed" | "ms" | "set"
                    | "status",
                    None,
                ) => {
                    let title = format!("{key} is neither a word nor a number");
                    self.report(span, &title, Some("give a number, or a word in quotes"));
                }
                _ => self.unknown(name, OF_FAULT),
            }
        }
        let Some(kind) = kind else {
            let help = "add kind = \"drop\", duplicate, delay, reorder, repeat, change, stall, reject, checksum, gap, logout or \
                        disconnect; for a link also refuse, silence or cut";
            self.report(header, "the fault has no kind", Some(help));
            return None;
        };
        let words = format!("{kind}{rest}");
        let sessions: Vec<&str> = self.names.iter().map(String::as_str).collect();
        if let Err(what) = check_fault_names(&words, &sessions, &self.links) {
            self.report(header, &what, None);
        }
        Some(words)
    }

    fn instrument(
        &mut self,
        index: usize,
        header: Span,
        table: &DeTable<'_>,
    ) -> Option<InstrumentConfig> {
        let own = ConfigTable::Instrument(index);
        self.places.push((own, String::new(), None, header));
        let (mut symbol, mut state) = (None, Some(BookState::Continuous));
        let mut legs = None;
        let [mut tick, mut lot, mut low, mut high, mut reference] = [None; 5];
        for (name, value) in table {
            let (key, span) = (name.get_ref().as_ref(), Span::from(value.span()));
            self.places.push((own, key.to_owned(), None, span));
            let number = match key {
                "symbol" => {
                    symbol = value.get_ref().as_str().map(str::to_owned);
                    if symbol.is_none() {
                        self.report(
                            span,
                            "symbol is not text",
                            Some("give it in quotes: \"VOD\""),
                        );
                    }
                    continue;
                }
                "legs" => {
                    let text = value.get_ref().as_str();
                    let what = "legs is not text".to_owned();
                    match text.ok_or(what).and_then(parse_legs) {
                        Ok(both) => legs = Some(both),
                        Err(title) => self.report(span, &title, None),
                    }
                    continue;
                }
                "state" => {
                    state = value.get_ref().as_str().and_then(state_of);
                    if state.is_none() {
                        self.report(span, "unknown trading state", Some(STATES));
                    }
                    continue;
                }
                "tick" => &mut tick,
                "lot" => &mut lot,
                "low" => &mut low,
                "high" => &mut high,
                "reference" => &mut reference,
                _ => {
                    self.unknown(name, OF_INSTRUMENT);
                    continue;
                }
            };
            *number = decimal(value.get_ref());
            if number.is_none() {
                let title = format!("{key} is not a decimal number");
                self.report(
                    span,
                    &title,
                    Some("give a number such as 0.01, in quotes or without"),
                );
            }
        }
        for (key, what) in [
            ("symbol", "Symbol(55)"),
            ("tick", "the smallest price step"),
        ] {
            if !table.iter().any(|(name, _)| name.get_ref().as_ref() == key) {
                let title = format!("the instrument has no {key}");
                self.report(header, &title, Some(&format!("add {key} = ..., {what}")));
            }
        }
        Some(InstrumentConfig {
            symbol: symbol?,
            tick: tick?,
            lot: lot.unwrap_or(Decimal::from_int(1)),
            low,
            high,
            reference,
            state: state?,
            legs,
        })
    }

    /// A script, with the errors that can be found without the instruments.
    fn script(&mut self, index: usize, header: Span, table: &DeTable<'_>) -> Option<OrderScript> {
        let own = ConfigTable::Script(index);
        self.places.push((own, String::new(), None, header));
        let mut script = OrderScript::default();
        let (mut name, mut steps) = (None, None);
        for (key, value) in table {
            let (is, span) = (key.get_ref().as_ref(), Span::from(value.span()));
            self.places.push((own, is.to_owned(), None, span));
            let text = match is {
                "name" => &mut name,
                "session" => &mut script.session,
                "symbol" => &mut script.symbol,
                "side" => &mut script.side,
                "account" => &mut script.account,
                "quantity" | "price" => {
                    let number = decimal(value.get_ref());
                    if number.is_none() {
                        let title = format!("{is} is not a decimal number");
                        self.report(span, &title, Some("give a number such as 101"));
                    }
                    match is {
                        "quantity" => script.quantity = number,
                        _ => script.price = number,
                    }
                    continue;
                }
                "steps" => {
                    steps = Some(self.steps(own, value));
                    continue;
                }
                _ => {
                    self.unknown(key, OF_SCRIPT);
                    continue;
                }
            };
            *text = value.get_ref().as_str().map(str::to_owned);
            if text.is_none() {
                let title = format!("{is} is not text");
                self.report(span, &title, Some("give it in quotes"));
            }
            if let ("session", Some(name)) = (is, text.as_deref()) {
                let sessions: Vec<&str> = self.names.iter().map(String::as_str).collect();
                if let Err(what) = check_session(name, &sessions, &self.links) {
                    self.report(span, &what, None);
                }
            }
        }
        for (key, is_missing, what) in [
            ("name", name.is_none(), "what operators call it"),
            (
                "steps",
                steps.is_none(),
                "such as [\"ack\", \"wait 100ms\", \"fill rest\"]",
            ),
        ] {
            if is_missing && !table.iter().any(|(name, _)| name.get_ref().as_ref() == key) {
                let title = format!("the script has no {key}");
                self.report(header, &title, Some(&format!("add {key} = ..., {what}")));
            }
        }
        (script.name, script.steps) = (name?, steps?);
        Some(script)
    }

    fn steps(&mut self, own: ConfigTable, value: &Spanned<DeValue<'_>>) -> Vec<String> {
        let mut steps = Vec::new();
        let DeValue::Array(each) = value.get_ref() else {
            let help = "write steps = [\"ack\", \"fill rest\"]";
            self.report(Span::from(value.span()), "steps is not a list", Some(help));
            return steps;
        };
        for (entry, step) in each.iter().enumerate() {
            let span = Span::from(step.span());
            let words = step.get_ref().as_str().unwrap_or_default();
            if let Err(what) = check_step(words) {
                self.report(span, &what, None);
            }
            self.places
                .push((own, "steps".to_owned(), Some(entry), span));
            steps.push(words.to_owned());
        }
        steps
    }

    /// Position of a key's value, or of its table; otherwise the beginning of the file.
    fn place(&self, table: ConfigTable, key: &str, entry: Option<usize>) -> Span {
        let find = |wanted: &str, entry| {
            let mut places = self.places.iter();
            let found =
                places.find(|(of, key, at, _)| *of == table && key == wanted && *at == entry);
            found.map(|(.., span)| *span)
        };
        find(key, entry)
            .or_else(|| find("", None))
            .unwrap_or_default()
    }

    fn unknown(&mut self, name: &Spanned<impl AsRef<str>>, help: &str) {
        let title = format!("unknown key `{}`", name.get_ref().as_ref());
        self.report(Span::from(name.span()), &title, Some(help));
    }

    /// Adds an error. Its text may contain words of the file.
    fn report(&mut self, span: Span, title: &str, help: Option<&str>) {
        self.problems.push(Problem::found(span, title, help));
    }
}

/// A number from its digits, so that it stays exact.
fn decimal(value: &DeValue<'_>) -> Option<Decimal> {
    let text = match value {
        DeValue::String(text) => text,
        DeValue::Float(number) => number.as_str(),
        DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
        _ => return None,
    };
    Decimal::parse(text.as_bytes()).ok()
}
