//! Does the harness detect an acceptor that loses, duplicates, reorders, corrupts or delays its answers?
//!
//! Both ends are engines over TCP, as in `bench echo`, or the near one is bare sockets, as in
//! `bench gateway-echo`; only the acceptor's application is faulty.

use std::path::Path;
use std::time::Duration;

use fixwire::Durability;
use fixwire_lab::bench::echo::{EchoArgs, Without};
use fixwire_lab::bench::engine::{EngineArgs, Profile};
use fixwire_lab::bench::gateway::{self, GatewayArgs};
use fixwire_lab::bench::{LoadArgs, OutputArgs};
use fixwire_lab::load::arrivals::Spread;
use fixwire_lab::load::{Faults, Pace};
use fixwire_lab::report::{Run, result_file};
use fixwire_lab::sockets::fix_client::FixClient;
use fixwire_lab::sockets::pair::{Pair, PairConfig};
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Application, Message, Now, Outbox, Refusal, SessionId, tag};
use fixwire_stamps::scenario::{EXECUTION_REPORT, Echo, write_report};

/// Orders of a run; one in a hundred gets a bad answer.
const ORDERS: usize = 1_000;

#[derive(Clone, Copy)]
enum Fault {
    None,
    Drop,
    Twice,
    Swap,
    Spoil,
    Stall(Duration),
}

struct Faulty {
    fault: Fault,
    count: usize,
    held: Option<Vec<u8>>,
}

impl Application for Faulty {
    fn on_message(
        &mut self,
        now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        self.count += 1;
        if !self.count.is_multiple_of(100) {
            Echo.on_message(now, from, message, outbox)?;
            if let Some(id) = self.held.take() {
                write_report(outbox, from, &id).unwrap();
            }
            return Ok(());
        }
        match self.fault {
            Fault::None => Echo.on_message(now, from, message, outbox),
            Fault::Drop => Ok(()),
            Fault::Twice => {
                Echo.on_message(now, from, message, outbox)?;
                Echo.on_message(now, from, message, outbox)
            }
            Fault::Swap => {
                self.held = message.get(tag::CL_ORD_ID).map(<[u8]>::to_vec);
                Ok(())
            }
            Fault::Spoil => {
                write_report(outbox, from, b"1").unwrap();
                Ok(())
            }
            Fault::Stall(time) => {
                std::thread::sleep(time);
                Echo.on_message(now, from, message, outbox)
            }
        }
    }
}

fn config(journals: &Path) -> PairConfig {
    PairConfig {
        durability: Durability::Memory,
        heart_bt_int_seconds: 30,
        patience: Duration::from_millis(500),
        ..PairConfig::new("BENCH", "EXEC", &[Version::Fix42], journals)
    }
}

/// Kinds of orders.
#[derive(Clone, Copy)]
enum Near {
    Engine,
    Sockets,
}

fn run(near: Near, fault: Fault, pace: Pace) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let config = config(folder.path());
    let app = Faulty {
        fault,
        count: 0,
        held: None,
    };
    // Not pinned: tests run beside each other.
    match near {
        Near::Engine => {
            let mut pair = Pair::start(&config, None, app).unwrap();
            let run = pair.run(pace, ORDERS).unwrap();
            pair.stop().unwrap();
            run
        }
        Near::Sockets => {
            let mut client = FixClient::start(config, None, app, EXECUTION_REPORT).unwrap();
            let run = client.run(pace, ORDERS).unwrap();
            client.stop().unwrap();
            run
        }
    }
}

#[test]
fn a_faultless_acceptor_has_no_faults() {
    for near in [Near::Engine, Near::Sockets] {
        let run = run(near, Fault::None, Pace::PerSecond(5_000));
        assert_eq!((run.faults, run.sent), (Faults::default(), ORDERS as u64));
        assert_eq!(run.response.count, ORDERS as u64);
    }
}

