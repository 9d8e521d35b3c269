//! The steps of a case.

use std::time::Duration;

use fixwire_protocol::{Nanos, Tag, tag};

use super::assignment::Assignment;
use super::{CasePlayer, Trouble, stopped};
use crate::plan::{Expectation, Outgoing, PlanStep, StepAction};
use crate::scope::CaseScope;
use crate::session::{Inbound, Pumped, SendFailure, seconds};
use crate::wire_message::TextFields;

type Step = Result<(), Trouble>;

fn failed(line: usize, expected: &str, received: &str) -> Trouble {
    Trouble::Failed(line, vec![expected.to_owned(), received.to_owned()])
}

impl CasePlayer {
    /// A connection cannot be made or used. When the run was stopped, this is not the venue's fault.
    fn not_connected(&self, line: usize, expected: &str, why: &str) -> Trouble {
        match self.is_stopped() {
            true => stopped(),
            false => failed(line, expected, why),
        }
    }

    fn not_sent(&self, line: usize, failure: &SendFailure) -> Trouble {
        match failure {
            SendFailure::Message(why) => failed(line, "the message cannot be made", why),
            SendFailure::Connection(why) => {
                self.not_connected(line, "expected an open connection", why)
            }
        }
    }

    pub(super) fn step(&mut self, step: &PlanStep, scope: &mut CaseScope) -> Step {
        let line = step.line;
        match &step.action {
            StepAction::Connect => {
                let connected = self.session.connect();
                connected.map_err(|why| self.not_connected(line, "expected a connection", &why))
            }
            StepAction::LoggedOn => self.log_on().map_err(|trouble| match trouble {
                Trouble::NotPlayed(why) if !self.is_stopped() => {
                    let expected = format!("expected {}", self.session.words().login);
                    failed(line, &expected, &why)
                }
                other => other,
            }),
            StepAction::Logon(fields) => {
                let mut logon = self.session.logon_fields();
                let (given, left_out) = self.resolved(fields, scope, line)?;
                for (tag, value) in given {
                    match logon.iter_mut().find(|field| field.0 == tag) {
                        Some(field) => field.1 = value,
                        None => logon.push((tag, value)),
                    }
                }
                self.send(step, logon, &left_out, false, scope)
            }
            StepAction::LogOut(text) => {
                let mut logout = vec![(tag::MSG_TYPE, "5".to_owned())];
                if !text.is_empty() {
                    logout.push((tag::TEXT, text.clone()));
                }
                self.send(step, logout, &[], false, scope)
            }
            StepAction::Drop => {
                self.session.disconnect();
                Ok(())
            }
            StepAction::Send(outgoing) => self.outgoing(step, outgoing, false, scope),
            StepAction::Garbled(outgoing) => self.outgoing(step, outgoing, true, scope),
            StepAction::Burst(count, outgoing) => {
                let (fields, _) = self.composed(step, outgoing, scope)?;
                let sent = self.session.burst(*count, &fields);
                self.sent(step, sent, scope)
            }
            StepAction::Raw(bytes) => {
                let sent = self.session.send_bytes(bytes);
                sent.map_err(|error| self.not_sent(line, &error))
            }
            StepAction::Skip(count) => {
                self.session.skip(*count);
                Ok(())
            }
            StepAction::Answers(are_sent) => {
                self.session.set_answers(*are_sent);
                Ok(())
            }
            StepAction::Wait(time) => {
                let until = self.deadline(Some(Nanos::from(*time)));
                match self.session.gather(until) {
                    Pumped::Stopped => Err(stopped()),
                    // If the connection was lost meanwhile, the next step that needs the connection fails.
                    _ => Ok(()),
                }
            }
            StepAction::Silence(time) => self.silence(line, *time, scope),
            StepAction::Expect(expectation) => self.expect(expectation, scope),
            StepAction::Disconnect(within) => self.disconnected(line, *within, scope),
        }
    }

    fn resolved(
        &mut self,
        fields: &[(Tag, crate::value::SentValue)],
        scope: &mut CaseScope,
        line: usize,
    ) -> Result<(TextFields, Vec<Tag>), Trouble> {
        let Self { session, ids, .. } = self;
        let fields = scope.fields(fields, ids, &mut |offset| session.time(offset));
        fields.map_err(|why| failed(line, "the message cannot be made", &why))
    }

    /// The fields of a message to send, and the fields to leave out.
    fn composed(
        &mut self,
        step: &PlanStep,
        outgoing: &Outgoing,
        scope: &mut CaseScope,
    ) -> Result<(TextFields, Vec<Tag>), Trouble> {
        let Self {
            session,
            ids,
            layout,
            ..
        } = self;
        let at = session.now().wall;
        let made = scope.compose(outgoing, ids, layout.as_mut(), at, &mut |offset| {
            session.time(offset)
        });
        made.map_err(|why| failed(step.line, "the message cannot be made", &why))
    }

