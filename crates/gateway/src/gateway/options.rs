//! `Options`: the tables `[gateway]`, `[target.SESSION]` and `[client.SESSION]` of the file.
//!
//! Each key is declared once, in the registry of its table. The reader, the list of known keys, the effect of a
//! reload and the tables of the reference page are made from this declaration
//! (`UPDATE=1 cargo test -p fixwire-gateway --lib page` writes the page).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::Nanos;
use fixwire_text::ReloadEffect::{self, Applied, Restart};
use fixwire_text::{
    Diagnostic, SettingKey, Span, TableReader, TomlFile, TomlTable, TomlValue, duration, keys,
};

use super::context::GatewayContext;
use super::notes::{MAX_ORDERS, MAX_SESSIONS};
use crate::orders::{OrdersConfig, Rewriting, When};
use crate::rules::{Errors, nearest};

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

const IDS: [(&str, Option<When>); 3] = [
    ("always", Some(When::Always)),
    ("collision", Some(When::OnCollision)),
    ("pass", None),
];

const NANOS_PER_SECOND: u64 = 1_000_000_000;
const NANOS_PER_DAY: u64 = 86_400 * NANOS_PER_SECOND;

type Done = Result<(), Diagnostic>;
type Keys<T> = &'static [SettingKey<T, fn(&mut Reader<'_>, &mut T, TomlValue<'_>) -> Done>];

const GATEWAY: Keys<Options> = keys! {
    /// `"first"` or `"all"`: how many rules apply to a message ([rules](gateway-rules.md#first-or-all))
    match_: Plain("word", |_, _, _| Ok(())), "\"first\"", Applied;
    /// `"reject"` or `"drop"`: what happens to a message that no rule decides
    unmatched: Plain("word", |_, options, value| {
        let words = [("reject", true), ("drop", false)];
        value.choice(&words).map(|it| options.reject_unmatched = it)
    }), "\"reject\"", Applied;
    /// maximum number of operations in one run of a [script](gateway-rules.md#scripts), 100 to 1000000
    script_operations: Plain("number", |_, _, _| Ok(())), "10000", Applied;
    /// maximum length of an id that a client sends, in bytes, 8 to 255
    max_id: Plain("number",
        |_, options, value| value.number_within(8..=255).map(|it| options.orders.max_id = it as usize)), "64", Restart;
    /// `"collision"` or `"always"`: when ids are [rewritten](gateway-orders.md#rewriting); `"pass"`: ids are never
    /// rewritten, and the gateway keeps no order state, so `return` does not find its client and routing loops are not
    /// detected by id
    ids: Plain("word", |_, options, value| options.ids.when(value)), "\"collision\"", Restart;
    /// prefix of a rewritten id; up to 8 characters
    id_prefix: Plain("text", |_, options, value| options.ids.prefix(value)), "\"FW\"", Restart;
    /// maximum length of an id that a venue accepts, in bytes; without this key it is `max_id`
    id_length: Plain("number", |_, options, value| options.ids.length(value, options.orders.max_id)), "", Restart;
    /// maximum number of ids that the gateway stores; each uses about 370 bytes
    max_orders: Plain("number", |_, options, value| {
        let number = value.number_within(1..=MAX_ORDERS.into());
        number.map(|it| options.orders.max_orders = it as u32)
    }), "100000", Restart;
    /// when there is no room, the gateway may drop an open order that had no report for this number of days; without
    /// this key it drops no open order
    forget_after_days: Plain("number", |_, options, value| {
        let days = value.number_within(1..=10_000);
        days.map(|days| options.orders.forget_quiet = Some(Nanos(days * NANOS_PER_DAY)))
    }), "", Restart;
    /// maximum memory of [held messages](#held-messages) in bytes, `"64K"` to `"64G"`
    max_held: Plain("bytes",
        |_, options, value| value.bytes(64 << 10..=64 << 30).map(|it| options.max_held = it)), "\"64M\"", Restart;
    /// maximum memory of [remembered fields](#remembered-fields) in bytes, `"64K"` to `"16G"`
    max_remembered: Plain("bytes",
        |_, options, value| value.bytes(64 << 10..=16 << 30).map(|it| options.max_remembered = it)), "\"16M\"", Restart;
};

