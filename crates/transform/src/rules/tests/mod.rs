//! Rules as a gateway uses them: loaded from text, evaluated for messages.

mod errors;
mod events;
mod memory;
#[cfg(not(feature = "scripts"))]
mod no_script;
mod page;
mod random;
mod remember;
#[cfg(feature = "scripts")]
mod script;
mod slow;
mod worlds;

use std::string::String;
use std::sync::{Arc, OnceLock};
use std::vec::Vec;

use fixwire_protocol::dictionary::{Dictionary, Version};
use fixwire_protocol::{Decoder, Mono, Now, Outbox, SessionId, Timestamp};

use super::{
    Evaluated, Facts, NamedSession, RejectKind, RuleContext, RuleError, RuleOutcome, RuleScratch,
    Rules,
};
use crate::{Draft, TransformFailure};

/// Names of sessions; the first four speak FIX 4.2.
const SESSIONS: [&str; 7] = [
    "ALPHA", "BETA1", "BETA2", "VENUE2", "GAMMA", "VENUE", "AUDIT",
];
/// Whether each session is logged on: all except BETA2.
const ACTIVE: [bool; 7] = [true, true, false, true, true, true, true];
const VENUES: &str =
    "symbol,mic,session,name\nVOD,XLON,VENUE,\"Vodafone, plc\"\nSAP,XETR,VENUE2,\n";

fn dictionary(version: Version) -> Arc<Dictionary> {
    static MADE: OnceLock<[Arc<Dictionary>; 2]> = OnceLock::new();
    let both = [Version::Fix42, Version::Fix44];
    let made = MADE.get_or_init(|| both.map(|one| Arc::new(Dictionary::built_in(one))));
    made[usize::from(version == Version::Fix44)].clone()
}

pub(super) fn sessions() -> Vec<NamedSession<'static>> {
    let sessions = SESSIONS.iter().enumerate().map(|(at, name)| NamedSession {
        name,
        dictionary: dictionary(if at < 4 {
            Version::Fix42
        } else {
            Version::Fix44
        }),
        peer: name,
    });
    sessions.collect()
}

fn load(text: &str) -> Result<Rules, Vec<RuleError>> {
    let context = RuleContext {
        sessions: &sessions(),
        tables: &[("venues", VENUES)],
    };
    Rules::load(text, &context)
}

fn loaded(text: &str) -> Rules {
    load(text).unwrap_or_else(|errors| {
        let lines: Vec<String> = errors.iter().map(|error| std::format!("{error}")).collect();
        panic!("{text}\n{}", lines.join("\n"))
    })
}

fn place(session: &str) -> usize {
    let found = SESSIONS.iter().position(|name| *name == session);
    found.unwrap_or_else(|| panic!("no session {session}"))
}

pub(super) fn now() -> Now {
    Now {
        wall: Timestamp::parse(b"20261120-10:00:00").unwrap(),
        mono: Mono(5_000_000_000),
    }
}

/// The bytes of a message from `35=D|...`, with a header and trailer.
pub(super) fn message(session: &str, text: &str) -> Vec<u8> {
    let (kind, rest) = text.split_once('|').unwrap();
    let head = "34=2|52=20261120-10:00:00|56=GATE";
    let whole = std::format!("8=FIX.4.2|9=1|{kind}|49={session}|{head}|{rest}10=000|");
    whole.replace('|', "\x01").into_bytes()
}

fn written(draft: &mut Draft) -> String {
    let mut outbox = Outbox::new(1 << 16, 4, 256);
    let kind = draft.msg_type().to_vec();
    let mut body = outbox.begin(SessionId(0), &kind);
    draft.write(&mut body);
    body.finish().unwrap();
    let fields = String::from_utf8_lossy(outbox.body(0)).replace('\x01', "|");
    std::format!("35={}|{fields}", String::from_utf8_lossy(&kind))
}

fn shown(rules: &Rules, outcome: RuleOutcome<'_>) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let fields = |draft: &mut Draft, convert| {
        let convert = if convert { ", convert" } else { "" };
        std::format!("{convert}: {}", written(draft))
    };
    match outcome {
        RuleOutcome::Send {
            to, draft, convert, ..
        } => std::format!("send {}{}", SESSIONS[to], fields(draft, convert)),
        RuleOutcome::Copy {
            to, draft, convert, ..
        } => std::format!("copy to {}{}", SESSIONS[to], fields(draft, convert)),
        RuleOutcome::Return { draft, convert, .. } => {
            std::format!("return{}", fields(draft, convert))
        }
        RuleOutcome::Reject {
            kind, text: why, ..
        } => {
            let kind = match kind {
                RejectKind::Fitting => "",
                RejectKind::Session => " session",
                RejectKind::Business => " business",
                RejectKind::Order => " order",
            };
            std::format!("reject{kind}: {}", text(why))
        }
        RuleOutcome::Status => "answer status".into(),
        RuleOutcome::Connect(session) => std::format!("connect {}", SESSIONS[session]),
        RuleOutcome::Remember { id, fields, .. } => {
            let fields = text(fields).replace('\x01', "|");
            std::format!("remember for {}: {fields}", text(id))
        }
        RuleOutcome::Forget(id) => std::format!("forget {}", text(id.unwrap_or_default())),
        RuleOutcome::Disconnect(session) => std::format!("disconnect {}", SESSIONS[session]),
        RuleOutcome::Count(counter) => std::format!("count {}", rules.counters()[counter]),
        RuleOutcome::Notify(what) => std::format!("notify: {}", text(what)),
        RuleOutcome::Throttled { reject, .. } => {
            let what = if reject { "reject" } else { "drop" };
            std::format!("throttled, {what}")
        }
        RuleOutcome::Untold(failure) => std::format!("not told: {failure}"),
        RuleOutcome::Failed {
            failure: TransformFailure::Script(failure),
            ..
        } => std::format!("failed: {failure}"),
        RuleOutcome::Failed { failure, .. } => std::format!("failed: {failure:?}"),
    }
}

