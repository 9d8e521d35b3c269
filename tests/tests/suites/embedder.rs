//! Does a program in an empty folder, which depends on `fixwire` alone, build from the published packages and trade?

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use fixwire_rigs::packages::workspace;
use fixwire_rigs::publishing::PUBLIC;
use fixwire_rigs::server::{binary, free_port, scratch};

/// The most time for a trade over loopback.
const PATIENCE: Duration = Duration::from_secs(40);
const FILES: [&str; 6] = [
    "Cargo.toml",
    "acceptor.cfg",
    "initiator.cfg",
    "key-store.cfg",
    "src/main.rs",
    "venue.delta",
];

/// cargo, without its variables about the package of this program.
fn cargo(folder: &Path) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    for (name, _) in std::env::vars_os() {
        if name.as_encoded_bytes().starts_with(b"CARGO_") && name != "CARGO_HOME" {
            command.env_remove(name);
        }
    }
    command.current_dir(folder);
    command
}

/// The command succeeds; its output.
fn succeeds(mut command: Command) -> String {
    let output = command.output().expect("it starts");
    let (said, printed) = said(&output);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{said}",
        output.status
    );
    printed
}

fn said(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stderr), text(&output.stdout))
}

/// Packages the public crates and unpacks them; returns their folder.
fn packages(folder: &Path) -> PathBuf {
    let mut package = cargo(workspace());
    package.args([
        "package",
        "--no-verify",
        "--allow-dirty",
        "--offline",
        "--locked",
        "--quiet",
    ]);
    package.arg("--target-dir").arg(folder);
    for name in PUBLIC {
        package.args(["--package", name]);
    }
    succeeds(package);
    let packages = folder.join("package");
    for name in PUBLIC {
        let mut tar = Command::new("tar");
        tar.arg("-xzf")
            .arg(format!("{name}-{}.crate", env!("CARGO_PKG_VERSION")));
        tar.current_dir(&packages);
        succeeds(tar);
    }
    packages
}

/// The program in its empty folder, with its messages generated and its crates patched.
fn program(folder: &Path, packages: &Path) {
    let from = workspace().join("tests/embedder");
    let port = free_port().expect("a port").to_string();
    fs::create_dir_all(folder.join("src")).expect("a folder");
    for file in FILES {
        let text = fs::read_to_string(from.join(file)).expect("a file of the program");
        let mut text = text.replace("=PORT", &format!("={port}"));
        if file == "Cargo.toml" {
            text.push_str("\n[patch.crates-io]\n");
            for name in PUBLIC {
                let package = packages.join(format!("{name}-{}", env!("CARGO_PKG_VERSION")));
                text.push_str(&format!("{name} = {{ path = {package:?} }}\n"));
            }
        }
        fs::write(folder.join(file), text).expect("a file");
    }
    let mut generate = Command::new(binary().expect("the binary"));
    generate.current_dir(folder);
    generate.args([
        "generate",
        "--dictionary",
        "FIX.4.4 + venue.delta",
        "--messages",
        "D",
    ]);
    fs::write(folder.join("src/orders.rs"), succeeds(generate)).expect("the messages");
    // The versions that all other tests use.
    fs::copy(workspace().join("Cargo.lock"), folder.join("Cargo.lock")).expect("the lock file");
}

#[test]
fn a_program_with_one_dependency_builds_from_the_packages_and_trades() {
    let folder = scratch("program").expect("a folder");
    let folder = fs::canonicalize(folder).expect("a folder");
    let packages = packages(&folder.join("packages"));
    let home = folder.join("embedder");
    program(&home, &packages);
    let mut build = cargo(&home);
    build.args(["build", "--offline", "--quiet"]);
    build
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env("CARGO_INCREMENTAL", "0");
    build.arg("--target-dir").arg(folder.join("target"));
    succeeds(build);
    let embedder = folder.join("target/debug/embedder");

    let started = Instant::now();
    let mut trade = Command::new(&embedder);
    trade.current_dir(&home);
    assert_eq!(
        succeeds(trade),
        "A1 filled: 100 at 12.5, flag A\nFIX.4.4:VENUE->DESK is logged on\n"
    );
    assert!(started.elapsed() < PATIENCE, "{:?}", started.elapsed());

    // A build without a feature names the command that builds it.
    fs::write(home.join("venue.p12"), b"0\x82").expect("a key store");
    let mut read = Command::new(&embedder);
    let output = read.current_dir(&home).arg("key-store.cfg").output();
    let output = output.expect("it starts");
    let (said, _) = said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for what in [
        "key-store.cfg:7",
        "venue.p12",
        "PKCS#12",
        "cargo build --release --features pkcs12",
    ] {
        assert!(said.contains(what), "{what}: {said}");
    }
}
