//! Model: breaks that an operator settles.

use std::collections::{BTreeMap, BTreeSet};

use super::breaks::Broken;
use super::{Fate, Fields, MOST, Model};

/// A fill of an order that is not known here.
#[derive(Clone, Debug)]
pub struct StrayFill {
    pub line: usize,
    pub account: usize,
    pub symbol: usize,
    pub side: (bool, char),
    pub exec: String,
    pub quantity: i128,
    pub price: i128,
}

/// A bust or correction of a fill that is not known here.
#[derive(Clone, Debug)]
pub struct StrayUndo {
    pub line: usize,
    /// 0 for none.
    pub order: u64,
    pub is_correction: bool,
    pub account: Option<usize>,
    pub symbol: Option<usize>,
    pub fields: BTreeMap<u32, String>,
}

/// Busts and corrections of fills that are not known here.
#[derive(Clone, Debug, Default)]
pub struct StrayUndos {
    pub open: Vec<StrayUndo>,
    /// What is settled, of today and of the day before.
    settled: [BTreeSet<String>; 2],
}

impl StrayUndos {
    /// A report of a line is settled, or was applied before its order was forgotten.
    pub fn settle(&mut self, line: usize, order: u64, of: &str, exec: &str) {
        self.settled[0].insert(format!("{line} {order} {of} by {exec}"));
    }

    /// A fill of no order is taken out of the position.
    fn take_out(&mut self, line: usize, exec: &str, leg: Option<usize>) {
        self.settled[0].insert(format!("{line} {exec} of {leg:?}"));
    }

    pub fn begin_day(&mut self) {
        self.settled.swap(0, 1);
        self.settled[0].clear();
    }

    fn has(&self, key: &str) -> bool {
        self.settled.iter().any(|it| it.contains(key))
    }
}

/// What makes an order what its venue says.
enum Change {
    Nothing,
    Fill(String, i128, i128),
    /// CumQty(14), what was paid, and whether it is open.
    Fills(i128, i128, bool),
    Terms(i128, i128),
    End(char),
}

impl Change {
    /// An order can have such a quantity.
    fn is_in_range(&self) -> bool {
        match self {
            Self::Fills(quantity, ..) | Self::Terms(quantity, _) => *quantity <= MOST,
            _ => true,
        }
    }
}

/// Halves to the even one.
pub fn half_even(amount: i128, by: i128) -> i128 {
    let (whole, rest) = (amount.div_euclid(by), 2 * amount.rem_euclid(by));
    whole + i128::from(rest > by || (rest == by && whole % 2 != 0))
}

impl Model {
    /// The breaks that are open: kind and order; those of fills of no order last.
    pub fn open_breaks(&self) -> Vec<(&'static str, u64)> {
        let open = self.breaks.iter().filter(|it| !it.is_settled);
        let open = open.map(|it| (it.what, it.order));
        let undos = self.stray_undos.open.iter().map(|it| ("undo", it.order));
        open.chain(self.stray_fills.iter().map(|_| ("stray", 0)))
            .chain(undos)
            .collect()
    }

    /// Settles the open break at this place of the list.
    pub fn settle_break(&mut self, at: usize, is_venue: bool) {
        let mut open = (0..self.breaks.len()).filter(|at| !self.breaks[*at].is_settled);
        let Some(place) = open.nth(at) else {
            let undos = self.stray_undos.open.len();
            let count = self.open_breaks().len() - self.stray_fills.len() - undos;
            let at = at - count;
            if at < self.stray_fills.len() {
                self.settle_stray(at, is_venue);
            } else if at - self.stray_fills.len() < undos {
                self.settle_undo(at - self.stray_fills.len(), is_venue);
            }
            return;
        };
        let found = self.breaks[place].clone();
        let change = match is_venue {
            true => self.change_of(place, &found).filter(Change::is_in_range),
            false => Some(Change::Nothing),
        };
        let Some(change) = change else {
            return;
        };
        self.breaks[place].is_settled = true;
        let number = found.order;
        if found.what == "cum" && !is_venue {
            // Its end waits for them no longer.
            let order = self.orders.get_mut(&number).unwrap();
            let filled = order.filled;
            order.waiting.iter_mut().for_each(|it| it.filled = filled);
        }
        self.correct(number, change);
        self.close_equal(number);
        self.settle(number);
        self.look_again(number);
    }

    pub fn settle_stray(&mut self, at: usize, is_venue: bool) {
        let stray = self.stray_fills.remove(at);
        if !is_venue {
            let leg = self.is_leg(stray.symbol).then_some(stray.symbol);
            self.stray_undos.take_out(stray.line, &stray.exec, leg);
            let of = (stray.account, stray.symbol);
            let scopes = self.scopes(stray.line, stray.account, stray.symbol);
            let worth = stray.quantity * stray.price;
            self.trade_worth(&scopes, of, stray.side, -stray.quantity, -worth);
        }
    }

