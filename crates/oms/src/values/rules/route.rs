//! Routes: they decide which line group gets an order.

use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use fixwire_protocol::{Message, Mono, Now, Tag, Timestamp};
use fixwire_text::Diagnostic;
use fixwire_transform::rules::{MessageCondition, NamedSession};

use crate::values::rules::matches;

/// A route: its line group gets the orders in its symbols that fulfil its condition.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Route {
    /// Symbols of the route; `*` matches any suffix. Empty for all symbols.
    pub symbols: Vec<String>,
    /// The condition on NewOrderSingle(D); `None` if the route applies to all orders in its symbols.
    pub when: Option<RouteCondition>,
    /// Index of the line group.
    pub group: usize,
}

impl Route {
    /// Whether the route applies to orders in a symbol.
    #[must_use]
    pub fn has(&self, symbol: &[u8]) -> bool {
        let mut symbols = self.symbols.iter();
        self.symbols.is_empty() || symbols.any(|pattern| matches(pattern, symbol))
    }

    /// The route as text, without its line group.
    pub(crate) fn text(&self) -> String {
        let symbols = match &self.symbols[..] {
            [] => "all".into(),
            symbols => symbols.join(" "),
        };
        match &self.when {
            Some(when) => format!("{symbols} when {}", when.text),
            None => symbols,
        }
    }
}

/// Condition of a route, in the language of the gateway's rules.
#[derive(Clone, Debug)]
pub struct RouteCondition {
    text: String,
    /// Byte offset of the condition in the settings.
    place: usize,
    /// The compiled condition; `None` before it is compiled, or when it has mistakes.
    test: Option<Arc<MessageCondition>>,
}

impl PartialEq for RouteCondition {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for RouteCondition {}

impl RouteCondition {
    /// A condition that is still to be compiled.
    pub(crate) fn new(text: &str, place: usize) -> Self {
        Self {
            text: text.into(),
            place,
            test: None,
        }
    }

    /// The condition as written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Compiles the condition for orders from these sessions; returns the mistakes in it.
    pub(crate) fn compile(
        &mut self,
        sessions: &[NamedSession<'_>],
        from: &[bool],
    ) -> Vec<Diagnostic> {
        match MessageCondition::read(&self.text, sessions, from) {
            Ok(test) => {
                self.test = Some(Arc::new(test));
                Vec::new()
            }
            Err(errors) => {
                let wrong = errors.into_iter().map(|error| {
                    let what = format!(
                        "when of a route, column {}: {}",
                        error.column, error.problem
                    );
                    let page = || "docs/reference/gateway-rules.md describes conditions".into();
                    Diagnostic::new(self.place, what, error.hint.unwrap_or_else(page))
                });
                wrong.collect()
            }
        }
    }

    /// Whether an order fulfils the condition. `source` is the index of the session that sent it, `at` the time in
    /// nanoseconds since 1970.
    pub(crate) fn holds(&self, order: &Message<'_>, source: usize, at: i64) -> bool {
        let now = Now {
            wall: Timestamp(at),
            mono: Mono(0),
        };
        let test = self.test.as_ref();
        test.is_some_and(|test| test.holds(order, source, now))
    }

    /// The tags of the fields that the condition reads.
    pub(crate) fn tags(&self) -> Vec<Tag> {
        self.test.as_ref().map_or(Vec::new(), |test| test.tags())
    }
}
