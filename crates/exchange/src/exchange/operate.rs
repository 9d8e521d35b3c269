//! Operator commands and queries of an exchange.
//!
//! ```text
//! state STATE SYMBOL        continuous, auction, halted, closed; the symbol * is every instrument
//! uncross SYMBOL            uncrosses the auction; the call continues
//! band LOW HIGH SYMBOL      changes the price band
//! bust EXECID               cancels a trade of a FIX member's order
//! correct EXECID QTY [@ PRICE]    corrects such a trade
//! status ORDERID            sends the status of a FIX member's order; * for all known orders
//! fault ...                 see `faults`
//! bulletin TEXT             sends a bulletin to the TMP lines that are logged in
//! lock LINE, unlock LINE    refuses logins of a TMP line until unlock or a restart
//!
//! instruments               (also as a command) the instruments, their states and last prices
//! book SYMBOL               (also as a command) the price levels
//! scripts                   (also as a command) the orders that follow scripts, and their progress
//! orders                    (also as a command) all known orders, with the exchange's own values
//! fills                     (also as a command) the trades of all known orders, without cancelled ones
//! lines                     (also as a command) the TMP lines, their states and sequence numbers
//! ```

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_book::{Depth, Side};
use fixwire_protocol::{BodyError, Decimal, Now, Outbox};
use fixwire_text::first_word;

use super::Exchange;
use crate::config::{state_name, state_of};
use crate::dialect::Dialect;
use crate::event::{Correction, MarketEvent};
use crate::faults::{FaultNames, USAGE};
use crate::fields;
use crate::instrument::{Instrument, units};
use crate::orders::Order;
use crate::scripted::Scripted;

/// The symbol that stands for all instruments in commands.
const ALL: &str = "*";
const COMMANDS: &str = "state STATE SYMBOL, uncross SYMBOL, band LOW HIGH SYMBOL, bust EXECID, correct EXECID QTY [@ PRICE], status ORDERID, bulletin TEXT, lock LINE, unlock LINE";
const QUERIES: &str = "instruments, book SYMBOL, scripts, lines, orders, fills, faults";

impl Exchange {
    /// Carries out a command; returns a sentence that states the result.
    pub(super) fn operate(
        &mut self,
        now: Now,
        command: &[u8],
        outbox: &mut Outbox,
    ) -> Result<String, String> {
        let command = core::str::from_utf8(command).map_err(|_| "the command is not UTF-8 text")?;
        let (verb, rest) = first_word(command);
        let at = now.wall;
        match verb {
            "state" => {
                let (name, symbol) = first_word(rest);
                let unknown =
                    || format!("unknown state {name:?}: use continuous, auction, halted or closed");
                state_of(name).ok_or_else(unknown)?;
                let symbols = self.symbols(symbol)?;
                for symbol in &symbols {
                    let event = MarketEvent::State {
                        at,
                        state: name,
                        symbol,
                    };
                    self.keep(event, outbox).map_err(full)?;
                }
                Ok(format!("{}: {name}", symbols.join(", ")))
            }
            "uncross" => {
                let symbols = self.symbols(rest)?;
                for symbol in &symbols {
                    self.keep(MarketEvent::Uncross { at, symbol }, outbox)
                        .map_err(full)?;
                }
                Ok(format!("{}: uncrossed", symbols.join(", ")))
            }
            "band" => {
                let (low, rest) = first_word(rest);
                let (high, symbol) = first_word(rest);
                let instrument = self.named(symbol)?;
                let (low, high) = (price(instrument, low)?, price(instrument, high)?);
                let tick = instrument.tick;
                if units(low, tick).ok() > units(high, tick).ok() {
                    return Err("the low price is above the high price: swap them".into());
                }
                let event = MarketEvent::Band { low, high, symbol };
                self.keep(event, outbox).map_err(full)?;
                Ok(format!("{symbol}: band {} to {}", shown(low), shown(high)))
            }
            "fault" => {
                let sessions: Vec<&str> = self.seats.iter().map(|seat| &*seat.name).collect();
                let lines: Vec<&str> = self.lines.iter().map(|line| &*line.name).collect();
                let names = FaultNames {
                    sessions: &sessions,
                    lines: Some(&lines),
                };
                self.faults.operate(rest, names)
            }
            "bulletin" => self.publish(now, rest, outbox),
            "lock" | "unlock" => self.lock(rest, verb == "lock"),
            "bust" => self.change_trade(now, rest, None, outbox),
            "correct" => {
                let (exec_id, rest) = first_word(rest);
                let to = corrected(rest)?;
                self.change_trade(now, exec_id, Some(to), outbox)
            }
            "status" => self.report_status(now, rest, outbox),
            "instruments" | "book" | "scripts" | "lines" | "orders" | "fills" | "faults" => {
                self.answer(command.as_bytes())
            }
            _ => Err(format!(
                "unknown command {verb:?}: the commands are {COMMANDS}, {USAGE}, {QUERIES}"
            )),
        }
    }

