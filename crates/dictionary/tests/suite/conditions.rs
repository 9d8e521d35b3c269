//! Fields required by conditions: the delta, the validation, and the session's answer.

use std::sync::Arc;

use fixwire_dictionary::DocumentLimits;
use fixwire_dictionary::delta::{self, Delta};
use fixwire_protocol::dictionary::validate::{self, RejectReason};
use fixwire_protocol::dictionary::{
    Dictionary, Scratch, ValidationFault, ValidationRules, Version,
};
use fixwire_protocol::session::{BeginString, Config, Role, Verdict};
use fixwire_protocol::{Decoder, HeaderTemplate, Mono, Now, Outbox, Session, SessionId, Timestamp};

const HEAD: &str = "34=2|49=BUYER|52=20260821-13:30:00|56=SELLER";
const ORDER: &str = "11=A|21=1|55=MSFT|54=1|60=20260821-13:30:00|38=100";

fn with(version: Version, text: &str) -> Dictionary {
    let delta = Delta::read("venue.delta", text, DocumentLimits::default());
    let delta = delta.unwrap_or_else(|error| panic!("{error}"));
    delta::apply(&Dictionary::built_in(version), &[delta]).unwrap_or_else(|error| panic!("{error}"))
}

fn judge(
    dictionary: &Dictionary,
    rules: &ValidationRules,
    body: &str,
) -> Result<(), ValidationFault> {
    let text = format!("8=FIX.4.4|9=100|35=D|{HEAD}|{ORDER}|{body}|10=000|").replace('|', "\x01");
    let mut decoder = Decoder::with_capacity(100);
    validate::check(
        dictionary,
        &decoder.decode(text.as_bytes()),
        rules,
        &mut Scratch::default(),
    )
}

/// The effect of each statement on each message: the missing tag, 0 for none.
#[test]
fn each_condition_finds_its_faults_and_no_others() {
    let table: [(&str, &[(&str, u32)]); 8] = [
        (
            "Price required when OrdType in 2,4",
            &[
                ("40=1", 0),
                ("40=2", 44),
                ("40=4|99=1", 44),
                ("40=2|44=1", 0),
                ("40=3|99=1", 0),
            ],
        ),
        (
            "in NewOrderSingle: StopPx required when OrdType = 3 and Side not in 2,5",
            &[("40=3", 99), ("40=3|99=1", 0), ("40=1", 0)],
        ),
        (
            "Account required when Text present",
            &[("40=1", 0), ("40=1|58=x", 1), ("1=a|40=1|58=x", 0)],
        ),
        (
            "Text required when Account absent",
            &[("40=1", 58), ("40=1|58=x", 0), ("1=a|40=1", 0)],
        ),
        (
            "in D: ExpireTime required when TimeInForce not in 0,1",
            &[("40=1", 0), ("40=1|59=0", 0), ("40=1|59=6", 126)],
        ),
        (
            "Text required when ExecInst in 6",
            &[("40=1|18=1 6", 58), ("40=1|18=1", 0), ("40=1|18=1 5", 0)],
        ),
        (
            "in NoPartyIDs of D: PartyRole required when PartyID present",
            &[
                ("40=1", 0),
                ("40=1|453=1|448=A|447=D", 452),
                ("40=1|453=2|448=A|447=D|452=1|448=B|447=D", 452),
                ("40=1|453=2|448=A|447=D|452=1|448=B|447=D|452=3", 0),
            ],
        ),
        (
            "in NoPartySubIDs of NoPartyIDs of D: PartySubIDType required when PartySubID in x",
            &[
                ("40=1|453=1|448=A|802=1|523=y", 0),
                ("40=1|453=2|448=A|448=B|802=2|523=y|523=x", 803),
                ("40=1|453=2|448=A|448=B|802=2|523=y|523=x|803=1", 0),
            ],
        ),
    ];
    let lax = ValidationRules {
        allow_unknown_enum_values: true,
        ..ValidationRules::default()
    };
    for (statement, messages) in table {
        let dictionary = with(Version::Fix44, statement);
        for (body, missing) in messages {
            let found = judge(&dictionary, &lax, body);
            let expected = match missing {
                0 => Ok(()),
                tag => Err(ValidationFault {
                    reason: RejectReason::RequiredTagMissing,
                    tag: Some(*tag),
                    field: None,
                    conditional: true,
                    limit: None,
                }),
            };
            assert_eq!(found, expected, "{statement}: {body}");
            let off = ValidationRules {
                conditional_fields: false,
                ..lax
            };
            assert_eq!(judge(&dictionary, &off, body), Ok(()), "{body}");
        }
    }
}