#[test]
fn each_fault_is_counted_as_what_it_is() {
    let one_in_a_hundred = ORDERS as u64 / 100;
    let none = Faults::default();
    let expected = [
        (
            Fault::Drop,
            Faults {
                lost: one_in_a_hundred,
                ..none
            },
        ),
        (
            Fault::Twice,
            Faults {
                duplicate: one_in_a_hundred,
                ..none
            },
        ),
        // The last order is held back and no later one follows: it is lost.
        (
            Fault::Swap,
            Faults {
                out_of_order: one_in_a_hundred - 1,
                lost: 1,
                ..none
            },
        ),
        (
            Fault::Spoil,
            Faults {
                wrong: one_in_a_hundred,
                lost: one_in_a_hundred,
                ..none
            },
        ),
    ];
    for near in [Near::Engine, Near::Sockets] {
        for (fault, faults) in expected {
            let run = run(near, fault, Pace::PerSecond(5_000));
            assert_eq!(run.faults, faults);
        }
    }
}

#[test]
fn a_lost_answer_ends_a_closed_loop() {
    for near in [Near::Engine, Near::Sockets] {
        let run = run(near, Fault::Drop, Pace::PingPong);
        assert_eq!((run.sent, run.faults.lost), (100, 1));
    }
}

#[test]
fn a_delay_of_the_acceptor_is_in_the_figures() {
    let stall = Fault::Stall(Duration::from_millis(10));
    for near in [Near::Engine, Near::Sockets] {
        let run = run(near, stall, Pace::PerSecond(5_000));
        assert_eq!(run.faults, Faults::default());
        assert!(run.response.worst > 10_000_000, "{}", run.response.worst);
    }
}

fn load() -> LoadArgs {
    LoadArgs {
        arrivals: Spread::Poisson,
        arrivals_from: None,
        seed: 1,
        flood: false,
        rate: vec![5_000],
        no_ping_pong: false,
        counts: false,
        warm_up: 100,
        iterations: 200.try_into().unwrap(),
        runs: 2,
        cores: "none".to_owned(),
    }
}

fn engine(journals: &Path) -> EngineArgs {
    EngineArgs {
        profile: Profile::Balanced,
        durability: None,
        journal: Some(journals.to_owned()),
        nagle: false,
    }
}

/// Orders return from a gateway on their session, and converted on another one, where they are filled.
#[test]
fn a_gateway_answers_every_order_once() {
    answers_every_order_once(false);
}

/// The same, without following the orders.
#[test]
fn a_gateway_that_lets_ids_pass_answers_every_order_once() {
    answers_every_order_once(true);
}

fn answers_every_order_once(pass_ids: bool) {
    let folder = tempfile::tempdir().unwrap();
    let args = GatewayArgs {
        load: load(),
        engine: engine(folder.path()),
        rules: 10,
        pass_ids,
        output: OutputArgs::default(),
    };
    let report = gateway::measure(&args, true).unwrap();
    assert_eq!(report.faults().total(), 0);
    let measured = report.rows.iter().map(|row| row.subject.as_str());
    let wanted = [
        "tcp floor",
        "echo",
        "tcp floor, onward",
        "forward",
        "convert",
    ];
    assert!(measured.eq(wanted.into_iter().chain(wanted)));
    let floors = report.rows.iter().filter(|row| !row.is_floor());
    let floors = floors.map(|row| report.floor_of(row).map(|floor| floor.subject.as_str()));
    let wanted = [wanted[0], wanted[2], wanted[2]].map(Some);
    assert!(floors.eq(wanted.into_iter().chain(wanted)));
    let all = report.rows.iter().flat_map(|row| &row.runs);
    assert!(all.map(|run| run.response.count).all(|count| count == 200));
}

