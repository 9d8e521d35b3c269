//! [`GatewayService`]: the gateway as an application that carries out commands of other threads between two messages.
//! Also writes the gateway's counters.

use fixwire_control::{COUNTS, FIGURES};
use fixwire_gateway::Gateway;
use fixwire_protocol::{
    Application, Now, OperatorCommand, OperatorRight, Outbox, forward_application,
};
use fixwire_settings::{LoadError, Settings, Source};

use super::load::{LoadedGateway, load, names};
use super::notice::{Notice, listener};
use super::remote::{Outcome, RELOAD, Remote};

/// A gateway for [`Engine::new`](fixwire_engine::Engine::new). The gateway service connects and logs out sessions when
/// rules request it, answers the query `counts`, and receives new rules from a [`Reloader`](crate::Reloader).
#[derive(Debug)]
pub struct GatewayService {
    loaded: LoadedGateway,
    remote: Remote,
}

impl GatewayService {
    /// Loads the gateway of a file with the sessions of the same file. `told` receives the events of the gateway, on
    /// the engine's thread.
    ///
    /// # Errors
    ///
    /// See [`load`](crate::load()).
    pub fn load(
        source: &Source,
        settings: &Settings,
        told: impl FnMut(&Notice<'_>) + Send + 'static,
    ) -> Result<Self, LoadError> {
        let remote = Remote::default();
        let listener = listener(names(settings), remote.clone(), told);
        let loaded = load(source, settings, listener)?;
        Ok(Self { loaded, remote })
    }

    /// The remote by which other threads reach the gateway. Pass a handle of the gateway's engine to
    /// [`Remote::attach`].
    #[must_use]
    pub fn remote(&self) -> Remote {
        self.remote.clone()
    }

    /// The gateway and the file from which it was loaded. After a reload, the tables are still those that were read at
    /// the start.
    #[must_use]
    pub fn loaded(&self) -> &LoadedGateway {
        &self.loaded
    }

    fn gateway(&self) -> &Gateway {
        &self.loaded.gateway
    }

    fn gateway_mut(&mut self) -> &mut Gateway {
        &mut self.loaded.gateway
    }

    fn reload(&mut self) -> Outcome {
        let Some(mut new) = self.remote.take_new() else {
            return Err("no new rules are waiting".to_owned());
        };
        let outcome = match self.gateway_mut().reload(&mut new) {
            Ok(()) => {
                let rules = self.gateway().rules().len();
                let plural = if rules == 1 { "" } else { "s" };
                Ok(format!("gateway reloaded: {rules} rule{plural}"))
            }
            Err(error) => Err(format!("gateway not reloaded: {error}")),
        };
        self.remote.give_back(new);
        outcome
    }
}

/// The counters of a gateway since its start, one line each.
#[must_use]
pub fn counts(gateway: &Gateway) -> Vec<String> {
    let (all, orders) = (gateway.counters(), gateway.orders().counters());
    let mut lines = vec![
        format!(
            "received {}, sent {}, copied {}, returned {}, rejected {}",
            all.received, all.sent, all.copied, all.returned, all.rejected
        ),
        format!(
            "unmatched {}, unsolicited {}, routing loops {}, scripts failed {}, failures {}",
            all.unmatched, all.unsolicited, all.came_back, all.scripts_failed, all.troubles
        ),
        format!(
            "orders live {}, ids in memory {}, refused {}, ids rewritten {}",
            orders.live,
            orders.remembered,
            orders.refused + all.over_share,
            orders.rewritten
        ),
    ];
    if all.held > 0 {
        lines.push(format!(
            "held {}, undelivered {}, cancelled {}",
            all.held, all.undelivered, all.cancelled
        ));
    }
    for waiting in gateway.held() {
        lines.push(format!(
            "held for {}: {} messages in {} bytes",
            waiting.session, waiting.messages, waiting.bytes
        ));
    }
    let remembered = gateway.remembered();
    if remembered.bytes > 0 {
        lines.push(format!(
            "remembered for {} orders in {} bytes, dropped {}",
            remembered.orders, remembered.bytes, remembered.dropped
        ));
    }
    for (rule, matched) in gateway.matched().iter().enumerate() {
        let name = gateway.rules().name(rule).unwrap_or_default();
        lines.push(format!("rule {name}: {matched}"));
    }
    for (name, count) in gateway.counted() {
        lines.push(format!("counter {name}: {count}"));
    }
    for (from, to, losses) in gateway.losses() {
        let (from, to) = (from.name(), to.name());
        for (tag, count) in losses.iter() {
            lines.push(format!("lost from {from} to {to}: field {tag}: {count}"));
        }
        if losses.others() > 0 {
            let count = losses.others();
            lines.push(format!("lost from {from} to {to}: other fields: {count}"));
        }
    }
    lines
}

/// The counters of a gateway since its start, one line each: names and a value, separated by tabs.
fn figures(gateway: &Gateway) -> String {
    let (all, orders) = (gateway.counters(), gateway.orders().counters());
    let remembered = gateway.remembered();
    let mut text = String::new();
    for (name, count) in [
        ("received", all.received),
        ("sent", all.sent),
        ("copied", all.copied),
        ("returned", all.returned),
        ("rejected", all.rejected),
        ("unmatched", all.unmatched),
        ("unsolicited", all.unsolicited),
        ("came_back", all.came_back),
        ("scripts_failed", all.scripts_failed),
        ("troubles", all.troubles),
        ("held", all.held),
        ("undelivered", all.undelivered),
    ] {
        text += &format!("{name}\t{count}\n");
    }
    text += &format!(
        "orders\tlive\t{}\norders\tremembered\t{}\norders\trefused\t{}\norders\tids_rewritten\t{}\n",
        orders.live,
        orders.remembered,
        orders.refused + all.over_share,
        orders.rewritten
    );
    for waiting in gateway.held() {
        let session = waiting.session;
        text += &format!(
            "held_for\t{session}\tmessages\t{}\nheld_for\t{session}\tbytes\t{}\n",
            waiting.messages, waiting.bytes
        );
    }
    text += &format!(
        "values_remembered\torders\t{}\nvalues_remembered\tbytes\t{}\nvalues_remembered\tdropped\t{}\n",
        remembered.orders, remembered.bytes, remembered.dropped
    );
    for (rule, matched) in gateway.matched().iter().enumerate() {
        let name = gateway.rules().name(rule).unwrap_or_default();
        text += &format!("rules\t{name}\t{matched}\n");
    }
    for (name, count) in gateway.counted() {
        text += &format!("counters\t{name}\t{count}\n");
    }
    text
}

#[deny(clippy::missing_trait_methods)]
impl Application for GatewayService {
    forward_application!(
        gateway, gateway_mut:
        on_message on_frame on_link on_admin_out on_admin on_poss_dup on_reject on_business_reject
        on_reject_sent on_resend on_reset survives_panics on_note ledger on_checkpoint state_hash
        on_logon_request on_logon on_logout on_disconnect on_hours on_disk on_session_request
        on_session_added on_time permission owns
    );

    fn command_right(&self, command: &[u8]) -> Option<OperatorRight> {
        (command == RELOAD).then_some(OperatorRight::Reload)
    }

    fn query_right(&self, query: &[u8]) -> Option<OperatorRight> {
        matches!(query, COUNTS | FIGURES).then_some(OperatorRight::Read)
    }

    fn on_query(&self, _: Now, query: &[u8], answer: &mut Vec<u8>) -> Result<(), String> {
        if query == FIGURES {
            answer.extend_from_slice(figures(&self.loaded.gateway).as_bytes());
            return Ok(());
        }
        if query != COUNTS {
            return Err("unknown query: a gateway supports only `counts`".into());
        }
        answer.extend_from_slice(counts(&self.loaded.gateway).join("\n").as_bytes());
        Ok(())
    }

    fn on_command(
        &mut self,
        _: Now,
        command: OperatorCommand<'_>,
        answer: &mut Vec<u8>,
        _: &mut Outbox,
    ) -> Result<(), String> {
        if command.bytes != RELOAD {
            return Err("a gateway accepts only the command `fixwire gateway reload`".into());
        }
        answer.extend_from_slice(self.reload()?.as_bytes());
        Ok(())
    }
}
