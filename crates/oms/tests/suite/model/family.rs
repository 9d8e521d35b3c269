//! Model: parent orders, which stay here, and the child orders that are sent for them.

use super::{Fate, Fields, Model, Order, TOO_LATE, Why};

/// What a new order is in a family.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Role {
    Parent,
    Child(u64),
}

const UNFIT: Why = Why::Other(99, 2);

impl Model {
    /// What HandlInst(21), RefOrderID(1080) and tag 9705 make of an order.
    pub fn role(
        &self,
        client: usize,
        fields: &Fields<'_>,
        (kind, tif, is_held): (char, char, bool),
    ) -> Result<Option<Role>, Why> {
        let most = self.world.clients[client].parents;
        let own = fields.get(&9705);
        let named = own.or(fields.get(&1080).filter(|_| most.is_some()));
        if let Some(parent) = named {
            most.ok_or(Why::Rc("RC2", 0))?;
            return Ok(Some(Role::Child(parent.parse().unwrap())));
        }
        let Some(most) = most.filter(|_| fields.get(&21) == Some(&"3")) else {
            return Ok(None);
        };
        if !"12".contains(kind) || "34".contains(tif) {
            return Err(Why::Other(11, 2));
        }
        let open = self.orders.values().filter(|it| it.fate == Fate::Parent);
        if open.filter(|it| it.client == client).count() >= most {
            return Err(Why::Other(3, 2));
        }
        if is_held || fields.contains_key(&9702) {
            return Err(Why::Other(11, 2));
        }
        Ok(Some(Role::Parent))
    }

    fn children(&self, parent: u64) -> impl Iterator<Item = &Order> {
        let open = self.orders.values().filter(|order| order.is_open());
        open.filter(move |order| order.parent == Some(parent))
    }

    fn open_children(&self, parent: u64) -> Vec<u64> {
        self.children(parent).map(|child| child.number).collect()
    }

    /// Quantity that the children of a parent may still fill, as their venues say also those that are closed here.
    pub fn held_by_children(&self, parent: u64) -> i128 {
        let all = self.orders.values();
        let all = all.filter(|it| it.parent == Some(parent));
        let all = all.filter(|it| it.is_open() || self.is_broken(it.number));
        all.map(|it| self.reserved(it).0).sum()
    }

    /// What children take over of the reservation of their parent with so much more.
    pub fn released(&self, parent: u64, more: i128) -> (i128, i128) {
        let Some(order) = self.orders.get(&parent) else {
            return (0, 0);
        };
        let (own, value) = self.reserved(order);
        let left = (own - more).max(0);
        (
            own - left,
            value - self.worth(order.symbol, order.hold * left),
        )
    }

    /// A parent that takes more children.
    fn open_parent(&self, number: u64, client: usize) -> Result<&Order, Why> {
        let parent = self.orders.get(&number).filter(|it| {
            it.fate == Fate::Parent
                && it.client == client
                && it.asked.is_none()
                && !it.withdrawn
                && (number > self.yesterday || it.outlives(self.day))
        });
        parent.ok_or(Why::Other(5, 2))
    }

    fn is_within(parent: &Order, price: i128) -> bool {
        match parent.kind {
            '2' if parent.buys() => price <= parent.price,
            '2' => price >= parent.price,
            _ => true,
        }
    }

    /// Whether an order may be a child of its parent.
    pub fn check_child(&self, child: &Order) -> Result<(), Why> {
        let Some(parent) = child.parent else {
            return Ok(());
        };
        let parent = self.open_parent(parent, child.client)?;
        let same = |order: &Order| (order.account, order.symbol, order.side, order.effect);
        let lasts = match (child.tif, parent.tif) {
            ('1', of) => of == '1',
            ('6', '6') => child.until <= parent.until,
            ('6', of) => of == '1',
            _ => true,
        };
        if same(child) != same(parent)
            || (parent.kind == '2' && !"24".contains(child.kind))
            || !Self::is_within(parent, child.price)
            || !lasts
        {
            return Err(UNFIT);
        }
        let left = parent.quantity - parent.filled - self.held_by_children(parent.number);
        if child.quantity > left {
            return Err(Why::Other(13, 2));
        }
        Ok(())
    }

