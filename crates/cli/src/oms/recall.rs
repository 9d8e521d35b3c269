//! Commands for orders that are no longer in the memory of the OMS. The order is read from the journal, the OMS takes
//! it into memory again, and then the command is repeated.

use std::collections::BTreeMap;

use fixwire_oms::LeftMemory;
use fixwire_oms::history::OrderRecall;

use super::answers::{MOST_BYTES, answer, question, tell_command};
use super::history::read_notes;
use crate::failure::Failure;
use crate::session::EngineFlags;

/// Maximum number of times that one order is brought back. Between two commands, the order may leave memory again.
const ATTEMPTS: usize = 3;

/// Orders that were brought back for a command.
#[derive(Debug, Default)]
pub(super) struct Recalled {
    attempts: BTreeMap<LeftMemory, usize>,
    /// Why orders cannot be brought back.
    refused: BTreeMap<LeftMemory, String>,
}

impl Recalled {
    /// Brings orders back into memory. `answers` are answers of the OMS that name orders not in memory. Returns true
    /// if at least one order is in memory again, so the command may succeed now.
    ///
    /// # Errors
    ///
    /// The journal cannot be read.
    pub(super) fn bring<'a>(
        &mut self,
        at: &EngineFlags,
        why: &str,
        answers: impl IntoIterator<Item = &'a str>,
    ) -> Result<bool, Failure> {
        let mut wanted: Vec<LeftMemory> = answers
            .into_iter()
            .filter_map(LeftMemory::of_answer)
            .collect();
        wanted.sort();
        wanted.dedup();
        wanted.retain(|it| {
            let attempts = self.attempts.entry(it.clone()).or_default();
            *attempts += 1;
            *attempts <= ATTEMPTS
        });
        if wanted.is_empty() {
            return Ok(false);
        }
        let found = read_notes(
            at,
            |state| OrderRecall::new(state, &wanted),
            OrderRecall::take,
        );
        let found = found.map_err(|failure| match failure {
            Failure::Text(why) => Failure::Text(format!(
                "{} is not in memory, and the journal cannot be read: {why}",
                wanted[0]
            )),
            other => other,
        })?;
        let mut is_any = false;
        for wanted in &wanted {
            let refused = match found.command(wanted) {
                // The OMS has never had this order, or the journal begins after the order has left memory.
                Ok(None) => "the journal does not have it either (JournalKeep)".to_owned(),
                Err(text) => text,
                Ok(Some(command)) if command.len() > MOST_BYTES => format!(
                    "{wanted} has too many fills: in a command it has {} bytes, and a command has at most \
                     {MOST_BYTES}; change the position with fixwire oms position adjust",
                    command.len()
                ),
                Ok(Some(command)) => match answer(at, tell_command(command.to_owned(), why)) {
                    Ok(_) => {
                        is_any = true;
                        continue;
                    }
                    // The order's parent is not in memory either.
                    Err(Failure::Text(text)) if LeftMemory::of_answer(&text).is_some() => {
                        if self.bring(at, why, [text.as_str()])? {
                            is_any = true;
                            continue;
                        }
                        self.not_found(text)
                    }
                    Err(Failure::Text(text)) => text,
                    Err(failure) => return Err(failure),
                },
            };
            self.attempts.insert(wanted.clone(), ATTEMPTS);
            self.refused.insert(wanted.clone(), refused);
        }
        Ok(is_any)
    }

    /// The answer for an order that cannot be brought back, with the reason.
    fn not_found(&self, text: String) -> String {
        let Some(wanted) = LeftMemory::of_answer(&text) else {
            return text;
        };
        match self.refused.get(&wanted) {
            Some(why) => format!("{text}; {why}"),
            None => format!(
                "{text}; {wanted} came back from the journal {ATTEMPTS} times and left memory again: give the command \
                 again, or raise remembered"
            ),
        }
    }
}

/// Gives a command. If the answer names an order that is not in memory, brings that order back and gives the command
/// again.
pub(super) fn with_recall<T>(
    at: &EngineFlags,
    why: &str,
    mut give: impl FnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut recalled = Recalled::default();
    loop {
        match give() {
            Err(Failure::Text(text)) => {
                if !recalled.bring(at, why, [text.as_str()])? {
                    return Err(Failure::Text(recalled.not_found(text)));
                }
            }
            done => return done,
        }
    }
}

/// The mistakes that the OMS found in rows. Orders that have left memory are brought back first, and the rows are
/// checked again.
pub(super) fn checked(at: &EngineFlags, why: &str, check: &str) -> Result<String, Failure> {
    let mut recalled = Recalled::default();
    loop {
        let found = answer(at, question(check))?;
        if !recalled.bring(at, why, found.lines())? {
            return Ok(found
                .lines()
                .map(|line| recalled.not_found(line.to_owned()) + "\n")
                .collect());
        }
    }
}
