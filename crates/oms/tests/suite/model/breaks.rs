//! Model: what a venue says that does not agree with an order. Nothing of it is dropped: the venue is asked, and until it
//! agrees limits count the larger of both.

use super::remade::Remade;
use super::venue::{Kind, whole};
use super::{Fate, Fields, Model, Number, Order};

/// A difference that is not settled.
#[derive(Clone, Debug, Default)]
pub struct Broken {
    /// `cum`, `surplus`, `uncounted`, `reused`, `quantity`, `price` or `status`.
    what: &'static str,
    order: u64,
    /// Of the fill that it is about.
    exec: String,
    fill: (i128, i128),
    /// CumQty(14) of the venue.
    filled: Option<i128>,
    /// What the order may fill in all, and what may be taken back, as the venue says.
    total: i128,
    opposite: i128,
    price: i128,
    sides: (String, String),
}

const OPEN: &str = "015679ADE";
const CLOSED: &str = "348C";

fn status(fields: &Fields<'_>) -> Option<char> {
    fields.get(&39).and_then(|it| it.chars().next())
}

impl Model {
    fn find(&self, what: &str, order: u64, exec: &str) -> Option<&Broken> {
        let mut all = self.breaks.iter();
        all.find(|it| (it.what, it.order, it.exec.as_str()) == (what, order, exec))
    }

    pub fn is_broken(&self, order: u64) -> bool {
        self.breaks.iter().any(|it| it.order == order)
    }

    /// What limits count for an order beside what it knows: a total, what may be taken back, a price.
    pub fn exposure(&self, order: u64) -> Option<(i128, i128, i128)> {
        let its = self.breaks.iter().filter(|it| it.order == order);
        let its: Vec<_> = its.collect();
        let most = |of: fn(&Broken) -> i128| its.iter().map(|it| of(it)).max();
        let opposite = its.iter().map(|it| it.opposite).sum();
        Some((most(|it| it.total)?, opposite, most(|it| it.price.abs())?))
    }

    fn raise(&mut self, new: Broken) {
        let known = self.find(new.what, new.order, &new.exec);
        match known {
            Some(known) if known.sides == new.sides => return,
            Some(_) => {}
            None => self.ask_once(new.order),
        }
        self.close(new.what, new.order, &new.exec);
        self.breaks.push(new);
    }

    /// A bust that names no fill.
    pub fn unplaced_bust(&mut self, order: u64, fields: &Fields<'_>) {
        let of = |tag: u32| fields.get(&tag).copied().unwrap_or_default().to_owned();
        self.raise(Broken {
            what: "bust",
            order,
            exec: of(17),
            sides: (of(55), of(32)),
            ..Broken::default()
        });
    }

    fn ask_once(&mut self, order: u64) {
        if !self.asking.contains(&order) {
            self.asking.push_back(order);
        }
    }

    fn close(&mut self, what: &str, order: u64, exec: &str) {
        self.breaks
            .retain(|it| (it.what, it.order, it.exec.as_str()) != (what, order, exec));
    }

    /// CumQty(14) as the venue last said it.
    fn cum_there(&self, number: u64) -> i128 {
        let filled = self.orders[&number].filled;
        let said = self.find("cum", number, "").and_then(|it| it.filled);
        said.map_or(filled, |said| said.max(filled))
    }

    /// Whether a fill cannot be believed; `true` for one that is known, too.
    pub fn is_doubtful(
        &mut self,
        number: u64,
        exec: &str,
        fill: (i128, i128),
        cum: Option<i128>,
    ) -> bool {
        let order = &self.orders[&number];
        let known = order.execs.iter().position(|it| it == exec);
        if let Some(at) = known {
            let was = order.sizes.get(at).copied();
            if was.is_some_and(|was| was != fill) {
                let exec = format!("{exec} {} {}", fill.0, fill.1);
                self.doubt("reused", number, exec, fill, cum);
            }
            return true;
        }
        let Some(said) = cum else {
            return false;
        };
        let total = order.filled + fill.0;
        if total <= self.cum_there(number).max(said) {
            return false;
        }
        self.doubt("uncounted", number, exec.to_owned(), fill, cum);
        true
    }

