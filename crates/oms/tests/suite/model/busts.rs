//! Model: trades that a venue cancels or corrects.

use super::breaks::{Broken, status};
use super::spreads::Leg;
use super::venue::{number_of, whole};
use super::{Fate, Fields, Model};

/// A fill of an order, or of a leg.
#[derive(Clone, Debug)]
pub struct Fill {
    pub exec: String,
    pub quantity: i128,
    pub price: i128,
    /// ExecID(17) of its bust or correction; empty while it counts.
    pub undone: String,
    /// The trading day on which it was reported.
    pub day: i64,
}

/// Quantity and price.
type Size = (i128, i128);

fn worth((quantity, price): Size) -> i128 {
    quantity * price
}

/// The fill that an execution has become: itself, or its last correction.
fn now(fills: &[Fill], exec: &str) -> Option<usize> {
    let find = |exec: &str| fills.iter().position(|it| it.exec == exec);
    let mut at = find(exec)?;
    while let Some(next) = find(&fills[at].undone) {
        at = next;
    }
    Some(at)
}

/// An execution and its corrections, in their order.
fn corrections(fills: &[Fill], exec: &str) -> Vec<usize> {
    let find = |exec: &str| fills.iter().position(|it| it.exec == exec);
    let mut all: Vec<usize> = find(exec).into_iter().collect();
    while let Some(next) = all.last().and_then(|at| find(&fills[*at].undone)) {
        all.push(next);
    }
    all
}

/// What stands for an ExecID(17) that another report of the order has already.
fn again(exec: &str, is_correction: bool) -> String {
    format!("{exec} again, correction {is_correction}")
}

/// What may take a fill back: the ExecID(17) of the report, and what stands for it; the last one is not in use.
fn undo_execs(fills: &[Fill], exec: &str, is_correction: bool) -> Vec<String> {
    let mut execs = vec![exec.to_owned()];
    let mut by = exec.to_owned();
    while fills
        .iter()
        .any(|it| it.exec == by || (is_correction && it.undone == by))
    {
        by = again(&by, is_correction);
        execs.push(by.clone());
    }
    execs
}

/// What stands for the ExecID(17) of a fill that a fill of a former day has already.
pub fn of_another_day(exec: &str) -> String {
    format!("{exec} of another day")
}

/// What a bust or correction that fits no fill may change: what it is settled by, what may be taken back, what the
/// order may fill in all, and whether CumQty(14) is that after it.
struct Claim {
    quantity: i128,
    opposite: i128,
    total: i128,
    is_sure: bool,
}

/// What stands for the ExecID(17) of a bust or correction that an operator enters.
fn by_hand(exec: &str) -> String {
    format!("by hand of {exec}")
}

impl Model {
    /// A bust or correction of an order; whether it was applied.
    pub fn undone(&mut self, number: u64, fields: &Fields<'_>, is_correction: bool) -> bool {
        if self.is_undo_known(number, fields, is_correction) {
            return false;
        }
        let key = break_key(fields[&17], is_correction);
        if let Some(said) = self.venue_side("bust", number, &key) {
            if said != undo_side(fields) {
                self.bust_broken(number, fields, is_correction);
            }
            return false;
        }
        match self.undo_of(number, fields, is_correction) {
            Some((at, size)) => {
                if is_correction && self.is_entered(number, at, size) {
                    return false;
                }
                self.undo(number, (at, size), fields, is_correction);
                if !is_correction && order_has_legs_in_fills(self, number) {
                    let mut of_leg = fields.clone();
                    of_leg.remove(&32);
                    of_leg.remove(&31);
                    for at in [0, 1] {
                        self.undo_leg(number, at, &of_leg, false);
                    }
                }
                let scopes = self.scopes_of(&self.orders[&number]);
                self.guard(&scopes);
                if is_correction && order_has_legs_in_fills(self, number) {
                    self.correct_legs(number, fields);
                }
                self.close_undos(number);
                true
            }
            None => {
                self.bust_broken(number, fields, is_correction);
                false
            }
        }
    }

    /// Whether the same report was applied before.
    fn is_undo_known(&self, number: u64, fields: &Fields<'_>, is_correction: bool) -> bool {
        let order = &self.orders[&number];
        let by = undo_execs(&order.fills, fields[&17], is_correction);
        let Some(of) = fields.get(&19) else {
            return false;
        };
        let chain = corrections(&order.fills, of);
        if !is_correction {
            return chain.last().is_some_and(|at| {
                let fill = &order.fills[*at];
                !fill.undone.is_empty()
                    && (by.contains(&fill.undone) || fill.undone == by_hand(&fill.exec))
            });
        }
        let size = self.execution(order.symbol, fields);
        chain.into_iter().skip(1).any(|at| {
            let fill = &order.fills[at];
            by.contains(&fill.exec) && size.is_none_or(|it| it == (fill.quantity, fill.price))
        })
    }

