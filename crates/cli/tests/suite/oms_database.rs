//! The rows of trading days in PostgreSQL: at any moment those of the files of `fixwire oms day`, each once.

#[path = "../../../fixwire/tests/databases/server.rs"]
mod server;

mod compare;

use std::collections::HashSet;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use fixwire_random::Random;
use postgres::Client;

use crate::oms::{Floor, client_logs_on, id, oms, order, report, start, venue_logs_on};
use crate::oms_reports::in_days;
use crate::peer::Peer;
use crate::running::{Running, fixwire};
use compare::{of_file, same, same_as_journal, store_id};
use server::Server;

/// Number of times that the OMS is killed with SIGKILL.
const KILLS: u64 = 67;
/// Number of times that the database server is killed.
const DOWNS: u64 = 33;
/// Number of orders before each kill.
const ORDERS: u64 = 8;
/// Kills of the OMS from one comparison of all rows to the next.
const COMPARED: u64 = 20;

/// The tables whose rows are those of the files at any moment.
const LIVE: [&str; 4] = ["orders", "rejected", "fills", "actions"];
/// Those that are complete when the day has ended.
const ENDED: [&str; 6] = [
    "orders",
    "rejected",
    "fills",
    "actions",
    "positions",
    "limits",
];

/// The key `database` and its password.
fn keys(server: &Server) -> String {
    let secret = server.home.path().join("secret");
    format!(
        "[oms]\nroll_wait = \"0s\"\ndatabase = \"postgresql://fix@127.0.0.1:{}/postgres\"\ndatabase_password_file = {:?}\n",
        server.port,
        secret.display().to_string()
    )
}

/// A running OMS, its client and its venue.
struct Desk {
    folder: tempfile::TempDir,
    listener: TcpListener,
    port: u16,
    running: Option<Running>,
    venue: Peer,
    client: Peer,
    /// Number of ids that were used.
    ids: u64,
    execs: u32,
}

impl Desk {
    fn begin(table: &str) -> Self {
        Self::with(&[("[oms]\n", table)])
    }

    fn with(changes: &[(&str, &str)]) -> Self {
        let Floor {
            folder,
            listener,
            port,
            running,
            venue,
            client,
        } = Floor::with(changes);
        Self {
            folder,
            listener,
            port,
            running: Some(running),
            venue,
            client,
            ids: 0,
            execs: 0,
        }
    }

    fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn running(&self) -> &Running {
        self.running.as_ref().unwrap()
    }

    /// Kills it with SIGKILL.
    fn kill(&mut self) {
        self.running = None;
    }

    fn start(&mut self) {
        let running = start(self.folder(), self.port);
        self.venue = venue_logs_on(&self.listener, self.venue.next_out);
        running.hears("SIM-1 logged on");
        self.client = client_logs_on(self.port, self.client.next_out);
        self.running = Some(running);
    }

    /// Starts it; returns the first line with this text, which it prints before its sessions log on.
    fn start_that_says(&mut self, text: &str) -> String {
        let mut command = fixwire();
        command.arg("run").arg(self.folder().join("oms.toml"));
        let running = Running::spawn(command, self.port);
        let said = running.hears(text);
        self.venue = venue_logs_on(&self.listener, self.venue.next_out);
        self.client = client_logs_on(self.port, self.client.next_out);
        self.running = Some(running);
        said
    }

    fn new_id(&mut self) -> String {
        self.ids += 1;
        format!("A{}", self.ids)
    }

    /// Accepts an order of this quantity; returns its id and its number at the venue.
    fn accepted(&mut self, quantity: u32) -> (String, String) {
        let own = self.new_id();
        self.client.send("D", &order(&own, quantity));
        let number = id(&until(&mut self.venue, "|35=D|"));
        self.reports(&number, '0', (quantity, 0));
        (own, number)
    }

    /// Sends a report of the venue, and waits until the client has it.
    fn reports(&mut self, number: &str, status: char, quantities: (u32, u32)) {
        self.execs += 1;
        let report = report(number, self.execs, status, quantities);
        self.venue.send("8", &report);
        until(&mut self.client, &format!("|39={status}|"));
    }

