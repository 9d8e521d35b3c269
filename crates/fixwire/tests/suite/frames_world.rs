//! Frames of TMP's shape on a simulated network, an application that echoes them, and a peer.

use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fixwire::config::{Connection, Durability, EngineConfig, LinkConfig};
use fixwire::host::ConnId;
use fixwire::host::sim::{SimHost, SimNet};
use fixwire::journal::sim::SimDisk;
use fixwire::protocol::framing::{Framed, Framing, sum_of_bytes};
use fixwire::protocol::{
    Application, Hangup, Link, Message, Mono, Now, Outbox, Refusal, SessionId, Timestamp, tag,
};
use fixwire::{Engine, Event};

use crate::common::app::answer;
use crate::common::wire;

/// Where the link listens.
pub const LINK_PORT: u16 = 2000;
pub const LINK: SessionId = SessionId::of_link(0);

pub const TMP: Framing = Framing::big_endian(0, 2)
    .adding(3)
    .within(19, 65_538)
    .with_sum_of_bytes();

/// A frame with this text after 16 bytes of head.
pub fn frame(text: &str) -> Vec<u8> {
    let mut frame = ((text.len() + 16) as u16).to_be_bytes().to_vec();
    frame.extend_from_slice(&[0x20; 16]);
    frame.extend_from_slice(text.as_bytes());
    frame.push(sum_of_bytes(&frame));
    frame
}

pub fn text_of(frame: &[u8]) -> String {
    String::from_utf8_lossy(&frame[18..frame.len() - 1]).into_owned()
}

/// The texts of whole frames, and the number of bytes after them.
pub fn texts(mut bytes: &[u8]) -> (Vec<String>, usize) {
    let mut texts = Vec::new();
    loop {
        match TMP.next(bytes) {
            Framed::Whole(len) => {
                texts.push(text_of(&bytes[..len]));
                bytes = &bytes[len..];
            }
            Framed::More => return (texts, bytes.len()),
            Framed::Bad(why) => panic!("the engine wrote a bad frame: {why}"),
        }
    }
}

type Later = Box<dyn FnOnce(&mut Outbox) + Send>;

/// The range of the secret in a frame, if it has one: after `key `.
pub fn secret_of(frame: &[u8]) -> Option<Range<usize>> {
    let at = frame.windows(4).position(|text| text == b"key ")?;
    Some(at + 4..frame.len() - 1)
}

/// Sends a frame; its secret is not for the journal.
pub fn send(outbox: &mut Outbox, link: SessionId, frame: &[u8]) {
    outbox.frame(link, frame).expect("room");
    if let Some(secret) = secret_of(frame) {
        outbox.mask_outbound(secret);
    }
}

/// Echoes each frame and notes it; ends the connection at BYE, after the echo. Sends an order from a FIX session to the
/// link, and a frame that begins with `fill ` to the FIX session. For a frame with a secret it notes only this fact.
#[derive(Default)]
pub struct Desk {
    /// `up`, `down 3` (what was written), and texts of frames and notes.
    pub heard: Arc<Mutex<Vec<String>>>,
    /// The first callback of the link.
    pub hello: Option<&'static str>,
    pub later: Vec<Later>,
}

impl Desk {
    fn hear(&self, line: String) {
        self.heard.lock().unwrap().push(line);
    }
}

impl Application for Desk {
    fn on_message(
        &mut self,
        _: Now,
        _: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        let id = message.get(tag::CL_ORD_ID).unwrap_or_default();
        let text = String::from_utf8_lossy(id).into_owned();
        outbox.note(id).expect("room");
        outbox.frame(LINK, &frame(&text)).expect("room");
        answer(message, SessionId(0), b"8", outbox)
    }

    fn on_frame(
        &mut self,
        _: Now,
        from: SessionId,
        bytes: &[u8],
        outbox: &mut Outbox,
    ) -> Result<(), Hangup> {
        let text = text_of(bytes);
        let secret = secret_of(bytes);
        let note = secret.as_ref().map_or(text.as_str(), |_| "secret");
        outbox.note(note.as_bytes()).expect("room");
        if let Some(secret) = secret {
            outbox.mask_inbound(secret);
        }
        if let Some(id) = text.strip_prefix("fill ") {
            let mut body = outbox.begin(SessionId(0), b"8");
            body.field(tag::CL_ORD_ID, id.as_bytes());
            body.finish().expect("room");
        } else {
            send(outbox, from, bytes);
        }
        let is_bye = text == "BYE";
        self.hear(text);
        match is_bye {
            true => Err(Hangup("it said BYE")),
            false => Ok(()),
        }
    }

