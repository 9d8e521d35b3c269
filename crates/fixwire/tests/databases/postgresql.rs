//! Does a log in PostgreSQL have every message once, whatever ends when?
//!
//! Runs a server of its own, of the newest PostgreSQL of Debian's packages that is installed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant, UNIX_EPOCH};

use crate::alone;
use crate::common::logged::{Logged, assert_same, messages, trade, wait_logged};
use crate::common::*;
use crate::server::{PASSWORD, Server};
use fixwire::log::SqlLog;
use fixwire::protocol::Timestamp;
use fixwire::transport::Password;
use fixwire::{EngineConfig, Event};
use postgres::Client;

impl Server {
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
fn a_log_goes_over_tls_to_the_server_that_its_address_names() {
    let _alone = alone();
    let mut server = Server::start();
    let certificate = server.with_tls();
    let root = certificate.display();
    let log = |host: &str, parameters: &str| SqlLog {
        database: format!(
            "postgresql://fix@{host}:{}/postgres?{parameters}",
            server.port
        ),
        ..server.log()
    };
    let verified = format!("sslmode=verify-full&sslrootcert={root}");
    let engine = Running::start(server.config(log("localhost", &verified)));
    let seq = trade(engine.address(), 1, 3000);
    wait_logged(&server.journal(), || server.logged());
    assert_eq!(server.connections(), [1, 0]);
    engine.stop();
    // The certificate is for another host.
    let engine = Running::start(server.config(log("127.0.0.1", &verified)));
    let mut seq = trade(engine.address(), seq, 100);
    engine.wait_event(|event| matches!(event, Event::LogFailed { .. }));
    let said = failures(&engine);
    assert!(said.contains("certificate is for another host"), "{said}");
    assert_eq!(server.connections(), [0, 0]);
    engine.stop();
    let engine = Running::start(server.config(log("127.0.0.1", "sslmode=require")));
    wait_logged(&server.journal(), || server.logged());
    assert_eq!(server.connections(), [1, 0]);
    engine.stop();
    // TLS is not for a socket, and needs the name of a host.
    for host in [
        format!("host={}", server.folder().display()),
        "hostaddr=127.0.0.1".to_owned(),
    ] {
        let database = format!(
            "postgresql://fix@/postgres?{host}&port={}&sslmode=prefer",
            server.port
        );
        let log = SqlLog {
            database,
            ..server.log()
        };
        let engine = Running::start(server.config(log));
        seq = trade(engine.address(), seq, 100);
        wait_logged(&server.journal(), || server.logged());
        assert_eq!(server.connections(), [0, 1], "{host}");
        engine.stop();
    }
    assert_same(&server.logged(), &messages(&server.journal()));
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
