//! Examples for the help of commands that define none at their arguments.

use clap::Command;
use clap::builder::StyledStr;

/// A command, and its examples.
const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "session status",
        &["session status broker.cfg 'FIX.4.4:BROKER->CLIENT'"],
    ),
    (
        "session logon",
        &["session logon broker.cfg 'FIX.4.4:BROKER->VENUE' --why 'the venue is back'"],
    ),
    (
        "session logout",
        &[
            "session logout broker.cfg 'FIX.4.4:BROKER->CLIENT' --text 'See you tomorrow' --why closing",
        ],
    ),
    (
        "session disconnect",
        &["session disconnect broker.cfg 'FIX.4.4:BROKER->CLIENT' --why 'it hangs'"],
    ),
    (
        "session enable",
        &["session enable broker.cfg 'FIX.4.4:BROKER->CLIENT' --why 'the desk is back'"],
    ),
    (
        "session disable",
        &["session disable broker.cfg 'FIX.4.4:BROKER->CLIENT' --why 'it repeats orders'"],
    ),
    (
        "session reset",
        &["session reset broker.cfg 'FIX.4.4:BROKER->CLIENT' --why 'agreed by telephone'"],
    ),
    (
        "session set-numbers",
        &[
            "session set-numbers broker.cfg 'FIX.4.4:BROKER->CLIENT' --in 120 --why 'agreed by telephone'",
            "session set-numbers store 'FIX.4.4:BROKER->CLIENT' --out 1 --force",
        ],
    ),
    (
        "session test-request",
        &["session test-request broker.cfg 'FIX.4.4:BROKER->CLIENT'"],
    ),
    (
        "session send",
        &["session send broker.cfg 'FIX.4.4:BROKER->CLIENT' B '148=Closing|33=1|58=At 17:00'"],
    ),
    (
        "session command",
        &[
            "session command sim.toml 'state halted VOD' --why 'a test'",
            "session command sim.toml 'book VOD'",
        ],
    ),
    (
        "oms status",
        &[
            "oms status oms.toml",
            "oms status oms.toml --json | jq .[0].open",
        ],
    ),
    (
        "oms orders",
        &[
            "oms orders oms.toml --account A1 --open",
            "oms orders oms.toml --json",
        ],
    ),
    ("oms order", &["oms order oms.toml 17"]),
    (
        "oms history",
        &["oms history oms.toml 17", "oms history oms-store 17"],
    ),
    (
        "oms positions",
        &[
            "oms positions oms.toml",
            "oms positions oms.toml --at 2026-11-29T14:30:00.123",
            "oms positions load oms.toml clearing.csv --totals --why 'clearing file of the day'",
        ],
    ),
    (
        "oms positions load",
        &[
            "oms positions load oms.toml clearing.csv --totals --as-of 2026-11-29T22:00:00Z --why 'clearing file'",
            "oms positions load oms.toml transfers.csv --deltas --why 'transfers of the day'",
        ],
    ),
    (
        "oms position",
        &[
            "oms position set oms.toml A1 VOD long=500 --why 'transfer from another broker'",
            "oms position history oms.toml --account A1",
        ],
    ),
    (
        "oms position set",
        &["oms position set oms.toml A1 VOD long=500 --why 'transfer from another broker'"],
    ),
    (
        "oms position adjust",
        &["oms position adjust oms.toml A1 VOD long=-200 --why 'given up to a client'"],
    ),
    (
        "oms position history",
        &[
            "oms position history oms.toml",
            "oms position history oms.toml --account A1 --symbol VOD",
        ],
    ),
    (
        "oms reconcile",
        &[
            "oms reconcile oms.toml clearing.csv --as-of 2026-11-29T22:00:00Z",
            "oms reconcile oms.toml clearing.csv --listed --alarm --json",
        ],
    ),
    ("oms limits", &["oms limits oms.toml"]),
    ("oms pools", &["oms pools oms.toml"]),
    ("oms held", &["oms held oms.toml"]),
    ("oms accounts", &["oms accounts oms.toml"]),
    ("oms symbols", &["oms symbols oms.toml"]),
    ("oms rejected", &["oms rejected oms.toml"]),
    ("oms breaks", &["oms breaks oms.toml"]),
    (
        "oms breaks settle",
        &["oms breaks settle oms.toml 58 venue --why 'fill lost, confirmed by telephone'"],
    ),
    (
        "oms limit",
        &[
            "oms limit oms.toml account=A1 RC6=500 --why 'new desk'",
            "oms limit oms.toml account=A1 RC6=2000 until=17:00 --why 'one large order'",
            "oms limit oms.toml firm RC13=none --why 'no longer needed'",
        ],
    ),
    (
        "oms cancel",
        &["oms cancel oms.toml account=A1 symbol=VOD --why 'the desk asked'"],
    ),
    (
        "oms kill",
        &[
            "oms kill oms.toml account=A1 --why 'runaway algo'",
            "oms kill oms.toml firm --why 'stop everything'",
        ],
    ),
    (
        "oms reducing",
        &["oms reducing oms.toml account=A1 --why 'close positions only'"],
    ),
    (
        "oms arm",
        &["oms arm oms.toml account=A1 --why 'confirmed by the trading desk'"],
    ),
    (
        "oms market",
        &["oms market oms.toml symbol=VOD halted --why 'news'"],
    ),
    (
        "oms price",
        &[
            "oms price oms.toml symbol=VOD last=12.55 bid=12.50 offer=12.60 --why 'the feed is down'",
        ],
    ),
    (
        "oms prices",
        &["oms prices oms.toml prices.csv --why 'the feed is down'"],
    ),
    (
        "oms report-in",
        &["oms report-in oms.toml reports.csv --why 'by telephone'"],
    ),
    (
        "oms bust",
        &["oms bust oms.toml 17/E1 --why 'the venue has cancelled the trade'"],
    ),
    (
        "oms correct",
        &[
            "oms correct oms.toml 17/E1 --quantity 90 --price 12.55 --why 'the venue has corrected the trade'",
        ],
    ),
    (
        "oms expire",
        &["oms expire oms.toml expired.csv --why 'day end of the venue'"],
    ),
    (
        "oms rerun",
        &["oms rerun oms.toml CLIENT/A7 --without RC8 --why 'the desk has checked the price'"],
    ),
    (
        "oms accept-break",
        &["oms accept-break oms.toml 57 --why 'the venue corrects it'"],
    ),
    (
        "oms roll",
        &["oms roll oms.toml day=2026-11-23 --why 'the market has closed'"],
    ),
    (
        "dictionary",
        &[
            "dictionary show FIX.4.4 D",
            "dictionary diff FIX.4.4 venue.xml",
        ],
    ),
    (
        "hash-password",
        &[
            "hash-password                          ask for the password, and print its hash",
            "hash-password < password.txt",
        ],
    ),
    ("analyse oms", &["analyse oms stamps.txt"]),
    ("analyse throughput", &["analyse throughput stamps.txt"]),
    (
        "bench",
        &[
            "bench echo",
            "bench echo --json echo.json",
            "bench report echo.json",
        ],
    ),
    ("bench tcp", &["bench tcp"]),
    (
        "bench echo",
        &[
            "bench echo",
            "bench echo --json echo.json",
            "bench echo --stages",
        ],
    ),
    ("bench gateway-echo", &["bench gateway-echo"]),
    ("bench gateway-convert", &["bench gateway-convert"]),
    (
        "bench transactions",
        &[
            "bench transactions",
            "bench transactions --json transactions.json",
        ],
    ),
    ("bench parse-log", &["bench parse-log"]),
    ("bench sessions", &["bench sessions"]),
    ("bench peers", &["bench peers fixwire-spin"]),
    (
        "bench compare",
        &[
            "bench echo --json before.json          a result file of one build",
            "bench echo --json after.json           and of another one",
            "bench compare before.json after.json",
        ],
    ),
    (
        "bench report",
        &[
            "bench echo --json echo.json            a result file; also of the other benchmarks",
            "bench report echo.json                 its page, report.html",
            "bench report echo.json oms.json --output both.html",
        ],
    ),
];