    /// A bust or correction that belongs to no fill that is known here.
    pub fn stray_undone(&mut self, line: usize, fields: &Fields<'_>, is_correction: bool) {
        let exec = fields[&17];
        let named = |tag: u32| fields.get(&tag).copied().unwrap_or_default();
        let symbol = self.symbol(named(55));
        let is_named = named(55).is_empty() || symbol.is_some();
        let order = super::venue::numbers(fields[&11]).map_or(0, |it| it.0);
        let order = if is_named { order } else { 0 };
        let mut open = self.stray_undos.open.iter();
        let is_listed = open.any(|it| {
            let of = it.fields.get(&19).map_or("", String::as_str);
            (it.line, it.order, of, it.fields[&17].as_str()) == (line, order, named(19), exec)
        });
        // An ExecID(17) of the day before may be another one today.
        let is_out = |leg: Option<usize>| {
            let key = format!("{line} {} of {leg:?}", named(19));
            self.stray_undos.settled[0].contains(&key)
        };
        let is_out = !is_correction && (is_out(None) || symbol.is_some_and(|it| is_out(Some(it))));
        let key = format!("{line} {order} {} by {exec}", named(19));
        if is_listed || is_out || self.stray_undos.has(&key) {
            return;
        }
        if !is_correction && self.stray_busted(line, fields) {
            return;
        }
        let fields = fields.iter().map(|(tag, it)| (*tag, (*it).to_owned()));
        self.stray_undos.open.push(StrayUndo {
            line,
            order,
            is_correction,
            account: self.account(named(1)),
            symbol,
            fields: fields.collect(),
        });
    }

    fn settle_undo(&mut self, at: usize, is_venue: bool) {
        let undo = self.stray_undos.open[at].clone();
        let number = undo.order;
        let told = [17, 19, 32, 31, 14, 39, 58, 60];
        let told = told
            .iter()
            .filter_map(|tag| Some((*tag, undo.fields.get(tag)?.as_str())));
        let told: Fields<'_> = told.collect();
        if is_venue && !self.fits_by_now(&undo, &told) {
            return;
        }
        self.stray_undos.open.remove(at);
        let of = told.get(&19).copied().unwrap_or_default();
        self.stray_undos.settle(undo.line, number, of, told[&17]);
        if is_venue {
            self.undone(number, &told, undo.is_correction);
            self.settle(number);
            self.look_again(number);
        }
    }

    /// Whether its order is here by now, and has the fill.
    fn fits_by_now(&self, undo: &StrayUndo, told: &Fields<'_>) -> bool {
        let Some(order) = self.orders.get(&undo.order) else {
            return false;
        };
        let side = undo.fields.get(&54).map(String::as_str);
        let is_side =
            side.is_none_or(|it| !["1", "2", "5"].contains(&it) || it == order.side.to_string());
        undo.symbol.is_none_or(|it| it == order.symbol)
            && is_side
            && self.may_report(undo.line, undo.order)
            && self.legs_of(order.symbol).is_none()
            && self.is_undo_that_fits(undo.order, told, undo.is_correction)
    }

    /// A bust or correction was applied: the breaks that say the same are closed.
    pub fn close_undos(&mut self, number: u64) {
        let (done, open): (Vec<_>, Vec<_>) = std::mem::take(&mut self.stray_undos.open)
            .into_iter()
            .partition(|it| it.order == number && self.is_done(it));
        self.stray_undos.open = open;
        for undo in done {
            let of = undo.fields.get(&19).map_or("", String::as_str);
            let exec = &undo.fields[&17];
            self.stray_undos.settle(undo.line, undo.order, of, exec);
        }
    }

    /// `None` when it cannot be known.
    fn change_of(&self, place: usize, found: &Broken) -> Option<Change> {
        let order = &self.orders[&found.order];
        if order.line == usize::MAX {
            // No venue has it.
            return None;
        }
        // Only fills of the whole quantity end an order that fewer of them open.
        let may_open = order.is_open() || order.fate == Fate::Over('2');
        let is_live = may_open && !"2348C".contains(found.status);
        let part = found.counted_in_part();
        Some(match found.what {
            "cum" => self.missing_fill(place, found, None)?,
            "uncounted" if part.is_some() => self.missing_fill(place, found, Some(found.fill.1))?,
            "uncounted" | "reused" => Change::Fill(found.exec.clone(), found.fill.0, found.fill.1),
            "bust" if found.is_correction => {
                let is_spread = self.legs_of(order.symbol).is_some();
                if is_spread || order.filled != found.fill.0 {
                    return None;
                }
                let filled = found.filled?;
                let paid = found.paid.or((filled == 0).then_some(0));
                Change::Fills(filled, paid?, is_live)
            }
            "bust" | "surplus" => {
                let by = match found.what {
                    "bust" => found.fill.0,
                    _ => found.opposite,
                };
                let left = order.filled - by;
                if by <= 0 || left < 0 {
                    return None;
                }
                let paid = found.paid.filter(|_| found.filled == Some(left));
                let worth = match found.fill.1 {
                    0 => half_even(order.paid.saturating_mul(by), order.filled.max(1)),
                    price => price * by,
                };
                Change::Fills(left, paid.unwrap_or(order.paid - worth), is_live)
            }
            "quantity" => Change::Terms(found.fill.0, order.price),
            "price" => Change::Terms(order.quantity, found.price),
            "status" => match found.status {
                '2' if order.is_open() && order.filled > 0 => {
                    Change::Terms(order.filled, order.price)
                }
                '2' if order.is_open() => Change::End('4'),
                how @ ('3' | '4' | '8' | 'C') if order.is_open() => Change::End(how),
                '2' | '3' | '4' | '8' | 'C' => Change::Nothing,
                _ => Change::Fills(order.filled, order.paid, true),
            },
            other => panic!("{other}"),
        })
    }