const TARGET: Keys<TargetTable> = keys! {
    /// `"hold"`, `"reject"` or the name of a session: what happens to messages
    /// [while the target is away](#when-a-target-is-away)
    away: Plain("word", |reader, target, value| reader.away(value).map(|it| target.away = it)), "\"hold\"", Applied;
    /// with `away = "hold"`: how long the [gateway holds](#time-to-live) a message; without this key there is no time
    /// limit
    time_to_live: Plain("time", |_, target, value| time(value).map(|it| target.time_to_live = Some(it))), "", Applied;
    /// when this venue's ids are rewritten, as `ids` in `[gateway]`; if `ids`, `id_prefix` or `id_length` is absent,
    /// the key's value in `[gateway]` applies
    ids: Plain("word", |_, target, value| target.ids.when(value)), "", Applied;
    /// prefix of a rewritten id
    id_prefix: Plain("text", |_, target, value| target.ids.prefix(value)), "", Applied;
    /// maximum length of an id that the venue accepts, in bytes
    id_length: Plain("number", |reader, target, value| target.ids.length(value, reader.max_id)), "", Applied;
};

const CLIENT: Keys<Client> = keys! {
    /// maximum number of ids of this client's open orders, at most `max_orders` of `[gateway]`; without this key the
    /// client has a [share](#room-for-each-client)
    max_orders: Plain("number", |reader, client, value| {
        let number = value.number_within(1..=reader.max_orders);
        number.map(|it| client.max_orders = Some(it))
    }), "", Applied;
    /// maximum memory of this client's held messages in bytes, at most `max_held` of `[gateway]`; without this key the
    /// client has a share
    max_held: Plain("bytes",
        |reader, client, value| value.bytes(4096..=reader.max_held).map(|it| client.max_held = Some(it))), "", Applied;
    /// maximum memory of the fields remembered for this client's orders, in bytes, at most `max_remembered` of
    /// `[gateway]`; without this key the client has no limit of its own
    max_remembered: Plain("bytes",
        |reader, client, value| value.bytes(4096..=reader.max_remembered).map(|it| client.max_remembered = Some(it))), "", Applied;
};

/// The tables of the options with their keys.
#[cfg(test)]
pub(super) fn setting_tables() -> [(&'static str, Vec<fixwire_text::KeyInfo>); 3] {
    fn of<T, R>(keys: &[SettingKey<T, R>]) -> Vec<fixwire_text::KeyInfo> {
        keys.iter().map(SettingKey::info).collect()
    }
    [
        ("[gateway]", of(GATEWAY)),
        ("[target.VENUE]", of(TARGET)),
        ("[client.ANNA]", of(CLIENT)),
    ]
}

/// The keys of `[gateway]` that only a start reads.
pub(super) fn restart_keys() -> Vec<&'static str> {
    let keys = GATEWAY
        .iter()
        .filter(|key| key.reload == ReloadEffect::Restart);
    keys.map(|key| key.name).collect()
}

/// The gateway's treatment of a message for a session that is not logged on.
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
    /// The form of ids, and whether orders are tracked.
    ids: IdKeys,
    /// Maximum memory of held messages, in bytes.
    pub max_held: u64,
    /// Maximum memory of remembered values, in bytes.
    pub max_remembered: u64,
    /// The options of each session as a target.
    pub targets: Vec<Target>,
    /// For each session, the limits of `[client.NAME]`.
    pub clients: Vec<Client>,
}

/// Limits of a client session: its shares of the gateway's `max_orders`, `max_held` and `max_remembered`. `None` where
/// the file has no `[client.NAME]` key.
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
    /// How long the gateway holds a message. `None`: no limit, and then responses and copies wait in the session, not
    /// in the gateway.
    pub time_to_live: Option<Nanos>,
    /// Whether orders for the session are tracked, so that responses find their client.
    pub follows: bool,
    /// The form of ids at this session; `None` for the common form.
    pub ids: Option<Rewriting>,
}

/// `[target.SESSION]`
struct TargetTable {
    away: Away,
    time_to_live: Option<Nanos>,
    ids: IdKeys,
}

/// The keys that set the form of ids.
#[derive(Clone)]
struct IdKeys {
    follows: bool,
    when: When,
    prefix: String,
    /// The maximum length of an id; `None` means `max_id`.
    length: Option<usize>,
}

