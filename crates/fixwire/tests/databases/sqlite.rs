//! Does a log in SQLite have every message once, whatever ends when?

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use crate::alone;
use crate::common::logged::{Logged, assert_same, messages, trade, wait_logged};
use crate::common::*;
use fixwire::log::{Log, SqlLog};
use fixwire::protocol::Timestamp;
use fixwire::settings::Settings;
use fixwire::{Engine, EngineConfig, Event};
use rusqlite::Connection;
use tempfile::TempDir;

/// A folder with a journal and a database.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn journal(&self) -> PathBuf {
        self.0.path().join("journal")
    }

    fn database(&self) -> PathBuf {
        self.0.path().join("log.db")
    }

    fn log(&self) -> SqlLog {
        SqlLog::new(format!("sqlite:{}", self.database().display()))
    }

    fn config(&self, log: Option<SqlLog>) -> EngineConfig {
        EngineConfig {
            logs: log
                .into_iter()
                .map(|it| Arc::new(it) as Arc<dyn Log>)
                .collect(),
            ..config(&self.journal(), acceptor_session("127.0.0.1:0"))
        }
    }

    fn open(&self) -> Connection {
        let database = Connection::open(self.database()).unwrap();
        database.busy_timeout(PATIENCE).unwrap();
        database
    }

    fn logged(&self) -> Vec<Logged> {
        read(&self.open(), "messages_log")
    }

    /// Why an engine does not start.
    fn refusal(&self, log: SqlLog) -> String {
        let engine = Engine::new(self.config(Some(log)), Echo(Default::default()));
        engine.map(|_| ()).expect_err("refused").to_string()
    }
}

/// The messages of a table. Which way they went, their SenderCompID says.
fn read(database: &Connection, table: &str) -> Vec<Logged> {
    let mut statement = database
        .prepare(&format!("SELECT time, text FROM {table} ORDER BY id"))
        .unwrap();
    let rows = statement.query_map((), |row| {
        let (time, text): (String, String) = (row.get(0)?, row.get(1)?);
        Ok(Logged {
            wall: moment(&time),
            incoming: text.contains("\x0149=BENCH\x01"),
            text: text.replace('\x01', "|"),
        })
    });
    rows.unwrap().map(Result::unwrap).collect()
}

/// `2026-08-21 13:30:00.123456`.
fn moment(time: &str) -> Timestamp {
    let time = time.replace('-', "").replace(' ', "-");
    Timestamp::parse(time.as_bytes()).unwrap()
}

