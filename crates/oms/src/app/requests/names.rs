//! Names of instruments and accounts in messages: SecurityID(48) of a client's request, with or without Symbol(55), and
//! the names that a venue uses.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use fixwire_protocol::{Message, Tag, tag};
use fixwire_text::Diagnostic;

use crate::app::{Oms, OmsSession};
use crate::decide::venue::VenueId;
use crate::fix::names::{
    MissingTags, Renamed, VenueMessage, VenueNameIndex, has_field, symbol_by_id, symbol_of,
    write_with_symbol,
};
use crate::values::day::compact;
use crate::values::fields::carried::{allows, each_field};
use crate::values::ids::{SessionNo, Table};
use crate::values::reason::{Reason, Why};
use crate::values::rules::{Maturity, RiskRules};
use crate::values::value::Text;

/// The symbol of the instrument that a request names by SecurityID(48) alone; `None` for other messages, whose entries
/// may name several instruments.
#[inline]
pub(in crate::app) fn unnamed(oms: &Oms, message: &Message<'_>) -> Option<Text> {
    if oms.rules().securities.is_empty() || !message.has(tag::SECURITY_ID) {
        return None;
    }
    match message.msg_type() {
        b"D" | b"G" | b"F" | b"H" | b"q" | b"AF" | b"S" | b"R" | b"e" => {}
        _ => return None,
    }
    let named = symbol_by_id(&oms.rules().securities, message);
    let named = named.filter(|_| symbol_of(message).is_none());
    named.map(|symbol| Text::new(symbol.as_bytes()))
}

/// The reason to refuse a request whose SecurityID(48) names no instrument, or another instrument than its Symbol(55).
#[cold]
pub(in crate::app) fn other_security(oms: &Oms, message: &Message<'_>) -> Option<Reason> {
    if oms.rules().securities.is_empty() {
        return None;
    }
    let source = message.get(tag::SECURITY_ID_SOURCE)?;
    let id = message.get(tag::SECURITY_ID)?;
    let Some(symbol) = symbol_of(message) else {
        return Some(Reason::of(Why::Symbol));
    };
    let state = oms.core.state();
    let instrument = state.instruments().find(symbol)?;
    let other = match symbol_by_id(&oms.rules().securities, message) {
        Some(named) if named.as_bytes() == symbol => return None,
        Some(named) => state.instruments().find(named.as_bytes()),
        // The instrument has another identifier of this source, or the OMS knows none of this source.
        None => {
            let known = oms.core.rule(instrument).ok()?.security.id_of(source)?;
            if known.as_bytes() == id {
                return None;
            }
            None
        }
    };
    Some(Reason {
        value: instrument.place().into(),
        limit: other.map_or(-1, |other| other.place().into()),
        ..Reason::of(Why::OtherSecurity)
    })
}

/// Whether a field of a request is what the file of instruments has for the symbol of the request.
#[cold]
pub(in crate::app) fn is_of_symbol(
    oms: &Oms,
    message: &Message<'_>,
    of: Tag,
    value: &[u8],
) -> bool {
    let state = oms.core.state();
    let symbol = message.get(tag::SYMBOL).unwrap_or_default();
    let instrument = state.instruments().find(symbol);
    let rule = instrument.and_then(|it| oms.core.rule(it).ok());
    let Some(security) = rule.map(|rule| &rule.security) else {
        return false;
    };
    let is = |known: Option<&str>| known.is_some_and(|known| known.as_bytes() == value);
    match of {
        tag::SECURITY_ID => {
            let source = message.get(tag::SECURITY_ID_SOURCE);
            source.is_some_and(|source| is(security.id_of(source)))
        }
        tag::SECURITY_ID_SOURCE => {
            let id = message.get(tag::SECURITY_ID);
            let known = security.id_of(value);
            id.is_some() && known.map(str::as_bytes) == id
        }
        tag::SECURITY_EXCHANGE => is(security.exchange.as_deref()),
        tag::SECURITY_TYPE => is(security.kind.as_deref()),
        tag::MATURITY_MONTH_YEAR => {
            let wanted = Maturity::of_month_year(value);
            security
                .maturity
                .zip(wanted)
                .is_some_and(|(it, wanted)| it.fits(wanted))
        }
        tag::MATURITY_DATE => {
            let day = compact(value);
            day.is_some() && day == security.maturity.and_then(Maturity::day)
        }
        _ => false,
    }
}

