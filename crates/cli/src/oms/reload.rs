//! `fixwire oms reload`: reloads the settings and files of a running OMS. Also the daily reload of the files at the
//! time of `[oms] reload`.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clap::Args;
use fixwire::control::{Asked, ClientError, ControlQuestion, ReloadHandler};
use fixwire::settings::{LoadError, Source};
use fixwire::{Handle, Operator};
use fixwire_oms::rules::RiskRules;
use fixwire_oms::{
    NewSettings, Oms, OmsEvent, OmsListener, RELOAD, ReloadKind, SettingsSource, clock,
};
use fixwire_protocol::readable::Escaped;
use serde_json::json;

use super::answers::{json, mistakes, table};
use super::at::day_began;
use super::load::{build, found, listener, read};
use super::trial::Tried;
use crate::failure::Failure;
use crate::reading::Reading;
use crate::session::{EngineFlags, running, store};
use crate::teller::now;

/// The argument that only reports what would change.
const CHECK: &str = "check";
/// The argument that restores the previous settings.
const BACK: &str = "back";

/// Arguments of `fixwire oms reload`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  fixwire oms reload oms.toml --check
  fixwire oms reload oms.toml --try
  fixwire oms reload oms.toml --why \"new limits of desk 7\"
  fixwire oms reload oms.toml --back --why \"limits of the wrong desk\"

The OMS reads its settings and the CSV files that they name again and checks all of them. If there are mistakes, or
changes that need a restart, the command lists each with its file and line, and nothing changes. Otherwise the new
settings are in force from the next message on. The exit code is 1 when nothing was reloaded.")]
pub struct ReloadSettingsArgs {
    #[command(flatten)]
    at: EngineFlags,
    /// Show what would change, and change nothing
    #[arg(long)]
    check: bool,
    /// Show what would change, and which of today's requests the new settings would have rejected; change nothing
    #[arg(long = "try", conflicts_with_all = ["check", "back"])]
    trial: bool,
    /// Return to the settings before the last reload since the start; the files do not change
    #[arg(long, conflicts_with = "check")]
    back: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// The reason, recorded in the journal
    #[arg(
        long,
        alias = "reason",
        value_name = "TEXT",
        required_unless_present_any = ["check", "trial"]
    )]
    why: Option<String>,
}

