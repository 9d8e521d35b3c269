//! `Shares`: how much of a limit each client may use, so that no client uses all of it.
//!
//! ```text
//! max   | ANNA has       | BERT has | left        |     ANNA may use as much as is left; further messages are rejected
//! ```
//!
//! The first client may use half of the limit, the next client half of the rest, and so on.

use alloc::vec::Vec;

/// Usage, in tenths of a limit, at which an event is raised.
const TELL: u64 = 8;
/// Usage, in tenths of a limit, below which the event may be raised again.
const TELL_AGAIN: u64 = 6;

/// A limit, and each client's share of it.
pub(super) struct Shares {
    pub(super) max: u64,
    /// The configured share of each session, by index.
    pub(super) own: Vec<Option<u64>>,
    /// Whether there is more than one client.
    pub(super) is_shared: bool,
    /// While all clients together use less than this, no client can have used its share.
    pub(super) calm: u64,
    /// For each client, whether an event has reported that its share is nearly used.
    pub(super) told: Vec<bool>,
    pub(super) told_all: bool,
}

/// An event: a limit, or a client's share of it, is nearly used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Most {
    /// The client whose share is nearly used; `None` for the whole limit.
    pub client: Option<usize>,
    /// Usage and limit, in the unit of the limit.
    pub taken: u64,
    pub of: u64,
}

impl Shares {
    pub fn new(max: u64, own: Vec<Option<u64>>, is_shared: bool) -> Self {
        let least = own.iter().flatten().copied().min().unwrap_or(max);
        let calm = (max / 10 * 3).min(least / 10 * (TELL - 1));
        let told = alloc::vec![false; own.len()];
        Self {
            max,
            own,
            is_shared,
            calm,
            told,
            told_all: false,
        }
    }

    pub fn max(&self) -> u64 {
        self.max
    }

    /// Takes over the shares of another file.
    pub fn set_own(&mut self, other: &Self) {
        *self = Self::new(self.max, other.own.clone(), other.is_shared);
    }

    /// The same shares for another gateway, for which no event was raised yet.
    pub fn anew(&self) -> Self {
        Self::new(self.max, self.own.clone(), self.is_shared)
    }

    /// Whether usage is so low that the shares of clients need no check.
    #[inline]
    pub fn is_calm(&self, total: u64) -> bool {
        total < self.calm
    }

    /// The maximum that a client may use, while all clients together use `total` and this client uses `has` of it.
    pub fn may(&self, client: usize, has: u64, total: u64) -> u64 {
        let reach = has + self.max.saturating_sub(total);
        match self.own(client) {
            Some(own) => own.min(reach),
            None if self.is_shared => reach.div_ceil(2),
            None => reach,
        }
    }

    /// The configured share of a client.
    pub fn own(&self, client: usize) -> Option<u64> {
        self.own.get(client).copied().flatten()
    }

    /// The event about the whole limit, if all clients together now use so much that it is due.
    pub fn look_at_all(&mut self, total: u64) -> Option<Most> {
        crossed(&mut self.told_all, total, self.max).then_some(Most {
            client: None,
            taken: total,
            of: self.max,
        })
    }

    /// The event about a client's share or about the whole limit, if it is due after this client's usage has grown.
    /// The event is due once, until usage has dropped again.
    pub fn look(&mut self, client: usize, has: u64, total: u64) -> Option<Most> {
        let may = self.may(client, has, total);
        if let Some(told) = self.told.get_mut(client)
            && crossed(told, has, may)
        {
            return Some(Most {
                client: Some(client),
                taken: has,
                of: may,
            });
        }
        self.look_at_all(total)
    }
}

/// Whether usage has just reached [`TELL`] tenths of a limit. `told` stays set until usage falls below [`TELL_AGAIN`]
/// tenths.
fn crossed(told: &mut bool, taken: u64, of: u64) -> bool {
    let tenths = taken.saturating_mul(10);
    if tenths >= of.saturating_mul(TELL) {
        return !core::mem::replace(told, true);
    }
    *told &= tenths >= of.saturating_mul(TELL_AGAIN);
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn whoever_comes_next_finds_room(
            max in 100_u64..1000,
            wishes in prop::collection::vec(0..3_usize, 0..2000),
        ) {
            let shares = Shares::new(max, alloc::vec![None; 4], true);
            let mut has = [0_u64; 3];
            for client in wishes {
                let total = has.iter().sum();
                if has[client] < shares.may(client, has[client], total) {
                    has[client] += 1;
                }
                let left = max - has.iter().sum::<u64>();
                prop_assert!(left * 10 >= max, "{has:?}");
                // The fourth client has used nothing, and may use half of what is left.
                prop_assert_eq!(shares.may(3, 0, max - left), left.div_ceil(2), "{:?}", has);
            }
        }
    }

    #[test]
    fn a_client_alone_takes_all_and_a_setting_is_kept() {
        let alone = Shares::new(10, alloc::vec![None], false);
        assert_eq!(alone.may(0, 9, 9), 10);
        let said = Shares::new(10, alloc::vec![Some(7), None, Some(3)], true);
        assert_eq!(
            [said.may(0, 0, 0), said.may(1, 0, 0), said.may(2, 0, 0)],
            [7, 5, 3]
        );
        assert_eq!(said.may(0, 0, 8), 2, "no more than is left");
    }

    #[test]
    fn the_owner_hears_once_until_much_is_given_back() {
        let mut shares = Shares::new(100, alloc::vec![None, None], true);
        let mut look = |has, total| shares.look(0, has, total);
        assert_eq!(look(39, 39), None);
        let most = Most {
            client: Some(0),
            taken: 40,
            of: 50,
        };
        assert_eq!(look(40, 40), Some(most));
        assert_eq!(look(45, 45), None);
        assert_eq!(
            look(10, 80),
            Some(Most {
                client: None,
                taken: 80,
                of: 100
            })
        );
        assert_eq!(look(20, 20), None);
        assert_eq!(look(40, 40), Some(most));
    }
}
