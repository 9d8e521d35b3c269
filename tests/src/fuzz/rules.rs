//! Any text is a gateway's rules or errors with places, and a gateway with these rules handles messages.
//!
//! Input: the text of a file of rules for the sessions CLIENT (FIX 4.2) and VENUE (FIX 4.4).

use std::sync::{Arc, OnceLock};

use fixwire_gateway::gateway::{Gateway, GatewayContext, GatewaySession};
use fixwire_protocol::dictionary::{Dictionary, Version};
use fixwire_protocol::{Application, Decoder, Mono, Now, Outbox, PeerLogout, SessionId, Timestamp};
use fixwire_transform::rules::{NamedSession, RuleContext, RuleError, Rules};

use super::hold;
use super::input::{message, show};

/// An input of a gateway: the session, the version of the message and its body.
const MESSAGES: [(u32, &str, &[u8]); 4] = [
    (0, "FIX.4.2", b"D|34=2|49=CLIENT|52=20260821-13:30:00|56=GATE|11=A1|21=1|55=IBM|54=1|60=20260821-13:30:00|38=100|40=2|44=1.5|58=text|"),
    (1, "FIX.4.4", b"8|34=2|49=VENUE|52=20260821-13:30:00|56=GATE|37=O1|17=E1|150=0|39=0|11=A1|55=IBM|54=1|151=100|14=0|6=0|"),
    (0, "FIX.4.2", b"F|34=3|49=CLIENT|52=20260821-13:30:00|56=GATE|41=A1|11=A2|55=IBM|54=1|60=20260821-13:30:00|38=100|"),
    (0, "FIX.4.2", b"B|34=4|49=CLIENT|52=20260821-13:30:00|56=GATE|148=News|33=1|58=line|"),
];

/// The longest text, in bytes.
const LONGEST: usize = 16 << 10;
/// One text in this number becomes a gateway, chosen by its length: a gateway takes its memory at load, which takes
/// longer than everything else.
const ONE_OF: usize = 16;

/// Panics when reading rules or applying them breaks a promise for these bytes.
pub fn run(data: &[u8]) {
    check(data, |text| match text.len().is_multiple_of(ONE_OF) {
        true => load(text).map(Some),
        false => read(text).map(|_| None),
    })
    .unwrap_or_else(|what| panic!("{what}"));
}

