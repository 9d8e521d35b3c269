//! Loads the exchange of a settings file, or reports every error in it.

use fixwire::settings::{Id, LoadError, Problem, Settings, Source, Span};
use fixwire_exchange::ExchangeConfig;

/// Reads the exchange of a settings file.
///
/// # Errors
///
/// [`LoadError::Content`] with all errors, each with its position.
pub fn load(source: &Source, settings: &Settings) -> Result<ExchangeConfig, LoadError> {
    let mut problems = sessions(settings);
    let names: Vec<String> = settings.sessions.iter().map(|it| it.name()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let links: Vec<&str> = settings.links.iter().map(|it| it.name()).collect();
    match fixwire_exchange::load(&source.text, &names, &links) {
        Ok(config) if problems.is_empty() => return Ok(config),
        Err(mistakes) if !settings.exchange.is_empty() => {
            problems.extend(mistakes.iter().map(|it| Problem::of(source, it)));
        }
        _ => {}
    }
    problems.sort_by_key(|problem| problem.span.start);
    Err(settings.found(problems))
}

/// Errors of the file outside the exchange: a gateway or an OMS in the file, or a FIX version before 4.2.
fn sessions(settings: &Settings) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (other, tables) in [("a gateway", &settings.gateway), ("an OMS", &settings.oms)] {
        if let Some(table) = tables.first() {
            let title = format!(
                "a file has an exchange or {other}, not both: `{table}` belongs to {other}"
            );
            let help = match *table {
                "script" => {
                    "write [[script]], with two brackets, for each script of an exchange".into()
                }
                _ => format!("move {other} to a separate file"),
            };
            problems.push(Problem::found(Span::default(), &title, Some(&help)));
        }
    }
    if settings.exchange.is_empty() {
        let help = "add [[instrument]] tables as in examples/sim.toml, or use fixwire run";
        let title = "the file has no exchange";
        problems.push(Problem::found(Span::default(), title, Some(help)));
    }
    for session in &settings.sessions {
        let version = session.text(Id::BeginString).unwrap_or_default();
        if matches!(version, "FIX.4.0" | "FIX.4.1") {
            let setting = session.find(Id::BeginString);
            let span = setting.and_then(|setting| setting.origin.span());
            let title = format!("an exchange does not support {version}");
            let help = Some("give FIX.4.2 or a later version");
            problems.push(Problem::found(span.unwrap_or(session.header), &title, help));
        }
    }
    problems
}
