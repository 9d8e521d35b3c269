//! Asks the application whether it accepts a Logon or a message, and survives a panic of the application.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fixwire_protocol::session::Verdict;
use fixwire_protocol::{Application, Message, Now, Outbox, Refusal};

use crate::line::Line;

/// Asks the application about a Logon that the session would accept, unless it was asked before. The application may
/// refuse the Logon.
#[cold]
pub(crate) fn receive_logon(
    now: Now,
    line: &mut Line,
    logon: &Message<'_>,
    app: &mut impl Application,
    outbox: &mut Outbox,
) -> Verdict {
    let (session, asked) = (&mut line.session, line.asked_ahead.take());
    if session.would_log_on(now, logon)
        && let Err(text) = asked.unwrap_or_else(|| app.on_logon_request(now, session.id(), logon))
    {
        return session.turn_away(&text, outbox);
    }
    session.receive(now, logon, outbox)
}

/// Calls the application about a message, and returns the application's answer. If the application panics, the answer
/// is that the application is not available, and messages that it wrote during the call are discarded.
#[cold]
pub(crate) fn guarded<A: Application>(
    call: impl FnOnce(&mut A, &mut Outbox) -> Result<(), Refusal>,
    app: &mut A,
    outbox: &mut Outbox,
    panics: &mut u64,
) -> Result<(), Refusal> {
    let (before, logouts) = (outbox.entries().len(), outbox.logouts());
    let answer = catch_unwind(AssertUnwindSafe(|| call(app, outbox)));
    answer.unwrap_or_else(|_| {
        *panics += 1;
        for index in before..outbox.entries().len() {
            outbox.discard(index);
        }
        outbox.truncate_logouts(logouts);
        Err(Refusal::NotAvailable)
    })
}
