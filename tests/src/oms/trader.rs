//! `fixwire client` as a trader who does not wait for answers.

use super::floor::{ACCOUNTS, LARGEST, SYMBOLS};
use crate::peers::Running;
use crate::random::Random;
use crate::trade::Event;
use serde_json::Value;
use std::collections::HashSet;
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Receiver, TryRecvError};

/// The file of its standard error stream.
pub const ERRORS: &str = "stderr";

/// A running client, and its output since its start.
pub struct Trader {
    running: Running,
    events: Receiver<Event>,
    /// The client is logged on.
    pub is_on: bool,
    has_mass: bool,
    /// Further fields of the next order or replace, with `|` after each.
    pub fields: String,
    /// ClOrdIDs of orders that were open at last.
    open: Vec<String>,
    /// ClOrdIDs that reports and rejects had since its start.
    answered: HashSet<String>,
    /// ClOrdID of the order that ended last since its start.
    ended: Option<String>,
}

impl Trader {
    /// Starts `fixwire client` with these settings; its standard error stream goes to a file next to them.
    ///
    /// # Errors
    ///
    /// The client does not start.
    pub fn start(binary: &Path, settings: &Path, has_mass: bool) -> Result<Self, String> {
        let words = settings.with_file_name(ERRORS);
        let words = File::options().create(true).append(true).open(words);
        let mut command = Command::new(binary);
        command
            .args(["client", "--json", "--timeout", "600"])
            .arg(settings)
            .stderr(words.map_err(|error| error.to_string())?);
        let (running, events) = Running::start(&mut command)?;
        Ok(Self {
            running,
            events,
            is_on: false,
            has_mass,
            fields: String::new(),
            open: Vec::new(),
            answered: HashSet::new(),
            ended: None,
        })
    }

    /// Takes its output since the last call.
    ///
    /// # Errors
    ///
    /// The client has ended.
    pub fn listen(&mut self) -> Result<(), String> {
        loop {
            let event = match self.events.try_recv() {
                Ok(event) => event,
                Err(TryRecvError::Empty) => return Ok(()),
                Err(TryRecvError::Disconnected) => return Err("the client has ended".into()),
            };
            let json: Value =
                serde_json::from_str(&event.text).map_err(|error| error.to_string())?;
            let text = |name: &str| json[name].as_str().unwrap_or_default();
            if let Some(id) = json["cl_ord_id"].as_str() {
                self.answered.insert(id.to_owned());
            }
            match &*event.name {
                "session" => self.is_on = text("text") == "logged on",
                "report" => {
                    let (id, original) = (text("cl_ord_id"), text("orig_cl_ord_id"));
                    self.open.retain(|open| open != id && open != original);
                    match text("leaves") {
                        "0" => self.ended = Some(id.to_owned()),
                        _ => self.open.push(id.to_owned()),
                    }
                }
                _ => {}
            }
        }
    }

    /// Gives it a particular command.
    ///
    /// # Errors
    ///
    /// The client has ended.
    pub fn tell(&mut self, line: &str) -> Result<(), String> {
        self.running.tell(line)
    }

    /// ClOrdID of the newest open order.
    #[must_use]
    pub fn newest(&self) -> Option<&str> {
        self.open.last().map(String::as_str)
    }

    /// The number of requests that were answered since its start.
    #[must_use]
    pub fn answered(&self) -> usize {
        self.answered.len()
    }

    /// Gives it a random command: a new order, a replace, a cancel or a mass cancel. Returns the command.
    ///
    /// # Errors
    ///
    /// The client has ended.
    pub fn command(&mut self, random: &mut Random) -> Result<String, String> {
        let mut draw = |limit: usize| random.below(limit as u64) as usize;
        let price = format!("12.{}", 45 + draw(11));
        let quantity = match draw(40) {
            // Refused by the limits.
            0 => LARGEST as usize + 1,
            _ => 1 + draw(100),
        };
        // The newest orders are most often on their way.
        let recent = draw(self.open.len().min(20) + 1) + 1;
        let order = self.open.len().checked_sub(recent).map(|at| &self.open[at]);
        if self.has_mass && draw(60) == 0 {
            let which = ["530=1|55=VOD", "530=1|55=BT", "530=7"][draw(3)];
            let side = ["", "|54=1", "|54=2"][draw(3)];
            // The group gives it a ClOrdID.
            let set = format!("set MASS q 11=M|60=20261122-08:00:00|{which}{side}");
            self.running.tell(&set)?;
            self.running.tell("send MASS 1 m")?;
            return Ok(set);
        }
        // Sometimes the order has ended: the request is sent, and rejected.
        let late = self.ended.as_ref().filter(|_| draw(50) == 0);
        let order = late.or(order);
        let line = match (draw(10), order) {
            (0..=1, Some(order)) => format!("cancel {order}"),
            (2, Some(order)) => format!("replace {order} qty {quantity} price {price}"),
            (3, Some(order)) => match draw(2) {
                0 => format!("replace {order} price {price}"),
                _ => format!("replace {order} qty {quantity}"),
            },
            _ => {
                let side = ["buy", "sell"][draw(2)];
                let tif = ["day", "day", "day", "gtc", "ioc", "fok"][draw(6)];
                let (symbol, account) = (SYMBOLS[draw(2)], ACCOUNTS[draw(ACCOUNTS.len())]);
                let price = if draw(20) == 0 { "market" } else { &*price };
                format!("new {side} {quantity} {symbol} @ {price} tif {tif} account {account}")
            }
        };
        let fields = match line.starts_with("cancel") {
            true => String::new(),
            false => self.fields.replace('|', " "),
        };
        self.running.tell(format!("{line} {fields}").trim_end())?;
        Ok(line)
    }
}
