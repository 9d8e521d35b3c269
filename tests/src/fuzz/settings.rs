//! Any text is a configuration or errors with places, for any engine, and reporting them never panics. Any
//! configuration can be written as TOML.
//!
//! Input: the text of a `.cfg` file, which is also read as a `.toml` and a `.properties` file, in UTF-8 or converted to
//! it.

use fixwire::settings::convert::{ConvertError, to_toml};
use fixwire::settings::variables::{FileText, Values, VariableFault};
use fixwire::settings::{Dialect, LoadError, Options, Settings, SettingsReport, Source};

use super::hold;
use super::input::show;

/// A password that no error may show.
const CANARY: &str = "c4n4ry-7f3a";
/// The number of sessions in a file that is made into a configuration, and one file in this number is, chosen by its
/// length: a configuration loads a dictionary, which takes longer than everything else.
const FEW: usize = 4;
const ONE_OF: usize = 16;

/// Panics when reading settings breaks its promises for these bytes.
pub fn run(data: &[u8]) {
    let family = Dialect::FAMILY.map(Some);
    for dialect in [None, Some(Dialect::Fixwire)].into_iter().chain(family) {
        let values = &Nowhere;
        let read = |source: &Source| {
            Settings::read_with(
                source,
                &Options {
                    dialect,
                    values,
                    ..Options::default()
                },
            )
        };
        check(data, "fuzz.cfg", read).unwrap_or_else(|what| panic!("{dialect:?}: {what}"));
    }
    let (dialect, values) = (None, &Nowhere);
    let read = |source: &Source| {
        Settings::read_with(
            source,
            &Options {
                dialect,
                values,
                ..Options::default()
            },
        )
    };
    for name in ["fuzz.toml", "fuzz.properties"] {
        check(data, name, read).unwrap_or_else(|what| panic!("{name}: {what}"));
    }
}

/// No environment and no files: the files that a text names must not be opened.
struct Nowhere;

impl Values for Nowhere {
    fn env(&self, name: &str) -> Option<String> {
        (name.len() == 1).then(|| "30".to_owned())
    }

    fn file(&self, path: &str) -> Result<FileText, VariableFault> {
        let text = path.to_owned();
        let exposed = path.len() > 4;
        Ok(FileText { text, exposed })
    }
}

/// [`run`] for any reader.
///
/// # Errors
///
/// The violated property.
pub fn check(
    data: &[u8],
    name: &str,
    read: impl Fn(&Source) -> Result<Settings, LoadError>,
) -> Result<(), String> {
    let source = Source {
        path: name.into(),
        text: String::from_utf8_lossy(data).into_owned(),
    };
    let settings = match read(&source) {
        Ok(settings) => settings,
        Err(LoadError::Content(report)) => return is_wrong(&source, &report),
        Err(other) => return Err(format!("an error without a place: {other}")),
    };
    hold!(!settings.sessions.is_empty(), "no sessions");
    let warnings = settings
        .report
        .problems
        .iter()
        .all(|problem| problem.fault.is_warning());
    hold!(warnings, "taken with errors: {}", settings.report);
    is_shown(&source, &settings.report)?;
    for session in &settings.sessions {
        for setting in &session.settings {
            let secret = hides_canary(&source) && setting.text.contains(CANARY);
            hold!(!secret, "{} shows the password", setting.key.name);
        }
    }
    match to_toml(&settings, &Nowhere) {
        Ok(_) | Err(ConvertError::Variable { .. } | ConvertError::TooLarge) => {}
        Err(error) => return Err(format!("no TOML for it: {error}")),
    }
    let chosen = data.len().is_multiple_of(ONE_OF) && settings.sessions.len() <= FEW;
    if !chosen || names_files(&source.text) {
        return Ok(());
    }
    match settings.to_config() {
        Err(LoadError::Content(report)) => is_wrong(&source, &report),
        Err(other) => Err(format!("an error without a place: {other}")),
        Ok(config) => {
            let same = config.sessions.len() == settings.sessions.len();
            hold!(
                same,
                "{} sessions of {}",
                config.sessions.len(),
                settings.sessions.len()
            );
            // Whether it may be run is another question; the check must not panic.
            let said = config.check().map_err(|error| error.to_string());
            hold!(
                said.err().is_none_or(|said| !said.is_empty()),
                "an error without a word"
            );
            Ok(())
        }
    }
}

fn is_wrong(source: &Source, report: &SettingsReport) -> Result<(), String> {
    let errors = report
        .problems
        .iter()
        .filter(|problem| !problem.fault.is_warning());
    hold!(errors.count() > 0, "refused without a reason: {report}");
    is_shown(source, report)
}