    fn missing_fill(&self, place: usize, found: &Broken, price: Option<i128>) -> Option<Change> {
        let order = &self.orders[&found.order];
        let missing = found.filled? - order.filled;
        if missing <= 0 {
            return None;
        }
        let price = match found.paid {
            Some(paid) => half_even(paid - order.paid, missing),
            None => price?,
        };
        i64::try_from(price).ok()?;
        Some(Change::Fill(
            format!("settled {place} {}", self.now),
            missing,
            price,
        ))
    }

    fn correct(&mut self, number: u64, change: Change) {
        match change {
            Change::Nothing => {}
            Change::Fill(exec, quantity, price) => {
                let is_known = self.orders[&number].fills.iter().any(|it| it.exec == exec);
                if !is_known {
                    self.fill_in(number, exec, (quantity, price));
                }
            }
            Change::Fills(filled, paid, is_live) => self.set_fills(number, (filled, paid), is_live),
            Change::Terms(quantity, price) => self.set_terms(number, (quantity, price)),
            Change::End(how) => self.end(number, how, None, ""),
        }
    }

    fn set_fills(&mut self, number: u64, (filled, paid): (i128, i128), is_live: bool) {
        let order = self.orders.get_mut(&number).unwrap();
        let was_open = order.is_open();
        let more = (filled - order.filled, paid - order.paid);
        let is_all = filled >= order.quantity;
        order.fate = match order.fate {
            Fate::Over(_) if is_live && !is_all => Fate::Working,
            Fate::Over(how) => Fate::Over(how),
            _ if is_all => Fate::Over('2'),
            _ if is_live => Fate::Working,
            _ => Fate::Over('4'),
        };
        (order.filled, order.paid) = (filled, paid);
        let order = &self.orders[&number];
        let of = (order.account, order.symbol);
        let side = (order.buys(), order.effect);
        let scopes = self.scopes_of(order);
        if self.legs_of(of.1).is_none() {
            self.trade_worth(&scopes, of, side, more.0, more.1);
        }
        self.write_settled(number);
        self.opens_or_ends(number, was_open);
        self.guard(&scopes);
    }

    fn set_terms(&mut self, number: u64, (quantity, price): (i128, i128)) {
        let order = self.orders.get_mut(&number).unwrap();
        let was_open = order.is_open();
        order.fate = match order.fate {
            Fate::Over(how) if how != '2' => Fate::Over(how),
            _ if order.filled >= quantity => Fate::Over('2'),
            Fate::Done => Fate::Done,
            Fate::Lapsed => Fate::Lapsed,
            _ => Fate::Working,
        };
        order.hold = order.hold.max(price.abs());
        (order.quantity, order.price) = (quantity, price);
        self.write_settled(number);
        self.opens_or_ends(number, was_open);
    }

    /// Two reports may show one difference.
    fn close_equal(&mut self, number: u64) {
        let filled = self.orders[&number].filled;
        self.breaks.retain(|it| {
            let is_equal = match it.what {
                "cum" => it.filled.is_some_and(|cum| cum <= filled),
                "surplus" => it.filled.is_some_and(|cum| cum >= filled),
                _ => it.counted_in_part().is_some_and(|cum| cum <= filled),
            };
            it.order != number || it.is_settled || !is_equal
        });
    }

    /// Changes a position by a quantity and what was paid for it.
    fn trade_worth(
        &mut self,
        scopes: &[super::At],
        (account, symbol): (usize, usize),
        side: (bool, char),
        quantity: i128,
        worth: i128,
    ) {
        let holding = self.holdings.entry((account, symbol)).or_default();
        let before = holding.gained();
        holding.adjust(side, quantity, worth);
        let after = holding.gained();
        let traded = self.gain(symbol, worth);
        let gained = self.gain(symbol, after) - self.gain(symbol, before);
        for scope in scopes {
            *self.traded.entry(*scope).or_default() += traded;
            *self.gained.entry(*scope).or_default() += gained;
        }
    }
}
