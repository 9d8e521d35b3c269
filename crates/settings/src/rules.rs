//! Checks that the values of a session, and the sessions of a file, are consistent.

use super::dialect::Dialect;
use super::ini::Span;
use super::keys::{Id, KEYS};
use super::problem::{Problem, SettingsFault};
use super::registry::KeyScope;
use super::resolved::{Origin, SessionSettings, asks_to_sync};
use super::schedule;
use super::value::SettingValue;
use fixwire_protocol::outbox::is_session_field;
use fixwire_protocol::tag;

/// Checks one session of a file that was written for this engine. `given` is true for a key that the file has, even
/// if its value is invalid.
pub fn check_session(
    session: &SessionSettings,
    dialect: Dialect,
    given: &dyn Fn(Id) -> bool,
    problems: &mut Vec<Problem>,
) {
    let mut missing = |id: Id, because| {
        if !given(id) {
            let fault = SettingsFault::Missing {
                key: KEYS[id as usize].name,
                because,
            };
            problems.push(Problem {
                span: session.header,
                fault,
            });
        }
    };
    missing(
        Id::BeginString,
        "BeginString, SenderCompID and TargetCompID identify a session",
    );
    missing(
        Id::SenderCompID,
        "BeginString, SenderCompID and TargetCompID identify a session",
    );
    missing(
        Id::TargetCompID,
        "BeginString, SenderCompID and TargetCompID identify a session",
    );
    missing(
        Id::ConnectionType,
        "set ConnectionType=acceptor or ConnectionType=initiator",
    );
    match session.text(Id::ConnectionType) {
        Some("acceptor") => missing(
            Id::SocketAcceptPort,
            "an acceptor needs a port to listen on",
        ),
        Some(_) => {
            missing(
                Id::SocketConnectHost,
                "an initiator needs a host to connect to",
            );
            missing(
                Id::SocketConnectPort,
                "an initiator needs a port to connect to",
            );
            missing(
                Id::HeartBtInt,
                "an initiator proposes HeartBtInt(108) in its Logon",
            );
        }
        None => {}
    }
    if session.text(Id::BeginString) == Some("FIXT.1.1") {
        missing(
            Id::DefaultApplVerID,
            "FIXT.1.1 carries the messages of another version, for example FIX.5.0SP2",
        );
    }
    if let Some(name) = session.find(Id::SessionName)
        && let Origin::Default(span) = name.origin
    {
        let note = "SessionName must be unique: set it in the section of a session, not in \
             [DEFAULT]"
            .into();
        let fault = SettingsFault::Conflict { note };
        problems.push(Problem { span, fault });
    }
    if let Some(name) = session.find(Id::SessionName)
        && session.called().contains('*')
        && !session.is_template()
    {
        let span = name.origin.span().unwrap_or(session.header);
        let note = "a * in SessionName stands for the TargetCompID of sessions that a Logon creates: this section has no \
             AcceptorTemplate=Y"
            .into();
        let fault = SettingsFault::Conflict { note };
        problems.push(Problem { span, fault });
    }
    check_hosts(session, problems);
    check_schedule(session, given, problems);
    check_dictionaries(session, dialect, problems);
    check_logon_tags(session, problems);
    for (id, note) in ignored(session, dialect) {
        let span = session.find(id).and_then(|found| found.origin.span());
        let span = span.unwrap_or(session.header);
        let fault = SettingsFault::Surprise { note };
        problems.push(Problem { span, fault });
    }
    super::transport::check(session, problems);
    if let (Some(origin), Some(durability)) = (asks_to_sync(session), session.text(Id::Durability))
        && durability != "disk"
    {
        let note = format!(
            "FileStoreSync=Y means Durability=disk, which conflicts with \
                            Durability={durability}: remove one"
        );
        conflict(origin, session.header, note, problems);
    }
}

