//! `fixwire config convert` makes a file with the same meaning.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fixwire::settings::convert::to_toml;
use fixwire::settings::registry::{self, Known};
use fixwire::settings::variables::OfTheProcess;
use fixwire::settings::{LoadError, Options, Settings, Source};

fn samples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/settings")
}

fn fixwire(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fixwire"))
        .current_dir(folder)
        .args(args)
        .env("FIXWIRE_SAMPLE", "secret-of-the-sample")
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The effective settings of each session: keys and values, without their origins.
fn values(folder: &Path, file: &str) -> Vec<String> {
    let output = fixwire(folder, &["check", file]);
    assert!(output.status.success(), "{file}: {}", text(&output.stderr));
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        let (key, value) = (words.next()?, words.next()?);
        let about_the_file = matches!(key, "Read" | "ExpandVariables" | "Dialect");
        let value = match registry::find(key) {
            // The same in two forms.
            Some(Known::Used(key, _)) => format!("{:?}", key.kind.parse(value)),
            _ => value.to_owned(),
        };
        (!about_the_file && key != "(now)").then(|| format!("{key} {value}"))
    };
    text(&output.stdout).lines().filter_map(row).collect()
}

#[test]
fn every_sample_is_converted_and_means_the_same() {
    let mut converted = 0;
    for entry in fs::read_dir(samples().join("plain")).unwrap() {
        let from = entry.unwrap().path();
        if from
            .extension()
            .is_none_or(|extension| extension == "check" || extension == "toml")
        {
            continue;
        }
        let away = tempfile::tempdir().unwrap();
        let name = from.file_name().unwrap().to_str().unwrap();
        fs::copy(&from, away.path().join(name)).unwrap();
        let mine = fs::Permissions::from_mode(0o600);
        fs::set_permissions(away.path().join(name), mine).unwrap();
        let output = fixwire(away.path(), &["config", "convert", name, "new.toml"]);
        assert!(output.status.success(), "{name}: {}", text(&output.stderr));
        let said = text(&output.stdout) + text(&output.stderr).as_str();
        assert!(!said.contains("secret-of-the-sample"), "{name}: {said}");
        assert_eq!(
            values(away.path(), "new.toml"),
            values(away.path(), name),
            "{name}"
        );
        let made = fs::read_to_string(away.path().join("new.toml")).unwrap();
        let golden = from.with_extension("toml");
        if std::env::var_os("UPDATE").is_some() {
            fs::write(&golden, &made).unwrap();
        }
        let there = fs::read_to_string(&golden).unwrap_or_default();
        assert!(
            made == there,
            "{}: run with UPDATE=1 and read the difference\n{made}",
            golden.display()
        );
        converted += 1;
    }
    assert!(converted >= 5, "{converted} samples");
}

/// All valid keys of a sample, in one file.
#[test]
fn every_key_of_every_engine_is_kept() {
    for entry in fs::read_dir(samples().join("every-key")).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let all = text.lines().count();
        let mut source = Source { path, text };
        let settings = loop {
            let report = match Settings::read_with(&source, &Options::default()) {
                Ok(settings) => break settings,
                Err(LoadError::Content(report)) => report,
                Err(other) => panic!("{other}"),
            };
            let errors = report
                .problems
                .iter()
                .filter(|found| !found.fault.is_warning());
            let wrong: Vec<usize> = errors.map(|found| report.source.line(found.span)).collect();
            let lines = source.text.lines().zip(1..);
            let left: Vec<&str> = lines
                .filter(|(line, number)| line.starts_with('[') || !wrong.contains(number))
                .map(|(line, _)| line)
                .collect();
            let left = left.join("\n");
            assert_ne!(left, source.text, "{report}");
            source.text = left;
        };
        let name = source.path.display();
        assert!(
            source.text.lines().count() * 2 > all,
            "{name}: {}",
            source.text
        );
        if let Err(error) = to_toml(&settings, &OfTheProcess) {
            panic!("{name}: {error}");
        }
    }
}

const FILE: &str = "\
# a comment
[DEFAULT]
ConnectionType=acceptor
SocketAcceptPort=5001
FileLogBackupPath=log
[SESSION]
BeginString=FIX.4.4
SenderCompID=A
TargetCompID=B
Password=hunter2
";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("x.cfg"), FILE).unwrap();
    folder
}

#[test]
fn the_new_file_is_its_owners_and_never_written_over_another() {
    let folder = folder();
    let convert = |args: &[&str]| {
        let output = fixwire(folder.path(), &[&["config", "convert"], args].concat());
        (
            output.status.success(),
            text(&output.stdout),
            text(&output.stderr),
        )
    };
    let (done, said, warned) = convert(&["x.cfg", "x.toml"]);
    assert!(done, "{warned}");
    assert!(said.ends_with("\nx.toml: 1 session.\n"), "{said}");
    assert!(
        warned.contains("`FileLogBackupPath` has no effect"),
        "{warned}"
    );
    assert!(!said.contains("hunter2") && !warned.contains("hunter2"));
    let path = folder.path().join("x.toml");
    let made = fs::read_to_string(&path).unwrap();
    assert!(made.contains("Password = \"hunter2\"\n"), "{made}");
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );

    fs::write(&path, "mine").unwrap();
    let (done, _, said) = convert(&["x.cfg", "x.toml"]);
    assert!(
        !done && said.contains("x.toml: file already exists"),
        "{said}"
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");

    let (done, _, said) = convert(&["x.cfg", "x.cfg"]);
    assert!(!done && said.contains("must end in .toml"), "{said}");
    let (done, _, said) = convert(&["x.cfg", "nowhere/x.toml"]);
    assert!(
        !done && said.contains("nowhere/x.toml: cannot be written"),
        "{said}"
    );

    fs::write(folder.path().join("bad.cfg"), FILE.replace("5001", "x")).unwrap();
    let (done, _, said) = convert(&["bad.cfg", "bad.toml"]);
    assert!(
        !done && said.contains("is not valid for SocketAcceptPort"),
        "{said}"
    );
    let left: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn a_look_at_it_shows_no_secret() {
    let folder = folder();
    let output = fixwire(folder.path(), &["config", "convert", "x.cfg", "-"]);
    let said = text(&output.stdout);
    assert!(output.status.success());
    assert!(said.contains("Password = \"******\"\n"), "{said}");
    assert!(text(&output.stderr).contains("note: secrets are shown as"));
    assert!(!folder.path().join("-").exists());
}
