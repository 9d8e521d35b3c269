//! `fixwire oms position`, `positions load` and `reconcile`: set positions, load positions from clearing files, and
//! compare them with such files.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use fixwire::control::{Asked, ControlQuestion};
use fixwire_oms::positions::clearing_file::{
    ClearingFile, ClearingRow, fill_rows, has_fills, moment, position_rows,
};
use fixwire_oms::positions::history::{PositionHistory, PositionStep};
use fixwire_oms::positions::reconcile::{
    Compared, Differences, OwnQuantities, compare_fills, compare_positions, own_quantities,
};
use fixwire_oms::positions::since::PositionsSince;
use fixwire_oms::positions::{MISSING, PositionQuantities, READ_AGAIN, TURNED};
use fixwire_protocol::Timestamp;
use serde_json::{Value, json};

use super::answers::{self, Ask, MOST_BYTES, answer, command, mistakes, question, table};
use super::history::read_notes;
use super::read;
use super::rows::{WrongRow, all_mistakes};
use crate::failure::Failure;
use crate::session::EngineFlags;
use crate::teller::now;

/// Maximum number of times that the journal is read again, because fills or positions changed while it was read.
const ATTEMPTS: usize = 5;

/// A command for one position.
#[derive(Debug, Subcommand)]
pub enum PositionCommand {
    /// Sets a position: long=10 short=0
    Set(SetPosition),
    /// Changes a position by a quantity: long=+10 or short=-5
    Adjust(SetPosition),
    /// Lists the positions that operators and files have set, from the journal, also when no engine runs
    History {
        #[command(flatten)]
        ask: Ask,
        /// Only positions of this account
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
        /// Only positions in this symbol
        #[arg(long, value_name = "NAME")]
        symbol: Option<String>,
    },
}

/// The position, and its quantities.
#[derive(Args, Debug)]
pub struct SetPosition {
    #[command(flatten)]
    at: EngineFlags,
    /// The account
    account: String,
    /// The symbol
    symbol: String,
    /// The quantities: long=10 short=0 for set, long=+10 or short=-5 for adjust; where positions net, one of them
    #[arg(required = true, value_name = "QUANTITY")]
    quantities: Vec<String>,
    /// The reason, recorded in the journal
    #[arg(long, value_name = "TEXT")]
    why: String,
}

/// A command for all positions.
#[derive(Debug, Subcommand)]
pub enum PositionsCommand {
    /// Loads positions from a CSV file: account,symbol,long,short
    Load(LoadPositions),
}

/// The file, and what its quantities are.
#[derive(Args, Debug)]
pub struct LoadPositions {
    #[command(flatten)]
    at: EngineFlags,
    /// The file; nothing is changed when a row has a mistake
    file: PathBuf,
    /// The quantities are positions (or the column kind: totals)
    #[arg(long)]
    totals: bool,
    /// The quantities are changes of positions (or the column kind: deltas)
    #[arg(long, conflicts_with = "totals")]
    deltas: bool,
    /// The moment of the totals, in UTC: 2026-11-29T22:00:00Z (or the column as_of). Fills after it are added
    #[arg(long, value_name = "TIME", value_parser = moment)]
    as_of: Option<i64>,
    /// Applies changes again that were loaded before
    #[arg(long)]
    again: bool,
    /// The reason, recorded in the journal
    #[arg(long, value_name = "TEXT")]
    why: String,
}

/// Arguments of `fixwire oms reconcile`.
#[derive(Args, Debug)]
pub struct Reconcile {
    #[command(flatten)]
    ask: Ask,
    /// CSV: account,symbol,long,short of positions; account,symbol,side,quantity of the fills of the trading day
    file: PathBuf,
    /// The moment of the positions, in UTC: 2026-11-29T22:00:00Z (or the column as_of). Fills after it are left out
    #[arg(long, value_name = "TIME", value_parser = moment)]
    as_of: Option<i64>,
    /// Compares only accounts that the file lists
    #[arg(long)]
    listed: bool,
    /// Raises an event of the OMS when something differs
    #[arg(long)]
    alarm: bool,
}

