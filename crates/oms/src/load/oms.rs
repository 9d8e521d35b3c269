//! The table `[oms]`.

mod conversions;

use alloc::format;
use alloc::string::String;
use core::hash::Hasher;

use fixwire_text::ReloadEffect::{Applied, Confirmed, FirstStart, Restart};
use fixwire_text::{Diagnostic, REQUIRED, SettingKey, TomlTable, TomlValue, keys};

use super::Reader;
use super::registry::{Read, TableRule, or_none};
use crate::values::day::{clock, time_with_seconds};
use crate::values::fields::CARRIED_MAX;
use crate::values::report_numbers::ReportNumbers;
use crate::values::rules::{
    DayBegins, DayDatabase, DayFolder, DayFormat, ReferencePrice, RiskRules, TablePrefix,
};

const SECOND: u64 = 1_000_000_000;
const HOUR: u64 = 3600 * SECOND;
/// Maximum value of `orders` and `remembered`.
const ORDERS_MAX: usize = 50_000_000;

const ARMING: [(&str, bool); 2] = [("one person", false), ("two people", true)];
const SELF_TRADE: [(&str, bool); 2] = [("allow", false), ("reject", true)];

/// Keys that name CSV files. The files are read in this order, since later files refer to earlier ones.
const FILES: [&str; 7] = [
    "rates",
    "tick_tables",
    "instruments",
    "limits",
    "positions",
    "restricted",
    "texts",
];