    /// An order that is filled, replaced, cancelled or rejected.
    fn trade(&mut self, kind: u64) {
        match kind % 4 {
            0 => {
                let (_, number) = self.accepted(100);
                self.reports(&number, '2', (100, 100));
            }
            1 => {
                let (own, number) = self.accepted(100);
                self.reports(&number, '1', (100, 40));
                let new = self.new_id();
                let replace = format!("{}|41={own}", order(&new, 120));
                self.client.send("G", &replace);
                let replaced = id(&until(&mut self.venue, "|35=G|"));
                self.execs += 1;
                self.venue.send(
                    "8",
                    &format!(
                        "37=V{number}|11={replaced}|41={number}|17=E{}|20=0|150=5|39=1|55=VOD|54=1|38=120|44=12.5|\
                         32=0|31=0|151=80|14=40|6=12.5",
                        self.execs
                    ),
                );
                until(&mut self.client, "|150=5|");
            }
            2 => {
                let (own, number) = self.accepted(70);
                let new = self.new_id();
                let terms = "55=VOD|54=1|38=70|60=20261128-10:00:00";
                self.client.send("F", &format!("11={new}|41={own}|{terms}"));
                let cancel = id(&until(&mut self.venue, "|35=F|"));
                self.execs += 1;
                self.venue.send(
                    "8",
                    &format!(
                        "37=V{number}|11={cancel}|41={number}|17=E{}|20=0|150=4|39=4|55=VOD|54=1|38=70|32=0|31=0|\
                         151=0|14=0|6=0",
                        self.execs
                    ),
                );
                until(&mut self.client, "|39=4|");
            }
            _ => {
                let own = self.new_id();
                self.client.send("D", &order(&own, 20_000));
                until(&mut self.client, "|39=8|");
            }
        }
    }

    fn trades(&mut self, orders: u64) {
        for kind in 0..orders {
            self.trade(kind);
        }
    }

    fn roll(&self, days: u32) {
        let day = format!("day={}", in_days(days));
        let (code, said) = oms(
            self.folder(),
            "roll",
            &[&day, "--cancel", "--why", "a, test"],
        );
        assert_eq!(code, 0, "{said}");
    }
}

/// The next message with this text.
fn until(peer: &mut Peer, text: &str) -> String {
    loop {
        let message = peer.next().expect("a message");
        if message.contains(text) {
            return message;
        }
    }
}

/// An OMS whose rows are all missing, and older than a minute when they are written.
struct Backlog {
    desk: Desk,
    since: Instant,
}

impl Backlog {
    /// More rows than are written at once.
    const ROWS: usize = 4400;

    fn begin() -> Self {
        let mut desk = Desk::begin("[oms]\n");
        for _ in 0..Self::ROWS {
            let own = desk.new_id();
            desk.client.send("D", &order(&own, 20_000));
        }
        for _ in 0..Self::ROWS {
            until(&mut desk.client, "|39=8|");
        }
        desk.kill();
        let since = Instant::now();
        Self { desk, since }
    }

    /// The database is slow until it has all rows, and says so once.
    fn end(mut self, server: &Server) {
        let file = self.desk.folder().join("oms.toml");
        let text = fs::read_to_string(&file).unwrap();
        let keys = format!("{}database_prefix = \"slow_\"\n", keys(server));
        fs::write(&file, text.replacen("[oms]\n", &keys, 1)).unwrap();
        thread::sleep(Duration::from_secs(61).saturating_sub(self.since.elapsed()));
        let said = self
            .desk
            .start_that_says("database is slow: rows of the last ");
        assert!(
            said.contains(" events are missing; trading goes on"),
            "{said}"
        );
        let end = "database has the rows of all events, up to ";
        for line in self.desk.running().hears_until(&[end]) {
            assert!(!line.contains("database is slow"), "{line}");
        }
        let today = in_days(0);
        let rows = same(server, "slow_", self.desk.folder(), &today, &LIVE);
        assert!(rows > Self::ROWS, "{rows}");
    }
}

