//! [`Notice`]: an event of a gateway as a line for its operator.

use std::fmt;

use fixwire_engine::SendError;
use fixwire_gateway::gateway::{GatewayEvent, Listener};
use fixwire_protocol::SessionId;
use fixwire_protocol::readable::{Escaped, ReadableFields};

use super::remote::Remote;

/// An event of a gateway. The `Display` of an event is a line for the operator, without control characters and
/// passwords.
#[derive(Clone, Copy, Debug)]
pub struct Notice<'n> {
    /// The event. The request to connect or disconnect the session was sent to the engine before.
    pub event: GatewayEvent<'n>,
    /// Why the engine refused the request to connect or disconnect; `None` if the engine accepted the request, or if
    /// the event has no request.
    pub failed: Option<SendError>,
    names: &'n [String],
}

/// A listener that connects and logs out sessions when a rule requests it, and passes each event to `told`.
pub(crate) fn listener(
    names: Vec<String>,
    remote: Remote,
    mut told: impl FnMut(&Notice<'_>) + Send + 'static,
) -> Listener {
    Box::new(move |event| {
        let failed = match event {
            GatewayEvent::Connect { session, .. } => remote.ask(|engine| engine.log_on(session)),
            GatewayEvent::Disconnect { session, .. } => {
                remote.ask(|engine| engine.log_out(session, ""))
            }
            _ => None,
        };
        told(&Notice {
            event,
            failed,
            names: &names,
        });
    })
}

impl Notice<'_> {
    /// The name that rules use for a session; empty when no session has this id.
    #[must_use]
    pub fn name(&self, session: SessionId) -> &str {
        let name = self.names.get(session.0 as usize);
        name.map_or("", String::as_str)
    }

    fn client(&self, session: Option<SessionId>) -> &str {
        session.map_or("a removed session", |one| self.name(one))
    }

    fn done(&self) -> String {
        let failed = self.failed.as_ref();
        let failed = failed.map(|error| format!(", which failed: {error}"));
        failed.unwrap_or_default()
    }

    fn sentence(&self) -> String {
        match self.event {
            GatewayEvent::Notify { rule, text } => format!("gateway {rule}: {}", Escaped(text)),
            GatewayEvent::Connect { rule, session } => {
                format!(
                    "{} connect requested by {rule}{}",
                    self.name(session),
                    self.done()
                )
            }
            GatewayEvent::Disconnect { rule, session } => {
                format!(
                    "{} disconnect requested by {rule}{}",
                    self.name(session),
                    self.done()
                )
            }
            GatewayEvent::Trouble {
                from,
                message,
                rule,
                trouble,
            } => {
                let rule = rule.map(|rule| format!("{rule}: ")).unwrap_or_default();
                let from = self.name(from);
                format!("{from} {rule}{trouble}: {}", ReadableFields(&message))
            }
            GatewayEvent::Undelivered {
                from,
                to,
                message,
                trouble,
            } => {
                let [from, to] = [from, to].map(|one| self.client(one));
                format!("{from} to {to}: {trouble}: {}", ReadableFields(&message))
            }
            GatewayEvent::Room {
                limit,
                client,
                is_share,
                taken,
                of,
            } => {
                let client = self.client(client);
                let unit = if limit == "max_orders" {
                    "ids"
                } else {
                    "bytes"
                };
                if is_share {
                    format!("gateway {limit}: {client} uses {taken} {unit} of its share of {of}")
                } else {
                    format!("gateway {limit}: {taken} of {of} {unit} used, most by {client}")
                }
            }
            GatewayEvent::Note(error) => format!("gateway {error}"),
            other => format!("gateway {other:?}"),
        }
    }
}

impl fmt::Display for Notice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Escaped(self.sentence().as_bytes()))
    }
}
