//! Variables in values: `${env:NAME}` and `${file:PATH}` in all files, and in addition the variables of the file's
//! engine.

use std::fmt;
use std::fs::File;
use std::io::Read;

use super::dialect::Dialect;

/// Maximum length in bytes of a value after its variables were replaced.
pub const MAX_VALUE: usize = 64 << 10;

/// The source of the values of variables.
pub trait Values {
    /// The value of an environment variable; `None` when the variable is not set or is not text.
    fn env(&self, name: &str) -> Option<String>;

    /// The text of a file.
    ///
    /// # Errors
    ///
    /// The reason why the file cannot be read.
    fn file(&self, path: &str) -> Result<FileText, VariableFault>;
}

/// The text of a file.
#[derive(Clone, Debug)]
pub struct FileText {
    /// The text without the line end at its end.
    pub text: String,
    /// Whether every user of the machine can read the file.
    pub exposed: bool,
}

/// A source of values that uses the environment and the files of this process.
#[derive(Clone, Copy, Debug)]
pub struct OfTheProcess;

impl Values for OfTheProcess {
    fn env(&self, name: &str) -> Option<String> {
        // `std::env::var` may panic on such names.
        if name.is_empty() || name.contains(['=', '\0']) {
            return None;
        }
        std::env::var(name).ok()
    }

    fn file(&self, path: &str) -> Result<FileText, VariableFault> {
        let failed = |error: std::io::Error| VariableFault::Unreadable(error.to_string());
        // Opening a pipe would wait until another process writes to it.
        let about = std::fs::metadata(path).map_err(failed)?;
        if !about.is_file() {
            return Err(VariableFault::Unreadable("not a file".into()));
        }
        let mut text = String::new();
        File::open(path)
            .and_then(|file| file.take(MAX_VALUE as u64 + 1).read_to_string(&mut text))
            .map_err(failed)?;
        if text.len() > MAX_VALUE {
            return Err(VariableFault::TooLong);
        }
        let end = text.trim_end_matches(['\r', '\n']).len();
        text.truncate(end);
        Ok(FileText {
            text,
            exposed: others_may_read(&about),
        })
    }
}

/// Whether every user of the machine can read a file.
pub fn others_may_read(about: &std::fs::Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::mode(about) & 0o004 != 0;
    #[cfg(not(unix))]
    return {
        let _ = about;
        false
    };
}

/// Why a variable cannot be replaced by its value.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum VariableFault {
    /// The variable is not set in the environment.
    NotSet,
    /// The file cannot be read. The text is the error of the system.
    Unreadable(String),
    /// The value is longer than [`MAX_VALUE`].
    TooLong,
}

impl fmt::Display for VariableFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSet => f.write_str("is not set"),
            Self::Unreadable(why) => write!(f, "cannot be read: {why}"),
            Self::TooLong => write!(f, "expands to more than {MAX_VALUE} bytes"),
        }
    }
}

/// The variables that are replaced in addition to fixwire's own.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum VariableSyntax {
    /// None.
    Own,
    /// `${name}`, unless a `\` stands before it. In a file of QuickFIX/J the name is a Java system property for
    /// QuickFIX/J, and an environment variable of the same name here. In a file of FIX Antenna this is for names that
    /// are not properties of the file.
    Braces,
    /// `$name`, `${name}` and `$(name)`. QuickFIX (C++) replaces these variables only when its program asks for that.
    Dollar,
}

impl VariableSyntax {
    /// The variables that an engine replaces. `asked` tells whether the file sets `ExpandVariables=Y`.
    pub fn of(dialect: Dialect, asked: bool) -> Self {
        match (dialect, asked) {
            (_, true) => Self::Dollar,
            (Dialect::QuickFixJ | Dialect::Antenna, false) => Self::Braces,
            _ => Self::Own,
        }
    }
}

/// A value whose variables were replaced.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Expanded {
    /// The value.
    pub text: String,
    /// Whether the value had variables.
    pub any: bool,
    /// Whether a replacement came from a file that every user of the machine can read.
    pub exposed: bool,
    /// Whether some text that looks like a variable was left unchanged.
    pub left: bool,
}

/// Replaces the variables of a value. The replacements themselves are not searched for variables.
///
/// # Errors
///
/// The first variable that has no value, and the reason.
pub fn expand(
    text: &str,
    form: VariableSyntax,
    values: &dyn Values,
) -> Result<Expanded, (String, VariableFault)> {
    let mut done = Expanded {
        text: String::with_capacity(text.len()),
        any: false,
        exposed: false,
        left: false,
    };
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (before, from) = rest.split_at(at);
        done.text.push_str(before);
        let escaped = form == VariableSyntax::Braces && before.ends_with('\\');
        match variable(from, form).filter(|_| !escaped) {
            Some((Variable::Env(name), length)) => {
                let value = values.env(name);
                done.text
                    .push_str(&value.ok_or((name.into(), VariableFault::NotSet))?);
                done.any = true;
                rest = &from[length..];
            }
            Some((Variable::File(path), length)) => {
                let file = values.file(path).map_err(|why| (path.into(), why))?;
                done.text.push_str(&file.text);
                done.exposed |= file.exposed;
                done.any = true;
                rest = &from[length..];
            }
            None => {
                done.left |= from.starts_with("${") || from.starts_with("$(");
                done.text.push('$');
                rest = &from[1..];
            }
        }
        if done.text.len() > MAX_VALUE {
            return Err((text.chars().take(40).collect(), VariableFault::TooLong));
        }
    }
    done.text.push_str(rest);
    Ok(done)
}

