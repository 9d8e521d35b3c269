//! Loads a gateway from its file, or reports all errors in it.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::dictionary::Version;
use fixwire_protocol::{Decoder, Mono};

use super::conversions::Conversions;
use super::notes::{MAX_SESSIONS, Notes};
use super::options::{Away, Options};
use super::refused_message::RefusedMessage;
use super::remarks::{Remark, remarks};
use super::rounds::Rounds;
use super::shares::Shares;
use super::{
    Core, Gateway, GatewayContext, GatewayCounters, Listener, Raised, Session, conversion_files,
    options,
};
use crate::rules::{self, Errors, RuleContext, RuleError, RuleProblem, Rules};

/// Initial capacity for a message's fields; a larger message allocates more.
pub(super) const FIELDS: usize = 256;
pub(super) const BYTES: usize = 8 << 10;

/// The content of a file, without remembered values.
pub(super) struct Parts {
    pub rules: Rules,
    pub conversions: Conversions,
    pub options: Options,
    pub sessions: Vec<Session>,
    pub remarks: Vec<Remark>,
}

pub(super) fn load(
    text: &str,
    context: &GatewayContext<'_>,
    listener: Listener,
) -> Result<Gateway, Vec<RuleError>> {
    let parts = read(text, context)?;
    let named = context.sessions.iter().zip(&parts.options.targets);
    let named = named.map(|(session, target)| (String::from(session.name), target.ids));
    let options = &parts.options;
    let ids_pass = options.targets.iter().all(|target| !target.follows);
    let notes =
        Notes::new(options.orders, shares(&parts.rules, options), named).map_err(|error| {
            let hint = Some(format!("{error}"));
            let wanted = "an id_prefix and an id_length that fit into max_id";
            let problem = RuleProblem::WrongType { wanted };
            alloc::vec![RuleError {
                line: 1,
                column: 1,
                problem,
                hint
            }]
        })?;
    Ok(Gateway {
        scratch: parts.rules.scratch(FIELDS, BYTES),
        active: alloc::vec![false; context.sessions.len()],
        open: alloc::vec![true; context.sessions.len()],
        core: Core {
            sessions: parts.sessions,
            notes,
            conversions: parts.conversions,
            reject_unmatched: parts.options.reject_unmatched,
            on_reserve: false,
            counters: GatewayCounters::default(),
            counted: alloc::vec![0; parts.rules.counters().len()],
            text: Vec::with_capacity(256),
            own_id: Vec::with_capacity(256),
            refused: RefusedMessage::default(),
            raised: Raised::default(),
            recalled: Vec::new(),
            rounds: Rounds::new(context.hash_key, ids_pass, context.sessions.len()),
            held_due: Mono(0),
            listener,
        },
        first_queue: 0,
        record: Vec::new(),
        decoder: Decoder::with_capacity(64),
        remarks: parts.remarks,
        rules: parts.rules,
    })
}

/// The shares of each client in the limits of `[gateway]`.
pub(super) fn shares(rules: &Rules, options: &Options) -> [Shares; 3] {
    let mut is_client = alloc::vec![false; options.clients.len()];
    rules.ways(&mut |way| is_client[way.from] |= way.to.is_some());
    let is_shared = is_client.iter().filter(|is_client| **is_client).count() > 1;
    let clients = || options.clients.iter();
    let orders = clients().map(|client| client.max_orders).collect();
    let held = clients().map(|client| client.max_held).collect();
    let remembered = clients().map(|client| client.max_remembered).collect();
    [
        Shares::new(options.orders.max_orders.into(), orders, is_shared),
        Shares::new(options.max_held, held, is_shared),
        Shares::new(options.max_remembered, remembered, is_shared),
    ]
}

/// Reads a whole file.
pub(super) fn read(text: &str, context: &GatewayContext<'_>) -> Result<Parts, Vec<RuleError>> {
    let sessions = context.sessions.iter().map(|session| rules::NamedSession {
        name: session.name,
        dictionary: session.dictionary.clone(),
        peer: session.peer,
    });
    let sessions: Vec<_> = sessions.collect();
    let rules = Rules::load(
        text,
        &RuleContext {
            sessions: &sessions,
            tables: context.tables,
        },
    );
    let mut errors = Errors::new(text);
    if sessions.len() > MAX_SESSIONS {
        let (what, limit) = ("sessions", MAX_SESSIONS);
        errors.add(0, RuleProblem::TooMany { what, limit }, None);
    }
    let file = conversion_files::parsed(text);
    let options = options::read(&file, &mut errors, context);
    let made = conversion_files::read(&file, &mut errors, context);
    let mut found = errors.into_errors();
    let rules = match rules {
        Ok(rules) if found.is_empty() => rules,
        Ok(_) => return Err(found),
        Err(more) => {
            found.extend(more);
            found.sort_by_key(|error| (error.line, error.column));
            return Err(found);
        }
    };
    nothing_void_is_held(&rules, context, &options)?;
    orders_are_known(&rules, context, &options)?;
    let conversions = conversions(made, text, &rules, context, &options)?;
    let (mut sends, mut is_sent) = (
        alloc::vec![false; context.sessions.len()],
        alloc::vec![false; context.sessions.len()],
    );
    rules.ways(&mut |way| {
        for to in stand_ins(way.to, &options) {
            sends[way.from] = true;
            is_sent[to] = true;
        }
    });
    let sessions = context.sessions.iter().zip(&options.targets).enumerate();
    let sessions = sessions.map(|(place, (session, target))| Session {
        dictionary: session.dictionary.clone(),
        version: session.version,
        away: target.away,
        time_to_live: target.time_to_live,
        follows: target.follows,
        resets: session.resets,
        gets_copies: rules.copies_to(place),
        sends: sends[place],
        is_sent: is_sent[place],
        reflects: sends[place] && is_sent[place],
    });
    Ok(Parts {
        remarks: remarks(&rules, context, &options),
        sessions: sessions.collect(),
        rules,
        conversions,
        options,
    })
}

