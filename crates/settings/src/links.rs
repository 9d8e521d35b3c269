//! Checks the links of a file.
//!
//! An OMS is the broker's end of its links, and a simulated exchange is the exchange's end. A file with neither of
//! the two has no links.

use std::collections::BTreeMap;

use fixwire_engine::journal::is_session;

use super::Id;
use super::document::{Document, LinkTable};
use super::link_keys::{CONNECTION_KEYS, LINK_KEYS, LinkKey, TmpEnd};
use super::link_settings::{LinkSetting, LinkSettings, password};
use super::problem::{Problem, SettingsFault};
use super::registry::{self, KeyScope};
use super::resolved::{Origin, SessionSettings};
use super::rules;
use super::section::{HIDDEN, SectionReading};
use super::transport;
use super::value::{SettingValue, ValueKind};
use super::variables;

/// The end of its links that this process is: the broker's end for an OMS, the exchange's end for a simulated exchange.
/// With `alone`, a file may have the tables of neither; the process is then the broker's end.
pub(super) fn end_of(document: &Document, alone: bool, problems: &mut Vec<Problem>) -> TmpEnd {
    if document.oms.is_empty() && document.exchange.is_empty() && !alone {
        let spans = document.links.iter().map(|link| link.section.header);
        problems.extend(spans.map(|span| {
            let title = "only an OMS and a simulated exchange have links";
            let help = "add the tables of an OMS (`[oms]`) or of an exchange (`[[instrument]]`), or remove the link; \
                only `fixwire certify` uses links without these tables";
            Problem::found(span, title, Some(help))
        }));
    }
    match document.exchange.is_empty() {
        true => TmpEnd::Broker,
        false => TmpEnd::Exchange,
    }
}

/// Checks the values of a link. `connection` holds the link's session keys, from the link's table and from
/// `[default]`. `given` tells whether the file has a key, even if the value is invalid.
pub(super) fn link(
    reading: &SectionReading<'_>,
    table: &LinkTable,
    (mut connection, given): (SessionSettings, &dyn Fn(Id) -> bool),
    end: TmpEnd,
    problems: &mut Vec<Problem>,
) -> LinkSettings {
    connection.custom.clear();
    connection.settings.retain(|it| {
        let is_used = it.key.scope == KeyScope::Engine || CONNECTION_KEYS.contains(&it.key.id);
        // The broker receives its HeartBtInt in L50. The HeartBtInt in `[default]` is meant for sessions.
        let is_of_sessions = it.key.id == Id::HeartBtInt
            && end == TmpEnd::Broker
            && !matches!(it.origin, Origin::Session(_));
        is_used && !is_of_sessions
    });
    let mut link = LinkSettings {
        header: table.section.header,
        end,
        connection,
        settings: Vec::new(),
        password: None,
    };
    let mut broken = table.broken.clone();
    for (key, entry) in &table.entries {
        if !link.entry(reading, key, entry, problems) {
            broken.push(key.name);
        }
    }
    link.add_defaults();
    link.check(&|name| broken.contains(&name), problems);
    link.check_heart_bt_int(problems);
    link.check_connection(given, problems);
    link
}

impl LinkSettings {
    /// Reads a value; false when the value is wrong.
    fn entry(
        &mut self,
        reading: &SectionReading<'_>,
        key: &'static LinkKey,
        entry: &super::ini::IniEntry,
        problems: &mut Vec<Problem>,
    ) -> bool {
        let mut report = |span, fault| problems.push(Problem { span, fault });
        let is_secret = matches!(key.kind, ValueKind::Secret);
        let expanded = match variables::expand(&entry.text, reading.form, reading.values) {
            Ok(expanded) => expanded,
            Err((name, why)) => {
                let name = if is_secret { HIDDEN.into() } else { name };
                report(entry.value, SettingsFault::Variable { name, why });
                return false;
            }
        };
        let readable = expanded.exposed || (reading.exposed && !expanded.any);
        if is_secret && readable && !entry.text.is_empty() {
            report(entry.value, SettingsFault::Exposed);
        }
        let mut value = key.kind.parse(&expanded.text).map_err(|_| ());
        if is_secret {
            self.password = password(&expanded.text);
            let hidden = SettingValue::Text(HIDDEN.into());
            value = self.password.map(|_| hidden).ok_or(());
        }
        let Ok(value) = value else {
            let expected = key.expected();
            let fault = match entry.text.is_empty() {
                true => SettingsFault::NoValue { expected },
                false => SettingsFault::Malformed {
                    key: key.name,
                    expected,
                },
            };
            let span = if entry.text.is_empty() {
                entry.key
            } else {
                entry.value
            };
            report(span, fault);
            return false;
        };
        let text = if is_secret { HIDDEN } else { &expanded.text };
        self.settings.push(LinkSetting {
            key,
            value,
            text: text.to_owned(),
            origin: Origin::Session(entry.value),
        });
        true
    }

