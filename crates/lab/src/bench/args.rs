//! Flags that measurements share: sample sizes, subjects and rates.

use std::num::NonZeroU32;

use clap::Args;

use super::output::OutputArgs;
use crate::error::Error;
use crate::load::Pace;
use crate::load::arrivals::{Arrivals, RecordedGaps, Spread};
use crate::machine;
use crate::machine::usage::reset_peak_memory;
use crate::progress::Progress;
use crate::report::{Row, Run, pace_text};
use crate::sockets::arena::pin;
use crate::sockets::meter::Counting;

/// Sample sizes, subjects and rates.
#[derive(Args, Clone, Debug)]
pub struct LoadArgs {
    /// Orders a second, open loop; may be repeated or a list
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "2000,10000,50000",
          value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub rate: Vec<u32>,

    /// Leave out the closed loop, which keeps one order outstanding
    #[arg(long)]
    pub no_ping_pong: bool,

    /// Distribution of the arrivals of an open loop
    #[arg(long, value_enum, default_value_t = Spread::Fixed)]
    pub arrivals: Spread,

    /// Use the arrival times of the orders of a log (SendingTime) instead, scaled to each rate
    #[arg(long, value_name = "LOG", conflicts_with = "arrivals", value_parser = RecordedGaps::read)]
    pub arrivals_from: Option<RecordedGaps>,

    /// Seed of the random arrivals; the same seed gives the same schedule
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Also measure throughput: keep 256 orders outstanding, 32 per write
    #[arg(long)]
    pub flood: bool,

    /// Also count what an order costs: instructions, page faults, context switches, interrupts, bytes to the disk, and
    /// in a run of their own system calls
    #[arg(long)]
    pub counts: bool,

    /// Warm-up orders before the first timed run of each rate, sent at that rate but at least at 20,000 a second
    #[arg(long, value_name = "N", default_value_t = 20_000,
          value_parser = clap::value_parser!(u32).range(0..=10_000_000))]
    pub warm_up: u32,

    /// Orders of a run
    #[arg(long, value_name = "N", default_value_t = NonZeroU32::new(10_000).expect("not zero"))]
    pub iterations: NonZeroU32,

    /// Runs of each rate
    #[arg(long, value_name = "N", default_value_t = 3,
          value_parser = clap::value_parser!(u32).range(1..=100))]
    pub runs: u32,

    /// Cores of the acceptor and the initiator, for example 0,1; "none" pins neither
    #[arg(long, value_name = "A,I", default_value = "auto")]
    pub cores: String,
}

/// One run of a subject.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunPlan {
    pub(super) pace: Pace,
    pub(super) orders: usize,
    pub(super) counting: Counting,
}

impl Default for LoadArgs {
    /// The defaults of the command.
    fn default() -> Self {
        Self {
            rate: vec![2_000, 10_000, 50_000],
            arrivals: Spread::Fixed,
            arrivals_from: None,
            seed: 1,
            flood: false,
            no_ping_pong: false,
            counts: false,
            warm_up: 20_000,
            iterations: const { NonZeroU32::new(10_000).expect("not zero") },
            runs: 3,
            cores: "auto".to_owned(),
        }
    }
}

/// Lowest warm-up rate, orders a second.
const WARM_UP_RATE: u32 = 20_000;
/// Maximum orders of a run in which system calls are counted, which is slow.
pub(super) const TRACED_ORDERS: usize = 2_000;
/// Maximum orders per run: each takes 24 bytes of memory, 32 with random gaps.
const MOST_ORDERS: u32 = 50_000_000;

impl LoadArgs {
    /// The paces, closed loop first.
    pub(super) fn paces(&self) -> Vec<Pace> {
        let mut paces = Vec::new();
        if !self.no_ping_pong {
            paces.push(Pace::PingPong);
        }
        for rate in &self.rate {
            let pace = Pace::PerSecond(*rate);
            if !paces.contains(&pace) {
                paces.push(pace);
            }
        }
        if self.flood {
            paces.push(Pace::Flood);
        }
        paces
    }

