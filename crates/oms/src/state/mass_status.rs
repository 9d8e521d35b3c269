//! Requests for all orders of a line that venues are answering, and which part of an answer a report is.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;
use fixwire_protocol::tag;

use fixwire_protocol::{Message, value};

use crate::values::ids::SessionNo;
use crate::values::value::Number;

/// A request that a venue is answering.
#[derive(Debug)]
pub(crate) struct MassQuestion {
    pub line: SessionNo,
    /// MassStatusReqID(584): when it was sent.
    pub id: i64,
    /// When the venue has been silent for too long.
    pub due: i64,
    /// Reports received.
    pub count: u64,
    /// TotNumReports(911).
    pub total: Option<u64>,
    /// Orders that were open on the line, or have a request that is unknown.
    pub expected: Vec<Number>,
    pub listed: BTreeSet<Number>,
}

/// The requests of all lines; derived from the state.
#[derive(Debug, Default)]
pub(crate) struct MassQuestions {
    /// Lines whose venue is to be asked.
    pub waiting: VecDeque<SessionNo>,
    pub asked: Vec<MassQuestion>,
}

/// The part of a mass status answer that a report gives.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MassReport {
    /// MassStatusReqID(584) as a number; 0 when it is not one of ours.
    pub id: Option<i64>,
    pub total: Option<u64>,
    pub is_last: bool,
}

impl MassReport {
    pub(crate) fn of(message: &Message<'_>) -> Self {
        let number = |tag| message.get(tag).map(|it| value::uint(it).unwrap_or(0));
        Self {
            id: number(tag::MASS_STATUS_REQ_ID).map(|it| i64::try_from(it).unwrap_or(0)),
            total: number(tag::TOT_NUM_REPORTS),
            is_last: message.get(tag::LAST_RPT_REQUESTED) == Some(b"Y"),
        }
    }
}

impl MassQuestions {
    /// A line will be up, and the OMS requests the status of all its orders.
    pub(crate) fn add(&mut self, line: SessionNo) {
        self.forget(line);
        self.waiting.push_back(line);
    }

    /// A line is down.
    pub(crate) fn forget(&mut self, line: SessionNo) {
        self.waiting.retain(|waits| *waits != line);
        self.asked.retain(|asked| asked.line != line);
    }

    /// Whether the OMS requests the status of all orders of a line.
    pub(crate) fn waits(&self, line: SessionNo) -> bool {
        self.waiting.contains(&line)
    }
}
