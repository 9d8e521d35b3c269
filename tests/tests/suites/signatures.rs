//! Do programs of others verify the Logons that we sign?
//!
//! The finished binary, a gateway, and an engine in this process connect to a socket of the test and log on: twice over
//! new connections, and once more with a reset inside the session. A program in Python computes each HMAC again, and
//! OpenSSL verifies each Ed25519 signature.

use std::fs;
use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fixwire::protocol::{
    AdminOut, Application, LogonSigner, Message, Now, Outbox, Refusal, SessionId,
};
use fixwire::settings::{Settings, Source};
use fixwire::signing::{Ed25519, LogonSignature};
use fixwire::{Engine, Handle};
use fixwire_rigs::packages::workspace;
use fixwire_rigs::server::{Launch, Server, binary, scratch};
use fixwire_rigs::trade::PATIENCE;
use fixwire_rigs::wire::{Wire, message, number, show, timestamp, value};

const SECRET: &str = "T/SabUfV28tyVDVv5AsMuk5oqDFdvGwQrfc6f1/RnatGfpAcpAMMRzjfON8nqoL6";
const SECRET_KEY: &str = "2HlZ7exg8jTKltXnURjKvm3GS5iF5n4ClzHiEm_ocv4";

type Outcome = Result<(), String>;

/// A venue whose Logons must be signed.
struct Venue {
    folder: PathBuf,
    listener: TcpListener,
    recipe: &'static str,
    /// BeginString.
    version: &'static str,
}

impl Venue {
    fn open(name: &str, recipe: &'static str, version: &'static str) -> Result<Self, String> {
        let folder = scratch(&format!("signatures-{name}")).map_err(said)?;
        let folder = std::path::absolute(folder).map_err(said)?;
        let listener = TcpListener::bind("127.0.0.1:0").map_err(said)?;
        listener.set_nonblocking(true).map_err(said)?;
        let venue = Self {
            folder,
            listener,
            recipe,
            version,
        };
        venue.make_keys()?;
        Ok(venue)
    }

    fn key(&self) -> PathBuf {
        self.folder.join("key")
    }

    fn public_key(&self) -> PathBuf {
        self.folder.join("public.pem")
    }