    fn add_defaults(&mut self) {
        for key in LINK_KEYS {
            let is_here = key.end.is_none_or(|end| end == self.end);
            if let Some(text) = key.default
                && let Ok(value) = key.kind.parse(text)
                && is_here
                && self.find(key.name).is_none()
            {
                self.settings.push(LinkSetting {
                    key,
                    value,
                    text: text.to_owned(),
                    origin: Origin::BuiltIn,
                });
            }
        }
        let place = |setting: &LinkSetting| {
            let mut keys = LINK_KEYS.iter();
            keys.position(|key| key.name == setting.key.name)
        };
        self.settings.sort_by_key(place);
    }

    fn check(&self, is_broken: &dyn Fn(&'static str) -> bool, problems: &mut Vec<Problem>) {
        let mut missing = |key: &'static str, because| {
            if !is_broken(key) && self.find(key).is_none() {
                let fault = SettingsFault::Missing { key, because };
                problems.push(Problem {
                    span: self.header,
                    fault,
                });
            }
        };
        missing(
            "name",
            "it is the link's name in events, in the journal and in other tables",
        );
        missing("protocol", "write protocol = \"taifex-tmp\"");
        missing(
            "fcm_id",
            "the header of each message has the broker's number",
        );
        missing(
            "session_id",
            "the header of each message has the number that the exchange gave the link",
        );
        missing(
            "system_type",
            "write for example \"futures day\": both ends of the link must have the same value",
        );
        if self.find("password_file").is_none() && !is_broken("password_file") {
            missing(
                "password",
                "set password, or password_file to a file with the password",
            );
        }
        let mut conflict = |span, title: &str, help: &str| {
            problems.push(Problem::found(span, title, Some(help)));
        };
        if self.find("password").is_some() && self.find("password_file").is_some() {
            let title = "password and password_file exclude each other";
            conflict(self.place("password_file"), title, "remove one of them");
        }
        if self.find("name").is_some() && !is_session(self.name()) {
            let title = format!("no link can be named {}", self.name());
            conflict(
                self.place("name"),
                &title,
                "the journal uses this name: choose another",
            );
        }
        for setting in &self.settings {
            let other = match setting.key.end {
                Some(end) if end != self.end => end,
                _ => continue,
            };
            let (whose, here) = match other {
                TmpEnd::Broker => ("an OMS's links", "a simulated exchange's links"),
                TmpEnd::Exchange => ("a simulated exchange's links", "an OMS's links"),
            };
            let title = format!("{} is a key of {whose}, not of {here}", setting.key.name);
            let help = "remove the key: the other end of the link sends this value in its login";
            conflict(self.place(setting.key.name), &title, help);
        }
    }

    fn check_heart_bt_int(&self, problems: &mut Vec<Problem>) {
        let Some(found) = self.connection.find(Id::HeartBtInt) else {
            return;
        };
        let span = found.origin.span().unwrap_or(self.header);
        let (title, help) = match self.end {
            TmpEnd::Broker => (
                "HeartBtInt is a key of a simulated exchange's links, not of an OMS's links",
                "remove the key: the exchange sends this value in its login (L50)",
            ),
            TmpEnd::Exchange if self.connection.int(Id::HeartBtInt) > Some(255) => (
                "HeartBtInt of a TMP link is at most 255 seconds",
                "L50 has one byte for this value: set 255 or less in the link",
            ),
            TmpEnd::Exchange => return,
        };
        problems.push(Problem::found(span, title, Some(help)));
    }

