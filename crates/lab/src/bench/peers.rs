//! `bench peers`: other engines and fixwire, each in a process of its own, measured alternately on the same cores.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::args::{LoadArgs, on_own_thread};
use super::output::OutputArgs;
use crate::error::Error;
use crate::load::Pace;
use crate::machine::Machine;
use crate::machine::counts::EngineThread;
use crate::progress::Progress;
use crate::report::{FLOOR_SLEEPS, FLOOR_SPINS, Report, Row, Run};
use crate::sockets::acceptors::{Acceptor, Folder, Listed, Waits};
use crate::sockets::arena::pin;
use crate::sockets::fix_client::FixClient;
use crate::sockets::meter::Counting;
use crate::sockets::pair::PairConfig;
use fixwire::Durability;
use fixwire_protocol::dictionary::Version;
use fixwire_stamps::scenario::{EXECUTION_REPORT, ORDER_BYTES, REPORT_BYTES};

/// The floor for each way of waiting: the acceptor of the list, in mode [`FLOOR_MODE`], and its subject in tables.
const FLOORS: [(Waits, &str, &str); 2] = [
    (Waits::Spins, "raw", FLOOR_SPINS),
    (Waits::Sleeps, "raw-block", FLOOR_SLEEPS),
];
const FLOOR_MODE: &str = "memory";
/// Number of orders at each of the two paces of a check.
const CHECKED: usize = 2_000;
/// HeartBtInt longer than the measurement of an acceptor, so that no Heartbeats are sent.
const HEART_BT_INT: u32 = 120;

/// Flags of `bench peers`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Names are those of peers/peers.list; without a name, all acceptors are measured. Each round starts every acceptor once,
warms it up and measures it at each pace, the floors among them. If an acceptor cannot be built, the missing package
is reported.

  fixwire bench peers                                    all of them, some 20 minutes
  fixwire bench peers fixwire-spin artio quickfixj       these three, each with the floor for its way to wait
  fixwire bench peers fixwire-spin:persistent            one mode alone
  fixwire bench peers --check                            does each answer 4,000 orders correctly?")]
pub struct PeersArgs {
    /// Acceptors to measure, in all their modes or in the named one
    #[arg(value_name = "NAME[:MODE]")]
    pub names: Vec<String>,

    /// The folder peers of fixwire's repository, with the list, the programs and what builds them
    #[arg(long, value_name = "FOLDER", default_value = "peers")]
    pub folder: PathBuf,

    /// Only check that each answers 4,000 orders correctly and waits as listed
    #[arg(long)]
    pub check: bool,

    /// Print the acceptors, how they wait and their modes, then exit
    #[arg(long, conflicts_with = "check")]
    pub list: bool,

    /// Cores of an acceptor that may use several, for example 0,2,3; the initiator keeps its core of --cores
    #[arg(long, value_name = "CORES")]
    pub acceptor_cores: Option<String>,

    /// The load.
    #[command(flatten)]
    pub load: LoadArgs,

    /// Where the figures go.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// An acceptor in one mode.
#[derive(Clone, Debug, PartialEq)]
struct Subject {
    listed: Listed,
    mode: String,
}

impl Subject {
    /// Name of the acceptor in tables: for a floor the kind, otherwise name and mode.
    fn name(&self) -> String {
        let floor = FLOORS.iter().find(|floor| floor.1 == self.listed.name);
        match floor {
            Some(floor) if self.mode == FLOOR_MODE => floor.2.to_owned(),
            _ => format!("{}:{}", self.listed.name, self.mode),
        }
    }