    /// The pace of the warm-up before runs at this pace.
    pub(super) fn warm_up_pace(pace: Pace) -> Pace {
        match pace {
            Pace::PingPong | Pace::Flood => pace,
            Pace::PerSecond(rate) => Pace::PerSecond(rate.max(WARM_UP_RATE)),
        }
    }

    /// When the orders of an open loop arrive.
    pub(super) fn arrivals(&self) -> Arrivals {
        Arrivals {
            spread: self.arrivals,
            seed: self.seed,
            recorded: self.arrivals_from.clone(),
        }
    }

    /// Number of orders of a run.
    pub(super) fn orders(&self) -> Result<usize, Error> {
        let orders = self.iterations.get();
        if orders > MOST_ORDERS {
            return Err(Error::Flag {
                flag: "--iterations",
                problem: format!("{orders} is more than {MOST_ORDERS}"),
            });
        }
        Ok(orders as usize)
    }

    /// The acceptor's and the initiator's core; `None` to pin neither.
    pub(super) fn two_cores(&self) -> Result<Option<(usize, usize)>, Error> {
        match self.cores.as_str() {
            "auto" => Ok(machine::two_cores()),
            "none" => Ok(None),
            text => {
                let wrong = |problem: String| Error::Flag {
                    flag: "--cores",
                    problem,
                };
                let pair = text.split_once(',').and_then(|(acceptor, initiator)| {
                    Some((
                        acceptor.trim().parse().ok()?,
                        initiator.trim().parse().ok()?,
                    ))
                });
                match pair {
                    Some((acceptor, initiator)) if acceptor == initiator => {
                        Err(wrong(format!("both ends would share core {acceptor}")))
                    }
                    Some(pair) => Ok(Some(pair)),
                    None => Err(wrong(format!(
                        "\"{text}\" is not two cores such as 0,1, nor auto, nor none"
                    ))),
                }
            }
        }
    }

    /// Measures the subjects alternately at each pace, on this core. `output` receives the samples.
    pub(super) fn rows<S: Copy>(
        &self,
        core: Option<usize>,
        orders: usize,
        subjects: &[(&str, S)],
        output: &OutputArgs,
        mut measure: impl FnMut(S, RunPlan) -> Result<Run, Error>,
    ) -> Result<Vec<Row>, Error> {
        let mut samples = output.sample_writer()?;
        let _pinned = pin(core)?;
        let mut progress = Progress::new(self.paces().len() * (self.runs as usize + 1));
        let mut rows = Vec::new();
        for pace in self.paces() {
            let name = pace_text(pace);
            progress.step(&format!("{name}: warm-up"));
            let counting = self.counting();
            for (_, subject) in subjects {
                let warm_up = RunPlan {
                    pace: Self::warm_up_pace(pace),
                    orders: self.warm_up as usize,
                    counting: Counting::Off,
                };
                measure(*subject, warm_up)?;
            }
            let mut runs = vec![Vec::new(); subjects.len()];
            for run in 1..=self.runs {
                progress.step(&format!("{name}: run {run} of {}", self.runs));
                for (runs, (subject, which)) in runs.iter_mut().zip(subjects) {
                    reset_peak_memory();
                    let plan = RunPlan {
                        pace,
                        orders,
                        counting,
                    };
                    let mut timed = measure(*which, plan)?;
                    samples.run(subject, pace, run as usize, &mut timed)?;
                    runs.push(timed);
                }
            }
            for (runs, (_, which)) in runs.iter_mut().zip(subjects) {
                self.count_calls(runs, |orders| {
                    let plan = RunPlan {
                        pace,
                        orders,
                        counting: Counting::Calls,
                    };
                    measure(*which, plan)
                })?;
            }
            rows.extend(subjects.iter().zip(runs).map(|((name, _), runs)| Row {
                pace,
                subject: (*name).to_owned(),
                runs,
            }));
        }
        Ok(rows)
    }