impl TableRule for RiskRules {
    const TABLE: &'static str = "oms";
    const NAME: &'static str = "";
    const KEYS: &'static [SettingKey<Self, Read<Self>>] = keys! {
        /// `one person`, or `two people`: two operators request the same `limit`, `arm` or `reducing` of a killed scope,
        /// or [reload](#reloading-settings) of limits and users. The operator who stopped a scope cannot be one of the two who arm it or set it from
        /// killed to reducing
        arming: Own("words",
            |_, rules, value| value.choice(&ARMING).map(|it| rules.two_arm = it),
            |rules| word(&ARMING, rules.two_arm)), "\"one person\"", Confirmed;
        /// RC16: `reject` orders that could trade with an open one under the same top-level account; `allow`
        self_trade: Own("word",
            |_, rules, value| value.choice(&SELF_TRADE).map(|it| rules.rejects_self_trades = it),
            |rules| word(&SELF_TRADE, rules.rejects_self_trades)), "\"allow\"", Confirmed;
        /// for RC8 and orders without a limit price: `file`, the symbol's `reference`; `last`, the last price of the
        /// market data; `best`, the offer for a buy, the bid for a sell. While the price is unknown, the symbol's
        /// `reference` applies
        reference_price: Own("word",
            |_, rules, value| value.choice(&ReferencePrice::NAMES).map(|it| rules.reference_price = it),
            |rules| rules.reference_price.name().into()), "\"file\"", Confirmed;
        /// start of [the trading day](#the-day): `17:05 America/New_York`, `00:00 UTC`. A day that starts at noon or
        /// later has the date of the next day
        day_begins: Own("time and zone",
            |_, rules, value| day_begins(value).map(|it| rules.day_begins = it),
            |rules| rules.day_begins.text()), REQUIRED, Applied;
        /// how long a [roll](#the-day) waits for venues to confirm cancels, at most `3600s`; `0s`: not at all
        roll_wait: Time(roll_wait, 0, HOUR, "write how long a roll waits for cancels (at most 3600s): 10s, 60s"), "\"60s\"", Applied;
        /// UTC time of a daily [reload](#reloading-settings) of the CSV files, `07:30` or `07:30:15`
        reload: Own("time of day",
            |_, rules, value| {
                let hint = "write a time of day in UTC: 07:30, 07:30:15";
                let time = value.parsed(time_with_seconds, "is not a time of day", hint);
                time.map(|it| rules.reload_at = Some(it))
            },
            |rules| or_none(rules.reload_at.map(clock))), "", Applied;
        /// sessions with prices for [conditional orders](#conditional-orders) and `reference_price`
        market_data: With("list", market_data,
            |reader, rules, value| {
                for (at, session) in value.texts(&mut reader.errors)? {
                    reader.check_session(at, &session);
                    rules.market_data.push(session);
                }
                Ok(())
            }), "", Applied;
        /// how long a fill and its [drop copy](#drop-copies-of-venues) wait for each other, at most `3600s`
        copy_within: Time(copy_within, 1, HOUR, "write how long a fill waits for its copy (at most 3600s): 500ms, 5s"), "\"5s\"", Applied;
        /// the most bytes of [fields as sent](#fields-of-requests) that a request may have, at most 4096
        carried_bytes: Number(carried_bytes, CARRIED_MAX), "1024", Applied;
        /// number of ended orders that stay in memory for late fills
        remembered: Number(remembered, ORDERS_MAX), "10000", Applied;
        /// number of open orders for which the OMS allocates memory at the start
        orders: Number(orders, ORDERS_MAX), "100000", Restart;
        /// ApplID(1180) of [numbered reports](#report-recovery), at most 16 bytes
        appl_id: With("text", appl_id,
            |_, rules, value| appl_id(value).map(|it| rules.appl_id = it)), "\"OMS\"", Restart;
        /// file in the folder of the settings ([stamps](#stamps))
        stamps: Text(stamps), "", Restart;
        /// folder, in that of the settings, for the [files of each ended day](#files-at-the-roll)
        day_files: Own("text",
            |_, rules, value| day_files(value).map(|it| rules.day_files = Some(it)),
            |rules| or_none(rules.day_files.as_ref().map(|it| &it.name))), "", Restart;
        /// form of these files: `csv`, or `parquet` if fixwire was built with the feature `parquet`
        day_format: Own("word",
            |_, rules, value| value.choice(&DayFormat::NAMES).map(|it| rules.day_format = it),
            |rules| rules.day_format.name().into()), "\"csv\"", Restart;
        /// PostgreSQL database that gets the [rows of each day](#rows-in-postgresql) as they change:
        /// `postgresql://USER@HOST:PORT/DATABASE`, without a password, with [TLS](logs.md#tls-to-postgresql) by `sslmode`;
        /// needs a fixwire with the feature `postgresql`
        database: Own("text",
            |_, rules, value| database(value).map(|it| rules.database = Some(it)),
            |rules| or_none(rules.database.as_ref().map(|it| &it.address))), "", Restart;
        /// file with the password for the database, in the folder of the settings
        database_password_file: Text(database_password_file), "", Restart;
        /// what the names of the tables begin with: letters, digits and `_`, optionally after a schema and a dot
        database_prefix: Own("text",
            |_, rules, value| value.text().map(|it| rules.database_prefix = TablePrefix(it.into())),
            |rules| rules.database_prefix.0.clone()), "\"oms_\"", Restart;
        /// the table `[oms.own_tags]` ([own tags](#own-tags))
        own_tags: Own("table",
            |reader, rules, value| {
                let table = value.table()?;
                reader.read(&mut rules.own_tags, table);
                Ok(())
            },
            |rules| format!("{:?}", rules.own_tags.shown())), "", Restart;
        /// conversion tables of your own between FIX versions, `{"FIX.4.2 to FIX.4.4" = "my.conv"}`: files in the folder of
        /// the settings, which replace [built-in tables](conversion.md#custom-tables) for the
        /// [fields passed on](#carried-fields-in-another-fix-version)
        conversion: Own("table",
            |reader, rules, value| {
                rules.conversions = conversions::conversions(reader, value)?;
                Ok(())
            },
            |rules| rules.conversions.shown()), "", Restart;
        /// CSV: `currency,rate`, and optionally `as_of`: [rates](#quantities-prices-and-money) of the column `currency` of
        /// `instruments`
        rates: File(), "", Applied;
        /// how old a rate with `as_of` may be, at most `604800s`; any age by default
        rates_max_age: Time(rates_max_age, SECOND, 168 * HOUR, "write how old a rate may be (at most 604800s): 3600s, 86400s"), "", Applied;
        /// CSV: `table,from,tick`: [ticks by price](#quantities-prices-and-money), for the column `tick_table` of
        /// `instruments`
        tick_tables: File(), "", Applied;
        /// CSV file in the folder of the settings: `symbol,tick`, and optionally `tick_table`, `decimals`, `lot`,
        /// [`quantity_decimals`](#quantities-prices-and-money), `multiplier`, `rate` or `currency`, `reference`, `flow_group`
        /// ([markets](#markets)), [`legs`](#spreads), [identifiers and reference data](#names-of-instruments) and `positions`. `positions` is
        /// `netting`: orders have no PositionEffect(77); or `effect`: 77 must be O or C, long and short positions are
        /// separate, and a `reducing` scope accepts only C. [Over TMP](#lines-over-tmp) orders of both may have 77,
        /// with more values
        instruments: File(), REQUIRED, Applied;
        /// CSV: `scope,control,limit`
        limits: File(), REQUIRED, Confirmed;
        /// CSV: `account,symbol,long,short`: opening positions of an empty journal; where positions net, `long` or `short` is 0
        positions: File(), "", FirstStart;
        /// CSV: `symbol`, and `account`, `from`, `to`, `what` (RC3)
        restricted: File(), "", Confirmed;
        /// CSV: `language,text,translation` ([languages](#languages))
        texts: File(), "", Applied;
    };

    fn missing(table: TomlTable<'_>, key: &SettingKey<Self, Read<Self>>) -> Diagnostic {
        let key = key.name;
        let hint = match key {
            "day_begins" => "write when a trading day begins, with its time zone: day_begins = \"17:05 America/New_York\"; \
                             day_begins = \"00:00 UTC\" is the day of a file without the key".into(),
            file => format!("name a CSV file: {file} = \"{file}.csv\""),
        };
        Diagnostic::new(table.at, format!("[oms] {key} is missing"), hint)
    }
}

