//! Plays the scenarios of tests/scenarios: conversations of a client, the OMS and a venue.
//!
//! ```text
//! # B.1.a: a cancel request of an order without fills.
//! client D 11=X|38=10000
//!   venue D 11=1|38=10000
//! venue 8 11=1|150=0
//!   client 8 11=X|150=0|39=0|38=10000|14=0|151=10000
//! ```
//!
//! A line that is not indented is an input of the OMS; the indented lines below it are all its outputs, in order, each
//! with at least these fields.
//!
//! | happens | meaning |
//! | --- | --- |
//! | `client D 11=..\|..`, `venue 8 11=..\|..` | a message; missing fields of 17, 31, 37, 38, 40, 44, 54, 55 are filled in |
//! | `wait 6s` | time passes |
//! | `line down`, `line up` | the line to the venue |
//! | `next day` | the OMS is restarted on the next day |
//! | `operator kill firm` | a command |

use std::path::Path;

use crate::desk::{Desk, Input, Said};
use crate::proof::Proof;
use crate::twin::floors::{self, CLIENTS, LINES};

struct Player {
    desk: Desk,
    execs: u32,
    /// Outputs of the OMS not yet matched by a line.
    said: Vec<Said>,
}

/// A message as the scenario has it, and what it does not say.
fn message(text: &str, exec: u32) -> Option<(&'static str, String)> {
    let (msg_type, fields) = text.split_once(' ')?;
    let msg_types = ["D", "F", "G", "H", "8", "9"];
    let msg_type = msg_types.into_iter().find(|it| *it == msg_type)?;
    let exec = format!("17=E{exec}");
    let others: &[&str] = match msg_type {
        "D" | "G" => &["55=XYZ", "54=1", "40=2", "44=100", "38=10000"],
        "8" => &[&exec, "37=V1", "55=XYZ", "54=1", "31=100"],
        "9" => &["37=V1"],
        _ => &["55=XYZ", "54=1"],
    };
    let mut body = format!("{fields}|");
    for field in others {
        let (tag, _) = field.split_once('=')?;
        if !fields
            .split('|')
            .any(|it| it.starts_with(&format!("{tag}=")))
        {
            body.push_str(&format!("{field}|"));
        }
    }
    Some((msg_type, body))
}

impl Player {
    fn new() -> Self {
        let (setup, _) = floors::floor(1);
        let mut desk = Desk::new(&setup);
        desk.hear(&Input::Up(LINES[0], false));
        Self {
            desk,
            execs: 0,
            said: Vec::new(),
        }
    }

    fn happens(&mut self, line: &str) -> Result<(), String> {
        if !self.said.is_empty() {
            return Err(format!("more was written: {:?}", self.said));
        }
        self.execs += 1;
        let (who, what) = line.split_once(' ').ok_or("what happens?")?;
        let input = match (who, what) {
            ("client" | "venue", text) => {
                let (msg_type, body) = message(text, self.execs).ok_or("which message?")?;
                let from = if who == "client" {
                    CLIENTS[0]
                } else {
                    LINES[0]
                };
                Input::Says(from, msg_type, body)
            }
            ("line", "down") => Input::Down(LINES[0], false),
            ("line", "up") => Input::Up(LINES[0], false),
            ("next", "day") => Input::Restart(1, false),
            ("operator", command) => Input::Command(command.to_owned()),
            ("wait", time) => {
                let seconds = time.strip_suffix('s').and_then(|it| it.parse::<i64>().ok());
                Input::Pass(seconds.ok_or("wait 6s")? * 1_000_000_000)
            }
            _ => return Err("what happens?".into()),
        };
        self.said = self.desk.hear(&input);
        Ok(())
    }

    fn writes(&mut self, line: &str) -> Result<(), String> {
        if self.said.is_empty() {
            return Err("nothing was written".into());
        }
        let said = self.said.remove(0);
        let (who, what) = line.split_once(' ').ok_or("who?")?;
        let (msg_type, fields) = what.split_once(' ').ok_or("which message?")?;
        let to = if who == "client" {
            CLIENTS[0]
        } else {
            LINES[0]
        };
        let has = |field: &str| {
            let (tag, value) = field.split_once('=').unwrap_or_default();
            tag.parse().is_ok_and(|tag| said.get(tag) == Some(value))
        };
        let is_it = (said.to, said.msg_type.as_str()) == (to, msg_type);
        match fields.split('|').find(|field| !has(field)) {
            None if is_it => Ok(()),
            wrong => Err(format!("{}: {said:?}", wrong.unwrap_or("another message"))),
        }
    }
}

/// How many messages it has; the line that goes wrong.
fn play(text: &str) -> Result<usize, String> {
    play_with(&mut Player::new(), text)
}

fn play_with(player: &mut Player, text: &str) -> Result<usize, String> {
    let mut messages = 0;
    for (at, line) in (1..).zip(text.lines()) {
        let what = line.trim_start();
        let done = match what.chars().next() {
            None | Some('#') => continue,
            Some(_) if what.len() == line.len() => player.happens(what),
            Some(_) => player.writes(what),
        };
        messages += 1;
        done.map_err(|why| format!("line {at}: {line}: {why}"))?;
    }
    match player.said.as_slice() {
        [] => Ok(messages),
        more => Err(format!("at the end more was written: {more:?}")),
    }
}

#[test]
fn scenarios_go_as_they_are_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios");
    let (mut played, mut proof) = (0, Proof::new("scenario"));
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "txt") {
            let text = std::fs::read_to_string(&path).unwrap();
            let name = path.file_stem().unwrap().to_string_lossy();
            let mut player = Player::new();
            player.desk.record(proof.recorder(&name));
            let messages = play_with(&mut player, &text);
            let messages = messages.unwrap_or_else(|why| panic!("{name}: {why}"));
            player
                .desk
                .recorded()
                .into_iter()
                .for_each(|it| proof.add(it));
            assert!(messages > 1, "{name} is empty");
            played += 1;
        }
    }
    assert!(played > 20, "{played} scenarios");
    proof.check(true);
}

#[test]
fn what_is_not_written_as_it_should_be_is_noticed() {
    let order = "client D 11=X|38=100\n";
    assert!(play(&format!("{order}  venue D 11=1|38=100\n")).is_ok());
    for wrong in [
        "",
        "  venue D 11=1|38=200\n",
        "  venue G 11=1\n",
        "  client D 11=1\n",
        "  venue D 11=1\n  venue D 11=1\n",
        "  venue D 11=1\nclient F 11=Y|41=X\n",
    ] {
        assert!(play(&format!("{order}{wrong}")).is_err(), "{wrong}");
    }
}