    /// What is counted in timed runs.
    pub(super) fn counting(&self) -> Counting {
        match self.counts {
            true => Counting::Counts,
            false => Counting::Off,
        }
    }

    /// If counts are requested, makes a run in which system calls are counted, with fewer orders. Its calls go to the
    /// last of these timed runs.
    pub(super) fn count_calls(
        &self,
        runs: &mut [Run],
        measure: impl FnOnce(usize) -> Result<Run, Error>,
    ) -> Result<(), Error> {
        let orders = (self.iterations.get() as usize).min(TRACED_ORDERS);
        if self.counts
            && let Some(last) = runs.last_mut()
        {
            last.calls = measure(orders)?.calls;
        }
        Ok(())
    }

    /// The sample counts, for the first line of a table.
    pub(super) fn text(&self) -> String {
        let spread = match (&self.arrivals_from, self.arrivals) {
            (Some(log), _) => format!(
                ", spread as in {} ({:.1} orders/s there)",
                log.name, log.rate
            ),
            (None, Spread::Fixed) => String::new(),
            (None, Spread::Poisson) => format!(", Poisson arrivals of seed {}", self.seed),
            (None, Spread::Uniform) => format!(", uniform gaps of seed {}", self.seed),
        };
        format!(
            "warm-up {}, {} orders a run, {} runs{spread}",
            self.warm_up, self.iterations, self.runs
        )
    }
}

/// Runs `measure` on a thread of its own. `measure` may pin that thread; the caller's thread stays unpinned.
pub(crate) fn on_own_thread<R: Send>(
    measure: impl FnOnce() -> Result<R, Error> + Send,
) -> Result<R, Error> {
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .name("near".to_owned())
            .spawn_scoped(scope, measure)
            .map_err(Error::system("start a thread"))?
            .join()
            .unwrap_or(Err(Error::Thread("initiator")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Command;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(subcommand)]
        command: Command,
    }

    fn load(flags: &[&str]) -> Result<LoadArgs, String> {
        let line = ["bench", "tcp"].iter().chain(flags);
        match Line::try_parse_from(line)
            .map_err(|error| error.to_string())?
            .command
        {
            Command::Tcp(args) => Ok(args.load),
            _ => Err("another command".to_owned()),
        }
    }

    #[test]
    fn the_default_is_the_published_scenario() {
        let args = load(&[]).unwrap();
        assert_eq!(format!("{args:?}"), format!("{:?}", LoadArgs::default()));
        assert_eq!(
            args.paces(),
            [
                Pace::PingPong,
                Pace::PerSecond(2_000),
                Pace::PerSecond(10_000),
                Pace::PerSecond(50_000)
            ]
        );
        assert_eq!(
            (args.warm_up, args.orders().unwrap(), args.runs),
            (20_000, 10_000, 3)
        );
    }

    #[test]
    fn rates_may_be_repeated_or_listed() {
        let args = load(&[
            "--rate",
            "5,6",
            "--rate",
            "7",
            "--rate",
            "5",
            "--no-ping-pong",
        ])
        .unwrap();
        assert_eq!(args.paces(), [5, 6, 7].map(Pace::PerSecond));
    }

    #[test]
    fn flags_that_cannot_work_are_refused() {
        for flags in [
            ["--rate", "0"],
            ["--runs", "0"],
            ["--iterations", "0"],
            ["--rate", "x"],
        ] {
            assert!(load(&flags).is_err(), "{flags:?}");
        }
        assert!(
            load(&["--iterations", "4000000000"])
                .unwrap()
                .orders()
                .is_err()
        );
        for cores in ["1", "1,1", "a,b", ""] {
            let error = load(&["--cores", cores]).unwrap().two_cores().unwrap_err();
            assert!(error.to_string().starts_with("--cores: "), "{error}");
        }
        assert_eq!(
            load(&["--cores", "3, 1"]).unwrap().two_cores().unwrap(),
            Some((3, 1))
        );
        assert_eq!(
            load(&["--cores", "none"]).unwrap().two_cores().unwrap(),
            None
        );
    }
}