/// Sets or changes a position.
pub(super) fn set(asked: &PositionCommand) -> Result<ExitCode, Failure> {
    let (verb, set) = match asked {
        PositionCommand::Set(set) => ("set", set),
        PositionCommand::Adjust(set) => ("adjust", set),
        PositionCommand::History {
            ask,
            account,
            symbol,
        } => return history(ask, account.as_deref(), symbol.as_deref()),
    };
    let SetPosition {
        at,
        account,
        symbol,
        quantities,
        why,
    } = set;
    let quantities = quantities.join(" ");
    let text = format!("position {verb} account={account} symbol={symbol} {quantities}");
    command(at, text, why)
}

/// Loads the positions of a file.
pub(super) fn load(args: &LoadPositions) -> Result<ExitCode, Failure> {
    let (name, text) = read(&args.file)?;
    let file = position_rows(&name, &text);
    match load_file(args, &name, &file) {
        // The form of the file has mistakes, and no OMS checked its other rows.
        Err(_) if !file.mistakes.is_empty() => Ok(mistakes(&file.mistakes)),
        done => done,
    }
}

fn load_file(args: &LoadPositions, name: &str, file: &ClearingFile) -> Result<ExitCode, Failure> {
    let flag = match (args.totals, args.deltas) {
        (true, _) => Some(PositionQuantities::Totals),
        (_, true) => Some(PositionQuantities::Deltas),
        (false, false) => None,
    };
    let quantities = one_of(
        flag,
        file.quantities,
        "the column kind and the option differ",
    )?;
    let quantities = quantities.ok_or_else(|| {
        Failure::Text(
            "say what the quantities are: --totals or --deltas, or a column kind with totals or deltas"
                .into(),
        )
    })?;
    let as_of = one_of(
        args.as_of,
        file.as_of,
        "the column as_of and --as-of differ",
    )?;
    if as_of.is_some() && quantities == PositionQuantities::Deltas {
        return Err(Failure::Text(
            "changes have no moment: --as-of and the column as_of are for totals".into(),
        ));
    }
    let short = short_name(&args.file)?;
    for attempt in 1.. {
        let since = match as_of {
            Some(moment) => Some(since(&args.at, moment)?),
            None => None,
        };
        let load = Load {
            name,
            short: &short,
            file,
            quantities,
            again: args.again,
            since: as_of.zip(since.as_ref()),
        };
        match load.tell(&args.at, &args.why) {
            Err(Failure::Text(text)) if text.ends_with(READ_AGAIN) && attempt < ATTEMPTS => {}
            done => return done,
        }
    }
    Ok(ExitCode::FAILURE)
}

/// The value that an option or a column gives. An option and a column may give the same value.
fn one_of<T: PartialEq>(
    option: Option<T>,
    column: Option<T>,
    differ: &str,
) -> Result<Option<T>, Failure> {
    match (option, column) {
        (Some(option), Some(column)) if option != column => Err(Failure::Text(differ.into())),
        (option, column) => Ok(option.or(column)),
    }
}

/// The name of a file without its folder, as in the journal.
fn short_name(file: &Path) -> Result<String, Failure> {
    let name = file.file_name().unwrap_or_default();
    let name = name.to_string_lossy().into_owned();
    if name.contains(|c: char| c.is_control() || c == ';') {
        return Err(Failure::Text(format!(
            "the name of {} must not contain ; or control characters: rename the file",
            file.display()
        )));
    }
    Ok(name)
}

/// A file whose rows are loaded into the OMS.
struct Load<'a> {
    name: &'a str,
    short: &'a str,
    file: &'a ClearingFile,
    quantities: PositionQuantities,
    again: bool,
    /// The time of totals, and the changes by fills after that time.
    since: Option<(i64, &'a PositionsSince)>,
}