/// The outcomes for a message from a session.
fn outcomes(
    rules: &Rules,
    scratch: &mut RuleScratch,
    session: &str,
    text: &str,
) -> (Vec<String>, Evaluated) {
    outcomes_with("", rules, scratch, (session, text))
}

/// The outcomes with these values remembered for the order that the message answers: `1=X|`.
fn outcomes_with(
    remembered: &str,
    rules: &Rules,
    scratch: &mut RuleScratch,
    (session, text): (&str, &str),
) -> (Vec<String>, Evaluated) {
    let remembered = remembered.replace('|', "\x01").into_bytes();
    let bytes = message(session, text);
    let mut decoder = Decoder::with_capacity(4096);
    let facts = Facts {
        now: now(),
        active: &ACTIVE,
        remembered: &remembered,
    };
    let mut out = Vec::new();
    let evaluated = rules.evaluate(
        scratch,
        &decoder.decode(&bytes),
        place(session),
        &facts,
        &mut |_, outcome| out.push(shown(rules, outcome)),
    );
    (out, evaluated)
}

#[test]
fn nothing_happens_for_a_session_that_is_not_known() {
    let rules = loaded("[[rule]]\nfrom = ['*']\ndo = ['send VENUE']\n");
    let bytes = message("ALPHA", "35=D|");
    let facts = Facts {
        now: now(),
        active: &[],
        remembered: &[],
    };
    let mut decoder = Decoder::with_capacity(64);
    let evaluated = rules.evaluate(
        &mut RuleScratch::default(),
        &decoder.decode(&bytes),
        99,
        &facts,
        &mut |_, _| panic!("an outcome"),
    );
    assert_eq!(evaluated, Evaluated::default());
}

#[test]
fn what_was_matched_and_decided_is_told() {
    let rules = loaded(
        "[[rule]]\nname = 'one'\nfrom = ['*']\ndo = ['count all']\n\
         [[rule]]\nfrom = ['*']\nwhen = 'has(Text)'\ndo = ['send VENUE']\n",
    );
    assert_eq!(
        (rules.len(), rules.name(0), rules.name(1)),
        (2, Some("one"), Some("rule 2"))
    );
    assert_eq!((rules.line(1), rules.line(2)), (Some(5), None));
    let mut scratch = RuleScratch::default();
    let (_, evaluated) = outcomes(&rules, &mut scratch, "ALPHA", "35=D|58=x|");
    assert_eq!((evaluated.matched, evaluated.decided), (2, true));
    let (_, evaluated) = outcomes(&rules, &mut scratch, "ALPHA", "35=D|11=x|");
    assert_eq!((evaluated.matched, evaluated.decided), (1, false));
}

#[test]
fn conditions_on_an_entry_see_the_other_groups_of_the_message_wherever_they_stand() {
    let rules = loaded(
        "[[rule]]\nfrom = ['GAMMA']\nwhen = 'any(NoPartyIDs, any(NoAllocs, AllocAccount = \"b\"))'\n\
         do = ['count both']\n",
    );
    let (parties, allocs) = ("453=1|448=p|", "78=2|79=a|79=b|");
    for order in [[parties, allocs], [allocs, parties]] {
        let order = std::format!("35=D|{}", order.concat());
        let (out, _) = outcomes(&rules, &mut RuleScratch::default(), "GAMMA", &order);
        assert_eq!(out, ["count both"], "{order}");
    }
}

#[test]
fn no_message_grows_without_end() {
    let rules = loaded(
        "[[rule]]\nfrom = ['*']\ndo = ['each NoAllocs: set AllocAccount \"${RawData}${RawData}\"', 'send VENUE']\n",
    );
    let mut text = std::format!("35=D|95=20000|96={}|78=100|", "x".repeat(20_000));
    text += &"79=A|".repeat(100);
    let (out, _) = outcomes(&rules, &mut RuleScratch::default(), "ALPHA", &text);
    assert_eq!(out, ["failed: TooLarge"]);
}
