//! Settings converted to TOML: every session keeps its values.

use proptest::prelude::*;

use super::super::convert::{ConvertError, to_toml, to_toml_without_secrets};
use super::super::variables::{FileText, Values, VariableFault};
use super::*;

struct Fixed;

impl Values for Fixed {
    fn env(&self, name: &str) -> Option<String> {
        (name != "UNSET").then(|| format!("value-of-{name}"))
    }

    fn file(&self, path: &str) -> Result<FileText, VariableFault> {
        let text = format!("text-of-{path}");
        let exposed = false;
        Ok(FileText { text, exposed })
    }
}

fn settings(dialect: Dialect, name: &str, text: &str) -> Settings {
    let source = Source {
        path: name.into(),
        text: text.into(),
    };
    let options = Options {
        dialect: Some(dialect),
        values: &Fixed,
        ..Options::default()
    };
    Settings::read_with(&source, &options).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

fn convert(dialect: Dialect, text: &str) -> Result<String, ConvertError> {
    to_toml(&settings(dialect, "x.cfg", text), &Fixed)
}

const TWO: &str = "\
[DEFAULT]
ConnectionType=Initiator
SocketConnectHost=a.example
SocketConnectPort=05001
SocketConnectHost1=b.example
SocketConnectPort1=5002
HeartBtInt=30
LogonTimeout=1500ms
Desk Name=Paris \"Ouest\"
AppDataDictionary.FIX.4.4=a.xml
ExpandVariables=Y
[SESSION]
BeginString=FIXT.1.1
DefaultApplVerID=9
SenderCompID=A
TargetCompID=B
SocketNodelay=Y
Password=$VENUE_PASSWORD
[SESSION]
BeginString=FIX.4.4
SenderCompID=A
TargetCompID=B\\C
SocketConnectHost1=c.example
HEARTBTINT=7
X-Note=${file:/etc/note}
";

#[test]
fn a_file_of_another_engine_keeps_its_form_and_its_defaults() {
    let said = convert(Dialect::QuickFix, TWO).unwrap();
    let expected = r##"# Converted from x.cfg, a file of QuickFIX.

[default]
ConnectionType = "initiator"
HeartBtInt = 30
SocketConnectHost = ["a.example", "b.example"]
SocketConnectPort = [5001, 5002]
SocketNodelay = false  # QuickFIX's default
LogonTimeout = "1500ms"
"AppDataDictionary.FIX.4.4" = "a.xml"
ValidateUnorderedGroupFields = false  # QuickFIX's default

[default.application]
"Desk Name" = "Paris \"Ouest\""

[[session]]
BeginString = "FIXT.1.1"
SenderCompID = "A"
TargetCompID = "B"
DefaultApplVerID = "FIX.5.0SP2"
SocketNodelay = true
Password = "${env:VENUE_PASSWORD}"

[[session]]
BeginString = "FIX.4.4"
SenderCompID = "A"
TargetCompID = "B\\C"
HeartBtInt = 7
SocketConnectHost = ["a.example", "c.example"]
X-Note = "${file:/etc/note}"
"##;
    assert_eq!(said, expected);
    let settings = settings(Dialect::QuickFix, "x.cfg", TWO);
    let shown = to_toml_without_secrets(&settings).unwrap();
    assert!(shown.contains("\nPassword = \"******\"\n"), "{shown}");
}

#[test]
fn what_differs_there_stands_above_the_key() {
    let said = convert(Dialect::QuickFixJ, &session("ResetOnLogon=yes")).unwrap();
    let lines = "\n# QuickFIX/J accepts only Y and N\nResetOnLogon = true\n";
    assert!(said.contains(lines), "{said}");
    assert!(
        said.contains("\nSocketConnectTimeout = 60  # QuickFIX/J's default\n"),
        "{said}"
    );
    assert!(!said.contains("LogoutTimeout"), "the same in both: {said}");
}

#[test]
fn a_default_that_not_all_sessions_have_stands_in_those_that_do() {
    let plain = "[SESSION]\nBeginString=FIX.4.2\nSenderCompID=A\nSocketAcceptPort=5001\n";
    let two = format!("{plain}TargetCompID=B\n{plain}TargetCompID=C\nUseDataDictionary=Y\n");
    let said = convert(Dialect::QuickFixGo, &two).unwrap();
    assert!(
        said.starts_with("# Converted from x.cfg, a file of QuickFIX/Go.\n\n[default]\n"),
        "{said}"
    );
    assert_eq!(said.matches("UseDataDictionary = ").count(), 2, "{said}");
    assert_eq!(said.matches("ConnectionType = ").count(), 1, "{said}");
    let third = format!("{two}{plain}TargetCompID=D\nDataDictionary=${{file:d}}\n");
    let said = convert(Dialect::QuickFixGo, &third).unwrap();
    let (default, sessions) = said.split_once("[[session]]").unwrap();
    assert!(!default.contains("UseDataDictionary"), "{said}");
    assert_eq!(
        sessions.matches("UseDataDictionary = ").count(),
        2,
        "{said}"
    );
}

#[test]
fn a_list_stays_the_list_that_it_is() {
    for (default, own, expected) in [
        (
            r#"["464=A", "383=A"]"#,
            r#"LogonTag = ["464=C"]"#,
            "LogonTag = [\"464=C\"]\n",
        ),
        (
            r#""464=A""#,
            r#"LogonTag2 = "1=A""#,
            "LogonTag = [\"464=A\"]\nLogonTag2 = \"1=A\"\n",
        ),
        (
            r#"["464=A", "383=A"]"#,
            "LogonTag = [\"464=C\", \"383=${env:C}\"]\nLogonTag7 = \"1=A\"",
            "LogonTag = [\"464=C\", \"383=${env:C}\"]\nLogonTag7 = \"1=A\"\n",
        ),
        (r#""464=A""#, "HeartBtInt = 20", "HeartBtInt = 20\n"),
    ] {
        let text = format!(
            "[default]\nConnectionType = \"initiator\"\nSocketConnectHost = \"a\"\nSocketConnectPort = 1\n\
             HeartBtInt = 30\nBeginString = \"FIX.4.4\"\nSenderCompID = \"A\"\nLogonTag = {default}\n\
             [[session]]\nTargetCompID = \"C\"\n[[session]]\nTargetCompID = \"B\"\n{own}\n"
        );
        let settings = settings(Dialect::Fixwire, "x.toml", &text);
        let said = to_toml(&settings, &Fixed).unwrap();
        assert!(said.contains(&format!("LogonTag = {default}\n")), "{said}");
        let (_, last) = said.split_once("TargetCompID = \"B\"\n").unwrap();
        assert_eq!(last, expected);
    }
}

#[test]
fn what_is_a_variable_only_here_cannot_be_said() {
    for value in ["\\${env:HOME}", "\\${file:/x}"] {
        let text = session(&format!("My={value}"));
        let said = convert(Dialect::QuickFixJ, &text).unwrap_err().to_string();
        assert!(
            said.starts_with("line 7: the value of My contains text"),
            "{said}"
        );
    }
    let kept = convert(Dialect::QuickFixJ, &session("My=${user.home}\\${x}$${y}")).unwrap();
    assert!(
        kept.contains("My = \"${env:user.home}\\\\${x}$${env:y}\""),
        "{kept}"
    );
}

#[test]
fn a_text_without_the_values_is_not_given_away() {
    struct Unset;
    impl Values for Unset {
        fn env(&self, _: &str) -> Option<String> {
            Some("another".into())
        }
        fn file(&self, _: &str) -> Result<FileText, VariableFault> {
            Err(VariableFault::NotSet)
        }
    }
    let read = |value: &str| {
        let text = session(&format!("Username={value}"));
        to_toml(&settings(Dialect::Fixwire, "x.cfg", &text), &Unset)
    };
    let said = read("${env:A}").unwrap_err().to_string();
    assert_eq!(
        said,
        "the conversion would change the value of Username of session FIX.4.2:A->B"
    );
    assert!(matches!(
        read("${file:A}"),
        Err(ConvertError::Unreadable(_))
    ));
}

fn dialect() -> impl Strategy<Value = Dialect> {
    let [a, b, c, d] = Dialect::FAMILY;
    prop_oneof![Just(a), Just(b), Just(c), Just(d), Just(Dialect::Fixwire)]
}

proptest! {
    #[test]
    fn any_value_of_an_application_is_kept(
        dialect in dialect(),
        expand in any::<bool>(),
        pieces in proptest::collection::vec(
            prop_oneof![
                Just("${env:A}".to_owned()), Just("${A}".to_owned()), Just("$".to_owned()),
                Just("{".to_owned()), Just("}".to_owned()), Just("$(B)".to_owned()),
                Just("\\".to_owned()), Just("\"".to_owned()), "[ -~]{1,5}", "\\PC{1,3}",
            ],
            1..6,
        ),
    ) {
        let value = pieces.concat();
        prop_assume!(!value.contains('\n'));
        let extra = format!("X-Any=.{value}.\nExpandVariables={}", if expand { "Y" } else { "N" });
        let source = Source { path: "x.cfg".into(), text: session(&extra) };
        let options = Options { dialect: Some(dialect), values: &Fixed, ..Options::default() };
        let Ok(settings) = Settings::read_with(&source, &options) else {
            return Ok(());
        };
        // The result was compared; only text that looks like a variable cannot be converted.
        match to_toml(&settings, &Fixed) {
            Ok(_) => {}
            Err(ConvertError::Variable { .. }) => {
                let own = settings.sessions[0].custom[0].value.clone();
                prop_assert!(own.contains('$') || value.contains('$'), "{value}");
            }
            Err(error) => prop_assert!(false, "{value}: {error}"),
        }
    }
}

/// Keys that the engine of the file ignores have no effect here: in the output they would be refused.
#[test]
fn what_the_engine_ignores_is_not_written() {
    for (lines, key) in [
        (
            "BeginString=FIX.4.4\nTransportDataDictionary=a.xml\n",
            "TransportDataDictionary",
        ),
        (
            "BeginString=FIX.4.4\nAppDataDictionary=a.xml\n",
            "AppDataDictionary",
        ),
        (
            "BeginString=FIXT.1.1\nDefaultApplVerID=FIX.5.0\nDataDictionary=a.xml\n",
            "\nDataDictionary",
        ),
        (
            "BeginString=FIX.4.4\nServerCertificateKeyFile=a.key\n",
            "ServerCertificateKeyFile",
        ),
    ] {
        let text = format!(
            "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=1\nStartTime=00:00:00\nEndTime=00:00:00\n\
             UseDataDictionary=N\n[SESSION]\nSenderCompID=A\nTargetCompID=B\n{lines}"
        );
        let said = convert(Dialect::QuickFix, &text).unwrap();
        assert!(!said.contains(key), "{said}");
    }
}
