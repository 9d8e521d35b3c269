//! Starts each command.

use alloc::collections::VecDeque;
use alloc::string::ToString;

use fixwire_protocol::{Now, tag};

use super::{OrderClient, Task};
use crate::event::ClientEvent;
use crate::failure::CommandFailure;
use crate::fields::MessageFields;
use crate::instruction::{Instruction, SendPlan, Until, Which};
use crate::sending::Sending;

impl OrderClient {
    /// Starts a command; [`OrderClient::step`] continues it.
    pub(super) fn command(&mut self, now: Now, command: &[u8]) -> Result<(), CommandFailure> {
        if self.task.is_some() {
            return Err(CommandFailure::Busy);
        }
        self.begin_run();
        let wrong = |why: &dyn ToString| CommandFailure::NotACommand(why.to_string());
        let text = core::str::from_utf8(command).map_err(|error| wrong(&error))?;
        let instruction = Instruction::parse(text).map_err(|error| wrong(&error))?;
        let task = match instruction {
            Some(instruction) => self.begin(now, instruction)?,
            None => Task::Done,
        };
        self.task = Some(task);
        Ok(())
    }

    fn begin(&mut self, now: Now, instruction: Instruction) -> Result<Task, CommandFailure> {
        let until = now.mono + self.timeout;
        Ok(match instruction {
            Instruction::New(message) => self.sending(now, Sending::once(message, None)),
            Instruction::Cancel { which, fields } | Instruction::Status { which, fields } => {
                let orders = self.which(&which)?;
                self.sending(now, Sending::once(fields, Some(orders)))
            }
            Instruction::Replace { which, fields } => {
                let orders = self.which(&which)?;
                self.sending(now, Sending::once(fields, Some(orders)))
            }
            Instruction::Send(plan) => self.planned(now, *plan)?,
            Instruction::Set { name, message } => {
                self.templates.insert(name, message);
                Task::Done
            }
            Instruction::Wait(Until::Reports(count)) => Task::Reports { count, until },
            Instruction::Wait(Until::All) => Task::All { until },
            Instruction::Wait(Until::Time(time)) => Task::Pause {
                until: now.mono + time,
            },
            Instruction::Stamps(on) => {
                self.stamps = on;
                Task::Done
            }
            Instruction::Orders { all } => {
                (self.listener)(ClientEvent::Orders(self.book.lines(all)));
                Task::Done
            }
            Instruction::Stats(group) => {
                if let Some(group) = &group {
                    self.known_group(group)?;
                }
                let stats = self.book.stats(group.as_deref());
                (self.listener)(ClientEvent::Stats(stats));
                Task::Done
            }
            Instruction::Help | Instruction::Quit => {
                let why = "help and quit are handled by the program that reads the commands";
                return Err(CommandFailure::NotACommand(why.to_string()));
            }
        })
    }

    fn known_group(&self, group: &str) -> Result<(), CommandFailure> {
        match self.book.next_of(group) {
            Some(_) => Ok(()),
            None => Err(CommandFailure::UnknownGroup(group.to_string())),
        }
    }

    fn sending(&self, now: Now, mut sending: Sending) -> Task {
        sending.logon_until = now.mono + self.timeout;
        Task::Send(sending)
    }

    fn planned(&self, now: Now, plan: SendPlan) -> Result<Task, CommandFailure> {
        let template = self.templates.get(&plan.name);
        let template =
            template.ok_or_else(|| CommandFailure::UnknownTemplate(plan.name.clone()))?;
        let msg_type = &template.msg_type;
        if plan.group.is_some() && !has_id(template) {
            return Err(CommandFailure::GroupWithoutId(msg_type.clone()));
        }
        if let Some(of) = &plan.of {
            if !matches!(msg_type.as_str(), "F" | "G" | "H") {
                return Err(CommandFailure::OfWithoutOrder(msg_type.clone()));
            }
            self.known_group(of)?;
        }
        let name = plan.name.clone();
        let sending = Sending::planned(template.clone(), plan);
        if sending.increments && !sending.can_raise() {
            return Err(CommandFailure::NothingToRaise(name));
        }
        Ok(self.sending(now, sending))
    }

    /// The orders that a command selects.
    fn which(&self, which: &Which) -> Result<VecDeque<u64>, CommandFailure> {
        let order = match which {
            Which::All => return Ok(self.book.open().collect()),
            Which::Last => self.book.last().ok_or(CommandFailure::NoOrder)?,
            Which::Id(id) => {
                let missing = || match self.book.last_status(id) {
                    Some(ord_status) => CommandFailure::FinishedOrder {
                        id: id.clone(),
                        ord_status: ord_status.to_string(),
                    },
                    None => CommandFailure::UnknownOrder(id.clone()),
                };
                self.book.find(id).ok_or_else(missing)?
            }
        };
        Ok(VecDeque::from([order]))
    }
}

/// Whether each message of a template gets a ClOrdID(11) of its own.
pub(super) fn has_id(message: &MessageFields) -> bool {
    match message.msg_type.as_str() {
        "D" | "F" | "G" => true,
        "H" => false,
        _ => message.get(tag::CL_ORD_ID).is_some(),
    }
}