    fn doubt(
        &mut self,
        what: &'static str,
        number: u64,
        exec: String,
        fill: (i128, i128),
        filled: Option<i128>,
    ) {
        self.is_doubted = true;
        // The same again says nothing new.
        if self.find(what, number, &exec).is_some() {
            return;
        }
        let total = self.orders[&number].filled + fill.0;
        self.raise(Broken {
            what,
            order: number,
            exec,
            fill,
            filled,
            total,
            price: fill.1,
            ..Broken::default()
        });
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
        self.raise(Broken {
            what: "status",
            order: number,
            filled: cum,
            total: if OPEN.contains(status) {
                said + left
            } else {
                0
            },
            sides: (ours, format!("{status} {kind:?} {cum:?}")),
            ..Broken::default()
        });
        true
    }

    /// Whether a report was news: it changed its order. Canceled of what was made anew is none, nor is a restatement with
    /// fills that are missing.
    pub fn is_changed(&self, number: u64, was: &Order, kind: Kind, fields: &Fields<'_>) -> bool {
        let order = &self.orders[&number];
        let is_former = matches!(was.remade, Some(Remade::Former(..)))
            && order.is_open()
            && order.waiting.is_none()
            && matches!(kind, Kind::End(_));
        let lacks_fills =
            kind == Kind::Restated && whole(fields, 14).is_some_and(|it| it > order.filled);
        // A cancel goes out of what is closed here.
        let is_stray = matches!(order.remade, Some(Remade::Stray(_)));
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
            Kind::Bust | Kind::Terms => true,
            Kind::Rejected | Kind::Other => false,
            Kind::New | Kind::Fill | Kind::Replaced | Kind::End(_) | Kind::Restated => is_taken,
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
                self.missing(number, filled, cum);
            } else if cum < filled && closes {
                self.surplus(number, filled, cum);
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

    fn is_compared(&self, order: &Order, request: u64) -> bool {
        let is_past = order.again.is_some() && request < self.attempt(order.number);
        !order.is_unsent() && !is_past && order.remade.is_none()
    }

    fn missing(&mut self, number: u64, filled: i128, cum: i128) {
        self.raise(Broken {
            what: "cum",
            order: number,
            filled: Some(cum),
            total: cum,
            sides: (filled.to_string(), cum.to_string()),
            ..Broken::default()
        });
    }

    fn surplus(&mut self, number: u64, filled: i128, cum: i128) {
        self.raise(Broken {
            what: "surplus",
            order: number,
            filled: Some(cum),
            opposite: filled - cum,
            sides: (filled.to_string(), cum.to_string()),
            ..Broken::default()
        });
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
        if cum > filled && !(is_end && waits) {
            if is_status || cum >= self.cum_there(number) {
                self.missing(number, filled, cum);
            }
        } else if cum < filled && (is_status || is_end) {
            self.surplus(number, filled, cum);
        }
        if self.breaks.is_empty() {
            return;
        }
        if kind == Kind::Fill && cum < filled {
            self.ask_once(number);
        }
        if self.cum_there(number) <= filled || (is_status && cum <= filled) {
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
            let mut its = self.breaks.iter().filter(|it| it.order == number);
            let Some(found) = its
                .find(|it| ["uncounted", "reused"].contains(&it.what))
                .cloned()
            else {
                return;
            };
            let is_counted = filled + found.fill.0 <= cum;
            if !is_counted && cum != filled {
                return;
            }
            self.close(found.what, number, &found.exec);
            if is_counted && !self.orders[&number].execs.contains(&found.exec) {
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
                self.raise(Broken {
                    what: "quantity",
                    order: number,
                    filled: whole(fields, 14),
                    total: if order.is_open() { said } else { 0 },
                    sides: (order.quantity.to_string(), said.to_string()),
                    ..Broken::default()
                });
            }
        }
        let said = super::venue::number_of(fields, 44);
        if let Some(said) = said.filter(|it| it.0 != 0 && "24".contains(order.sent_kind())) {
            let scaled = said.scaled(self.world.symbols[order.symbol].scale).ok();
            if scaled == Some(order.price) || asked.is_some_and(|it| Some(it.1) == scaled) {
                self.close("price", number, "");
            } else {
                self.raise(Broken {
                    what: "price",
                    order: number,
                    filled: whole(fields, 14),
                    price: scaled.unwrap_or(order.price),
                    sides: (order.price.to_string(), Number::text(said)),
                    ..Broken::default()
                });
            }
        }
        if let (Some(cum), Some(status)) = (whole(fields, 14), status(fields)) {
            self.agree_on_status(&order, kind, (status, cum), asked.map(|it| it.0));
        }
    }

    fn agree_on_status(
        &mut self,
        order: &Order,
        kind: Kind,
        (status, cum): (char, i128),
        asked: Option<i128>,
    ) {
        let number = order.number;
        let mut broken = Broken {
            what: "status",
            order: number,
            filled: Some(cum),
            sides: (order.status().to_string(), format!("{status} {cum}")),
            ..Broken::default()
        };
        if matches!(order.fate, Fate::Over(how) if how != '2') {
            if CLOSED.contains(status) {
                self.close("status", number, "");
            } else if OPEN.contains(status) {
                broken.total = cum + (order.quantity - cum).max(0);
                self.raise(broken);
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
            '3' => is_working && !is_word && kind != Kind::Fill,
            'B' => is_working && cum < quantity,
            '6' | 'E' => is_working && order.asked.is_none(),
            _ => false,
        };
        if is_wrong {
            self.raise(broken);
        } else {
            self.close("status", number, "");
        }
    }

    /// OrdStatus(39) of a reject, and a reject of what the venue has done; `was_asked` when it answers a request.
    pub fn reject_agrees(
        &mut self,
        (number, request): (u64, u64),
        was_asked: bool,
        fields: &Fields<'_>,
    ) {
        let Some(order) = self.orders.get(&number) else {
            return;
        };
        if !self.is_compared(order, request)
            || order.waiting.is_some()
            || order.fate == Fate::Lapsed
        {
            return;
        }
        // OrdStatus(39) of an ExecutionReport(8) is that of the request.
        let status = status(fields).filter(|_| !fields.contains_key(&150));
        let is = |tag: u32| fields.get(&tag) == Some(&"1");
        let is_gone =
            !fields.contains_key(&150) && (is(102) || (is(380) && !fields.contains_key(&102)));
        let is_open = order.is_open();
        let is_done = match order.fate {
            Fate::Over('4') => request > order.current,
            _ => request == order.current && request != number,
        };
        let is_wrong = match status {
            None => !was_asked && is_done,
            Some('0') => !is_open || order.filled > 0,
            Some('1') => !is_open || order.filled == 0,
            Some('2') => order.filled < order.quantity,
            Some('3') => is_open && order.fate != Fate::Done,
            Some('4' | 'C') => is_open || order.fate == Fate::Over('2'),
            Some('8') => is_open,
            Some('6' | 'E') => !is_open || order.asked.is_none(),
            Some(other) => OPEN.contains(other) && !is_open,
        };
        if !(is_wrong || is_gone && is_open) {
            return;
        }
        let may_trade = !is_open && !status.is_some_and(|it| "2348C".contains(it));
        let ours = order.status().to_string();
        let total = if may_trade { order.quantity } else { 0 };
        let said = match (is_gone, status) {
            (true, _) => "gone".to_owned(),
            (false, status) => format!("{status:?} in a reject"),
        };
        self.raise(Broken {
            what: "status",
            order: number,
            total,
            sides: (ours, said),
            ..Broken::default()
        });
    }

    /// The venue rejects an order that it has acknowledged.
    pub fn refused_late(&mut self, number: u64, request: u64) {
        let Some(order) = self.orders.get(&number) else {
            return;
        };
        let is_live = order.is_open() || order.fate == Fate::Over('2');
        if !is_live || !self.is_compared(order, request) {
            return;
        }
        let ours = order.status().to_string();
        self.raise(Broken {
            what: "status",
            order: number,
            sides: (ours, "rejects the order".to_owned()),
            ..Broken::default()
        });
    }
}
