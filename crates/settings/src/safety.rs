//! Logon permissions, rate limits and session templates, made from the settings of a file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fixwire_engine::config::{
    Access, Excess, Flow, Limits, LogonLimits, SessionConfig, Template, Throttle,
};
use fixwire_engine::passwords::{Users, UsersError};
use fixwire_engine::{Network, Rate};

use super::Id;
use super::problem::LoadError;
use super::resolved::{SessionSettings, Settings};

/// The users of each password file, by the real path of the file. Sections that name the same file share its users.
/// With separate users, a NewPassword(925) of one section would be unknown to the other sections, which would overwrite
/// it with the old password.
pub(super) type Files = BTreeMap<PathBuf, Arc<Users>>;

/// Logon permissions of a session.
pub(super) fn access(
    settings: &Settings,
    from: &SessionSettings,
    files: &mut Files,
) -> Result<Access, LoadError> {
    let addresses = addresses(settings, from)?;
    let file = from.text(Id::PasswordFile);
    let users = match (from.text(Id::PasswordHash), file) {
        (Some(_), Some(_)) => {
            let note = "PasswordHash and PasswordFile exclude each other".to_owned();
            return Err(settings.error(from, Id::PasswordHash, note));
        }
        (None, None) => None,
        (Some(hash), None) => {
            let name = from.text(Id::Username).unwrap_or_default();
            let users = Users::one(name.as_bytes(), hash);
            let said =
                |error| settings.error(from, Id::PasswordHash, format!("PasswordHash: {error}"));
            Some(Arc::new(users.map_err(said)?))
        }
        (None, Some(path)) => {
            let said = |error| settings.error(from, Id::PasswordFile, format!("{path}: {error}"));
            Some(users_of(Path::new(path), files).map_err(said)?)
        }
    };
    if users.is_some() {
        let clash = match from.text(Id::ConnectionType) {
            Some("acceptor") if from.find(Id::Password).is_some() => {
                Some("Password and a hashed password exclude each other")
            }
            Some("acceptor") => None,
            _ => {
                Some("an initiator sends its Password; only an acceptor verifies a hashed password")
            }
        };
        if let Some(note) = clash {
            let id = file.map_or(Id::PasswordHash, |_| Id::PasswordFile);
            return Err(settings.error(from, id, note.into()));
        }
    }
    let replaces = from.text(Id::DuplicateLogon) == Some("replace");
    let is_proved = users.is_some()
        || from.find(Id::Password).is_some()
        || from.find(Id::PeerCertificates).is_some();
    if replaces && from.text(Id::ConnectionType) == Some("acceptor") && !is_proved {
        let note = "DuplicateLogon=replace lets anyone who knows the CompIDs end the connection: set PasswordFile, \
                    PasswordHash, Password or PeerCertificates";
        return Err(settings.error(from, Id::DuplicateLogon, note.into()));
    }
    Ok(Access {
        addresses,
        users,
        replaces,
    })
}

/// The addresses from which a session accepts connections.
pub(super) fn addresses(
    settings: &Settings,
    from: &SessionSettings,
) -> Result<Vec<Network>, LoadError> {
    let mut addresses = Vec::new();
    for text in list(from, Id::AllowedRemoteAddresses) {
        let network = text.parse().map_err(|error| {
            let note = format!("{text} is {error}");
            settings.error(from, Id::AllowedRemoteAddresses, note)
        })?;
        addresses.push(network);
    }
    Ok(addresses)
}

fn users_of(path: &Path, files: &mut Files) -> Result<Arc<Users>, UsersError> {
    // A change of the file replaces the file itself, not a link to the file.
    let path = fs::canonicalize(path).map_err(|error| UsersError::Io(error.to_string()))?;
    if let Some(users) = files.get(&path) {
        return Ok(Arc::clone(users));
    }
    let users = Arc::new(Users::read(&path)?);
    files.insert(path, Arc::clone(&users));
    Ok(users)
}

fn list(from: &SessionSettings, id: Id) -> impl Iterator<Item = &str> {
    let text = from.text(id).unwrap_or_default();
    text.split([',', ';'])
        .map(str::trim)
        .filter(|part| !part.is_empty())
}