/// The whole command, small: floor and engine at two paces, and files beside the table.
#[test]
fn the_command_measures_both_and_writes_what_it_found() {
    let folder = tempfile::tempdir().unwrap();
    let args = EchoArgs {
        floor: None,
        stages: true,
        without: vec![Without::Journal, Without::Validation],
        load: LoadArgs {
            flood: true,
            counts: true,
            ..load()
        },
        engine: engine(folder.path()),
        peer: None,
        ask_status: true,
        sender_comp_id: "BENCH".to_owned(),
        target_comp_id: "EXEC".to_owned(),
        output: OutputArgs {
            details: true,
            json: Some(folder.path().join("run.json")),
            csv: Some(folder.path().join("run.csv")),
            svg: Some(folder.path().join("run.svg")),
            samples: Some(folder.path().join("latency.csv")),
            hlog: Some(folder.path().join("run.hlog")),
            assert: Some("5000/s: p50<10s".to_owned()),
            junit: Some(folder.path().join("run.xml")),
            teamcity: false,
        },
    };
    let code = fixwire_lab::bench::echo::run(&args).unwrap();
    assert_eq!(
        format!("{code:?}"),
        format!("{:?}", std::process::ExitCode::SUCCESS)
    );
    let json: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.path().join("run.json")).unwrap()).unwrap();
    let rows = json["rows"].as_array().unwrap();
    let named: Vec<_> = rows
        .iter()
        .map(|row| format!("{} {}", row["pace"], row["subject"]).replace('"', ""))
        .collect();
    let subjects = [
        "tcp floor",
        "fixwire",
        "fixwire, asked",
        "fixwire, marked",
        "no journal",
        "no validation",
    ];
    let paces = ["ping-pong", "5000", "flood"];
    let wanted = paces.map(|pace| subjects.map(|subject| format!("{pace} {subject}")));
    assert_eq!(named, wanted.as_flattened());
    for row in rows {
        let run = &row["runs"][1];
        assert_eq!(run["response"]["count"], 200);
        assert_eq!(run["counts"]["orders"], 200);
        assert!(!run["counts"]["engine"]["minor_faults"].is_null(), "{run}");
        // A processor that counts no instructions gives null, never 0.
        let engine = run["counts"]["engine"].as_object().unwrap();
        assert_ne!(engine["instructions"], 0);
        assert_eq!(run["calls"]["orders"], 200);
        assert!(run["calls"].as_object().unwrap().contains_key("engine"));
        assert!(
            row["runs"][0]["calls"].is_null(),
            "one run of a row is traced"
        );
        let marked = run["stages"]["marked"].as_u64();
        assert_eq!(run["own_work"]["figures"]["count"].as_u64(), marked);
        if row["subject"] == "fixwire, marked" {
            assert!(
                marked.is_some_and(|marked| (12..=13).contains(&marked)),
                "{run}"
            );
        } else {
            assert_eq!(marked, None);
        }
    }
    let csv = std::fs::read_to_string(folder.path().join("run.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + 18 * 2 * 2);
    let report = result_file::read(&folder.path().join("run.json")).unwrap();
    let checks = report.host_facts.as_ref().map(|facts| &facts["findings"]);
    assert!(
        checks
            .and_then(|it| it.as_array())
            .is_some_and(|it| it.len() > 20)
    );
    let run = &report.rows[7].runs[1];
    assert_eq!((run.response.count, run.histogram.len()), (200, 200));
    assert_eq!(
        run.series.iter().map(|second| second.count).sum::<u64>(),
        200
    );
    assert!(run.used.is_some_and(|used| used.thread.cpu_ns > 0));
    let samples = std::fs::read_to_string(folder.path().join("latency.csv")).unwrap();
    assert_eq!(samples.lines().count(), 1 + 18 * 2 * 200);
    // Arrivals are random; the first order is due at the start.
    assert!(samples.contains("\nfixwire,5000,2,0,"), "{samples}");
    let longest = samples
        .lines()
        .filter_map(|line| line.strip_prefix("fixwire,5000,2,"));
    let longest = longest.filter_map(|line| line.split(',').nth(1)?.parse::<u64>().ok());
    let run = &report.rows[7].runs[1];
    assert!(
        run.histogram
            .equivalent(longest.max().unwrap(), run.response.worst)
    );
    // The journals were removed.
    let left: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .flatten()
        .collect();
    assert_eq!(left.len(), 6, "{left:?}");
}

#[test]
fn a_peer_that_is_not_there_is_told() {
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let folder = tempfile::tempdir().unwrap();
    let config = PairConfig {
        peer: Some(("127.0.0.1".to_owned(), port)),
        ..config(folder.path())
    };
    let error = Pair::start(&config, None, Echo)
        .err()
        .expect("nobody listens")
        .to_string();
    assert!(
        error.contains("no session") && error.contains(&port.to_string()),
        "{error}"
    );
}
