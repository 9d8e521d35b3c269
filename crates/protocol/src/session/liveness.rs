//! Heartbeats and TestRequests: is the peer alive, and does it know that we are?

use crate::{Mono, Nanos};

/// Our knowledge of the peer; meaningful only while logged on.
///
/// ```text
///               silent for `probe`                      silent for `give_up`
///   Hearing ----------------------------> Probing ----------------------------> (disconnect)
///      ^         send TestRequest(1)         |
///      +-------------------------------------+
///                any message arrives
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Liveness {
    /// The peer spoke at `last`.
    Hearing {
        /// When its last message arrived.
        last: Mono,
    },
    /// A TestRequest was sent, and the peer has been silent since `last`; any message ends this, before it is checked.
    Probing {
        /// When its last message arrived.
        last: Mono,
    },
}

/// How long silence may last. Made from HeartBtInt(108) at logon.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Patience {
    /// Our own silence until we send a Heartbeat.
    pub beat: Nanos,
    /// The peer's silence until we send a TestRequest.
    pub probe: Nanos,
    /// The peer's silence until we close the connection.
    pub give_up: Nanos,
    /// Our Heartbeats go on while a TestRequest is out.
    pub beats_on: bool,
}

impl Patience {
    /// From the interval of the Logon; `None` for 0, which means no heartbeats at all.
    #[must_use]
    pub fn of(heart_bt_int_seconds: u32, probe_percent: u32, give_up_percent: u32) -> Option<Self> {
        if heart_bt_int_seconds == 0 {
            return None;
        }
        let seconds = u64::from(heart_bt_int_seconds);
        let percent = |of: u32| Nanos(seconds * u64::from(of) * (1_000_000_000 / 100));
        let probe = percent(probe_percent);
        Some(Self {
            beat: percent(100),
            probe,
            give_up: percent(give_up_percent).max(probe),
            beats_on: false,
        })
    }

    /// The same with Heartbeats while a TestRequest is out, or without.
    #[must_use]
    pub fn beating_on(self, beats_on: bool) -> Self {
        Self { beats_on, ..self }
    }

    /// The same for us, and any silence of the peer.
    #[must_use]
    pub fn without_end(self) -> Self {
        Self {
            probe: Nanos(u64::MAX),
            give_up: Nanos(u64::MAX),
            ..self
        }
    }
}

/// The action that is due.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Due {
    /// Nothing before `until`.
    Nothing {
        /// When to look again.
        until: Mono,
    },
    /// We were silent for too long: say something.
    Heartbeat,
    /// The peer was silent for too long: ask it.
    TestRequest,
    /// The peer did not answer.
    Disconnect,
}

/// Both directions of one connection.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Pulse {
    /// HeartBtInt(108) = 0: silence means nothing.
    None,
    /// HeartBtInt(108) > 0.
    Beating {
        /// How long silence may last.
        patience: Patience,
        /// When we last sent something.
        sent: Mono,
        /// Our knowledge of the peer.
        peer: Liveness,
    },
}

impl Pulse {
    /// Both Logons were exchanged now.
    #[must_use]
    pub fn start(now: Mono, patience: Option<Patience>) -> Self {
        match patience {
            None => Self::None,
            Some(patience) => Self::Beating {
                patience,
                sent: now,
                peer: Liveness::Hearing { last: now },
            },
        }
    }

    /// We have sent a message.
    #[must_use]
    pub fn sent(self, now: Mono) -> Self {
        match self {
            Self::None => self,
            Self::Beating { patience, peer, .. } => Self::Beating {
                patience,
                sent: now,
                peer,
            },
        }
    }

    /// The peer has sent a message.
    #[must_use]
    pub fn heard(self, now: Mono) -> Self {
        match self {
            Self::None => self,
            Self::Beating { patience, sent, .. } => Self::Beating {
                patience,
                sent,
                peer: Liveness::Hearing { last: now },
            },
        }
    }

