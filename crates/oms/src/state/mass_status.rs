//! OrderMassStatusRequests(AF) for all orders of a line, while the venue answers them, and what a report says about its
//! place in the answer.

use alloc::collections::{BTreeSet, VecDeque};
use alloc::vec::Vec;
use fixwire_protocol::tag;

use fixwire_protocol::{Message, value};

use crate::values::ids::SessionNo;
use crate::values::value::Number;

/// An OrderMassStatusRequest(AF) that a venue is answering.
#[derive(Debug)]
pub(crate) struct MassQuestion {
    pub line: SessionNo,
    /// MassStatusReqID(584): the time at which the request was sent.
    pub id: i64,
    /// Time until which the venue may be silent.
    pub due: i64,
    /// Number of reports received.
    pub count: u64,
    /// TotNumReports(911).
    pub total: Option<u64>,
    /// Orders that were open on the line, or that have a request whose state is unknown.
    pub expected: Vec<Number>,
    pub listed: BTreeSet<Number>,
}

/// The OrderMassStatusRequests(AF) of all lines; derived from the state.
#[derive(Debug, Default)]
pub(crate) struct MassQuestions {
    /// Lines on which the request is to be sent.
    pub waiting: VecDeque<SessionNo>,
    pub asked: Vec<MassQuestion>,
}

/// What a report says about the answer to an OrderMassStatusRequest(AF) that it belongs to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MassReport {
    /// MassStatusReqID(584) as a number; 0 for an id that the OMS has not made, `None` for a report without an id.
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
    /// Adds a line that is coming up: the OMS will request the status of all its orders.
    pub(crate) fn add(&mut self, line: SessionNo) {
        self.forget(line);
        self.waiting.push_back(line);
    }

    /// Removes a line that is down.
    pub(crate) fn forget(&mut self, line: SessionNo) {
        self.waiting.retain(|waits| *waits != line);
        self.asked.retain(|asked| asked.line != line);
    }

    /// Whether the OMS still has to request the status of all orders of a line.
    pub(crate) fn waits(&self, line: SessionNo) -> bool {
        self.waiting.contains(&line)
    }
}