    /// Whether a bust or correction has a fill, or is no news.
    pub fn is_undo_that_fits(&self, number: u64, fields: &Fields<'_>, is_correction: bool) -> bool {
        self.is_undo_known(number, fields, is_correction)
            || self.undo_of(number, fields, is_correction).is_some()
    }

    /// Whether an order has what a bust or correction says.
    pub fn is_done(&self, undo: &super::settled::StrayUndo) -> bool {
        let Some(order) = self.orders.get(&undo.order) else {
            return false;
        };
        let fields = undo.fields.iter().map(|(tag, it)| (*tag, it.as_str()));
        let fields: Fields<'_> = fields.collect();
        let at = fields.get(&19).and_then(|it| now(&order.fills, it));
        at.is_some_and(|at| {
            let fill = &order.fills[at];
            match undo.is_correction {
                false => !fill.undone.is_empty(),
                true => {
                    let size = self.execution(order.symbol, &fields);
                    fill.undone.is_empty() && size == Some((fill.quantity, fill.price))
                }
            }
        })
    }

    /// The place of the fill and what it becomes; `None` when it fits none.
    fn undo_of(
        &self,
        number: u64,
        fields: &Fields<'_>,
        is_correction: bool,
    ) -> Option<(usize, Size)> {
        let order = &self.orders[&number];
        let of = fields.get(&19)?;
        let at = now(&order.fills, of)?;
        let fill = &order.fills[at];
        let has = |exec: &str| order.fills.iter().any(|it| it.exec == exec);
        if !fill.undone.is_empty() || fill.quantity > order.filled || has(&of_another_day(of)) {
            return None;
        }
        let size = match is_correction {
            true => self.execution(order.symbol, fields)?,
            false if is_of_another(fields, fill.quantity) => return None,
            false => (0, 0),
        };
        let left = self.cum_there(number) - fill.quantity + size.0;
        let is_other = number_of(fields, 14).is_some_and(|said| said.whole() != Ok(left));
        (!is_other).then_some((at, size))
    }

    /// Whether the order may be open on this trading day.
    pub fn is_of_today(&self, number: u64) -> bool {
        number > self.yesterday || self.orders[&number].outlives(self.day)
    }

    /// Whether an operator has entered this correction before its venue.
    fn is_entered(&self, number: u64, at: usize, size: Size) -> bool {
        let fills = &self.orders[&number].fills;
        let fill = &fills[at];
        let mut before = fills.iter().filter(|it| it.undone == fill.exec);
        size == (fill.quantity, fill.price) && before.any(|it| fill.exec == by_hand(&it.exec))
    }

    /// `bust fill=17/E1` or `correct fill=17/E1 quantity=10 price=99.5`.
    pub fn undo_command(&mut self, text: &str) {
        let word = |key: &str| {
            let words = text.split(' ').filter_map(|it| it.split_once('='));
            let mut found = words.filter(|(known, _)| *known == key);
            found.next().map(|(_, value)| value)
        };
        let (order, exec) = word("fill").unwrap().split_once('/').unwrap();
        let number = order.parse().unwrap();
        let Some(order) = self.orders.get(&number) else {
            return;
        };
        if self.legs_of(order.symbol).is_some() {
            return;
        }
        let Some(at) = now(&order.fills, exec) else {
            return;
        };
        let fill = order.fills[at].clone();
        let counted = order.fills.iter().filter(|it| it.undone.is_empty());
        let counted: i128 = counted.map(|it| it.quantity).sum();
        if !fill.undone.is_empty() || counted != order.filled || self.takes_back(number) {
            return;
        }
        let is_correction = text.starts_with("correct ");
        let by = by_hand(&fill.exec);
        let mut fields: Fields<'_> = [(17, by.as_str()), (19, &fill.exec)].into();
        fields.insert(39, "4");
        if is_correction {
            fields.insert(32, word("quantity").unwrap());
            fields.insert(31, word("price").unwrap());
            let size = self.execution(order.symbol, &fields);
            let most = order.quantity - order.filled + fill.quantity;
            let fits = |it: &Size| it.0 <= most && *it != (fill.quantity, fill.price);
            if !size.as_ref().is_some_and(fits) {
                return;
            }
        }
        self.undone(number, &fields, is_correction);
        self.settle(number);
        self.look_again(number);
    }

