//! Events of a world: points of death, orders, commands, weather.

use fixwire::host::ConnId;
use fixwire::protocol::{Nanos, SessionId};

use super::World;
use crate::simulation::peer::Manner;
use crate::simulation::trouble::{self, MILLI};

impl World {
    /// Chooses the next point of death.
    pub(super) fn plan(&mut self) {
        if self.deaths > 0 {
            trouble::plan(&mut self.random, &self.disk, self.config.durability);
        }
    }

    /// Actions that peers and the application take by themselves.
    pub(super) fn act(&mut self) {
        let at = self.any_peer();
        if self.orders > 0 && self.peers[at].logged_on && self.chance(2) {
            self.orders -= 1;
            self.tally.orders += 1;
            let manner = match self.random.below(12) {
                0 => Manner::Lost,
                1 => Manner::Garbled,
                _ => Manner::Plain,
            };
            let kinds = 3 + self.peers.len() as u64;
            let quantity = 1 + self.random.below(kinds);
            let text = 1 + self.random.below(self.text as u64) as usize;
            self.peers[at].order(quantity, text, manner);
        }
        match self.random.below(80) {
            0..4 => {
                let draw = self.random.below(1 << 20);
                self.peers[at].repeat(draw);
            }
            // A message with an old number could be taken for a message after a reset.
            4 if !self.was_reset => self.peers[at].provoke(),
            5 if self.peers[at].dials() && self.chance(4) => {
                self.tally.sequence_resets += 1;
                self.peers[at].wants_reset = true;
                self.peers[at].end(&self.net);
            }
            6..10 => {
                if let Some(engine) = &mut self.engine {
                    engine.application_mut().news += 1;
                }
            }
            _ => {}
        }
    }

    /// Commands of an operator and of other threads to the engine.
    pub(super) fn command(&mut self) {
        let at = self.any_peer();
        let Some(handle) = self.handles.get_mut(self.tally.commands as usize % 2) else {
            return;
        };
        match self.random.below(240) {
            0..=8 => {
                let text = format!("148=told {}\u{1}", self.tally.commands);
                let sent = handle.send_fields(SessionId(at as u32), b"B", text.as_bytes());
                self.tally.commands += u64::from(sent.is_ok());
            }
            9..=10 => self.to_reset = Some(at),
            11 if self.random.below(4) == 0 && !self.stopping && handle.stop().is_ok() => {
                self.tally.commands += 1;
                self.stopping = true;
                self.peers.iter_mut().for_each(|peer| peer.stopping = true);
            }
            _ => {}
        }
    }

    /// Lets the operator reset the sequence numbers of a session while its connection holds.
    pub(super) fn reset(&mut self) -> bool {
        let (Some(at), Some(engine)) = (self.to_reset, &self.engine) else {
            return false;
        };
        let Some(conn) = self.peers[at].conn() else {
            return false;
        };
        let is_on = engine
            .sessions()
            .nth(at)
            .is_some_and(|session| session.logged_on);
        let is_provoked = self.peers[at].provoked;
        if !is_on || is_provoked || self.stopping || !self.net.is_settled(ConnId(conn.0 ^ 1)) {
            return false;
        }
        self.to_reset = None;
        self.was_reset = true;
        self.tally.commands += 1;
        self.tally.sequence_resets += 1;
        self.handles[0].reset(SessionId(at as u32)).is_ok()
    }

    /// Actions of the network and the clock.
    pub(super) fn weather(&mut self) {
        let at = self.any_peer();
        let conn = self.peers[at].conn();
        trouble::blow(&mut self.random, &self.net, conn, &mut self.tally);
        if self.steps_clock && self.chance(40) {
            self.tally.clock_steps += 1;
            let day = 86_400_000_000_000;
            let step = if self.chance(2) { day } else { -day };
            self.net.step_wall(step);
        }
        if self.is_scheduled && self.chance(300) {
            self.tally.periods += 1;
            self.net.advance(Nanos(86_400_000 * MILLI));
            for peer in &mut self.peers {
                peer.begin_period(&self.net);
            }
        }
        trouble::pass_time(&mut self.random, &self.net);
    }
}
