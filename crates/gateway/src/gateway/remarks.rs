//! [`Remark`]s on effects of a valid file that its author may not have intended.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::context::GatewayContext;
use super::options::Options;
use crate::orders::table::MASS_REQUESTS;
use crate::rules::Rules;

/// A remark on a file that is not an error.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Remark {
    /// The line of the rule, from 1; `None` for a remark on the whole file.
    pub line: Option<usize>,
    /// Whether the effect is probably unwanted.
    pub is_warning: bool,
    /// The text of the remark.
    pub text: String,
}

/// The remarks on a file, warnings first.
pub(super) fn remarks(
    rules: &Rules,
    context: &GatewayContext<'_>,
    options: &Options,
) -> Vec<Remark> {
    let mut found = Vec::new();
    warnings(rules, context, &mut found);
    unread(rules, context, &mut found);
    found.sort_by_key(|remark: &Remark| remark.line);
    notes(rules, context, options, &mut found);
    found
}

fn warnings(rules: &Rules, context: &GatewayContext<'_>, found: &mut Vec<Remark>) {
    let mut add = |rule: usize, text: String| {
        let remark = Remark {
            line: rules.line(rule),
            is_warning: true,
            text,
        };
        if !found.contains(&remark) {
            found.push(remark);
        }
    };
    rules.ways(&mut |way| {
        let Some(to) = way.to else { return };
        let name = rules.name(way.rule).unwrap_or_default();
        let (from, to) = (&context.sessions[way.from], &context.sessions[to]);
        if from.name == to.name {
            add(
                way.rule,
                format!(
                    "'{name}' routes messages of '{}' back to their source",
                    from.name
                ),
            );
        } else if !way.convert && from.version != to.version {
            let (one, other) = (from.version.name(), to.version.name());
            add(
                way.rule,
                format!(
                    "'{name}' sends {one} messages of '{}' to the {other} session '{}' without \
                     'convert'",
                    from.name, to.name
                ),
            );
        }
    });
}

/// Sessions to which a rule sends messages, but whose responses no rule handles.
fn unread(rules: &Rules, context: &GatewayContext<'_>, found: &mut Vec<Remark>) {
    let mut venues = Vec::new();
    rules.ways(&mut |way| {
        if let Some(to) = way.to
            && !rules.copies(way.rule, to)
            && !rules.reads_from(to)
            && !venues.contains(&(to, way.rule))
        {
            venues.push((to, way.rule));
        }
    });
    venues.sort_unstable();
    venues.dedup_by_key(|(to, _)| *to);
    for (to, rule) in venues {
        let name = rules.name(rule).unwrap_or_default();
        let to = &context.sessions[to].name;
        found.push(Remark {
            line: rules.line(rule),
            is_warning: true,
            text: format!(
                "'{name}' sends to '{to}', but no rule handles the responses of '{to}': add a rule with from = \
                 [\"{to}\"] and do = ['return']"
            ),
        });
    }
}

fn notes(rules: &Rules, context: &GatewayContext<'_>, options: &Options, found: &mut Vec<Remark>) {
    let mut add = |line: Option<usize>, text: String| {
        let is_warning = false;
        found.push(Remark {
            line,
            is_warning,
            text,
        });
    };
    let mut venues = Vec::new();
    let mut senders: Vec<usize> = Vec::new();
    rules.ways(&mut |way| {
        if let Some(to) = way.to
            && !venues.contains(&to)
        {
            venues.push(to);
        }
        if way.to.is_some() && !senders.contains(&way.rule) {
            senders.push(way.rule);
        }
    });
    let mut refused = Vec::new();
    for kind in MASS_REQUESTS {
        let shown = String::from_utf8_lossy(kind);
        let mut named = senders.iter().filter(|rule| rules.names_type(**rule, kind));
        let Some(first) = named.next() else {
            refused.push(shown);
            continue;
        };
        for rule in core::iter::once(first).chain(named) {
            let name = rules.name(*rule).unwrap_or_default();
            let text = format!(
                "'{name}' forwards {shown}, which may affect the orders of all clients at the \
                 destination"
            );
            add(rules.line(*rule), text);
        }
    }
    if !refused.is_empty() && !venues.is_empty() {
        let text = format!(
            "mass requests ({}) are rejected: no rule names their MsgType",
            refused.join(", ")
        );
        add(None, text);
    }
    venues.sort_unstable();
    for to in venues {
        if !options.targets[to].follows {
            let text = format!(
                "ids = \"pass\" for '{}': its orders are not tracked, so one client can affect \
                 the orders of another",
                context.sessions[to].name
            );
            add(None, text);
        }
    }
}
