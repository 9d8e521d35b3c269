//! Delivers events to the listener, at a limited rate.

use std::collections::BTreeMap;

use fixwire_protocol::{Mono, Nanos, Now, SessionId};

use super::Event;

const SECOND: Nanos = Nanos(1_000_000_000);

/// Receives events on the engine's thread.
pub type EventSink = Box<dyn FnMut(Now, &Event) + Send>;

/// Passes events on. In each second at most a fixed number of events is passed on for each pair of session and kind;
/// events without a session are counted by kind. The number of suppressed events follows at the end of the second.
pub(crate) struct Events {
    sink: Option<EventSink>,
    /// Logs get every event, except those that unknown peers could cause without limit.
    logs: Vec<EventSink>,
    per_second: u32,
    /// Start of the current second.
    since: Mono,
    /// Events raised in the current second, by session and kind.
    raised: BTreeMap<(Option<SessionId>, &'static str), Raised>,
    /// Whether any event of the current second was suppressed.
    holds: bool,
}

#[derive(Default)]
struct Raised {
    passed: u32,
    /// Number of events that were not passed to the sink, and number that were not passed to the logs.
    held: [u64; 2],
}

impl Events {
    pub(crate) fn new(per_second: u32) -> Self {
        Self {
            sink: None,
            logs: Vec::new(),
            per_second,
            since: Mono(0),
            raised: BTreeMap::new(),
            holds: false,
        }
    }

    pub(crate) fn listen(&mut self, sink: EventSink) {
        self.sink = Some(sink);
    }

    pub(crate) fn log(&mut self, sink: EventSink) {
        self.logs.push(sink);
    }

    #[cold]
    pub(crate) fn raise(&mut self, now: Now, event: &Event) {
        if now.mono >= self.since + SECOND {
            self.pass_counts(now);
            self.since = now.mono;
        }
        let key = (event.session(), event.kind());
        let raised = self.raised.entry(key).or_default();
        let floods = raised.passed >= self.per_second;
        if !floods {
            raised.passed += 1;
            self.sink.iter_mut().for_each(|sink| sink(now, event));
        } else {
            raised.held[0] += 1;
            self.holds = true;
            // Unknown peers could raise this event without limit by connecting again and again.
            if matches!(event, Event::Refused { .. }) {
                raised.held[1] += 1;
                return;
            }
        }
        self.logs.iter_mut().for_each(|log| log(now, event));
    }

    /// The time at which [`pass_counts`](Self::pass_counts) has a count to report; `None` when no event was suppressed.
    pub(crate) fn due(&self) -> Option<Mono> {
        self.holds.then_some(self.since + SECOND)
    }

    /// Reports how many events were suppressed in the current second, and starts the next second.
    #[cold]
    pub(crate) fn pass_counts(&mut self, now: Now) {
        self.since = now.mono;
        self.holds = false;
        for ((session, kind), Raised { held, .. }) in std::mem::take(&mut self.raised) {
            let pass = |sink: &mut EventSink, events| {
                if events > 0 {
                    let event = Event::Suppressed {
                        session,
                        kind,
                        events,
                    };
                    sink(now, &event);
                }
            };
            self.sink.iter_mut().for_each(|sink| pass(sink, held[0]));
            self.logs.iter_mut().for_each(|log| pass(log, held[1]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{ConnectionRefusal, PeerText};
    use fixwire_protocol::Timestamp;
    use std::sync::{Arc, Mutex};

    type Heard = Arc<Mutex<Vec<Event>>>;

    fn events() -> (Events, Heard, Heard) {
        let (heard, logged) = (Heard::default(), Heard::default());
        let into = |list: &Heard| -> EventSink {
            let list = Arc::clone(list);
            Box::new(move |_, event| list.lock().unwrap().push(event.clone()))
        };
        let mut events = Events::new(2);
        events.listen(into(&heard));
        events.log(into(&logged));
        (events, heard, logged)
    }

    fn at(seconds: u64) -> Now {
        Now {
            wall: Timestamp(0),
            mono: Mono(seconds * SECOND.0),
        }
    }

    fn on(session: u32) -> Event {
        Event::LoggedOn {
            session: SessionId(session),
        }
    }

    fn refused(why: ConnectionRefusal) -> Event {
        Event::Refused {
            from: "127.0.0.1:9".parse().unwrap(),
            why,
            logon: PeerText::default(),
        }
    }

    fn more(session: Option<u32>, kind: &'static str, events: u64) -> Event {
        let session = session.map(SessionId);
        Event::Suppressed {
            session,
            kind,
            events,
        }
    }

    #[test]
    fn a_flood_of_one_kind_is_counted_and_hides_no_other_kind() {
        let (mut events, heard, logged) = events();
        for _ in 0..5 {
            events.raise(at(1), &refused(ConnectionRefusal::Garbled));
        }
        events.raise(at(1), &refused(ConnectionRefusal::Credentials));
        for _ in 0..3 {
            events.raise(at(1), &on(0));
        }
        events.raise(at(2), &on(0));
        let garbled = vec![refused(ConnectionRefusal::Garbled); 2];
        let credentials = vec![refused(ConnectionRefusal::Credentials)];
        let kind = ConnectionRefusal::Garbled.kind();
        let (rest, rest_of_session) = (more(None, kind, 3), more(Some(0), "logged on", 1));
        let expected = [
            &garbled[..],
            &credentials,
            &[on(0), on(0), rest.clone(), rest_of_session, on(0)],
        ];
        assert_eq!(*heard.lock().unwrap(), expected.concat());
        // A log has every event of our own.
        let ours = [on(0), on(0), on(0), rest, on(0)];
        let expected = [&garbled[..], &credentials, &ours].concat();
        assert_eq!(*logged.lock().unwrap(), expected);
    }

    #[test]
    fn every_session_of_a_mass_disconnect_is_reported() {
        let (mut events, heard, _) = events();
        for session in 0..300 {
            events.raise(at(1), &on(session));
        }
        let expected: Vec<Event> = (0..300).map(on).collect();
        assert_eq!(*heard.lock().unwrap(), expected);
        assert_eq!(events.due(), None, "nothing was held back");
    }

    #[test]
    fn what_is_held_back_is_counted_without_a_further_event() {
        let (mut events, heard, logged) = events();
        for _ in 0..7 {
            events.raise(at(10), &refused(ConnectionRefusal::Garbled));
        }
        assert_eq!(events.due(), Some(at(11).mono));
        events.pass_counts(at(11));
        let kind = ConnectionRefusal::Garbled.kind();
        for list in [heard, logged] {
            let list = list.lock().unwrap();
            assert_eq!(list.len(), 3);
            assert_eq!(list[2], more(None, kind, 5));
            assert_eq!(
                list[2].to_string(),
                "5 more events not shown: the first bytes are not a FIX message with the right BodyLength(9) and CheckSum(10)"
            );
        }
        assert_eq!(events.due(), None);
    }
}