    fn on_link(&mut self, _: Now, session: SessionId, link: Link, outbox: &mut Outbox) {
        assert_eq!(session, LINK);
        match link {
            Link::Up => {
                self.hear("up".to_owned());
                if let Some(hello) = self.hello {
                    send(outbox, session, &frame(hello));
                }
            }
            Link::Down { written } => {
                self.hear(format!("down {written}"));
                outbox.note(b"down").expect("room");
                // Its connection is closed by then.
                outbox.frame(session, &frame("late")).expect("room");
            }
        }
    }

    fn on_note(&mut self, _: Timestamp, note: &[u8]) {
        self.hear(format!("note {}", String::from_utf8_lossy(note)));
    }

    fn on_time(&mut self, _: Now, outbox: &mut Outbox) -> Option<Mono> {
        for later in self.later.drain(..) {
            later(outbox);
        }
        None
    }
}

/// An engine with one link, which listens.
pub struct World {
    pub net: SimNet,
    pub disk: SimDisk,
    pub engine: Engine<Desk, SimHost, SimDisk>,
    pub heard: Arc<Mutex<Vec<String>>>,
    pub events: Arc<Mutex<Vec<String>>>,
}

pub fn acceptor() -> LinkConfig {
    let listen = wire::at(LINK_PORT);
    LinkConfig::new("TMP:CORE->TAIFEX", Connection::Acceptor { listen }, TMP)
}

pub fn initiator() -> LinkConfig {
    let hosts = [LINK_PORT, LINK_PORT + 1].map(|port| ("127.0.0.1".to_owned(), port));
    let connection = Connection::Initiator {
        hosts: hosts.into(),
        reconnect: [1, 5].map(Duration::from_secs).into(),
        timeout: Duration::from_secs(3),
    };
    LinkConfig::new("TMP:CORE->TAIFEX", connection, TMP)
}

pub fn config(durability: Durability, link: LinkConfig) -> EngineConfig {
    EngineConfig {
        max_message: 66 << 10,
        read_buffer: 128 << 10,
        segment_bytes: 2 << 20,
        links: vec![link],
        ..wire::config(durability, Vec::new())
    }
}

impl World {
    pub fn new(net: &SimNet, disk: &SimDisk, config: EngineConfig, desk: Desk) -> Self {
        let heard = Arc::clone(&desk.heard);
        let host = SimHost::new(1, net, disk);
        let mut engine = Engine::simulated(config, desk, host).expect("it starts");
        let events = Arc::new(Mutex::new(Vec::new()));
        let told = Arc::clone(&events);
        engine.on_event(move |_, event: &Event| {
            let link = event
                .session()
                .map_or("-", |id| if id == LINK { "link" } else { "fix" });
            told.lock().unwrap().push(format!("{link}: {event}"));
        });
        Self {
            net: net.clone(),
            disk: disk.clone(),
            engine,
            heard,
            events,
        }
    }

    pub fn turns(&mut self) {
        wire::turns(&mut self.engine);
    }

    pub fn connect(&mut self) -> ConnId {
        let conn = self.net.connect(0, LINK_PORT).expect("it listens");
        self.turns();
        conn
    }

    /// Writes bytes of a peer, and lets the engine work.
    pub fn say(&mut self, conn: ConnId, bytes: &[u8]) {
        assert_eq!(self.net.write(conn, bytes).unwrap(), bytes.len());
        self.turns();
    }

    pub fn heard(&self) -> Vec<String> {
        std::mem::take(&mut *self.heard.lock().unwrap())
    }

    pub fn events(&self) -> Vec<String> {
        std::mem::take(&mut *self.events.lock().unwrap())
    }

    pub fn later(&mut self, later: impl FnOnce(&mut Outbox) + Send + 'static) {
        self.engine.application_mut().later.push(Box::new(later));
        self.turns();
    }
}

/// All bytes that have arrived at a peer.
pub fn read(net: &SimNet, conn: ConnId) -> Vec<u8> {
    let mut all = Vec::new();
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count) = net.read(conn, &mut bytes) {
        if count == 0 {
            break;
        }
        all.extend_from_slice(&bytes[..count]);
    }
    all
}
