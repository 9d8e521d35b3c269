//! Value types that several keys share, and the words that each type allows.

use super::value::ValueKind;

pub(super) const fn time(min: u64, max: u64) -> ValueKind {
    ValueKind::Time {
        min: min * 1000,
        max: max * 1000,
    }
}

pub(super) const fn bytes(min: u64, max: u64) -> ValueKind {
    ValueKind::Bytes { min, max }
}

pub(super) const KB: u64 = 1 << 10;
pub(super) const MB: u64 = 1 << 20;
pub(super) const GB: u64 = 1 << 30;
pub(super) const DAY: u64 = 86_400;

pub(super) const BEGIN_STRINGS: ValueKind = ValueKind::Word(&[
    ("FIX.4.0", "FIX.4.0"),
    ("FIX.4.1", "FIX.4.1"),
    ("FIX.4.2", "FIX.4.2"),
    ("FIX.4.3", "FIX.4.3"),
    ("FIX.4.4", "FIX.4.4"),
    ("FIXT.1.1", "FIXT.1.1"),
]);

pub(super) const APPL_VERSIONS: ValueKind = ValueKind::Word(&[
    ("FIX.5.0", "FIX.5.0"),
    ("FIX50", "FIX.5.0"),
    ("7", "FIX.5.0"),
    ("FIX.5.0SP1", "FIX.5.0SP1"),
    ("FIX50SP1", "FIX.5.0SP1"),
    ("8", "FIX.5.0SP1"),
    ("FIX.5.0SP2", "FIX.5.0SP2"),
    ("FIX50SP2", "FIX.5.0SP2"),
    ("9", "FIX.5.0SP2"),
    ("FIX.4.0", "FIX.4.0"),
    ("FIX40", "FIX.4.0"),
    ("2", "FIX.4.0"),
    ("FIX.4.1", "FIX.4.1"),
    ("FIX41", "FIX.4.1"),
    ("3", "FIX.4.1"),
    ("FIX.4.2", "FIX.4.2"),
    ("FIX42", "FIX.4.2"),
    ("4", "FIX.4.2"),
    ("FIX.4.3", "FIX.4.3"),
    ("FIX43", "FIX.4.3"),
    ("5", "FIX.4.3"),
    ("FIX.4.4", "FIX.4.4"),
    ("FIX44", "FIX.4.4"),
    ("6", "FIX.4.4"),
    ("FIX.Latest", "FIX.Latest"),
    ("FIXLatest", "FIX.Latest"),
    ("10", "FIX.Latest"),
]);

pub(super) const PRECISIONS: ValueKind = ValueKind::Word(&[
    ("SECONDS", "SECONDS"),
    ("SECOND", "SECONDS"),
    ("0", "SECONDS"),
    ("MILLIS", "MILLIS"),
    ("MILLISECOND", "MILLIS"),
    ("3", "MILLIS"),
    ("MICROS", "MICROS"),
    ("MICROSECOND", "MICROS"),
    ("6", "MICROS"),
    ("NANOS", "NANOS"),
    ("NANOSECOND", "NANOS"),
    ("9", "NANOS"),
]);

pub(super) const ROLES: ValueKind =
    ValueKind::Word(&[("acceptor", "acceptor"), ("initiator", "initiator")]);
pub(super) const DURABILITIES: ValueKind = ValueKind::Word(&[
    ("memory", "memory"),
    ("process", "process"),
    ("disk", "disk"),
]);
pub(super) const LAYOUTS: ValueKind = ValueKind::Word(&[
    ("quickfix", "quickfix"),
    ("quickfixj", "quickfixj"),
    ("quickfixgo", "quickfixgo"),
    ("quickfixn", "quickfixn"),
]);
pub(super) const DIALECTS: ValueKind = ValueKind::Word(&[
    ("fixwire", "fixwire"),
    ("quickfix", "quickfix"),
    ("quickfixj", "quickfixj"),
    ("quickfixgo", "quickfixgo"),
    ("quickfixn", "quickfixn"),
]);
pub(super) const MESSAGES_BEFORE_LOGON: ValueKind =
    ValueKind::Word(&[("store", "store"), ("refuse", "refuse")]);
pub(super) const EXCESSES: ValueKind = ValueKind::Word(&[
    ("reject", "reject"),
    ("delay", "delay"),
    ("disconnect", "disconnect"),
]);
pub(super) const DUPLICATES: ValueKind =
    ValueKind::Word(&[("reject", "reject"), ("replace", "replace")]);
pub(super) const SIGNATURES: ValueKind = ValueKind::Word(&[
    ("ed25519", "ed25519"),
    ("coinbase", "coinbase"),
    ("cme", "cme"),
]);
pub(super) const WAITS: ValueKind =
    ValueKind::Word(&[("spin", "spin"), ("yield", "yield"), ("block", "block")]);

pub(super) const POLICIES: ValueKind = ValueKind::Word(&[
    ("ROUNDROBIN", "ROUNDROBIN"),
    ("ROUND_ROBIN", "ROUNDROBIN"),
    ("PRIORITY", "PRIORITY"),
]);
pub(super) const PROXIES: ValueKind = ValueKind::Word(&[("http", "http"), ("socks", "socks")]);
pub(super) const PROXY_VERSIONS: ValueKind = ValueKind::Word(&[
    ("1.0", "1.0"),
    ("1.1", "1.1"),
    ("4", "4"),
    ("4a", "4a"),
    ("5", "5"),
]);
pub(super) const TLS_VERSIONS: ValueKind = ValueKind::Word(&[
    ("TLS12", "TLS12"),
    ("TLS13", "TLS13"),
    ("TLS11", "TLS12"),
    ("TLS10", "TLS12"),
    ("SSL30", "TLS12"),
]);
