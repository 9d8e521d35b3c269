//! Does `fixwire client` trade with engines of others that do what our own peers do not?
//!
//! fixcore is a FIX 5.0 SP2 venue whose Logon has SessionStatus(1409); QuickFIX for Python is a FIX 4.4 venue that
//! answers an order by a BusinessMessageReject without BusinessRejectRefID(379). Each order has its outcome.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use fixwire_rigs::foreign::{ForeignVenue, venue};
use fixwire_rigs::server::{binary, free_port, scratch};

/// Orders of a run.
const ORDERS: usize = 20;

#[test]
fn a_venue_of_fixt_whose_logon_has_a_session_status() -> Result<(), String> {
    let session = "BeginString=FIXT.1.1\nDefaultApplVerID=FIX.5.0SP2\n";
    trade(ForeignVenue::Fixcore, session, (ORDERS, 0))
}

#[test]
fn a_venue_whose_business_message_reject_has_no_id() -> Result<(), String> {
    let session = "BeginString=FIX.4.4\n";
    trade(
        ForeignVenue::QuickfixPython,
        session,
        (ORDERS / 2, ORDERS / 2),
    )
}

/// Orders are sent one by one; this number of them is accepted, this number rejected.
fn trade(of: ForeignVenue, session: &str, outcome: (usize, usize)) -> Result<(), String> {
    let io = |error: std::io::Error| error.to_string();
    let folder = scratch(&format!("venue-{of:?}")).map_err(io)?;
    let port = free_port().map_err(io)?;
    let file = folder.join("client.cfg");
    let text = format!(
        "[DEFAULT]\nConnectionType=initiator\nSocketConnectHost=127.0.0.1\nSocketConnectPort={port}\nHeartBtInt=30\n\
         FileStorePath={}\nJournalSegmentSize=2M\nNonStopSession=Y\nReconnectInterval=1\n\
         [SESSION]\n{session}SenderCompID=FIRM\nTargetCompID=VENUE\n",
        folder.join("store").display()
    );
    fs::write(&file, text).map_err(io)?;
    let mut running = venue(of)?
        .arg(port.to_string())
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(io)?;
    let out = running.stdout.take().ok_or("no standard output")?;
    let mut lines = BufReader::new(out).lines().map_while(Result::ok);
    let listens = lines.find(|line| line == "listening");
    let script =
        format!("set O D 55=VOD|54=1|38=100|40=2|44=12.5; send O {ORDERS}; wait all; stats");
    let run = Command::new(binary()?)
        .arg("client")
        .arg(&file)
        .args(["-c", &script])
        .output()
        .map_err(io);
    // The client ends at the end of its input.
    drop(running.stdin.take());
    let orders = lines.filter(|line| line.starts_with("order ")).count();
    running.wait().map_err(io)?;
    let run = run?;
    let said = [run.stdout, run.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
    let said = said.join("");
    let (accepted, rejected) = outcome;
    let stats = format!(
        "stats all: sent {ORDERS}, accepted {accepted}, rejected {rejected}, filled 0, unanswered 0"
    );
    match run.status.success() && listens.is_some() && orders == ORDERS && said.contains(&stats) {
        true => Ok(()),
        false => Err(format!(
            "{of:?}: {orders} orders arrived; expected {stats}\n{said}"
        )),
    }
}
