//! A FIX order client: a command language, and the `Application` that executes it.
//!
//! ```text
//! text > Instruction::parse > OrderClient::on_command > orders, cancels, batches     in the outbox, each with a note
//!        ExecutionReport, OrderCancelReject, rejects  > ClientBook > ClientEvent     to the caller
//! ```
//!
//! The crate reads no clock, socket or file. The caller, such as `fixwire client`, reads the commands and prints
//! the events.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod book;
mod client;
mod event;
mod failure;
mod fields;
mod help;
mod instruction;
mod note;
mod order_layout;
mod report;
mod sending;
mod sequence;
#[cfg(test)]
mod tests;
mod words;

pub use client::{ClientSetup, OrderClient};
pub use event::{ClientEvent, EventListener, OrderLine, SendStats};
pub use failure::CommandFailure;
pub use fields::MessageFields;
pub use help::{HELP, Prompt, command_of, prompts};
pub use instruction::{Instruction, InstructionError, SendPlan, Until, Which};
pub use note::note_text;
pub use order_layout::{OrderLayout, OrderSubject};
pub use report::{AnswerKind, ReportLine};