    fn is_floor(&self) -> bool {
        [FLOOR_SPINS, FLOOR_SLEEPS].contains(&&*self.name())
    }
}

/// Measures and prints, or checks.
///
/// # Errors
///
/// The acceptors cannot be read or built, or the figures cannot be written.
pub fn run(args: &PeersArgs) -> Result<ExitCode, Error> {
    args.output.check()?;
    let folder = Folder::open(&args.folder)?;
    let listed = folder.list()?;
    if args.list {
        return print_list(&listed);
    }
    let subjects = subjects(&listed, &args.names, !args.check)?;
    let names: Vec<&str> = subjects
        .iter()
        .map(|subject| &*subject.listed.name)
        .collect();
    folder.build(&names)?;
    let peers = Peers { args, folder };
    if args.check {
        return peers.check(&subjects);
    }
    let (report, failed) = peers.measure(&subjects)?;
    let code = match report.rows.is_empty() {
        true => ExitCode::FAILURE,
        false => args
            .output
            .deliver_as(report, crate::report::side_by_side::write)?,
    };
    for error in &failed {
        eprintln!("fixwire: {error}");
    }
    Ok(if failed.is_empty() {
        code
    } else {
        ExitCode::FAILURE
    })
}

fn print_list(listed: &[Listed]) -> Result<ExitCode, Error> {
    let mut text = String::new();
    for one in listed {
        let (waits, modes) = (waits_word(one.waits), one.modes.join(", "));
        text += &format!("{:<16} {waits:<7} {modes}\n", one.name);
    }
    super::output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The named acceptors, or all, after the floors of their kinds if requested.
fn subjects(listed: &[Listed], names: &[String], with_floors: bool) -> Result<Vec<Subject>, Error> {
    let find = |name: &str| {
        let found = listed.iter().find(|one| one.name == name);
        found.ok_or_else(|| {
            let there: Vec<&str> = listed.iter().map(|one| &*one.name).collect();
            Error::Acceptor(format!(
                "unknown acceptor {name}; the acceptors are {}",
                there.join(", ")
            ))
        })
    };
    let mut subjects = Vec::new();
    let mut add = |listed: &Listed, mode: &str| {
        let (listed, mode) = (listed.clone(), mode.to_owned());
        let subject = Subject { listed, mode };
        if !subjects.contains(&subject) {
            subjects.push(subject);
        }
    };
    let all = || listed.iter().map(|one| one.name.clone()).collect();
    let names: Vec<String> = if names.is_empty() {
        all()
    } else {
        names.to_vec()
    };
    for name in &names {
        let (name, mode) = match name.split_once(':') {
            Some((name, mode)) => (name, Some(mode)),
            None => (&**name, None),
        };
        let one = find(name)?;
        match mode {
            Some(mode) => add(one, mode),
            None => one.modes.iter().for_each(|mode| add(one, mode)),
        }
    }
    if with_floors {
        for (waits, name, _) in FLOORS {
            if subjects.iter().any(|subject| subject.listed.waits == waits) {
                let (listed, mode) = (find(name)?.clone(), FLOOR_MODE.to_owned());
                subjects.retain(|subject| (&subject.listed, &subject.mode) != (&listed, &mode));
                subjects.insert(0, Subject { listed, mode });
            }
        }
    }
    Ok(subjects)
}

/// The acceptors that have no floor because `floor` failed, each with an error. Without this they would be compared
/// with the floor of the other kind.
fn without_floor(subjects: &[Subject], floor: &Subject) -> Vec<(usize, Error)> {
    let others = subjects
        .iter()
        .enumerate()
        .filter(|(_, subject)| subject.listed.waits == floor.listed.waits && !subject.is_floor());
    let error = |subject: &Subject| {
        let (name, floor) = (subject.name(), floor.name());
        Error::Acceptor(format!(
            "{name}: not shown, because {floor}, its floor, failed"
        ))
    };
    others.map(|(at, subject)| (at, error(subject))).collect()
}

struct Peers<'a> {
    args: &'a PeersArgs,
    folder: Folder,
}

impl Peers<'_> {
    /// Prints one line for each acceptor; the exit code is a failure unless all acceptors answered correctly.
    fn check(&self, subjects: &[Subject]) -> Result<ExitCode, Error> {
        let (mut passed, mut failed) = (0, 0);
        for subject in subjects {
            let paces = [Pace::PingPong, Pace::Flood];
            let turn = || self.turn(subject, 0, &paces, CHECKED, true, &mut |_, _| Ok(()));
            let turn = on_own_thread(turn);
            let name = format!("{}:{}", subject.listed.name, subject.mode);
            match turn {
                Ok(()) => {
                    passed += 1;
                    super::output::print(&format!("ok   {name}\n"))?;
                }
                Err(error) => {
                    failed += 1;
                    super::output::print(&format!("BAD  {name}\n"))?;
                    eprintln!("fixwire: {error}");
                }
            }
        }
        super::output::print(&format!("{passed} passed, {failed} failed\n"))?;
        Ok(if failed == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        })
    }

    /// Runs all rounds. Also returns the errors of acceptors that have no row in the report.
    fn measure(&self, subjects: &[Subject]) -> Result<(Report, Vec<Error>), Error> {
        let load = &self.args.load;
        let (orders, paces) = (load.orders()?, load.paces());
        let machine = Machine::read();
        let mut samples = self.args.output.sample_writer()?;
        let mut runs = vec![vec![Vec::new(); paces.len()]; subjects.len()];
        let mut failed: Vec<(usize, Error)> = Vec::new();
        let mut progress = Progress::new(load.runs as usize * subjects.len());
        for round in 1..=load.runs as usize {
            for (index, subject) in subjects.iter().enumerate() {
                let name = subject.name();
                progress.step(&format!("round {round} of {}: {name}", load.runs));
                if failed.iter().any(|(gone, _)| *gone == index) {
                    continue;
                }
                let warm_up = subject.listed.warm_up.max(load.warm_up as usize);
                let turn = || {
                    self.turn(
                        subject,
                        warm_up,
                        &paces,
                        orders,
                        round == 1,
                        &mut |at, mut run| {
                            samples.run(&name, paces[at], round, &mut run)?;
                            runs[index][at].push(run);
                            Ok(())
                        },
                    )
                };
                if let Err(error) = on_own_thread(turn) {
                    failed.push((index, error));
                    if subject.is_floor() {
                        failed.extend(without_floor(subjects, subject));
                    }
                }
            }
        }
        drop(progress);
        let whole = |index: &usize| !failed.iter().any(|(gone, _)| gone == index);
        let mut rows = Vec::new();
        for (at, pace) in paces.iter().enumerate() {
            for (waits, _, _) in FLOORS {
                let mut kind: Vec<usize> = (0..subjects.len()).filter(whole).collect();
                kind.retain(|index| subjects[*index].listed.waits == waits);
                kind.sort_by_key(|index| !subjects[*index].is_floor());
                rows.extend(kind.into_iter().map(|index| Row {
                    pace: *pace,
                    subject: subjects[index].name(),
                    runs: std::mem::take(&mut runs[index][at]),
                }));
            }
        }
        let title = "FIX 4.2 order and report, each acceptor a process".to_owned();
        let settings = format!(
            "FIX.4.2 order ({ORDER_BYTES} bytes) and report ({REPORT_BYTES}) over TCP between a \
            client of bare sockets and each acceptor in turn; {}",
            load.text()
        );
        let report = Report {
            rows,
            notes: vec![NOTE.to_owned()],
            ..Report::new("peers", title, settings, machine)
        };
        Ok((report, failed.into_iter().map(|(_, error)| error).collect()))
    }

    /// Starts an acceptor, warms it up, and passes one run at each pace to `keep`, with the index of the pace. The
    /// calling thread is pinned at the end.
    fn turn(
        &self,
        subject: &Subject,
        warm_up: usize,
        paces: &[Pace],
        orders: usize,
        looks: bool,
        keep: &mut (dyn FnMut(usize, Run) -> Result<(), Error> + Send),
    ) -> Result<(), Error> {
        let Subject { listed, mode } = subject;
        let (core, own_core) = self.args.load.two_cores()?.unzip();
        let cores = match &self.args.acceptor_cores {
            Some(cores) => Some(cores.clone()),
            None => core.map(|core| core.to_string()),
        };
        let acceptor = self.folder.start(&listed.name, mode, cores.as_deref())?;
        let failed = |error: Error| acceptor.failed(&error.to_string());
        let config = config(self.args.folder.as_path(), acceptor.address);
        let client = FixClient::connect(
            config,
            core,
            acceptor.address,
            listed.resets,
            EXECUTION_REPORT,
        );
        let mut client = client.map_err(failed)?;
        // Pin this thread only after other threads were started: they would inherit its core.
        let _pinned = pin(own_core)?;
        client.arena.arrivals = self.args.load.arrivals();
        let mut measured = || {
            client.arena.meter.engine = Some(EngineThread::BusiestOf(acceptor.process()));
            client.run(Pace::PingPong, warm_up)?;
            for (at, pace) in paces.iter().enumerate() {
                client.arena.meter.counting = self.args.load.counting();
                let mut run = client.run(*pace, orders)?;
                let faults = run.faults;
                if self.args.check && faults.total() > 0 {
                    return Err(Error::Session(format!(
                        "of {} orders, {} were not answered, {} answered twice, {} answered out of \
                        order, {} answered wrongly",
                        run.sent, faults.lost, faults.duplicate, faults.out_of_order, faults.wrong
                    )));
                }
                if looks {
                    client.arena.meter.counting = Counting::Calls;
                    let traced = |orders| client.run(*pace, orders);
                    self.args
                        .load
                        .count_calls(std::slice::from_mut(&mut run), traced)?;
                }
                keep(at, run)?;
            }
            Ok(())
        };
        let measured = measured().map_err(failed);
        let waits = match (&measured, looks) {
            (Ok(()), true) => check_waits(&acceptor, listed),
            _ => Ok(()),
        };
        // Only the answers count: an acceptor that mishandles the Logout is still measured.
        let stopped = client.stop();
        measured.and(waits).and(stopped.or(Ok(())))
    }
}

