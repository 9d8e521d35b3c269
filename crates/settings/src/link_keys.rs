//! Every key of a `[[link]]` table: the keys of the link protocol, each defined once, and the session keys for the
//! connection.
//!
//! `docs/reference/settings.md` is generated from this file, as from `keys.rs`.

use super::keys::Id;
use super::value::ValueKind;

/// A key of a link's protocol.
#[derive(Debug)]
pub struct LinkKey {
    /// Name of the key, as in a file.
    pub name: &'static str,
    /// The type of the value.
    pub kind: ValueKind,
    /// The default value, as it would be written in a file.
    pub default: Option<&'static str>,
    /// The end of the link that has the key; `None` when both ends have the key.
    pub end: Option<TmpEnd>,
    /// The help text, in Markdown.
    pub doc: &'static str,
}

impl LinkKey {
    /// The expected value, to follow the word "expected".
    #[must_use]
    pub fn expected(&self) -> String {
        match self.kind {
            ValueKind::Secret => "1 to 9 digits".into(),
            kind => kind.expected(),
        }
    }
}

/// An end of a TMP link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TmpEnd {
    /// The broker's end: an OMS.
    Broker,
    /// The exchange's end: a simulated exchange.
    Exchange,
}

/// The protocol of links.
pub const TAIFEX_TMP: &str = "taifex-tmp";
const PROTOCOLS: ValueKind = ValueKind::Word(&[(TAIFEX_TMP, TAIFEX_TMP)]);
const SYSTEM_TYPES: ValueKind = ValueKind::Word(&[
    ("options day", "options day"),
    ("options night", "options night"),
    ("futures day", "futures day"),
    ("futures night", "futures night"),
]);
const ORDER_SOURCES: ValueKind = ValueKind::Word(&[
    ("D", "D"),
    ("A", "A"),
    ("M", "M"),
    ("W", "W"),
    ("P", "P"),
    ("V", "V"),
    ("G", "G"),
]);
const POSITION_EFFECTS: ValueKind = ValueKind::Word(&[
    ("open", "open"),
    ("close", "close"),
    ("day trade", "day trade"),
    ("automatic", "automatic"),
    ("liquidation", "liquidation"),
]);
/// The purposes that a link can have: trading, or copies of reports.
const AP_CODES: ValueKind = ValueKind::Word(&[
    ("trading", "trading"),
    ("drop copy", "drop copy"),
    ("clearing member", "clearing member"),
]);
/// Names of two heartbeat rules: the rule of the specification, and the rule of a public implementation.
pub const SILENT_PEER: &str = "silent peer";
/// See [`SILENT_PEER`].
pub const IDLE_SENDER: &str = "idle sender";
const HEARTBEATS: ValueKind =
    ValueKind::Word(&[(SILENT_PEER, SILENT_PEER), (IDLE_SENDER, IDLE_SENDER)]);

const fn number(max: u64, unit: &'static str) -> ValueKind {
    ValueKind::Int { min: 0, max, unit }
}

/// Every key of the protocol, in the order of the reference page.
pub static LINK_KEYS: &[LinkKey] = &[
    LinkKey {
        name: "name",
        kind: ValueKind::Name,
        default: None,
        end: None,
        doc: "Name of the link in events, in the journal and in the other tables of the file. It must be unique among \
              links and sessions.",
    },
    LinkKey {
        name: "protocol",
        kind: PROTOCOLS,
        default: None,
        end: None,
        doc: "Protocol of the link: [TMP](tmp.md).",
    },
    LinkKey {
        name: "fcm_id",
        kind: number(65_535, ""),
        default: None,
        end: None,
        doc: "The broker's number, in the header of each message.",
    },
    LinkKey {
        name: "session_id",
        kind: number(65_535, ""),
        default: None,
        end: None,
        doc: "The number that the exchange gave the link, in the header of each message.",
    },
    LinkKey {
        name: "password",
        kind: ValueKind::Secret,
        default: None,
        end: None,
        doc: "The link's password, 1 to 9 digits in quotes. The password is never sent; L40 has a proof of it. Never \
              shown.",
    },
    LinkKey {
        name: "password_file",
        kind: ValueKind::Path,
        default: None,
        end: None,
        doc: "A file with the password, instead of `password`, with mode 0600. A relative path starts from the folder \
              of the settings file.",
    },
    LinkKey {
        name: "system_type",
        kind: SYSTEM_TYPES,
        default: None,
        end: None,
        doc: "Market and trading session. L30 from the exchange must have the same value.",
    },
    LinkKey {
        name: "ap_code",
        kind: AP_CODES,
        default: Some("trading"),
        end: None,
        doc: "The purpose of the link: `trading` for orders; `drop copy` or `clearing member` for copies of reports.",
    },
    LinkKey {
        name: "heartbeat",
        kind: HEARTBEATS,
        default: Some(SILENT_PEER),
        end: None,
        doc: "When the link sends a heartbeat (R04). `silent peer`, as the specification says: when the peer has sent \
              nothing for HeartBtInt. `idle sender`: when the link itself has sent nothing for HeartBtInt.",
    },
    LinkKey {
        name: "cancel_order_sec",
        kind: number(255, "seconds"),
        default: Some("0"),
        end: Some(TmpEnd::Broker),
        doc: "The exchange refuses an order that arrives more than this number of seconds after it was sent. With 0 the \
            exchange refuses no order for its age.",
    },
    LinkKey {
        name: "cm_id",
        kind: number(65_535, ""),
        default: None,
        end: Some(TmpEnd::Broker),
        doc: "The clearing member of orders and quotes. Without this key the value is the broker itself, `fcm_id`.",
    },
    LinkKey {
        name: "order_source",
        kind: ORDER_SOURCES,
        default: None,
        end: Some(TmpEnd::Broker),
        doc: "The source of the orders; the value is sent in each order, request, quote and inquiry. A line of an OMS \
              needs this key.",
    },
    LinkKey {
        name: "info_source",
        kind: ValueKind::Name,
        default: None,
        end: Some(TmpEnd::Broker),
        doc: "The information vendor, 3 characters, `999` for none; the value is sent together with `order_source`. A \
              line of an OMS needs this key.",
    },
    LinkKey {
        name: "investor_flag",
        kind: ValueKind::Name,
        default: None,
        end: Some(TmpEnd::Broker),
        doc: "The kind of investor, 1 character; the value is sent in new orders, requests and quotes. A line of an \
              OMS needs this key.",
    },
    LinkKey {
        name: "position_effect",
        kind: POSITION_EFFECTS,
        default: None,
        end: Some(TmpEnd::Broker),
        doc: "PositionEffect of orders for symbols with netting positions, when neither the order nor its `[[user]]` \
              table has a PositionEffect: `open` (O), `close` (C), `day trade` (D), `liquidation` (7), or `automatic` \
              (A) for options only. Without this key the value is A on a link for options; on a link for futures \
              such orders are refused.",
    },
    LinkKey {
        name: "max_flow",
        kind: number(65_535, "messages a second"),
        default: Some("16"),
        end: Some(TmpEnd::Exchange),
        doc: "Maximum number of messages that the broker may send in a second; the exchange sends this number in L50. \
            0: no limit.",
    },
];