#[test]
fn the_rows_are_those_of_journal_and_files_after_a_hundred_kills_of_the_oms_and_of_the_database() {
    let backlog = Backlog::begin();
    let mut server = Server::start();
    let mut desk = Desk::begin(&keys(&server));
    let today = in_days(0);
    let mut dice = Random::xorshift_star(17);
    let mut downs = 0;
    for round in 0..KILLS {
        desk.trades(ORDERS / 2);
        if round % 2 == 1 {
            // In the middle of what it writes.
            thread::sleep(Duration::from_millis(dice.below(120)));
            server.down();
            downs += 1;
        }
        desk.trades(ORDERS / 2);
        if round % 4 == 3 {
            // It is away when the OMS stops, and when it starts.
            desk.running().hears("database failed: ");
        } else {
            server.up();
        }
        thread::sleep(Duration::from_millis(dice.below(250)));
        desk.kill();
        desk.start();
        server.up();
        if round % COMPARED == 0 {
            same(&server, "oms_", desk.folder(), &today, &LIVE);
        }
    }
    assert_eq!((downs, downs + KILLS), (DOWNS, 100));
    let rows = same(&server, "oms_", desk.folder(), &today, &LIVE);
    let least = usize::try_from(KILLS * ORDERS).unwrap();
    assert!(rows > least, "{rows}");
    same_as_journal(&server, "oms_", desk.folder(), &today, least);
    desk.roll(1);
    same(&server, "oms_", desk.folder(), &today, &ENDED);
    desk.trades(4);
    same(&server, "oms_", desk.folder(), &in_days(1), &LIVE);
    same(&server, "oms_", desk.folder(), &today, &ENDED);
    backlog.end(&server);
}

#[test]
fn an_outage_stops_no_trading_and_is_told_once_with_its_end() {
    let mut server = Server::start();
    let mut desk = Desk::begin(&keys(&server));
    desk.trades(4);
    same(&server, "oms_", desk.folder(), &in_days(0), &LIVE);
    server.down();
    desk.trades(8);
    let said = desk.running().hears("database failed: ");
    assert!(
        said.contains(" events are missing; trading goes on, and fixwire tries again"),
        "{said}"
    );
    desk.trades(8);
    let last: u64 = of_file(desk.folder(), &in_days(0), "day")[1][2]
        .parse()
        .unwrap();
    server.up();
    let end = "database has the rows of all events, up to ";
    let heard = desk.running().hears_until(&[end]);
    // The rows of the whole outage are there when it says so.
    let up_to = heard.iter().find_map(|it| it.split_once(end)).unwrap().1;
    let up_to: u64 = up_to.trim().parse().unwrap();
    assert!(up_to >= last, "{up_to} of {last}");
    let mut told = HashSet::new();
    for it in [said].iter().chain(&heard) {
        if let Some((_, failed)) = it.split_once("database failed: ") {
            let reason = failed.split(": rows of the last ").next().unwrap();
            assert!(told.insert(reason.to_owned()), "{it}");
        }
    }
    same(&server, "oms_", desk.folder(), &in_days(0), &LIVE);
}

/// The key `database` with this host and these parameters, and its password.
fn keys_of_tls(server: &Server, host: &str, parameters: &str) -> String {
    let (from, to) = ("@127.0.0.1:", format!("@{host}:"));
    let keys = keys(server).replace(from, &to);
    keys.replace("/postgres\"", &format!("/postgres?{parameters}\""))
}

#[test]
fn rows_go_over_tls_to_the_server_that_the_address_names() {
    let mut server = Server::start();
    let mut desk = Desk::begin("[oms]\n");
    let file = desk.folder().join("oms.toml");
    let text = fs::read_to_string(&file).unwrap();
    let write = |host: &str, server: &Server, parameters: &str| {
        let keys = keys_of_tls(server, host, parameters);
        fs::write(&file, text.replacen("[oms]\n", &keys, 1)).unwrap();
    };
    desk.kill();
    write("127.0.0.1", &server, "sslmode=require");
    let said = desk.start_that_says("database failed: ");
    assert!(said.contains("server does not support TLS"), "{said}");
    desk.trades(4);
    let certificate = server.with_tls();
    desk.running().hears("database has the rows of all events");
    same(&server, "oms_", desk.folder(), &in_days(0), &LIVE);
    assert_eq!(server.connections(), [1, 0]);

    let other = desk.folder().join("other.pem");
    let mut another = Server::start();
    fs::copy(another.with_tls(), &other).unwrap();
    drop(another);
    let verified =
        |mode: &str, root: &Path| format!("sslmode={mode}&sslrootcert={}", root.display());
    for (root, mode, why) in [
        (
            &certificate,
            "verify-full",
            "certificate is for another host: write its name as the host of the address",
        ),
        (&other, "verify-ca", "in sslrootcert"),
    ] {
        desk.kill();
        write("127.0.0.1", &server, &verified(mode, root));
        let said = desk.start_that_says("database failed: ");
        assert!(said.contains(why), "{said}");
        assert_eq!(server.connections(), [0, 0]);
    }
    for (host, parameters) in [
        ("localhost", verified("verify-full", &certificate)),
        ("127.0.0.1", verified("verify-ca", &certificate)),
        ("127.0.0.1", "sslmode=prefer".to_owned()),
    ] {
        desk.kill();
        write(host, &server, &parameters);
        desk.start();
        desk.trades(2);
        same(&server, "oms_", desk.folder(), &in_days(0), &LIVE);
        assert_eq!(server.connections(), [1, 0], "{parameters}");
    }
}

