//! Passes commands to the engine, one after the other.

use std::sync::mpsc::{Receiver, Sender};
use std::thread;
use std::time::Duration;

use fixwire::{Handle, OperationError, Operator, SendError};
use fixwire_client::{CommandFailure, HELP, Instruction};

use super::commands::Commands;
use super::say;
use crate::failure::tell;

/// The operator's name in the journal.
const WHO: &str = "fixwire client";

/// The thread that reads commands.
pub struct Reader {
    engine: Handle,
    /// The outcome of each command.
    results: Receiver<Result<(), CommandFailure>>,
}

/// The next step after a command.
enum Next {
    Command,
    Quit,
}

/// Why a command failed.
enum Fault {
    /// A command failed, with this sentence.
    Command(String),
    /// The engine has ended.
    Ended,
}

impl Reader {
    pub fn new(engine: Handle, results: Receiver<Result<(), CommandFailure>>) -> Self {
        Self { engine, results }
    }

    /// Executes all commands, then ends the engine. Sends to `done` whether all commands succeeded.
    pub fn run(mut self, mut commands: Commands, done: &Sender<bool>) {
        let mut succeeded = true;
        while let Some(given) = commands.next() {
            match self.carry_out(given.text.trim()) {
                Ok(Next::Command) => {}
                Ok(Next::Quit) => break,
                Err(Fault::Ended) => return,
                Err(Fault::Command(why)) if commands.is_terminal() => tell("error", &why),
                Err(Fault::Command(why)) => {
                    tell("error", &format!("{}: {why}", given.place));
                    succeeded = false;
                    break;
                }
            }
        }
        // This fails only when the caller has ended.
        let _ = done.send(succeeded);
        while self.engine.stop() == Err(SendError::Full) {
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn carry_out(&mut self, text: &str) -> Result<Next, Fault> {
        let instruction = Instruction::parse(text);
        match instruction.map_err(|error| Fault::Command(error.to_string()))? {
            None => return Ok(Next::Command),
            Some(Instruction::Quit) => return Ok(Next::Quit),
            Some(Instruction::Help) => {
                say(HELP);
                say("\n");
                return Ok(Next::Command);
            }
            Some(_) => {}
        }
        let answer = loop {
            match self.engine.command(text.as_bytes(), Operator::new(WHO, "")) {
                Ok(answer) => break answer,
                Err(SendError::Full) => thread::sleep(Duration::from_millis(1)),
                Err(SendError::Stopped) => return Err(Fault::Ended),
                Err(error) => return Err(Fault::Command(error.to_string())),
            }
        };
        let taken = answer.recv().map_err(|_| Fault::Ended)?;
        taken.map_err(|why| match why {
            OperationError::Stopping => Fault::Ended,
            why => Fault::Command(why.to_string()),
        })?;
        let result = self.results.recv().map_err(|_| Fault::Ended)?;
        result.map_err(|why| Fault::Command(why.to_string()))?;
        Ok(Next::Command)
    }
}
