//! Sources of commands: a terminal, a pipe, a script, the command line.

use std::collections::VecDeque;
use std::fs;
use std::io::stdin;
use std::path::Path;

use fixwire_client::{Instruction, command_of, prompts};

use super::say;
use crate::failure::Failure;

/// Maximum length of a script, in bytes.
const LONGEST_SCRIPT: u64 = 16 << 20;

/// Commands, one after the other.
pub struct Commands {
    origin: Origin,
    /// Commands of a script or of the command line, with their positions.
    given: VecDeque<Given>,
    /// Number of lines that were read from standard input.
    lines: u64,
}

/// A command and its position, which is empty at a terminal.
pub struct Given {
    pub text: String,
    pub place: String,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Origin {
    Terminal,
    Stdin,
    Given,
}

impl Commands {
    pub fn terminal() -> Self {
        Self::reading(Origin::Terminal)
    }

    pub fn stdin() -> Self {
        Self::reading(Origin::Stdin)
    }

    fn reading(origin: Origin) -> Self {
        Self {
            origin,
            given: VecDeque::new(),
            lines: 0,
        }
    }

    /// The lines of a script. The whole script is read before anything is sent.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has mistakes.
    pub fn of_file(file: &Path) -> Result<Self, Failure> {
        let shown = file.display();
        let fail = |error: &dyn std::fmt::Display| Failure::Text(format!("{shown}: {error}"));
        let length = fs::metadata(file).map_err(|error| fail(&error))?.len();
        if length > LONGEST_SCRIPT {
            let why = format!(
                "the script has {length} bytes, more than the limit of \
                               {LONGEST_SCRIPT}"
            );
            return Err(fail(&why));
        }
        let bytes = fs::read(file).map_err(|error| fail(&error))?;
        let text = fixwire_text::utf8(bytes).map_err(|error| fail(&error))?;
        let lines = text.lines().enumerate();
        Self::of(lines.map(|(index, line)| (line, format!("{shown}:{}", index + 1))))
    }

    /// The commands of one argument. Each command ends at a `;` or at the end of its line.
    ///
    /// # Errors
    ///
    /// A command has an error.
    pub fn of_text(text: &str) -> Result<Self, Failure> {
        let commands = text.split([';', '\n']).enumerate();
        Self::of(commands.map(|(index, text)| (text, format!("-c, command {}", index + 1))))
    }

    fn of<'a>(lines: impl Iterator<Item = (&'a str, String)>) -> Result<Self, Failure> {
        let mut commands = Self::reading(Origin::Given);
        let mut mistakes = Vec::new();
        for (text, place) in lines {
            match Instruction::parse(text) {
                Ok(_) => commands.given.push_back(Given {
                    text: text.to_owned(),
                    place,
                }),
                Err(error) => mistakes.push(format!("{place}: {error}")),
            }
        }
        match mistakes.pop() {
            None => Ok(commands),
            Some(last) => {
                // All mistakes are printed, one per line; the last mistake is the error of the command.
                for mistake in &mistakes {
                    crate::failure::tell("error", mistake);
                }
                Err(Failure::Text(last))
            }
        }
    }

    /// Whether a person types the commands.
    pub fn is_terminal(&self) -> bool {
        self.origin == Origin::Terminal
    }

    /// The next command; `None` after the last command.
    pub fn next(&mut self) -> Option<Given> {
        if self.origin == Origin::Given {
            return self.given.pop_front();
        }
        if self.is_terminal() {
            say("> ");
        }
        let text = self.line()?;
        if self.is_terminal() {
            let text = match prompts(&text) {
                Some(asked) => {
                    let mut answers = Vec::new();
                    for prompt in asked {
                        say(prompt.ask);
                        answers.push((*prompt, self.line()?));
                    }
                    let answers = answers
                        .iter()
                        .map(|(prompt, text)| (*prompt, text.as_str()));
                    command_of(&text, answers)
                }
                None => text,
            };
            let place = String::new();
            return Some(Given { text, place });
        }
        let place = format!("stdin:{}", self.lines);
        Some(Given { text, place })
    }

    /// A line of standard input; `None` at the end, or when standard input cannot be read.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = stdin().read_line(&mut line).ok()?;
        self.lines += 1;
        (read > 0).then_some(line)
    }
}
