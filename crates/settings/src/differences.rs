//! How the engine that a file was written for treats a key, where this differs from fixwire.
//!
//! Each answer is the end of a sentence that begins with the name of the engine, for example "… has no
//! `SocketTcpNoDelay`: its default N applies there".

use std::borrow::Cow;

use fixwire_engine::schedule::Time;

use super::antenna::properties;
use super::dialect::Dialect;
use super::family;
use super::keys::Id;
use super::registry::Key;
use super::resolved::SessionSettings;
use super::transport;
use super::value::{SettingValue, ValueKind};

/// The default that the engine has for a fixwire key, under any name of the key.
pub fn default_there(key: &Key, dialect: Dialect) -> Option<Cow<'static, str>> {
    if dialect == Dialect::Antenna {
        return properties::default(key.id).map(Cow::Owned);
    }
    if key.id == Id::ValidateUnorderedGroupFields && !checks_group_order(dialect) {
        return Some("N".into());
    }
    let found = there(key, dialect)?;
    found.default(dialect).map(Cow::Borrowed)
}

/// Whether the engine checks the order of the fields in a group entry. Only QuickFIX/J has a key for this check.
fn checks_group_order(dialect: Dialect) -> bool {
    match dialect {
        Dialect::QuickFix | Dialect::QuickFixGo | Dialect::QuickFixN => false,
        Dialect::Fixwire | Dialect::QuickFixJ | Dialect::Antenna => true,
    }
}

/// The key of the engine that corresponds to a fixwire key.
fn there(key: &Key, dialect: Dialect) -> Option<&'static family::FamilyKey> {
    key.names
        .iter()
        .filter_map(|other| family::find(other.name))
        .find(|found| found.is_in(dialect))
}

/// How the engine treats the name under which the file has the key; `None` when the engine reads the key under this
/// name.
pub fn of_the_name(name: &str, key: &Key, dialect: Dialect) -> Option<String> {
    if dialect.letter().is_none() || key.names.is_empty() {
        return None;
    }
    if family::is_read(name, dialect) {
        return None;
    }
    let found = family::find(name)?;
    let holds = match default_there(key, dialect) {
        Some(default) => format!(": its default {default} applies there"),
        None => String::new(),
    };
    Some(if found.is_in(dialect) {
        format!(
            "accepts `{}` only with this capitalisation{holds}",
            found.name
        )
    } else {
        match there(key, dialect) {
            Some(other) => format!("calls it `{}` and ignores this name{holds}", other.name),
            None => format!("has no `{}`", found.name),
        }
    })
}

/// How the engine treats the name of a key that fixwire does not use; `None` when the engine reads the key under this
/// name.
pub fn of_a_name_not_used(name: &str, dialect: Dialect) -> Option<String> {
    if dialect.letter().is_none() || family::is_read(name, dialect) {
        return None;
    }
    let found = family::find(name)?;
    if !found.is_in(dialect) {
        return Some(format!("has no `{}`", found.name));
    }
    let holds = match found.default(dialect) {
        Some(default) => format!(": its default {default} applies there"),
        None => String::new(),
    };
    Some(format!(
        "accepts `{}` only with this capitalisation{holds}",
        found.name
    ))
}

/// How the engine treats a value that fixwire accepts; `None` when the engine accepts it too.
pub fn of_the_value(key: &Key, text: &str, dialect: Dialect) -> Option<String> {
    dialect.letter()?;
    match (key.kind, key.id) {
        (ValueKind::Bool, _) if text.len() > 1 => Some("accepts only Y and N".into()),
        (_, Id::HeartBtInt) if text == "0" && dialect != Dialect::QuickFixN => {
            Some("does not start with HeartBtInt=0".into())
        }
        (_, Id::MillisecondsInTimeStamp) if dialect == Dialect::QuickFixN => {
            Some("does not start with this key: it requires TimestampPrecision".into())
        }
        _ => None,
    }
}

/// The keys for which [`of_what_is_missing`] has an answer.
pub const OF_WHAT_IS_MISSING: [Id; 5] = [
    Id::UseDataDictionary,
    Id::NonStopSession,
    Id::EndTime,
    Id::SSLValidateCertificates,
    Id::Durability,
];

/// The engine's behaviour when the file lacks a key, if that is not simply a default or depends on other keys.
pub fn of_what_is_missing(session: &SessionSettings, id: Id, dialect: Dialect) -> Option<String> {
    let missing = |id: Id| session.find(id).is_none();
    let fixt = session.text(Id::BeginString) == Some("FIXT.1.1");
    let wants_files = matches!(dialect, Dialect::QuickFix | Dialect::QuickFixN);
    match id {
        Id::UseDataDictionary if wants_files && session.bool(id) => {
            let wanted = if fixt {
                Id::TransportDataDictionary
            } else {
                Id::DataDictionary
            };
            missing(wanted).then(|| {
                "has no built-in dictionaries, and does not start without a dictionary file".into()
            })
        }
        Id::NonStopSession
            if dialect.letter().is_some()
                && dialect != Dialect::QuickFixGo
                && missing(Id::StartTime)
                && session
                    .find(id)
                    .is_some_and(|found| found.origin.span().is_none()) =>
        {
            Some("does not start without StartTime and EndTime".into())
        }
        Id::Durability
            if dialect == Dialect::QuickFixGo
                && missing(Id::FileStoreSync)
                && !session.is_in_file(id) =>
        {
            let note = "syncs every message of a file store unless FileStoreSync=N: set \
                        Durability=disk to do the same";
            Some(note.into())
        }
        Id::EndTime if !session.bool(Id::NonStopSession) => of_the_schedule(session, dialect),
        Id::SSLValidateCertificates if transport::uses_tls(session) => of_tls(session, dialect),
        _ => None,
    }
}