#[test]
fn a_field_of_a_group_is_not_one_of_the_message() {
    // LegPrice alone would be simple; Text(58) is in no entry of the underlyings, but PartyID-like fields repeat: the
    // member of the message counts.
    let dictionary = with(
        Version::Fix44,
        "add member Account to NoPartyIDs of D\nin D: Text required when Account present",
    );
    assert_eq!(
        judge(
            &dictionary,
            &ValidationRules::default(),
            "40=1|453=1|448=A|1=inside"
        ),
        Ok(())
    );
    assert!(
        judge(
            &dictionary,
            &ValidationRules::default(),
            "1=outside|40=1|453=1|448=A"
        )
        .is_err()
    );
}

const SESSION: SessionId = SessionId(0);

/// The answer of a session with this version to a message, without header and trailer.
fn answer(
    begin_string: BeginString,
    dictionary: Dictionary,
    msg_type: &str,
    body: &str,
    reject: bool,
) -> (Verdict, String) {
    let wall = Timestamp::parse(b"20260821-13:30:00").expect("a time");
    let now = Now {
        wall,
        mono: Mono(1),
    };
    let mut config = Config::new(begin_string, Role::Acceptor, b"SELLER", b"BUYER");
    config.dictionary = Some(Arc::new(dictionary));
    config.reject_invalid_message = reject;
    let header = HeaderTemplate::new(begin_string.as_str().as_bytes(), b"BUYER", b"SELLER", &[]);
    let mut peer = Outbox::new(4096, 8, header.room());
    let mut session = Session::new(SESSION, config);
    let mut outbox = Outbox::new(4096, 8, session.header_room());
    let _ = session.connected(now, &mut outbox);
    let mut decoder = Decoder::with_capacity(64);
    let mut verdict = Verdict::Handled;
    for (number, (msg_type, body)) in [("A", "98=0|108=30|"), (msg_type, body)]
        .into_iter()
        .enumerate()
    {
        let mut message = peer.begin(SESSION, msg_type.as_bytes());
        message.encoded(body.replace('|', "\x01").as_bytes());
        message.finish().expect("room");
        peer.seal(number, &header, number as u64 + 1, b"20260821-13:30:00");
        outbox.clear();
        verdict = session.receive(now, &decoder.decode(peer.sealed(number)), &mut outbox);
    }
    let said = outbox.unsealed().map(|index| {
        let body = String::from_utf8_lossy(outbox.body(index)).replace('\x01', "|");
        format!(
            "35={}|{body}",
            String::from_utf8_lossy(outbox.msg_type(index))
        )
    });
    let said = said.collect();
    (verdict, said)
}

const RULE: &str = "Price required when OrdType in 2,4";

#[test]
fn the_session_answers_with_the_reject_that_its_version_has() {
    let order = format!("{ORDER}|40=2|").replace("38=100|40", "38=100|40");
    let reply = |version, dictionary| answer(version, with(dictionary, RULE), "D", &order, true);
    let business =
        "35=j|45=2|58=Conditionally Required Field Missing (44)|372=D|379=A|380=5|".to_owned();
    assert_eq!(
        reply(BeginString::Fix44, Version::Fix44),
        (Verdict::Handled, business.clone())
    );
    assert_eq!(
        reply(BeginString::Fix42, Version::Fix42),
        (Verdict::Handled, business)
    );
    let old = order.replace("60=20260821-13:30:00|", "");
    let (verdict, said) = answer(
        BeginString::Fix41,
        with(Version::Fix41, RULE),
        "D",
        &old,
        true,
    );
    assert_eq!(verdict, Verdict::RejectSent);
    assert_eq!(
        said,
        "35=3|45=2|58=Conditionally Required Field Missing (44)|"
    );
    // A session message gets a Reject.
    let dictionary = with(
        Version::Fix44,
        "in 0: TestReqID required when MsgSeqNum present",
    );
    let (_, said) = answer(BeginString::Fix44, dictionary, "0", "", true);
    assert_eq!(
        said,
        "35=3|45=2|58=Conditionally Required Field Missing|371=112|372=0|373=1|"
    );
}

#[test]
fn reject_invalid_message_n_delivers_what_the_dictionary_refuses() {
    let order = format!("{ORDER}|40=2|9999=x|");
    let dictionary = || Dictionary::built_in(Version::Fix44);
    let (verdict, said) = answer(BeginString::Fix44, dictionary(), "D", &order, true);
    assert_eq!(verdict, Verdict::RejectSent);
    assert!(said.starts_with("35=3|"), "{said}");
    let (verdict, said) = answer(BeginString::Fix44, dictionary(), "D", &order, false);
    assert_eq!((verdict, said.as_str()), (Verdict::Deliver, ""));
    // Fields that cannot be separated are still rejected.
    let (verdict, said) = answer(
        BeginString::Fix44,
        dictionary(),
        "D",
        &format!("{order}x|"),
        false,
    );
    assert_eq!(verdict, Verdict::RejectSent);
    assert!(said.starts_with("35=3|"), "{said}");
}
