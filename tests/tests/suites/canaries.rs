//! Does each rig find a fault of the product, and say what it is?
//!
//! `FIXWIRE_CANARY` plants a fault in the engine, and a suite runs as usual: it must fail, with its own message. The
//! suites `simulation` and `gateway_simulation` do the same by themselves.
//!
//! `CANARIES=kill,flow` runs only these suites.

use fixwire_rigs::server::{binary, rigs};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// A rig, the fault that it must find, and its message then.
struct Trial {
    suite: &'static str,
    /// The test that is run.
    test: &'static str,
    /// Variables for the amount of work in the test.
    variables: &'static [(&'static str, &'static str)],
    fault: &'static str,
    words: &'static str,
}

const TRIALS: [Trial; 17] = [
    Trial {
        suite: "kill",
        test: "nothing_is_lost_when_an_acceptor_is_killed",
        variables: &[("KILLS", "20")],
        fault: "skip-commit",
        words: "the journal does not have it",
    },
    Trial {
        suite: "kill",
        test: "nothing_is_lost_when_an_initiator_is_killed",
        variables: &[("KILLS", "20")],
        fault: "forget-inbound",
        words: "has a second report",
    },
    Trial {
        suite: "interop_kill",
        test: "quickfix_cpp_as_initiator",
        variables: &[("INTEROP_KILLS", "12")],
        fault: "forget-inbound",
        words: " is reported as ",
    },
    Trial {
        suite: "interop",
        test: "we_connect_to_quickfix_cpp",
        variables: &[("TRADE_PATIENCE", "15")],
        fault: "lose-message",
        words: "never saw 10000 x ",
    },
    Trial {
        suite: "foreign",
        test: "simplefix_trades_with_echo",
        variables: &[("TRADE_PATIENCE", "15")],
        fault: "lose-message",
        // The 34 orders before the kill and the 1,000 around it.
        words: "never saw 1034 x report",
    },
    Trial {
        suite: "gateway",
        test: "a_report_finds_its_client_after_a_kill",
        variables: &[],
        fault: "forget-notes",
        words: "the gateway knows other orders",
    },
    Trial {
        suite: "gateway_interop",
        test: "quickfix_j_and_cpp_trade_with_quickfix_cpp",
        variables: &[("GATEWAY_KILLS", "2")],
        fault: "forget-inbound",
        words: "as a new one",
    },
    Trial {
        suite: "gateway_kill",
        test: "a_killed_gateway_loses_and_doubles_nothing",
        variables: &[("GATEWAY_KILLS", "8")],
        fault: "forget-inbound",
        words: ": G",
    },
    Trial {
        suite: "gateway_hold",
        test: "the_binary_knows_after_a_kill_what_it_held",
        variables: &[("TRADE_PATIENCE", "15")],
        fault: "forget-notes",
        words: "no answer to order",
    },
    Trial {
        suite: "gateway_reload",
        test: "",
        variables: &[("GATEWAY_RELOADS", "2")],
        fault: "lose-message",
        words: "an order is missing or comes twice",
    },
    Trial {
        suite: "oms_kill",
        test: "client_oms_and_exchange_agree_over_kills_of_each",
        variables: &[("OMS_KILLS", "36"), ("TRADE_PATIENCE", "10")],
        fault: "skip-note",
        words: "give a state with hash",
    },
    Trial {
        suite: "oms_kill",
        test: "client_oms_and_exchange_agree_over_kills_of_each",
        variables: &[("OMS_KILLS", "36"), ("TRADE_PATIENCE", "10")],
        fault: "release-twice",
        words: "the position of",
    },
    Trial {
        suite: "operate_kill",
        test: "",
        variables: &[("OPERATE_KILLS", "20")],
        fault: "skip-commit",
        words: "what was answered is undone",
    },
    Trial {
        suite: "stores",
        test: "a_store_of_quickfix_cpp_moves_in_and_back",
        variables: &[],
        fault: "skip-stored",
        words: "an order is missing",
    },
    Trial {
        suite: "strangers",
        test: "t4_random_streams_before_a_logon_leave_every_session_as_it_was",
        variables: &[("STREAMS", "5000")],
        fault: "any-password",
        words: "changed something",
    },
    Trial {
        suite: "flow",
        test: "a_throttle_that_rejects_answers_what_is_beyond_and_keeps_the_numbers",
        variables: &[],
        fault: "skip-throttle",
        words: "reports and rejects of 25 orders",
    },
    Trial {
        suite: "acceptance",
        test: "the_scripts_pass_and_pass_again_after_a_kill",
        variables: &[("FIXWIRE_SCRIPTS", "fix44/4b_ReceivedTestRequest")],
        fault: "skip-heartbeat",
        words: "4b_ReceivedTestRequest",
    },
];

#[test]
fn each_rig_finds_a_fault_of_the_product() -> Result<(), String> {
    let binary = binary()?;
    let rigs = rigs()?;
    let wanted = std::env::var("CANARIES").unwrap_or_default();
    let is_wanted =
        |trial: &&Trial| wanted.is_empty() || wanted.split(',').any(|one| one == trial.suite);
    let mut missed = Vec::new();
    for trial in TRIALS.iter().filter(is_wanted) {
        let began = Instant::now();
        let found = trial.run(&binary, rigs.get("suites"));
        let time = began.elapsed();
        match found {
            Ok(line) => println!("{}: {} in {time:.1?}: {line}", trial.suite, trial.fault),
            Err(what) => missed.push(format!("{}: {}: {what}", trial.suite, trial.fault)),
        }
    }
    if missed.is_empty() {
        Ok(())
    } else {
        Err(missed.join("\n"))
    }
}

impl Trial {
    /// Runs the suite; returns the line that reports the fault.
    fn run(&self, binary: &Path, rig: Option<&PathBuf>) -> Result<String, String> {
        let rig = rig.ok_or("no such program")?;
        let mut command = Command::new(rig);
        if self.test.is_empty() {
            command.arg(format!("{}::", self.suite));
            command.args(["--skip", "each_planted_fault_is_found"]);
        } else {
            command.args(["--exact", &format!("{}::{}", self.suite, self.test)]);
        }
        let output = command
            .arg("--nocapture")
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .env("FIXWIRE_BIN", binary)
            .env("FIXWIRE_CANARY", self.fault)
            .env("RUST_BACKTRACE", "0")
            .envs(self.variables.iter().copied())
            .output()
            .map_err(|error| error.to_string())?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        let line = said.lines().find(|line| line.contains(self.words));
        match line {
            _ if output.status.success() => Err("it passes".to_owned()),
            Some(line) => Ok(line.chars().take(200).collect()),
            None => {
                let lines: Vec<&str> = said.lines().collect();
                let end = &lines[lines.len().saturating_sub(12)..];
                Err(format!("found by other words:\n{}", end.join("\n")))
            }
        }
    }
}
