//! `fixwire run oms.toml`, `fixwire sim` and clients, each with its own ports and folder.

use super::books::Books;
use super::carried::CUSTOM;
use super::dialogue::{Asks, Dialogue};
use crate::server::{Launch, Server, binary, free_port};
use crate::trade::PATIENCE;
use fixwire::control::{Asked, Client, Place, SessionLine};
use fixwire_protocol::{Precision, Timestamp, TimestampWriter};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

/// The traded instruments.
pub const SYMBOLS: [&str; 2] = ["VOD", "BT"];
/// Accounts of the clients, which are numbers in TMP. An OMS lists at most 1,000 orders of each.
pub const ACCOUNTS: [&str; 6] = [
    "1000001", "1000002", "1000003", "1000004", "1000005", "1000006",
];
/// The version of a TMP line.
pub const TMP: &str = "TMP";
/// The largest quantity that the limits let pass.
pub const LARGEST: u64 = 1_000;

/// The state of an order of the day before whose end the venue has not confirmed.
const LAPSED: &str = "closed here, not confirmed by the venue";

/// The date this number of days from now in UTC, as operators write it.
#[must_use]
pub fn date(days: u64) -> String {
    const DAY: Duration = Duration::from_secs(86_400);
    let days = DAY * u32::try_from(days).unwrap_or(u32::MAX);
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default() + days;
    let wall = Timestamp(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX));
    let mut stamp = TimestampWriter::new();
    let text = String::from_utf8_lossy(stamp.format(wall, Precision::Seconds)).into_owned();
    format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..8])
}

/// A trading floor: its files and ports, and the start of its programs.
#[derive(Debug)]
pub struct Floor {
    folder: PathBuf,
    /// The OMS; it listens for clients.
    pub oms: Launch,
    /// The exchange; it listens for the lines of the OMS.
    pub sim: Launch,
    /// The port where it listens for each TMP line.
    ports: Vec<u16>,
}

/// `BeginString` and the settings that go with it.
fn version(version: &str) -> String {
    match version {
        "FIX.5.0SP2" => "BeginString = \"FIXT.1.1\"\nDefaultApplVerID = \"FIX.5.0SP2\"\n".into(),
        old => format!("BeginString = \"{old}\"\n"),
    }
}

/// The tables of one link: number 0 of its broker is the first line. The exchange's side listens.
fn link(name: &str, number: usize, port: u16, listens: bool) -> String {
    let connected = match listens {
        true => format!(
            "ConnectionType = \"acceptor\"\nSocketAcceptAddress = \"127.0.0.1\"\nSocketAcceptPort = {port}\n\
             max_flow = 0\n"
        ),
        false => format!(
            "ConnectionType = \"initiator\"\nSocketConnectHost = \"127.0.0.1\"\n\
             SocketConnectPort = {port}\nReconnectInterval = 1\norder_source = \"D\"\n\
             info_source = \"999\"\ninvestor_flag = \"A\"\nposition_effect = \"open\"\n"
        ),
    };
    format!(
        "[[link]]\nname = \"{name}\"\nprotocol = \"taifex-tmp\"\nfcm_id = 279\nsession_id = {}\n\
         password = \"1234\"\nsystem_type = \"futures day\"\n{connected}",
        50 + number
    )
}

