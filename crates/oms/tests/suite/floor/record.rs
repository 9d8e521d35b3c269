//! What happens on a floor, for the proof.

use super::{CLIENT, COPY, Floor, VENUE};
use crate::proof::{self, Proof, Recorder};

impl Floor {
    /// Records what the peers have received, and all state.
    pub fn record(&mut self, to: &mut Recorder) {
        for (name, session) in [("client", CLIENT), ("venue", VENUE), ("copy", COPY)] {
            for message in self.world.peer(session).received() {
                let text = String::from_utf8_lossy(&message.bytes);
                to.output(name, &text.replace('\x01', "|"));
            }
        }
        let oms = self.world.application().expect("it runs");
        to.state(&proof::lines(oms));
    }

    /// What was received, and all state, are those of the proof.
    pub fn is_proven(&mut self, kind: &str) {
        let mut proof = Proof::new(kind);
        let mut recorder = proof.recorder("end");
        self.record(&mut recorder);
        proof.add(recorder);
        proof.check(true);
    }
}