/// The text below the tables.
const NOTE: &str = "Medians over the rounds; x TCP: the time divided by the floor of the same \
    round; the floor's server finds the end of each message, copies ClOrdID and answers without \
    parsing. memory: no journal, no dictionary; persistent: as each engine keeps messages by \
    default. Latency counts from when an order was due. ~: disturbed by the machine.";

fn check_waits(acceptor: &Acceptor, listed: &Listed) -> Result<(), Error> {
    let found = acceptor.waits()?;
    if found == listed.waits {
        return Ok(());
    }
    Err(acceptor.failed(&format!(
        "the list says that the acceptor {}, but it {}",
        waits_word(listed.waits),
        waits_word(found)
    )))
}

fn waits_word(waits: Waits) -> &'static str {
    match waits {
        Waits::Spins => "spins",
        Waits::Sleeps => "sleeps",
    }
}

/// The settings of the session that every acceptor has.
fn config(folder: &Path, address: SocketAddr) -> PairConfig {
    PairConfig {
        peer: Some((address.ip().to_string(), address.port())),
        durability: Durability::Memory,
        heart_bt_int_seconds: HEART_BT_INT,
        ..PairConfig::new("BENCH", "EXEC", &[Version::Fix42], folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(name: &str, waits: Waits) -> Listed {
        Listed {
            name: name.to_owned(),
            modes: vec!["memory".to_owned(), "persistent".to_owned()],
            waits,
            resets: true,
            warm_up: 0,
        }
    }

    #[test]
    fn names_bring_the_floors_of_their_kinds() {
        let list = [
            listed("raw", Waits::Spins),
            listed("raw-block", Waits::Sleeps),
            listed("artio", Waits::Spins),
            listed("quickfixj", Waits::Sleeps),
        ];
        let of = |names: &[&str], floors| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let subjects = subjects(&list, &names, floors);
            subjects.map(|all| {
                all.iter()
                    .map(Subject::name)
                    .collect::<Vec<_>>()
                    .join(" / ")
            })
        };
        assert_eq!(
            of(&["artio", "raw:memory", "artio:memory"], true).unwrap(),
            "tcp floor, spins / artio:memory / artio:persistent"
        );
        assert_eq!(
            of(&["quickfixj:sync", "raw"], true).unwrap(),
            "tcp floor, sleeps / tcp floor, spins / quickfixj:sync / raw:persistent"
        );
        assert_eq!(
            of(&["quickfixj:memory"], false).unwrap(),
            "quickfixj:memory"
        );
        assert_eq!(of(&[], false).unwrap().split(" / ").count(), 8);
        let error = of(&["quickfix"], true).unwrap_err().to_string();
        assert_eq!(
            error,
            "unknown acceptor quickfix; the acceptors are raw, raw-block, artio, quickfixj"
        );
    }
}