    /// Whether a replace may make a parent or a child so large, at this price.
    pub fn check_family(&self, order: &Order, quantity: i128, price: i128) -> Result<(), Why> {
        if order.fate == Fate::Parent {
            let least = order.filled + self.held_by_children(order.number);
            return if quantity < least { Err(UNFIT) } else { Ok(()) };
        }
        let known = order.parent.and_then(|parent| self.orders.get(&parent));
        let Some(parent) = known else {
            return Ok(());
        };
        if price != order.price && !Self::is_within(parent, price) {
            return Err(UNFIT);
        }
        let more = quantity - order.quantity;
        if more > 0 {
            let parent = self.open_parent(parent.number, order.client)?;
            let left = parent.quantity - parent.filled - self.held_by_children(parent.number);
            if more > left {
                return Err(Why::Other(13, 2));
            }
        }
        Ok(())
    }

    /// A fill of a child counts for its parent.
    pub fn parent_filled(&mut self, child: u64, quantity: i128, price: i128) {
        let parent = self.orders[&child].parent;
        let Some(order) = parent.and_then(|parent| self.orders.get_mut(&parent)) else {
            return;
        };
        let number = order.number;
        order.filled += quantity;
        order.paid = order.paid.saturating_add(price * quantity);
        let is_filled = order.is_open() && order.filled >= order.quantity;
        if is_filled {
            order.fate = Fate::Over('2');
        }
        let asked = order.asked.as_ref().map(|asked| asked.number);
        self.steps.push("filled");
        self.write_execution(number, 'F', None, &[(32, quantity), (31, price)]);
        if is_filled {
            self.over(number);
        }
        if self.orders[&number].is_open() {
            return;
        }
        if let Some(request) = asked {
            self.steps.push("too-late");
            self.decline(request, &TOO_LATE);
        }
        self.withdraw_children(number);
    }

    /// Whether one was open.
    pub fn withdraw_children(&mut self, parent: u64) -> bool {
        let children = self.open_children(parent);
        for child in &children {
            self.orders.get_mut(child).unwrap().withdrawn = true;
        }
        self.cancelling.extend(&children);
        if !children.is_empty() {
            self.steps.push("children-cancelled");
        }
        !children.is_empty()
    }

    /// A parent is to be cancelled; its children are cancelled on their own.
    pub fn cancel_parent(&mut self, number: u64) {
        if self.open_children(number).is_empty() {
            let asked = self.orders[&number].asked.as_ref().map(|it| it.number);
            self.end(number, '4', asked, "");
        }
    }

    /// A child has ended.
    pub fn settle_later(&mut self, child: u64) {
        if let Some(parent) = self.orders[&child].parent {
            self.settling.push_back(parent);
        }
    }

    /// Closes the next parent without open children that must not go on; false when none is to be looked at.
    pub fn settle_parent(&mut self) -> bool {
        let Some(number) = self.settling.pop_front() else {
            return false;
        };
        let known = self.orders.get(&number);
        let Some(order) = known.filter(|it| it.fate == Fate::Parent) else {
            return true;
        };
        if !self.open_children(number).is_empty() {
            return true;
        }
        let is_over = match self.rolls_to {
            Some(day) => !order.outlives(day),
            None => number <= self.yesterday && !order.outlives(self.day),
        };
        if order.asked.is_some() || self.must_go(number) {
            self.steps.push("cancelled");
            self.cancel_parent(number);
        } else if is_over {
            self.steps.push("expired");
            self.end(number, 'C', None, "end of the trading day");
        }
        true
    }

    /// All parents are looked at after a start.
    pub fn settle_all_later(&mut self) {
        let parents = self.orders.values().filter(|order| order.is_parent);
        self.settling = parents.map(|order| order.number).collect();
    }

    /// A parent with open children expires after them.
    pub fn waits_for_children(&self, number: u64) -> bool {
        self.children(number).next().is_some()
    }
}