impl Load<'_> {
    /// Sends the rows as one command, if the OMS finds no mistake in any row.
    fn tell(&self, at: &EngineFlags, why: &str) -> Result<ExitCode, Failure> {
        let text = self.text();
        if text.len() > MOST_BYTES {
            return Err(Failure::Text(format!(
                "{}: {} rows are {} bytes; one load has at most {MOST_BYTES}: split the file, for example by account",
                self.name,
                self.file.rows.len(),
                text.len()
            )));
        }
        let wrong = match self.file.rows.is_empty() {
            true => Vec::new(),
            false => self.wrong_rows(&answer(at, question(&format!("positions check {text}")))?),
        };
        let wrong = all_mistakes(self.name, &self.file.mistakes, Ok(wrong))?;
        if !wrong.is_empty() {
            return Ok(mistakes(&wrong));
        }
        command(at, format!("load {text}"), why)
    }

    /// The rows that are in doubt, and those in which the OMS found a mistake.
    fn wrong_rows(&self, found: &str) -> Vec<WrongRow> {
        let found = found.lines().filter_map(|line| {
            let (row, what) = line.split_once('\t')?;
            let row = row.parse::<usize>().ok()?.checked_sub(1)?;
            Some(WrongRow {
                line: self.file.rows.get(row)?.line,
                what: what.to_owned(),
            })
        });
        self.doubts().into_iter().chain(found).collect()
    }

    /// Fills after the time of the totals that the totals may or may not include.
    fn doubts(&self) -> Vec<WrongRow> {
        let Some((_, since)) = self.since else {
            return Vec::new();
        };
        let wrong = self.file.rows.iter().filter_map(|row| {
            let known = since.of(&row.account, &row.symbol)?;
            (!known.doubts.is_empty()).then(|| WrongRow {
                line: row.line,
                what: format!(
                    "account: it is unknown whether the total of {} {} has all fills: {}; load a total of a later \
                     moment",
                    row.account,
                    row.symbol,
                    known.doubts.join(", ")
                ),
            })
        });
        wrong.collect()
    }

    /// The arguments of the command `load`.
    fn text(&self) -> String {
        let mut text = match self.quantities {
            PositionQuantities::Totals => "totals".to_owned(),
            PositionQuantities::Deltas => "deltas".to_owned(),
        };
        if let Some((moment, since)) = self.since {
            text += &format!(" as-of={moment} read={}", since.events());
        }
        if self.again {
            text += " again";
        }
        text += &format!(" file={}", self.short);
        for row in &self.file.rows {
            let ClearingRow {
                account,
                symbol,
                long,
                short,
                ..
            } = row;
            let given = |has: bool, quantity: &'_ str| match (has, self.quantities) {
                (false, PositionQuantities::Totals) => MISSING.to_owned(),
                (true, _) | (_, PositionQuantities::Deltas) => quantity.to_owned(),
            };
            let (long, short) = (
                given(self.file.has[0], long),
                given(self.file.has[1], short),
            );
            text += &format!(";{account} {symbol} {long} {short}");
            if let Some((_, since)) = self.since {
                let Some(known) = since.of(account, symbol) else {
                    text += " 0 0";
                    continue;
                };
                text += &format!(" {} {}", known.long_before, known.short_before);
                if let Some(order) = known.turned {
                    text += &format!(" {TURNED}{order}");
                }
            }
        }
        text
    }
}

/// Reads from the journal the changes of positions by fills after a time.
fn since(at: &EngineFlags, moment: i64) -> Result<PositionsSince, Failure> {
    // A fill that is received more than a second after it was made is known to be late.
    if now().0.saturating_sub(moment) < 1_000_000_000 {
        return Err(Failure::Text(
            "the moment of the totals must be at least a second ago: load them later".into(),
        ));
    }
    let first = |state| PositionsSince::new(state, moment);
    let since = read_notes(at, first, PositionsSince::take)?;
    if let Some(from) = since.is_known_from() {
        return Err(Failure::Text(format!(
            "the journal has the fills from {} on, which is after the moment of the totals (JournalKeep)",
            crate::log::moment(Timestamp(from))
        )));
    }
    Ok(since)
}