    fn outgoing(
        &mut self,
        step: &PlanStep,
        outgoing: &Outgoing,
        is_garbled: bool,
        scope: &mut CaseScope,
    ) -> Step {
        let (fields, left_out) = self.composed(step, outgoing, scope)?;
        self.send(step, fields, &left_out, is_garbled, scope)
    }

    fn send(
        &mut self,
        step: &PlanStep,
        fields: TextFields,
        left_out: &[Tag],
        is_garbled: bool,
        scope: &mut CaseScope,
    ) -> Step {
        let sent = self.session.send(&fields, left_out, is_garbled);
        self.sent(step, sent, scope)
    }

    fn sent(
        &mut self,
        step: &PlanStep,
        sent: Result<TextFields, SendFailure>,
        scope: &mut CaseScope,
    ) -> Step {
        let sent = sent.map_err(|error| self.not_sent(step.line, &error))?;
        scope.keep(step.number, sent);
        Ok(())
    }

    /// Receives messages until each pattern has its message.
    fn expect(&mut self, expectation: &Expectation, scope: &mut CaseScope) -> Step {
        let within = expectation.within.map_or(self.limit, Nanos::from);
        let until = self.deadline(Some(within));
        let names = self.names.clone();
        let mut assignment = Assignment::new(&expectation.patterns, &names, scope);
        loop {
            let left = assignment.left();
            let Some(first) = left.first().copied() else {
                return Ok(());
            };
            let shown = || -> String {
                let shown: Vec<String> = left.iter().map(|pattern| scope.shown(pattern)).collect();
                format!("expected {}", shown.join(" and "))
            };
            let late = |received: &str| {
                let expected = format!("{} within {}", shown(), seconds(within));
                Err(failed(first.line, &expected, received))
            };
            let Some(message) = self.session.inbox().pop_front() else {
                match self.session.pump(until) {
                    Pumped::Message => continue,
                    Pumped::Stopped => return Err(stopped()),
                    Pumped::TimedOut => return late("received nothing"),
                    Pumped::Closed => return late("the venue closed the connection"),
                }
            };
            if let Some(fault) = &message.fault {
                return late(&format!("received {}: {fault}", message.shown));
            }
            if self.set_aside(&message, scope) {
                continue;
            }
            let Err(differences) = assignment.take(&message.fields, scope) else {
                for secret in scope.secrets().iter() {
                    self.session.hide(secret);
                }
                continue;
            };
            if !expectation.skips_others && !self.session.is_chatter(&message) {
                let left: Vec<String> = left.iter().map(|pattern| scope.shown(pattern)).collect();
                let mut why = vec![
                    format!("expected {}", left.join(" and ")),
                    format!("received {}", message.shown),
                ];
                why.extend(differences);
                return Err(Trouble::Failed(first.line, why));
            }
        }
    }

    /// Waits for this time. Fails if a message other than a Heartbeat or TestRequest arrives.
    fn silence(&mut self, line: usize, time: Duration, scope: &CaseScope) -> Step {
        let until = self.deadline(Some(Nanos::from(time)));
        let expected = format!("expected nothing for {}", seconds(Nanos::from(time)));
        loop {
            while let Some(message) = self.session.inbox().pop_front() {
                self.quiet(line, &expected, &message, scope)?;
            }
            match self.session.pump(until) {
                Pumped::Message => {}
                Pumped::TimedOut => return Ok(()),
                Pumped::Closed => {
                    return Err(failed(line, &expected, "the venue closed the connection"));
                }
                Pumped::Stopped => return Err(stopped()),
            }
        }
    }

    /// Waits until the venue closes the connection. Fails if another message arrives.
    fn disconnected(&mut self, line: usize, within: Option<Duration>, scope: &CaseScope) -> Step {
        let within = within.map_or(self.limit, Nanos::from);
        let until = self.deadline(Some(within));
        let expected = format!(
            "expected the venue to close the connection within {}",
            seconds(within)
        );
        loop {
            while let Some(message) = self.session.inbox().pop_front() {
                self.quiet(line, &expected, &message, scope)?;
            }
            match self.session.pump(until) {
                Pumped::Message => {}
                Pumped::Closed => return Ok(()),
                Pumped::TimedOut => {
                    return Err(failed(line, &expected, "the connection is still open"));
                }
                Pumped::Stopped => return Err(stopped()),
            }
        }
    }

    /// Fails for any message except a Heartbeat or TestRequest, which may arrive at any time.
    fn quiet(&mut self, line: usize, expected: &str, message: &Inbound, scope: &CaseScope) -> Step {
        let fault = message.fault.as_ref().map(|fault| format!(": {fault}"));
        if fault.is_none() && (self.session.is_chatter(message) || self.set_aside(message, scope)) {
            return Ok(());
        }
        let received = format!("received {}{}", message.shown, fault.unwrap_or_default());
        Err(failed(line, expected, &received))
    }
}
