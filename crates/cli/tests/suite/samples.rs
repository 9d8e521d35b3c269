//! The settings files of every engine are understood, and differences are reported.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use fixwire::settings::family::FAMILY;
use fixwire::settings::{
    Dialect, DialectSource, LoadError, Problem, Settings, SettingsFault, SettingsReport,
};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/settings")
        .join(name)
}

/// The result of reading a file, valid or not.
fn report(path: &Path) -> SettingsReport {
    match Settings::load(path) {
        Ok(settings) => settings.report,
        Err(LoadError::Content(report)) => *report,
        Err(other) => panic!("{other}"),
    }
}

/// Whether a key is resolved: used, ignored as meaningless here, or refused by name with a remedy.
fn is_resolved(problem: &Problem) -> bool {
    !matches!(
        problem.fault,
        SettingsFault::UnknownKey { .. }
            | SettingsFault::Kept { .. }
            | SettingsFault::Malformed { .. }
            | SettingsFault::NoValue { .. }
            | SettingsFault::Missing { .. }
            | SettingsFault::Differs { .. }
            | SettingsFault::PassedOver { .. }
            | SettingsFault::Replaced { .. }
            | SettingsFault::Repeated { .. }
    )
}

#[test]
fn every_key_of_every_engine_is_resolved() {
    for dialect in Dialect::FAMILY {
        let path = folder("every-key").join(format!("{}.cfg", dialect.name()));
        let text = fs::read_to_string(&path).unwrap();
        let there: BTreeSet<&str> = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split_once('='))
            .map(|(key, _)| key)
            .collect();
        let all = FAMILY.iter().filter(|key| key.is_in(dialect));
        let missing: Vec<&str> = all
            .map(|key| key.name)
            .filter(|name| !there.contains(name))
            .collect();
        assert!(
            missing.is_empty(),
            "{dialect}: not in the sample: {missing:?}"
        );
        let report = report(&path);
        let wrong: Vec<String> = report
            .problems
            .iter()
            .filter(|problem| !is_resolved(problem))
            .map(|problem| problem.fault.title(report.text(problem)))
            .collect();
        assert!(wrong.is_empty(), "{dialect}: {wrong:#?}");
        assert!(!report.source.text.contains("secret-of-the-sample"));
    }
}

#[test]
fn a_files_engine_is_guessed_from_its_keys() {
    for (name, dialect, told) in [
        ("quickfix", Dialect::QuickFix, DialectSource::ByItsKeys),
        ("quickfixj", Dialect::QuickFixJ, DialectSource::ByItsKeys),
        ("quickfixgo", Dialect::QuickFixGo, DialectSource::ByKey),
    ] {
        let settings = Settings::load(&folder("plain").join(format!("{name}.cfg"))).unwrap();
        assert_eq!((settings.dialect, settings.told), (dialect, told));
    }
}

#[test]
fn check_says_what_it_said() {
    for name in [
        "quickfix",
        "quickfixj",
        "quickfixgo",
        "quickfixn",
        "fixwire",
        "fixengine",
    ] {
        // Independent of the permissions of the working copy.
        let away = tempfile::tempdir().unwrap();
        let kind = if name == "fixengine" {
            "properties"
        } else {
            "cfg"
        };
        let file = format!("{name}.{kind}");
        fs::copy(folder("plain").join(&file), away.path().join(&file)).unwrap();
        let mine = fs::Permissions::from_mode(0o600);
        fs::set_permissions(away.path().join(&file), mine).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_fixwire"))
            .current_dir(away.path())
            .args(["check", &file])
            .env("FIXWIRE_SAMPLE", "secret-of-the-sample")
            .output()
            .unwrap();
        let said = format!(
            "{}\n{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(output.status.success(), "{name}: {said}");
        assert!(!said.contains("secret-of-the-sample"), "{name}: {said}");
        let golden = folder("plain").join(format!("{name}.check"));
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&golden, &said).unwrap();
        }
        let there = fs::read_to_string(&golden).unwrap_or_default();
        assert!(
            said == there,
            "{name}.check is behind: run with UPDATE=1 and read the difference\n{said}"
        );
    }
}