/// Finds a key by its name.
pub fn find(name: &str) -> Option<&'static LinkKey> {
    LINK_KEYS.iter().find(|key| key.name == name)
}

/// The session keys that links have too. The same code reads them for sessions and links.
pub const CONNECTION_KEYS: [Id; 52] = [
    Id::ConnectionType,
    Id::HeartBtInt,
    Id::SocketAcceptPort,
    Id::SocketAcceptAddress,
    Id::SocketConnectHost,
    Id::SocketConnectPort,
    Id::SocketConnectTimeout,
    Id::ReconnectInterval,
    Id::HostSelectionPolicy,
    Id::HostSelectionPolicyPriorityStartOverInterval,
    Id::SocketLocalHost,
    Id::SocketLocalPort,
    Id::SocketReuseAddress,
    Id::SocketKeepAlive,
    Id::SocketOobInline,
    Id::SocketLinger,
    Id::SocketTrafficClass,
    Id::BusyPoll,
    Id::ProxyType,
    Id::ProxyVersion,
    Id::ProxyHost,
    Id::ProxyPort,
    Id::ProxyUser,
    Id::ProxyPassword,
    Id::SocketUseSSL,
    Id::SocketCertificateFile,
    Id::SocketPrivateKeyFile,
    Id::ServerCertificateFile,
    Id::ServerCertificateKeyFile,
    Id::ClientCertificateFile,
    Id::ClientCertificateKeyFile,
    Id::SocketKeyStore,
    Id::SocketKeyStorePassword,
    Id::SocketCAFile,
    Id::CertificationAuthoritiesDirectory,
    Id::SocketTrustStore,
    Id::SocketTrustStorePassword,
    Id::CertificateRevocationListFile,
    Id::CertificateRevocationListDirectory,
    Id::NeedClientAuth,
    Id::CertificateVerifyLevel,
    Id::PeerCertificates,
    Id::EnabledProtocols,
    Id::SocketMinimumTLSVersion,
    Id::CipherSuites,
    Id::SSLCipherSuite,
    Id::TLSCipherSuites,
    Id::SocketServerName,
    Id::UseSNI,
    Id::SocketInsecureSkipVerify,
    Id::SSLValidateCertificates,
    Id::AllowedRemoteAddresses,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry;
    use fixwire_tmp::{ApCode, SystemType};

    fn words(kind: ValueKind) -> Vec<&'static str> {
        let ValueKind::Word(words) = kind else {
            panic!("{kind:?}");
        };
        words.iter().map(|(word, _)| *word).collect()
    }

    #[test]
    fn words_are_names_of_codes() {
        let named = (0..=u8::MAX).filter_map(|code| SystemType(code).name());
        assert_eq!(words(SYSTEM_TYPES), named.collect::<Vec<_>>());
        let codes = [ApCode::TRADING, ApCode::DROP_COPY, ApCode::CLEARING_MEMBER];
        assert_eq!(words(AP_CODES), codes.map(|code| code.name().unwrap()));
    }

    #[test]
    fn no_key_is_a_sessions_too() {
        for key in LINK_KEYS {
            let is_a_sessions = registry::find(key.name).is_some() && key.name != "password";
            assert!(!is_a_sessions, "{}", key.name);
            if let Some(text) = key.default {
                assert!(key.kind.parse(text).is_ok(), "{}", key.name);
            }
        }
    }
}
