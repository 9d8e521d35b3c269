//! `fixwire oms try`: plays a recorded day against other settings.

mod record;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use fixwire::journal::{self, FolderContents};
use fixwire::settings::{Settings, Source};
use fixwire_oms::OmsState;
use fixwire_oms::trial::{ChangedRequest, RequestCounts, TrialResult};
use fixwire_protocol::readable::Escaped;
use fixwire_protocol::{Ledger as _, Precision, Timestamp, TimestampWriter};
use fixwire_reader::ExportColumns;
use serde_json::{Value, json};

use super::answers::{table, until_whole};
use super::at::{MomentArg, known_from, read_moment, state_at};
use super::load;
use crate::failure::{self, Failure, tell};
use crate::log::moment;
use crate::reading::Reading;
use crate::teller::now;
use record::{RecordEnd, RecordReader};

/// What to try.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire oms try stricter.toml store                   the journal of an OMS
  fixwire oms try stricter.toml messages.log            the log of the client sessions
  fixwire oms try stricter.toml store --changed changed.csv
  fixwire oms try stricter.toml store --from 08:00      today's orders, with the positions of 08:00 UTC

The record is read as `fixwire log` reads it. BeginString, SenderCompID and TargetCompID say which session of the file a
message belongs to. Requests of clients (D, G, F, q) and prices (W, X) go to an OMS with these settings, at the times of
the record; the reports of the record to the clients say what the venue did. The OMS starts with the positions that the journal
has before the first message that is played; for a log, with the positions of the settings.

Assumed: an order that the record rejected has no fills; an order or a replace that is rejected now loses its fills.
Operators' commands, quotes, busts and corrections of the record are not played. Lines over TMP speak FIX here.

The exit code is 0; 1 if something could not be read, or with --strict if a request that the record accepted is rejected or,
without --from, if JournalKeep has removed the beginning of the journal.")]
pub struct OmsTryArgs {
    /// The settings file to try (.toml)
    #[arg(value_name = "OMS.toml")]
    settings: PathBuf,
    /// Message logs, journals, captures, folders with them, or - for the standard input
    #[arg(required = true)]
    record: Vec<PathBuf>,
    /// Play only what was sent later: 2026-11-29T14:30:00, or 14:30 for today, both in UTC
    #[arg(long, value_name = "TIME", value_parser = read_moment)]
    from: Option<MomentArg>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write every request whose outcome changes to this CSV file
    #[arg(long, value_name = "FILE")]
    changed: Option<PathBuf>,
    /// End with exit code 1 when a request that the record accepted is rejected now, or (without --from) the beginning of
    /// the journal was removed
    #[arg(long)]
    strict: bool,
}

/// Maximum number of printed rows with changed requests, and with limits. `--changed` and `--json` have all rows.
const SHOWN: usize = 20;

