//! `Options`: the tables `[gateway]` and `[target.SESSION]` of the file.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::RangeInclusive;

use fixwire_protocol::Nanos;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::context::GatewayContext;
use super::notes::{MAX_ORDERS, MAX_SESSIONS};
use crate::orders::{OrdersConfig, Rewriting, When};
use crate::rules::{Errors, MAX_BYTES, RuleProblem, nearest};

mod units;

/// The tables of the file.
const TABLES: [&str; 12] = [
    "client",
    "default",
    "session",
    "gateway",
    "group",
    "table",
    "conversion",
    "script",
    "rule",
    "on",
    "operator",
    "target",
];
pub(super) const GATEWAY: [&str; 11] = [
    "match",
    "unmatched",
    "script_operations",
    "ids",
    "id_prefix",
    "id_length",
    "max_id",
    "max_orders",
    "forget_after_days",
    "max_held",
    "max_remembered",
];
pub(super) const TARGET: [&str; 5] = ["away", "time_to_live", "ids", "id_prefix", "id_length"];

pub(super) const CLIENT: [&str; 3] = ["max_orders", "max_held", "max_remembered"];

const NANOS_PER_DAY: u64 = 86_400 * 1_000_000_000;

/// The handling of a message for a session that is not logged on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Away {
    /// The message is held, and sent when the session logs on.
    Hold,
    /// The message's source receives a reject.
    Reject,
    /// The message goes to this session, by its index.
    To(usize),
}

/// The options of a file.
pub(super) struct Options {
    /// Whether the source of a message that no rule decides receives a reject.
    pub reject_unmatched: bool,
    pub orders: OrdersConfig,
    /// Maximum memory of held messages, in bytes.
    pub max_held: u64,
    /// Maximum memory of remembered values, in bytes.
    pub max_remembered: u64,
    /// The options of each session as a target.
    pub targets: Vec<Target>,
    /// The shares of each session as a client.
    pub clients: Vec<Client>,
}

/// The shares of a session as a client; `None` where not configured.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Client {
    pub max_orders: Option<u64>,
    pub max_held: Option<u64>,
    pub max_remembered: Option<u64>,
}

/// A session that messages go to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub away: Away,
    /// How long the gateway holds a message; `None` if the session holds responses and copies.
    pub time_to_live: Option<Nanos>,
    /// Whether orders for the session are tracked, so that responses find their client.
    pub follows: bool,
    /// The form of ids; `None` for the common form.
    pub ids: Option<Rewriting>,
}

/// The keys about the form of ids, as the file has them.
#[derive(Clone, Copy)]
struct Ids<'d> {
    follows: bool,
    when: When,
    prefix: &'d str,
    length: u64,
}

type Item<'d> = Spanned<DeValue<'d>>;

struct Reader<'r, 't, 'c> {
    errors: &'r mut Errors<'t>,
    context: &'c GatewayContext<'c>,
}

/// Reads the options. Invalid TOML has none: the reader of rules reports the error.
pub(super) fn read(text: &str, errors: &mut Errors<'_>, context: &GatewayContext<'_>) -> Options {
    let table = match DeTable::parse(text) {
        Ok(table) if text.len() <= MAX_BYTES => table.into_inner(),
        _ => DeTable::new(),
    };
    let mut reader = Reader { errors, context };
    reader.known(&table, &TABLES);
    let empty = DeTable::new();
    let gateway = table
        .get("gateway")
        .and_then(|value| value.get_ref().as_table());
    let (mut options, ids) = reader.gateway(gateway.unwrap_or(&empty));
    if let Some(targets) = table.get("target") {
        reader.targets(targets, ids, &mut options);
    }
    if let Some(clients) = table.get("client") {
        reader.clients(clients, &mut options);
    }
    options
}

