//! Executions of orders that are not in memory: of today, and of the day before.

use hashbrown::HashTable;

use crate::values::slab::mixed;
use fixwire_ledger::Wire;

/// Hashes of executions that count no second time, at 8 bytes each.
#[derive(Clone, Debug, Default)]
pub(crate) struct UsedExecs {
    pub(crate) today: HashTable<u64>,
    /// A line whose sequence numbers began again may bring them again.
    pub(crate) before: HashTable<u64>,
}

impl UsedExecs {
    pub(crate) fn add(&mut self, exec: u64) {
        add(&mut self.today, exec);
    }

    pub(crate) fn begin_day(&mut self) {
        // The memory of the day before yesterday is used again.
        core::mem::swap(&mut self.before, &mut self.today);
        self.today.clear();
    }

    pub(crate) fn has(&self, exec: u64) -> bool {
        has(&self.today, exec)
    }

    pub(crate) fn had(&self, exec: u64) -> bool {
        has(&self.before, exec)
    }

    pub(crate) fn put(&self, put: &mut dyn FnMut(&[u8])) {
        for day in [&self.today, &self.before] {
            put(&(day.len() as u64).to_le_bytes());
            day.iter().for_each(|exec| put(&exec.to_le_bytes()));
        }
    }

    pub(crate) fn take(from: &mut &[u8]) -> Option<Self> {
        let mut spent = Self::default();
        for day in [&mut spent.today, &mut spent.before] {
            let count = u64::take(from)?;
            // No more than there are bytes for.
            let room = count.min((from.len() / size_of::<u64>()) as u64);
            day.reserve(room as usize, |exec| mixed(*exec));
            for _ in 0..count {
                add(day, Wire::take(from)?);
            }
        }
        Some(spent)
    }

    /// A word for each, in no order.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        let before = self.before.iter().map(|exec| !exec.rotate_left(32));
        self.today.iter().copied().chain(before)
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