/// The rate limits.
pub(super) fn flow(from: &SessionSettings) -> Flow {
    let rate = |rate: Id, burst: Id| {
        let number = |id| from.int(id).and_then(|value| u32::try_from(value).ok());
        let count = number(rate)?;
        Some(Rate {
            count,
            per: Duration::from_secs(1),
            burst: number(burst).unwrap_or(count),
        })
    };
    Flow {
        inbound: rate(Id::InboundRate, Id::InboundBurst).map(|rate| Throttle {
            rate,
            excess: match from.text(Id::InboundExcess) {
                Some("reject") => Excess::Reject,
                Some("disconnect") => Excess::Disconnect,
                _ => Excess::Delay,
            },
        }),
        outbound: rate(Id::OutboundRate, Id::OutboundBurst),
    }
}

/// The engine's limits for unknown peers and slow peers.
pub(super) fn limits(from: &SessionSettings, usual: Limits) -> Limits {
    let number = |id, usual: u32| {
        let said = from.int(id).and_then(|value| u32::try_from(value).ok());
        said.unwrap_or(usual)
    };
    let logons = usual.logons;
    Limits {
        stall_time: from
            .time(Id::SlowConsumerTimeout)
            .unwrap_or(usual.stall_time),
        dynamic_sessions: number(Id::MaxDynamicSessions, usual.dynamic_sessions as u32) as usize,
        logons: LogonLimits {
            failures_per_minute: number(Id::MaxFailedLogons, logons.failures_per_minute),
            failures_per_minute_and_address: number(
                Id::MaxFailedLogonsPerAddress,
                logons.failures_per_minute_and_address,
            ),
            failures_per_minute_and_session: number(
                Id::MaxFailedLogonsPerSession,
                logons.failures_per_minute_and_session,
            ),
        },
        log_only_bytes_per_hour: number(Id::JournalLogOnlyLimit, usual.log_only_bytes_per_hour),
        ..usual
    }
}

