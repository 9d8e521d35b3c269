//! The tables of an exchange in a settings file, and every mistake in them.

use fixwire::settings::{Fault, Id, LoadError, Problem, Report, Settings, Source, Span};
use fixwire_exchange::{BookState, ExchangeConfig, InstrumentConfig, check_fault, state_of};
use fixwire_protocol::Decimal;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

const OF_EXCHANGE: &str = "the keys of [exchange] are max_orders and max_remembered";
const OF_INSTRUMENT: &str =
    "the keys of [[instrument]] are symbol, tick, lot, low, high, reference and state";
const OF_FAULT: &str = "the keys of [[fault]] are kind, session, type, count, percent, seed and ms";
const STATES: &str = "give \"continuous\", \"auction\", \"halted\" or \"closed\"";

/// Reads the exchange of a settings file.
///
/// # Errors
///
/// [`LoadError::Content`] with all mistakes, each with its place.
pub fn load(source: &Source, settings: &Settings) -> Result<ExchangeConfig, LoadError> {
    let mut reader = Reader {
        problems: Vec::new(),
        places: Vec::new(),
    };
    reader.sessions(settings);
    let config = reader.exchange(source);
    if reader.problems.is_empty() {
        for problem in config.problems() {
            let span = reader.place(problem.instrument, problem.key);
            reader.report(span, &problem.what, None);
        }
    }
    if reader.problems.is_empty() {
        return Ok(config);
    }
    reader.problems.sort_by_key(|problem| problem.span.start);
    Err(LoadError::Content(Box::new(Report {
        source: settings.report.source.clone(),
        problems: reader.problems,
    })))
}

struct Reader {
    problems: Vec<Problem>,
    /// Where keys of instruments have their values; the table itself has no key.
    places: Vec<(Option<usize>, String, Span)>,
}

impl Reader {
    /// An exchange and a gateway, or a version before FIX 4.2, do not go together.
    fn sessions(&mut self, settings: &Settings) {
        for (other, tables) in [("a gateway", &settings.gateway), ("an OMS", &settings.oms)] {
            if let Some(table) = tables.first() {
                let title =
                    format!("a file has an exchange or {other}, not both: `{table}` is of {other}");
                let help = format!("put {other} into a file of its own");
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
                let title = format!("an exchange does not speak {version}");
                let help = "give FIX.4.2 or a later version";
                self.report(span.unwrap_or(session.header), &title, Some(help));
            }
        }
    }

