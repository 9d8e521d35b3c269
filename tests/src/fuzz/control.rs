//! Lines of the control socket: no line panics, every refusal is one line, and a request that was read is written as a
//! line that reads as the same request.

use fixwire::control::Asked;

use super::hold;
use super::input::show;

/// Reads a line.
type Reads = fn(&[u8]) -> Result<Asked, String>;

/// Panics when something does not hold.
pub fn run(data: &[u8]) {
    if let Err(fault) = check(data, Asked::read) {
        panic!("{fault}: {}", show(data));
    }
}

/// The same with another reader.
///
/// # Errors
///
/// The violated property.
pub fn check(data: &[u8], reads: Reads) -> Result<(), String> {
    let asked = reads(data);
    let found = asked
        .as_ref()
        .map_or_else(|why| Err(why.clone()), Asked::check);
    if let Err(why) = &found {
        hold!(
            !why.is_empty() && !why.contains('\n'),
            "not a line: {why:?}"
        );
    }
    let Ok(asked) = asked else {
        return Ok(());
    };
    let line = asked.line();
    let inside = &line[..line.len() - 1];
    hold!(
        line.ends_with('\n') && !inside.contains('\n'),
        "not a line: {line:?}"
    );
    let again = reads(inside.as_bytes());
    hold!(
        again.as_ref() == Ok(&asked),
        "{asked:?} is read as {again:?}"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_counts_on_is_found() {
        let data = br#"{"id":7,"do":"logout","session":"A->B","why":"lunch\n"}"#;
        assert_eq!(check(data, Asked::read), Ok(()));
        let counts = |line: &[u8]| {
            let asked = Asked::read(line)?;
            Ok(Asked {
                id: asked.id + 1,
                ..asked
            })
        };
        let fault = check(data, counts);
        assert!(fault.is_err_and(|fault| fault.contains("is read as")));
    }
}
