//! [`OrderLinks`]: assigns messages to orders, even when ids are reused.
//!
//! A request that introduces a ClOrdID binds the id to its order, within its session, until another request
//! introduces the same id again. Reports bind OrderIDs and ExecIDs in the same way. The two orders of a gateway (the
//! client's and the venue's) become one order in three cases: a journal record contains messages of both, a ClOrdID
//! is forwarded unchanged, or both have the same OrderID.

use std::collections::HashMap;
use std::rc::Rc;

use crate::entry::LogPlace;
use crate::index_key::{IdKind, pair};
use crate::order_look::{NumberedOrder, Opening, OrderCause, OrderLook, is_same_time};
use crate::order_step::{OrderFields, OrderPart, OrderStep};

/// Maximum number of orders with the same id that are compared when an id was reused.
const MOST_RIVALS: usize = 64;

/// An order of a client or of a venue. When the orders of both sides of a gateway are linked, one `Life` stands for
/// both.
#[derive(Debug, Default)]
pub(crate) struct Life {
    /// The order to which this order was linked, if any; that order stands for both.
    part_of: Option<usize>,
    /// Sender and target of each request that opened the order.
    opened: Vec<[Vec<u8>; 2]>,
    /// The sessions of the order; both directions of a session are the same.
    sessions: Vec<u64>,
    /// The sessions in which the order has an OrderID.
    named_in: Vec<u64>,
    /// Positions of the messages of the order.
    pub(crate) steps: Vec<usize>,
    pub(crate) ids: Vec<(IdKind, Vec<u8>)>,
    /// Whether the order's last report is Pending New.
    is_pending: bool,
}

/// The order to which an id is bound.
#[derive(Debug)]
struct Bound {
    life: usize,
    by: Option<Request>,
    /// SendingTime of the first message with the id.
    sent: Vec<u8>,
    /// Whether a report of the order has had the id since it was bound.
    is_reported: bool,
    /// The earlier binding of the id: the order, the request that introduced the id for that order, and whether a
    /// report had the id. The earlier binding is needed when the new request is rejected.
    before: Option<(usize, Option<Request>, bool)>,
}

/// MsgSeqNum of a request that introduced an id, and the original SendingTime of the request.
type Request = (Option<u64>, Vec<u8>);

/// Orders, and the ids that are bound to them.
#[derive(Debug, Default)]
pub(crate) struct OrderLinks {
    lives: Vec<Life>,
    /// Bindings by session, kind and id.
    bound: HashMap<(u64, IdKind, Vec<u8>), Bound>,
    /// All orders that have had an id; the latest is last.
    had: HashMap<(u64, IdKind, Vec<u8>), Vec<usize>>,
    /// For each OrderID(37), the latest order with it, in any session.
    order_ids: HashMap<Vec<u8>, usize>,
    /// Requests that opened orders, by ClOrdID.
    openings: HashMap<Vec<u8>, Vec<Opening>>,
    /// Messages by sender and target, and MsgSeqNum.
    numbers: HashMap<(u64, u64), NumberedOrder>,
    /// By file.
    causes: HashMap<String, Rc<OrderCause>>,
}

impl OrderLinks {
    /// Processes these messages, in the order in which they were written.
    pub(crate) fn of(steps: &[OrderStep]) -> Self {
        let mut links = Self::default();
        for (at, step) in steps.iter().enumerate() {
            links.add(at, step);
        }
        links
    }

    /// The orders that had this ClOrdID or OrderID, the earliest first.
    pub(crate) fn lives(mut self, asked: &[u8]) -> Vec<Life> {
        for at in 0..self.lives.len() {
            let whole = self.whole(at);
            if whole != at {
                let part = std::mem::take(&mut self.lives[at]);
                self.lives[at].part_of = Some(whole);
                self.lives[whole].steps.extend(part.steps);
                self.lives[whole].ids.extend(part.ids);
            }
        }
        let is_asked = |(kind, id): &(IdKind, Vec<u8>)| *kind != IdKind::Execution && id == asked;
        let lives = self.lives.into_iter();
        let mut lives: Vec<Life> = lives
            .filter(|life| life.part_of.is_none() && life.ids.iter().any(is_asked))
            .collect();
        for life in &mut lives {
            life.steps.sort_unstable();
            life.steps.dedup();
        }
        lives.retain(|life| !life.steps.is_empty());
        lives.sort_by_key(|life| life.steps.first().copied());
        lives
    }