/// Checks that copies which wait in a session, not in the gateway's queue, are still valid when the session logs on:
/// the session must not reset its sequence numbers.
fn nothing_void_is_held(
    rules: &Rules,
    context: &GatewayContext<'_>,
    options: &Options,
) -> Result<(), Vec<RuleError>> {
    let mut told = alloc::vec![false; context.sessions.len()];
    let mut errors: Vec<RuleError> = Vec::new();
    rules.ways(&mut |way| {
        for to in stand_ins(way.to, options) {
            let session = &context.sessions[to];
            let target = &options.targets[to];
            let waits = target.away == Away::Hold && target.time_to_live.is_none();
            let is_copy = way.to.is_some_and(|to| rules.copies(way.rule, to));
            if is_copy && waits && session.resets && !core::mem::replace(&mut told[to], true) {
                let name = session.name;
                errors.push(RuleError {
                    line: rules.line(way.rule).unwrap_or(1),
                    column: 1,
                    problem: RuleProblem::VoidWhenHeld(name.into()),
                    hint: Some(format!(
                        "remove ResetOnLogon, ResetOnLogout and ResetOnDisconnect of the session, or in \
                         [target.{name}] set time_to_live, or set away to \"reject\" or to another session"
                    )),
                });
            }
        }
    });
    match errors.is_empty() {
        true => Ok(()),
        false => Err(errors),
    }
}

/// Checks that rules recall values only for venues whose orders are tracked.
fn orders_are_known(
    rules: &Rules,
    context: &GatewayContext<'_>,
    options: &Options,
) -> Result<(), Vec<RuleError>> {
    let mut passes = alloc::vec![false; context.sessions.len()];
    rules.ways(&mut |way| {
        for to in stand_ins(way.to, options) {
            passes[to] = !options.targets[to].follows;
        }
    });
    let mut errors: Vec<RuleError> = Vec::new();
    rules.ways(&mut |way| {
        if rules.recalls(way.rule) && core::mem::take(&mut passes[way.from]) {
            let name = context.sessions[way.from].name;
            errors.push(RuleError {
                line: rules.line(way.rule).unwrap_or(1),
                column: 1,
                problem: RuleProblem::NoOrders(name.into()),
                hint: Some(format!("set ids = \"collision\" in [target.{name}]")),
            });
        }
    });
    match errors.is_empty() {
        true => Ok(()),
        false => Err(errors),
    }
}

/// Makes the conversions that rules may need. The conversions for each path with `convert` are: from the source to the
/// target, from the source to each session that `away` redirects to, and from all of these back to the source.
fn conversions(
    mut made: Conversions,
    text: &str,
    rules: &Rules,
    context: &GatewayContext<'_>,
    options: &Options,
) -> Result<Conversions, Vec<RuleError>> {
    let mut clients = alloc::vec![Vec::new(); context.sessions.len()];
    rules.ways(&mut |way| {
        let version = context.sessions[way.from].version;
        for to in stand_ins(way.to, options) {
            if !clients[to].contains(&version) {
                clients[to].push(version);
            }
        }
    });
    let mut errors: Vec<RuleError> = Vec::new();
    rules.ways(&mut |way| {
        let from = &context.sessions[way.from];
        let mut need = |to: Version, whom: &str| {
            if !way.convert || made.make(from.version, to) {
                return;
            }
            let error = RuleError {
                line: rules.line(way.rule).unwrap_or(1),
                column: 1,
                problem: RuleProblem::NoConversion {
                    from: from.version.name(),
                    to: to.name(),
                },
                hint: Some(format!(
                    "this rule converts messages of '{}' for {whom}",
                    from.name
                )),
            };
            let same = |one: &RuleError| (one.line, &one.problem) == (error.line, &error.problem);
            if !errors.iter().any(same) {
                errors.push(error);
            }
        };
        for to in stand_ins(way.to, options) {
            let to = &context.sessions[to];
            need(to.version, &format!("'{}'", to.name));
        }
        if way.to.is_none() {
            for version in &clients[way.from] {
                need(*version, "the clients that send to it");
            }
            // Clients of earlier rules may still have open orders at this session, so conversions to the versions of
            // all sessions are made.
            for session in context.sessions.iter().filter(|_| way.convert) {
                made.make(from.version, session.version);
            }
        }
    });
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut errors = Errors::new(text);
    for (from, to, at) in made.unused() {
        let (from, to) = (from.name(), to.name());
        let hint = Some("remove it".into());
        errors.add(at, RuleProblem::UnusedConversion { from, to }, hint);
    }
    match errors.is_empty() {
        true => Ok(made),
        false => Err(errors.into_errors()),
    }
}

/// The session `to`, and the sessions to which its `away` option redirects.
fn stand_ins(to: Option<usize>, options: &Options) -> impl Iterator<Item = usize> {
    core::iter::successors(to, |at| match options.targets[*at].away {
        Away::To(next) => Some(next),
        Away::Hold | Away::Reject => None,
    })
}
