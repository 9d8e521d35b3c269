//! `fixwire certify`: plays the certification cases of a plan against a venue. Keeps the bytes as evidence.

mod venue;

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Args;
use fixwire::{Connection, regular};
use fixwire_certify::{
    CasePlayer, CaseResult, CaseSelection, CaseVerdict, CertificationCase, CertificationPlan,
    EvidenceFolder, PlayerSetup, StartNumbers, Totals, VenueSession,
};
use fixwire_protocol::readable::Escaped;
use serde_json::{Value, json};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::failure::{Failure, tell};
use crate::reading::Reading;
use venue::VenueSettings;

/// Maximum length of a plan, in bytes.
const LONGEST_PLAN: u64 = 16 << 20;
/// Exit code for an invalid command line, the same as for a command line that cannot be parsed.
const WRONG_USAGE: u8 = 2;

/// Arguments of `fixwire certify`.
#[derive(Args, Debug)]
#[command(after_help = "A plan:
  session client.cfg                     the session, as for 'fixwire client'
  limit 2s                               time limit of each expectation
  case 1 A limit order is acknowledged and cancelled
  new buy 100 VOD @ 10.00 11=$A
  expect 35=8|11=$A|150=0|39=0|37=$order
  cancel $A
  expect within 500ms 35=8|41=$A|150=4|37=$order

A plan for a TMP link:
  link line.toml                         the link, a [[link]] that connects
  case 1 An order is acknowledged
  send R01|order_no=$A|symbol=TXFL6|side=buy|price=22000|qty=1
  expect R02|exec_type=0|order_no=$A|leaves_qty=1

Examples:
  fixwire certify examples/certify-fix.plan
  fixwire certify examples/certify-tmp.plan
  fixwire certify examples/certify-fix.plan --case 3,5-7 --evidence evidence
  fixwire certify examples/certify-fix.plan --json | jq .

Exit code: 0 all passed, 1 a case failed or could not be played, or none was played, 2 wrong usage. Failed
optional cases, and cases for other FIX versions, do not count. See docs/reference/certify.md.")]
pub struct CertifyArgs {
    /// Play these cases only, such as 3,5-7
    #[arg(long, value_name = "LIST")]
    case: Option<CaseSelection>,
    /// Write a file for each case and an index into a new folder of DIR
    #[arg(long, value_name = "DIR")]
    evidence: Option<PathBuf>,
    /// Print one JSON object for each case, and one with the totals
    #[arg(long)]
    json: bool,
    /// The settings file to use instead of the one that the plan names
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
    /// The session, by its identity or SessionName, or the link, by its name, if the file has several
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// MsgSeqNum of the first Logon, which is then sent without ResetSeqNumFlag(141), for a venue that does not reset
    /// sequence numbers; over TMP, the MsgSeqNum of the first order
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    next_out: Option<u64>,
    /// MsgSeqNum that the venue's first Logon must have [default: any]; over TMP, MsgSeqNum that the venue's first
    /// report must have [default: 1]
    #[arg(long, value_name = "N", requires = "next_out", value_parser = clap::value_parser!(u64).range(1..))]
    next_in: Option<u64>,
    #[command(flatten)]
    reading: Reading,
    /// The plan
    plan: PathBuf,
}

