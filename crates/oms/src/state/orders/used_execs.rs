//! Executions of today and of the day before, for orders that are no longer in memory.

use alloc::vec::Vec;

use hashbrown::HashTable;

use crate::values::slab::mixed;
use fixwire_ledger::{Put, Wire};

/// Hashes of executions that must not count a second time, at 8 bytes each.
#[derive(Clone, Debug, Default)]
pub(crate) struct UsedExecs {
    pub(crate) today: HashTable<u64>,
    /// Executions of the day before. A line whose sequence numbers were reset may report them again.
    pub(crate) before: HashTable<u64>,
}

impl UsedExecs {
    pub(crate) fn add(&mut self, exec: u64) {
        add(&mut self.today, exec);
    }

    pub(crate) fn begin_day(&mut self) {
        // The set of the day before yesterday is cleared and used for today.
        core::mem::swap(&mut self.before, &mut self.today);
        self.today.clear();
    }

    pub(crate) fn has(&self, exec: u64) -> bool {
        has(&self.today, exec)
    }

    pub(crate) fn had(&self, exec: u64) -> bool {
        has(&self.before, exec)
    }
}

impl Wire<'_> for UsedExecs {
    fn put(&self, to: &mut impl Put) {
        for day in [&self.today, &self.before] {
            let mut day: Vec<u64> = day.iter().copied().collect();
            day.sort_unstable();
            day.put(to);
        }
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        let mut used = Self::default();
        for day in [&mut used.today, &mut used.before] {
            let all: Vec<u64> = Wire::take(from)?;
            day.reserve(all.len(), |exec| mixed(*exec));
            all.into_iter().for_each(|exec| add(day, exec));
        }
        Some(used)
    }
}

fn has(day: &HashTable<u64>, exec: u64) -> bool {
    day.find(mixed(exec), |known| *known == exec).is_some()
}

fn add(day: &mut HashTable<u64>, exec: u64) {
    if !has(day, exec) {
        day.insert_unique(mixed(exec), exec, |known| mixed(*known));
    }
}
