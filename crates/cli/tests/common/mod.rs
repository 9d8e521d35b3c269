//! What tests of the program share.

use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

/// Sends a signal, by its name without SIG, to a process that was started and not waited for.
pub fn signal(child: &Child, name: &str) {
    let signal = match name {
        "CONT" => Signal::CONT,
        "HUP" => Signal::HUP,
        "INT" => Signal::INT,
        "STOP" => Signal::STOP,
        "TERM" => Signal::TERM,
        "USR1" => Signal::USR1,
        other => panic!("no signal {other} here"),
    };
    kill_process(Pid::from_child(child), signal).unwrap();
}