/// Runs the command.
pub(super) fn run(args: &OmsTryArgs) -> Result<ExitCode, Failure> {
    let from = args.from.as_ref().map(|from| from.at("--from", now()));
    let tried = Tried::of(&args.settings, &args.record, from.transpose()?)?;
    let result = &tried.result;
    if let Some(file) = &args.changed {
        write_changed(file, &result.changed).map_err(|error| {
            Failure::Text(format!("{} cannot be written: {error}", file.display()))
        })?;
    }
    let shown = match args.json {
        true => format!("{:#}\n", as_json(result)),
        false => as_text(result),
    };
    io::stdout().write_all(shown.as_bytes())?;
    let all = [&result.orders, &result.replaces, &result.cancels];
    let is_stricter = all.iter().any(|counts| counts.accepted_before > 0);
    let is_strict_fault = args.strict && (is_stricter || tried.is_shortened);
    Ok(match !tried.is_whole || is_strict_fault {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

/// The result of a trial.
pub(super) struct Tried {
    result: TrialResult,
    /// Whether the record was read completely. A beginning that `JournalKeep` removed from a journal does not count.
    pub is_whole: bool,
    /// Whether the whole journal was asked for, and `JournalKeep` had removed its beginning.
    is_shortened: bool,
}

impl Tried {
    /// Plays a record with the settings of a file: the whole record, or the part after a time.
    ///
    /// # Errors
    ///
    /// The settings have errors, or no part of the record can be read.
    pub(super) fn of(
        settings: &Path,
        record: &[PathBuf],
        from: Option<Timestamp>,
    ) -> Result<Self, Failure> {
        let source = Source::read(settings)?;
        let read = Reading::default().of_file(&source)?;
        failure::show(&read.report);
        until_whole(|| Self::attempt(settings, (&source, &read), record, from))
    }

    /// Plays the record once; `None` when segments of the record's journal were removed before they were read.
    fn attempt(
        settings: &Path,
        (source, read): (&Source, &Settings),
        record: &[PathBuf],
        from: Option<Timestamp>,
    ) -> Result<Option<Self>, Failure> {
        let is_part = from.is_some();
        let Some(Beginning {
            from,
            opening,
            known,
        }) = Beginning::of(record, from)?
        else {
            return Ok(None);
        };
        let mut trial = load::trial(source, read, opening)?;
        let (dictionaries, ignored) = (read.dictionaries()?, trial.ignored());
        let reader = RecordReader::new(read, &dictionaries, ignored, from, is_part);
        let Some(end) = reader.play(record, known.as_ref(), &mut trial)? else {
            return Ok(None);
        };
        let RecordEnd {
            is_whole,
            is_shortened,
            unknown,
            untimed,
        } = end;
        if unknown > 0 {
            let settings = settings.display();
            let text = format!("{unknown} messages belong to no session of {settings}");
            tell("warning", &text);
        }
        if untimed > 0 {
            let text = format!("{untimed} messages have no time: they are not played");
            tell("warning", &text);
        }
        Ok(Some(Self {
            is_shortened,
            result: trial.finish(),
            is_whole,
        }))
    }

    /// The result as tables.
    pub(super) fn text(&self) -> String {
        as_text(&self.result)
    }

    /// The result as JSON.
    pub(super) fn json(&self) -> Value {
        as_json(&self.result)
    }
}

/// Where a trial begins.
struct Beginning {
    /// The time after which messages are played; `None` for all messages.
    from: Option<Timestamp>,
    /// The state of the OMS before the first message that is played, if the record has a journal.
    opening: Option<OmsState>,
    known: Option<JournalBeginning>,
}

/// Where a journal of the record begins.
struct JournalBeginning {
    store: PathBuf,
    /// The time from which on the state is known; `None` when the journal has all events.
    from: Option<Timestamp>,
}

impl JournalBeginning {
    fn of(store: &Path) -> Result<Self, Failure> {
        Ok(Self {
            store: store.to_owned(),
            from: known_from(store)?,
        })
    }

    /// Whether the journal begins there still.
    fn stays(&self) -> Result<bool, Failure> {
        Ok(known_from(&self.store)? == self.from)
    }
}

impl Beginning {
    /// If the journal no longer has its first event, messages are played from the journal's first checkpoint on.
    /// `None` when the journal begins later now.
    fn of(record: &[PathBuf], from: Option<Timestamp>) -> Result<Option<Self>, Failure> {
        let without_state = |from| Self {
            from,
            opening: None,
            known: None,
        };
        let is_journal = |path: &&PathBuf| journal::contents(path) == FolderContents::Journal;
        let journals: Vec<&PathBuf> = record.iter().filter(is_journal).collect();
        let [store] = journals[..] else {
            if !journals.is_empty() {
                let count = journals.len();
                let text = format!(
                    "the record has {count} journals: the trial starts with the positions of the settings"
                );
                tell("warning", &text);
            }
            return Ok(Some(without_state(from)));
        };
        let form = OmsState::default().form();
        if let Err(why) = journal::refuse_other_version(store, Some(form)) {
            let text = format!("the positions before the record are not known: {why}");
            tell("warning", &text);
            return Ok(Some(without_state(from)));
        }
        let known = JournalBeginning::of(store)?;
        Self::behind(known, from)
    }

    /// The beginning in a journal.
    fn behind(known: JournalBeginning, from: Option<Timestamp>) -> Result<Option<Self>, Failure> {
        let store = &known.store;
        let Some(at) = from.or(known.from) else {
            return Ok(Some(Self {
                from: None,
                opening: None,
                known: Some(known),
            }));
        };
        let opening = match state_at(store, at) {
            // The OMS has removed the checkpoint meanwhile.
            Err(_) if from.is_none() && !known.stays()? => return Ok(None),
            opening => opening?,
        };
        if from.is_none() {
            let text = format!(
                "{} has the positions from {} on: what was sent until then is not played",
                store.display(),
                moment(at)
            );
            tell("warning", &text);
        }
        Ok(Some(Self {
            from: Some(at),
            opening: Some(opening),
            known: Some(known),
        }))
    }
}

/// The time in the form 2026-11-23 14:30:00.123456.
fn time(at: Timestamp) -> String {
    let mut writer = TimestampWriter::new();
    Escaped(writer.format(at, Precision::Micros)).to_string()
}

const COUNTS: [&str; 7] = [
    "in the record",
    "accepted",
    "rejected",
    "unanswered",
    "rejected now",
    "of them accepted before",
    "accepted now, rejected before",
];

fn counts(counts: &RequestCounts) -> [u64; 7] {
    [
        counts.all,
        counts.accepted,
        counts.rejected,
        counts.unanswered,
        counts.rejected_now,
        counts.accepted_before,
        counts.rejected_before,
    ]
}

fn kinds(result: &TrialResult) -> [(&'static str, &RequestCounts); 3] {
    [
        ("orders", &result.orders),
        ("replaces", &result.replaces),
        ("cancels", &result.cancels),
    ]
}

fn as_text(result: &TrialResult) -> String {
    let mut text = match result.span {
        None => "no message of the record belongs to a session of the file\n".to_owned(),
        Some((from, to)) => format!("from {} to {}\n\n", time(from), time(to)),
    };
    let mut rows = format!("requests\t{}", COUNTS.join("\t"));
    for (name, of) in kinds(result) {
        let cells = counts(of).map(|count| count.to_string());
        rows += &format!("\n{name}\t{}", cells.join("\t"));
    }
    text += &table(&rows);
    if !result.controls.is_empty() {
        rows = "control\treason\trejected now\tof them accepted before".to_owned();
        for it in &result.controls {
            let (rejected, before) = (it.rejected, it.accepted_before);
            rows += &format!("\n{}\t{}\t{rejected}\t{before}", it.control, it.reason);
        }
        text += &format!("\n{}", table(&rows));
    }
    if !result.changed.is_empty() {
        rows = "time\tsession\tClOrdID\ttype\tnow".to_owned();
        for it in result.changed.iter().take(SHOWN) {
            let now = it.rejected_now.as_deref().unwrap_or("accepted");
            let (at, kind) = (time(it.at), it.msg_type);
            rows += &format!("\n{at}\t{}\t{}\t{kind}\t{now}", it.session, it.id);
        }
        text += &format!("\n{}", table(&rows));
        more(&mut text, result.changed.len(), "--changed FILE writes all");
    }
    if !result.uses.is_empty() {
        rows = "scope\tcontrol\tlargest use\tlimit\tpercent\ttime".to_owned();
        for it in result.uses.iter().take(SHOWN) {
            let percent = it.percent.map_or_else(String::new, |it| it.to_string());
            let (scope, control, value) = (&it.scope, it.control, &it.value);
            let (limit, at) = (&it.limit, time(it.at));
            rows += &format!("\n{scope}\t{control}\t{value}\t{limit}\t{percent}\t{at}");
        }
        text += &format!("\n{}", table(&rows));
        more(&mut text, result.uses.len(), "--json prints all");
    }
    if !result.stopped.is_empty() {
        text += &format!("\nstopped by a limit: {}\n", result.stopped.join(", "));
    }
    if result.lost.fills > 0 {
        let (fills, orders) = (result.lost.fills, result.lost.orders);
        text += &format!(
            "\n{fills} fills of {orders} orders are lost, because orders or replaces are rejected now, or \
            orders have ended\n"
        );
    }
    if !result.left_out.is_empty() {
        let all = result.left_out.iter();
        let all = all.map(|it| format!("{} ({})", Escaped(it.what.as_bytes()), it.count));
        text += &format!("\nnot played: {}\n", all.collect::<Vec<_>>().join(", "));
    }
    text
}

fn more(text: &mut String, all: usize, hint: &str) {
    if all > SHOWN {
        *text += &format!("and {} more: {hint}\n", all - SHOWN);
    }
}

fn as_json(result: &TrialResult) -> Value {
    let counted = |of: &RequestCounts| {
        let names = COUNTS.map(|name| name.replace(", ", "_").replace(' ', "_"));
        let pairs = names.into_iter().zip(counts(of).map(Value::from));
        Value::Object(pairs.collect())
    };
    let controls = result.controls.iter().map(|it| {
        json!({
            "control": it.control,
            "reason": it.reason,
            "rejected_now": it.rejected,
            "of_them_accepted_before": it.accepted_before,
        })
    });
    let changed = result.changed.iter().map(|it| {
        json!({
            "time": time(it.at),
            "session": it.session,
            "ClOrdID": it.id,
            "type": it.msg_type.to_string(),
            "rejected_now": it.rejected_now,
        })
    });
    let uses = result.uses.iter().map(|it| {
        json!({
            "scope": it.scope,
            "control": it.control.code(),
            "largest_use": it.value,
            "limit": it.limit,
            "percent": it.percent,
            "time": time(it.at),
        })
    });
    let left_out = result.left_out.iter();
    let left_out = left_out.map(|it| (it.what.clone(), Value::from(it.count)));
    let kinds = kinds(result).map(|(name, of)| (name.to_owned(), counted(of)));
    json!({
        "from": result.span.map(|(from, _)| time(from)),
        "to": result.span.map(|(_, to)| time(to)),
        "requests": Value::Object(kinds.into_iter().collect()),
        "controls": controls.collect::<Vec<_>>(),
        "changed": changed.collect::<Vec<_>>(),
        "limits": uses.collect::<Vec<_>>(),
        "stopped": result.stopped,
        "lost_fills": result.lost.fills,
        "orders_with_lost_fills": result.lost.orders,
        "not_played": Value::Object(left_out.collect()),
    })
}

/// Writes all changed requests as CSV.
fn write_changed(file: &Path, changed: &[ChangedRequest]) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    writeln!(out, "time,session,ClOrdID,type,now")?;
    for it in changed {
        let now = it.rejected_now.as_deref().unwrap_or("accepted");
        let (at, kind) = (time(it.at), it.msg_type.to_string());
        let cells = [&at, &it.session, &it.id, &kind, now];
        for (place, cell) in cells.into_iter().enumerate() {
            if place > 0 {
                out.write_all(b",")?;
            }
            ExportColumns::write_cell(cell, &mut out)?;
        }
        writeln!(out)?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_that_was_removed_is_no_error_of_a_trial_of_the_whole_record() {
        // The journal has lost the checkpoint that was its oldest a moment ago.
        let folder = tempfile::tempdir().unwrap();
        let at = Timestamp(5);
        let known = || JournalBeginning {
            store: folder.path().to_owned(),
            from: Some(at),
        };
        assert!(Beginning::behind(known(), None).unwrap().is_none());
        let failed = Beginning::behind(known(), Some(at)).err().unwrap();
        assert!(failed.to_string().contains("is not known"), "{failed}");
    }
}