enum Variable<'a> {
    Env(&'a str),
    File(&'a str),
}

/// Whether a text is `${env:NAME}` or `${file:PATH}` and nothing else.
pub fn is_reference(text: &str) -> bool {
    let is_one = |(_, length): (Variable<'_>, usize)| length == text.len();
    let is_own = text.starts_with("${env:") || text.starts_with("${file:");
    is_own && variable(text, VariableSyntax::Own).is_some_and(is_one)
}

/// The variable with which a text begins, and the length of the variable.
fn variable(text: &str, form: VariableSyntax) -> Option<(Variable<'_>, usize)> {
    let within = |open: &str, close: char| {
        let inner = text.strip_prefix(open)?;
        let name = &inner[..inner.find(close)?];
        (!name.is_empty()).then_some((name, open.len() + name.len() + close.len_utf8()))
    };
    if let Some((name, length)) = within("${", '}') {
        if let Some(name) = name.strip_prefix("env:") {
            return Some((Variable::Env(name), length));
        }
        if let Some(path) = name.strip_prefix("file:") {
            return Some((Variable::File(path), length));
        }
        return (form != VariableSyntax::Own).then_some((Variable::Env(name), length));
    }
    if form != VariableSyntax::Dollar {
        return None;
    }
    if let Some((name, length)) = within("$(", ')') {
        return Some((Variable::Env(name), length));
    }
    let name = text.strip_prefix('$')?;
    let end = name
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(name.len());
    (end > 0).then(|| (Variable::Env(&name[..end]), end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed;

    impl Values for Fixed {
        fn env(&self, name: &str) -> Option<String> {
            match name {
                "A" => Some("alpha".into()),
                "LOOP" => Some("${env:LOOP}".into()),
                "LONG" => Some("x".repeat(MAX_VALUE / 2)),
                _ => None,
            }
        }

        fn file(&self, path: &str) -> Result<FileText, VariableFault> {
            let text = format!("<{path}>");
            Ok(FileText {
                text,
                exposed: path == "/open",
            })
        }
    }

    fn text(text: &str, form: VariableSyntax) -> Result<String, (String, VariableFault)> {
        expand(text, form, &Fixed).map(|done| done.text)
    }

    #[test]
    fn each_engine_replaces_its_own_form() {
        for (form, from, to) in [
            (VariableSyntax::Own, "a${env:A}b", "aalphab"),
            (VariableSyntax::Own, "${file:/x}$", "</x>$"),
            (VariableSyntax::Own, "${A} $(A) $A ${", "${A} $(A) $A ${"),
            (VariableSyntax::Own, "${env:LOOP}", "${env:LOOP}"),
            (VariableSyntax::Braces, "${A}/$A\\${A}", "alpha/$A\\${A}"),
            (
                VariableSyntax::Dollar,
                "$A-${A}$(A)$$",
                "alpha-alphaalpha$$",
            ),
            (VariableSyntax::Dollar, "${}$()$é", "${}$()$é"),
        ] {
            assert_eq!(text(from, form).as_deref(), Ok(to), "{from}");
        }
        assert!(expand("${A}", VariableSyntax::Own, &Fixed).unwrap().left);
        assert!(
            expand("${file:/open}", VariableSyntax::Own, &Fixed)
                .unwrap()
                .exposed
        );
        assert!(
            !expand("${file:/x}", VariableSyntax::Own, &Fixed)
                .unwrap()
                .exposed
        );
    }

    #[test]
    fn a_variable_without_a_value_is_an_error() {
        assert_eq!(
            text("${env:B}", VariableSyntax::Own),
            Err(("B".into(), VariableFault::NotSet))
        );
        assert_eq!(
            text("$B", VariableSyntax::Dollar),
            Err(("B".into(), VariableFault::NotSet))
        );
        assert!(text(&"${env:LONG}".repeat(3), VariableSyntax::Own).is_err());
    }

    #[test]
    fn only_files_of_text_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret");
        let name = path.to_str().unwrap();
        assert!(OfTheProcess.file(name).is_err());
        assert!(OfTheProcess.file(folder.path().to_str().unwrap()).is_err());
        assert!(OfTheProcess.file("/dev/zero").is_err());
        std::fs::write(&path, "hunter2\r\n").unwrap();
        assert_eq!(OfTheProcess.file(name).unwrap().text, "hunter2");
        std::fs::write(&path, [0xff]).unwrap();
        assert!(OfTheProcess.file(name).is_err());
        std::fs::write(&path, "x".repeat(MAX_VALUE + 1)).unwrap();
        assert!(OfTheProcess.file(name).is_err());
        assert_eq!(OfTheProcess.env("A=B"), None);
        assert_eq!(OfTheProcess.env(""), None);
    }
}