    fn check_connection(&self, given: &dyn Fn(Id) -> bool, problems: &mut Vec<Problem>) {
        let from = &self.connection;
        let mut missing = |id, because| {
            if !given(id) {
                let key = registry::key(id).name;
                let fault = SettingsFault::Missing { key, because };
                problems.push(Problem {
                    span: self.header,
                    fault,
                });
            }
        };
        missing(
            Id::ConnectionType,
            "write ConnectionType = \"initiator\", or \"acceptor\"",
        );
        match from.text(Id::ConnectionType) {
            Some("acceptor") => missing(
                Id::SocketAcceptPort,
                "a link that accepts connections needs a port of its own",
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
            }
            None => {}
        }
        rules::check_hosts(from, problems);
        transport::check(from, problems);
        if from.text(Id::ConnectionType) == Some("acceptor") && transport::uses_tls(from) {
            let span = from.find(Id::SocketUseSSL);
            let span = span.and_then(|found| found.origin.span());
            let title = "TLS is not supported on a link that accepts connections";
            let help = "set SocketUseSSL = false in the link";
            let span = span.unwrap_or(self.header);
            problems.push(Problem::found(span, title, Some(help)));
        }
    }
}

/// Checks the links of a file against each other and against its sessions.
pub(super) fn check_together(
    links: &[LinkSettings],
    sessions: &[SessionSettings],
    problems: &mut Vec<Problem>,
) {
    let mut names = BTreeMap::new();
    for session in sessions {
        names.insert(session.name(), session.header);
        let setting = session.find(Id::SessionName);
        let span = setting.and_then(|setting| setting.origin.span());
        names.insert(session.called(), span.unwrap_or(session.header));
    }
    let mut logins = BTreeMap::new();
    for (index, link) in links.iter().enumerate() {
        if link.find("name").is_some() {
            let span = link.place("name");
            if let Some(first) = names.insert(link.name().to_owned(), span) {
                problems.push(Problem {
                    span,
                    fault: SettingsFault::Repeated { first },
                });
            }
        }
        let keys = ["fcm_id", "session_id", "system_type"];
        let is_whole = keys.iter().all(|key| link.find(key).is_some());
        let [fcm, session] = [keys[0], keys[1]].map(|key| link.number(key));
        let login = (fcm, session, link.text(keys[2]));
        if is_whole && let Some(first) = logins.insert(login, link.name()) {
            let title = format!("link {first} has the same fcm_id, session_id and system_type");
            let help = "the exchange identifies a link by these three values together: give each link its own session_id";
            problems.push(Problem::found(link.place("session_id"), &title, Some(help)));
        }
        let others = links[..index].iter();
        let others = others.map(|other| (other.name().to_owned(), &other.connection));
        let others = others.chain(sessions.iter().map(|it| (it.called(), it)));
        check_port(link, others, problems);
    }
}

/// Checks that a link that accepts connections has a port that nothing else uses.
fn check_port<'s>(
    link: &LinkSettings,
    mut others: impl Iterator<Item = (String, &'s SessionSettings)>,
    problems: &mut Vec<Problem>,
) {
    let listens = |from: &SessionSettings| {
        let is_acceptor = from.text(Id::ConnectionType) == Some("acceptor");
        let address = from.find(Id::SocketAcceptAddress);
        let ip = match address.map(|address| &address.value) {
            Some(SettingValue::Ip(ip)) => *ip,
            _ => return None,
        };
        let port = from.int(Id::SocketAcceptPort).filter(|_| is_acceptor)?;
        Some((ip, port))
    };
    let Some((ip, port)) = listens(&link.connection) else {
        return;
    };
    let other = others.find(|(_, other)| {
        listens(other).is_some_and(|(theirs, other)| {
            let same = theirs == ip || theirs.is_unspecified() || ip.is_unspecified();
            same && other == port
        })
    });
    if let Some((name, _)) = other {
        let setting = link.connection.find(Id::SocketAcceptPort);
        let span = setting.and_then(|setting| setting.origin.span());
        let title = format!("{name} listens on port {port} too");
        let help = "a link cannot share its port with a session or another link: give it its own SocketAcceptPort";
        problems.push(Problem::found(
            span.unwrap_or(link.header),
            &title,
            Some(help),
        ));
    }
}
