//! Plays one script against an acceptor that listens.

use super::compare::differences;
use super::script::{Action, Script, Step, fill, heart_bt_int};
use crate::wire::{Wire, show, value};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

/// The most time until a connection is closed.
const CLOSE_PATIENCE: Duration = Duration::from_secs(20);
/// The most time for an answer that does not wait for a heartbeat.
const ANSWER_PATIENCE: Duration = Duration::from_secs(10);
/// Time for the engine to notice that the last connection is closed.
const BEFORE_CONNECT: Duration = Duration::from_millis(50);

/// The reason why a script did not pass.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The line of the script.
    pub line: usize,
    /// The fault in that line.
    pub reason: String,
    /// The last lines of the messages on the wire.
    pub transcript: Vec<String>,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)?;
        let first = self.transcript.len().saturating_sub(12);
        self.transcript[first..]
            .iter()
            .try_for_each(|line| write!(f, "\n      {line}"))
    }
}

/// Plays all steps; the first that fails ends it.
pub fn play(script: &Script, acceptor: SocketAddr) -> Result<(), Failure> {
    let mut player = Player {
        acceptor,
        wires: BTreeMap::new(),
        transcript: Vec::new(),
    };
    for step in &script.steps {
        player.step(step).map_err(|reason| Failure {
            line: step.line,
            reason,
            transcript: std::mem::take(&mut player.transcript),
        })?;
    }
    Ok(())
}

struct Player {
    acceptor: SocketAddr,
    wires: BTreeMap<u32, Peer>,
    transcript: Vec<String>,
}

struct Peer {
    wire: Wire,
    heart_bt_int: u64,
}

impl Player {
    fn step(&mut self, step: &Step) -> Result<(), String> {
        let id = step.connection;
        match &step.action {
            Action::Sleep(time) => std::thread::sleep(*time),
            Action::Connect => {
                self.wires.remove(&id);
                std::thread::sleep(BEFORE_CONNECT);
                let wire =
                    Wire::connect(self.acceptor).map_err(|error| format!("connect: {error}"))?;
                self.wires.insert(
                    id,
                    Peer {
                        wire,
                        heart_bt_int: 0,
                    },
                );
                self.transcript.push(format!("{id} connected"));
            }
            Action::Disconnect => {
                self.wires.remove(&id);
                self.transcript.push(format!("{id} closed by us"));
            }
            Action::ExpectDisconnect => {
                peer(&mut self.wires, id)?
                    .wire
                    .expect_close(CLOSE_PATIENCE)?;
                self.transcript.push(format!("{id} closed by the engine"));
            }
            Action::Send(raw) => self.send(id, &fill(raw))?,
            Action::Expect(raw) => self.expect(id, &fill(raw))?,
            Action::ExpectConnect | Action::SetCounter(_) => {
                return Err("this player speaks only FIX, and only to an acceptor".into());
            }
        }
        Ok(())
    }

    fn send(&mut self, id: u32, raw: &[u8]) -> Result<(), String> {
        let peer = peer(&mut self.wires, id)?;
        if let Some(seconds) = heart_bt_int(raw) {
            peer.heart_bt_int = seconds;
        }
        self.transcript.push(format!("{id} > {}", show(raw)));
        // A script may well send to an engine that has just closed; the next expected step shows
        // whether that was right.
        if let Err(error) = peer.wire.send(raw) {
            self.transcript.push(format!("{id}   not sent: {error}"));
        }
        Ok(())
    }

    fn expect(&mut self, id: u32, expected: &[u8]) -> Result<(), String> {
        let peer = peer(&mut self.wires, id)?;
        let mut patience = ANSWER_PATIENCE;
        if matches!(value(expected, "35"), Some(b"0" | b"1" | b"5")) {
            patience = patience.max(Duration::from_secs(peer.heart_bt_int.min(60) * 2 + 5));
        }
        let wanted = || show(expected);
        let received = peer
            .wire
            .receive(patience)
            .map_err(|missing| format!("{missing}\n      expected {}", wanted()))?;
        self.transcript.push(format!("{id} < {}", show(&received)));
        let found = differences(expected, &received);
        if found.is_empty() {
            return Ok(());
        }
        Err(format!("{}\n      expected {}", found.join("; "), wanted()))
    }
}

fn peer(wires: &mut BTreeMap<u32, Peer>, id: u32) -> Result<&mut Peer, String> {
    wires
        .get_mut(&id)
        .ok_or_else(|| format!("connection {id} is not open"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::def::script::parse;
    use crate::wire::message;
    use std::net::TcpListener;

    /// An engine with one answer: it sends this text for each message, then closes.
    fn one_answer(text: &str) -> std::io::Result<SocketAddr> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let (address, answer) = (listener.local_addr()?, message(text));
        std::thread::spawn(move || {
            let (stream, _) = listener.accept()?;
            let mut wire = Wire::over(stream)?;
            if wire.receive(Duration::from_secs(5)).is_ok() {
                wire.send(&answer)?;
            }
            std::io::Result::Ok(())
        });
        Ok(address)
    }

    fn outcome(text: &str) -> Result<(), Failure> {
        let steps =
            b"iCONNECT\nI8=FIX.4.2\x0135=0\x01\nE8=FIX.4.2\x0135=0\x0134=1\x01\neDISCONNECT\n";
        let script = Script {
            name: String::new(),
            steps: parse(steps).unwrap_or_default(),
        };
        assert_eq!(script.steps.len(), 4);
        play(
            &script,
            one_answer(text).unwrap_or_else(|error| panic!("{error}")),
        )
    }

    #[test]
    fn the_right_answer_passes() {
        assert!(outcome("8=FIX.4.2|35=0|34=1|").is_ok());
    }

    #[test]
    fn a_wrong_field_fails_at_its_line() {
        let failure = outcome("8=FIX.4.2|35=0|34=2|").err();
        assert_eq!(failure.as_ref().map(|failure| failure.line), Some(3));
        assert!(failure.is_some_and(|failure| failure.reason.starts_with("34=2: expected 1")));
    }

    #[test]
    fn one_message_too_many_fails_the_disconnect() {
        let both = "8=FIX.4.2|35=0|34=1|";
        let doubled = [message(both), message(both)].concat();
        let text = show(&doubled);
        assert_eq!(outcome(&text).err().map(|failure| failure.line), Some(4));
    }
}
