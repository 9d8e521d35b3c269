//! `fixwire replay`: sends the recorded messages of a session to an acceptor. Compares the answers with the recorded
//! answers.

use std::io::{self, BufWriter, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use clap::Args;
use fixwire::{Engine, Event, Handle, SendError};
use fixwire_lab::replay::comparison::{Difference, DifferenceKind, ReplayComparison};
use fixwire_lab::replay::recording::{RecordedSession, SessionSurvey, stream, survey};
use fixwire_lab::replay::{
    ReplayConfig, ReplayEnd, ReplayPace, ReplayParts, Replayer, engine_config,
};
use fixwire_protocol::dictionary::Version;
use fixwire_protocol::readable::{Escaped, ReadableValue};
use fixwire_protocol::{Dictionary, Tag};
use fixwire_reader::LeftOut;
use serde_json::{Value, json};

use crate::failure::{Failure, tell};
use crate::log::{Sources, tell_left_out};
use crate::signals::{Caught, Passwords};
use crate::teller::tell_some_events;

/// Number of messages that are read ahead.
const AHEAD: usize = 4096;

/// Arguments of `fixwire replay`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire replay client.log --to 127.0.0.1:9876
  fixwire replay broker.log.gz --ours CLIENT --to localhost:9876 --speed 10
  fixwire replay store --to 127.0.0.1:9876 --flood --fresh-ids --json
  fixwire replay client.log --to uat.example.com:9876 --really uat.example.com:9876

The command sends the application messages of one session that the log shows as sent. With --ours it sends those with
this SenderCompID, so that a log of the acceptor can be replayed too. It leaves out admin messages and resent
messages. The session logs on with ResetSeqNumFlag(141), assigns MsgSeqNum and SendingTime, and answers Heartbeats,
TestRequests and ResendRequests. TransactTime(60) is the current time, OrderID(37) that of the acceptor.
The answers are compared with the recorded ones, order by order (ClOrdID) and in sequence, except for ids and times of
the acceptor. The exit code is 1 if an order was not answered or could not be sent, if the session was lost, or if
something could not be read.")]
pub struct ReplayArgs {
    #[command(flatten)]
    sources: Sources,
    /// The acceptor
    #[arg(long, value_name = "HOST:PORT")]
    to: String,
    /// Confirms sending to an acceptor that is not on this machine; must be the same HOST:PORT as --to
    #[arg(long, value_name = "HOST:PORT")]
    really: Option<String>,
    /// The session, if the log has several: FIX.4.4:CLIENT->BROKER, the sender first
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
    /// The SenderCompID to log on with [default: the recorded one]
    #[arg(long, value_name = "COMPID")]
    sender: Option<String>,
    /// The TargetCompID to log on with [default: the recorded one]
    #[arg(long, value_name = "COMPID")]
    target: Option<String>,
    /// Send this many times as fast as recorded
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = speed)]
    speed: f64,
    /// Send as fast as possible, with at most 256 orders without an answer
    #[arg(long, conflicts_with = "speed")]
    flood: bool,
    /// Send new ClOrdIDs, also in OrigClOrdID
    #[arg(long)]
    fresh_ids: bool,
    /// Log on without ResetSeqNumFlag(141), with MsgSeqNum 1
    #[arg(long)]
    no_reset: bool,
    /// Do not compare this field; may be given several times
    #[arg(long, value_name = "TAG")]
    ignore: Vec<Tag>,
    /// Timeout in seconds for the logon, and for answers after the last message
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    timeout: u32,
    /// Print at most this many differences
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    most: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn speed(text: &str) -> Result<f64, String> {
    let wrong = || format!("{text}: expected a factor from 0.001 to 1000000, such as 10");
    let factor: f64 = text.parse().map_err(|_| wrong())?;
    match (0.001..=1e6).contains(&factor) {
        true => Ok(factor),
        false => Err(wrong()),
    }
}

/// The results of a replay.
struct Outcome {
    session: String,
    to: SocketAddr,
    end: Option<ReplayEnd>,
    took: Duration,
    comparison: ReplayComparison,
}

