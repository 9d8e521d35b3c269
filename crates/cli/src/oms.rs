//! `fixwire oms`: queries and controls a running OMS.

mod answers;
pub mod archive;
mod at;
pub mod database;
pub mod day;
mod days;
mod fields;
mod history;
mod load;
mod positions;
mod recall;
pub mod reload;
mod rows;
pub mod stamps;
mod trial;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use fixwire::control::Client;
use fixwire_oms::{expired_rows, price_commands, report_rows};
use serde_json::Value;

pub use answers::Ask;
use answers::{answer, command, json, question, show, table};
use at::{MomentArg, StateThen, read_moment};
pub use fields::shown;
use fixwire_protocol::readable::Escaped;
pub use load::{CreatedNames, listener, load};
use recall::with_recall;
use rows::Rows;
use stamps::OrderStamps;

use crate::failure::Failure;
use crate::session::{EngineFlags, running};

/// Examples for the whole command.
pub const EXAMPLES: &str = "Examples:
  fixwire oms status oms.toml
  fixwire oms orders oms.toml --account A1 --open
  fixwire oms positions oms.toml --at 14:30
  fixwire oms history oms.toml 17
  fixwire oms day oms.toml --to reports
  fixwire oms try stricter.toml store
  fixwire oms limit oms.toml account=A1 RC6=500 --why \"new desk\"
  fixwire oms kill oms.toml account=A1 --why \"runaway algo\"
  fixwire oms arm oms.toml account=A1 --why \"confirmed by the trading desk\"
  fixwire oms reload oms.toml --check

A scope is firm, session=NAME, account=NAME, symbol=NAME, or account=NAME symbol=NAME. `fixwire run oms.toml` runs
an OMS (docs/reference/oms.md).";

/// An OMS, and the time whose state is queried.
#[derive(Args, Debug)]
// This attribute is needed for the same reason as at `Ask`: without it, `Option<StateAsk>` would be `None` when only
// the file is given.
#[group(args = ["engine"])]
pub struct StateAsk {
    #[command(flatten)]
    ask: Ask,
    /// The state at this UTC time instead of the present one, from the journal, also when no engine runs:
    /// 2026-11-29T14:30:00.123, or 14:30 for today
    #[arg(long = "at", value_name = "TIME", value_parser = read_moment)]
    moment: Option<MomentArg>,
}

