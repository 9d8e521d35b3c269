//! Where events go, at a bounded rate.

use fixwire_protocol::{Mono, Nanos, Now};

use super::Event;

const KINDS: usize = 23;
const SECOND: Nanos = Nanos(1_000_000_000);

/// Receives events on the engine's thread.
pub type Sink = Box<dyn FnMut(Now, &Event) + Send>;

/// Passes events on, so many of each kind a second.
pub(crate) struct Events {
    sink: Option<Sink>,
    /// They hear every event but those that strangers can cause without end.
    logs: Vec<Sink>,
    per_second: u32,
    since: Mono,
    told: [u32; KINDS],
    /// Events that the sink did not hear, and those that the logs did not.
    suppressed: [u64; 2],
}

impl Events {
    pub(crate) fn new(per_second: u32) -> Self {
        Self {
            sink: None,
            logs: Vec::new(),
            per_second,
            since: Mono(0),
            told: [0; KINDS],
            suppressed: [0; 2],
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
        if now.mono.0.saturating_sub(self.since.0) >= SECOND.0 {
            self.since = now.mono;
            self.told = [0; KINDS];
            let [unheard, unlogged] = std::mem::take(&mut self.suppressed);
            pass(&mut self.sink, unheard, now);
            pass(&mut self.logs, unlogged, now);
        }
        let told = &mut self.told[event.kind()];
        let flood = *told >= self.per_second;
        *told += u32::from(!flood);
        match &mut self.sink {
            Some(sink) if !flood => sink(now, event),
            _ => self.suppressed[0] += 1,
        }
        // A stranger may come again and again.
        if flood && matches!(event, Event::Refused { .. }) {
            self.suppressed[1] += 1;
            return;
        }
        for log in &mut self.logs {
            log(now, event);
        }
    }
}

/// Says how many events were left out, if any.
fn pass<'a>(sinks: impl IntoIterator<Item = &'a mut Sink>, events: u64, now: Now) {
    if events > 0 {
        for sink in sinks {
            sink(now, &Event::Suppressed { events });
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
        let (heard, logged) = (Arc::default(), Arc::default());
        let into = |list: &Arc<Mutex<Vec<Event>>>| -> Sink {
            let list = Arc::clone(list);
            Box::new(move |_, event| list.lock().unwrap().push(event.clone()))
        };
        let mut events = Events::new(2);
        events.listen(into(&heard));
        events.log(into(&logged));
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
        for _ in 0..3 {
            events.tell(at(1), &on);
        }
        events.tell(at(2), &on);
        let refused = [refused.clone(), refused];
        let on = |times| vec![on.clone(); times];
        let rest = |events| vec![Event::Suppressed { events }];
        let expected = [refused.to_vec(), on(2), rest(4), on(1)].concat();
        assert_eq!(*heard.lock().unwrap(), expected);
        // A log has every event of our own.
        let expected = [refused.to_vec(), on(3), rest(3), on(1)].concat();
        assert_eq!(*logged.lock().unwrap(), expected);
    }
}
