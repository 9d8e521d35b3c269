//! Asks the application to accept a Logon or a message, and survives its panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use fixwire_protocol::session::Verdict;
use fixwire_protocol::{Application, Message, Now, Outbox, Refusal};

use crate::line::Line;

/// Asks the application, unless it was asked before, about a Logon that the session would accept: the application may
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

/// The application's answer to a message; after a panic, that it is not available. Discards messages it wrote until
/// then.
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
