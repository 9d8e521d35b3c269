//! Model: order numbers of pools.

use std::collections::BTreeSet;

use super::{Fields, Model, Why};

/// A pool of order numbers, as the settings have it.
#[derive(Clone, Copy, Debug)]
pub struct Pool {
    pub prefix: &'static str,
    pub digits: &'static str,
    pub width: usize,
    pub first: usize,
    pub last: usize,
    pub tag: u32,
    pub each_day: bool,
}

/// Numbers used since the pool started: all, and the last one not chosen by a client.
#[derive(Clone, Debug, Default)]
pub struct Given {
    all: BTreeSet<usize>,
    last: Option<usize>,
}

impl Pool {
    fn write(&self, mut number: usize) -> String {
        let digits: Vec<char> = self.digits.chars().collect();
        let mut text = String::new();
        for _ in 0..self.width {
            text.insert(0, digits[number % digits.len()]);
            number /= digits.len();
        }
        format!("{}{text}", self.prefix)
    }
}

impl Model {
    /// The pool of an order: of its client, or of its lines.
    pub fn pool_of(&self, client: usize, symbol: usize) -> Option<usize> {
        let lines = self.world.symbols[symbol].lines;
        let group = self.world.groups.iter().position(|it| *it == lines);
        let of_group = || *self.world.pool_of_group.get(group?)?;
        self.world.clients[client].pool.or_else(of_group)
    }

    /// The field and number of a pool that an order has.
    pub fn pool_number(&self, number: u64) -> Option<(u32, &str)> {
        let (pool, text) = self.orders[&number].pool_number.as_ref()?;
        Some((self.world.pools[*pool].tag, text))
    }

    /// The number that a client names: its pool and which.
    pub fn own_number(
        &self,
        (client, symbol): (usize, usize),
        fields: &Fields<'_>,
    ) -> Result<Option<(usize, usize)>, Why> {
        let Some(at) = self.pool_of(client, symbol) else {
            return Ok(None);
        };
        let pool = self.world.pools[at];
        let Some(text) = fields.get(&pool.tag) else {
            return Ok(None);
        };
        if !self.world.clients[client].names_numbers {
            return Err(Why::Rc("RC2", 0));
        }
        let mut numbers = pool.first..=pool.last;
        let number = numbers.find(|number| pool.write(*number) == *text);
        let number = number.ok_or(Why::Other(99, 2))?;
        let given = self.given.get(&at);
        let is_used = given.is_some_and(|it| it.all.contains(&number) || it.last >= Some(number));
        if is_used || self.texts.contains(*text) {
            return Err(Why::Other(6, 2));
        }
        Ok(Some((at, number)))
    }

    pub fn take_own_number(&mut self, order: u64, (at, number): (usize, usize)) {
        self.number(order, at, number);
        self.orders.get_mut(&order).unwrap().named_number = true;
    }

    fn number(&mut self, order: u64, at: usize, number: usize) {
        let text = self.world.pools[at].write(number);
        self.given.entry(at).or_default().all.insert(number);
        self.texts.insert(text.clone());
        self.orders.get_mut(&order).unwrap().pool_number = Some((at, text));
    }

    /// The next number of the pool of an order that leaves; none when it has no pool.
    pub fn give_number(&mut self, order: u64) -> Result<(), Why> {
        let known = &self.orders[&order];
        let pool = self.pool_of(known.client, known.symbol);
        let Some(at) = pool.filter(|_| !known.named_number) else {
            return Ok(());
        };
        let pool = self.world.pools[at];
        let given = self.given.entry(at).or_default();
        let mut numbers = pool.first..=pool.last;
        let next = numbers.find(|number| {
            given.last < Some(*number)
                && !given.all.contains(number)
                && !self.texts.contains(&pool.write(*number))
        });
        let next = next.ok_or(Why::Other(0, 2))?;
        given.last = Some(next);
        self.number(order, at, next);
        Ok(())
    }

    /// Numbers of a day are used once; those of open orders are still used.
    pub fn begin_numbers(&mut self) {
        let open = self.orders.values().filter(|order| order.is_open());
        let numbers = open.filter_map(|order| order.pool_number.as_ref());
        self.texts = numbers.map(|(_, text)| text.clone()).collect();
        for (at, pool) in self.world.pools.iter().enumerate() {
            if pool.each_day {
                self.given.remove(&at);
            }
        }
    }
}
