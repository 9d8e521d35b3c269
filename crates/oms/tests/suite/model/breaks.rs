//! Model: what a venue says that does not agree with an order. Nothing of it is dropped: the venue is asked, and until it
//! agrees limits count the larger of both.

use super::remade::Remade;
use super::venue::{Kind, whole};
use super::{Fate, Fields, Model, Number, Order};

/// A difference that is not settled.
#[derive(Clone, Debug, Default)]
pub struct Broken {
    /// `cum`, `surplus`, `uncounted`, `reused`, `bust`, `quantity`, `price` or `status`.
    pub(super) what: &'static str,
    /// Whether a break "bust" is of a correction.
    pub(super) is_correction: bool,
    pub(super) order: u64,
    /// Of the fill that it is about.
    pub(super) exec: String,
    pub(super) fill: (i128, i128),
    /// CumQty(14) of the venue, and that times AvgPx(6).
    pub(super) filled: Option<i128>,
    pub(super) paid: Option<i128>,
    /// OrdStatus(39) of the venue, or a blank.
    pub(super) status: char,
    /// What the order may fill in all, and what may be taken back, as the venue says.
    pub(super) total: i128,
    pub(super) opposite: i128,
    pub(super) price: i128,
    /// Ours, and that of the venue.
    pub(super) sides: (String, String),
    /// An operator has decided it: the same word does not raise it again.
    pub(super) is_settled: bool,
}

impl Broken {
    pub fn new(what: &'static str, order: u64) -> Self {
        Self {
            what,
            order,
            status: ' ',
            ..Self::default()
        }
    }

    /// CumQty(14) of a fill that it counts in part.
    pub fn counted_in_part(&self) -> Option<i128> {
        let before = self.total - self.fill.0;
        self.filled
            .filter(|cum| self.what == "uncounted" && *cum > before)
    }
}

pub const OPEN: &str = "015679ADE";
const CLOSED: &str = "348C";

pub fn status(fields: &Fields<'_>) -> Option<char> {
    fields.get(&39).and_then(|it| it.chars().next())
}

impl Model {
    fn find(&self, what: &str, order: u64, exec: &str) -> Option<&Broken> {
        let mut all = self.breaks.iter();
        all.find(|it| (it.what, it.order, it.exec.as_str()) == (what, order, exec))
    }

    /// What the venue says in a break.
    pub fn venue_side(&self, what: &str, order: u64, exec: &str) -> Option<&str> {
        Some(&self.find(what, order, exec)?.sides.1)
    }

    fn of(&self, order: u64) -> impl Iterator<Item = &Broken> {
        let open = self.breaks.iter().filter(|it| !it.is_settled);
        open.filter(move |it| it.order == order)
    }

    pub fn is_broken(&self, order: u64) -> bool {
        self.of(order).next().is_some()
    }

    /// Whether an open break is about fills that the venue takes back.
    pub fn takes_back(&self, order: u64) -> bool {
        self.of(order)
            .any(|it| ["bust", "surplus"].contains(&it.what))
    }

    /// What limits count for an order beside what it knows: a total, what may be taken back, a price.
    pub fn exposure(&self, order: u64) -> Option<(i128, i128, i128)> {
        let its: Vec<_> = self.of(order).collect();
        let most = |of: fn(&Broken) -> i128| its.iter().map(|it| of(it)).max();
        let opposite = its.iter().map(|it| it.opposite).sum();
        Some((most(|it| it.total)?, opposite, most(|it| it.price.abs())?))
    }

    pub fn raise(&mut self, fields: &Fields<'_>, new: Broken) {
        let new = Broken {
            paid: self.paid_by(new.order, fields),
            ..new
        };
        let key = (new.what, new.order, &new.exec);
        let mut all = self.breaks.iter();
        let Some(at) = all.position(|it| (it.what, it.order, &it.exec) == key) else {
            self.ask_once(new.order);
            return self.breaks.push(new);
        };
        let known = &self.breaks[at];
        let is_said = known.sides.1 == new.sides.1;
        if is_said && (known.is_settled || known.sides.0 == new.sides.0) {
            return;
        }
        if known.is_settled {
            self.ask_once(new.order);
        }
        self.breaks[at] = new;
    }

    /// CumQty(14) times AvgPx(6), in units of the symbol.
    fn paid_by(&self, number: u64, fields: &Fields<'_>) -> Option<i128> {
        let order = self.orders.get(&number)?;
        let scale = self.world.symbols[order.symbol].scale;
        let Number(average, digits) = super::venue::number_of(fields, 6)?;
        let cum = whole(fields, 14)?;
        if average == 0 && cum > 0 {
            return None;
        }
        let worth = average * cum;
        Some(match scale.checked_sub(digits) {
            Some(more) => worth * 10_i128.pow(more),
            None => super::settled::half_even(worth, 10_i128.pow(digits - scale)),
        })
    }

