//! Heartbeats and TestRequests. Heartbeats and TestRequests find out whether the peer is alive, and show the peer that
//! we are.

use crate::{Mono, Nanos};

/// Our knowledge about the peer. This state has a meaning only while logged on.
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
    /// The last message of the peer arrived at `last`.
    Hearing {
        /// When the last message of the peer arrived.
        last: Mono,
    },
    /// We have sent a TestRequest, and the peer has been silent since `last`. Any message ends this state, even
    /// before the message is checked.
    Probing {
        /// When the last message of the peer arrived.
        last: Mono,
    },
}

/// How long a silence may last. The times follow from HeartBtInt(108) of the Logon.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Patience {
    /// After how long a silence of ours we send a Heartbeat.
    pub beat: Nanos,
    /// After how long a silence of the peer we send a TestRequest.
    pub probe: Nanos,
    /// After how long a silence of the peer we close the connection.
    pub give_up: Nanos,
    /// Whether we send Heartbeats while the peer has not answered our TestRequest.
    pub beats_on: bool,
}

impl Patience {
    /// The times for the interval in the Logon; `None` for 0, which means that there are no Heartbeats.
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

    /// The same times. `beats_on` sets whether we send Heartbeats while the peer has not answered our TestRequest.
    #[must_use]
    pub fn beating_on(self, beats_on: bool) -> Self {
        Self { beats_on, ..self }
    }

    /// The same times for our Heartbeats, but without a limit for the silence of the peer.
    #[must_use]
    pub fn without_end(self) -> Self {
        Self {
            probe: Nanos(u64::MAX),
            give_up: Nanos(u64::MAX),
            ..self
        }
    }
}

/// The action that is due now.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Due {
    /// Nothing before `until`.
    Nothing {
        /// When to check again.
        until: Mono,
    },
    /// We have been silent for too long, so we must send a Heartbeat.
    Heartbeat,
    /// The peer has been silent for too long, so we must send a TestRequest.
    TestRequest,
    /// The peer has not answered the TestRequest.
    Disconnect,
}

/// The heartbeats of one connection, in both directions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Pulse {
    /// HeartBtInt(108) is 0: silence has no meaning.
    None,
    /// HeartBtInt(108) > 0.
    Beating {
        /// How long silence may last.
        patience: Patience,
        /// When we last sent a message.
        sent: Mono,
        /// What we know about the peer.
        peer: Liveness,
    },
}

impl Pulse {
    /// Begins when both Logons have been exchanged.
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

    /// Records that we have sent a message.
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

    /// Records that the peer has sent a message.
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

    /// Finds out what has to be done at this time. While the peer has not answered our TestRequest, no Heartbeat is
    /// sent unless the configuration asks for it. The TestRequest was itself a message, and then either the peer
    /// answers or the connection ends.
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