impl Floor {
    /// Writes the files of an OMS with these clients and lines, each with the version of its session.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn new(
        folder: &Path,
        clients: &[(&str, &str)],
        lines: &[(&str, &str)],
    ) -> Result<Self, String> {
        let io = |error: std::io::Error| error.to_string();
        let folder = std::path::absolute(folder).map_err(io)?;
        let launch = |name: &str| {
            let folder = folder.join(name);
            fs::create_dir_all(&folder).map_err(io)?;
            Ok::<_, String>(Launch {
                binary: binary()?,
                app: None,
                settings: folder.join(format!("{name}.toml")),
                port: free_port().map_err(io)?,
            })
        };
        // A listening link has a port of its own. TMP lines and FIX lines are not mixed.
        let tmp = lines.iter().filter(|(_, of)| *of == TMP);
        let ports = tmp.map(|_| free_port());
        let ports = ports.collect::<Result<_, _>>().map_err(io)?;
        let floor = Self {
            oms: launch("oms")?,
            sim: launch("sim")?,
            folder,
            ports,
        };
        floor.write_sim(lines).map_err(io)?;
        floor.write_oms(clients, lines).map_err(io)?;
        Ok(floor)
    }

    /// The folder with the journal of the OMS, the exchange or a client.
    #[must_use]
    pub fn store(&self, name: &str) -> PathBuf {
        self.folder.join(name).join("store")
    }

    fn default(&self, name: &str) -> String {
        format!(
            "[default]\nFileStorePath = '{}'\nJournalSegmentSize = \"2M\"\nNonStopSession = true\n\
             ValidateUserDefinedFields = false\n",
            self.store(name).display()
        )
    }

    fn write_sim(&self, lines: &[(&str, &str)]) -> std::io::Result<()> {
        let mut text = self.default("sim");
        for (number, (name, of)) in lines.iter().enumerate() {
            if *of == TMP {
                text += &link(name, number, self.ports[number], true);
                continue;
            }
            let _ = write!(
                text,
                "[[session]]\nSessionName = \"{name}\"\nConnectionType = \"acceptor\"\n\
                 SocketAcceptAddress = \"127.0.0.1\"\nSocketAcceptPort = {}\n{}\
                 SenderCompID = \"EXCHANGE\"\nTargetCompID = \"{name}\"\n",
                self.sim.port,
                version(of)
            );
        }
        text += "[exchange]\n";
        for symbol in SYMBOLS {
            let _ = write!(
                text,
                "[[instrument]]\nsymbol = \"{symbol}\"\ntick = 0.01\nlow = 11.50\nhigh = 13.50\n"
            );
        }
        fs::write(&self.sim.settings, text)
    }

    fn write_oms(&self, clients: &[(&str, &str)], lines: &[(&str, &str)]) -> std::io::Result<()> {
        let mut text = self.default("oms");
        for (name, of) in clients {
            let _ = write!(
                text,
                "[[session]]\nSessionName = \"{name}\"\nConnectionType = \"acceptor\"\n\
                 SocketAcceptAddress = \"127.0.0.1\"\nSocketAcceptPort = {}\n{}\
                 SenderCompID = \"OMS\"\nTargetCompID = \"{name}\"\n",
                self.oms.port,
                version(of)
            );
        }
        for (number, (name, of)) in lines.iter().enumerate() {
            if *of == TMP {
                text += &link(name, number, self.ports[number], false);
                continue;
            }
            let _ = write!(
                text,
                "[[session]]\nSessionName = \"{name}\"\nConnectionType = \"initiator\"\n\
                 SocketConnectHost = \"127.0.0.1\"\nSocketConnectPort = {}\nReconnectInterval = 1\n\
                 HeartBtInt = 30\n{}SenderCompID = \"{name}\"\nTargetCompID = \"EXCHANGE\"\n",
                self.sim.port,
                version(of)
            );
        }
        text += "[oms]\nday_begins = \"00:00 UTC\"\ninstruments = \"instruments.csv\"\nlimits = \"limits.csv\"\n";
        for account in ACCOUNTS {
            let _ = write!(text, "[[account]]\nname = \"{account}\"\n");
        }
        for (name, _) in clients {
            let _ = write!(
                text,
                "[[user]]\nsession = \"{name}\"\naccounts = [\"*\"]\naccount = \"{}\"\n\
                 may = [\"new\", \"replace\", \"cancel\", \"mass cancel\", \"status\"]\n",
                ACCOUNTS[0]
            );
        }
        let names: Vec<&str> = lines.iter().map(|(name, _)| *name).collect();
        let _ = write!(text, "[[line_group]]\nname = \"SIM\"\nlines = {names:?}\n");
        if lines.iter().any(|(_, of)| *of == TMP) {
            text += "number_pool = \"SIM\"\n[[number_pool]]\nname = \"SIM\"\nwidth = 5\n\
                     digits = \"0-9A-Za-z\"\n";
        } else {
            let _ = writeln!(text, "carry = [{CUSTOM}]");
        }
        text += "[[route]]\nsymbols = [\"*\"]\nto = \"SIM\"\n";
        fs::write(&self.oms.settings, text)?;
        let folder = self.folder.join("oms");
        let mut text = "symbol,tick,reference\n".to_owned();
        for symbol in SYMBOLS {
            let _ = writeln!(text, "{symbol},0.01,12.50");
        }
        fs::write(folder.join("instruments.csv"), text)?;
        let text = format!(
            "scope,control,limit\nfirm,RC6,{LARGEST}\nfirm,RC7,1000000000\nfirm,RC8,10\n\
             firm,RC13,100000\nfirm,RC14,100000000000\nfirm,RC15,100000000\n"
        );
        fs::write(folder.join("limits.csv"), text)
    }

    /// The settings file of `fixwire client` on a session of the OMS.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn client(&self, name: &str, of: &str) -> Result<PathBuf, String> {
        let folder = self.folder.join(name);
        let file = folder.join("client.toml");
        let text = format!(
            "{}[[session]]\nConnectionType = \"initiator\"\nSocketConnectHost = \"127.0.0.1\"\n\
             SocketConnectPort = {}\nReconnectInterval = 1\nHeartBtInt = 30\n{}\
             SenderCompID = \"{name}\"\nTargetCompID = \"OMS\"\n",
            self.default(name),
            self.oms.port,
            version(of)
        );
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&file, text))
            .map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(file)
    }

    /// From its next start the exchange makes one report in this number wrong, in each of these ways.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn set_faults(&self, kinds: &[&str], percent: u64) -> Result<(), String> {
        const TABLE: &str = "[[fault]]\n";
        let io = |error: std::io::Error| error.to_string();
        let text = fs::read_to_string(&self.sim.settings).map_err(io)?;
        let mut text = text.split(TABLE).next().unwrap_or_default().to_owned();
        let report = if self.ports.is_empty() { "8" } else { "'R02'" };
        for kind in kinds {
            let _ = write!(
                text,
                "{TABLE}kind = \"{kind}\"\ntype = {report}\npercent = {percent}\n"
            );
        }
        fs::write(&self.sim.settings, text).map_err(io)
    }

    /// Starts the exchange.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn open(&self) -> Result<Server, String> {
        self.sim.spawn_as(&["sim"])
    }

    /// Waits until every session of the OMS is logged on.
    ///
    /// # Errors
    ///
    /// They do not log on in time, or the OMS does not answer.
    pub fn wait_for_logons(&self) -> Result<(), String> {
        let place = Place::in_store(&self.store("oms"));
        let deadline = Instant::now() + *PATIENCE;
        loop {
            let asked = Client::connect(&place.path, *PATIENCE)
                .and_then(|mut client| client.ask(&Asked::default()));
            let sessions = asked
                .map_err(|error| error.to_string())
                .map(|it| it.sessions);
            let on = |line: &SessionLine| line.state == "logged on";
            match sessions {
                Ok(Some(sessions)) if sessions.iter().all(on) => return Ok(()),
                other if Instant::now() > deadline => {
                    return Err(format!("not all have logged on: {other:?}"));
                }
                _ => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// The answer of `fixwire oms` to a command; the settings file goes after the command's first word.
    ///
    /// # Errors
    ///
    /// The text on its standard error stream.
    pub fn tell(&self, words: &[&str]) -> Result<Vec<u8>, String> {
        self.run(&words[..1], &words[1..])
    }

    /// Settles a break: `venue` or `ours` is right.
    ///
    /// # Errors
    ///
    /// The text on its standard error stream.
    pub fn settle(&self, number: u64, right: &str) -> Result<(), String> {
        let number = number.to_string();
        let words = [&number, right, "--why", "asked the venue"];
        self.run(&["breaks", "settle"], &words).map(drop)
    }

    /// `fixwire oms`, its settings file between these words.
    fn run(&self, verb: &[&str], words: &[&str]) -> Result<Vec<u8>, String> {
        let output = Command::new(&self.oms.binary)
            .arg("oms")
            .args(verb)
            .arg(&self.oms.settings)
            .args(words)
            .output()
            .map_err(|error| error.to_string())?;
        match output.status.success() {
            true => Ok(output.stdout),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// The output of `fixwire session` for the exchange; the settings file goes between these words.
    ///
    /// # Errors
    ///
    /// The text on its standard error stream.
    pub fn tell_exchange(&self, verb: &str, rest: &str) -> Result<String, String> {
        let output = Command::new(&self.sim.binary)
            .args(["session", verb])
            .arg(&self.sim.settings)
            .arg(rest)
            .output()
            .map_err(|error| error.to_string())?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }

    /// The rows of its output.
    ///
    /// # Errors
    ///
    /// As [`tell`](Self::tell).
    pub fn ask(&self, words: &[&str]) -> Result<Vec<Value>, String> {
        let rows = self.tell(&[words, &["--json"]].concat())?;
        serde_json::from_slice(&rows).map_err(|error| error.to_string())
    }

    /// Begins this trading day; returns the last order of the day before.
    ///
    /// # Errors
    ///
    /// The OMS does not answer.
    pub fn roll(&self, day: &str) -> Result<u64, String> {
        let orders = self.ask(&["orders", "--newest", "1"])?;
        let numbers = orders.iter().filter_map(|order| order["order"].as_u64());
        let last = numbers.max().unwrap_or(0);
        let day = format!("day={day}");
        self.tell(&["roll", &day, "--cancel", "--why", "a drill"])?;
        Ok(last)
    }

    /// Cancels orders of the day before that the venue may still have, as operators do; an OMS that does not answer
    /// gets the command later.
    pub fn cancel_lapsed(&self) {
        let orders = self.ask(&["orders", "--open"]).unwrap_or_default();
        let lapsed = orders.iter().filter(|order| order["state"] == LAPSED);
        let accounts: BTreeSet<&str> = lapsed.filter_map(|it| it["account"].as_str()).collect();
        for account in accounts {
            let scope = format!("account={account}");
            let _ = self.tell(&["cancel", &scope, "--why", "a drill"]);
        }
    }

    /// The orders of a trading day, as the files of the day have them.
    ///
    /// # Errors
    ///
    /// The day cannot be read.
    pub fn day(&self, day: &str) -> Result<Vec<BTreeMap<String, String>>, String> {
        let folder = self.folder.join(day);
        let to = folder.to_string_lossy();
        self.tell(&["day", "--day", day, "--to", &to])?;
        rows(&folder.join("orders.csv"))
    }

    /// The OMS's view of all orders and positions.
    ///
    /// # Errors
    ///
    /// A break is not settled, or the OMS does not answer.
    pub fn books(&self) -> Result<Books, String> {
        let mut orders = Vec::new();
        for account in ACCOUNTS {
            orders.extend(self.ask(&["orders", "--account", account])?);
        }
        Books::of(&orders, &self.ask(&["positions"])?)
    }

    /// Requests of these clients and reports to them, as their own journals have them.
    ///
    /// # Errors
    ///
    /// Reports that they must never receive.
    pub fn clients(&self, names: &[&str]) -> Result<Vec<Dialogue>, String> {
        let each = names.iter().map(|name| {
            let dialogue = Dialogue::of(&self.store(name), Asks::Out);
            dialogue.map_err(|fault| format!("{name}: {fault}"))
        });
        each.collect()
    }

    /// Requests to the exchange and its reports, as its own journal has them.
    ///
    /// # Errors
    ///
    /// Requests that it must never receive.
    pub fn exchange(&self) -> Result<Dialogue, String> {
        let dialogue = Dialogue::of(&self.store("sim"), Asks::In);
        dialogue.map_err(|fault| format!("the exchange: {fault}"))
    }
}

/// The rows of a file of comma-separated values.
///
/// # Errors
///
/// The file cannot be read, or a row has more or fewer values than the heading.
fn rows(file: &Path) -> Result<Vec<BTreeMap<String, String>>, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let mut lines = text.lines();
    let names = cells(lines.next().unwrap_or_default());
    let row = |line: &str| {
        let cells = cells(line);
        match cells.len() == names.len() {
            true => Ok(names.iter().cloned().zip(cells).collect()),
            false => Err(format!("{}: {line}", file.display())),
        }
    };
    lines.map(row).collect()
}

/// The values of a row; a comma between quotes separates none.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    for char in line.chars() {
        match (char, cells.last_mut()) {
            ('"', _) => is_quoted = !is_quoted,
            (',', _) if !is_quoted => cells.push(String::new()),
            (char, Some(cell)) => cell.push(char),
            (_, None) => {}
        }
    }
    cells
}