/// Lists the positions that operators and files have set.
fn history(ask: &Ask, account: Option<&str>, symbol: Option<&str>) -> Result<ExitCode, Failure> {
    let mut text =
        String::from("time\taccount\tsymbol\twas long\tlong\twas short\tshort\tby\treason\tfile");
    read_notes(&ask.at, PositionHistory::new, |history, note| {
        let steps = history.take(note).into_iter();
        let steps = steps.filter(|step| {
            account.is_none_or(|it| it == step.account) && symbol.is_none_or(|it| it == step.symbol)
        });
        for step in steps {
            let PositionStep {
                at,
                account,
                symbol,
                was_long,
                long,
                was_short,
                short,
                who,
                why,
                file,
            } = step;
            let at = crate::log::moment(Timestamp(at));
            text += &format!(
                "\n{at}\t{account}\t{symbol}\t{was_long}\t{long}\t{was_short}\t{short}\t{who}\t{why}\t{file}"
            );
        }
    })?;
    answers::show(ask, &text)
}

/// Compares a file with the OMS; exit code 1 when something differs.
pub(super) fn reconcile(args: &Reconcile) -> Result<ExitCode, Failure> {
    let (name, text) = read(&args.file)?;
    let found = if has_fills(&text) {
        let theirs = match fill_rows(&name, &text) {
            Ok(fills) => fills,
            Err(errors) => return Ok(mistakes(&errors)),
        };
        if args.as_of.is_some() {
            return Err(Failure::Text(
                "--as-of is for positions: fills are compared with those of the trading day".into(),
            ));
        }
        let ours = own_quantities(
            &answer(&args.ask.at, question("positions"))?,
            Compared::Fills,
        );
        compare_fills(&theirs, &ours, args.listed)
    } else {
        let file = position_rows(&name, &text);
        if !file.mistakes.is_empty() {
            return Ok(mistakes(&file.mistakes));
        }
        if file.quantities == Some(PositionQuantities::Deltas) {
            return Err(Failure::Text(format!(
                "{name} has changes; only totals can be compared"
            )));
        }
        let ours = own_positions(args, &file)?;
        compare_positions(&file.rows, &ours, args.listed)
    };
    let found = found.map_err(|what| Failure::Text(format!("{name}: {what}")))?;
    show(args, &found)?;
    if found.count == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    if args.alarm {
        let asked = Asked {
            what: ControlQuestion::Command,
            why: Some("positions differ".to_owned()),
            text: Some(format!(
                "differ rows={} file={}",
                found.count,
                short_name(&args.file)?
            )),
            ..Asked::default()
        };
        answer(&args.ask.at, asked)?;
    }
    Ok(ExitCode::FAILURE)
}

/// The positions of the OMS: the present ones, or those at the time of a file.
fn own_positions(args: &Reconcile, file: &ClearingFile) -> Result<Vec<OwnQuantities>, Failure> {
    let as_of = one_of(
        args.as_of,
        file.as_of,
        "the column as_of and --as-of differ",
    )?;
    let Some(moment) = as_of else {
        let answer = answer(&args.ask.at, question("positions"))?;
        return Ok(own_quantities(&answer, Compared::Positions));
    };
    let since = since(&args.ask.at, moment)?;
    let rows = since.rows().map(|row| OwnQuantities {
        account: row.account,
        symbol: row.symbol,
        long: row.long,
        short: row.short,
        since: Some([row.long_since, row.short_since]),
        doubts: row.doubts.join(", "),
    });
    Ok(rows.collect())
}

fn show(args: &Reconcile, found: &Differences) -> Result<(), Failure> {
    if args.ask.json {
        let rows: Value = answers::json(&found.table);
        let all = json!({ "compared": found.compared, "differences": rows });
        writeln!(io::stdout(), "{all:#}")?;
        return Ok(());
    }
    if found.count > 0 {
        write!(io::stdout(), "{}", table(&found.table))?;
    }
    let (count, compared) = (found.count, found.compared);
    writeln!(
        io::stdout(),
        "{count} of {compared} accounts and symbols differ"
    )?;
    Ok(())
}
