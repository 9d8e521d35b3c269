//! Any bytes of a log, a connection or a capture give the same messages, however they are split.
//!
//! Input: a byte for the kind of source and the splits, then the bytes; `|` stays, as in logs.

use fixwire_reader::probe;

use super::hold;

/// A way to find messages: the bytes, the length of blocks, and whether the source is a text with lines.
pub type Find = fn(&[u8], usize, bool) -> Vec<(u64, Vec<u8>)>;

/// Panics when the reader breaks its promises for these bytes.
pub fn run(data: &[u8]) {
    check(data, probe::scan).unwrap_or_else(|what| panic!("{what}"));
}

/// [`run`] for any way to find messages.
///
/// # Errors
///
/// The violated property.
pub fn check(data: &[u8], find: Find) -> Result<(), String> {
    let Some((&choice, bytes)) = data.split_first() else {
        return Ok(());
    };
    if choice % 4 == 3 {
        let _ = probe::capture(bytes);
        return Ok(());
    }
    let lines = choice % 4 != 2;
    let whole = find(bytes, bytes.len(), lines);
    let split = find(bytes, usize::from(choice / 4) + 1, lines);
    hold!(
        whole == split,
        "another split gives other messages: {whole:?} and {split:?}"
    );
    let ascends = whole.windows(2).all(|pair| pair[0].0 < pair[1].0);
    hold!(ascends, "the places do not ascend: {whole:?}");
    for (at, message) in &whole {
        let is_left_out = message.ends_with(b"end") || message.ends_with(b"MiB");
        let is_message = message.starts_with(b"8=FIX") && message.ends_with(b"\x01");
        hold!(is_message || is_left_out, "at {at} is no message");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &[u8] =
        b"\x1420261120-10:00:00 : 8=FIX.4.2|9=5|35=0|10=161|\n8=FIX.4.2|9=5|35=0|10=161|\n";

    #[test]
    fn a_log_holds() {
        assert_eq!(check(LOG, probe::scan), Ok(()));
        assert_eq!(probe::scan(&LOG[1..], 1, true).len(), 2);
    }

    #[test]
    fn a_reader_that_forgets_between_blocks_is_found() {
        let forgets: Find = |bytes, block, lines| {
            let blocks = bytes
                .chunks(block.max(1))
                .map(|block| probe::scan(block, block.len(), lines));
            blocks.flatten().collect()
        };
        assert!(check(LOG, forgets).is_err());
    }
}
