//! Reloads the rules of a running gateway.

use alloc::string::String;
use alloc::vec::Vec;
use core::{fmt, mem};

use fixwire_protocol::Mono;

use super::load::{BYTES, FIELDS, Parts, read, shares};
use super::options::restart_keys;
use super::{Gateway, GatewayContext};
use crate::orders::OrdersConfig;
use crate::rules::{RuleError, RuleScratch, Rules};

/// The rules, tables and targets of a file, read and checked on any thread, for [`Gateway::reload`].
pub struct Reload {
    parts: Parts,
    scratch: RuleScratch,
    counted: Vec<u64>,
    names: Vec<String>,
}

/// Why a reload was refused; the gateway keeps its rules.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum NotReloaded {
    /// The sessions differ from the running gateway's: other sessions, another order, or another FIX version.
    Sessions,
    /// `[gateway]` has changed values for ids, for the number of orders, or for the memory of held messages or
    /// remembered values.
    Limits,
}

impl Reload {
    /// Reads and checks a file, as [`Gateway::load`] does.
    ///
    /// # Errors
    ///
    /// Every error with its line, column and a hint.
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
    /// Replaces the rules, tables and targets, all at once, before the next message. Orders do not change. Counts
    /// continue, except those of [`matched`](Self::matched); counters named in rules continue under their names.
    /// Afterwards `new` holds the old rules, so that another thread can free their memory.
    ///
    /// # Errors
    ///
    /// [`NotReloaded`]; nothing has changed.
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
        match self {
            Self::Sessions => f.write_str("changing sessions requires a restart"),
            Self::Limits => {
                let keys = restart_keys().join(", ");
                write!(f, "a change of {keys} of [gateway] requires a restart")
            }
        }
    }
}

impl core::error::Error for NotReloaded {}
