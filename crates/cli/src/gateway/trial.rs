//! `fixwire gateway try`: applies rules to the messages of logs.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use fixwire::gateway::rules::Facts;
use fixwire::gateway::{LoadedGateway, load};
use fixwire::journal::Direction;
use fixwire::settings::{Settings, Source};
use fixwire_protocol::{Decoder, Message, Mono, Now, Timestamp, tag};
use fixwire_reader::{LogEntry, LogPlace, LogReader, LogStep, ReadOptions};

use super::events::remark;
use super::result::RulesTrial;
use super::show::{Shown, Summary};
use crate::failure::{self, Failure, tell};
use crate::log::identity::{Sender, SessionIdentity, sender};
use crate::log::tell_left_out;
use crate::reading::Reading;

/// What to try.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire gateway try gateway.toml messages.log
  fixwire gateway try gateway.toml --summary store            the messages that a journal took in
  fixwire gateway try gateway.toml --from CLIENT --json - < orders.txt

Messages are read as `fixwire log` reads them: from logs of any engine, captures and journals, plain or compressed.
BeginString, SenderCompID and TargetCompID identify the session a message came from; outgoing messages of the
sessions, and session-level messages (Logon, Heartbeat and so on), are skipped. The rules use the SendingTime of each
message as the current time. Facts that only a running gateway has are missing: the client of a response, rewritten
ids, held messages.

The exit code is 0 even if messages fail or no rule handles them, see --strict; 1 if something could not be read.")]
pub struct TryArgs {
    /// The settings file with sessions and rules (.toml)
    #[arg(value_name = "RULES.toml")]
    rules: PathBuf,
    /// Message logs, captures, journals, folders with them, or - for the standard input
    #[arg(required = true)]
    messages: Vec<PathBuf>,
    /// Take all messages as from this session, whatever their CompIDs are
    #[arg(long, value_name = "NAME")]
    from: Option<String>,
    /// Take this session as not logged on, and all others as logged on
    #[arg(long, value_name = "NAME")]
    away: Vec<String>,
    /// Print one JSON object for each message
    #[arg(long)]
    json: bool,
    /// Print counts only
    #[arg(long)]
    summary: bool,
    /// End with exit code 1 when a message failed, or no rule handles it
    #[arg(long)]
    strict: bool,
}

/// Runs the command.
pub fn run(args: &TryArgs) -> Result<ExitCode, Failure> {
    let source = Source::read(&args.rules)?;
    let settings = Reading::default().of_file(&source)?;
    failure::show(&settings.report);
    if settings.gateway.is_empty() {
        let file = args.rules.display();
        return Err(Failure::Text(format!(
            "{file} has no rules: write them as [[rule]] tables in a TOML file"
        )));
    }
    let loaded = load(&source, &settings, Box::new(|_| {}))?;
    remark(&loaded, false);
    let mut trying = Trying::new(args, &loaded, &settings)?;
    let mut is_whole = true;
    for path in &args.messages {
        is_whole &= trying.read(path)?;
    }
    if args.summary && args.json {
        writeln!(trying.out, "{}", trying.summary.json(&loaded))?;
    } else if !args.json {
        trying.summary.print(&loaded, &mut trying.out)?;
    }
    trying.out.flush()?;
    Ok(
        match !is_whole || args.strict && !trying.summary.is_good() {
            true => ExitCode::FAILURE,
            false => ExitCode::SUCCESS,
        },
    )
}

struct Trying<'a> {
    args: &'a TryArgs,
    loaded: &'a LoadedGateway,
    peers: Vec<SessionIdentity>,
    /// The session from which all messages came; `None` to find it for each message.
    from: Option<usize>,
    active: Vec<bool>,
    trial: RulesTrial<'a>,
    decoder: Decoder,
    summary: Summary,
    out: BufWriter<io::StdoutLock<'static>>,
}

/// Maximum number of fields of a message.
const FIELDS: usize = 4096;