    /// Keys as made by OpenSSL and shown by venues.
    fn make_keys(&self) -> Outcome {
        let (key, public) = (self.key(), self.public_key());
        let text = match self.recipe {
            "coinbase" => format!("{SECRET}\n"),
            "cme" => format!("ACCESS-KEY-ID\n{SECRET_KEY}\n"),
            _ => String::new(),
        };
        fs::write(&key, text).map_err(said)?;
        if self.recipe == "ed25519" {
            let mut made = Command::new("openssl");
            made.args(["genpkey", "-algorithm", "ed25519", "-out"])
                .arg(&key);
            let mut shown = Command::new("openssl");
            shown.args(["pkey", "-pubout", "-in"]).arg(&key);
            shown.arg("-out").arg(&public);
            for openssl in [&mut made, &mut shown] {
                assert!(openssl.status().map_err(said)?.success(), "openssl");
            }
        }
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).map_err(said)
    }

    /// The settings of a session that connects here, in the QuickFIX form or as TOML.
    fn settings(&self, toml: bool) -> Result<String, String> {
        let port = self.listener.local_addr().map_err(said)?.port().to_string();
        let (key, store) = (self.key(), self.folder.join("store"));
        let (key, store) = (key.to_string_lossy(), store.to_string_lossy());
        let mut all = vec![
            ("FileStorePath", &*store),
            ("ConnectionType", "initiator"),
            ("SocketConnectHost", "127.0.0.1"),
            ("SocketConnectPort", &port),
            ("ReconnectInterval", "1"),
            ("HeartBtInt", "30"),
            ("NonStopSession", "Y"),
            ("BeginString", self.version),
            ("SenderCompID", "DESK"),
            ("TargetCompID", "VENUE"),
            ("SessionName", "VENUE"),
            ("Username", "API-KEY"),
            ("Password", "pass phrase"),
            ("LogonSignature", self.recipe),
            ("LogonKeyFile", &key),
        ];
        if self.version == "FIXT.1.1" {
            all.push(("DefaultApplVerID", "FIX.5.0SP2"));
        }
        if self.recipe == "cme" {
            all.extend([
                ("SenderSubID", "TRADER"),
                ("TargetSubID", "G"),
                ("SenderLocationID", "US,NY"),
                ("EnableLastMsgSeqNumProcessed", "Y"),
                ("LogonTag", "1603=DESK"),
                ("LogonTag1", "1604=1.0"),
                ("LogonTag2", "1605=US"),
            ]);
        }
        let lines = all.iter().map(|(key, value)| match (toml, *value) {
            (false, value) => format!("{key}={value}\n"),
            (true, "Y") => format!("{key} = true\n"),
            (true, value) => format!("{key} = {value:?}\n"),
        });
        let lines: String = lines.collect();
        Ok(match toml {
            false => format!("[SESSION]\n{lines}"),
            true => format!("[[session]]\n{lines}[[rule]]\nfrom = [\"VENUE\"]\ndo = ['stop']\n"),
        })
    }

    /// A connection with its verified Logon.
    fn accept(&self) -> Result<(Wire, Vec<u8>), String> {
        let deadline = Instant::now() + *PATIENCE;
        let stream = loop {
            match self.listener.accept() {
                Ok((stream, _)) => break stream,
                Err(error) if Instant::now() > deadline => return Err(said(error)),
                Err(_) => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        stream.set_nonblocking(false).map_err(said)?;
        let mut wire = Wire::over(stream).map_err(said)?;
        let logon = self.verified(&mut wire)?;
        Ok((wire, logon))
    }

    /// The next message, a Logon whose signature is verified.
    fn verified(&self, wire: &mut Wire) -> Result<Vec<u8>, String> {
        let logon = wire
            .receive(*PATIENCE)
            .map_err(|error| format!("{error:?}"))?;
        assert_eq!(value(&logon, "35"), Some(&b"A"[..]), "{}", show(&logon));
        self.verify(&logon)?;
        // With another MsgSeqNum the signature is wrong.
        let other = show(&logon).replace("|34=", "|34=9").replace('|', "\x01");
        assert!(self.verify(other.as_bytes()).is_err(), "{other}");
        Ok(logon)
    }

    fn verify(&self, logon: &[u8]) -> Outcome {
        let key = match self.recipe {
            "coinbase" => SECRET.to_owned(),
            "cme" => SECRET_KEY.to_owned(),
            _ => self.public_key().to_string_lossy().into_owned(),
        };
        let program = workspace().join("tests/foreign/verifier/verify.py");
        let mut python = Command::new("python3")
            .arg(program)
            .args([self.recipe, &key])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(said)?;
        let mut stdin = python.stdin.take().ok_or("no stdin")?;
        stdin.write_all(logon).map_err(said)?;
        drop(stdin);
        let output = python.wait_with_output().map_err(said)?;
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        match output.stdout.trim_ascii() {
            b"good" => Ok(()),
            _ => Err(format!("{}: {words}", show(logon))),
        }
    }

    fn say(&self, wire: &mut Wire, seq: u64, kind: &str, fields: &str) -> Outcome {
        let time = timestamp(0, true);
        let (own, peer) = match self.recipe {
            "cme" => ("49=VENUE|50=G|", "56=DESK|57=TRADER|"),
            _ => ("49=VENUE|", "56=DESK|"),
        };
        let version = self.version;
        let text = format!("8={version}|35={kind}|34={seq}|{own}52={time}|{peer}{fields}");
        wire.send(&message(&text)).map_err(said)
    }

    /// The settings of a Logon.
    fn terms(&self) -> &'static str {
        match self.version {
            "FIXT.1.1" => "98=0|108=30|1137=9|",
            _ => "98=0|108=30|",
        }
    }

    /// Two connections, the second after the first has broken.
    fn logs_on_twice(&self) -> Result<Wire, String> {
        let (mut wire, first) = self.accept()?;
        self.say(&mut wire, 1, "A", self.terms())?;
        self.say(&mut wire, 2, "1", "112=T|")?;
        let heartbeat = wire
            .receive(*PATIENCE)
            .map_err(|error| format!("{error:?}"))?;
        assert_eq!(value(&heartbeat, "35"), Some(&b"0"[..]));
        assert_eq!(value(&heartbeat, "96"), None, "only Logons are signed");
        drop(wire);
        let (mut wire, second) = self.accept()?;
        let numbers = [&first, &second].map(|logon| number(logon, "34"));
        assert_eq!(numbers, [Some(1), Some(3)]);
        assert_ne!(value(&first, "52"), value(&second, "52"));
        let signature = if self.recipe == "cme" { "1402" } else { "96" };
        assert_ne!(value(&first, signature), value(&second, signature));
        self.say(&mut wire, 3, "A", self.terms())?;
        Ok(wire)
    }

    /// Starts the finished binary on a file of settings.
    fn run(&self, file: &str, app: Option<&'static str>) -> Result<Server, String> {
        let settings = self.folder.join(file);
        let text = self.settings(file.ends_with(".toml"))?;
        fs::write(&settings, text).map_err(said)?;
        let port = self.listener.local_addr().map_err(said)?.port();
        let launch = Launch {
            binary: binary()?,
            app,
            settings,
            port,
        };
        launch.spawn()
    }
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[test]
fn the_binary_signs_with_ed25519() -> Outcome {
    let venue = Venue::open("run", "ed25519", "FIX.4.4")?;
    let server = venue.run("desk.cfg", Some("log"))?;
    venue
        .logs_on_twice()
        .map_err(|error| format!("{error}: {}", server.last_words()))?;
    Ok(())
}

#[test]
fn the_binary_signs_with_an_hmac_over_fixt() -> Outcome {
    let venue = Venue::open("fixt", "coinbase", "FIXT.1.1")?;
    let server = venue.run("desk.cfg", Some("echo"))?;
    venue
        .logs_on_twice()
        .map_err(|error| format!("{error}: {}", server.last_words()))?;
    Ok(())
}

#[test]
fn a_gateway_signs_as_cme_asks_for_it() -> Outcome {
    let venue = Venue::open("gateway", "cme", "FIX.4.2")?;
    let server = venue.run("gateway.toml", None)?;
    venue
        .logs_on_twice()
        .map_err(|error| format!("{error}: {}", server.last_words()))?;
    Ok(())
}

/// An application that signs, if it has a key.
struct Desk {
    key: Option<Ed25519>,
}

impl Application for Desk {
    fn on_message(
        &mut self,
        _: Now,
        _: SessionId,
        _: &Message<'_>,
        _: &mut Outbox,
    ) -> Result<(), Refusal> {
        Ok(())
    }

    fn on_admin_out(&mut self, _: Now, _: SessionId, message: &mut AdminOut<'_>) {
        if let Some(key) = &self.key
            && message.msg_type() == b"A"
        {
            key.sign(message);
        }
    }
}

/// An engine in this process with the settings of the venue, with changes before its start.
fn embedded(
    venue: &Venue,
    key: Option<Ed25519>,
    signer: Option<LogonSignature>,
) -> Result<Handle, String> {
    let text = venue.settings(false)?;
    // The program signs, not its settings.
    let lines = text.lines().filter(|line| !line.starts_with("Logon"));
    let text = lines.map(|line| format!("{line}\n")).collect();
    let path = Path::new("desk.cfg").into();
    let settings = Settings::read(&Source { path, text }).map_err(said)?;
    let mut config = settings.to_config().map_err(said)?;
    if let Some(signer) = signer {
        config.sessions[0].logon_signer = Some(std::sync::Arc::new(signer));
    }
    let mut engine = Engine::new(config, Desk { key }).map_err(said)?;
    let handle = engine.handle();
    std::thread::spawn(move || engine.run());
    Ok(handle)
}

/// Also a Logon that resets inside the session.
fn resets(venue: &Venue, handle: &mut Handle) -> Outcome {
    let mut wire = venue.logs_on_twice()?;
    venue.say(&mut wire, 4, "1", "112=T|")?;
    let heartbeat = wire
        .receive(*PATIENCE)
        .map_err(|error| format!("{error:?}"))?;
    assert_eq!(value(&heartbeat, "35"), Some(&b"0"[..]));
    handle.reset(SessionId(0)).map_err(said)?;
    let logon = venue.verified(&mut wire)?;
    assert_eq!(number(&logon, "34"), Some(1));
    assert_eq!(value(&logon, "141"), Some(&b"Y"[..]));
    handle.stop().map_err(said)
}

#[test]
fn an_application_signs_for_itself() -> Outcome {
    for version in ["FIX.4.4", "FIXT.1.1"] {
        let venue = Venue::open(&format!("code-{version}"), "ed25519", version)?;
        let pem = fs::read(venue.key()).map_err(said)?;
        let key = Ed25519::from_pem(&pem).map_err(said)?;
        resets(&venue, &mut embedded(&venue, Some(key), None)?)?;
    }
    Ok(())
}

#[test]
fn the_configuration_of_a_session_has_its_signer() -> Outcome {
    let venue = Venue::open("config", "coinbase", "FIX.4.2")?;
    let signer = LogonSignature::read("coinbase", &venue.key()).ok_or("no recipe")?;
    let signer = signer.map_err(said)?;
    resets(&venue, &mut embedded(&venue, None, Some(signer))?)
}

/// A bad key is reported before any connection.
#[test]
fn check_and_run_refuse_a_key_that_others_may_read() -> Outcome {
    let venue = Venue::open("exposed", "ed25519", "FIX.4.4")?;
    let settings = venue.folder.join("desk.cfg");
    fs::write(&settings, venue.settings(false)?).map_err(said)?;
    fs::set_permissions(venue.key(), fs::Permissions::from_mode(0o644)).map_err(said)?;
    for command in ["check", "run"] {
        let mut fixwire = Command::new(binary()?);
        let output = fixwire.arg(command).arg(&settings).output().map_err(said)?;
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        let words = format!("{words}{}", String::from_utf8_lossy(&output.stdout));
        assert!(!output.status.success(), "{command}: {words}");
        assert!(
            words.contains("LogonKeyFile") && words.contains("chmod 600"),
            "{command}: {words}"
        );
    }
    Ok(())
}