    fn add(&mut self, at: usize, step: &OrderStep) {
        let fields = OrderFields::of(&step.bytes);
        let [there, back] = [
            pair(fields.sender, fields.target),
            pair(fields.target, fields.sender),
        ];
        let session = there.min(back);
        let is_caused =
            |cause: &&Rc<OrderCause>| cause.place == step.place && cause.session != session;
        let cause = self.causes.get(&step.file).filter(is_caused).cloned();
        let look = OrderLook {
            step,
            session,
            cause,
            is_repeat: fields.is_duplicate || step.is_repeat(),
            fields,
        };
        let number = look.fields.number.map(|number| (there, number));
        let known = number.and_then(|number| self.numbers.get(&number));
        let same = known.filter(|known| look.is_again(known));
        let same = same.map(|known| known.lives.clone());
        let lives = match (look.fields.part, same) {
            (_, Some(lives)) => self.again(&look, lives),
            (OrderPart::Opens, None) => self.opens(&look),
            (OrderPart::Changes, None) => self.changes(&look),
            (OrderPart::Answers, None) => vec![self.answers(&look)],
            (OrderPart::Rejects, None) => self.rejects(&look, back),
            (OrderPart::Names, None) => self.names(&look),
        };
        if lives.is_empty() {
            return;
        }
        for life in &lives {
            self.lives[*life].steps.push(at);
        }
        if step.is_cause {
            let cause = OrderCause::new(&look, lives.clone());
            self.causes.insert(step.file.clone(), Rc::new(cause));
        }
        if let Some(number) = number {
            self.numbers
                .insert(number, NumberedOrder::new(&look.fields, lives));
        }
    }

    /// The order that stands for an order after it was linked.
    fn whole(&self, life: usize) -> usize {
        let mut at = life;
        while let Some(next) = self.lives[at].part_of {
            at = next;
        }
        at
    }

    /// A request that introduced an id was rejected, so the id is bound to its previous order again.
    fn refused(&mut self, session: u64, id: &[u8], number: Option<u64>) {
        let key = (session, IdKind::Client, id.to_vec());
        let Some(bound) = self.bound.get_mut(&key) else {
            return;
        };
        let by = bound.by.as_ref().and_then(|(number, _)| *number);
        if (number.is_none() || by == number)
            && let Some(before) = bound.before.take()
        {
            (bound.life, bound.by, bound.is_reported) = before;
        }
    }

    fn rejects(&mut self, look: &OrderLook<'_>, back: u64) -> Vec<usize> {
        let rejected = look.fields.rejected;
        let refused = rejected.and_then(|number| self.numbers.get(&(back, number)).cloned());
        if let Some(refused) = refused {
            for id in &refused.ids {
                self.refused(look.session, id, rejected);
            }
            return refused.lives;
        }
        look.caused(0, OrderPart::is_response).into_iter().collect()
    }

    fn new_life(&mut self, look: &OrderLook<'_>) -> usize {
        self.lives.push(Life {
            sessions: vec![look.session],
            ..Life::default()
        });
        self.lives.len() - 1
    }

    fn join(&mut self, one: usize, other: usize) {
        let [one, other] = [self.whole(one), self.whole(other)];
        if one == other {
            return;
        }
        let part = &mut self.lives[other];
        part.part_of = Some(one);
        let opened = std::mem::take(&mut part.opened);
        let sessions = std::mem::take(&mut part.sessions);
        let named_in = std::mem::take(&mut part.named_in);
        let whole = &mut self.lives[one];
        whole.opened.extend(opened);
        whole.sessions.extend(sessions);
        whole.named_in.extend(named_in);
    }