impl<'a> Trying<'a> {
    fn new(
        args: &'a TryArgs,
        loaded: &'a LoadedGateway,
        settings: &Settings,
    ) -> Result<Self, Failure> {
        let place = |name: &String| {
            let found = loaded.names.iter().position(|known| known == name);
            found.ok_or_else(|| {
                let known = loaded.names.join(", ");
                Failure::Text(format!("unknown session {name}; the sessions are: {known}"))
            })
        };
        let mut active = vec![true; loaded.names.len()];
        for name in &args.away {
            active[place(name)?] = false;
        }
        // Rules can be tried where other files of the settings, such as certificates, are missing.
        let config = settings.to_config().unwrap_or_default();
        let mut decoder = Decoder::with_capacity(FIELDS);
        for dictionary in &loaded.dictionaries {
            decoder.learn(dictionary);
        }
        Ok(Self {
            args,
            loaded,
            peers: settings.sessions.iter().map(SessionIdentity::of).collect(),
            from: args.from.as_ref().map(place).transpose()?,
            active,
            trial: RulesTrial::new(loaded, &config),
            decoder,
            summary: Summary::new(loaded),
            out: BufWriter::new(io::stdout().lock()),
        })
    }

    /// Tries the messages of a source. Returns false when a part of the source could not be read. From a journal, only
    /// inbound messages are tried.
    fn read(&mut self, path: &Path) -> Result<bool, Failure> {
        let options = ReadOptions {
            dequeued: true,
            ..ReadOptions::default()
        };
        let mut reader = LogReader::open(&[path.to_owned()], options).map_err(Failure::Text)?;
        while let LogStep::Message(entry) = reader.next_step() {
            // A queued message is tried where the journal has it as dequeued.
            let is_journal = matches!(entry.place, LogPlace::Journal { .. });
            let is_worked_on = matches!(entry.mark, "" | "dequeued");
            if !is_journal || is_worked_on && entry.direction() == Some(Direction::In) {
                self.entry(&entry)?;
            }
        }
        let sources = reader.sources();
        self.summary.other_lines += sources.iter().map(|it| it.other_lines).sum::<u64>();
        Ok(tell_left_out(&reader.take_left_out()))
    }

    fn entry(&mut self, entry: &LogEntry<'_>) -> Result<(), Failure> {
        let place = &format!("{}:{}", entry.file, entry.place);
        let message = self.decoder.decode_whole(entry.bytes);
        let of_session: [&[u8]; 7] = [b"0", b"1", b"2", b"3", b"4", b"5", b"A"];
        let source = match (message.fault(), find(&self.peers, self.from, &message)) {
            (Some(fault), _) => Err(fault.to_string()),
            _ if message.msg_type().is_empty() => Err("a message without MsgType(35)".into()),
            (None, found) => found,
        };
        match source {
            Err(why) => {
                self.summary.bad += 1;
                tell("warning", &format!("{place}: {why}"));
            }
            Ok(None) => self.summary.outgoing += 1,
            Ok(Some(_)) if of_session.contains(&message.msg_type()) => {
                self.summary.of_session += 1;
            }
            Ok(Some(source)) => {
                let facts = Facts {
                    now: moment(&message),
                    active: &self.active,
                    // Here the session is known.
                    remembered: &[],
                };
                let told = self.trial.message(&message, source, &facts);
                self.summary.add(&told);
                let shown = Shown {
                    loaded: self.loaded,
                    place,
                    source,
                    message: &message,
                    told: &told,
                };
                match (self.args.summary, self.args.json) {
                    (true, _) => {}
                    (false, true) => writeln!(self.out, "{}", shown.json())?,
                    (false, false) => shown.print(&mut self.out)?,
                }
            }
        }
        Ok(())
    }
}

/// The SendingTime(52) of a message, which throttles of rules also use.
fn moment(message: &Message<'_>) -> Now {
    let sent = message.time(tag::SENDING_TIME).and_then(Result::ok);
    let wall = sent.unwrap_or(Timestamp(0));
    let mono = Mono(u64::try_from(wall.0).unwrap_or_default());
    Now { wall, mono }
}

/// The session from which a message came; `None` when one of the file's own sessions sent the message.
fn find(
    sessions: &[SessionIdentity],
    from: Option<usize>,
    message: &Message<'_>,
) -> Result<Option<usize>, String> {
    if from.is_some() {
        return Ok(from);
    }
    match sender(sessions, message) {
        Ok(Sender::Peer(session)) => Ok(Some(session.0 as usize)),
        Ok(Sender::Ours(_)) => Ok(None),
        Err(why) => Err(format!("{why}; select one with --from NAME")),
    }
}