#[test]
fn many_orders_without_fills_have_several_changes_and_statements() {
    /// The most rows of a change or a statement.
    const MOST: i64 = 4096;
    let mut server = Server::start();
    let mut desk = Desk::begin(&keys(&server));
    let today = in_days(0);
    desk.trade(0);
    same(&server, "oms_", desk.folder(), &today, &LIVE);
    server.down();
    desk.trade(0);
    desk.running().hears("database failed: ");
    for _ in 0..MOST + 400 {
        let own = desk.new_id();
        desk.client.send("D", &order(&own, 1));
        let number = id(&until(&mut desk.venue, "|35=D|"));
        desk.reports(&number, '8', (1, 0));
    }
    server.up();
    desk.running().hears("database has the rows of all events");
    let mut database = server.connect().unwrap();
    let mut number = |query: &str| -> i64 { database.query_one(query, &[]).unwrap().get(0) };
    assert!(number("SELECT count(*) FROM oms_orders") > MOST + 400);
    // A record may change more than one order.
    let most = "SELECT max(count) FROM (SELECT count(*) FROM oms_orders GROUP BY xmin::text) it";
    let most = number(most);
    assert!(most < MOST + 10, "{most}");
    // The end of a day writes all orders in one change.
    let counts = "CREATE TABLE statements (count bigint);
        CREATE FUNCTION counted() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN INSERT INTO statements SELECT count(*) FROM changed; RETURN NULL; END';
        CREATE TRIGGER counts AFTER UPDATE ON oms_orders REFERENCING NEW TABLE AS changed
        FOR EACH STATEMENT EXECUTE FUNCTION counted()";
    server.connect().unwrap().batch_execute(counts).unwrap();
    desk.roll(1);
    same(&server, "oms_", desk.folder(), &today, &ENDED);
    assert!(number("SELECT sum(count)::bigint FROM statements") > MOST);
    assert_eq!(number("SELECT max(count) FROM statements"), MOST);
}

#[test]
fn nothing_is_written_after_a_rejected_request_until_the_next_event() {
    let server = Server::start();
    let mut desk = Desk::begin(&keys(&server));
    desk.trade(3);
    same(&server, "oms_", desk.folder(), &in_days(0), &LIVE);
    let mut database = server.connect().unwrap();
    let mut written = || -> String {
        thread::sleep(Duration::from_secs(1));
        let position = "SELECT written::text || ' ' || xmin::text FROM oms_position";
        database.query_one(position, &[]).unwrap().get(0)
    };
    assert_eq!(written(), written());
}

#[test]
fn a_day_that_is_taken_back_has_the_rows_of_its_files() {
    let server = Server::start();
    let mut desk = Desk::begin(&keys(&server));
    let [today, next, far] = [in_days(0), in_days(1), in_days(3)];
    desk.trades(4);
    desk.roll(3);
    same(&server, "oms_", desk.folder(), &today, &ENDED);
    desk.trade(3);
    same(&server, "oms_", desk.folder(), &far, &LIVE);
    // The day with the rejected order gets another date.
    desk.roll(1);
    desk.running().hears("is the trading day now");
    desk.trades(4);
    same(&server, "oms_", desk.folder(), &next, &LIVE);
    let mut database = server.connect().unwrap();
    let after = "SELECT count(*) FROM oms_days WHERE day > $1::text::date";
    let count: i64 = database.query_one(after, &[&next]).unwrap().get(0);
    assert_eq!(count, 0);
    let rejected = "SELECT count(*) FROM oms_rejected WHERE day = $1::text::date";
    let count: i64 = database.query_one(rejected, &[&next]).unwrap().get(0);
    assert_eq!(count, 2);
    desk.roll(3);
    same(&server, "oms_", desk.folder(), &today, &ENDED);
    same(&server, "oms_", desk.folder(), &next, &ENDED);
    same(&server, "oms_", desk.folder(), &far, &LIVE);
    // A day without anything goes on under its own date.
    desk.roll(4);
    desk.roll(3);
    desk.running().hears("is the trading day now");
    desk.trades(4);
    same(&server, "oms_", desk.folder(), &far, &LIVE);
    same(&server, "oms_", desk.folder(), &next, &ENDED);
}

