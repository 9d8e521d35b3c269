//! Does the engine do over TCP what the scenarios say of its session?

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use fixwire_rigs::random::{self, Random};
use fixwire_rigs::scenario::{Action, Scenario, tcp};
use fixwire_rigs::server::scratch;

/// They wait more than they work.
const PLAYERS: usize = 8;
/// The number of expectations that are changed to wrong ones.
const SPOILT: usize = 60;

fn scenarios() -> Vec<Scenario> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    Scenario::all(&folder).unwrap_or_else(|failure| panic!("{failure}"))
}

/// Runs `play` for every game in a folder of its own, several at a time; returns the failures.
fn in_parallel<T: Sync>(
    name: &str,
    games: &[T],
    play: impl Fn(&T, &Path) -> Result<(), String> + Sync,
) -> Vec<String> {
    let folder = scratch(name).expect("a folder for the journals");
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..PLAYERS {
            scope.spawn(|| {
                while let Some((at, game)) = {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    games.get(at).map(|game| (at, game))
                } {
                    let own = folder.join(at.to_string());
                    let outcome = std::fs::create_dir(&own)
                        .map_err(|error| error.to_string())
                        .and_then(|()| play(game, &own));
                    match outcome {
                        // A journal is only of use after a failure.
                        Ok(()) => drop(std::fs::remove_dir_all(&own)),
                        Err(what) => wrong.lock().expect("no panic").push(what),
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().expect("no panic");
    wrong.sort();
    wrong
}

#[test]
fn the_engine_does_over_tcp_what_every_scenario_says() {
    let scenarios = scenarios();
    let mut pure: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut games = Vec::new();
    for scenario in &scenarios {
        match tcp::pure_only(scenario) {
            Some(reason) => pure.entry(reason).or_default().push(&scenario.name),
            None => games.extend(scenario.versions.iter().map(|version| (scenario, *version))),
        }
    }
    let left_out: usize = pure.values().map(Vec::len).sum();
    let played = scenarios.len() - left_out;
    println!(
        "{played} scenarios over TCP, {} with their versions",
        games.len()
    );
    for (reason, names) in &pure {
        println!("{} played purely only, {reason}:", names.len());
        names.iter().for_each(|name| println!("  {name}"));
    }
    assert!(played >= 140 && left_out <= 30, "{left_out} are left out");
    let wrong = in_parallel("scenarios-tcp", &games, |(scenario, version), folder| {
        tcp::play(scenario, version, folder).map_err(|failure| failure.to_string())
    });
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

#[test]
fn expectations_over_tcp_can_fail() {
    let scenarios = scenarios();
    let mut spoilt = Vec::new();
    for scenario in &scenarios {
        if tcp::pure_only(scenario).is_some() {
            continue;
        }
        for at in 0..scenario.steps.len() {
            let step = &scenario.steps[at];
            if let Some(wrong) = step.action.spoilt() {
                let mut other = scenario.clone();
                other.steps[at].action = wrong;
                spoilt.push((other, step.line, kind(&step.action)));
            }
        }
    }
    let seed = random::seed();
    let mut random = Random::new(seed);
    println!("FIXWIRE_SEED={seed} repeats this choice");
    let mut chosen = Vec::new();
    let mut kinds = BTreeMap::new();
    while chosen.len() < SPOILT {
        let at = random.below(spoilt.len() as u64) as usize;
        let one = spoilt.swap_remove(at);
        *kinds.entry(one.2).or_insert(0) += 1;
        chosen.push(one);
    }
    println!("spoilt: {kinds:?}");
    let wrong = in_parallel(
        "scenarios-tcp-spoilt",
        &chosen,
        |(scenario, line, _), folder| match tcp::play(scenario, scenario.versions[0], folder) {
            Err(failure) if failure.line == *line => Ok(()),
            Err(failure) => Err(format!("line {line} is spoilt, but {failure}")),
            Ok(()) => Err(format!("{}:{line} checks nothing", scenario.name)),
        },
    );
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

fn kind(action: &Action) -> &'static str {
    match action {
        Action::Send(_) => "send",
        Action::Deliver(_) => "deliver",
        Action::Disconnect(_) => "disconnect",
        _ => "numbers",
    }
}
