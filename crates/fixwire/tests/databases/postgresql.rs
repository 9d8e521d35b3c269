//! Does a log in PostgreSQL have every message once, whatever ends when?
//!
//! Runs a server of its own, of the newest PostgreSQL of Debian's packages that is installed.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, UNIX_EPOCH};

use crate::alone;
use crate::common::logged::{Logged, assert_same, messages, trade, wait_logged};
use crate::common::*;
use fixwire::log::SqlLog;
use fixwire::protocol::Timestamp;
use fixwire::transport::Password;
use fixwire::{EngineConfig, Event};
use postgres::{Client, NoTls};
use tempfile::TempDir;

/// Longer than a user would choose, and nowhere by chance.
const PASSWORD: &str = "kEYx0Qz7/Wm4";

/// A database server in a folder of its own, and a journal beside it.
struct Server {
    home: TempDir,
    programs: PathBuf,
    port: u16,
    process: Option<Child>,
}

impl Server {
    fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let versions = fs::read_dir("/usr/lib/postgresql").map(|all| all.flatten().collect());
        let mut versions: Vec<_> = versions.unwrap_or_default();
        versions.retain(|it| it.path().join("bin/initdb").exists());
        versions.sort_by_key(|it| it.file_name().to_string_lossy().parse::<u32>().unwrap_or(0));
        let newest = versions.last();
        let newest = newest
            .expect("no /usr/lib/postgresql/*/bin/initdb: install Debian's package postgresql");
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut server = Self {
            programs: newest.path().join("bin"),
            port: free.local_addr().unwrap().port(),
            process: None,
            home,
        };
        drop(free);
        fs::create_dir(server.folder()).unwrap();
        fs::write(server.secret(), PASSWORD).unwrap();
        // PostgreSQL does not run as root.
        if let Some(id) = another_user() {
            fs::set_permissions(server.home.path(), fs::Permissions::from_mode(0o711)).unwrap();
            for path in [server.folder(), server.secret()] {
                chown(path, Some(id), Some(id)).unwrap();
            }
        }
        let made = server
            .program("initdb")
            .args([
                "--no-sync",
                "--username=fix",
                "--auth=scram-sha-256",
                "--encoding=UTF8",
            ])
            .arg(format!("--pwfile={}", server.secret().display()))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&made.stderr);
        assert!(made.status.success(), "initdb: {said}");
        server.up();
        server
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join("server")
    }

    fn secret(&self) -> PathBuf {
        self.home.path().join("secret")
    }

    fn program(&self, name: &str) -> Command {
        let mut command = Command::new(self.programs.join(name));
        command
            .arg("-D")
            .arg(self.folder())
            .env("LC_ALL", "C")
            .current_dir("/")
            .stdin(Stdio::null());
        if let Some(id) = another_user() {
            command.gid(id).uid(id);
        }
        command
    }

    fn up(&mut self) {
        let start = Instant::now();
        let log = self.home.path().join("server.log");
        while self.connect().is_err() {
            let said = || fs::read_to_string(&log).unwrap_or_default();
            assert!(
                start.elapsed() < PATIENCE,
                "PostgreSQL does not start: {}",
                said()
            );
            // It refuses to start while a process of the one that was killed lives.
            let ended = self
                .process
                .as_mut()
                .is_none_or(|it| it.try_wait().unwrap().is_some());
            if ended {
                let process = self
                    .program("postgres")
                    .args(["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-k"])
                    .arg(self.folder())
                    .args(["-p", &self.port.to_string()])
                    .stderr(fs::File::create(&log).unwrap())
                    .spawn();
                self.process = Some(process.unwrap());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends the server in the middle of whatever it does.
    fn down(&mut self) {
        if let Some(mut process) = self.process.take() {
            // Its children see it, and end too.
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    fn connect(&self) -> Result<Client, postgres::Error> {
        let mut config = postgres::Config::new();
        config
            .host("127.0.0.1")
            .port(self.port)
            .user("fix")
            .password(PASSWORD);
        config.dbname("postgres").connect(NoTls)
    }

    fn journal(&self) -> PathBuf {
        self.home.path().join("journal")
    }

    fn log(&self) -> SqlLog {
        SqlLog {
            password: Some(Password::from(PASSWORD)),
            ..SqlLog::new(format!("postgresql://fix@127.0.0.1:{}/postgres", self.port))
        }
    }

    fn config(&self, log: SqlLog) -> EngineConfig {
        EngineConfig {
            logs: vec![Arc::new(log)],
            ..config(&self.journal(), acceptor_session("127.0.0.1:0"))
        }
    }

    fn logged(&self) -> Vec<Logged> {
        let mut database = self.connect().unwrap();
        let made = "SELECT to_regclass('messages_log') IS NOT NULL";
        match database.query_one(made, &[]).unwrap().get(0) {
            true => read(&mut database, "messages_log"),
            false => Vec::new(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.down();
    }
}

/// The user nobody, for root.
fn another_user() -> Option<u32> {
    let root = fs::metadata("/proc/self").is_ok_and(|own| {
        use std::os::unix::fs::MetadataExt;
        own.uid() == 0
    });
    root.then_some(65_534)
}

/// The messages of a table. Which way they went, their SenderCompID says.
fn read(database: &mut Client, table: &str) -> Vec<Logged> {
    let rows = database
        .query(
            &format!("SELECT time AT TIME ZONE 'UTC', text FROM {table} ORDER BY id"),
            &[],
        )
        .unwrap();
    let logged = |row: postgres::Row| {
        let (time, text): (std::time::SystemTime, String) = (row.get(0), row.get(1));
        let since = time.duration_since(UNIX_EPOCH).unwrap();
        Logged {
            wall: Timestamp(since.as_nanos() as i64),
            incoming: text.contains("\x0149=BENCH\x01"),
            text: text.replace('\x01', "|"),
        }
    };
    rows.into_iter().map(logged).collect()
}

fn failures(engine: &Running) -> String {
    let events = engine.events.lock().unwrap();
    let failed = events
        .iter()
        .filter(|it| matches!(it, Event::LogFailed { .. }));
    failed.map(|it| format!("{it}\n")).collect()
}

#[test]
fn every_message_is_there_once_over_outages_and_restarts() {
    let _alone = alone();
    let mut server = Server::start();
    let mut seq = 1;
    let mut engine = Running::start(server.config(server.log()));
    for round in 0..4 {
        seq = trade(engine.address(), seq, 1500);
        wait_logged(&server.journal(), || server.logged());
        // In the middle of what it writes.
        let (address, orders) = (engine.address(), engine.seen.orders.load(Ordering::SeqCst));
        let trading = std::thread::spawn(move || trade(address, seq, 3000));
        wait_count(&engine.seen.orders, orders + 100);
        server.down();
        seq = trading.join().unwrap();
        // All of that may have been written before the server was down.
        seq = trade(engine.address(), seq, 100);
        engine.wait_event(|event| matches!(event, Event::LogFailed { .. }));
        if round % 2 == 1 {
            // No process is there when the engine stops, nor when it starts again.
            engine.stop();
            engine = Running::start(server.config(server.log()));
            seq = trade(engine.address(), seq, 100);
            engine.wait_event(|event| matches!(event, Event::LogFailed { .. }));
        }
        server.up();
        engine.wait_event(|event| *event == Event::LogResumed { log: "sql" });
        wait_logged(&server.journal(), || server.logged());
        engine.events.lock().unwrap().clear();
    }
    engine.stop();
    let wanted = messages(&server.journal());
    assert_same(&server.logged(), &wanted);
    assert!(wanted.len() > 36_000, "{}", wanted.len());
    let mut database = server.connect().unwrap();
    let columns = "beginstring, sendercompid, sendersubid, targetcompid, session_qualifier";
    let rows = database
        .query(&format!("SELECT DISTINCT {columns} FROM messages_log"), &[])
        .unwrap();
    let of_session: Vec<String> = (0..5).map(|at| rows[0].get(at)).collect();
    assert_eq!(
        (of_session.join("|"), rows.len()),
        ("FIX.4.2|EXEC||BENCH|".into(), 1)
    );
    let counted =
        "SELECT count(*) FROM event_log WHERE sendercompid = 'EXEC' AND text = 'logged on'";
    assert!(database.query_one(counted, &[]).unwrap().get::<_, i64>(0) >= 8);
}

#[test]
fn a_lock_stops_nobody_and_a_connection_that_is_ended_is_made_again() {
    let _alone = alone();
    let server = Server::start();
    let engine = Running::start(server.config(server.log()));
    let mut seq = trade(engine.address(), 1, 500);
    wait_logged(&server.journal(), || server.logged());
    let mut other = server.connect().unwrap();
    let mut lock = other.transaction().unwrap();
    lock.batch_execute("LOCK TABLE messages_log").unwrap();
    for _ in 0..3 {
        seq = trade(engine.address(), seq, 500);
    }
    lock.commit().unwrap();
    wait_logged(&server.journal(), || server.logged());
    let end =
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fixwire'";
    assert_eq!(other.query(end, &[]).unwrap().len(), 1);
    trade(engine.address(), seq, 500);
    engine.wait_event(|event| *event == Event::LogResumed { log: "sql" });
    wait_logged(&server.journal(), || server.logged());
    engine.stop();
}

#[test]
fn tables_of_quickfix_are_taken_and_what_cannot_be_a_log_is_told() {
    let _alone = alone();
    let server = Server::start();
    let mut database = server.connect().unwrap();
    // As the scripts of QuickFIX (C++) make them.
    let columns = "time TIMESTAMP NOT NULL, beginstring CHAR(8), sendercompid VARCHAR(64), \
                   targetcompid VARCHAR(64), session_qualifier VARCHAR(64), text TEXT NOT NULL, PRIMARY KEY (id)";
    for (schema, table) in [("fix", "came"), ("fix", "Went"), ("public", "happened")] {
        database
            .batch_execute(&format!(
                "CREATE SCHEMA IF NOT EXISTS {schema}; CREATE SEQUENCE {table}_sequence; \
                 CREATE TABLE {schema}.{table} (id INTEGER DEFAULT NEXTVAL('{table}_sequence'), {columns})"
            ))
            .unwrap();
    }
    let mut log = server.log();
    log.incoming_table = "fix.came".into();
    log.outgoing_table = "fix.went".into();
    log.event_table = "Happened".into();
    let mut config = server.config(log.clone());
    config.sessions[0].session.password = PASSWORD.into();
    let engine = Running::start(config);
    let mut peer = Peer::connect(engine.address());
    peer.send("A", &format!("98=0|108=30|554={PASSWORD}|"));
    assert!(peer.receive().unwrap().contains("|35=A|"));
    peer.send("D", "11=1|55=LCOM1|58=naïve|");
    assert!(peer.receive().unwrap().contains("|35=8|"));
    engine.stop();
    let came = read(&mut database, "fix.came");
    assert_eq!(came.len(), 2);
    assert!(came[0].text.contains("|554=************|"), "{came:?}");
    assert!(came[1].text.contains("|58=naïve|"), "{came:?}");
    assert!(read(&mut database, "fix.went").len() >= 2);
    let count = "SELECT count(*) FROM happened WHERE text = 'logged on'";
    assert_eq!(database.query_one(count, &[]).unwrap().get::<_, i64>(0), 1);

    // The engine trades whatever is wrong with the log, and says what.
    database
        .batch_execute(
            "CREATE TABLE narrow (id INTEGER); CREATE ROLE guest LOGIN PASSWORD 'x'; \
             CREATE TABLE moments (time TEXT, beginstring TEXT, sendercompid TEXT, targetcompid TEXT, \
             session_qualifier TEXT, text TEXT)",
        )
        .unwrap();
    let wrong = |change: &dyn Fn(&mut SqlLog), why: &str, seq| {
        let mut other = log.clone();
        change(&mut other);
        let engine = Running::start(server.config(other));
        let seq = trade(engine.address(), seq, 10);
        wait_until(|| failures(&engine).contains(why), || failures(&engine));
        assert!(
            !failures(&engine).contains(PASSWORD),
            "{}",
            failures(&engine)
        );
        engine.stop();
        seq
    };
    let mut seq = peer.seq;
    seq = wrong(
        &|it| it.incoming_table = "narrow".into(),
        "table narrow is not a QuickFIX log table",
        seq,
    );
    seq = wrong(
        &|it| it.event_table = "moments".into(),
        "column time of table moments does not have the type timestamp",
        seq,
    );
    seq = wrong(
        &|it| it.password = Some(Password::from("wrong")),
        "password authentication failed",
        seq,
    );
    seq = wrong(&|it| it.password = None, "password", seq);
    let guest = format!("postgresql://guest@127.0.0.1:{}/postgres", server.port);
    let as_guest = |it: &mut SqlLog| {
        (it.database, it.password) = (guest.clone(), Some(Password::from("x")));
    };
    seq = wrong(&as_guest, "permission denied", seq);
    wrong(
        &|it| it.database = it.database.replace("/postgres", "/nowhere"),
        "does not exist",
        seq,
    );
    // And when it is right again, nothing is missing.
    let engine = Running::start(server.config(log.clone()));
    let both =
        |database: &mut Client| read(database, "fix.came").len() + read(database, "fix.went").len();
    let wanted = |journal: &Path| messages(journal).len();
    let start = Instant::now();
    while both(&mut database) != wanted(&server.journal()) {
        assert!(
            start.elapsed() < PATIENCE,
            "{} of {}",
            both(&mut database),
            wanted(&server.journal())
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    engine.stop();
}
