//! [`KeptLimits`]: limits that stay because the orders in the journal exceed those of the file.

use core::fmt;

use super::{OrderTracker, OrdersConfig};

/// Number of bytes of an id that an event shows.
const MAX_SHOWN: usize = 64;

/// The limits that stay although the file has lower ones.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct KeptLimits {
    /// `max_orders`.
    pub orders: Option<KeptOrders>,
    /// `max_id`.
    pub id: Option<KeptId>,
}

/// `max_orders` of the file has no room for the ids in memory.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct KeptOrders {
    /// Number of ids that cannot be forgotten.
    pub open: u64,
    /// `max_orders` of the file.
    pub file: u32,
    /// `max_orders` in force.
    pub kept: u32,
}

/// `max_id` of the file is less than the length of an id in memory.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct KeptId {
    text: [u8; MAX_SHOWN],
    /// Length of the longest id, in bytes.
    pub len: u8,
    /// `max_id` of the file, in bytes.
    pub file: u8,
    /// `max_id` in force, in bytes.
    pub kept: u8,
}

impl KeptId {
    fn new(id: &[u8], file: usize, kept: usize) -> Self {
        let mut text = [0; MAX_SHOWN];
        let shown = id.len().min(MAX_SHOWN);
        text[..shown].copy_from_slice(&id[..shown]);
        let short = |len: usize| u8::try_from(len).unwrap_or(u8::MAX);
        Self {
            text,
            len: short(id.len()),
            file: short(file),
            kept: short(kept),
        }
    }

    /// The longest id in memory, up to 64 bytes of it.
    #[must_use]
    pub fn id(&self) -> &[u8] {
        &self.text[..usize::from(self.len).min(MAX_SHOWN)]
    }
}

impl fmt::Display for KeptLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(KeptOrders { open, file, kept }) = self.orders {
            write!(
                f,
                "max_orders = {file} has no room for the {open} ids of open orders, so max_orders stays {kept}; "
            )?;
        }
        if let Some(id) = &self.id {
            let KeptId {
                len, file, kept, ..
            } = id;
            let shown = id.id().escape_ascii();
            let more = if usize::from(*len) > MAX_SHOWN {
                "..."
            } else {
                ""
            };
            write!(
                f,
                "max_id = {file} is less than the {len} bytes of the id {shown}{more}, so max_id stays {kept}; "
            )?;
        }
        f.write_str("the other keys of the file apply")
    }
}

impl OrderTracker {
    /// The configuration of the file, with the present limits where the orders in memory exceed those of the file.
    #[must_use]
    pub fn fitting(&self, file: OrdersConfig) -> (OrdersConfig, Option<KeptLimits>) {
        let mut fits = file;
        let open = self.kept_by_all();
        let orders = (open > file.max_orders.into()).then(|| {
            fits.max_orders = self.config.max_orders;
            KeptOrders {
                open,
                file: file.max_orders,
                kept: self.config.max_orders,
            }
        });
        let longest = self.book.longest_id().filter(|id| id.len() > file.max_id);
        let id = longest.map(|id| {
            fits.max_id = self.config.max_id;
            KeptId::new(id, file.max_id, self.config.max_id)
        });
        let kept = (orders.is_some() || id.is_some()).then_some(KeptLimits { orders, id });
        (fits, kept)
    }
}