impl IdKeys {
    fn when(&mut self, value: TomlValue<'_>) -> Done {
        let when = value.choice(&IDS)?;
        self.follows = when.is_some();
        self.when = when.unwrap_or(self.when);
        Ok(())
    }

    fn prefix(&mut self, value: TomlValue<'_>) -> Done {
        let wrong = || value.wrong("id_prefix must be a text of 1 to 8 characters", "");
        let prefix = value.string().filter(|prefix| !prefix.is_empty());
        self.prefix = prefix.ok_or_else(wrong)?.into();
        Ok(())
    }

    fn length(&mut self, value: TomlValue<'_>, max_id: usize) -> Done {
        self.length = Some(value.number_within(7..=max_id as u64)? as usize);
        Ok(())
    }

    /// The form of ids that a table sets.
    fn rewriting(&self, table: TomlTable<'_>, max_id: usize) -> Result<Rewriting, Diagnostic> {
        let length = self.length.unwrap_or(max_id);
        Rewriting::new(self.when, self.prefix.as_bytes(), length).map_err(|error| {
            let said = table.get("id_prefix").or(table.get("id_length"));
            let span = said.map_or(table.span(), |value| value.span());
            let what = "id_prefix must be up to 8 visible characters without '=', and at least 6 characters shorter \
                than id_length";
            Diagnostic::of(span, what, error.to_string())
        })
    }
}

struct Reader<'c> {
    errors: Vec<Diagnostic>,
    context: &'c GatewayContext<'c>,
    /// The key `max_id` of `[gateway]`.
    max_id: usize,
    max_orders: u64,
    max_held: u64,
    max_remembered: u64,
}

impl TableReader for Reader<'_> {
    fn mistakes(&mut self) -> &mut Vec<Diagnostic> {
        &mut self.errors
    }
}

/// Reads the options. Invalid TOML has no options: the reader of rules reports the error.
pub(super) fn read(
    file: &TomlFile<'_>,
    errors: &mut Errors<'_>,
    context: &GatewayContext<'_>,
) -> Options {
    let root = file.root();
    let mut options = Options::new(context);
    let mut reader = Reader {
        errors: root.unknown(TABLES.into_iter()),
        context,
        max_id: 0,
        max_orders: 0,
        max_held: 0,
        max_remembered: 0,
    };
    // If `gateway` is not a table, the reader of rules reports the error.
    let table = root.get("gateway").and_then(|value| value.table().ok());
    let nothing = TomlFile::default();
    let table = table.unwrap_or(nothing.root());
    reader.read_keys(GATEWAY, &mut options, table);
    let rewriting = options.ids.rewriting(table, options.orders.max_id);
    options.orders.rewriting = reader.keep(rewriting).unwrap_or_default();
    reader.max_id = options.orders.max_id;
    reader.max_orders = options.orders.max_orders.into();
    (reader.max_held, reader.max_remembered) = (options.max_held, options.max_remembered);
    let follows = options.ids.follows;
    options
        .targets
        .iter_mut()
        .for_each(|it| it.follows = follows);
    reader.targets(root, &mut options);
    for (place, name) in reader.named(root, "client") {
        let mut client = Client::default();
        let table = name.table();
        if let Some(table) = reader.keep(table) {
            reader.read_keys(CLIENT, &mut client, table);
        }
        if let Some(place) = place {
            options.clients[place] = client;
        }
    }
    for mistake in reader.errors {
        errors.mistake(mistake);
    }
    options
}

impl Options {
    /// The options of a file without option tables.
    fn new(context: &GatewayContext<'_>) -> Self {
        let target = Target {
            away: Away::Hold,
            time_to_live: None,
            follows: true,
            ids: None,
        };
        Self {
            reject_unmatched: true,
            orders: OrdersConfig {
                max_orders: 100_000,
                max_sessions: MAX_SESSIONS as u32,
                max_id: 64,
                rewriting: Rewriting::default(),
                forget_quiet: None,
                hash_key: context.hash_key,
            },
            ids: IdKeys {
                follows: true,
                when: When::OnCollision,
                prefix: String::new(),
                length: None,
            },
            max_held: 64 << 20,
            max_remembered: 16 << 20,
            targets: alloc::vec![target; context.sessions.len()],
            clients: alloc::vec![Client::default(); context.sessions.len()],
        }
    }
}