/// Subcommands of `fixwire oms`.
#[derive(Debug, Subcommand)]
pub enum OmsCommand {
    /// Prints the state: trading day, open and unknown orders, whether it trades
    Status(Ask),
    /// Lists orders in memory
    Orders {
        #[command(flatten)]
        ask: StateAsk,
        /// Only orders of this account
        #[arg(long, value_name = "NAME")]
        account: Option<String>,
        /// Only open orders
        #[arg(long)]
        open: bool,
        /// Only this number of orders, the newest
        #[arg(long, value_name = "NUMBER")]
        newest: Option<usize>,
    },
    /// Shows one order by its OrderID(37), with the times of its requests and reports if stamps are
    /// written
    Order {
        #[command(flatten)]
        ask: Ask,
        /// Number of the order
        number: u64,
    },
    /// Shows the history of an order from the journal, also when no engine runs
    History {
        #[command(flatten)]
        ask: Ask,
        /// Number of the order: OrderID(37)
        number: u64,
    },
    /// Writes the tables of a trading day from the journal, also when no engine runs: orders, rejected requests, fills,
    /// positions, limits, actions of operators
    Day(day::OmsDayArgs),
    /// Plays a recorded day over these settings, without an engine: which orders they would have rejected, and how near
    /// to their limits the others came
    Try(trial::OmsTryArgs),
    /// Shows positions, and the open quantity to buy and sell
    #[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Positions {
        #[command(subcommand)]
        load: Option<positions::PositionsCommand>,
        #[command(flatten)]
        ask: Option<StateAsk>,
    },
    /// Sets or changes the position of an account in a symbol
    #[command(subcommand)]
    Position(positions::PositionCommand),
    /// Compares the positions or fills of a file with those of the OMS; exit code 1 when something differs
    Reconcile(positions::Reconcile),
    /// Shows limits and kill switches
    Limits(StateAsk),
    /// Shows the pools of order numbers: the next number, and how many are left
    Pools(Ask),
    /// Lists the conditional orders that are held
    Held(Ask),
    /// Sets limits of a scope: RC6=500; RC6=none removes a limit
    #[command(mut_arg("words", |words| words.value_name("SCOPE LIMIT").help(OF_LIMIT)))]
    Limit(Tell),
    /// Cancels every open order of a scope; new orders are accepted
    Cancel(Tell),
    /// Sets the market state of a symbol: symbol=VOD halted (open, auction, halted, closed)
    #[command(mut_arg("words", |words| words.value_name("SYMBOL STATE").help(OF_MARKET)))]
    Market(Tell),
    /// Sets prices of a symbol for conditional orders: symbol=VOD last=101.5 (last, bid, offer)
    #[command(mut_arg("words", |words| words.value_name("SYMBOL PRICE").help(OF_PRICE)))]
    Price(Tell),
    /// Sets the prices of a CSV file: symbol,last,bid,offer
    Prices {
        #[command(flatten)]
        at: EngineFlags,
        /// The file; nothing is set when a row has a mistake
        file: PathBuf,
        /// The reason, recorded in the journal
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
    /// Enters reports of venues by hand, from a CSV file: order,type,quantity,price,exec,ref
    ReportIn {
        #[command(flatten)]
        at: EngineFlags,
        /// The file; nothing is entered when a row has a mistake
        file: PathBuf,
        /// The reason, recorded in the journal
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
    /// Takes a fill back that the venue has cancelled, also one of a former day
    Bust {
        #[command(flatten)]
        undo: UndoFill,
    },
    /// Corrects the quantity and price of a fill as the venue has done, also of a former day
    Correct {
        #[command(flatten)]
        undo: UndoFill,
        /// The new quantity of the fill
        #[arg(long)]
        quantity: String,
        /// The new price of the fill
        #[arg(long, allow_hyphen_values = true)]
        price: String,
    },
    /// Ends the orders of a CSV file that have expired at their venue: the column order
    Expire {
        #[command(flatten)]
        at: EngineFlags,
        /// The file; nothing is changed when a row has a mistake
        file: PathBuf,
        /// The reason, recorded in the journal
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
    /// Shows the accounts: open quantity and trades, and whether they trade
    Accounts(Ask),
    /// Shows the symbols: tick, lot, reference price, state of the market, line group
    Symbols(Ask),
    /// Lists today's orders that a control rejected and that can be run again
    Rejected(Ask),
    /// Places an order again that a control rejected, without some of the controls
    Rerun {
        #[command(flatten)]
        at: EngineFlags,
        /// The order: the ExecID(17) of its reject, or its session and ClOrdID: CLIENT/C17
        order: String,
        /// The controls to leave out: RC8, or RC8,RC9
        #[arg(long, value_name = "CONTROLS")]
        without: String,
        /// The reason, recorded in the journal
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
    /// Lists differences between venues and our orders, and between lines and drop copies
    #[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Breaks {
        #[command(subcommand)]
        settle: Option<BreaksCommand>,
        #[command(flatten)]
        ask: Option<Ask>,
    },
    /// Closes a break of a drop copy, when its cause is known
    AcceptBreak {
        #[command(flatten)]
        at: EngineFlags,
        /// Number of the break
        number: u64,
        /// The reason, recorded in the journal
        #[arg(long, value_name = "TEXT")]
        why: String,
    },
    /// Cancels every open order of a scope and rejects new orders
    Kill(Tell),
    /// Accepts only orders that reduce the positions of a scope
    Reducing(Tell),
    /// Lets a scope trade again
    Arm(Tell),
    /// Begins a trading day, day=2026-11-23; refused while orders of the day are live at a venue. An earlier date takes
    /// back a day without orders, but no day that had orders goes on
    #[command(mut_arg("words", |arg| arg.value_name("DAY").help("The new trading day: \
        day=2026-11-23; or an earlier date for a day without orders")))]
    Roll {
        #[command(flatten)]
        told: Tell,
        /// First cancels the orders of the day, and waits for the venues at most `roll_wait`
        #[arg(long)]
        cancel: bool,
    },
    /// Reloads the settings and CSV files, or shows what would change
    Reload(reload::ReloadSettingsArgs),
}

/// The fill that `fixwire oms bust` and `fixwire oms correct` take back.
#[derive(Args, Debug)]
pub struct UndoFill {
    #[command(flatten)]
    at: EngineFlags,
    /// The fill: its order and the venue's ExecID(17), 17/E1, or the ExecID(17) that the client has
    fill: String,
    /// The reason, recorded in the journal
    #[arg(long, value_name = "TEXT")]
    why: String,
}

/// A command for breaks.
#[derive(Debug, Subcommand)]
pub enum BreaksCommand {
    /// Settles a break between a report of a venue and its order
    Settle(Settle),
}

/// Arguments of `fixwire oms breaks settle`: the break, and whose state of the order is right.
#[derive(Args, Debug)]
pub struct Settle {
    #[command(flatten)]
    at: EngineFlags,
    /// Number of the break
    number: u64,
    /// Side whose value is right: order, position and limits take this value
    #[arg(value_name = "venue|ours")]
    right: BreakSide,
    /// The reason, recorded in the journal
    #[arg(long, value_name = "TEXT")]
    why: String,
}

/// The side of a break whose value is right.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum BreakSide {
    /// The values of the venue
    Venue,
    /// The values of the OMS
    Ours,
}

/// Help for the arguments of `limit`, `market` and `price`.
const OF_LIMIT: &str = "The scope: firm, session=NAME, account=NAME, symbol=NAME, or account=NAME \
    symbol=NAME; then limits, RC6=500, RC6=none for no limit; until=17:00: the previous limit \
    applies again from that time (UTC) on";
const OF_MARKET: &str = "symbol=NAME, then its state: open, auction, halted or closed";
const OF_PRICE: &str = "symbol=NAME, then its prices: last=101.5, bid=101.4, offer=101.6";

/// A command for the OMS, with its scope.
#[derive(Args, Debug)]
pub struct Tell {
    #[command(flatten)]
    at: EngineFlags,
    /// The scope: firm, session=NAME, account=NAME, symbol=NAME, or account=NAME symbol=NAME
    #[arg(required = true, value_name = "SCOPE")]
    words: Vec<String>,
    /// The reason, recorded in the journal
    #[arg(long, value_name = "TEXT")]
    why: String,
}

/// Runs the command.
pub fn run(asked: &OmsCommand) -> Result<ExitCode, Failure> {
    match asked {
        OmsCommand::Status(ask) => query(ask, "status"),
        OmsCommand::Orders {
            ask,
            account,
            open,
            newest,
        } => {
            let account = account.as_ref().map(|name| format!(" account={name}"));
            let open = if *open { " open" } else { "" };
            let what = format!("orders{}{open}", account.unwrap_or_default());
            orders(ask, &what, newest.unwrap_or(usize::MAX))
        }
        OmsCommand::Order { ask, number } => order(ask, *number),
        OmsCommand::History { ask, number } => history::show_history(ask, *number),
        OmsCommand::Day(args) => day::run(args),
        OmsCommand::Try(args) => trial::run(args),
        OmsCommand::Positions { load, ask } => match (load, ask) {
            (Some(positions::PositionsCommand::Load(load)), _) => positions::load(load),
            (None, Some(ask)) => query_state(ask, "positions"),
            (None, None) => Err(Failure::Text("give the settings file of the OMS".into())),
        },
        OmsCommand::Position(asked) => positions::set(asked),
        OmsCommand::Reconcile(args) => positions::reconcile(args),
        OmsCommand::Limits(ask) => query_state(ask, "limits"),
        OmsCommand::Pools(ask) => query(ask, "pools"),
        OmsCommand::Held(ask) => query(ask, "held"),
        OmsCommand::Limit(told) => tell(told, "limit"),
        OmsCommand::Cancel(told) => tell(told, "cancel"),
        OmsCommand::Market(told) => tell(told, "market"),
        OmsCommand::Price(told) => tell(told, "price"),
        OmsCommand::Prices { at, file, why } => prices(at, file, why),
        OmsCommand::ReportIn { at, file, why } => report_in(at, file, why),
        OmsCommand::Bust { undo } => undo_fill(undo, "bust", ""),
        OmsCommand::Correct {
            undo,
            quantity,
            price,
        } => undo_fill(
            undo,
            "correct",
            &format!(" quantity={quantity} price={price}"),
        ),
        OmsCommand::Expire { at, file, why } => expire(at, file, why),
        OmsCommand::Accounts(ask) => query(ask, "accounts"),
        OmsCommand::Symbols(ask) => query(ask, "symbols"),
        OmsCommand::Rejected(ask) => query(ask, "rejected"),
        OmsCommand::Rerun {
            at,
            order,
            without,
            why,
        } => {
            let text = format!("rerun order={order} without={without}");
            command(at, text, why)
        }
        OmsCommand::Breaks { settle, ask } => match (settle, ask) {
            (Some(BreaksCommand::Settle(settle)), _) => {
                let which = match settle.right {
                    BreakSide::Venue => "venue",
                    BreakSide::Ours => "ours",
                };
                let text = format!("settle break={} {which}", settle.number);
                with_recall(&settle.at, &settle.why, || {
                    command(&settle.at, text.clone(), &settle.why)
                })
            }
            (None, Some(ask)) => query(ask, "breaks"),
            (None, None) => Err(Failure::Text("give the settings file of the OMS".into())),
        },
        OmsCommand::AcceptBreak { at, number, why } => {
            command(at, format!("accept break={number}"), why)
        }
        OmsCommand::Kill(told) => tell(told, "kill"),
        OmsCommand::Reducing(told) => tell(told, "reducing"),
        OmsCommand::Arm(told) => tell(told, "arm"),
        OmsCommand::Roll { told, cancel } => {
            let words = told.words.join(" ");
            let cancel = if *cancel { " cancel" } else { "" };
            command(&told.at, format!("roll {words}{cancel}"), &told.why)
        }
        OmsCommand::Reload(args) => reload::run(args),
    }
}

/// Sends the command with the words that follow the fill.
fn undo_fill(undo: &UndoFill, verb: &str, words: &str) -> Result<ExitCode, Failure> {
    let text = format!("{verb} fill={}{words}", undo.fill);
    with_recall(&undo.at, &undo.why, || {
        command(&undo.at, text.clone(), &undo.why)
    })
}

fn tell(told: &Tell, verb: &str) -> Result<ExitCode, Failure> {
    let text = format!("{verb} {}", told.words.join(" "));
    command(&told.at, text, &told.why)
}

/// Sets the prices of a file, with one command per row. Nothing is set if the OMS finds an error in any row.
fn prices(at: &EngineFlags, file: &Path, why: &str) -> Result<ExitCode, Failure> {
    let (name, text) = read(file)?;
    let told = Rows {
        name: &name,
        file: &price_commands(&name, &text),
        check: "check-prices",
        verb: "",
        done: "set",
    };
    told.tell(at, why, 200)
}

fn read(file: &Path) -> Result<(String, String), Failure> {
    let name = file.display().to_string();
    let text = fs::read(file).map_err(|error| error.to_string());
    match text.and_then(fixwire_text::utf8) {
        Ok(text) => Ok((name, text)),
        Err(error) => Err(Failure::Text(format!("{name} cannot be read: {error}"))),
    }
}

/// Enters the reports of a file, with one command per row. Nothing is entered if the OMS finds an error in any row.
fn report_in(at: &EngineFlags, file: &Path, why: &str) -> Result<ExitCode, Failure> {
    let (name, text) = read(file)?;
    let file = report_rows(&name, &text);
    let told = Rows {
        name: &name,
        file: &file,
        check: "check-reports",
        verb: "report ",
        done: "entered",
    };
    // All rows are checked together, because one row may depend on another.
    told.tell(at, why, file.rows.len().max(1))
}

/// Ends the orders of a file, with one command for each. Nothing is sent if the OMS finds an error in any row.
fn expire(at: &EngineFlags, file: &Path, why: &str) -> Result<ExitCode, Failure> {
    let (name, text) = read(file)?;
    let told = Rows {
        name: &name,
        file: &expired_rows(&name, &text),
        check: "check-reports",
        verb: "report ",
        done: "expired",
    };
    told.tell(at, why, 200)
}

fn query(ask: &Ask, text: &str) -> Result<ExitCode, Failure> {
    show(ask, &answer(&ask.at, question(text))?)
}

fn query_state(ask: &StateAsk, text: &str) -> Result<ExitCode, Failure> {
    let answer = StateSource::of(ask)?.answer(text)?;
    show(&ask.ask, &answer)
}

/// The source of the state for a query.
enum StateSource {
    /// The running OMS, with its present state.
    Running(Client),
    /// The state of an earlier time, from the journal.
    Then(Box<StateThen>),
}

impl StateSource {
    fn of(ask: &StateAsk) -> Result<Self, Failure> {
        match &ask.moment {
            None => Ok(Self::Running(running(&ask.ask.at)?)),
            Some(at) => Ok(Self::Then(Box::new(StateThen::read(&ask.ask, at)?))),
        }
    }

    fn answer(&mut self, query: &str) -> Result<String, Failure> {
        match self {
            Self::Running(client) => {
                let answer = client.ask(&question(query));
                let answer = answer.map_err(|error| Failure::Text(error.to_string()))?;
                Ok(answer.text.unwrap_or_default())
            }
            Self::Then(state) => state.answer(query),
        }
    }
}

/// Prints the newest orders. An answer of the OMS has at most 1,000 orders, so older orders are requested by further
/// queries.
fn orders(ask: &StateAsk, what: &str, newest: usize) -> Result<ExitCode, Failure> {
    let mut source = StateSource::of(ask)?;
    let (mut head, mut pages, mut before) = (String::new(), Vec::new(), None::<u64>);
    let mut left = newest;
    while left > 0 {
        let page = before.map_or_else(String::new, |number| format!(" before={number}"));
        let answer = source.answer(&format!("{what}{page}"))?;
        let mut rows = answer.lines();
        head = rows.next().unwrap_or_default().to_owned();
        let rows: Vec<String> = rows.map(str::to_owned).collect();
        let oldest = rows
            .first()
            .and_then(|row| row.split('\t').next()?.parse().ok());
        if oldest.is_none() {
            break;
        }
        before = oldest;
        let some = &rows[rows.len().saturating_sub(left)..];
        left -= some.len();
        pages.push(some.join("\n"));
    }
    pages.push(head);
    pages.reverse();
    show(&ask.ask, &pages.join("\n"))
}

/// Prints one order and its stamps.
fn order(ask: &Ask, number: u64) -> Result<ExitCode, Failure> {
    let text = answer(&ask.at, question(&format!("order {number}")))?;
    let stamps = OrderStamps::of(&ask.at.engine, number)?;
    if ask.json {
        let mut rows = json(&text);
        if let Some(order) = rows.get_mut(0).and_then(Value::as_object_mut) {
            order.insert("stamps".to_owned(), stamps.json());
            if let OrderStamps::Missing(why) = stamps {
                order.insert("no_stamps".to_owned(), why.into());
            }
        }
        writeln!(io::stdout(), "{rows:#}")?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(io::stdout(), "{}", table(&text))?;
    match stamps {
        OrderStamps::Found(stamps) => history::show_stamps(&stamps)?,
        OrderStamps::Missing(why) => writeln!(io::stdout(), "{}", Escaped(why.as_bytes()))?,
    }
    Ok(ExitCode::SUCCESS)
}