/// The sessions: their names and versions.
fn sessions() -> [(&'static str, Version, Arc<Dictionary>); 2] {
    static DICTIONARIES: OnceLock<[Arc<Dictionary>; 2]> = OnceLock::new();
    let [old, new] = DICTIONARIES.get_or_init(|| {
        [Version::Fix42, Version::Fix44].map(|version| Arc::new(Dictionary::built_in(version)))
    });
    [
        ("CLIENT", Version::Fix42, Arc::clone(old)),
        ("VENUE", Version::Fix44, Arc::clone(new)),
    ]
}

/// The tables that rules may name.
const TABLES: [(&str, &str); 1] = [("symbols", "from,to\nIBM,INTL\n")];

/// The rules alone.
fn read(text: &str) -> Result<Rules, Vec<RuleError>> {
    let sessions = sessions().map(|(name, _, dictionary)| NamedSession {
        name,
        dictionary,
        peer: name,
    });
    let context = RuleContext {
        sessions: &sessions,
        tables: &TABLES,
    };
    Rules::load(text, &context)
}

/// A whole gateway.
fn load(text: &str) -> Result<Gateway, Vec<RuleError>> {
    let sessions = sessions().map(|(name, version, dictionary)| GatewaySession {
        name,
        dictionary,
        version,
        peer: name,
        resets: false,
    });
    let context = GatewayContext {
        sessions: &sessions,
        tables: &TABLES,
        conversions: &[],
        hash_key: [7; 16],
    };
    Gateway::load(text, &context, Box::new(|_| ()))
}

/// [`run`] for any reader, which may make a gateway of the text.
///
/// # Errors
///
/// The violated property.
pub fn check(
    data: &[u8],
    load: impl Fn(&str) -> Result<Option<Gateway>, Vec<RuleError>>,
) -> Result<(), String> {
    let text = String::from_utf8_lossy(data);
    if text.len() > LONGEST {
        return Ok(());
    }
    match load(&text) {
        Ok(gateway) => gateway.map_or(Ok(()), works),
        Err(errors) => are_said(&text, &errors),
    }
}

/// Each error has a place in the text and a sentence on a line of its own.
fn are_said(text: &str, errors: &[RuleError]) -> Result<(), String> {
    hold!(!errors.is_empty(), "refused without a reason");
    let lines = text.split('\n').count();
    for error in errors {
        let said = error.to_string();
        hold!(
            (1..=lines).contains(&error.line) && error.column >= 1,
            "line {}, column {} of {lines} lines: {said}",
            error.line,
            error.column
        );
        let is_line = !said.is_empty() && !said.chars().any(char::is_control);
        hold!(is_line, "not a line: {said:?}");
    }
    Ok(())
}

/// Messages in, messages out: each output can be decoded.
fn works(mut gateway: Gateway) -> Result<(), String> {
    let mut outbox = Outbox::new(1 << 20, 256, 256);
    let mut decoder = Decoder::with_capacity(256);
    for session in [0, 1] {
        let logon = message("FIX.4.4", b"A|98=0|108=30|");
        let logon = decoder.decode(&logon);
        gateway.on_logon(now(0), SessionId(session), &logon, &mut outbox);
    }
    for (count, (session, version, body)) in MESSAGES.into_iter().enumerate() {
        let bytes = message(version, body);
        let moment = now(count as u64 + 1);
        // A refusal is also an answer.
        let _ = gateway.on_message(
            moment,
            SessionId(session),
            &decoder.decode(&bytes),
            &mut outbox,
        );
        gateway.on_time(moment, &mut outbox);
    }
    let logout = message("FIX.4.4", b"5|58=bye|");
    let logout = decoder.decode(&logout);
    gateway.on_logout(now(9), SessionId(0), PeerLogout::of(&logout));
    let sent = outbox.entries().iter().enumerate();
    for (index, _) in sent.filter(|(_, entry)| !entry.is_note()) {
        let mut body = outbox.msg_type(index).to_vec();
        body.push(1);
        // `message` takes '|' for SOH, and a text of a rule may have it.
        body.extend(outbox.body(index).iter().map(|byte| match byte {
            b'|' => b'/',
            other => *other,
        }));
        let bytes = message("FIX.4.4", &body);
        let fault = decoder.decode(&bytes).fault();
        hold!(fault.is_none(), "{fault:?} in {}", show(&bytes));
    }
    Ok(())
}

fn now(seconds: u64) -> Now {
    Now {
        wall: Timestamp(1_787_319_000_000_000_000 + seconds as i64 * 1_000_000_000),
        mono: Mono(seconds * 1_000_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire_transform::rules::RuleProblem;

    const RULES: &[u8] = b"[[rule]]\nfrom = ['CLIENT']\ndo = ['convert', 'send VENUE']\n";

    #[test]
    fn the_reader_passes() {
        for rules in [
            include_bytes!("../../../fuzz/corpus/rules/first").as_slice(),
            include_bytes!("../../../fuzz/corpus/rules/all"),
            include_bytes!("../../../fuzz/corpus/rules/away"),
            include_bytes!("../../../fuzz/corpus/rules/script"),
            RULES,
        ] {
            let text = std::str::from_utf8(rules).expect("text");
            read(text).map(|_| ()).expect("rules");
            let worked = check(rules, |text| load(text).map(Some));
            assert_eq!(worked, Ok(()));
        }
        run(b"[[rule]]\nfrom = ['NOBODY']\ndo = ['sned']\n");
    }

    #[test]
    fn an_error_without_a_place_is_found() {
        let wrong = |_: &str| {
            Err(vec![RuleError {
                line: 9,
                column: 1,
                problem: RuleProblem::UnknownField("x".to_owned()),
                hint: None,
            }])
        };
        assert!(check(RULES, wrong).is_err());
        assert!(check(RULES, |_| Err(Vec::new())).is_err());
    }
}