/// Adds examples to the help of every command that has none.
pub fn with_examples(command: Command) -> Command {
    let names: Vec<String> = (command.get_subcommands())
        .map(|one| one.get_name().to_owned())
        .collect();
    names.into_iter().fold(command, |command, name| {
        command.mut_subcommand(&name, |one| add(one, &name))
    })
}

fn add(command: Command, path: &str) -> Command {
    let names: Vec<String> = (command.get_subcommands())
        .map(|one| one.get_name().to_owned())
        .collect();
    let command = names.into_iter().fold(command, |command, name| {
        command.mut_subcommand(&name, |one| add(one, &format!("{path} {name}")))
    });
    let own = command.get_after_help().map(StyledStr::to_string);
    let own = own.unwrap_or_default();
    let found = EXAMPLES.iter().find(|(name, _)| *name == path);
    let Some((_, examples)) = found.filter(|_| !own.contains("Examples:")) else {
        return command;
    };
    let mut text = "Examples:".to_owned();
    for example in *examples {
        text += &format!("\n  fixwire {example}");
    }
    if !own.is_empty() {
        text += &format!("\n\n{own}");
    }
    command.after_help(text)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use clap::error::ErrorKind;

    use super::*;

    fn each(command: &Command, path: &str, seen: &mut impl FnMut(&Command, &str)) {
        for one in command.get_subcommands() {
            let path = format!("{path} {}", one.get_name());
            seen(one, path.trim());
            each(one, &path, seen);
        }
    }

    /// The words of a command, as a shell splits them, up to a pipe or a comment.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut quote) = (vec![String::new()], None);
        let mut chars = line.chars().peekable();
        while let Some(c) = chars.next() {
            let word = words.last_mut().unwrap();
            match (c, quote) {
                ('\'' | '"', None) => quote = Some(c),
                (_, Some(open)) if c == open => quote = None,
                (' ', None) if chars.peek() == Some(&' ') => break,
                ('|' | '&', None) => break,
                // A number stands for output of another command.
                ('$', None) if chars.peek() == Some(&'(') => {
                    word.push('1');
                    chars.by_ref().find(|c| *c == ')');
                }
                (' ', None) => words.push(String::new()),
                _ => word.push(c),
            }
        }
        let is_redirection = |word: &str| word.starts_with(['<', '>']) || word.starts_with("2>");
        if let Some(at) = words.iter().position(|word| is_redirection(word)) {
            words.truncate(at);
        }
        words.retain(|word| !word.is_empty());
        words
    }

    #[test]
    fn every_example_is_read() {
        let all = with_examples(crate::Cli::command());
        let mut lines = Vec::new();
        let mut take = |command: &Command, path: &str| {
            let help = command.clone().render_long_help().to_string();
            let examples = help.lines().filter(|line| line.starts_with("  fixwire "));
            lines.extend(examples.map(|line| (path.to_owned(), line.trim().to_owned())));
        };
        take(&all, "");
        each(&all, "", &mut take);
        assert!(lines.len() > 150, "{}", lines.len());
        for (path, line) in lines {
            let read = all.clone().try_get_matches_from(words(&line));
            if let Some(error) = read.err().filter(|it| it.kind() != ErrorKind::DisplayHelp) {
                panic!("`fixwire {path} --help` has `{line}`: {error}");
            }
        }
    }

    #[test]
    fn every_command_has_examples_that_are_commands() {
        let all = with_examples(crate::Cli::command());
        let mut count = 0;
        each(&all, "", &mut |command, path| {
            count += 1;
            let help = command.clone().render_long_help().to_string();
            let (_, examples) = help.split_once("Examples:").unwrap_or_else(|| {
                panic!("`fixwire {path} --help` has no examples: add them to examples.rs")
            });
            assert!(examples.contains("fixwire "), "{path}: {examples}");
        });
        assert!(count > 70, "{count}");
        for (path, examples) in EXAMPLES {
            for example in *examples {
                assert!(
                    example.starts_with(path)
                        || *path == "bench report"
                        || *path == "bench compare",
                    "{example}"
                );
            }
        }
    }
}