    /// Whether two orders may be the two sides of one gateway order. Two orders are not the two sides if a party sent
    /// both, if a party received both, or if a session has both.
    fn may_join(&self, one: usize, other: usize) -> bool {
        let [one, other] = [one, other].map(|life| &self.lives[self.whole(life)]);
        let shares = |session| other.sessions.contains(session);
        let crosses = |[from, to]: &[Vec<u8>; 2]| {
            let mut others = other.opened.iter();
            others.any(|[sender, target]| sender == from || target == to)
        };
        !one.sessions.iter().any(shares) && !one.opened.iter().any(crosses)
    }

    /// Whether the receiver of one order is the sender of the other.
    fn meet(&self, one: usize, other: usize) -> bool {
        let [one, other] = [one, other].map(|life| &self.lives[self.whole(life)].opened);
        one.iter().any(|[from, to]| {
            let mut others = other.iter();
            others.any(|[sender, target]| sender == to || target == from)
        })
    }

    /// For each of two orders, the number of requests that opened it.
    fn openings_of(&self, one: usize, other: usize) -> [usize; 2] {
        [one, other].map(|life| self.lives[self.whole(life)].opened.len())
    }

    fn find(&self, session: u64, kind: IdKind, id: &[u8]) -> Option<usize> {
        let bound = self.bound.get(&(session, kind, id.to_vec()))?;
        Some(bound.life)
    }

    /// The binding of a message's ClOrdID.
    fn bound_client(&self, look: &OrderLook<'_>) -> Option<&Bound> {
        let id = look.fields.client.first()?.to_vec();
        self.bound.get(&(look.session, IdKind::Client, id))
    }

    /// Binds this id to the order from now on. `by` is the message, if it is a request that introduces the id.
    fn bind(
        &mut self,
        look: &OrderLook<'_>,
        kind: IdKind,
        id: &[u8],
        life: usize,
        is_request: bool,
    ) {
        let fields = &look.fields;
        let sent = fields.first_sent().to_vec();
        let by = is_request.then(|| (fields.number, sent.clone()));
        let key = (look.session, kind, id.to_vec());
        let before = self.bound.remove(&key).filter(|_| is_request);
        let before = before.map(|bound| (bound.life, bound.by, bound.is_reported));
        let bound = Bound {
            life,
            by,
            sent,
            is_reported: false,
            before,
        };
        self.bound.insert(key, bound);
        self.has(look.session, kind, id, life);
    }

    /// Binds an id that is not bound yet.
    fn bind_new(&mut self, look: &OrderLook<'_>, kind: IdKind, id: Option<&[u8]>, life: usize) {
        let Some(id) = id else {
            return;
        };
        if self.find(look.session, kind, id).is_none() {
            self.bind(look, kind, id, life, false);
        } else {
            self.has(look.session, kind, id, life);
        }
    }

    fn has(&mut self, session: u64, kind: IdKind, id: &[u8], life: usize) {
        self.lives[life].ids.push((kind, id.to_vec()));
        let had = self.had.entry((session, kind, id.to_vec())).or_default();
        if had.last() != Some(&life) {
            had.push(life);
        }
    }

    /// The order of an id that this same request has introduced before, perhaps in another log.
    fn brought_on(&mut self, look: &OrderLook<'_>, id: &[u8]) -> Option<usize> {
        let key = (look.session, IdKind::Client, id.to_vec());
        let bound = self.bound.get_mut(&key)?;
        let by = (look.fields.number, look.fields.first_sent().to_vec());
        let is_first = bound.by.is_none() && !by.1.is_empty() && by.1 <= bound.sent;
        if is_first {
            // A report was read before the request that it answers.
            bound.by = Some(by);
            let (life, ends) = (bound.life, look.ends());
            let whole = self.whole(life);
            if look.fields.part == OrderPart::Opens {
                self.lives[whole].opened.push(ends);
            }
            return Some(life);
        }
        let is_repeat = || match (look.fields.original_sent(), &bound.by) {
            (None, _) => look.is_repeat,
            (Some(sent), Some((_, by))) => look.is_repeat && is_same_time(sent, by),
            (Some(_), None) => false,
        };
        let is_same = bound.by.as_ref() == Some(&by) || look.fields.is_resend || is_repeat();
        is_same.then_some(bound.life)
    }