#[test]
fn every_message_is_there_once_over_restarts_with_and_without_the_log() {
    let _alone = alone();
    let home = Home::new();
    let mut seq = 1;
    for (round, with_log) in [true, false, true, false, true].into_iter().enumerate() {
        let engine = Running::start(home.config(with_log.then(|| home.log())));
        seq = trade(engine.address(), seq, 700);
        engine.stop();
        if with_log {
            let wanted = messages(&home.journal());
            assert_same(&home.logged(), &wanted);
            assert!(wanted.len() > 1400 * (round + 1));
        }
    }
    let mode = fs::metadata(home.database()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let database = home.open();
    let columns = "beginstring || '|' || sendercompid || sendersubid || senderlocid || '|' || \
                   targetcompid || targetsubid || targetlocid || '|' || session_qualifier";
    let of_session: String = database
        .query_row(
            &format!("SELECT DISTINCT {columns} FROM messages_log"),
            (),
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(of_session, "FIX.4.2|EXEC|BENCH|");
    let logged_on =
        "SELECT count(*) FROM event_log WHERE text = 'logged on' AND sendercompid = 'EXEC'";
    let count: i64 = database.query_row(logged_on, (), |row| row.get(0)).unwrap();
    assert_eq!(count, 3);
    let listening =
        "SELECT count(*) FROM event_log WHERE sendercompid = '' AND text LIKE 'listening at %'";
    let count: i64 = database.query_row(listening, (), |row| row.get(0)).unwrap();
    assert_eq!(count, 3);
}

#[test]
fn a_password_is_starred_out() {
    let _alone = alone();
    let home = Home::new();
    let mut config = home.config(Some(home.log()));
    config.sessions[0].session.password = "hunter2".into();
    let engine = Running::start(config);
    let mut peer = Peer::connect(engine.address());
    peer.send("A", "98=0|108=30|553=me|554=hunter2|");
    assert!(peer.receive().unwrap().contains("|35=A|"));
    peer.send("D", "11=1|55=LCOM1|554=hunter2|58=naïve\n|");
    assert!(peer.receive().unwrap().contains("|35=8|"));
    engine.stop();
    let all: String = home.logged().into_iter().map(|row| row.text).collect();
    assert!(all.contains("|554=*******|58=naïve\\x0a|"), "{all}");
    assert!(!all.contains("hunter2"), "{all}");
}

#[test]
fn a_locked_database_stops_nobody_and_gets_everything_later() {
    let _alone = alone();
    let home = Home::new();
    let database = home.open();
    let lock = || database.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let unlock = || database.execute_batch("COMMIT").unwrap();
    // Locked at the start, and again in between.
    lock();
    let engine = Running::start(home.config(Some(home.log())));
    let mut seq = 1;
    for outage in 1..=2 {
        seq = trade(engine.address(), seq, 2000);
        let told = || {
            let events = engine.events.lock().unwrap();
            let count =
                |wanted: &dyn Fn(&Event) -> bool| events.iter().filter(|it| wanted(it)).count();
            let locked = "another program has locked the file";
            (
                count(&|it| matches!(it, Event::LogFailed { error } if error.contains(locked))),
                count(&|it| *it == Event::LogResumed { log: "sql" }),
            )
        };
        wait_until(
            || told() == (outage, outage - 1),
            || format!("{:?}", told()),
        );
        unlock();
        wait_until(|| told() == (outage, outage), || format!("{:?}", told()));
        if outage == 1 {
            wait_logged(&home.journal(), || home.logged());
            lock();
        }
    }
    engine.stop();
    assert_same(&home.logged(), &messages(&home.journal()));
}

const THE_KILL: &str = "sqlite::nothing_is_lost_or_doubled_when_the_engine_is_killed";

#[test]
fn nothing_is_lost_or_doubled_when_the_engine_is_killed() {
    if let Some(folder) = std::env::var_os(CHILD) {
        be_the_child(Path::new(&folder));
    }
    let _alone = alone();
    let home = Home::new();
    let mut seq = 1;
    for death in 1..=12 {
        let (mut child, address) = start_child(home.0.path());
        let mut peer = Peer::log_on(address, seq);
        // Dies in the middle of what it logs.
        for _ in 0..150 * death {
            peer.send("D", &format!("11={}|55=LCOM1|", peer.seq));
        }
        let mut received = 0;
        while received < 40 * death {
            received += u64::from(peer.receive().unwrap().contains("|35=8|"));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // The number that the engine expects is in its journal.
        let numbers = messages(&home.journal());
        let last = numbers.iter().rev().find(|it| it.incoming).unwrap();
        let (_, after) = last.text.split_once("|34=").unwrap();
        seq = after.split('|').next().unwrap().parse::<u64>().unwrap() + 1;
    }
    Running::start(home.config(Some(home.log()))).stop();
    let wanted = messages(&home.journal());
    assert_same(&home.logged(), &wanted);
    assert!(wanted.len() > 3000, "{}", wanted.len());
}

/// Names the folder of an engine that is to be killed.
const CHILD: &str = "SQL_LOG_CHILD";

/// This program again, as an engine that can be killed: it runs the same test, which sees [`CHILD`].
fn start_child(home: &Path) -> (Child, std::net::SocketAddr) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", THE_KILL, "--nocapture"])
        .env(CHILD, home)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in lines.map(Result::unwrap) {
        if let Some((_, address)) = line.split_once("listens at ") {
            return (child, address.trim().parse().unwrap());
        }
    }
    panic!("the child ended: {:?}", child.wait());
}

/// The work of the started program in place of that test.
fn be_the_child(folder: &Path) -> ! {
    let log = SqlLog::new(format!("sqlite:{}", folder.join("log.db").display()));
    let engine = Running::start(EngineConfig {
        logs: vec![Arc::new(log)],
        ..config(&folder.join("journal"), acceptor_session("127.0.0.1:0"))
    });
    println!("listens at {}", engine.address());
    std::io::stdout().flush().unwrap();
    std::thread::sleep(Duration::from_secs(120));
    panic!("nobody killed it");
}

#[test]
fn a_file_names_tables_and_leaves_heartbeats_out() {
    let _alone = alone();
    let home = Home::new();
    // Tables of QuickFIX (C++), made by its script, in the same file.
    let database = home.open();
    for table in ["came", "went", "happened"] {
        let columns = "id INTEGER PRIMARY KEY NOT NULL, time DATETIME NOT NULL, beginstring CHAR(8) NOT NULL, \
                       sendercompid VARCHAR(64) NOT NULL, targetcompid VARCHAR(64) NOT NULL, \
                       session_qualifier VARCHAR(64), text BLOB NOT NULL";
        database
            .execute_batch(&format!("CREATE TABLE {table} ({columns})"))
            .unwrap();
    }
    let file = home.0.path().join("engine.cfg");
    let text = format!(
        "[DEFAULT]\nDialect=quickfixj\nConnectionType=acceptor\nFileStorePath={}\nSqlLog=sqlite:{}\n\
         JdbcLogIncomingTable=came\nJdbcLogOutgoingTable=went\nJdbcLogEventTable=Happened\n\
         JdbcLogHeartBeats=N\nStartTime=00:00:00\nEndTime=00:00:00\nNonStopSession=Y\nUseDataDictionary=N\n\
         SocketAcceptAddress=127.0.0.1\nSocketAcceptPort=1\n\
         [SESSION]\nBeginString=FIX.4.2\nSenderCompID=EXEC\nTargetCompID=BENCH\n",
        home.journal().display(),
        home.database().display(),
    );
    fs::write(&file, text).unwrap();
    let mut config = Settings::load(&file).unwrap().to_config().unwrap();
    assert_eq!(config.logs[0].kind(), "sql");
    config.sessions[0].connection = acceptor_session("127.0.0.1:0").connection;
    let engine = Running::start(config);
    let mut peer = Peer::log_on(engine.address(), 1);
    peer.send("0", "");
    peer.send("1", "112=x|");
    peer.send("D", "11=1|55=LCOM1|");
    while !peer.receive().unwrap().contains("|35=8|") {}
    engine.stop();
    let kinds = |table: &str| -> Vec<String> {
        let kind = |row: Logged| row.text.split('|').nth(2).unwrap().to_owned();
        read(&database, table).into_iter().map(kind).collect()
    };
    assert_eq!(kinds("came"), ["35=A", "35=1", "35=D"]);
    assert_eq!(kinds("went")[..2], ["35=A", "35=8"]);
    let count: i64 = database
        .query_row(
            "SELECT count(*) FROM happened WHERE text = 'logged on'",
            (),
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(count, 1);
}

#[test]
fn what_cannot_be_a_log_is_said_at_the_start() {
    let _alone = alone();
    let home = Home::new();
    let mut log = SqlLog::new(format!("sqlite:{}/no/such/log.db", home.0.path().display()));
    let error = home.refusal(log.clone());
    assert!(error.contains("no/such/log.db: No such file"), "{error}");
    fs::write(
        home.database(),
        "this is no database, it is a text about none\n".repeat(100),
    )
    .unwrap();
    let error = home.refusal(home.log());
    assert!(error.contains("not a database"), "{error}");
    fs::remove_file(home.database()).unwrap();
    home.open()
        .execute_batch("CREATE TABLE event_log (id INTEGER, text TEXT)")
        .unwrap();
    let error = home.refusal(home.log());
    assert!(
        error.contains("table event_log is not a QuickFIX log table")
            && error.contains("no column"),
        "{error}"
    );
    log = home.log();
    log.event_table = "x; DROP TABLE event_log".into();
    assert!(home.refusal(log).contains("is not a valid table name"));
}

#[test]
fn a_journal_that_begins_anew_is_logged_from_its_start() {
    let _alone = alone();
    let home = Home::new();
    let run = || {
        let engine = Running::start(home.config(Some(home.log())));
        trade(engine.address(), 1, 50);
        engine.stop();
        messages(&home.journal())
    };
    let mut all = run();
    fs::remove_dir_all(home.journal()).unwrap();
    all.extend(run());
    assert_same(&home.logged(), &all);
}