    fn undo(
        &mut self,
        number: u64,
        (at, size): (usize, Size),
        fields: &Fields<'_>,
        is_correction: bool,
    ) {
        let day = self.day;
        let is_live = !["3", "4", "8", "C"].contains(fields.get(&39).unwrap_or(&""))
            && self.is_of_today(number);
        let order = self.orders.get_mut(&number).unwrap();
        let by = undo_execs(&order.fills, fields[&17], is_correction);
        let by = by.last().unwrap().clone();
        let fill = &mut order.fills[at];
        fill.undone.clone_from(&by);
        let (was, is_today) = ((fill.quantity, fill.price), fill.day == day);
        if size.0 > 0 {
            order.fills.push(Fill {
                exec: by,
                quantity: size.0,
                price: size.1,
                undone: String::new(),
                day,
            });
        }
        order.filled += size.0 - was.0;
        order.paid += worth(size) - worth(was);
        let was_open = order.is_open();
        order.fate = match order.fate {
            Fate::Over('2') if order.filled < order.quantity && is_live => Fate::Working,
            Fate::Over('2') if order.filled < order.quantity => Fate::Over('4'),
            Fate::Over(how) => Fate::Over(how),
            _ if order.filled >= order.quantity => Fate::Over('2'),
            fate => fate,
        };
        let of = (order.account, order.symbol);
        let side = (order.buys(), order.effect);
        let scopes = self.scopes_of(&self.orders[&number]);
        if self.legs_of(of.1).is_none() {
            self.untrade(&scopes, of, side, was, is_today);
            if size.0 > 0 {
                self.trade(&scopes, of, side, size);
            }
        }
        let text = fields.get(&58).copied().unwrap_or_default();
        self.write_undone(number, size, text);
        self.opens_or_ends(number, was_open);
        self.parent_undone(number, was, size, is_live);
    }

    /// An order has ended, or is open again.
    pub fn opens_or_ends(&mut self, number: u64, was_open: bool) {
        match (was_open, self.orders[&number].is_open()) {
            (true, false) => self.over(number),
            (false, true) => self.ended.retain(|ended| *ended != number),
            _ => {}
        }
    }

    /// The fill of the parent follows that of its child.
    fn parent_undone(&mut self, child: u64, was: Size, size: Size, is_live: bool) {
        let parent = self.orders[&child].parent;
        let Some(order) = parent.and_then(|parent| self.orders.get_mut(&parent)) else {
            return;
        };
        let (number, was_open) = (order.number, order.is_open());
        order.filled += size.0 - was.0;
        order.paid += worth(size) - worth(was);
        let is_all = order.filled >= order.quantity;
        order.fate = match order.fate {
            Fate::Parent if is_all => Fate::Over('2'),
            // It goes on with its child.
            Fate::Over('2') if !is_all && is_live => Fate::Parent,
            Fate::Over('2') if !is_all => Fate::Over('4'),
            fate => fate,
        };
        self.write_undone(number, size, "");
        self.opens_or_ends(number, was_open);
        if !self.orders[&number].is_open() {
            self.too_late(number);
            self.withdraw_children(number);
        }
    }

    /// The fill of a leg is cancelled or corrected.
    pub fn undo_leg(&mut self, number: u64, at: usize, fields: &Fields<'_>, is_correction: bool) {
        let leg = self.legs_of(self.orders[&number].symbol).unwrap()[at];
        let legs = &self.orders[&number].legs;
        let of = fields.get(&19).copied().unwrap_or_default();
        let chain = corrections(&legs.fills[at], of);
        let Some(place) = chain.last().copied() else {
            return self.leg_broken(number, fields, is_correction);
        };
        let fills = &legs.fills[at];
        let find = |exec: &str| fills.iter().position(|it| it.exec == exec);
        let size = self.execution(leg.symbol, fields);
        let mut by = fields[&17].to_owned();
        let mut is_again = false;
        while let Some(known) = find(&by) {
            let is_same = size.is_none_or(|it| it == (fills[known].quantity, fills[known].price));
            is_again = is_correction && is_same && chain[1..].contains(&known) && by != of;
            if is_again {
                break;
            }
            by = again(&by, is_correction);
        }
        let fill = &fills[place];
        if is_again || fill.undone == by {
            return;
        }
        if !fill.undone.is_empty() {
            // With the spread.
            if legs.in_fills != Some(true) {
                self.leg_broken(number, fields, is_correction);
            }
            return;
        }
        let size = match is_correction {
            true => self.execution(leg.symbol, fields),
            false if is_of_another(fields, fill.quantity) => None,
            false => Some((0, 0)),
        };
        match size {
            Some(size) => self.leg_undone(number, (at, leg), (place, size), &by),
            None => self.leg_broken(number, fields, is_correction),
        }
    }