    fn ask_once(&mut self, order: u64) {
        if !self.asking.contains(&order) {
            self.asking.push_back(order);
        }
    }

    fn close(&mut self, what: &str, order: u64, exec: &str) {
        self.breaks.retain(|it| {
            it.is_settled || (it.what, it.order, it.exec.as_str()) != (what, order, exec)
        });
    }

    /// CumQty(14) as the venue last said it.
    pub fn cum_there(&self, number: u64) -> i128 {
        let filled = self.orders[&number].filled;
        let said = self.find("cum", number, "").filter(|it| !it.is_settled);
        let said = said.and_then(|it| it.filled);
        said.map_or(filled, |said| said.max(filled))
    }

    /// Whether a fill cannot be believed; `true` for one that is known, too.
    pub fn is_doubtful(
        &mut self,
        number: u64,
        exec: &str,
        fill: (i128, i128),
        fields: &Fields<'_>,
    ) -> bool {
        let order = &self.orders[&number];
        if let Some(known) = order.fills.iter().find(|it| it.exec == exec) {
            if (known.quantity, known.price) != fill {
                let exec = format!("{exec} {} {}", fill.0, fill.1);
                self.doubt("reused", number, exec, fill, fields);
            }
            return true;
        }
        let Some(said) = whole(fields, 14) else {
            return false;
        };
        let total = order.filled + fill.0;
        if total <= self.cum_there(number).max(said) {
            return false;
        }
        self.doubt("uncounted", number, exec.to_owned(), fill, fields);
        true
    }

    fn doubt(
        &mut self,
        what: &'static str,
        number: u64,
        exec: String,
        fill: (i128, i128),
        fields: &Fields<'_>,
    ) {
        self.is_doubted = true;
        // The same again says nothing new.
        if self.find(what, number, &exec).is_some() {
            return;
        }
        let total = self.orders[&number].filled + fill.0;
        self.raise(
            fields,
            Broken {
                exec,
                fill,
                filled: whole(fields, 14),
                status: status(fields).unwrap_or(' '),
                total,
                price: fill.1,
                ..Broken::new(what, number)
            },
        );
    }

    /// ExecType(150) says the opposite of OrdStatus(39): neither is believed.
    pub fn contradicts(
        &mut self,
        number: u64,
        kind: Kind,
        is_order: bool,
        fields: &Fields<'_>,
    ) -> bool {
        let Some(status) = status(fields) else {
            return false;
        };
        let is_pending = "6E".contains(status);
        let is_wrong = match kind {
            Kind::New => "48C".contains(status),
            Kind::End(_) => OPEN.contains(status) && !is_pending,
            Kind::Rejected => is_order && OPEN.contains(status) && !is_pending,
            _ => false,
        };
        let is_over = whole(fields, 151) == Some(0);
        if !is_wrong || (is_over && kind != Kind::New) {
            return false;
        }
        let order = &self.orders[&number];
        let cum = whole(fields, 14);
        let said = cum.unwrap_or(order.filled);
        let left = whole(fields, 151).unwrap_or((order.quantity - said).max(0));
        let ours = order.status().to_string();
        let is_open = OPEN.contains(status);
        self.raise(
            fields,
            Broken {
                filled: cum,
                status,
                total: if is_open { said + left } else { 0 },
                sides: (ours, format!("{status} {kind:?} {cum:?}")),
                ..Broken::new("status", number)
            },
        );
        true
    }

    /// Whether a report was news: it changed its order. Canceled of what was made anew is none, nor is a restatement with
    /// fills that are missing.
    pub fn is_changed(&self, number: u64, was: &Order, kind: Kind, fields: &Fields<'_>) -> bool {
        let order = &self.orders[&number];
        let is_former = matches!(was.remade, Some(Remade::Former(..)))
            && order.is_open()
            && order.waiting.is_none()
            && order.remade.is_none()
            && matches!(kind, Kind::End(_));
        let lacks_fills =
            kind == Kind::Restated && whole(fields, 14).is_some_and(|it| it > order.filled);
        // A cancel goes out of what is closed here, which says nothing of its fills.
        let is_stray = matches!(order.remade, Some(Remade::Stray(_))) && kind != Kind::Fill;
        !is_former && !is_stray && !lacks_fills && format!("{order:?}") != format!("{was:?}")
    }