/// Copies the folder of a server that is down.
fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-a").arg(from).arg(to).status();
    assert!(copied.unwrap().success());
}

#[test]
fn a_database_from_an_earlier_backup_gets_the_rows_since_then() {
    let mut server = Server::start();
    let mut database = server.connect().unwrap();
    database.batch_execute("CREATE SCHEMA trading").unwrap();
    drop(database);
    let prefix = "trading.oms_";
    let keys = format!("{}database_prefix = \"{prefix}\"\n", keys(&server));
    let mut desk = Desk::begin(&keys);
    let [today, next] = [in_days(0), in_days(1)];
    desk.trades(8);
    same(&server, prefix, desk.folder(), &today, &LIVE);
    server.down();
    let (folder, backup) = (
        server.home.path().join("server"),
        server.home.path().join("backup"),
    );
    copy(&folder, &backup);
    server.up();
    desk.trades(8);
    desk.roll(1);
    desk.trades(8);
    same(&server, prefix, desk.folder(), &next, &LIVE);
    server.down();
    fs::remove_dir_all(&folder).unwrap();
    fs::rename(&backup, &folder).unwrap();
    server.up();
    desk.trades(4);
    same(&server, prefix, desk.folder(), &next, &LIVE);
    same(&server, prefix, desk.folder(), &today, &ENDED);
}

#[test]
fn tables_of_another_version_or_store_are_refused_by_name_and_get_no_row() {
    let server = Server::start();
    let mut desk = Desk::begin(&keys(&server));
    let today = in_days(0);
    desk.trades(8);
    same(&server, "oms_", desk.folder(), &today, &LIVE);
    let mut database = server.connect().unwrap();
    let written = |database: &mut Client| -> String {
        let all = "SELECT string_agg(it::text, '|' ORDER BY it::text) FROM oms_position it";
        let position: String = database.query_one(all, &[]).unwrap().get(0);
        let count = "SELECT count(*) FROM oms_orders";
        let orders: i64 = database.query_one(count, &[]).unwrap().get(0);
        format!("{position} {orders}")
    };
    for (wrong, right, why) in [
        (
            "schema_version = 7",
            "schema_version = 1",
            "the tables oms_* have the schema version 7, and this build writes version 1",
        ),
        (
            "event = event + 1000",
            "event = event - 1000",
            "but the journal ends with event ",
        ),
        (
            "event_hash = reverse(event_hash)",
            "event_hash = reverse(event_hash)",
            " that the database has rows of",
        ),
        (
            "event_hash = 'x' || event_hash",
            "event_hash = substr(event_hash, 2)",
            " is not a hexadecimal number",
        ),
    ] {
        desk.kill();
        let set = |to: &str| format!("UPDATE oms_position SET {to}");
        database.batch_execute(&set(wrong)).unwrap();
        let before = written(&mut database);
        let said = desk.start_that_says("database refused, no row is written: ");
        assert!(said.contains(why), "{said}");
        desk.trades(4);
        thread::sleep(Duration::from_millis(600));
        assert_eq!(written(&mut database), before, "{wrong}");
        database.batch_execute(&set(right)).unwrap();
        desk.running().hears("database has the rows of all events");
        same(&server, "oms_", desk.folder(), &today, &LIVE);
    }
}

#[test]
fn a_journal_in_the_place_of_another_one_writes_no_row_until_it_has_a_store_of_its_own() {
    let server = Server::start();
    let mut desk = Desk::begin(&keys(&server));
    let today = in_days(0);
    desk.trades(8);
    same(&server, "oms_", desk.folder(), &today, &LIVE);
    desk.kill();
    let old = store_id(desk.folder());
    let [store, before] = ["oms-store", "before"].map(|name| desk.folder().join(name));
    fs::rename(&store, &before).unwrap();
    fs::DirBuilder::new().mode(0o700).create(&store).unwrap();
    copy(&before.join("oms-database"), &store);
    (desk.venue.next_out, desk.client.next_out) = (1, 1);
    desk.start();
    let said = desk
        .running()
        .hears("database refused, no row is written: ");
    assert!(
        said.contains("if the journal is new, remove the folder "),
        "{said}"
    );
    desk.kill();
    fs::remove_dir_all(store.join("oms-database")).unwrap();
    desk.start();
    desk.trades(4);
    let rows = same(&server, "oms_", desk.folder(), &today, &LIVE);
    assert!(rows > 0 && store_id(desk.folder()) != old);
    let mut database = server.connect().unwrap();
    let of_old = "SELECT count(*) FROM oms_orders WHERE store = $1";
    let count: i64 = database.query_one(of_old, &[&old]).unwrap().get(0);
    assert_eq!(count, 6, "its rows stay");
}