/// Checks that every host has a port with the same number.
pub(super) fn check_hosts(session: &SessionSettings, problems: &mut Vec<Problem>) {
    for (one, other) in [
        (Id::SocketConnectHost, Id::SocketConnectPort),
        (Id::SocketConnectPort, Id::SocketConnectHost),
    ] {
        for setting in session.all(one) {
            let alone = !session
                .all(other)
                .any(|found| found.number == setting.number);
            // If no key of the other kind exists, that kind is missing as a whole, which was already reported.
            if alone && session.find(other).is_some() {
                let number = setting
                    .number
                    .map(|number| number.to_string())
                    .unwrap_or_default();
                let (one, other) = (setting.key.name, KEYS[other as usize].name);
                let note = format!("`{one}{number}` needs `{other}{number}`");
                conflict(setting.origin, session.header, note, problems);
            }
        }
    }
}

/// Checks that the schedule keys together have a meaning.
fn check_schedule(
    session: &SessionSettings,
    given: &dyn Fn(Id) -> bool,
    problems: &mut Vec<Problem>,
) {
    let place = |id: Id| session.find(id).and_then(|found| found.origin.span());
    // A value that is only a default conflicts with no other key.
    let in_file = |id: Id| given(id) && (session.find(id).is_none() || session.is_in_file(id));
    if let Err(conflicts) = schedule::schedule(session, &in_file) {
        for (id, note) in conflicts {
            let span = place(id).unwrap_or(session.header);
            let fault = SettingsFault::Conflict { note };
            problems.push(Problem { span, fault });
        }
    }
    if let Some(span) = schedule::without_effect(session).and_then(place) {
        let note = "NonStopSession=Y: the session never ends, and StartTime, EndTime, StartDay, EndDay \
                    and Weekdays have no effect";
        let fault = SettingsFault::Surprise { note };
        problems.push(Problem { span, fault });
    }
}

/// Checks the dictionary keys. A FIXT session has two dictionaries, any other session has one. The engines of the
/// QuickFIX family ignore the keys of the other kind.
fn check_dictionaries(session: &SessionSettings, dialect: Dialect, problems: &mut Vec<Problem>) {
    let Some(begin_string) = session.text(Id::BeginString) else {
        return;
    };
    if Dialect::FAMILY.contains(&dialect) {
        return;
    }
    for (_, span) in dictionaries_of_the_other_transport(session) {
        let note = if begin_string == "FIXT.1.1" {
            "a FIXT.1.1 session has a TransportDataDictionary and an AppDataDictionary".to_owned()
        } else {
            format!("a {begin_string} session has one DataDictionary")
        };
        let fault = SettingsFault::Conflict { note };
        problems.push(Problem { span, fault });
    }
}

/// The dictionary keys in a session's own section that are for the other transport. Keys in `[DEFAULT]` are left out,
/// because they may be meant for other sessions of the file.
fn dictionaries_of_the_other_transport(session: &SessionSettings) -> Vec<(Id, Span)> {
    let wrong: &[Id] = match session.text(Id::BeginString) {
        Some("FIXT.1.1") => &[Id::DataDictionary],
        Some(_) => &[Id::TransportDataDictionary, Id::AppDataDictionary],
        None => &[],
    };
    let all = session.settings.iter();
    let wrong = all.filter(|found| wrong.contains(&found.key.id));
    let own = wrong.filter_map(|found| match found.origin {
        Origin::Session(span) => Some((found.key.id, span)),
        _ => None,
    });
    own.collect()
}

/// The keys of a session that the engine of the file ignores, and why it ignores them. In fixwire these keys have no
/// effect either.
pub fn ignored(session: &SessionSettings, dialect: Dialect) -> Vec<(Id, &'static str)> {
    let mut found = Vec::new();
    if Dialect::FAMILY.contains(&dialect) {
        let note = match session.text(Id::BeginString) {
            Some("FIXT.1.1") => {
                "ignored: a FIXT.1.1 session has a TransportDataDictionary and an AppDataDictionary"
            }
            _ => {
                "ignored: only a FIXT.1.1 session has a transport dictionary; this one has a DataDictionary"
            }
        };
        let dictionaries = dictionaries_of_the_other_transport(session);
        found.extend(dictionaries.into_iter().map(|(id, _)| (id, note)));
    }
    if dialect == Dialect::QuickFix {
        let pairs = [
            (Id::ServerCertificateKeyFile, Id::ServerCertificateFile),
            (Id::ClientCertificateKeyFile, Id::ClientCertificateFile),
        ];
        let note =
            "ignored: a private key without its certificate, which QuickFIX does not read either";
        let lone = pairs.into_iter().filter(|(key, certificate)| {
            session.find(*key).is_some() && session.find(*certificate).is_none()
        });
        found.extend(lone.map(|(key, _)| (key, note)));
    }
    found
}

