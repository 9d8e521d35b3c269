//! Conditions of routes: compiles them with the dictionaries of the sessions, evaluates them for each new order, and
//! explains them to a person who checks the settings.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use fixwire_protocol::{Message, Tag, tag};
use fixwire_text::Diagnostic;
use fixwire_transform::rules::NamedSession;

use crate::app::{Oms, OmsSession};
use crate::values::fields::field_table::{FieldClass, passes, request_bit, request_field};
use crate::values::ids::SessionNo;
use crate::values::rules::{RiskRules, Route};

/// Compiles the conditions of routes; returns every mistake in them. No order fulfils a condition with a mistake.
pub(in crate::app) fn compile_routes(
    rules: &mut RiskRules,
    sessions: &[OmsSession],
) -> Vec<Diagnostic> {
    if !rules.has_conditions() {
        return Vec::new();
    }
    let named = sessions.iter().map(|session| NamedSession {
        name: &session.name,
        dictionary: session.dictionary.clone(),
        peer: "",
    });
    let named: Vec<NamedSession<'_>> = named.collect();
    let from: Vec<bool> = sessions.iter().map(|it| is_client(rules, it)).collect();
    let conditions = rules.routes.iter_mut().filter_map(|it| it.when.as_mut());
    conditions
        .flat_map(|when| when.compile(&named, &from))
        .collect()
}

/// The first session of the line group of a new order, when its route depends on a condition. `None` also when no route
/// fits.
#[cold]
pub(in crate::app) fn route_of(
    oms: &Oms,
    at: i64,
    index: SessionNo,
    message: &Message<'_>,
) -> Option<SessionNo> {
    let rules = oms.rules();
    let mut routes = rules.routes_of(message.get(tag::SYMBOL)?).peekable();
    routes.peek()?.when.as_ref()?;
    let client = oms.links.clients.get(index).copied().flatten()?;
    let source = (*oms.sources.get(client.session.0 as usize)?)?;
    let fits = |route: &&Route| {
        let when = route.when.as_ref();
        when.is_none_or(|when| when.holds(message, source, at))
    };
    let group = rules.groups.get(routes.find(fits)?.group)?;
    let line = group.lines.first()?;
    oms.core.state().sessions().find(line.as_bytes())
}

/// Routes that no order can take, and fields in conditions that no client can send: a sentence for each.
pub(in crate::app) fn route_warnings(oms: &Oms) -> Vec<String> {
    let rules = oms.rules();
    let mut warnings = Vec::new();
    for (at, route) in rules.routes.iter().enumerate() {
        let name = format!("[[route]] {}, for {},", at + 1, route.text());
        warnings.extend(unreachable(rules, at).map(|why| format!("{name} gets no order: {why}")));
        let tags = route.when.iter().flat_map(|when| when.tags());
        let lost = tags.filter_map(|tag| Some((tag, why_not_sent(oms, tag)?)));
        warnings.extend(lost.map(|(tag, why)| {
            format!(
                "{name} reads {}, which no order has: {why}",
                name_of(oms, tag)
            )
        }));
    }
    warnings
}

fn clients(oms: &Oms) -> impl Iterator<Item = &OmsSession> {
    let samples = oms.samples.iter().map(|it| &it.session);
    let sessions = oms.sessions[..oms.configured].iter().chain(samples);
    sessions.filter(|session| is_client(oms.rules(), session))
}

fn name_of(oms: &Oms, tag: Tag) -> String {
    let field = clients(oms).find_map(|it| it.dictionary.field(tag));
    field.map_or_else(|| tag.to_string(), |it| format!("{}({tag})", it.name))
}

/// Why no order that the OMS accepts has a field; `None` when an order may have it.
fn why_not_sent(oms: &Oms, tag: Tag) -> Option<&'static str> {
    let is_known = |session: &OmsSession| {
        let dictionary = &session.dictionary;
        let order = dictionary.message(b"D");
        let parts = order.into_iter().chain([dictionary.header()]);
        let mut members = parts.flat_map(|part| part.members());
        members.any(|it| it.tag == tag || it.group.as_ref().is_some_and(|it| has(it, tag)))
    };
    if tag != tag::MSG_TYPE && !clients(oms).any(is_known) {
        return Some("no dictionary of a client has it in NewOrderSingle(D)");
    }
    let bit = request_bit(b"D");
    let is_taken = request_field(tag, bit).is_some_and(|row| match row.class {
        FieldClass::Session
        | FieldClass::Carried
        | FieldClass::Set
        | FieldClass::Used
        | FieldClass::Checked(_)
        | FieldClass::Passed => true,
        FieldClass::Named
        | FieldClass::Instruction
        | FieldClass::Listed
        | FieldClass::Refused
        | FieldClass::Never
        | FieldClass::Counted => false,
    });
    let rules = oms.rules();
    let users = rules.users.iter().map(|user| &user.contract);
    let mut contracts = users.chain(rules.groups.iter().map(|group| &group.contract));
    let is_named = contracts.any(|contract| contract.of(tag).is_some())
        || rules.own_tags.has(b"D", tag)
        || rules.pools.iter().any(|pool| pool.tag == tag);
    let is_refused = !is_taken && !is_named && !passes(tag, bit);
    is_refused.then_some("the OMS refuses it, unless a user or a line_group names it")
}

fn has(group: &fixwire_protocol::dictionary::GroupDef, tag: Tag) -> bool {
    let mut members = group.members().iter();
    members.any(|it| it.tag == tag || it.group.as_ref().is_some_and(|it| has(it, tag)))
}

fn is_client(rules: &RiskRules, session: &OmsSession) -> bool {
    rules.users.iter().any(|user| user.session == session.name)
}

/// Why no order takes the route with this index; `None` when an order may take it.
fn unreachable(rules: &RiskRules, at: usize) -> Option<String> {
    let route = &rules.routes[at];
    let symbols = rules.instruments.iter().map(|it| it.symbol.as_bytes());
    let mut takers = Vec::new();
    for symbol in symbols.filter(|symbol| route.has(symbol)) {
        let takes = |it: &Route| it.has(symbol) && (it.when.is_none() || it.when == route.when);
        takers.push(rules.routes[..at].iter().position(takes)?);
    }
    Some(match takers.first() {
        Some(taker) => format!("[[route]] {} decides before it", taker + 1),
        None => "no instrument has one of its symbols".into(),
    })
}