/// Adds a session to the sessions, to the templates, or to both.
pub(super) fn sort(
    from: &SessionSettings,
    config: SessionConfig,
    sessions: &mut Vec<SessionConfig>,
    templates: &mut Vec<Template>,
) {
    let qualified = from.bool(Id::DynamicQualifier);
    let acceptor = from.text(Id::ConnectionType) == Some("acceptor");
    let is_template = acceptor && from.bool(Id::AcceptorTemplate);
    if acceptor && from.bool(Id::DynamicSessions) && !is_template {
        let mut session = config.clone();
        let identity = &mut session.session;
        for party in [&mut identity.own, &mut identity.peer] {
            for id in [
                &mut party.comp_id,
                &mut party.sub_id,
                &mut party.location_id,
            ] {
                *id = b"*".to_vec();
            }
        }
        // The first session of a port and FIX version is the template for all sessions that have no section of their
        // own.
        let same = |other: &Template| {
            other.session.connection == session.connection
                && other.session.session.begin_string == session.session.begin_string
                && other.session.session.peer == session.session.peer
        };
        if !templates.iter().any(same) {
            templates.push(Template { session, qualified });
        }
    }
    match is_template {
        true => templates.push(Template {
            session: config,
            qualified,
        }),
        false => sessions.push(config),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;
    use fixwire_engine::config::EngineConfig;
    use std::os::unix::fs::PermissionsExt;

    fn config(extra: &str) -> Result<EngineConfig, String> {
        let text = format!(
            "[SESSION]\nBeginString=FIX.4.2\nSenderCompID=A\nTargetCompID=B\n\
             ConnectionType=acceptor\nSocketAcceptPort=5001\n{extra}\n"
        );
        let source = Source {
            path: "x.cfg".into(),
            text,
        };
        let settings = Settings::read(&source).map_err(|error| error.to_string())?;
        settings.to_config().map_err(|error| error.to_string())
    }

    #[test]
    fn addresses_rates_and_limits_arrive() {
        let made = config(
            "AllowedRemoteAddresses=192.0.2.1, 10.0.0.0/8\nInboundRate=100\nInboundExcess=reject\n\
             OutboundRate=50\nOutboundBurst=5\nSlowConsumerTimeout=30\nMaxDynamicSessions=7\n\
             JournalLogOnlyLimit=1M\nMaxFailedLogons=1\nMaxFailedLogonsPerAddress=2\nMaxFailedLogonsPerSession=3",
        )
        .unwrap();
        let session = &made.sessions[0];
        let networks = ["192.0.2.1", "10.0.0.0/8"].map(|text| text.parse().unwrap());
        assert_eq!(session.access.addresses, networks);
        let inbound = session.flow.inbound.unwrap();
        assert_eq!(
            (inbound.rate, inbound.excess),
            (Rate::per_second(100), Excess::Reject)
        );
        let outbound = session.flow.outbound.unwrap();
        assert_eq!((outbound.count, outbound.burst), (50, 5));
        assert_eq!(made.limits.stall_time, Duration::from_secs(30));
        assert_eq!(made.limits.dynamic_sessions, 7);
        assert_eq!(made.limits.log_only_bytes_per_hour, 1 << 20);
        let logons = made.limits.logons;
        let all = [
            logons.failures_per_minute,
            logons.failures_per_minute_and_address,
            logons.failures_per_minute_and_session,
        ];
        assert_eq!(all, [1, 2, 3]);
        let none = config("").unwrap();
        assert_eq!(none.sessions[0].flow, Flow::default());
        assert_eq!(
            none.limits,
            Limits {
                logon_time: none.limits.logon_time,
                ..Limits::default()
            }
        );
    }

    #[test]
    fn passwords_are_hashed_ones_that_can_be_read() {
        let hash = fixwire_engine::passwords::hash(b"tiger").unwrap();
        let one = config(&format!("Username=U\nPasswordHash={hash}")).unwrap();
        assert!(one.sessions[0].access.users.is_some());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users");
        std::fs::write(&path, format!("U:{hash}\n")).unwrap();
        let set_mode = |mode| {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        set_mode(0o600);
        let file = format!("PasswordFile={}", path.display());
        assert!(config(&file).unwrap().sessions[0].access.users.is_some());
        for (extra, says) in [
            ("PasswordHash=tiger".to_owned(), "argon2id"),
            (format!("PasswordHash={hash}\n{file}"), "exclude"),
            (format!("PasswordHash={hash}\nPassword=tiger"), "exclude"),
            ("PasswordFile=/nowhere".to_owned(), "cannot read"),
            ("DuplicateLogon=replace".to_owned(), "set PasswordFile"),
            (
                "AllowedRemoteAddresses=here".to_owned(),
                "not an IP address",
            ),
        ] {
            let error = config(&extra).unwrap_err();
            assert!(
                error.contains(says) && error.starts_with("x.cfg:"),
                "{error}"
            );
            assert!(!error.contains("tiger"), "{error}");
        }
        for (extra, replaces) in [
            ("DuplicateLogon=replace\nPassword=tiger".to_owned(), true),
            (format!("DuplicateLogon=replace\n{file}"), true),
            (format!("DuplicateLogon=reject\n{file}"), false),
            (file.clone(), false),
        ] {
            let made = config(&extra).unwrap();
            assert_eq!(made.sessions[0].access.replaces, replaces, "{extra}");
        }
        set_mode(0o644);
        assert!(config(&file).unwrap_err().contains("chmod 600"));
    }

    /// A password changed in one section is changed in all sections with this file, by any path.
    #[test]
    fn sections_that_name_one_password_file_share_its_users() {
        let hash = fixwire_engine::passwords::hash(b"tiger").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let [path, link, other] = ["users", "link", "other"].map(|name| folder.path().join(name));
        for path in [&path, &other] {
            fs::write(path, format!("U:{hash}\n")).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
        }
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let mut text = format!("PasswordFile={}\n", path.display());
        for (peer, path) in [("C", &path), ("D", &link), ("E", &other)] {
            let path = path.display();
            text +=
                &format!("[SESSION]\nBeginString=FIX.4.2\nSenderCompID=A\nTargetCompID={peer}\n");
            text += "ConnectionType=acceptor\nSocketAcceptPort=5001\n";
            text += &format!("PasswordFile={path}\n");
        }
        let made = config(&text).unwrap();
        let users = |index: usize| made.sessions[index].access.users.as_ref().unwrap();
        assert!(Arc::ptr_eq(users(0), users(1)), "the same path");
        assert!(Arc::ptr_eq(users(0), users(2)), "a link to it");
        assert!(!Arc::ptr_eq(users(0), users(3)), "another file");
    }

    #[test]
    fn templates_are_made_of_sections() {
        let java = config("AcceptorTemplate=Y").unwrap();
        assert!(java.sessions.is_empty());
        assert_eq!(java.templates.len(), 1);
        assert_eq!(java.templates[0].session.session.peer.comp_id, b"B");
        let go = config("DynamicSessions=Y\nDynamicQualifier=Y").unwrap();
        assert_eq!((go.sessions.len(), go.templates.len()), (1, 1));
        assert!(go.templates[0].qualified);
        let peer = &go.templates[0].session.session.peer;
        assert_eq!(
            (&peer.comp_id[..], &peer.sub_id[..]),
            (&b"*"[..], &b"*"[..])
        );
    }
}