    /// Handles a message that was seen before: it was resent, or is in another log.
    fn again(&mut self, look: &OrderLook<'_>, lives: Vec<usize>) -> Vec<usize> {
        if let [life] = lives[..] {
            for (kind, id) in look.fields.ids() {
                self.bind_new(look, kind, Some(id), life);
            }
            let part = look.fields.part;
            let caused = look.caused(0, |other| other.goes_with(part));
            self.join_by_record(look, caused.filter(|_| !look.is_repeat), life);
        }
        lives
    }

    fn opens(&mut self, look: &OrderLook<'_>) -> Vec<usize> {
        let ids = look.fields.client.clone();
        let lives = ids.iter().enumerate().map(|(place, id)| {
            if let Some(life) = self.brought_on(look, id) {
                return life;
            }
            let life = self.new_life(look);
            self.lives[life].opened.push(look.ends());
            self.bind(look, IdKind::Client, id, life, true);
            let passed_on = || self.passed_on(look, life, id);
            if let Some(other) = look.caused(place, OrderPart::is_request).or_else(passed_on) {
                self.join(other, life);
            }
            let opening = Opening {
                sender: look.fields.sender.to_vec(),
                target: look.fields.target.to_vec(),
                life,
            };
            self.openings.entry(id.to_vec()).or_default().push(opening);
            self.bind_new(look, IdKind::Client, look.fields.secondary, life);
            life
        });
        lives.collect()
    }

    /// The order on the other side of a gateway that forwards ids unchanged, or in SecondaryClOrdID(526).
    fn passed_on(&self, look: &OrderLook<'_>, life: usize, id: &[u8]) -> Option<usize> {
        let ids = [Some(id), look.fields.secondary].into_iter().flatten();
        let mut openings = ids
            .filter_map(|id| self.openings.get(id))
            .flat_map(|all| all.iter().rev());
        let found = openings.find(|one| {
            one.target == look.fields.sender
                && one.sender != look.fields.target
                && self.may_join(one.life, life)
        })?;
        Some(found.life)
    }

    fn changes(&mut self, look: &OrderLook<'_>) -> Vec<usize> {
        let count = look.fields.client.len().max(1);
        (0..count).map(|place| self.change(look, place)).collect()
    }

    /// The order of the ClOrdID at this index. In a cross order, each side has a ClOrdID of its own.
    fn change(&mut self, look: &OrderLook<'_>, place: usize) -> usize {
        let own = look.fields.client.get(place).copied();
        if let Some(life) = own.and_then(|id| self.brought_on(look, id)) {
            return life;
        }
        let original = look.fields.originals.get(place).copied();
        let is_cross = look.fields.client.len() > 1;
        let session = look.session;
        let mut orders = look.fields.orders.iter().filter(|_| !is_cross);
        let by_order = orders.find_map(|id| self.find(session, IdKind::Order, id));
        let by_id = original.and_then(|id| self.find(session, IdKind::Client, id));
        let caused = look.caused(place, OrderPart::is_request);
        let known = by_id.or(by_order).or(caused);
        let life = known.unwrap_or_else(|| self.new_life(look));
        if let Some(id) = own {
            self.bind(look, IdKind::Client, id, life, true);
        }
        self.bind_new(look, IdKind::Client, original, life);
        if !is_cross {
            self.bind_new(look, IdKind::Client, look.fields.secondary, life);
            for id in &look.fields.orders {
                self.lives[life].ids.push((IdKind::Order, id.to_vec()));
            }
        }
        self.join_by_record(look, caused, life);
        life
    }

    /// Links the orders of an inbound and a forwarded message, because one record contains both messages.
    fn join_by_record(&mut self, look: &OrderLook<'_>, caused: Option<usize>, life: usize) {
        let Some(other) = caused.filter(|other| self.whole(*other) != self.whole(life)) else {
            return;
        };
        // An order that is linked already cannot be linked to a third one.
        let is_open = self.openings_of(other, life).into_iter().all(|it| it < 2);
        if is_open && look.cause.is_some() && self.may_join(other, life) {
            self.join(other, life);
        }
    }