/// A time to live.
fn time(value: TomlValue<'_>) -> Result<Nanos, Diagnostic> {
    let time = match value.whole() {
        Some(seconds) => seconds.checked_mul(NANOS_PER_SECOND),
        None => value.string().and_then(duration),
    };
    let time = time.filter(|time| (1..=10_000 * NANOS_PER_DAY).contains(time));
    time.map(Nanos).ok_or_else(|| {
        let what = format!("{} must be a time of up to 10000 days", value.key);
        value.wrong(what, "write 10 (seconds), \"500ms\", \"30s\" or \"1h30m\"")
    })
}

impl Reader<'_> {
    /// The entries of a table whose keys are names of sessions, each with its session's index.
    fn named<'d>(
        &mut self,
        root: TomlTable<'d>,
        name: &str,
    ) -> Vec<(Option<usize>, TomlValue<'d>)> {
        let table = root.get(name).map(|value| value.table());
        let Some(table) = table.and_then(|table| self.keep(table)) else {
            return Vec::new();
        };
        let entries = table.entries().map(|entry| {
            let place = self.session(entry.key, entry.key_span);
            (self.keep(place), entry)
        });
        entries.collect()
    }

    fn targets(&mut self, root: TomlTable<'_>, options: &mut Options) {
        let targets = self.named(root, "target");
        for (place, value) in &targets {
            let Some(table) = self.keep(value.table()) else {
                continue;
            };
            let mut target = TargetTable {
                away: Away::Hold,
                time_to_live: None,
                ids: options.ids.clone(),
            };
            self.read_keys(TARGET, &mut target, table);
            let has_ids = ["ids", "id_prefix", "id_length"]
                .iter()
                .any(|key| table.has(key));
            let ids = has_ids.then(|| target.ids.rewriting(table, self.max_id));
            let ids = ids.map(|ids| self.keep(ids).unwrap_or_default());
            if let (Some(value), true) = (table.get("time_to_live"), target.away != Away::Hold) {
                let what = "time_to_live requires away = \"hold\"";
                let hint = "only held messages have a time to live";
                self.errors.push(value.wrong(what, hint));
            }
            if let Some(place) = *place {
                options.targets[place] = Target {
                    away: target.away,
                    time_to_live: target.time_to_live,
                    follows: target.ids.follows,
                    ids,
                };
            }
        }
        // A chain of `away` redirections that is longer than the number of sessions must have a loop.
        for (first, value) in &targets {
            let mut at = *first;
            for _ in 0..options.targets.len() {
                at = match at.map(|at| options.targets[at].away) {
                    Some(Away::To(next)) => Some(next),
                    _ => break,
                };
                if at == *first {
                    let away = value.table().ok().and_then(|table| table.get("away"));
                    let span = away.map_or(value.key_span, |away| away.span());
                    let what = format!(
                        "messages for '{0}' would be routed back to '{0}': each session has the next \
                        one as its away",
                        value.key
                    );
                    self.errors.push(Diagnostic::of(span, what, ""));
                    break;
                }
            }
        }
        // After an error all redirections are removed, so that later checks do not follow a loop.
        if !self.errors.is_empty() {
            options
                .targets
                .iter_mut()
                .for_each(|target| target.away = Away::Hold);
        }
    }

    fn away(&mut self, value: TomlValue<'_>) -> Result<Away, Diagnostic> {
        match value.string() {
            Some("hold") => Ok(Away::Hold),
            Some("reject") => Ok(Away::Reject),
            Some(name) => self.session(name, value.span()).map(Away::To),
            None => {
                let what = "away must be \"hold\", \"reject\" or the name of a session";
                Err(value.wrong(what, ""))
            }
        }
    }

    fn session(&self, name: &str, span: Span) -> Result<usize, Diagnostic> {
        let mut sessions = self.context.sessions.iter();
        let place = sessions.position(|session| session.name == name);
        place.ok_or_else(|| {
            let names = self.context.sessions.iter().map(|session| session.name);
            let hint = nearest(name, names.chain(["hold", "reject"]));
            let what = format!("unknown session '{name}'");
            Diagnostic::of(span, what, hint.unwrap_or_default())
        })
    }
}