/// Runs the command.
pub fn run(args: &ReloadSettingsArgs) -> Result<ExitCode, Failure> {
    let how = match (args.check || args.trial, args.back) {
        (true, _) => Some(CHECK),
        (_, true) => Some(BACK),
        _ => None,
    };
    // The path may also be the folder of the engine's journal, or its socket, which is enough to find the engine.
    let file = Some(&args.at.engine).filter(|path| path.is_file());
    let file = file.map(fs::canonicalize).transpose()?;
    let asked = Asked {
        what: ControlQuestion::Reload,
        file: Some(file.map_or(String::new(), |it| it.to_string_lossy().into_owned())),
        why: args.why.clone(),
        text: how.map(str::to_owned),
        ..Asked::default()
    };
    let text = match running(&args.at)?.ask(&asked) {
        Ok(answer) => answer.text.unwrap_or_default(),
        Err(ClientError::Refused(why)) => {
            let lines: Vec<&str> = why.lines().collect();
            return Ok(mistakes(&lines));
        }
        Err(error) => return Err(Failure::Text(error.to_string())),
    };
    let tried = args.trial.then(|| try_today(&args.at)).transpose()?;
    let (first, rows) = text.split_once('\n').unwrap_or((&text, ""));
    if args.json {
        let mut all = json!({ "result": first, "changes": json(rows) });
        if let Some(tried) = &tried {
            all["trial"] = tried.json();
        }
        writeln!(io::stdout(), "{all:#}")?;
    } else {
        writeln!(io::stdout(), "{}", Escaped(first.as_bytes()))?;
        write!(io::stdout(), "{}", table(rows))?;
        if let Some(tried) = &tried {
            write!(io::stdout(), "\n{}", tried.text())?;
        }
    }
    Ok(match tried.is_none_or(|tried| tried.is_whole) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Plays the present trading day with the settings that the files have now.
fn try_today(at: &EngineFlags) -> Result<Tried, Failure> {
    let settings = &at.engine;
    if !settings.is_file() {
        let path = settings.display();
        return Err(Failure::Text(format!(
            "--try needs the settings file, not {path}"
        )));
    }
    let store = store(at)?;
    let from = day_began(&store)?;
    Tried::of(settings, &[store], from)
}

/// Passes settings to the thread of the OMS, and back.
#[derive(Clone, Debug, Default)]
struct Handoff {
    new: Arc<Mutex<Option<Box<NewSettings>>>>,
    spent: Arc<Mutex<Option<Box<NewSettings>>>>,
}

impl SettingsSource for Handoff {
    fn take(&self) -> Option<Box<NewSettings>> {
        locked(&self.new).take()
    }

    fn give_back(&self, spent: Box<NewSettings>) {
        *locked(&self.spent) = Some(spent);
    }
}

/// The values of the settings in force that this thread needs.
struct InForce {
    source: Source,
    reload_at: Option<i64>,
    /// The settings before the last reload; `None` before the first reload.
    before: Option<(RiskRules, Source)>,
}

/// Reloads the settings of a running OMS from its files.
pub struct SettingsReloader {
    reading: Reading,
    handoff: Handoff,
    /// The settings in force. The lock is held during a reload.
    in_force: Mutex<InForce>,
    engine: Mutex<Option<Handle>>,
    listener: Mutex<OmsListener>,
    /// Wakes the schedule when the time of the next reload may have changed.
    changed: Mutex<Option<Sender<()>>>,
}

impl SettingsReloader {
    /// Reloads the settings of an OMS that was loaded from this file.
    ///
    /// # Errors
    ///
    /// The thread cannot be started.
    pub fn new(source: &Source, reading: &Reading, oms: &mut Oms) -> Result<Arc<Self>, Failure> {
        let handoff = Handoff::default();
        oms.set_settings_source(Box::new(handoff.clone()));
        let in_force = InForce {
            source: source.clone(),
            reload_at: oms.rules().reload_at,
            before: None,
        };
        Ok(Arc::new(Self {
            reading: reading.clone(),
            handoff,
            in_force: Mutex::new(in_force),
            engine: Mutex::new(None),
            listener: Mutex::new(listener()?),
            changed: Mutex::new(None),
        }))
    }

    /// From this call on, the engine accepts reloads. Starts the schedule.
    ///
    /// # Errors
    ///
    /// The thread cannot be started.
    pub fn attach(self: &Arc<Self>, engine: Handle) -> io::Result<ReloadHandler> {
        *locked(&self.engine) = Some(engine);
        let (changed, wakes) = channel();
        *locked(&self.changed) = Some(changed);
        let own = Arc::clone(self);
        fixwire_threads::spawn("oms-reload", move || own.keep_to_schedule(&wakes))?;
        let own = Arc::clone(self);
        Ok(Box::new(move |file, how, by| own.asked(file, how, by)))
    }

    /// Carries out an operator's reload.
    fn asked(&self, file: &Path, how: &str, by: Operator) -> Result<String, String> {
        let who = by.who.clone();
        let mut in_force = locked(&self.in_force);
        let own = &in_force.source.path;
        let own = fs::canonicalize(own).unwrap_or_else(|_| own.clone());
        if !file.as_os_str().is_empty() && own != file {
            return Err(format!("not reloaded: this process runs {}", own.display()));
        }
        let done = match how {
            "" => self.files(&mut in_force, by),
            BACK => self.back(&mut in_force, by),
            CHECK => return self.look(&in_force),
            other => return Err(format!("cannot reload with {other}: write check or back")),
        };
        if let Err(why) = &done {
            self.failed(&who, why);
        }
        done
    }

    fn failed(&self, who: &str, why: &str) {
        (locked(&self.listener))(OmsEvent::NotReloaded { who, why });
    }

    /// The settings that the files have now. `source` is the text in force or a new text.
    fn read(&self, in_force: &InForce, source: &Source) -> Result<RiskRules, LoadError> {
        let settings = self.reading.of_file(source)?;
        let (mut rules, _) = read(source, &settings)?;
        rules.build = build();
        let errors = fixwire_oms::load::restart_needed(&in_force.source.text, &source.text);
        if !errors.is_empty() {
            return Err(found(source, &settings, &errors));
        }
        Ok(rules)
    }

    fn read_all(&self, in_force: &InForce) -> Result<(RiskRules, Source), String> {
        let source = Source::read(&in_force.source.path);
        let source = source.map_err(|error| error.to_string())?;
        let rules = self.read(in_force, &source);
        Ok((rules.map_err(|error| error.to_string())?, source))
    }

    fn look(&self, in_force: &InForce) -> Result<String, String> {
        let (rules, _) = self.read_all(in_force)?;
        self.put(rules, ReloadKind::Files);
        let asked = locked(&self.engine).as_mut().map(|it| it.query(RELOAD));
        let answer = answered(asked);
        drop(locked(&self.handoff.spent).take());
        answer
    }

    fn files(&self, in_force: &mut InForce, by: Operator) -> Result<String, String> {
        let (rules, source) = self.read_all(in_force)?;
        self.hand_over(in_force, (rules, source), ReloadKind::Files, by)
    }

    /// Reloads the files that the settings in force name.
    fn tables(&self, in_force: &mut InForce, by: Operator) -> Result<String, String> {
        let source = in_force.source.clone();
        let rules = self.read(in_force, &source);
        let rules = rules.map_err(|error| error.to_string())?;
        self.hand_over(in_force, (rules, source), ReloadKind::Schedule, by)
    }

    fn back(&self, in_force: &mut InForce, by: Operator) -> Result<String, String> {
        let before = in_force.before.take();
        let before = before
            .ok_or("nothing was reloaded since the start: restore the files and reload them")?;
        let done = self.hand_over(in_force, before, ReloadKind::Back, by)?;
        let note = "the files still have the settings that are no longer in force: restore the \
            files, because a restart or a reload applies them";
        Ok(match done.split_once('\n') {
            Some((first, rows)) => format!("{first}; {note}\n{rows}"),
            None => format!("{done}; {note}"),
        })
    }

    fn put(&self, rules: RiskRules, kind: ReloadKind) {
        let new = NewSettings {
            rules,
            kind,
            is_applied: false,
        };
        *locked(&self.handoff.new) = Some(Box::new(new));
    }

    /// Passes settings to the OMS, and keeps the previous settings.
    fn hand_over(
        &self,
        in_force: &mut InForce,
        (rules, source): (RiskRules, Source),
        kind: ReloadKind,
        by: Operator,
    ) -> Result<String, String> {
        let reload_at = rules.reload_at;
        self.put(rules, kind);
        let asked = locked(&self.engine)
            .as_mut()
            .map(|engine| engine.command(RELOAD, by));
        let answer = answered(asked);
        // An engine that is ending does not accept the settings.
        let left = locked(&self.handoff.new).take();
        let spent = locked(&self.handoff.spent).take().or(left);
        match spent {
            Some(spent) if spent.is_applied => {
                let old = std::mem::replace(&mut in_force.source, source);
                in_force.before = Some((spent.rules, old));
                in_force.reload_at = reload_at;
                if let Some(changed) = &*locked(&self.changed) {
                    let _ = changed.send(());
                }
            }
            Some(spent) if kind == ReloadKind::Back => {
                in_force.before = Some((spent.rules, source));
            }
            _ => {}
        }
        answer
    }

    /// Reloads the files each day at the time that the settings give.
    fn keep_to_schedule(&self, wakes: &Receiver<()>) {
        /// Maximum time between two readings of the clock, because the clock may be set.
        const LOOK: Duration = Duration::from_secs(20);
        let (mut at, mut due) = (None, i64::MAX);
        loop {
            let now = now().0;
            let set = locked(&self.in_force).reload_at;
            // The clock was set back.
            let is_far = due.saturating_sub(now) > DAY;
            if set != at || (set.is_some() && is_far) {
                (at, due) = (set, set.map_or(i64::MAX, |at| next(now, at)));
            }
            if let Some(at) = at.filter(|_| due <= now) {
                self.scheduled(at);
                due = next(now, at);
            }
            let left = u64::try_from(due.saturating_sub(now)).unwrap_or(0);
            let woken = match at {
                Some(_) => wakes.recv_timeout(Duration::from_nanos(left).min(LOOK)),
                None => wakes.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            if woken == Err(RecvTimeoutError::Disconnected) {
                return;
            }
        }
    }

    fn scheduled(&self, at: i64) {
        let who = format!("schedule {}", clock(at));
        let by = Operator::new(who.as_str(), "[oms] reload");
        if let Err(why) = self.tables(&mut locked(&self.in_force), by) {
            self.failed(&who, &why);
        }
    }
}

const DAY: i64 = 86_400_000_000_000;

/// The next instant with this time of day, in nanoseconds since 1970.
fn next(now: i64, at: i64) -> i64 {
    let days = (now - at).div_euclid(DAY) + 1;
    days * DAY + at
}

type Answered = Receiver<Result<Vec<u8>, fixwire::OperationError>>;

fn answered(asked: Option<Result<Answered, fixwire::SendError>>) -> Result<String, String> {
    let asked = asked.ok_or("the OMS has not started yet: try again")?;
    let answer = asked.map_err(|error| error.to_string())?;
    let answer = answer
        .recv()
        .map_err(|_| "the OMS is stopping".to_owned())?;
    let text = answer.map_err(|why| why.to_string())?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_time_of_day_is_after_now() {
        const HOUR: i64 = 3_600_000_000_000;
        assert_eq!(next(5 * HOUR, 7 * HOUR), 7 * HOUR);
        assert_eq!(next(7 * HOUR, 7 * HOUR), 7 * HOUR + DAY);
        assert_eq!(next(3 * DAY + 8 * HOUR, 7 * HOUR), 4 * DAY + 7 * HOUR);
        assert_eq!(next(0, 0), DAY);
    }
}