    /// Compares a report with its order, after it was applied as far as that goes.
    pub fn agree(
        &mut self,
        (number, request): (u64, u64),
        kind: Kind,
        fields: &Fields<'_>,
        is_taken: bool,
    ) {
        let order = &self.orders[&number];
        let is_news = match kind {
            Kind::Status('8') => order.fate == Fate::Over('8'),
            Kind::Status(_) => !matches!(order.remade, Some(Remade::Stray(_))),
            Kind::Terms => true,
            Kind::Rejected | Kind::Other => false,
            Kind::New | Kind::Fill | Kind::Replaced | Kind::End(_) | Kind::Restated => is_taken,
            Kind::Bust | Kind::Correct => is_taken,
        };
        if !is_news {
            return self.agree_beside((number, request), kind, fields);
        }
        self.agree_on_fills(number, kind, fields);
        // Canceled under the id of a replace came before it.
        let is_over = self.orders[&number].fate == Fate::Over('4');
        if kind != Kind::Replaced || !is_over {
            self.agree_on_terms(number, kind, fields);
        }
    }

    /// A report that changed nothing.
    fn agree_beside(&mut self, (number, request): (u64, u64), kind: Kind, fields: &Fields<'_>) {
        let order = &self.orders[&number];
        let ends = matches!(kind, Kind::End(_) | Kind::Rejected);
        if !self.is_compared(order, request) || (!ends && self.is_after_end(number, request)) {
            return;
        }
        let asked = order.asked.as_ref().map(|it| it.number);
        let is_its = request == order.current || asked == Some(request);
        let closes = match kind {
            Kind::End(_) => is_its || !order.is_open(),
            Kind::Rejected => self.attempt(number) == request,
            _ => false,
        };
        let (filled, waits) = (order.filled, order.waiting.is_some());
        if waits {
            return;
        }
        if let Some(cum) = whole(fields, 14) {
            if cum > self.cum_there(number) {
                self.missing(number, filled, cum, fields);
            } else if cum < filled && closes {
                self.surplus(number, filled, cum, fields);
            }
        }
        let has_terms = match kind {
            Kind::New | Kind::Other | Kind::Restated => is_its,
            // Of one that nobody waits for, too.
            Kind::Replaced => is_its || self.is_unclear(number, request, fields),
            _ => false,
        };
        if has_terms {
            self.agree_on_terms(number, kind, fields);
        }
    }

    /// A Replaced that nobody waits for, or of which nobody knows when it was.
    fn is_unclear(&self, number: u64, request: u64, fields: &Fields<'_>) -> bool {
        let order = &self.orders[&number];
        let late = order.late.as_ref();
        let is_given_up = late.is_some_and(|it| it.given_up.contains(&request));
        let says_nothing = [60, 38, 44].map(|tag| !fields.contains_key(&tag));
        let is_odd = says_nothing[0] || (says_nothing[1] && says_nothing[2]);
        request > order.current && (!is_given_up || is_odd)
    }

    pub fn is_compared(&self, order: &Order, request: u64) -> bool {
        let is_past = order.again.is_some() && request < self.attempt(order.number);
        !order.is_unsent() && !is_past && order.remade.is_none()
    }

    fn missing(&mut self, number: u64, filled: i128, cum: i128, fields: &Fields<'_>) {
        self.raise(
            fields,
            Broken {
                filled: Some(cum),
                status: status(fields).unwrap_or(' '),
                total: cum,
                sides: (filled.to_string(), cum.to_string()),
                ..Broken::new("cum", number)
            },
        );
    }

    fn surplus(&mut self, number: u64, filled: i128, cum: i128, fields: &Fields<'_>) {
        self.raise(
            fields,
            Broken {
                filled: Some(cum),
                status: status(fields).unwrap_or(' '),
                opposite: filled - cum,
                sides: (filled.to_string(), cum.to_string()),
                ..Broken::new("surplus", number)
            },
        );
    }

    fn agree_on_fills(&mut self, number: u64, kind: Kind, fields: &Fields<'_>) {
        let Some(cum) = whole(fields, 14) else {
            if self.cum_there(number) <= self.orders[&number].filled {
                self.close("cum", number, "");
            }
            return;
        };
        let is_status = matches!(kind, Kind::Status(_));
        if is_status {
            self.count_doubtful(number, cum);
        }
        let order = &self.orders[&number];
        let (filled, waits) = (order.filled, order.waiting.is_some());
        let is_end = matches!(kind, Kind::End(_));
        // Fills may come in any order; these say how it stands now.
        let is_now = is_status || matches!(kind, Kind::Bust | Kind::Correct);
        if cum > filled && !(is_end && waits) {
            if is_now || cum >= self.cum_there(number) {
                self.missing(number, filled, cum, fields);
            }
        } else if cum < filled && (is_status || is_end) {
            self.surplus(number, filled, cum, fields);
        }
        if self.breaks.is_empty() {
            return;
        }
        if kind == Kind::Fill && cum < filled {
            self.ask_once(number);
        }
        if self.cum_there(number) <= filled || (is_now && cum <= filled) {
            self.close("cum", number, "");
        }
        if cum >= filled {
            self.close("surplus", number, "");
        }
    }