/// Each problem has a place in the text, and a sentence on a line of its own.
fn is_shown(source: &Source, report: &SettingsReport) -> Result<(), String> {
    let lines = source.text.split('\n').count();
    for problem in &report.problems {
        let text = report.text(problem);
        let title = problem.fault.title(text);
        let help = problem.fault.help(text).unwrap_or_default();
        let line = report.source.line(problem.span);
        hold!(
            (1..=lines).contains(&line),
            "line {line} of {lines}: {title}"
        );
        let other = problem
            .fault
            .other_place()
            .map(|(span, _)| report.source.line(span));
        hold!(
            other.is_none_or(|line| line <= lines),
            "{other:?} of {lines}: {title}"
        );
        for said in [&title, &help] {
            hold!(
                !said.contains(char::is_control),
                "control characters: {}",
                show(said.as_bytes())
            );
        }
        hold!(
            !title.is_empty() && title.len() <= 2_000,
            "{} bytes: {title}",
            title.len()
        );
    }
    let whole = report.to_string();
    let shown = whole.lines().count();
    let expected = report.problems.len().min(101);
    hold!(shown == expected, "{shown} lines for {expected}: {whole}");
    hold!(
        !(hides_canary(source) && whole.contains(CANARY)),
        "shows the password: {whole}"
    );
    Ok(())
}

/// The canary appears once, as the value of a password. In a TOML file this holds when it is a line of its own in a
/// text without multi-line strings, where a line is not a key; in a `.properties` file when no line continues on the
/// next.
fn hides_canary(source: &Source) -> bool {
    let line = match source.is_toml() {
        true => format!("Password = \"{CANARY}\""),
        false => format!("Password={CANARY}"),
    };
    let several = source.is_toml()
        && ["\"\"\"", "'''"]
            .iter()
            .any(|open| source.text.contains(open));
    let several = several || (source.is_properties() && source.text.contains('\\'));
    let once = source.text.matches(CANARY).count() == 1;
    once && !several && source.text.split('\n').any(|text| text == line)
}

/// Named files are read, which is another matter.
fn names_files(text: &str) -> bool {
    text.to_ascii_lowercase().contains("dictionary")
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &[u8] = b"[SESSION]\nConnectionType=acceptor\nSocketAcceptPort=5001\n\
        BeginString=FIX.4.2\nSenderCompID=A\nTargetCompID=B\nPassword=c4n4ry-7f3a\n";

    fn source(text: &[u8]) -> Source {
        Source {
            path: "fuzz.cfg".into(),
            text: String::from_utf8_lossy(text).into_owned(),
        }
    }

    #[test]
    fn the_reader_passes() {
        run(GOOD);
        run(b"[SESSION]\nNonsense=1\n");
        run(b"sessionIDs=a\nport=1\nsenderCompID=A\ntargetCompID=B\npassword=c4n4ry-7f3a\nX-a=${b}\\\n c\n");
        run(&[GOOD, b"SocketNodelay=yes\nMy.key=${env:A}\"\n"].concat());
        assert!(
            Settings::read(&source(GOOD)).is_ok(),
            "the input is a configuration"
        );
    }

    #[test]
    fn an_error_without_a_reason_is_found() {
        let silent = |source: &Source| match Settings::read(source) {
            Err(LoadError::Content(mut report)) => {
                report.problems.clear();
                Err(LoadError::Content(report))
            }
            other => other,
        };
        assert!(check(b"[SESSION]\nNonsense=1\n", "fuzz.cfg", silent).is_err());
    }

    #[test]
    fn a_reader_that_shows_a_password_is_found() {
        let shows = |source: &Source| {
            Settings::read(source).map(|mut settings| {
                for setting in &mut settings.sessions[0].settings {
                    if setting.key.name == "Password" {
                        setting.text = CANARY.to_owned();
                    }
                }
                settings
            })
        };
        assert!(check(GOOD, "fuzz.cfg", shows).is_err());
    }

    #[test]
    fn a_reader_that_takes_what_is_wrong_is_found() {
        let takes = |wrong: &Source| match Settings::read(wrong) {
            Err(LoadError::Content(report)) => {
                let mut settings = Settings::read(&source(GOOD))?;
                settings.report = *report;
                Ok(settings)
            }
            other => other,
        };
        assert!(check(b"[SESSION]\nNonsense=1\n", "fuzz.cfg", takes).is_err());
    }
}
