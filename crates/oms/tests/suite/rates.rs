//! A client above its rate limit: the rejects, the logout, and the state after it.

use fixwire_engine::protocol::Nanos;

use crate::floor::{CLIENT, Floor};

const FIELDS: &str = "55=XYZ|54=1|38=100|40=2|44=100|60=20261122-08:00:00|";
const LOGOUT: &str = "58=Rate limit exceeded: 3 requests above 2 in 10s were rejected; log on again and stay below this rate";

/// One whose client may send so many requests.
fn with_rate(rate: &str) -> Floor {
    Floor::with("[[user]]", &format!("[[user]]\nrate = \"{rate}\""))
}

/// Sends new orders at once; what the client is answered to them.
fn send(floor: &mut Floor, ids: &[&str]) -> Vec<String> {
    let before = floor.told(&[35]).len();
    for id in ids {
        floor.world.send(CLIENT, "D", &format!("11={id}|{FIELDS}"));
    }
    floor.settle();
    floor.told(&[35, 11, 39, 372, 380]).split_off(before)
}

/// How often the client was sent such a Logout.
fn logouts(floor: &Floor) -> usize {
    let said = floor.world.trace().iter();
    said.filter(|line| line.contains(LOGOUT)).count()
}

const TAKEN: [&str; 2] = ["0", "1"];

/// Reports of orders that are accepted and partly filled, then rejects of so many others.
fn answers(taken: &[&str], rejected: usize) -> Vec<String> {
    let reports = |id: &&str| TAKEN.map(|status| format!("8 {id} {status} - -"));
    let mut all: Vec<String> = taken.iter().flat_map(reports).collect();
    all.splice(0..0, vec!["j - - D 0".to_owned(); rejected]);
    all
}

#[test]
fn requests_above_the_rate_are_rejected_and_too_many_log_out() {
    let mut floor = with_rate("2 in 10s, logout after 3");
    // Two rejected, then one that is taken: the row ends.
    assert_eq!(
        send(&mut floor, &["A1", "A2", "A3", "A4"]),
        answers(&["A1", "A2"], 2)
    );
    floor.world.pass(Nanos::from_secs(11));
    assert_eq!(
        send(&mut floor, &["A5", "A6", "A7", "A8"]),
        answers(&["A5", "A6"], 2)
    );
    assert_eq!(logouts(&floor), 0);
    // The third in a row, and what comes behind it.
    assert_eq!(send(&mut floor, &["A9", "A10", "A11"]), answers(&[], 3));
    assert_eq!(logouts(&floor), 1);
    // It has logged on again; what was taken still counts, and no ClOrdID of a rejected order is used.
    assert_eq!(send(&mut floor, &["A3"]), answers(&[], 1));
    floor.world.pass(Nanos::from_secs(11));
    assert_eq!(send(&mut floor, &["A3", "A9"]), answers(&["A3", "A9"], 0));
    assert_eq!(logouts(&floor), 1);
    floor.agrees();
}

#[test]
fn cancels_and_questions_count_too() {
    let mut floor = with_rate("3 in 10s, logout after 3");
    send(&mut floor, &["A1"]);
    let before = floor.told(&[35]).len();
    for _ in 0..2 {
        floor.world.send(CLIENT, "H", "11=A1|55=XYZ|54=1|");
    }
    let cancel = "11=A2|41=A1|55=XYZ|54=1|38=100|60=20261122-08:00:00|";
    floor.world.send(CLIENT, "F", cancel);
    floor
        .world
        .send(CLIENT, "q", "11=A3|530=7|60=20261122-08:00:00|");
    floor.world.send(CLIENT, "AF", "584=S1|585=7|");
    floor.settle();
    let told = floor.told(&[35, 372]).split_off(before);
    assert_eq!(told, ["8 -", "8 -", "j F", "j q", "j AF"]);
    floor.agrees();
}

#[test]
fn without_a_number_nobody_is_logged_out() {
    let mut floor = with_rate("1 in 10s");
    let ids: Vec<String> = (0..50).map(|at| format!("A{at}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    assert_eq!(send(&mut floor, &ids), answers(&["A0"], 49));
    assert!(floor.world.trace().iter().all(|it| !it.contains("|35=5|")));
    floor.agrees();
}

#[test]
fn a_restart_logs_nobody_out_once_more_and_counts_anew() {
    let mut floor = with_rate("2 in 10s, logout after 3");
    send(&mut floor, &["A1", "A2", "A3", "A4", "A5"]);
    assert_eq!(logouts(&floor), 1);
    floor.world.kill();
    floor.settle();
    assert_eq!(
        send(&mut floor, &["A6", "A7", "A8"]),
        answers(&["A6", "A7"], 1)
    );
    assert_eq!(logouts(&floor), 1);
    floor.agrees();
}