/// Runs the command.
pub fn run(args: &CertifyArgs) -> Result<ExitCode, Failure> {
    let plan = read(&args.plan)?;
    if let Some(selection) = &args.case
        && let Err(error) = selection.check(&plan)
    {
        tell("error", &format!("--case: {error}"));
        return Ok(ExitCode::from(WRONG_USAGE));
    }
    let venue = VenueSettings::of(args, &plan)?;
    let session = venue.session();
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // A second signal ends the process at once.
        flag::register_conditional_shutdown(signal, 1, Arc::clone(&stop))?;
        flag::register(signal, Arc::clone(&stop))?;
    }
    let numbers = args.next_out.map(|next_out| StartNumbers {
        next_out,
        next_in: args.next_in,
    });
    let player = CasePlayer::new(&PlayerSetup {
        session,
        limit: plan.limit,
        numbers,
        stop,
    });
    let mut player = player.map_err(Failure::Text)?;
    let folder = folder(args, &session, &mut player)?;
    let is_played = |case: &&CertificationCase| {
        let selection = args.case.as_ref();
        selection.is_none_or(|selection| selection.has(case.number))
    };
    let cases: Vec<&CertificationCase> = plan.cases.iter().filter(is_played).collect();
    let screen = Screen::new(args, &cases);
    let mut results: Vec<CaseResult> = Vec::new();
    let index = |results: &[CaseResult]| match &folder {
        Some(folder) => {
            let written = folder.write_index(&screen.plan, results, &cases[results.len()..]);
            written.map_err(|error| cannot_write(folder.path(), &error))
        }
        None => Ok(()),
    };
    index(&results)?;
    for case in &cases {
        let result = if player.is_stopped() {
            not_played(case)
        } else {
            let played = player.play(case, folder.as_ref());
            played.map_err(|error| {
                let path = folder.as_ref().map_or(Path::new(""), EvidenceFolder::path);
                cannot_write(path, &error)
            })?
        };
        screen.result(&result);
        results.push(result);
        index(&results)?;
    }
    player.finish();
    let totals = Totals::of(&results);
    screen.totals(&totals, folder.as_ref(), player.late());
    Ok(match totals.is_success() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Reads the plan, and reports all of its mistakes.
fn read(file: &Path) -> Result<CertificationPlan, Failure> {
    let shown = file.display();
    let fail = |error: &dyn std::fmt::Display| Failure::Text(format!("{shown}: {error}"));
    let mut open = regular::open(file).map_err(|error| fail(&error))?;
    let length = open.metadata().map_err(|error| fail(&error))?.len();
    if length > LONGEST_PLAN {
        let why = format!("the plan has {length} bytes, more than the limit of {LONGEST_PLAN}");
        return Err(fail(&why));
    }
    let mut bytes = Vec::new();
    open.read_to_end(&mut bytes).map_err(|error| fail(&error))?;
    let text = fixwire_text::utf8(bytes).map_err(|error| fail(&error))?;
    CertificationPlan::parse(&text).map_err(|mut mistakes| {
        let last = mistakes.pop();
        for mistake in &mistakes {
            tell("error", &format!("{shown}:{mistake}"));
        }
        let last = last.map_or_else(String::new, |last| last.to_string());
        Failure::Text(format!("{shown}:{last}"))
    })
}

/// The folder for the evidence; `None` if no evidence is requested.
fn folder(
    args: &CertifyArgs,
    session: &VenueSession<'_>,
    player: &mut CasePlayer,
) -> Result<Option<EvidenceFolder>, Failure> {
    let Some(parent) = &args.evidence else {
        return Ok(None);
    };
    let address = match session.connection() {
        Connection::Initiator { hosts, .. } => hosts.first(),
        Connection::Acceptor { .. } => None,
    };
    let address = address.map_or_else(String::new, |(host, port)| format!(" at {host}:{port}"));
    let word = match session {
        VenueSession::Fix(_) => "session",
        VenueSession::Tmp { .. } => "link",
    };
    let about = [
        ("plan", args.plan.display().to_string()),
        (word, format!("{}{address}", session.name())),
    ];
    let about = about.map(|(key, value)| (key.to_owned(), value)).to_vec();
    let folder = EvidenceFolder::create(parent, player.now(), about);
    folder
        .map(Some)
        .map_err(|error| cannot_write(parent, &error))
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::Text(format!(
        "cannot write the evidence to {}: {error}",
        path.display()
    ))
}

fn not_played(case: &CertificationCase) -> CaseResult {
    CaseResult {
        number: case.number,
        title: case.title.clone(),
        optional: case.optional,
        verdict: CaseVerdict::NotPlayed {
            why: "stopped by a signal".to_owned(),
        },
        took: std::time::Duration::ZERO,
        evidence: None,
    }
}

/// Prints results.
struct Screen {
    as_json: bool,
    /// The path of the plan.
    plan: String,
    /// Number of digits of the largest case number.
    digits: usize,
}

impl Screen {
    fn new(args: &CertifyArgs, cases: &[&CertificationCase]) -> Self {
        let largest = cases.iter().map(|case| case.number).max().unwrap_or(1);
        Self {
            as_json: args.json,
            plan: args.plan.display().to_string(),
            digits: largest.to_string().len(),
        }
    }

    fn result(&self, result: &CaseResult) {
        let reasons = result.reasons(&self.plan);
        if self.as_json {
            let line = match &result.verdict {
                CaseVerdict::Failed { line, .. } => Some(*line),
                _ => None,
            };
            return say_json(&json!({
                "case": result.number,
                "title": result.title,
                "verdict": result.word().to_lowercase(),
                "optional": result.optional,
                "line": line,
                "reasons": reasons,
                "ms": result.took.as_millis() as u64,
                "evidence": result.evidence,
            }));
        }
        let digits = self.digits;
        say(&format!(
            "{:>digits$} {:<10} {}",
            result.number,
            result.word(),
            result.title
        ));
        for reason in reasons {
            say(&format!("{:width$}{reason}", "", width = digits + 12));
        }
    }

    fn totals(&self, totals: &Totals, folder: Option<&EvidenceFolder>, late: u64) {
        let path = folder.map(EvidenceFolder::path);
        if self.as_json {
            let late: Value = late.into();
            return say_json(&json!({
                "cases": totals.cases,
                "passed": totals.passed,
                "failed": totals.failed,
                "failed_optional": totals.failed_optional,
                "not_played": totals.not_played,
                "skipped": totals.skipped,
                "reason": totals.why_nothing_played(),
                "late_messages": late,
                "evidence": path,
            }));
        }
        let why = totals.why_nothing_played();
        let why = why.map_or_else(String::new, |why| format!("; {why}"));
        let late = match late {
            0 => String::new(),
            1 => "; 1 message arrived after the end of its case".to_owned(),
            late => format!("; {late} messages arrived after the ends of their cases"),
        };
        let path = path.map_or_else(String::new, |path| {
            format!("; evidence in {}", path.display())
        });
        say(&format!("{totals}{why}{late}{path}"));
    }
}

/// A line of text.
fn say(text: &str) {
    print(&Escaped(text.as_bytes()));
}

/// A line of JSON, in which control characters are escaped.
fn say_json(value: &Value) {
    print(value);
}

/// Prints a line to standard output. If the output is closed, the remaining cases are still played.
fn print(line: &dyn std::fmt::Display) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}