/// Runs the command.
pub fn run(args: &ReplayArgs) -> Result<ExitCode, Failure> {
    if args.sources.paths.iter().any(|path| path == Path::new("-")) {
        let why = "the standard input can be read once only: write it to a file first";
        return Err(Failure::Text(why.to_owned()));
    }
    let to = address(&args.to, args.really.as_deref()).map_err(Failure::Text)?;
    let (sessions, left_out) = survey(&mut args.sources.open(false)?);
    let is_whole = tell_left_out(&left_out);
    let (session, survey) = choose(&sessions, args.session.as_deref()).map_err(Failure::Text)?;
    let config = ReplayConfig {
        to,
        sender: args.sender.clone(),
        target: args.target.clone(),
        pace: match args.flood {
            true => ReplayPace::Flood,
            false => ReplayPace::Recorded(args.speed),
        },
        fresh_ids: args.fresh_ids,
        timeout: Duration::from_secs(args.timeout.into()),
        reset: !args.no_reset,
    };
    let outcome = play(args, session, survey, &config)?;
    let mut out = BufWriter::new(io::stdout().lock());
    if args.json {
        writeln!(out, "{:#}", object(&outcome))?;
    } else {
        print(&outcome, &mut out)?;
    }
    out.flush()?;
    let why = match &outcome.end {
        Some(ReplayEnd::Complete) => None,
        Some(ReplayEnd::TimedOut) => Some(format!(
            "no further answer for {} s: {} orders are not answered",
            args.timeout,
            outcome.comparison.unanswered()
        )),
        Some(ReplayEnd::NotLoggedOn) => Some(format!("not logged on within {} s", args.timeout)),
        Some(ReplayEnd::Lost(text)) if text.is_empty() => {
            Some("the connection was lost".to_owned())
        }
        Some(ReplayEnd::Lost(text)) => Some(format!("the acceptor logged out: {text}")),
        None => Some("the replay was stopped before its last message".to_owned()),
    };
    if let Some(why) = &why {
        tell("error", why);
    }
    let all_sent = outcome.comparison.unsendable == 0;
    Ok(match why.is_none() && is_whole && all_sent {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// The address of the acceptor. A host name is resolved only after it was confirmed.
fn address(to: &str, really: Option<&str>) -> Result<SocketAddr, String> {
    let wrong = || format!("{to}: expected HOST:PORT, such as 127.0.0.1:9876");
    let (host, port) = to.rsplit_once(':').ok_or_else(wrong)?;
    let port: u16 = port.parse().map_err(|_| wrong())?;
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    if host == "localhost" {
        return Ok((Ipv4Addr::LOCALHOST, port).into());
    }
    if let Ok(ip) = bare.parse::<IpAddr>()
        && ip.is_loopback()
    {
        return Ok((ip, port).into());
    }
    if really != Some(to) {
        return Err(format!(
            "{to} is not on this machine: orders would be sent there; confirm it with --really {to}"
        ));
    }
    let found = (bare, port).to_socket_addrs();
    let mut found = found.map_err(|error| format!("{to}: {error}"))?;
    found.next().ok_or_else(|| format!("{to}: no address"))
}

/// The session to replay.
fn choose<'a>(
    sessions: &'a std::collections::BTreeMap<RecordedSession, SessionSurvey>,
    name: Option<&str>,
) -> Result<(&'a RecordedSession, &'a SessionSurvey), String> {
    let named = |session: &RecordedSession| name.is_none_or(|name| session.to_string() == name);
    let found: Vec<_> = sessions.iter().filter(|(it, _)| named(it)).collect();
    let all = sessions.iter();
    let all = all.map(|(it, survey)| format!("  {it}  {} messages", survey.messages));
    let all = all.collect::<Vec<_>>().join("\n");
    match (&found[..], name) {
        ([one], _) => Ok(*one),
        ([], _) if sessions.is_empty() => Err(
            "the log has no message marked as sent: name our side with --ours COMPID".to_owned(),
        ),
        ([], Some(name)) => Err(format!(
            "the log has no session {name} with messages to send; it has\n{all}"
        )),
        _ => Err(format!(
            "the log has several sessions: select one with --session\n{all}"
        )),
    }
}

/// Plays the session until all messages are answered, or no more answers arrive.
fn play(
    args: &ReplayArgs,
    session: &RecordedSession,
    survey: &SessionSurvey,
    config: &ReplayConfig,
) -> Result<Outcome, Failure> {
    let settings = engine_config(session, survey, config).map_err(Failure::Text)?;
    let names = vec![settings.sessions[0].name.clone()];
    let (taken, recorded) = sync_channel(AHEAD);
    let (ended, end) = channel();
    let comparison = Arc::new(Mutex::new(ReplayComparison::new(
        args.most,
        args.ignore.clone(),
    )));
    let parts = ReplayParts {
        recorded,
        comparison: Arc::clone(&comparison),
        ended,
    };
    let signals = Caught::catch()?;
    let app = Replayer::new(parts, config.clone());
    let failed = |error: &dyn std::error::Error| Failure::Text(error.to_string());
    let mut engine = Engine::new(settings, app).map_err(|error| failed(&error))?;
    signals.serve(engine.handle(), Passwords::default())?;
    let start = format!("replaying {} messages to {}", survey.messages, config.to);
    let is_told = |event: &Event| !matches!(event, Event::RejectReceived { .. });
    tell_some_events(&mut engine, names, &start, is_told)?;
    let (sources, of) = (args.sources.clone(), session.clone());
    let read = move || match sources.open(false) {
        Ok(reader) => stream(reader, &of, &taken),
        // An error is unlikely, because the file was already opened for the survey.
        Err(_) => Vec::new(),
    };
    let reading: JoinHandle<Vec<LeftOut>> =
        fixwire_threads::spawn("reading", read).map_err(Failure::thread)?;
    let stopper = stop_at_end(engine.handle(), end)?;
    let begun = Instant::now();
    engine.run().map_err(|error| failed(&error))?;
    // Drops the receiver of the reading thread.
    drop(engine);
    let _ = reading.join();
    let end = stopper.join().ok().flatten();
    let mut found = comparison.lock().unwrap_or_else(PoisonError::into_inner);
    found.finish();
    Ok(Outcome {
        session: session.to_string(),
        to: config.to,
        end,
        took: begun.elapsed(),
        comparison: std::mem::take(&mut *found),
    })
}

/// Stops the engine when the replay has ended. Returns the outcome, unless the engine was stopped from outside.
fn stop_at_end(
    mut engine: Handle,
    end: Receiver<ReplayEnd>,
) -> Result<JoinHandle<Option<ReplayEnd>>, Failure> {
    let stop = move || {
        // The channel is closed when the application was dropped.
        let found = end.recv().ok();
        while engine.stop() == Err(SendError::Full) {
            thread::sleep(Duration::from_millis(1));
        }
        found
    };
    fixwire_threads::spawn("ending", stop).map_err(Failure::thread)
}

fn print(outcome: &Outcome, out: &mut impl Write) -> io::Result<()> {
    let comparison = &outcome.comparison;
    let counts = comparison.counts();
    let names =
        Dictionary::built_in(Version::Fix50Sp2).over(&Dictionary::built_in(Version::Fixt11));
    let total = |types: &std::collections::BTreeMap<Vec<u8>, u64>| types.values().sum::<u64>();
    let types = |types: &std::collections::BTreeMap<Vec<u8>, u64>| {
        let types = types.iter().map(|(msg_type, count)| {
            let code = Escaped(msg_type).to_string();
            let known = names.message(msg_type);
            format!("{count} {}", known.map_or(code.as_str(), |it| it.name()))
        });
        types.collect::<Vec<_>>().join(", ")
    };
    let session = Escaped(outcome.session.as_bytes());
    writeln!(
        out,
        "{session} to {} in {:.3} s",
        outcome.to,
        outcome.took.as_secs_f64()
    )?;
    for (what, all) in [
        ("sent", &comparison.sent),
        ("received", &comparison.received),
    ] {
        let dash = if all.is_empty() { "" } else { ": " };
        writeln!(out, "{what:<9} {}{dash}{}", total(all), types(all))?;
    }
    if comparison.unsendable > 0 {
        writeln!(
            out,
            "not sent  {}: not valid FIX, for example with an empty field",
            comparison.unsendable
        )?;
    }
    let same = counts
        .answered
        .saturating_sub(counts.different.min(counts.answered));
    writeln!(
        out,
        "orders    {}: {} answered, {same} of them as recorded",
        counts.orders, counts.answered
    )?;
    if counts.uncompared > 0 {
        writeln!(
            out,
            "          {} messages of further orders were not compared",
            counts.uncompared
        )?;
    }
    if comparison.kinds.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{:<40} count", "difference")?;
    for (kind, count) in &comparison.kinds {
        writeln!(out, "{:<40} {count:>5}", title(kind, &names))?;
    }
    writeln!(out)?;
    for difference in &comparison.examples {
        writeln!(out, "{}", sentence(difference, &names))?;
    }
    let all: u64 = comparison.kinds.values().sum();
    let shown = comparison.examples.len() as u64;
    if all > shown {
        writeln!(out, "and {} more (--most {all} shows all)", all - shown)?;
    }
    Ok(())
}

fn title(kind: &DifferenceKind, names: &Dictionary) -> String {
    match kind {
        DifferenceKind::NotAnswered => "not answered".to_owned(),
        DifferenceKind::AnswersMissing => "answers missing".to_owned(),
        DifferenceKind::MoreAnswers => "more answers than recorded".to_owned(),
        DifferenceKind::MsgType => "MsgType(35)".to_owned(),
        DifferenceKind::Field(tag) => {
            let name = names.field(*tag).map_or("", |field| field.name.as_str());
            format!("{name}({tag})")
        }
    }
}

fn sentence(difference: &Difference, names: &Dictionary) -> String {
    let Difference {
        id,
        answer,
        kind,
        recorded,
        now,
    } = difference;
    let id = Escaped(id);
    let value = |value: &[u8]| match kind {
        _ if value.is_empty() => "nothing".to_owned(),
        DifferenceKind::Field(tag) => ReadableValue(*tag, value).to_string(),
        _ => Escaped(value).to_string(),
    };
    let (recorded, now) = (value(recorded), value(now));
    match kind {
        DifferenceKind::NotAnswered => format!(
            "{id}: not answered; the log has {recorded} \
            answers"
        ),
        DifferenceKind::AnswersMissing | DifferenceKind::MoreAnswers => {
            format!("{id}: {now} answers, the log has {recorded}")
        }
        _ => format!(
            "{id}: answer {answer}: {} {now}, recorded {recorded}",
            title(kind, names)
        ),
    }
}

fn object(outcome: &Outcome) -> Value {
    let comparison = &outcome.comparison;
    let counts = comparison.counts();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let types = |types: &std::collections::BTreeMap<Vec<u8>, u64>| {
        let types = types.iter();
        types
            .map(|(msg_type, count)| (text(msg_type), json!(count)))
            .collect::<serde_json::Map<_, _>>()
    };
    let word = |kind: &DifferenceKind| match kind {
        DifferenceKind::NotAnswered => "notAnswered".to_owned(),
        DifferenceKind::AnswersMissing => "answersMissing".to_owned(),
        DifferenceKind::MoreAnswers => "moreAnswers".to_owned(),
        DifferenceKind::MsgType => "35".to_owned(),
        DifferenceKind::Field(tag) => tag.to_string(),
    };
    let kinds = comparison.kinds.iter();
    let kinds = kinds.map(|(kind, count)| (word(kind), json!(count)));
    let differences = comparison.examples.iter().map(|difference| {
        let shown = |value: &[u8]| match difference.kind {
            DifferenceKind::Field(tag) => ReadableValue(tag, value).to_string(),
            _ => text(value),
        };
        json!({
            "order": text(&difference.id), "answer": difference.answer, "difference": word(&difference.kind),
            "recorded": shown(&difference.recorded), "now": shown(&difference.now),
        })
    });
    let end = match &outcome.end {
        Some(ReplayEnd::Complete) => "complete",
        Some(ReplayEnd::TimedOut) => "timeout",
        Some(ReplayEnd::NotLoggedOn) => "notLoggedOn",
        Some(ReplayEnd::Lost(_)) => "lost",
        None => "stopped",
    };
    json!({
        "session": outcome.session, "to": outcome.to.to_string(), "end": end,
        "seconds": outcome.took.as_secs_f64(), "sent": types(&comparison.sent),
        "received": types(&comparison.received), "orders": counts.orders, "answered": counts.answered,
        "different": counts.different, "notCompared": counts.uncompared, "notSent": comparison.unsendable,
        "counts": kinds.collect::<serde_json::Map<_, _>>(), "differences": differences.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_needs_no_confirmation() {
        for to in ["127.0.0.1:1", "localhost:1", "[::1]:1", "127.9.9.9:1"] {
            assert!(address(to, None).unwrap().ip().is_loopback(), "{to}");
        }
        for to in [
            "10.0.0.1:1",
            "uat.example.com:1",
            "0.0.0.0:1",
            "[::]:1",
            "[::ffff:127.0.0.1]:1",
        ] {
            let why = address(to, None).unwrap_err();
            assert!(why.contains(&format!("--really {to}")), "{why}");
            let why = address(to, Some("127.0.0.1:1")).unwrap_err();
            assert!(why.contains("--really"), "{why}");
        }
        assert!(address("10.0.0.1:1", Some("10.0.0.1:1")).is_ok());
        assert!(
            address("localhost", None)
                .unwrap_err()
                .contains("HOST:PORT")
        );
    }
}