fn is_acceptor(session: &SessionSettings) -> bool {
    session.text(Id::ConnectionType) == Some("acceptor")
}

fn is_template(session: &SessionSettings) -> bool {
    is_acceptor(session)
        && (session.bool(Id::DynamicSessions) || session.bool(Id::AcceptorTemplate))
}

/// Checks that the settings that create sessions from Logons have an effect. In a session's own section, such a
/// setting must have an effect on that session. In `[DEFAULT]`, it must have an effect on at least one session.
fn check_templates(sessions: &[SessionSettings], problems: &mut Vec<Problem>) {
    let creates = "no effect: only an acceptor creates sessions from Logons";
    let qualifies = "no effect: DynamicQualifier=Y is for sessions that DynamicSessions=Y or AcceptorTemplate=Y creates";
    for session in sessions {
        for (id, works, note) in [
            (
                Id::DynamicSessions,
                is_acceptor as fn(&SessionSettings) -> bool,
                creates,
            ),
            (Id::AcceptorTemplate, is_acceptor, creates),
            (Id::DynamicQualifier, is_template, qualifies),
        ] {
            let origin = session.find(id).map(|found| found.origin);
            let (span, has_effect) = match origin {
                Some(Origin::Session(span)) => (span, works(session)),
                Some(Origin::Default(span)) => (span, sessions.iter().any(works)),
                _ => continue,
            };
            if session.bool(id) && !has_effect {
                let fault = SettingsFault::Surprise { note };
                problems.push(Problem { span, fault });
            }
        }
    }
}

/// Checks the sessions of a file against each other.
pub fn check_together(sessions: &[SessionSettings], problems: &mut Vec<Problem>) {
    let Some((first, others)) = sessions.split_first() else {
        return;
    };
    for key in KEYS.iter().filter(|key| key.scope == KeyScope::Engine) {
        for other in others {
            let (Some(mine), Some(theirs)) = (first.find(key.id), other.find(key.id)) else {
                one_sided(first, other, key.id, problems);
                continue;
            };
            if mine.value != theirs.value {
                let (place, elsewhere) = match theirs.origin.span() {
                    Some(span) => (span, mine.origin.span().unwrap_or(first.header)),
                    None => (mine.origin.span().unwrap_or(first.header), other.header),
                };
                problems.push(Problem {
                    span: place,
                    fault: SettingsFault::Disagrees {
                        key: key.name,
                        first: elsewhere,
                    },
                });
            }
        }
    }
    check_names(sessions, problems);
    check_templates(sessions, problems);
    let mut seen = std::collections::BTreeMap::new();
    for session in sessions {
        let complete = [Id::BeginString, Id::SenderCompID, Id::TargetCompID]
            .iter()
            .all(|id| session.find(*id).is_some());
        if !complete {
            continue;
        }
        let name = session.name();
        let mut identities = vec![name.clone()];
        if let (Some("acceptor"), Some(qualifier)) = (
            session.text(Id::ConnectionType),
            session.text(Id::SessionQualifier),
        ) {
            // A Logon does not contain the qualifier.
            let bare = name.strip_suffix(&format!(":{qualifier}")).unwrap_or(&name);
            identities.push(format!(
                "{bare} on port {:?}",
                session.int(Id::SocketAcceptPort)
            ));
        }
        for identity in identities {
            if let Some(first) = seen.insert(identity, session.header) {
                let fault = SettingsFault::SameSession {
                    name: name.clone(),
                    first,
                };
                problems.push(Problem {
                    span: session.header,
                    fault,
                });
            }
        }
    }
}