    fn answers(&mut self, look: &OrderLook<'_>) -> usize {
        let session = look.session;
        let fields = &look.fields;
        let client = |id: &[u8]| self.find(session, IdKind::Client, id);
        let own = fields.client.first().copied();
        let original = fields.original();
        let mut orders = fields.orders.iter();
        let by_order = orders.find_map(|id| self.find(session, IdKind::Order, id));
        let is_another = by_order.is_none() && self.begins_another(look);
        let by_client = own.and_then(client).or(original.and_then(client));
        let by_client = by_client.filter(|_| !is_another);
        let executed = |id| self.find(session, IdKind::Execution, id);
        let by_execution = fields.refers.and_then(executed);
        let caused = look.caused(0, OrderPart::is_response);
        // The record contains the inbound execution and its forwarded copy.
        let passed_on = caused.filter(|life| self.passes_on(look, *life));
        if let Some(whole) = passed_on.map(|life| self.whole(life))
            && !self.lives[whole].sessions.contains(&session)
        {
            self.lives[whole].sessions.push(session);
        }
        let named = [by_client, by_order, by_execution];
        let known = passed_on.or_else(|| self.agreed(look, named, caused));
        let life = known.unwrap_or_else(|| self.new_life(look));
        let whole = self.whole(life);
        self.lives[whole].is_pending = fields.stage == Some(b'A');
        self.join_by_record(look, caused, life);
        if let Some(id) = own.filter(|_| is_another) {
            self.bind(look, IdKind::Client, id, life, false);
        }
        for id in fields.orders.clone() {
            self.bind(look, IdKind::Order, id, life, false);
            self.join_by_order_id(look, id, life);
        }
        if let Some(id) = fields.execution {
            self.bind(look, IdKind::Execution, id, life, false);
        }
        if let Some(id) = fields.refers {
            self.lives[life].ids.push((IdKind::Execution, id.to_vec()));
        }
        for id in [own, original, fields.secondary] {
            self.bind_new(look, IdKind::Client, id, life);
        }
        if let Some(id) = own {
            if fields.is_refusal {
                self.refused(session, id, None);
            }
            let bound = self.bound.get_mut(&(session, IdKind::Client, id.to_vec()));
            if let Some(bound) = bound.filter(|bound| bound.life == life) {
                bound.is_reported = true;
            }
        }
        life
    }

    /// Whether the inbound execution was forwarded to a session of its order, or to a session in which no request had
    /// the id.
    fn passes_on(&self, look: &OrderLook<'_>, life: usize) -> bool {
        let is_asked = |id: &&[u8]| {
            let bound = self.bound.get(&(look.session, IdKind::Client, id.to_vec()));
            bound.is_some_and(|bound| bound.by.is_some())
        };
        let sessions = &self.lives[self.whole(life)].sessions;
        let fields = &look.fields;
        let mut ids = fields.client.iter().chain(&fields.originals);
        look.passes_execution_on() && (sessions.contains(&look.session) || !ids.any(is_asked))
    }

    /// For a session without requests: whether a report with a new OrderID is the first report of another order with
    /// the same ClOrdID. An order that is Pending New may still get another OrderID.
    fn begins_another(&self, look: &OrderLook<'_>) -> bool {
        let fields = &look.fields;
        let bound = self.bound_client(look);
        let is_other = |bound: &Bound| {
            let life = &self.lives[self.whole(bound.life)];
            bound.by.is_none() && !life.is_pending && life.named_in.contains(&look.session)
        };
        let is_first = fields.is_new() && fields.originals.is_empty();
        is_first && !fields.orders.is_empty() && bound.is_some_and(is_other)
    }

