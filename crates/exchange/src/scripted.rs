//! Orders that follow a script, and the progress of each.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::Timestamp;

use crate::script::{Asking, ScriptStep};

/// A request for a scripted order that is not answered yet.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) asking: Asking,
    /// Whether the request was reported as pending.
    pub(crate) is_pending: bool,
    /// The fields of the request that the exchange uses.
    pub(crate) fields: Box<[u8]>,
}

/// How far the script of an order has come.
#[derive(Clone, Debug)]
pub(crate) struct Scripted {
    /// The script as text from a note: the name and the steps, one line each.
    pub(crate) script: String,
    pub(crate) steps: Vec<ScriptStep>,
    /// Index of the next step.
    pub(crate) at: usize,
    /// Time at which the wait of the next step ends; `None` before that wait has begun.
    pub(crate) until: Option<Timestamp>,
    /// Whether the order was reported as new or filled.
    pub(crate) is_new: bool,
    /// Unanswered requests, the oldest first.
    pub(crate) asked: VecDeque<Asked>,
}

impl Scripted {
    /// The progress of a script that begins now; `None` if the script cannot be read.
    pub(crate) fn begin(script: &str) -> Option<Self> {
        Some(Self {
            script: script.to_string(),
            steps: ScriptStep::of_note(script)?,
            at: 0,
            until: None,
            is_new: false,
            asked: VecDeque::new(),
        })
    }

    /// The next step; `None` after the last step.
    pub(crate) fn step(&self) -> Option<&ScriptStep> {
        self.steps.get(self.at)
    }

    /// Whether some fill of the script gives no price, and so uses the price of the order.
    pub(crate) fn needs_price(&self) -> bool {
        let mut steps = self.steps.iter();
        steps.any(|step| matches!(step, ScriptStep::Fill(_, None)))
    }

    /// Index of the oldest request of this kind.
    pub(crate) fn oldest(&self, asking: Asking) -> Option<usize> {
        self.asked.iter().position(|asked| asked.asking == asking)
    }

    /// Index of the oldest request that no later step will answer, and that no step has reported as pending.
    pub(crate) fn unscripted(&self) -> Option<usize> {
        let left = self.steps.get(self.at..).unwrap_or_default();
        self.asked.iter().position(|asked| {
            let mut left = left.iter();
            !asked.is_pending && !left.any(|step| step.is_about(asked.asking))
        })
    }

    /// OrdStatus(39) of the open order, if the quantities do not determine it.
    pub(crate) fn pending(&self) -> Option<u8> {
        let is_pending = |asking| {
            let mut asked = self.asked.iter();
            asked.any(|it| it.is_pending && it.asking == asking)
        };
        if is_pending(Asking::Cancel) {
            Some(b'6')
        } else if is_pending(Asking::Replace) {
            Some(b'E')
        } else if self.is_new {
            None
        } else {
            Some(b'A')
        }
    }

    /// Name and progress of the script, for queries.
    pub(crate) fn shown(&self) -> String {
        let mut lines = self.script.lines();
        let name = lines.next().unwrap_or_default();
        let count = self.steps.len();
        match lines.nth(self.at) {
            Some(words) => alloc::format!("{name}, step {} of {count}: {words}", self.at + 1),
            None => alloc::format!("{name}, all {count} steps done"),
        }
    }
}

/// All orders that follow a script, by OrderID.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScriptedOrders {
    pub(crate) all: BTreeMap<u64, Scripted>,
    /// Orders whose script waits, sorted by the time at which the wait ends.
    pub(crate) due: BTreeSet<(Timestamp, u64)>,
}

impl ScriptedOrders {
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &Scripted)> {
        self.all.iter().map(|(id, scripted)| (*id, scripted))
    }

    pub(crate) fn get(&self, id: u64) -> Option<&Scripted> {
        self.all.get(&id)
    }

    /// The script progress of an order, whether the script waits or not.
    pub(crate) fn get_mut(&mut self, id: u64) -> Option<&mut Scripted> {
        self.all.get_mut(&id)
    }

    pub(crate) fn insert(&mut self, id: u64, scripted: Scripted) {
        self.due.extend(scripted.until.map(|until| (until, id)));
        self.all.insert(id, scripted);
    }

    pub(crate) fn remove(&mut self, id: u64) {
        self.set_wait(id, None);
        self.all.remove(&id);
    }

    /// Sets or clears the wait of an order.
    pub(crate) fn set_wait(&mut self, id: u64, until: Option<Timestamp>) {
        let Some(scripted) = self.all.get_mut(&id) else {
            return;
        };
        if let Some(before) = core::mem::replace(&mut scripted.until, until) {
            self.due.remove(&(before, id));
        }
        self.due.extend(until.map(|until| (until, id)));
    }

    /// The order whose wait ends first.
    pub(crate) fn next(&self) -> Option<(Timestamp, u64)> {
        self.due.first().copied()
    }
}