    /// An answer counts a doubtful fill, or does not.
    fn count_doubtful(&mut self, number: u64, cum: i128) {
        loop {
            let filled = self.orders[&number].filled;
            let is_doubtful = |it: &&Broken| ["uncounted", "reused"].contains(&it.what);
            let Some(found) = self.of(number).find(is_doubtful).cloned() else {
                return;
            };
            let is_counted = filled + found.fill.0 <= cum;
            if !is_counted && cum != filled {
                return;
            }
            self.close(found.what, number, &found.exec);
            let mut fills = self.orders[&number].fills.iter();
            if is_counted && !fills.any(|it| it.exec == found.exec) {
                self.fill_in(number, found.exec, found.fill);
            }
        }
    }

    fn agree_on_terms(&mut self, number: u64, kind: Kind, fields: &Fields<'_>) {
        let order = self.orders[&number].clone();
        let asked = order.asked.as_ref().filter(|it| it.what == 'G');
        let asked = asked.map(|it| (it.quantity, it.price));
        if let Some(said) = whole(fields, 38) {
            if said == order.quantity || asked.is_some_and(|it| it.0 == said) {
                self.close("quantity", number, "");
            } else {
                self.raise(
                    fields,
                    Broken {
                        fill: (said, 0),
                        filled: whole(fields, 14),
                        status: status(fields).unwrap_or(' '),
                        total: if order.is_open() { said } else { 0 },
                        sides: (order.quantity.to_string(), said.to_string()),
                        ..Broken::new("quantity", number)
                    },
                );
            }
        }
        let said = super::venue::number_of(fields, 44);
        if let Some(said) = said.filter(|it| it.0 != 0 && "24".contains(order.sent_kind())) {
            let scaled = said.scaled(self.world.symbols[order.symbol].scale).ok();
            if scaled == Some(order.price) || asked.is_some_and(|it| Some(it.1) == scaled) {
                self.close("price", number, "");
            } else {
                self.raise(
                    fields,
                    Broken {
                        filled: whole(fields, 14),
                        status: status(fields).unwrap_or(' '),
                        price: scaled.unwrap_or(order.price),
                        sides: (order.price.to_string(), Number::text(said)),
                        ..Broken::new("price", number)
                    },
                );
            }
        }
        if let (Some(cum), Some(status)) = (whole(fields, 14), status(fields)) {
            let asked = asked.map(|it| it.0);
            self.agree_on_status(&order, (kind, fields), (status, cum), asked);
        }
    }

    fn agree_on_status(
        &mut self,
        order: &Order,
        (kind, fields): (Kind, &Fields<'_>),
        (status, cum): (char, i128),
        asked: Option<i128>,
    ) {
        let number = order.number;
        let mut broken = Broken {
            filled: Some(cum),
            status,
            sides: (order.status().to_string(), format!("{status} {cum}")),
            ..Broken::new("status", number)
        };
        if matches!(order.fate, Fate::Over(how) if how != '2') {
            if CLOSED.contains(status) {
                self.close("status", number, "");
            } else if OPEN.contains(status)
                && (!matches!(kind, Kind::Bust | Kind::Correct) || self.is_of_today(number))
            {
                broken.total = cum + (order.quantity - cum).max(0);
                self.raise(fields, broken);
            }
            return;
        }
        let quantity = order.quantity;
        let is_word = matches!(kind, Kind::Status(_) | Kind::End(_));
        let is_working = order.fate == Fate::Working && order.waiting.is_none();
        let is_wrong = match status {
            '2' => cum < quantity.min(asked.unwrap_or(quantity)),
            '0' | '1' => cum >= quantity.max(asked.unwrap_or(0)),
            '4' | '8' | 'C' => !is_word && order.is_open(),
            '3' => {
                let is_of_fill = matches!(kind, Kind::Fill | Kind::Bust | Kind::Correct);
                is_working && !is_word && !is_of_fill
            }
            'B' => is_working && cum < quantity,
            '6' | 'E' => is_working && order.asked.is_none(),
            _ => false,
        };
        if is_wrong {
            self.raise(fields, broken);
        } else {
            self.close("status", number, "");
        }
    }
}
