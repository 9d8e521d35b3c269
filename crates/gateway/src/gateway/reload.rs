//! Other rules for a gateway that runs.

use alloc::string::String;
use alloc::vec::Vec;
use core::{fmt, mem};

use fixwire_protocol::Mono;

use super::load::{BYTES, FIELDS, Parts, read, shares};
use super::{Gateway, GatewayContext};
use crate::orders::OrdersConfig;
use crate::rules::{RuleError, Rules, Scratch};

/// The rules, tables and targets of a file, read and checked. Made on any thread, for
/// [`Gateway::reload`].
pub struct Reload {
    parts: Parts,
    scratch: Scratch,
    counted: Vec<u64>,
    names: Vec<String>,
}

/// Why a gateway keeps its rules.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum NotReloaded {
    /// The sessions are not those that it was loaded with: others, in another order, or of another
    /// version.
    Sessions,
    /// `[gateway]` says something else about ids, how many orders are remembered, or how much is held
    /// or remembered for them.
    Limits,
}

impl Reload {
    /// Reads a file, as [`Gateway::load`].
    ///
    /// # Errors
    ///
    /// Every mistake with its line, column and a hint.
    pub fn read(text: &str, context: &GatewayContext<'_>) -> Result<Self, Vec<RuleError>> {
        let parts = read(text, context)?;
        let names = context.sessions.iter();
        Ok(Self {
            scratch: parts.rules.scratch(FIELDS, BYTES),
            counted: alloc::vec![0; parts.rules.counters().len()],
            names: names.map(|session| session.name.into()).collect(),
            parts,
        })
    }

    /// The rules.
    #[must_use]
    pub fn rules(&self) -> &Rules {
        &self.parts.rules
    }
}

impl Gateway {
    /// Does with the next message what other rules, tables and targets say. All of them change at once.
    /// Orders go on as they are, and so do all counts but those of [`matched`](Self::matched); counters
    /// of rules go on under their names. `new` has the old rules then: to give their memory back may be
    /// left to another thread.
    ///
    /// # Errors
    ///
    /// [`NotReloaded`]; nothing has changed then.
    pub fn reload(&mut self, new: &mut Reload) -> Result<(), NotReloaded> {
        let Self {
            rules,
            scratch,
            core,
            remarks,
            ..
        } = self;
        let parts = &mut new.parts;
        let versions = core.sessions.iter().map(|session| session.version);
        let same_names = core.notes.names().eq(new.names.iter().map(String::as_str));
        if !same_names || !versions.eq(parts.sessions.iter().map(|session| session.version)) {
            return Err(NotReloaded::Sessions);
        }
        let limits = core.notes.limits();
        let key_aside = OrdersConfig {
            hash_key: limits.hash_key,
            ..parts.options.orders
        };
        let room = (parts.options.max_held, parts.options.max_remembered);
        if key_aside != *limits || room != core.notes.room() {
            return Err(NotReloaded::Limits);
        }
        for (name, count) in parts.rules.counters().iter().zip(&mut new.counted) {
            let old = rules.counters().iter().position(|old| old == name);
            *count = old.map_or(0, |old| core.counted[old]);
        }
        parts.conversions.go_on_from(&mut core.conversions);
        core.notes
            .set_ids(parts.options.targets.iter().map(|target| target.ids));
        core.notes.set_shares(&shares(&parts.rules, &parts.options));
        core.held_due = Mono(0);
        core.reject_unmatched = parts.options.reject_unmatched;
        mem::swap(&mut core.conversions, &mut parts.conversions);
        mem::swap(&mut core.sessions, &mut parts.sessions);
        mem::swap(&mut core.counted, &mut new.counted);
        mem::swap(scratch, &mut new.scratch);
        mem::swap(remarks, &mut parts.remarks);
        mem::swap(rules, &mut parts.rules);
        Ok(())
    }
}

impl fmt::Debug for Reload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reload")
            .field("rules", &self.parts.rules.len())
            .finish_non_exhaustive()
    }
}

impl fmt::Display for NotReloaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sessions => "sessions can only change with a restart",
            Self::Limits => {
                "ids, id_prefix, id_length, max_id, max_orders, forget_after_days, max_held and max_remembered \
                 of [gateway] can only change with a restart"
            }
        })
    }
}

impl core::error::Error for NotReloaded {}