#[test]
fn a_journal_without_its_beginning_has_rows_from_its_oldest_checkpoint_on() {
    let mut server = Server::start();
    let mut desk = Desk::with(&[(
        "NonStopSession = true\n",
        "NonStopSession = true\nJournalSegmentSize = \"2M\"\nJournalKeep = \"1s\"\n",
    )]);
    let today = in_days(0);
    let mut filled = Filled::begin(&mut desk);
    let to = desk.folder().join("compared").display().to_string();
    while !oms(desk.folder(), "day", &["--to", &to])
        .1
        .contains("(JournalKeep)")
    {
        filled.more(&mut desk);
    }
    desk.kill();
    let file = desk.folder().join("oms.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen("[oms]\n", &keys(&server), 1)).unwrap();
    let said = desk.start_that_says("database has no rows of the events 1 to ");
    assert!(
        said.contains("set JournalKeep longer than outages of the database"),
        "{said}"
    );
    assert!(same(&server, "oms_", desk.folder(), &today, &LIVE) > 0);
    // The rows since then are whole, from the state that the thread keeps.
    desk.trades(4);
    desk.kill();
    desk.start();
    desk.trades(4);
    assert!(same(&server, "oms_", desk.folder(), &today, &LIVE) > 8);

    // The database is away until the journal no longer has its events.
    server.down();
    let event = |desk: &Desk, at: usize| -> u64 {
        let rows = of_file(desk.folder(), &today, "day");
        rows[1][at].parse().unwrap()
    };
    let last = event(&desk, 2);
    desk.trade(3);
    desk.running().hears("database failed: ");
    while event(&desk, 1) <= last + 3000 {
        filled.more(&mut desk);
    }
    server.up();
    desk.running().hears("database has no rows of the events ");
    desk.trades(1);
    desk.running().hears("database has the rows of all events");

    // The journal loses the first events of the rows, and the state before them.
    let mut database = server.connect().unwrap();
    let first = "SELECT first_event FROM oms_position";
    let first: i64 = database.query_one(first, &[]).unwrap().get(0);
    while event(&desk, 1) <= u64::try_from(first).unwrap() {
        filled.more(&mut desk);
    }
    desk.kill();
    for entry in fs::read_dir(desk.folder().join("oms-store/oms-database")).unwrap() {
        let path = entry.unwrap().path();
        if !path.ends_with("store.id") {
            fs::remove_file(path).unwrap();
        }
    }
    let said =
        desk.start_that_says(": rows that change in the database lack what happened before event ");
    let compact = today.replace('-', "");
    assert!(said.contains(&format!("trading day {compact}: ")), "{said}");
}

/// An order with fills that fill the journal.
struct Filled {
    number: String,
    filled: u32,
}

impl Filled {
    fn begin(desk: &mut Desk) -> Self {
        let (_, number) = desk.accepted(10_000);
        Self { number, filled: 0 }
    }

    /// 500 fills.
    fn more(&mut self, desk: &mut Desk) {
        if self.filled == 9500 {
            *self = Self::begin(desk);
        }
        // Nobody needs the messages before a reset any more.
        for peer in [&mut desk.client, &mut desk.venue] {
            peer.next_out = 1;
            peer.send("A", "98=0|108=30|141=Y");
            until(peer, "|35=A|");
        }
        let number = &self.number;
        for _ in 0..500 {
            self.filled += 1;
            let (filled, left) = (self.filled, 10_000 - self.filled);
            let fill = format!(
                "37=V{number}|11={number}|17=F{number}-{filled}|20=0|150=1|39=1|55=VOD|54=1|38=10000|32=1|31=12.5|\
                 151={left}|14={filled}|6=12.5|58={}",
                "x".repeat(1500)
            );
            desk.venue.send("8", &fill);
            until(&mut desk.client, "|39=1|");
        }
        // The segment that is full next may be removed then.
        thread::sleep(Duration::from_millis(1100));
    }
}
