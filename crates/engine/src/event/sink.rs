//! Where events go, at a bounded rate.

use fixwire_protocol::{Mono, Nanos, Now};

use super::Event;

const KINDS: usize = 22;
const SECOND: Nanos = Nanos(1_000_000_000);

/// Receives events on the engine's thread.
pub type Sink = Box<dyn FnMut(Now, &Event) + Send>;

/// Passes events on, so many of each kind a second.
pub(crate) struct Events {
    sink: Option<Sink>,
    /// They hear every event.
    logs: Vec<Sink>,
    per_second: u32,
    since: Mono,
    told: [u32; KINDS],
    suppressed: u64,
}

impl Events {
    pub(crate) fn new(per_second: u32) -> Self {
        Self {
            sink: None,
            logs: Vec::new(),
            per_second,
            since: Mono(0),
            told: [0; KINDS],
            suppressed: 0,
        }
    }

    pub(crate) fn listen(&mut self, sink: Sink) {
        self.sink = Some(sink);
    }

    pub(crate) fn log(&mut self, sink: Sink) {
        self.logs.push(sink);
    }

    #[cold]
    pub(crate) fn tell(&mut self, now: Now, event: &Event) {
        for log in &mut self.logs {
            log(now, event);
        }
        let Some(sink) = &mut self.sink else { return };
        if now.mono.0.saturating_sub(self.since.0) >= SECOND.0 {
            self.since = now.mono;
            self.told = [0; KINDS];
            if self.suppressed > 0 {
                sink(
                    now,
                    &Event::Suppressed {
                        events: self.suppressed,
                    },
                );
                self.suppressed = 0;
            }
        }
        let told = &mut self.told[event.kind()];
        if *told < self.per_second {
            *told += 1;
            sink(now, event);
        } else {
            self.suppressed += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Refusal;
    use fixwire_protocol::{SessionId, Timestamp};
    use std::sync::{Arc, Mutex};

    #[test]
    fn a_flood_of_one_kind_is_counted_and_hides_no_other_kind() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let mut events = Events::new(2);
        let sink = Arc::clone(&heard);
        events.listen(Box::new(move |_, event| {
            sink.lock().unwrap().push(event.clone())
        }));
        let at = |seconds: u64| Now {
            wall: Timestamp(0),
            mono: Mono(seconds * SECOND.0),
        };
        let refused = Event::Refused {
            from: "127.0.0.1:9".parse().unwrap(),
            why: Refusal::Garbled,
        };
        for _ in 0..5 {
            events.tell(at(1), &refused);
        }
        let on = Event::LoggedOn {
            session: SessionId(0),
        };
        events.tell(at(1), &on);
        events.tell(at(2), &on);
        let suppressed = Event::Suppressed { events: 3 };
        assert_eq!(
            *heard.lock().unwrap(),
            [refused.clone(), refused, on.clone(), suppressed, on]
        );
    }
}