    fn leg_undone(
        &mut self,
        number: u64,
        (at, leg): (usize, Leg),
        (place, size): (usize, Size),
        by: &str,
    ) {
        let day = self.day;
        let order = self.orders.get_mut(&number).unwrap();
        let fill = &mut order.legs.fills[at][place];
        by.clone_into(&mut fill.undone);
        let (was, is_today) = ((fill.quantity, fill.price), fill.day == day);
        if size.0 > 0 {
            order.legs.fills[at].push(Fill {
                exec: by.to_owned(),
                quantity: size.0,
                price: size.1,
                undone: String::new(),
                day,
            });
        }
        order.legs.filled[at] += size.0 - was.0;
        order.legs.paid[at] += worth(size) - worth(was);
        let side = (order.buys() == leg.buys, order.effect);
        let (account, client) = (order.account, order.client);
        let scopes = self.scopes(self.world.clients[client].session, account, leg.symbol);
        self.untrade(&scopes, (account, leg.symbol), side, was, is_today);
        if size.0 > 0 {
            self.trade(&scopes, (account, leg.symbol), side, size);
        }
        self.write_leg_undone(number, (at, leg), size);
        self.guard(&scopes);
    }

    /// A correction of a spread has its legs as they are now.
    fn correct_legs(&mut self, number: u64, fields: &Fields<'_>) {
        let spread = self.orders[&number].symbol;
        let mut corrected = 0;
        for (symbol, _, price, quantity) in self.said_legs(Some(spread), fields) {
            let legs = self.legs_of(spread).unwrap();
            if let Some(at) = legs.iter().position(|leg| leg.symbol == symbol) {
                let mut of_leg = fields.clone();
                of_leg.insert(55, self.world.symbols[symbol].name);
                of_leg.insert(32, &quantity);
                of_leg.insert(31, price);
                self.undo_leg(number, at, &of_leg, true);
                corrected += 1;
            }
        }
        if corrected < 2 {
            self.leg_broken(number, fields, true);
        }
    }

    /// Takes a trade back.
    fn untrade(
        &mut self,
        scopes: &[super::At],
        (account, symbol): (usize, usize),
        (buys, effect): (bool, char),
        was: Size,
        is_today: bool,
    ) {
        let holding = self.holdings.entry((account, symbol)).or_default();
        let before = holding.gained();
        holding.undo((buys, effect), was, is_today);
        let after = holding.gained();
        let traded = match is_today {
            true => self.worth(symbol, worth(was).abs()),
            false => 0,
        };
        let gained = self.gain(symbol, after) - self.gain(symbol, before);
        for scope in scopes {
            *self.traded.entry(*scope).or_default() -= traded;
            *self.gained.entry(*scope).or_default() += gained;
        }
    }

    /// The bust of a fill of an order that is not known here; whether the position has such a fill, with these values.
    pub fn stray_busted(&mut self, line: usize, fields: &Fields<'_>) -> bool {
        let of = fields.get(&19).copied();
        let found = self
            .stray_fills
            .iter()
            .position(|it| (it.line, Some(it.exec.as_str())) == (line, of));
        let named = |tag: u32| fields.get(&tag).copied().unwrap_or_default();
        let found = found.filter(|at| {
            let stray = &self.stray_fills[*at];
            let symbol = self.world.symbols[stray.symbol].name;
            self.account(named(1)).is_none_or(|it| it == stray.account)
                && (named(55).is_empty() || named(55) == symbol)
                && match named(54) {
                    "1" => stray.side.0,
                    "2" | "5" => !stray.side.0,
                    _ => true,
                }
                && !is_of_another(fields, stray.quantity)
        });
        if let Some(at) = found {
            self.settle_stray(at, false);
        }
        found.is_some()
    }