/// A CSV file that the settings name.
pub(super) struct CsvText<'d> {
    pub file: &'d str,
    pub text: String,
}

fn word(words: &[(&str, bool)], is: bool) -> String {
    let mut known = words.iter().filter(|(_, value)| *value == is);
    or_none(known.next().map(|(word, _)| word))
}

impl Reader<'_> {
    pub(super) fn oms(&mut self, file: TomlTable<'_>) {
        let Some(value) = file.get("oms") else {
            return self.wrong(0, "the table [oms] is missing", "");
        };
        let Some(table) = self.keep(value.table()) else {
            return;
        };
        let mut rules = core::mem::take(&mut self.rules);
        self.read(&mut rules, table);
        if let (Some(value), DayFormat::Parquet, None) =
            (table.get("day_format"), rules.day_format, &rules.day_files)
        {
            let hint = "name the folder of the files: day_files = \"days\"";
            self.errors
                .push(value.wrong("day_format without day_files", hint));
        }
        let needs_database = [
            (
                "database_password_file",
                rules.database_password_file.is_some(),
            ),
            (
                "database_prefix",
                rules.database_prefix != TablePrefix::default(),
            ),
        ];
        for (key, _) in needs_database.into_iter().filter(|(_, is)| *is) {
            if let (Some(value), None) = (table.get(key), &rules.database) {
                let hint = "name the database: database = \"postgresql://USER@HOST:PORT/DATABASE\"";
                let what = format!("{key} without database");
                self.errors.push(value.wrong(what, hint));
            }
        }
        self.rules = rules;
        for value in FILES.iter().filter_map(|key| table.get(key)) {
            let done = self.csv(value);
            self.keep(done);
        }
    }

    /// The name and the text of a CSV file of the settings; `None` if the value is not a text, which was reported
    /// before as a mistake.
    pub(super) fn open_csv<'d>(
        &mut self,
        value: TomlValue<'d>,
    ) -> Result<Option<CsvText<'d>>, Diagnostic> {
        let Ok(file) = value.text() else {
            return Ok(None);
        };
        let text = (self.open)(file).map_err(|error| {
            let hint = "the path is relative to the settings file";
            value.wrong(format!("{file} cannot be read: {error}"), hint)
        })?;
        self.hasher.write(text.as_bytes());
        Ok(Some(CsvText { file, text }))
    }

    /// Reads a CSV file of the settings.
    fn csv(&mut self, value: TomlValue<'_>) -> Result<(), Diagnostic> {
        let Some(CsvText { file, text }) = self.open_csv(value)? else {
            return Ok(());
        };
        let before = self.errors.len();
        self.file(value.key, file, &text);
        let found = self.errors[before..].iter_mut();
        found.for_each(|it| it.at = value.at);
        Ok(())
    }
}

/// Reads ApplID(1180) of numbered reports.
fn appl_id(value: TomlValue<'_>) -> Result<String, Diagnostic> {
    const MOST: usize = ReportNumbers::LONGEST;
    let is_id = |name: &str| name.len() <= MOST && name.bytes().all(|it| it.is_ascii_graphic());
    let read = |name: &str| is_id(name).then(|| name.into());
    let hint = format!("write at most {MOST} letters, digits and signs, without blanks");
    value.parsed(read, "is not an ApplID(1180)", &hint)
}

/// Reads the folder for the files of ended trading days.
fn day_files(value: TomlValue<'_>) -> Result<DayFolder, Diagnostic> {
    let name = value.text()?;
    if name.trim().is_empty() {
        let hint = "write the name of a folder: day_files = \"days\"";
        return Err(value.wrong("day_files is empty", hint));
    }
    Ok(DayFolder {
        name: name.into(),
        place: value.at,
    })
}

/// Reads the address of the database for rows.
fn database(value: TomlValue<'_>) -> Result<DayDatabase, Diagnostic> {
    Ok(DayDatabase {
        address: value.text()?.into(),
        place: value.at,
    })
}

/// Reads the time at which trading days begin, such as `17:05 America/New_York`.
fn day_begins(value: TomlValue<'_>) -> Result<DayBegins, Diagnostic> {
    let text = value.text()?;
    let (time, zone) = text.split_once(' ').unwrap_or((text, ""));
    let zone = zone.trim();
    let Some(time) = time_with_seconds(time) else {
        let what = format!("day_begins = \"{text}\" is not a time of day and a time zone");
        return Err(value.wrong(what, "write it as 00:00 UTC, 17:05 America/New_York"));
    };
    if zone.is_empty() {
        let what = format!("day_begins = \"{text}\" has no time zone");
        let hint = format!("write it as {text} UTC, or 17:05 America/New_York");
        return Err(value.wrong(what, hint));
    }
    let is_utc = zone.eq_ignore_ascii_case(DayBegins::UTC);
    let zone = if is_utc { DayBegins::UTC } else { zone }.into();
    Ok(DayBegins {
        time,
        zone,
        place: value.at,
    })
}
