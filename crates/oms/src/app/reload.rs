//! Reloads the settings, including those of clients, drop copies and lines.

use alloc::boxed::Box;
use alloc::string::String;

use fixwire_protocol::{OperatorCommand, Outbox};

use super::Oms;
use super::requests::routes;
use crate::decide::reload::{NewSettings, SettingsSource};
use crate::fix::market_requests;
use crate::values::rules::UserRule;

const NONE: &str = "no new settings to reload: use fixwire oms reload";

/// Maximum number of bytes of a request for the state of trading.
const QUESTION: usize = 64;

impl Oms {
    /// Sets the source of new settings for a reload.
    pub fn set_settings_source(&mut self, source: Box<dyn SettingsSource>) {
        self.settings = Some(source);
    }

    /// Completes new settings. Adds the settings of TMP lines, which are read separately, and compiles the conditions
    /// of routes with the dictionaries of the sessions in use.
    fn complete(&self, new: &mut NewSettings) {
        self.add_users(&mut new.rules);
        if new.rules.has_conditions() {
            let sessions = &self.sessions[..self.configured];
            let sessions = Self::with_samples_of(&new.rules, sessions, &self.templates);
            routes::compile_routes(&mut new.rules, &sessions);
        }
        self.links.tmp.complete(&mut new.rules);
    }

    /// The changes that the new settings would make; nothing is applied.
    pub(super) fn check_reload(&self) -> Result<String, String> {
        let source = self.settings.as_ref().ok_or(NONE)?;
        let mut new = source.take().ok_or(NONE)?;
        let text = if self.begun {
            self.complete(&mut new);
            self.core.check_reload(&new)
        } else {
            Err("the OMS is starting: try again".into())
        };
        source.give_back(new);
        text
    }

    /// Applies the new settings.
    pub(super) fn reload(
        &mut self,
        at: i64,
        command: OperatorCommand<'_>,
        outbox: &mut Outbox,
    ) -> Result<String, String> {
        let source = self.settings.take().ok_or(NONE)?;
        let done = match source.take() {
            Some(mut new) => {
                self.complete(&mut new);
                let done = self.go_on_with(at, &mut new, command, outbox);
                source.give_back(new);
                done
            }
            None => Err(NONE.into()),
        };
        self.settings = Some(source);
        done
    }

    /// Requests the state of trading from venues again, because the new settings may have new symbols or another kind
    /// of request.
    fn ask_all_markets(&mut self, outbox: &mut Outbox) {
        for line in self.core.state().sessions().numbers() {
            if !self.core.state().is_ready(line) || !self.core.follows_markets(line) {
                continue;
            }
            if let Some(Some(client)) = self.links.clients.get(line) {
                market_requests::ask(client.session, outbox);
                continue;
            }
            let mut links = self.links.tmp.lines.iter();
            if let Some(link) = links.position(|link| link.index == Some(line)) {
                self.ask_markets(link, line);
            }
        }
    }

    fn go_on_with(
        &mut self,
        at: i64,
        new: &mut NewSettings,
        command: OperatorCommand<'_>,
        outbox: &mut Outbox,
    ) -> Result<String, String> {
        let plan = self.core.plan_reload(new, command)?;
        let bytes = plan.bytes(command);
        // Each line may get a request.
        let lines = self.core.state().sessions.len();
        if !outbox.has_room(1 + lines, bytes + lines * QUESTION) {
            return Err(alloc::format!(
                "the OMS is busy, or these are too many changes for one record ({bytes} bytes): try again, or change fewer at a time"
            ));
        }
        let (core, mut out) = self.parts(outbox, None);
        let done = core.reload(at, new, &plan, command, &mut out)?;
        if new.is_applied {
            self.securities.keep(&new.rules.instruments);
            self.samples = self.samples_of(self.core.rules());
            self.find_clients();
            let (indices, core) = (&self.indices, &self.core);
            self.securities.end_without_right(|session| {
                let index = indices.get(session.0 as usize).copied().flatten();
                index.is_some_and(|it| core.user(it).is_ok_and(UserRule::may_list_securities))
            });
            self.rates.follow(&self.core.users);
            self.links.tmp.scales.clone_from(&self.core.tmp_scales);
            if plan.is_about_markets() {
                self.ask_all_markets(outbox);
            }
        }
        Ok(done)
    }
}
