//! `fixwire log view`: browses logs in a terminal.

mod draw;
mod reading;
mod screen;
mod spots;

use std::io::{self, IsTerminal, Stdout, stdin, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use ratatui_core::terminal::Terminal;
use ratatui_crossterm::CrosstermBackend;
use ratatui_crossterm::crossterm::event::{self, Event, KeyEventKind};
use ratatui_crossterm::crossterm::execute;
use ratatui_crossterm::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use signal_hook::consts::{SIGHUP, SIGTERM};

use super::index::IndexUse;
use super::sources::{Sources, exit_code, tell_left_out_lines};
use crate::failure::Failure;
use screen::{HELP, Screen, is_stdin};

/// Time to wait for a key before the next check for new messages.
const LOOK: Duration = Duration::from_millis(40);

/// Arguments of `fixwire log view`.
#[derive(Args, Debug)]
#[command(after_help = format!("Examples:
  fixwire log view logs
  fixwire log view --filter '35=3|j|9' broker.log.gz store

Keys:
{HELP}

The first screen appears at once, while the logs are read. Messages are not kept in memory, but read again from the logs;
messages of compressed logs, captures and journals are kept in a temporary file of at most 1 GiB. A list has at most 3,000,000
messages: use a filter. The exit code is 1 if something could not be read; the output names each such part at the end."))]
pub struct ViewArgs {
    #[command(flatten)]
    sources: Sources,
    #[command(flatten)]
    index: IndexUse,
    /// Show only messages that match, as with `/`
    #[arg(long, value_name = "QUERY", default_value = "")]
    filter: String,
    /// The dictionary for names and conditions, by name or file [default: the built-in one of each message]
    #[arg(long, value_name = "NAME|FILE")]
    dictionary: Option<String>,
}

/// Runs the command.
pub fn run(args: &ViewArgs) -> Result<ExitCode, Failure> {
    if args.sources.paths.iter().any(|path| is_stdin(path)) {
        let why = "the standard input is needed for the keys: write the log to a file first";
        return Err(Failure::Text(why.to_owned()));
    }
    if !stdin().is_terminal() || !stdout().is_terminal() {
        let why = "view needs a terminal: use fixwire log grep to write messages to a file";
        return Err(Failure::Text(why.to_owned()));
    }
    // Errors in the arguments are reported before the program takes over the screen.
    args.sources.open(false)?;
    let (sources, index) = (args.sources.clone(), args.index.clone());
    let screen = Screen::new(sources, index, args.dictionary.clone(), args.filter.clone())?;
    let left_out = show(screen)?;
    Ok(exit_code(tell_left_out_lines(&left_out)))
}

/// The terminal while the program uses it. The terminal is restored when this value is dropped.
struct Taken;

impl Taken {
    fn take() -> io::Result<Self> {
        enable_raw_mode()?;
        let taken = Self;
        execute!(stdout(), EnterAlternateScreen)?;
        Ok(taken)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        // These calls fail only when the terminal was closed.
        let _ = execute!(stdout(), LeaveAlternateScreen);
        let _ = disable_raw_mode();
    }
}

/// Shows the screen until the user quits; returns the parts that could not be read.
fn show(mut screen: Screen) -> Result<Vec<String>, Failure> {
    let ended = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&ended))?;
    }
    let names = draw::names();
    let taken = Taken::take()?;
    let mut terminal: Terminal<CrosstermBackend<Stdout>> =
        Terminal::new(CrosstermBackend::new(stdout()))?;
    let mut is_new = true;
    while !ended.load(Ordering::Relaxed) {
        is_new |= screen.collect();
        if is_new {
            terminal.draw(|frame| {
                let area = frame.area();
                draw::draw(&mut screen, &names, area, frame.buffer_mut());
                if let Some(place) = draw::cursor(&screen, area) {
                    frame.set_cursor_position(place);
                }
            })?;
        }
        is_new = false;
        if !event::poll(LOOK)? {
            continue;
        }
        is_new = true;
        let Event::Key(key) = event::read()? else {
            continue;
        };
        if key.kind != KeyEventKind::Release && !screen.key(key) {
            break;
        }
    }
    drop(terminal);
    drop(taken);
    Ok(screen.left_out)
}
