//! Whatever a peer sends, at any time, the session keeps its guarantees.
//!
//! Input: three bytes that choose the session's configuration, then steps, a byte each, followed by its arguments:
//! messages from the peer, most with a valid header, time, connections made and lost, bytes that are not a message, and
//! calls from the application.

mod end;
mod peer;

use fixwire_protocol::session::{Phase, Verdict};

use super::input::Input;
use end::End;

/// Most steps of one input.
const STEPS: usize = 400;

/// Panics when a session breaks its promises for this input.
pub fn run(data: &[u8]) {
    check(data, |_, verdict| verdict).unwrap_or_else(|what| panic!("{what}"));
}

/// [`run`] with a change to the session's answers: the function gets the difference between a number and the expected
/// one.
///
/// # Errors
///
/// The violated property.
pub fn check(data: &[u8], tamper: fn(i64, Verdict) -> Verdict) -> Result<(), String> {
    let mut input = Input::new(data);
    let mut end = End::new(&mut input, tamper);
    for step in 0..STEPS {
        if input.is_empty() {
            break;
        }
        let code = input.byte();
        take(&mut end, code, &mut input).map_err(|what| format!("step {step} ({code}): {what}"))?;
    }
    Ok(())
}

fn take(end: &mut End, code: u8, input: &mut Input<'_>) -> Result<(), String> {
    match code % 16 {
        0..=5 => {
            let bytes = peer::message(end, input);
            end.receive(&bytes)
        }
        6 | 7 => {
            let bytes = peer::logon(end, input);
            end.receive(&bytes)
        }
        8 => {
            let bytes = super::input::with_soh(input.piece(200));
            end.receive(&bytes)
        }
        9 => end.garbled(),
        10 => end.pass(u64::from(input.byte()) * 250),
        11 => end.connect(),
        12 => {
            end.lose_connection();
            Ok(())
        }
        13 => end.app_send(input.byte()),
        14 => match end.session.phase() {
            Phase::LoggedOn(_) if input.byte().is_multiple_of(2) => end.log_out(),
            _ => end.reset(),
        },
        _ => end.refuse(input.byte()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Connect, Logon, then a News with the expected number, one two above it, and both missing ones.
    const GAP: &[u8] = &[
        0, 0, 0, 11, 6, 0, 0, 0, 9, 0, 0, 0, 9, 2, 0, 0, 9, 0, 0, 0, 9, 0, 0, 0, 9, 0, 0,
    ];

    #[test]
    fn the_session_passes() {
        run(GAP);
    }

    #[test]
    fn the_input_delivers_something() {
        fn never(_: i64, verdict: Verdict) -> Verdict {
            assert!(verdict != Verdict::Deliver, "delivered");
            verdict
        }
        assert!(std::panic::catch_unwind(|| check(GAP, never)).is_err());
    }

    #[test]
    fn a_session_that_delivers_above_a_gap_is_found() {
        let hasty = |distance, verdict| match verdict {
            Verdict::Handled if distance > 0 => Verdict::Deliver,
            verdict => verdict,
        };
        let what = check(GAP, hasty).expect_err("delivered out of sequence");
        assert!(what.contains("out of sequence"), "{what}");
    }

    #[test]
    fn a_session_that_loses_a_message_is_found() {
        let deaf = |_, verdict| match verdict {
            Verdict::Deliver => Verdict::Handled,
            verdict => verdict,
        };
        let what = check(GAP, deaf).expect_err("a message was lost");
        assert!(what.contains("not delivered"), "{what}");
    }
}