    /// Whether the order has had the ClOrdID of the report.
    fn has_had(&self, look: &OrderLook<'_>, life: usize) -> bool {
        let life = self.whole(life);
        look.fields.client.iter().any(|id| {
            let key = (look.session, IdKind::Client, id.to_vec());
            let had = self.had.get(&key).into_iter().flatten().rev();
            had.take(MOST_RIVALS).any(|it| self.whole(*it) == life)
        })
    }

    /// The order of a report according to its ids ClOrdID, OrderID and ExecRefID. When the ids lead to several
    /// orders, some id was reused, and the order that has had most of the ids is taken.
    fn agreed(
        &self,
        look: &OrderLook<'_>,
        named: [Option<usize>; 3],
        caused: Option<usize>,
    ) -> Option<usize> {
        let whole = |life: usize| self.whole(life);
        let mut all = named.into_iter().flatten();
        let first = all.next().or(caused)?;
        let agree = all.all(|life| whole(life) == whole(first));
        let fields = &look.fields;
        // A request may have used the id by mistake while the order that owns it is being executed.
        if let Some(life) = named[1]
            && fields.is_later()
            && fields.refers.is_none()
            && self.has_had(look, life)
        {
            return Some(life);
        }
        let is_new = || {
            let client = named[0].map(|life| &self.lives[whole(life)]);
            let session = &look.session;
            client.is_some_and(|life| !life.named_in.contains(session))
        };
        // The request that introduced the ClOrdID has no report yet.
        let is_first = || {
            let bound = self.bound_client(look);
            fields.is_new() && bound.is_some_and(|it| it.by.is_some() && !it.is_reported)
        };
        // The first report of an order gives the order its OrderID.
        if agree || fields.refers.is_none() && (is_new() || is_first()) {
            return Some(first);
        }
        let ids = fields.ids().filter(|(_, id)| fields.execution != Some(*id));
        let mut counts: Vec<(usize, usize)> = Vec::new();
        for (kind, id) in ids {
            let key = (look.session, kind, id.to_vec());
            let had = self.had.get(&key).into_iter().flatten();
            let mut seen: Vec<usize> = had.rev().take(MOST_RIVALS).map(|it| whole(*it)).collect();
            seen.sort_unstable();
            seen.dedup();
            for life in seen {
                match counts.iter_mut().find(|(known, _)| *known == life) {
                    Some((_, count)) => *count += 1,
                    None => counts.push((life, 1)),
                }
            }
        }
        let most = counts.iter().map(|(_, count)| *count).max()?;
        let has_most = |life: &usize| counts.contains(&(whole(*life), most));
        let mut rivals = [caused].into_iter().chain(named).flatten();
        let latest = || counts.iter().filter(|it| it.1 == most).map(|it| it.0).max();
        rivals.find(has_most).or_else(latest)
    }

    /// Links the orders of both sides of a gateway, which have the same OrderID. For a journal, the records decide
    /// instead.
    fn join_by_order_id(&mut self, look: &OrderLook<'_>, id: &[u8], life: usize) {
        let whole = self.whole(life);
        if !self.lives[whole].named_in.contains(&look.session) {
            self.lives[whole].named_in.push(look.session);
        }
        if let Some(other) = self.order_ids.insert(id.to_vec(), life)
            && self.whole(other) != whole
        {
            let [one, two] = self.openings_of(other, life);
            let is_journal = matches!(look.step.place, LogPlace::Journal { .. });
            let has_one = !is_journal && one.min(two) < 2;
            let is_open = one.min(two) == 0 || has_one && self.meet(other, life);
            if is_open && self.may_join(other, life) {
                self.join(other, life);
            }
        }
    }

    /// The orders of a message, one for each of its ids.
    fn names(&mut self, look: &OrderLook<'_>) -> Vec<usize> {
        let mut found = Vec::new();
        for (kind, id) in look.fields.ids() {
            if let Some(life) = self.find(look.session, kind, id) {
                self.lives[life].ids.push((kind, id.to_vec()));
                found.push(life);
            }
        }
        if found.is_empty() {
            let life = self.new_life(look);
            for (kind, id) in look.fields.ids() {
                self.bind(look, kind, id, life, false);
            }
            found.push(life);
        }
        found
    }
}