    fn exchange(&mut self, source: &Source) -> ExchangeConfig {
        let mut config = ExchangeConfig::default();
        // That it is TOML the settings have found already.
        let Ok(document) = DeTable::parse(&source.text) else {
            return config;
        };
        for (name, value) in document.get_ref() {
            match (name.get_ref().as_ref(), value.get_ref()) {
                ("exchange", DeValue::Table(table)) => self.limits(table, &mut config),
                ("instrument", DeValue::Array(tables)) => {
                    for (index, one) in tables.iter().enumerate() {
                        let span = Span::from(one.span());
                        if let DeValue::Table(table) = one.get_ref() {
                            let instrument = self.instrument(index, span, table);
                            config.instruments.extend(instrument);
                        } else {
                            self.report(
                                span,
                                "an instrument is a table",
                                Some("write [[instrument]]"),
                            );
                        }
                    }
                }
                ("fault", DeValue::Array(tables)) => {
                    for one in tables.iter() {
                        let words = self.fault(one);
                        config.faults.extend(words);
                    }
                }
                ("fault", _) => {
                    let help = Some("write [[fault]], with two brackets, for each fault");
                    self.report(Span::from(value.span()), "fault is a list of tables", help);
                }
                ("exchange", _) => {
                    let help = Some("write [exchange] on a line of its own");
                    self.report(Span::from(value.span()), "exchange is a table", help);
                }
                ("instrument", _) => {
                    let help = Some("write [[instrument]], with two brackets, for each instrument");
                    self.report(
                        Span::from(value.span()),
                        "instrument is a list of tables",
                        help,
                    );
                }
                _ => {}
            }
        }
        config
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
                        "{} is no whole number from 0 to {}",
                        name.get_ref(),
                        u32::MAX
                    );
                    self.report(span, &title, Some("give a number without quotes"));
                }
            }
            self.places.push((None, name.get_ref().to_string(), span));
        }
    }

    /// A fault in the words of the command.
    fn fault(&mut self, one: &Spanned<DeValue<'_>>) -> Option<String> {
        let header = Span::from(one.span());
        let DeValue::Table(table) = one.get_ref() else {
            self.report(header, "a fault is a table", Some("write [[fault]]"));
            return None;
        };
        let (mut kind, mut rest): (Option<String>, String) = (None, String::new());
        for (name, value) in table {
            let span = Span::from(value.span());
            let key: &str = name.get_ref();
            let word = match value.get_ref() {
                DeValue::String(text) => Some(text.to_string()),
                DeValue::Integer(number) if number.radix() == 10 => {
                    Some(number.as_str().to_owned())
                }
                _ => None,
            };
            let word = word.filter(|word| !word.is_empty() && !word.contains(char::is_whitespace));
            match (key, word) {
                ("kind", Some(word)) => kind = Some(word),
                ("session" | "type" | "count" | "percent" | "seed" | "ms", Some(word)) => {
                    rest += &format!(" {key}={word}");
                }
                ("kind" | "session" | "type" | "count" | "percent" | "seed" | "ms", None) => {
                    let title = format!("{key} is neither a word nor a number");
                    self.report(span, &title, Some("give a number, or a word in quotes"));
                }
                _ => self.unknown(name, OF_FAULT),
            }
        }
        let Some(kind) = kind else {
            let help = "add kind = \"drop\", duplicate, delay, reorder, stall or reject";
            self.report(header, "the fault has no kind", Some(help));
            return None;
        };
        let words = format!("{kind}{rest}");
        if let Err(what) = check_fault(&words) {
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
        self.places.push((Some(index), String::new(), header));
        let (mut symbol, mut state) = (None, Some(BookState::Continuous));
        let [mut tick, mut lot, mut low, mut high, mut reference] = [None; 5];
        for (name, value) in table {
            let (key, span) = (name.get_ref().as_ref(), Span::from(value.span()));
            self.places.push((Some(index), key.to_owned(), span));
            let number = match key {
                "symbol" => {
                    symbol = value.get_ref().as_str().map(str::to_owned);
                    if symbol.is_none() {
                        self.report(
                            span,
                            "symbol is no text",
                            Some("give it in quotes: \"VOD\""),
                        );
                    }
                    continue;
                }
                "state" => {
                    state = value.get_ref().as_str().and_then(state_of);
                    if state.is_none() {
                        self.report(span, "state is no state of trading", Some(STATES));
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
                let title = format!("{key} is no decimal number");
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
        })
    }

    /// Where a key has its value, or its table is; else the beginning of the file.
    fn place(&self, instrument: Option<usize>, key: &str) -> Span {
        let find = |wanted: &str| {
            let mut places = self.places.iter();
            let found = places.find(|(of, key, _)| *of == instrument && key == wanted);
            found.map(|(_, _, span)| *span)
        };
        find(key).or_else(|| find("")).unwrap_or_default()
    }

    fn unknown(&mut self, name: &Spanned<impl AsRef<str>>, help: &str) {
        let title = format!("unknown key `{}`", name.get_ref().as_ref());
        self.report(Span::from(name.span()), &title, Some(help));
    }

    /// A mistake. The words may be those of the file.
    fn report(&mut self, span: Span, title: &str, help: Option<&str>) {
        let plain = |text: &str| -> String {
            let escaped = |c: char| match c.is_control() {
                true => c.escape_default().collect::<String>(),
                false => c.to_string(),
            };
            text.chars().map(escaped).collect()
        };
        self.problems.push(Problem {
            span,
            fault: Fault::Found {
                title: plain(title),
                help: help.map(plain),
            },
        });
    }
}

/// A number by its digits, so that it stays exact.
fn decimal(value: &DeValue<'_>) -> Option<Decimal> {
    let text = match value {
        DeValue::String(text) => text,
        DeValue::Float(number) => number.as_str(),
        DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
        _ => return None,
    };
    Decimal::parse(text.as_bytes()).ok()
}