    /// Time has passed. While a TestRequest is out no Heartbeat is sent, unless the patience says so: it was a
    /// message itself, and either the peer answers or the connection ends.
    #[must_use]
    pub fn elapse(self, now: Mono) -> (Self, Due) {
        let Self::Beating {
            patience,
            sent,
            peer,
        } = self
        else {
            return (
                self,
                Due::Nothing {
                    until: Mono(u64::MAX),
                },
            );
        };
        match peer {
            Liveness::Hearing { last } if now >= last + patience.probe => {
                let probing = Self::Beating {
                    patience,
                    sent,
                    peer: Liveness::Probing { last },
                };
                (probing, Due::TestRequest)
            }
            Liveness::Hearing { .. } if now >= sent + patience.beat => (self, Due::Heartbeat),
            Liveness::Hearing { last } => {
                let until = (last + patience.probe).min(sent + patience.beat);
                (self, Due::Nothing { until })
            }
            Liveness::Probing { last } if now >= last + patience.give_up => (self, Due::Disconnect),
            Liveness::Probing { .. } if patience.beats_on && now >= sent + patience.beat => {
                (self, Due::Heartbeat)
            }
            Liveness::Probing { last } => {
                let beat = match patience.beats_on {
                    true => sent + patience.beat,
                    false => Mono(u64::MAX),
                };
                let until = beat.min(last + patience.give_up);
                (self, Due::Nothing { until })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn pulse() -> Pulse {
        Pulse::start(Mono(0), Patience::of(10, 120, 240))
    }

    #[test]
    fn silence_is_probed_once_and_then_ends_the_connection() {
        let quiet = pulse().sent(Mono(11 * SECOND));
        let (probing, due) = quiet.elapse(Mono(12 * SECOND));
        assert_eq!(due, Due::TestRequest);
        let (probing, due) = probing.elapse(Mono(23 * SECOND));
        assert_eq!(
            due,
            Due::Nothing {
                until: Mono(24 * SECOND)
            }
        );
        let (_, due) = probing.elapse(Mono(24 * SECOND));
        assert_eq!(due, Due::Disconnect);
    }

    #[test]
    fn heartbeats_go_on_while_a_test_request_is_out_when_they_shall() {
        let patience = Patience::of(10, 120, 240).map(|patience| patience.beating_on(true));
        let quiet = Pulse::start(Mono(0), patience).sent(Mono(11 * SECOND));
        let (probing, due) = quiet.elapse(Mono(12 * SECOND));
        assert_eq!(due, Due::TestRequest);
        let probing = probing.sent(Mono(12 * SECOND));
        let until = Mono(22 * SECOND);
        assert_eq!(probing.elapse(Mono(13 * SECOND)).1, Due::Nothing { until });
        let (probing, due) = probing.elapse(until);
        assert_eq!(due, Due::Heartbeat);
        let until = Mono(24 * SECOND);
        let probing = probing.sent(Mono(22 * SECOND));
        assert_eq!(probing.elapse(Mono(23 * SECOND)).1, Due::Nothing { until });
        assert_eq!(probing.elapse(until).1, Due::Disconnect);
    }

    #[test]
    fn any_message_ends_the_probing() {
        let (probing, _) = pulse().elapse(Mono(12 * SECOND));
        let heard = probing.heard(Mono(13 * SECOND)).sent(Mono(13 * SECOND));
        let (_, due) = heard.elapse(Mono(14 * SECOND));
        assert_eq!(
            due,
            Due::Nothing {
                until: Mono(23 * SECOND)
            }
        );
    }

    #[test]
    fn a_heartbeat_is_due_one_interval_after_our_last_message() {
        let (_, due) = pulse().elapse(Mono(9 * SECOND));
        assert_eq!(
            due,
            Due::Nothing {
                until: Mono(10 * SECOND)
            }
        );
        let (_, due) = pulse().elapse(Mono(10 * SECOND));
        assert_eq!(due, Due::Heartbeat);
    }

    #[test]
    fn heart_bt_int_zero_means_that_silence_means_nothing() {
        let pulse = Pulse::start(Mono(0), Patience::of(0, 120, 240));
        let (_, due) = pulse.elapse(Mono(u64::MAX));
        assert_eq!(
            due,
            Due::Nothing {
                until: Mono(u64::MAX)
            }
        );
    }
}