    /// Answers a query.
    pub(super) fn answer(&self, query: &[u8]) -> Result<String, String> {
        let query = core::str::from_utf8(query).map_err(|_| "the query is not UTF-8 text")?;
        let (verb, rest) = first_word(query);
        match verb {
            // The counters that `fixwire status` shows.
            "instruments" | "counts" => {
                let traded = self.market.instruments.iter().filter(|it| !it.is_gone);
                Ok(traded.map(line).collect())
            }
            "figures" => {
                let traded = self.market.instruments.iter().filter(|it| !it.is_gone);
                Ok(traded.map(figures).collect())
            }
            "faults" => Ok(self.faults.shown()),
            "orders" => Ok(self.orders()),
            "fills" => Ok(self.fills()),
            "lines" => {
                let lines = self.lines.iter().enumerate();
                Ok(lines
                    .map(|(at, line)| line.shown(self.line_numbers(at)))
                    .collect())
            }
            "scripts" => {
                let orders = self.market.scripted.iter();
                let line = |(id, scripted): (u64, &Scripted)| {
                    format!("order {id}: {}\n", scripted.shown())
                };
                Ok(orders.map(line).collect())
            }
            "book" => {
                let instrument = self.named(rest)?;
                let mut text = line(instrument);
                let mut sells: Vec<Depth> = instrument.book.depth(Side::Sell).collect();
                sells.reverse();
                for level in &sells {
                    text.push_str(&depth(instrument, "sell", level));
                }
                for level in instrument.book.depth(Side::Buy) {
                    text.push_str(&depth(instrument, "buy", &level));
                }
                Ok(text)
            }
            _ => Err(format!("unknown query {verb:?}: the queries are {QUERIES}")),
        }
    }

    /// Cancels or corrects a trade on an operator's command.
    fn change_trade(
        &mut self,
        now: Now,
        exec_id: &str,
        to: Option<Correction>,
        outbox: &mut Outbox,
    ) -> Result<String, String> {
        let exec_id = exec_id.trim();
        let known = exec_id.parse().ok();
        let known =
            known.ok_or_else(|| format!("{exec_id:?} is no ExecID(17) of this exchange"))?;
        let can = self.market.cannot_change(known, to);
        can.map_err(|why| format!("trade {exec_id}: {why}"))?;
        let at = now.wall;
        let event = MarketEvent::TradeChange {
            at,
            exec_id: known,
            to,
        };
        self.keep(event, outbox).map_err(full)?;
        let what = if to.is_some() {
            "corrected"
        } else {
            "cancelled"
        };
        Ok(format!("trade {exec_id}: {what}"))
    }

    /// Sends the status of one order, or of all orders of FIX members.
    fn report_status(
        &mut self,
        now: Now,
        which: &str,
        outbox: &mut Outbox,
    ) -> Result<String, String> {
        let is_fix = |order: &Order| {
            let member = self.market.members.get(order.member as usize);
            member.is_some_and(|member| member.dialect != Dialect::Tmp)
        };
        let orders: Vec<u64> = if which == ALL {
            let known = self.market.orders.iter().filter(|order| is_fix(order));
            known.map(|order| order.id).collect()
        } else {
            let order = which.parse().ok();
            let order = order.and_then(|id| self.market.orders.get(id));
            let order = order.ok_or_else(|| {
                format!("{which:?} is no OrderID(37) of a known order: the query orders lists them")
            })?;
            if !is_fix(order) {
                return Err(format!(
                    "order {which}: its member is a TMP line, which gets a status only when it asks"
                ));
            }
            [order.id].into()
        };
        let at = now.wall;
        for order in &orders {
            self.keep(MarketEvent::Status { at, order: *order }, outbox)
                .map_err(full)?;
        }
        Ok(format!("status of {} orders reported", orders.len()))
    }

    /// Lists all orders in memory, with the values that members should see.
    fn orders(&self) -> String {
        let mut text = String::new();
        for order in self.market.orders.iter() {
            let Some(instrument) = self.market.instruments.get(order.instrument as usize) else {
                continue;
            };
            let member = self.market.members.get(order.member as usize);
            let (member, dialect) =
                member.map_or(("", Dialect::Fix44), |it| (&*it.name, it.dialect));
            let id = String::from_utf8_lossy(order.cl_ord_id());
            let side = if order.side == b'1' { "buy" } else { "sell" };
            let price = order
                .price
                .map_or("market".to_string(), |ticks| shown(instrument.price(ticks)));
            let lots = |lots: u64| shown(instrument.quantity(lots));
            text += &format!(
                "{}: {member}, ClOrdID {id}, {}: {side} {} @ {price}, OrdStatus {}, filled {}, left {}\n",
                order.id,
                instrument.symbol,
                lots(order.quantity),
                char::from(order.status(dialect)),
                lots(order.filled),
                lots(order.leaves()),
            );
        }
        text
    }