impl Reader<'_, '_, '_> {
    fn wrong<T>(&mut self, at: &Item<'_>, wanted: &'static str) -> Option<T> {
        let problem = RuleProblem::WrongType { wanted };
        self.errors.add(at.span().start, problem, None);
        None
    }

    fn known(&mut self, table: &DeTable<'_>, keys: &[&'static str]) {
        for (key, _) in table {
            let name: &str = key.get_ref();
            if !keys.contains(&name) {
                let hint = nearest(name, keys.iter().copied());
                let hint = hint.unwrap_or_else(|| format!("there are {}", keys.join(", ")));
                let problem = RuleProblem::UnknownKey(name.to_string());
                self.errors.add(key.span().start, problem, Some(hint));
            }
        }
    }

    fn gateway<'d>(&mut self, table: &'d DeTable<'d>) -> (Options, Ids<'d>) {
        self.known(table, &GATEWAY);
        let unmatched = "\"reject\" or \"drop\"";
        let reject_unmatched =
            self.word(table, "unmatched", unmatched, &["reject", "drop"]) != Some(1);
        let orders = self.number(
            table,
            "max_orders",
            "a number from 1 to 16777216",
            1,
            MAX_ORDERS.into(),
        );
        let max_id = self
            .number(table, "max_id", "a number from 8 to 255", 8, 255)
            .unwrap_or(64);
        let days = self.number(
            table,
            "forget_after_days",
            "a number from 1 to 10000",
            1,
            10_000,
        );
        let ids = Ids {
            follows: true,
            when: When::OnCollision,
            prefix: "FW",
            length: max_id,
        };
        let (ids, rewriting) = self.ids(table, ids, max_id);
        let max_held = self.measure(
            table,
            "max_held",
            "a number of bytes such as 65536, 64K, 16M or 1G, 64K to 64G",
            units::bytes,
            64 << 10..=64 << 30,
        );
        let max_remembered = self.measure(
            table,
            "max_remembered",
            "a number of bytes such as 65536, 64K, 16M or 1G, 64K to 16G",
            units::bytes,
            64 << 10..=16 << 30,
        );
        let options = Options {
            reject_unmatched,
            orders: OrdersConfig {
                max_orders: orders.unwrap_or(100_000) as u32,
                max_sessions: MAX_SESSIONS as u32,
                max_id: max_id as usize,
                rewriting,
                forget_quiet: days.map(|days| Nanos(days * NANOS_PER_DAY)),
                hash_key: self.context.hash_key,
            },
            max_held: max_held.unwrap_or(64 << 20),
            max_remembered: max_remembered.unwrap_or(16 << 20),
            targets: alloc::vec![
                Target {
                    away: Away::Hold,
                    time_to_live: None,
                    follows: ids.follows,
                    ids: None,
                };
                self.context.sessions.len()
            ],
            clients: alloc::vec![Client::default(); self.context.sessions.len()],
        };
        (options, ids)
    }

    /// Reads the keys about ids of a table; missing keys are as in `all`.
    fn ids<'d>(
        &mut self,
        table: &'d DeTable<'d>,
        all: Ids<'d>,
        max_id: u64,
    ) -> (Ids<'d>, Rewriting) {
        let wanted = "\"always\", \"collision\" or \"pass\"";
        let (follows, when) =
            match self.word(table, "ids", wanted, &["always", "collision", "pass"]) {
                Some(0) => (true, When::Always),
                Some(1) => (true, When::OnCollision),
                Some(_) => (false, all.when),
                None => (all.follows, all.when),
            };
        let prefix = match table.get("id_prefix") {
            Some(value) => match value.get_ref().as_str() {
                Some(prefix) if !prefix.is_empty() => prefix,
                _ => {
                    let _: Option<()> = self.wrong(value, "a text of 1 to 8 characters");
                    all.prefix
                }
            },
            None => all.prefix,
        };
        let length = self.number(table, "id_length", "a number from 7 to max_id", 7, max_id);
        let ids = Ids {
            follows,
            when,
            prefix,
            length: length.unwrap_or(all.length),
        };
        let rewriting = Rewriting::new(when, prefix.as_bytes(), ids.length as usize);
        if let Err(error) = rewriting {
            let said = table.get("id_prefix").or(table.get("id_length"));
            let at = said.map_or(0, |value| value.span().start);
            let wanted = "up to 8 visible characters without '=', and at least 6 shorter than \
                          id_length";
            let hint = Some(error.to_string());
            self.errors.add(at, RuleProblem::WrongType { wanted }, hint);
        }
        (ids, rewriting.unwrap_or_default())
    }

    fn clients(&mut self, value: &Item<'_>, options: &mut Options) {
        let wanted = "tables such as [client.ANNA]";
        let Some(clients) = value.get_ref().as_table() else {
            let _: Option<()> = self.wrong(value, wanted);
            return;
        };
        for (name, value) in clients {
            let place = self.session(name.get_ref(), name.span().start);
            let Some(table) = value.get_ref().as_table() else {
                let _: Option<()> = self.wrong(value, wanted);
                continue;
            };
            self.known(table, &CLIENT);
            let orders = u64::from(options.orders.max_orders);
            let wanted = "a number from 1 to max_orders of [gateway]";
            let client = Client {
                max_orders: self.number(table, "max_orders", wanted, 1, orders),
                max_held: self.share(table, "max_held", options.max_held),
                max_remembered: self.share(table, "max_remembered", options.max_remembered),
            };
            if let Some(place) = place {
                options.clients[place] = client;
            }
        }
    }

    /// A client's share, in bytes, of the limit that `[gateway]` has under the same key.
    fn share(&mut self, table: &DeTable<'_>, key: &str, most: u64) -> Option<u64> {
        let wanted = "a number of bytes such as 65536, 64K or 16M, up to that of [gateway]";
        self.measure(table, key, wanted, units::bytes, 4096..=most)
    }

    fn targets(&mut self, value: &Item<'_>, all: Ids<'_>, options: &mut Options) {
        let wanted = "tables such as [target.VENUE]";
        let Some(targets) = value.get_ref().as_table() else {
            let _: Option<()> = self.wrong(value, wanted);
            return;
        };
        for (name, value) in targets {
            let place = self.session(name.get_ref(), name.span().start);
            let Some(table) = value.get_ref().as_table() else {
                let _: Option<()> = self.wrong(value, wanted);
                continue;
            };
            self.known(table, &TARGET);
            let own = ["ids", "id_prefix", "id_length"];
            let own = own.iter().any(|key| table.contains_key(*key));
            let own = own.then(|| self.ids(table, all, options.orders.max_id as u64));
            let away = table.get("away").and_then(|value| self.away(value));
            let time_to_live = self.measure(
                table,
                "time_to_live",
                "a time such as 10 (seconds), 500ms, 30s or 1h30m, up to 10000 days",
                units::time,
                1..=10_000 * NANOS_PER_DAY,
            );
            if let (Some(value), Some(Away::Reject | Away::To(_))) =
                (table.get("time_to_live"), away)
            {
                let hint = Some("only held messages have a time to live".to_string());
                let wanted = "used with away = \"hold\"";
                let problem = RuleProblem::WrongType { wanted };
                self.errors.add(value.span().start, problem, hint);
            }
            if let Some(place) = place {
                let away = away.unwrap_or(Away::Hold);
                options.targets[place] = Target {
                    away,
                    time_to_live: time_to_live.map(Nanos),
                    follows: own.map_or(all.follows, |(ids, _)| ids.follows),
                    ids: own.map(|(_, rewriting)| rewriting),
                };
            }
        }
        // A chain longer than there are sessions comes back to one of its own.
        for (name, value) in targets {
            let first = self.place(name.get_ref());
            let mut at = first;
            for _ in 0..options.targets.len() {
                at = match at.map(|at| options.targets[at].away) {
                    Some(Away::To(next)) => Some(next),
                    _ => break,
                };
                if at == first {
                    let away = value
                        .get_ref()
                        .as_table()
                        .and_then(|table| table.get("away"));
                    let at = away.map_or(name.span().start, |value| value.span().start);
                    let problem = RuleProblem::AwayLoop(name.get_ref().to_string());
                    self.errors.add(at, problem, None);
                    break;
                }
            }
        }
        // So that nobody goes round and round.
        if !self.errors.is_empty() {
            options
                .targets
                .iter_mut()
                .for_each(|target| target.away = Away::Hold);
        }
    }

    fn away(&mut self, value: &Item<'_>) -> Option<Away> {
        match value.get_ref().as_str() {
            Some("hold") => Some(Away::Hold),
            Some("reject") => Some(Away::Reject),
            Some(name) => self.session(name, value.span().start).map(Away::To),
            None => self.wrong(value, "\"hold\", \"reject\" or the name of a session"),
        }
    }

    fn place(&self, name: &str) -> Option<usize> {
        let mut sessions = self.context.sessions.iter();
        sessions.position(|session| session.name == name)
    }

    fn session(&mut self, name: &str, at: usize) -> Option<usize> {
        let place = self.place(name);
        if place.is_none() {
            let names = self.context.sessions.iter().map(|session| session.name);
            let hint = nearest(name, names.chain(["hold", "reject"]));
            let problem = RuleProblem::UnknownSession(String::from(name));
            self.errors.add(at, problem, hint);
        }
        place
    }

    /// Index of the given word in a list.
    fn word(
        &mut self,
        table: &DeTable<'_>,
        key: &str,
        wanted: &'static str,
        words: &[&str],
    ) -> Option<usize> {
        let value = table.get(key)?;
        let found = value
            .get_ref()
            .as_str()
            .and_then(|text| words.iter().position(|one| *one == text));
        found.or_else(|| self.wrong(value, wanted))
    }

    fn number(
        &mut self,
        table: &DeTable<'_>,
        key: &str,
        wanted: &'static str,
        least: u64,
        most: u64,
    ) -> Option<u64> {
        self.measure(table, key, wanted, units::number, least..=most)
    }

    /// A value within bounds.
    fn measure(
        &mut self,
        table: &DeTable<'_>,
        key: &str,
        wanted: &'static str,
        read: fn(&DeValue<'_>) -> Option<u64>,
        bounds: RangeInclusive<u64>,
    ) -> Option<u64> {
        let value = table.get(key)?;
        let number = read(value.get_ref()).filter(|number| bounds.contains(number));
        number.or_else(|| self.wrong(value, wanted))
    }
}