    /// A bust or correction that fits no fill.
    pub fn bust_broken(&mut self, number: u64, fields: &Fields<'_>, is_correction: bool) {
        self.is_doubted = true;
        let scale = self.world.symbols[self.orders[&number].symbol].scale;
        let price = number_of(fields, 31);
        let price = price.and_then(|it| it.scaled(scale).ok()).unwrap_or(0);
        let claim = self.claim(number, fields, is_correction);
        let mut told = fields.clone();
        if is_correction
            && fields.get(&32) == fields.get(&14)
            && let Some(price) = fields.get(&31)
        {
            // The order has no other fill.
            told.insert(6, price);
        }
        if !claim.is_sure {
            told.remove(&14);
        }
        let found = Broken {
            exec: break_key(fields[&17], is_correction),
            is_correction,
            fill: (claim.quantity, price),
            price: if is_correction { price } else { 0 },
            filled: whole(&told, 14),
            status: status(fields).unwrap_or(' '),
            total: claim.total,
            opposite: claim.opposite,
            sides: (String::new(), undo_side(fields)),
            ..Broken::new("bust", number)
        };
        self.raise(&told, found);
    }

    fn claim(&self, number: u64, fields: &Fields<'_>, is_correction: bool) -> Claim {
        let order = &self.orders[&number];
        let filled = order.filled;
        let last = whole(fields, 32).filter(|it| *it > 0);
        let (cum, leaves) = (whole(fields, 14), whole(fields, 151).unwrap_or(0));
        let fill = fields.get(&19).and_then(|it| now(&order.fills, it));
        let fill = fill.map(|at| &order.fills[at]);
        let fill = fill.filter(|it| it.undone.is_empty() && it.quantity <= filled);
        if !is_correction {
            let lost = cum.map(|cum| (filled - cum).max(0));
            let by = last.or(lost).unwrap_or(0);
            let is_its = fill.is_some_and(|it| it.quantity == by);
            let is_known = by <= filled && (is_its || lost.is_none_or(|lost| lost == by));
            return Claim {
                quantity: if is_known { by } else { 0 },
                opposite: by.max(lost.unwrap_or(0)).min(filled),
                total: cum.unwrap_or(0) + leaves,
                is_sure: true,
            };
        }
        let after = fill
            .zip(last)
            .map(|(fill, last)| self.cum_there(number) - fill.quantity + last);
        let (low, high) = match (cum, after) {
            (Some(cum), Some(after)) => (cum.min(after), cum.max(after)),
            (Some(it), None) | (None, Some(it)) => (it, it),
            (None, None) => (last.unwrap_or(0).min(filled), filled + last.unwrap_or(0)),
        };
        Claim {
            quantity: filled,
            opposite: (filled - low).max(0),
            total: high + leaves,
            is_sure: cum.is_some_and(|cum| {
                after.is_none_or(|after| after == cum) && last.is_none_or(|last| last <= cum)
            }),
        }
    }

    /// One of a leg: only somebody who knows the legs can settle it.
    pub fn leg_broken(&mut self, number: u64, fields: &Fields<'_>, is_correction: bool) {
        let of = |tag: u32| fields.get(&tag).copied().unwrap_or_default().to_owned();
        let said = format!("{is_correction} {:?} {}", whole(fields, 32), of(55));
        let leg = self.symbol(&of(55)).filter(|it| self.is_leg(*it));
        let exec = match leg {
            Some(leg) => super::spreads::key(&of(17), leg),
            None => of(17),
        };
        let mut told = fields.clone();
        told.remove(&14);
        self.raise(
            &told,
            Broken {
                exec: break_key(&exec, is_correction),
                is_correction,
                status: status(fields).unwrap_or(' '),
                sides: (String::new(), said),
                ..Broken::new("bust", number)
            },
        );
    }
}

/// The execution of a break.
fn break_key(exec: &str, is_correction: bool) -> String {
    format!("{exec} correction {is_correction}")
}

/// What the venue says in a break.
fn undo_side(fields: &Fields<'_>) -> String {
    format!(
        "{:?} {:?} {:?} {:?}",
        fields.get(&19),
        whole(fields, 32).filter(|it| *it != 0),
        number_of(fields, 31).map(|it| (it.0, it.1)),
        whole(fields, 14)
    )
}

fn order_has_legs_in_fills(model: &Model, number: u64) -> bool {
    let order = &model.orders[&number];
    model.legs_of(order.symbol).is_some() && order.legs.in_fills == Some(true)
}

/// LastQty(32) of a bust is not that of the fill.
fn is_of_another(fields: &Fields<'_>, quantity: i128) -> bool {
    let said = number_of(fields, 32).filter(|it| it.0 != 0);
    said.is_some_and(|it| it.whole() != Ok(quantity))
}