    /// Lists the trades of all orders in memory.
    fn fills(&self) -> String {
        let mut text = String::new();
        for order in self.market.orders.iter() {
            let Some(instrument) = self.market.instruments.get(order.instrument as usize) else {
                continue;
            };
            let member = self.market.members.get(order.member as usize);
            let member = member.map_or("", |member| &*member.name);
            let id = String::from_utf8_lossy(order.cl_ord_id());
            for fill in &order.fills {
                text += &format!(
                    "{}: order {} of {member}, ClOrdID {id}, {}: {} at {}\n",
                    fill.exec_id,
                    order.id,
                    instrument.symbol,
                    shown(instrument.quantity(fill.lots)),
                    shown(instrument.price(fill.ticks)),
                );
            }
        }
        text
    }

    fn lock(&mut self, name: &str, is_locked: bool) -> Result<String, String> {
        let at = self.lines.iter().position(|line| line.name == name);
        let at =
            at.ok_or_else(|| format!("unknown TMP line {name:?}: the query lines lists them"))?;
        let numbers = self.line_numbers(at);
        let link = self.lines[at].link(numbers);
        if is_locked {
            link.lock();
            return Ok(format!("{name}: locked from its next login on"));
        }
        link.unlock();
        Ok(format!("{name}: unlocked"))
    }

    fn symbols(&self, symbol: &str) -> Result<Vec<String>, String> {
        if symbol == ALL {
            let traded = self.market.instruments.iter().filter(|it| !it.is_gone);
            return Ok(traded.map(|it| it.symbol.clone()).collect());
        }
        Ok([self.named(symbol)?.symbol.clone()].into())
    }

    fn named(&self, symbol: &str) -> Result<&Instrument, String> {
        let index = self.market.instrument(symbol.as_bytes());
        let index = index.ok_or_else(|| {
            format!("unknown instrument {symbol:?}: the query instruments lists them")
        })?;
        Ok(&self.market.instruments[index])
    }
}

fn line(instrument: &Instrument) -> String {
    let last = instrument.book.last();
    let last = last.map_or("none".to_string(), |last| shown(instrument.price(last)));
    let state = state_name(instrument.book.state());
    let orders = instrument.book.len();
    format!(
        "{} {state} last {last} orders {orders}\n",
        instrument.symbol
    )
}

/// The state of an instrument, as lines of a name and a value.
fn figures(instrument: &Instrument) -> String {
    let last = instrument.book.last();
    let last = last.map_or("none".to_string(), |last| shown(instrument.price(last)));
    let (symbol, state) = (&instrument.symbol, state_name(instrument.book.state()));
    let orders = instrument.book.len();
    format!(
        "instruments\t{symbol}\tstate\t{state}\ninstruments\t{symbol}\tlast\t{last}\n\
         instruments\t{symbol}\torders\t{orders}\n"
    )
}

fn depth(instrument: &Instrument, side: &str, level: &Depth) -> String {
    let price = level
        .price
        .map_or("market".to_string(), |ticks| shown(instrument.price(ticks)));
    let lots = |lots: u128| shown(instrument.quantity(u64::try_from(lots).unwrap_or(u64::MAX)));
    let (visible, total) = (lots(level.visible), lots(level.total));
    format!(
        "{side} {price} visible {visible} total {total} orders {}\n",
        level.orders
    )
}

fn price(instrument: &Instrument, word: &str) -> Result<Decimal, String> {
    let wrong = || format!("{word:?} is not a price, or not a multiple of the tick");
    let price = Decimal::parse(word.as_bytes()).map_err(|_| wrong())?;
    units(price, instrument.tick).map_err(|_| wrong())?;
    Ok(price)
}

fn shown(value: Decimal) -> String {
    String::from_utf8_lossy(&fields::text(value)).into_owned()
}

fn full(error: BodyError) -> String {
    format!("command not executed: {error:?}; try again")
}

/// Reads the quantity and price of a corrected trade: `30`, or `30 @ 12.40`.
fn corrected(words: &str) -> Result<Correction, String> {
    let number = |text: &str| Decimal::parse(text.trim().as_bytes()).ok();
    let (quantity, price) = match words.split_once('@') {
        Some((quantity, price)) => (quantity, Some(number(price))),
        None => (words, None),
    };
    let read = match (number(quantity), price) {
        (Some(quantity), None) => Some(Correction {
            quantity,
            price: None,
        }),
        (Some(quantity), Some(price @ Some(_))) => Some(Correction { quantity, price }),
        _ => None,
    };
    read.ok_or_else(|| {
        format!("{words:?} is no quantity and price: write correct 17 30 or correct 17 30 @ 12.40")
    })
}