/// How the engine interprets a session's times.
fn of_the_schedule(session: &SessionSettings, dialect: Dialect) -> Option<String> {
    let clock = |id| match &session.find(id)?.value {
        SettingValue::Clock(clock) => Some(clock),
        _ => None,
    };
    let (start, end) = (clock(Id::StartTime)?, clock(Id::EndTime)?);
    let of_a_day = session.find(Id::StartDay).is_none();
    let midnight = start.time == Time::default();
    let note = match dialect {
        Dialect::QuickFix if start.time != end.time => {
            "resets sequence numbers when the session ends, not when it starts"
        }
        Dialect::QuickFix if of_a_day && !midnight => {
            "resets sequence numbers at midnight if StartTime equals EndTime"
        }
        Dialect::QuickFixJ if start.zone != end.zone => {
            "may end the session at midnight UTC, or before it starts, if its times are in two \
             time zones"
        }
        _ => return None,
    };
    Some(note.into())
}

/// How the engine verifies its peer over TLS.
fn of_tls(session: &SessionSettings, dialect: Dialect) -> Option<String> {
    let connects = session.text(Id::ConnectionType) == Some("initiator");
    let names = session.find(Id::PeerCertificates).is_none();
    let note = match dialect {
        Dialect::QuickFix if connects => match session.int(Id::CertificateVerifyLevel) {
            None | Some(0) => {
                "verifies the peer's certificate only with CertificateVerifyLevel, and never its \
                 host name"
            }
            Some(_) if names => "never verifies the peer's host name; fixwire does",
            Some(_) => return None,
        },
        Dialect::QuickFixJ if connects && names => {
            "verifies the peer's host name only with EndpointIdentificationAlgorithm=HTTPS; \
             fixwire always does"
        }
        Dialect::QuickFixN => {
            "downloads revocation lists unless SSLCheckCertificateRevocation=N; fixwire reads the lists of CertificateRevocationListFile"
        }
        Dialect::Antenna => {
            "downloads revocation lists unless sslCheckCertificateRevocation=false; fixwire reads the lists of CertificateRevocationListFile"
        }
        _ => return None,
    };
    Some(note.into())
}

/// Defaults of an engine that depend on other settings of the file.
pub fn implied(
    session: &SessionSettings,
    dialect: Dialect,
) -> Vec<(Id, SettingValue, &'static str)> {
    let mut found = Vec::new();
    if dialect == Dialect::Antenna {
        return implied_by_antenna(session);
    }
    // QuickFIX/J answers each message that has a wrong SendingTime with a Logout, and also a first Logon.
    if dialect == Dialect::QuickFixJ && session.find(Id::SendLogoutForLogonSendingTime).is_none() {
        found.push((
            Id::SendLogoutForLogonSendingTime,
            SettingValue::Bool(true),
            "Y",
        ));
    }
    // Tools for these engines read log files in the layout of the engine.
    let theirs = matches!(
        dialect,
        Dialect::QuickFixJ | Dialect::QuickFixGo | Dialect::QuickFixN
    );
    if dialect == Dialect::QuickFix && transport::lacks_its_certificate(session) {
        found.push((Id::SocketUseSSL, SettingValue::Bool(false), "N"));
    }
    let logs = session.find(Id::FileLogPath).is_some();
    if theirs && logs && session.find(Id::FileLogLayout).is_none() {
        found.push((
            Id::FileLogLayout,
            SettingValue::Word(dialect.name()),
            dialect.name(),
        ));
    }
    if dialect != Dialect::QuickFixGo {
        return found;
    }
    // In QuickFIX/Go the program decides the role, by creating an initiator or an acceptor.
    let has = |id: Id| session.find(id).is_some();
    if !has(Id::ConnectionType) {
        match (has(Id::SocketConnectHost), has(Id::SocketAcceptPort)) {
            (true, false) => found.push((
                Id::ConnectionType,
                SettingValue::Word("initiator"),
                "initiator",
            )),
            (false, true) => found.push((
                Id::ConnectionType,
                SettingValue::Word("acceptor"),
                "acceptor",
            )),
            _ => {}
        }
    }
    let dictionaries = [
        Id::DataDictionary,
        Id::TransportDataDictionary,
        Id::AppDataDictionary,
    ];
    if !has(Id::UseDataDictionary) && !dictionaries.into_iter().any(has) {
        found.push((Id::UseDataDictionary, SettingValue::Bool(false), "N"));
    }
    found
}

/// FIX Antenna's defaults for keys that have no default in fixwire.
fn implied_by_antenna(session: &SessionSettings) -> Vec<(Id, SettingValue, &'static str)> {
    let mut found = Vec::new();
    let has = |id: Id| session.find(id).is_some();
    let connects = match session.text(Id::ConnectionType) {
        Some(role) => role == "initiator",
        // In FIX Antenna a session without this key may have either role.
        None if has(Id::SocketConnectHost) => {
            found.push((
                Id::ConnectionType,
                SettingValue::Word("initiator"),
                "initiator",
            ));
            true
        }
        None => {
            found.push((
                Id::ConnectionType,
                SettingValue::Word("acceptor"),
                "acceptor",
            ));
            false
        }
    };
    if !has(Id::BeginString) {
        found.push((Id::BeginString, SettingValue::Word("FIX.4.2"), "FIX.4.2"));
    }
    if connects && !has(Id::HeartBtInt) {
        found.push((Id::HeartBtInt, SettingValue::Int(30), "30"));
    }
    // In FIX Antenna certificates alone do not enable TLS.
    if !has(Id::SocketUseSSL) && has(Id::SocketCAFile) {
        found.push((Id::SocketUseSSL, SettingValue::Bool(false), "N"));
    }
    found
}
