//! Any text is a conversion table or an error with a line, and the result of a table is a message.
//!
//! Input: the text of a table.

use fixwire_protocol::{Decoder, Outbox, SessionId};
use fixwire_transform::Draft;
use fixwire_transform::convert::{Conversion, ConversionTableError};

use super::hold;
use super::input::{message, show};

/// Bodies that every table converts or rejects.
const BODIES: [&[u8]; 4] = [
    b"D|34=2|49=A|52=20260821-13:30:00|56=B|11=A1|21=1|55=IBM|54=1|60=20260821-13:30:00|38=100|40=2|44=1.5|59=0|1=X|200=202609|78=2|79=X|80=1|79=Y|80=2|",
    b"8|34=3|49=A|52=20260821-13:30:00|56=B|37=O1|17=E1|20=0|150=2|39=2|11=A1|55=IBM|54=1|38=100|32=100|31=1.5|151=0|14=100|6=1.5|453=1|448=P|447=D|452=1|",
    b"F|34=4|49=A|52=20260821-13:30:00|56=B|41=A1|11=A2|55=IBM|54=1|38=100|125=F|60=20260821-13:30:00|",
    b"W|34=5|49=A|52=20260821-13:30:00|56=B|262=M|55=IBM|268=2|269=0|270=1.5|271=10|269=1|270=1.6|271=5|",
];

/// Panics when reading a table or converting by it breaks a promise for these bytes.
pub fn run(data: &[u8]) {
    check(data, Conversion::read).unwrap_or_else(|what| panic!("{what}"));
}

/// [`run`] for any reader.
///
/// # Errors
///
/// The violated property.
pub fn check(
    data: &[u8],
    read: impl Fn(&str) -> Result<Conversion, ConversionTableError>,
) -> Result<(), String> {
    let text = String::from_utf8_lossy(data);
    let mut conversion = match read(&text) {
        Ok(conversion) => conversion,
        Err(error) => {
            let lines = text.lines().count().max(1);
            let said = error.to_string();
            hold!(
                (1..=lines).contains(&error.line),
                "line {} of {lines}: {said}",
                error.line
            );
            hold!(
                !said.is_empty() && said.len() <= text.len() + 400,
                "a sentence of {} bytes",
                said.len()
            );
            return Ok(());
        }
    };
    let mut losses = conversion.losses();
    let mut decoder = Decoder::with_capacity(256);
    for body in BODIES {
        let bytes = message("FIX.4.4", body);
        let mut draft = Draft::with_capacity(256, 8192);
        draft.load(&decoder.decode(&bytes));
        let before = written(&mut draft);
        match conversion.convert(&mut draft, &mut losses) {
            Ok(()) => {
                let after = written(&mut draft);
                let bytes = message("FIX.4.4", &after);
                let fault = decoder.decode(&bytes).fault();
                hold!(fault.is_none(), "{fault:?} in {}", show(&bytes));
            }
            Err(_) => hold!(
                written(&mut draft) == before,
                "refused and changed: {}",
                show(&written(&mut draft))
            ),
        }
    }
    Ok(())
}

/// MsgType and the fields of a draft.
fn written(draft: &mut Draft) -> Vec<u8> {
    let mut outbox = Outbox::new(64 << 10, 4, 256);
    let mut body = outbox.begin(SessionId(0), draft.msg_type());
    draft.write(&mut body);
    let is_whole = body.finish().is_ok();
    let mut text = draft.msg_type().to_vec();
    text.push(1);
    if is_whole {
        text.extend_from_slice(outbox.body(0));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire_protocol::dictionary::Version;
    use fixwire_transform::convert::ConversionProblem;

    fn table() -> &'static str {
        Conversion::built_in_text(Version::Fix42, Version::Fix44).expect("a table")
    }

    #[test]
    fn the_reader_passes() {
        assert!(Conversion::read(table()).is_ok());
        run(table().as_bytes());
        run(b"from FIX.4.2\nto FIX.4.4\nnonsense");
    }

    #[test]
    fn an_error_without_a_place_is_found() {
        let wrong = |_: &str| {
            Err(ConversionTableError {
                line: 9,
                problem: ConversionProblem::TooLong,
            })
        };
        assert!(check(b"from FIX.4.2", wrong).is_err());
    }
}
