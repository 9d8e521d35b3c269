//! Model: positions that operators set, change and load from files.

use super::{At, Fate, MOST, Model, Order};

/// A position that is to be set: account and symbol, long and short quantity.
type Change = ((usize, usize), (i128, i128));

impl Model {
    /// `position set|adjust account=A1 symbol=XYZ long=5 short=0`, `load totals|deltas file=F;A1 XYZ 5 0;...`.
    pub fn position_command(&mut self, text: &str) {
        let words: Vec<&str> = text.split(' ').collect();
        if words[0] == "load" {
            return self.load_positions(text);
        }
        let get = |key: &str| {
            let words = words.iter().filter_map(|word| word.split_once('='));
            let mut found = words.filter(|(known, _)| *known == key);
            found.next().map(|(_, value)| value)
        };
        let number = |key: &str| get(key).map_or(0, |it| it.parse().unwrap());
        let (account, symbol) = (get("account").unwrap(), get("symbol").unwrap());
        let is_total = words[1] == "set";
        let given = (number("long"), number("short"));
        let changes = self.planned(is_total, account, symbol, given);
        self.set_positions(changes.into_iter().collect());
    }

    fn load_positions(&mut self, text: &str) {
        let (head, rows) = text.split_once(';').unwrap();
        let is_total = head.starts_with("load totals");
        let (_, file) = head.split_once("file=").unwrap();
        let file = format!("{file};{rows}");
        if !is_total && !head.contains(" again ") && self.loaded.contains(&file) {
            return;
        }
        let mut changes = Vec::new();
        for row in rows.split(';') {
            let words: Vec<&str> = row.split(' ').collect();
            let given = (words[2].parse().unwrap(), words[3].parse().unwrap());
            match self.planned(is_total, words[0], words[1], given) {
                Some(change) if changes.iter().all(|(of, _)| *of != change.0) => {
                    changes.push(change);
                }
                _ => return,
            }
        }
        if !is_total {
            self.loaded.insert(file);
        }
        self.set_positions(changes);
    }

    /// `None` for a position that is refused.
    fn planned(
        &self,
        is_total: bool,
        account: &str,
        symbol: &str,
        (long, short): (i128, i128),
    ) -> Option<Change> {
        let of = (self.account(account)?, self.symbol(symbol)?);
        if self.legs_of(of.1).is_some() || (is_total && self.is_in_doubt(of)) {
            return None;
        }
        let known = self.holdings.get(&of).copied().unwrap_or_default();
        let (mut new_long, mut new_short) = match is_total {
            true => (long, short),
            false => (known.long + long, known.short + short),
        };
        if new_long < 0 || new_short < 0 {
            return None;
        }
        if !self.world.symbols[of.1].has_effect {
            if is_total && long > 0 && short > 0 {
                return None;
            }
            let net = new_long - new_short;
            (new_long, new_short) = (net.max(0), (-net).max(0));
        }
        (new_long.max(new_short) <= MOST).then_some((of, (new_long, new_short)))
    }

    /// Nobody knows whether its fills are complete.
    pub fn is_in_doubt(&self, (account, symbol): (usize, usize)) -> bool {
        let is_its = |of: &Order| {
            let legs = self.legs_of(of.symbol);
            let is_symbol = match legs {
                Some(legs) => legs.iter().any(|leg| leg.symbol == symbol),
                None => of.symbol == symbol,
            };
            of.account == account && is_symbol
        };
        let doubtful = |of: &Order| {
            let is_at_venue = matches!(of.fate, Fate::Sent | Fate::Working);
            of.waiting.is_some()
                || of.is_unknown()
                || of.fate == Fate::Lapsed
                || (is_at_venue && !self.ready.contains(&of.line))
        };
        let orders = self.orders.values().filter(|of| is_its(of));
        let mut open = orders.filter(|of| of.is_open());
        let mut breaks = self.breaks.iter().filter(|it| !it.is_settled);
        open.any(doubtful)
            || breaks.any(|it| self.orders.get(&it.order).is_some_and(is_its))
            || self
                .stray_fills
                .iter()
                .any(|it| (it.account, it.symbol) == (account, symbol))
            || self.stray_undos.open.iter().any(|it| {
                let legs = it.symbol.and_then(|of| self.legs_of(of));
                let is_symbol = match legs {
                    Some(legs) => legs.iter().any(|leg| leg.symbol == symbol),
                    None => it.symbol == Some(symbol),
                };
                it.account == Some(account) && is_symbol
            })
    }

    fn set_positions(&mut self, changes: Vec<Change>) {
        let mut changed = Vec::new();
        for ((account, symbol), (long, short)) in changes {
            let holding = self.holdings.entry((account, symbol)).or_default();
            if (holding.long, holding.short) == (long, short) {
                continue;
            }
            let before = holding.gained();
            (holding.long, holding.short) = (long, short);
            let after = holding.gained();
            let gained = self.gain(symbol, after) - self.gain(symbol, before);
            // No session made it.
            let mut scopes = self.scopes(usize::MAX, account, symbol);
            scopes.retain(|scope| !matches!(scope, At::Session(_)));
            for scope in &scopes {
                *self.gained.entry(*scope).or_default() += gained;
            }
            changed.push(scopes);
        }
        for scopes in changed {
            self.guard(&scopes);
        }
    }
}