/// Handles a request as if it had this Symbol(55).
#[cold]
pub(in crate::app) fn with_symbol<T>(
    oms: &mut Oms,
    message: &Message<'_>,
    symbol: Text,
    handle: impl FnOnce(&mut Oms, &Message<'_>) -> T,
) -> T {
    renamed(
        oms,
        |_, to| write_with_symbol(message, symbol.bytes(), &mut to.bytes),
        handle,
    )
}

/// Handles a message of a line, or of a drop copy of its venue, as if it had the names of the OMS.
#[inline]
pub(in crate::app) fn in_own_names<T>(
    oms: &mut Oms,
    session: SessionNo,
    message: &Message<'_>,
    handle: impl FnOnce(&mut Oms, &Message<'_>) -> T,
) -> T {
    let is_named = !oms.core.state().venue_names.is_empty();
    let line = is_named.then(|| line_of(oms, session));
    match line.filter(|line| oms.core.state().venue_names.on(*line).is_some()) {
        None => handle(oms, message),
        Some(line) => in_own_names_of(oms, line, message, handle),
    }
}

/// As [`in_own_names`], for a line with names.
#[cold]
fn in_own_names_of<T>(
    oms: &mut Oms,
    line: SessionNo,
    message: &Message<'_>,
    handle: impl FnOnce(&mut Oms, &Message<'_>) -> T,
) -> T {
    renamed(
        oms,
        |oms, to| {
            let state = oms.core.state();
            let id = |tag| message.get(tag).and_then(VenueId::parse);
            let id = id(tag::CL_ORD_ID).or_else(|| id(tag::ORIG_CL_ORD_ID));
            if let (Some(names), Some(index)) =
                (state.venue_names.on(line), oms.links.venue_names.get(&line))
            {
                let said = VenueMessage {
                    state,
                    names,
                    index,
                    order: id.and_then(|id| state.orders().get(id.order)),
                };
                said.write(message, &mut to.changes, &mut to.bytes);
            } else {
                to.bytes.extend_from_slice(message.bytes());
            }
        },
        handle,
    )
}

/// The line whose names the messages of a session use. The line is the session itself; for a drop copy session of a
/// venue, the first of the lines whose reports are copied.
fn line_of(oms: &Oms, session: SessionNo) -> SessionNo {
    let names = oms.core.state().sessions();
    let mut sources = oms.rules().copy_sources.iter();
    let source = sources.find(|it| it.session.as_bytes() == names.name(session));
    let line = source.and_then(|source| names.find(source.lines.first()?.as_bytes()));
    line.unwrap_or(session)
}

/// Finds the names at venues, at the start and after a reload.
pub(in crate::app) fn find_names(oms: &mut Oms) {
    let state = oms.core.state();
    let all = &state.venue_names.0;
    let mut not_named = Table::default();
    if !all.is_empty() {
        not_named = state
            .sessions()
            .iter()
            .map(|_| MissingTags::default())
            .collect();
    }
    for (line, names) in all {
        let name = state.sessions().name(*line);
        let mut sessions = oms.sessions.iter();
        if let Some(session) = sessions.find(|it| it.name.as_bytes() == name) {
            not_named[*line] = MissingTags::of(names, &session.dictionary);
        }
    }
    let index = all
        .iter()
        .map(|(line, names)| (*line, VenueNameIndex::of(names)));
    (oms.links.venue_names, oms.links.not_named) = (index.collect(), not_named);
}

/// One mistake for each field of a name at a venue that NewOrderSingle(D) of a line cannot have.
pub(in crate::app) fn name_problems(rules: &RiskRules, sessions: &[OmsSession]) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for group in &rules.groups {
        let lines = sessions.iter().filter(|it| group.lines.contains(&it.name));
        for (session, file) in
            lines.flat_map(|line| [&group.symbols, &group.accounts].map(|file| (line, file)))
        {
            for (row, at) in file.rows.iter().zip(&file.places.lines) {
                for field in each_field(&row.fields) {
                    let dictionary = &session.dictionary;
                    let def = dictionary.field(field.tag);
                    let why = match def.filter(|_| has_field(dictionary, b"D", field.tag)) {
                        None => "which",
                        Some(def) if !allows(def, field.value) => "a value that",
                        Some(_) => continue,
                    };
                    let what = format!(
                        "{} has {}={}, {why} NewOrderSingle(D) of line {} does not have",
                        row.name,
                        field.tag,
                        String::from_utf8_lossy(field.value),
                        session.name,
                    );
                    let hint =
                        "leave the cell empty, or name a dictionary with the field and the value";
                    problems.push(Diagnostic {
                        at: file.places.at,
                        ..Diagnostic::in_file(&file.file, *at, what, hint)
                    });
                }
            }
        }
    }
    problems
}

/// Handles the message that `write` writes.
fn renamed<T>(
    oms: &mut Oms,
    write: impl FnOnce(&Oms, &mut Renamed),
    handle: impl FnOnce(&mut Oms, &Message<'_>) -> T,
) -> T {
    let kept = oms.renamed.take();
    let mut renamed = kept.unwrap_or_else(|| Box::new(Renamed::new(&oms.dictionaries)));
    renamed.bytes.clear();
    write(oms, &mut renamed);
    let Renamed { bytes, decoder, .. } = &mut *renamed;
    let done = handle(oms, &decoder.decode_whole(bytes));
    oms.renamed = Some(renamed);
    done
}