/// Checks that session names are unique, because a gateway's rules need unique names.
fn check_names(sessions: &[SessionSettings], problems: &mut Vec<Problem>) {
    let place = |session: &SessionSettings| session.find(Id::SessionName)?.origin.span();
    let mut seen = std::collections::BTreeMap::new();
    for session in sessions {
        let Some(first) = seen.insert(session.called(), session) else {
            continue;
        };
        let (span, first) = match (place(session), place(first)) {
            (Some(span), other) => (span, other.unwrap_or(first.header)),
            (None, Some(span)) => (span, session.header),
            // The two sessions have the same identity, which is already an error.
            (None, None) => continue,
        };
        if span != first {
            let fault = SettingsFault::Repeated { first };
            problems.push(Problem { span, fault });
        }
    }
}

/// A key of the engine without a default that one of two sessions has and the other does not.
fn one_sided(
    first: &SessionSettings,
    other: &SessionSettings,
    id: Id,
    problems: &mut Vec<Problem>,
) {
    for (has, lacks) in [(first, other), (other, first)] {
        if let Some(span) = has.find(id).and_then(|setting| setting.origin.span())
            && lacks.find(id).is_none()
        {
            problems.push(Problem {
                span,
                fault: SettingsFault::Disagrees {
                    key: KEYS[id as usize].name,
                    first: lacks.header,
                },
            });
        }
    }
}

/// Checks that `LogonTag` adds only fields that the session does not write itself.
fn check_logon_tags(session: &SessionSettings, problems: &mut Vec<Problem>) {
    for found in session.all(Id::LogonTag) {
        let SettingValue::TagValue(tag, _) = found.value else {
            continue;
        };
        // QuickFIX/J has no other key for the credentials, and an acceptor does not send those that it checks.
        let dials = session.text(Id::ConnectionType) == Some("initiator");
        let has_key = match tag {
            tag::USERNAME => session.find(Id::Username).is_some(),
            tag::PASSWORD => session.find(Id::Password).is_some(),
            _ => false,
        };
        let is_twice = dials && has_key;
        if !is_twice && !is_session_field(b"A", tag) {
            continue;
        }
        let note = match key_of_field(tag) {
            Some(key) if is_twice => {
                format!("the Logon has field {tag} already, from {key}: remove LogonTag")
            }
            Some(key) => format!("the session writes field {tag} of its Logon itself: set {key}"),
            None => format!("the session writes field {tag} of its Logon itself: remove LogonTag"),
        };
        conflict(found.origin, session.header, note, problems);
    }
}

/// The key for a field that the session writes into its Logon, if there is such a key.
fn key_of_field(tag: u32) -> Option<&'static str> {
    Some(match tag {
        tag::BEGIN_STRING => "BeginString",
        tag::SENDER_COMP_ID => "SenderCompID",
        tag::SENDER_SUB_ID => "SenderSubID",
        tag::SENDER_LOCATION_ID => "SenderLocationID",
        tag::TARGET_COMP_ID => "TargetCompID",
        tag::TARGET_SUB_ID => "TargetSubID",
        tag::TARGET_LOCATION_ID => "TargetLocationID",
        tag::LAST_MSG_SEQ_NUM_PROCESSED => "EnableLastMsgSeqNumProcessed",
        tag::HEART_BT_INT => "HeartBtInt",
        tag::RESET_SEQ_NUM_FLAG => "ResetOnLogon",
        tag::NEXT_EXPECTED_MSG_SEQ_NUM => "SendNextExpectedMsgSeqNum",
        tag::DEFAULT_APPL_VER_ID => "DefaultApplVerID",
        tag::USERNAME => "Username",
        tag::PASSWORD => "Password",
        _ => return None,
    })
}

fn conflict(origin: Origin, header: Span, note: String, problems: &mut Vec<Problem>) {
    let span = origin.span().unwrap_or(header);
    problems.push(Problem {
        span,
        fault: SettingsFault::Conflict { note },
    });
}
