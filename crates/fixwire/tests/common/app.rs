//! The application of the tests: it records its callbacks, and does what a test wants.

use std::sync::{Arc, Mutex};

use fixwire::protocol::{
    AdminOut, Application, BodyError, Decoder, Message, Mono, Now, OperatorCommand, Outbox,
    Parting, PeerLogout, Refusal, SessionId, Tag, Timestamp, tag,
};

/// The callbacks of an application, a line each: `message A` (its ClOrdID), `asked BOB` (Username of a
/// Logon), `logon 0`, `reset 0` (the session), `open true`, and notes as they are. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Heard(Arc<Mutex<Vec<String>>>);

impl Heard {
    fn push(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    /// All lines since the last call.
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    /// The lines that begin with this word, without it.
    pub fn of(&self, word: &str) -> Vec<String> {
        let lines = self.0.lock().unwrap();
        let words = lines.iter().filter_map(|line| line.split_once(' '));
        let found = words.filter(|(first, _)| *first == word);
        found.map(|(_, rest)| rest.to_owned()).collect()
    }
}

type OnMessage = dyn FnMut(SessionId, &Message<'_>, &mut Outbox) -> Result<(), Refusal> + Send;
type OnLogonRequest = dyn FnMut(&str) -> Result<(), String> + Send;
type OnAdminOut = dyn FnMut(SessionId, &mut AdminOut<'_>) + Send;
type OnAdmin = dyn FnMut(SessionId, &Message<'_>, &mut Outbox) + Send;
type OnLogout = dyn FnMut(&str, PeerLogout<'_>) + Send;
type OnDisconnect = dyn FnMut(SessionId, Parting, &mut Outbox) + Send;
type OnReset = dyn FnMut(SessionId, &mut Outbox) + Send;
type Later = dyn FnOnce(&mut Outbox) + Send;

/// Takes whatever comes, where the test says nothing else.
pub struct App {
    pub heard: Heard,
    /// Whether it keeps a note of each message, logon and reset.
    pub keeps_notes: bool,
    pub on_message: Box<OnMessage>,
    /// Takes the Username of a Logon that has one.
    pub on_logon_request: Box<OnLogonRequest>,
    pub on_admin_out: Box<OnAdminOut>,
    pub on_admin: Box<OnAdmin>,
    /// Takes the name of the method, and the Logout that it is given.
    pub on_logout: Box<OnLogout>,
    pub on_disconnect: Box<OnDisconnect>,
    pub on_reset: Box<OnReset>,
    /// To be done in the next turn.
    pub later: Vec<Box<Later>>,
}

impl Default for App {
    fn default() -> Self {
        Self::new(|_, _, _| Ok(()))
    }
}

impl App {
    pub fn new(
        on_message: impl FnMut(SessionId, &Message<'_>, &mut Outbox) -> Result<(), Refusal>
        + Send
        + 'static,
    ) -> Self {
        Self {
            heard: Heard::default(),
            keeps_notes: false,
            on_message: Box::new(on_message),
            on_logon_request: Box::new(|_| Ok(())),
            on_admin_out: Box::new(|_, _| ()),
            on_admin: Box::new(|_, _, _| ()),
            on_logout: Box::new(|_, _| ()),
            on_disconnect: Box::new(|_, _, _| ()),
            on_reset: Box::new(|_, _| ()),
            later: Vec::new(),
        }
    }

    /// Answers each order but QUIET with one report; panics at BANG, after the report.
    pub fn reports() -> Self {
        Self::new(|from, order, outbox| {
            let id = order.get(tag::CL_ORD_ID).unwrap_or_default();
            if order.msg_type() == b"D" && id != b"QUIET" {
                answer(order, from, b"8", outbox).expect("room for a report");
            }
            assert_ne!(id, b"BANG");
            Ok(())
        })
    }

    /// The same, which writes its callbacks there.
    pub fn writes_to(self, heard: &Heard) -> Self {
        let heard = heard.clone();
        Self { heard, ..self }
    }

    fn hear(&self, line: String, outbox: &mut Outbox) {
        if self.keeps_notes {
            outbox.note(line.as_bytes()).unwrap();
        }
        self.heard.push(line);
    }
}

impl Application for App {
    fn on_message(
        &mut self,
        _: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        self.hear(format!("message {}", text(message, tag::CL_ORD_ID)), outbox);
        (self.on_message)(from, message, outbox)
    }

    /// All but reports of the order KEEP.
    fn on_resend(&mut self, _: Now, _: SessionId, stored: &[u8]) -> bool {
        let mut decoder = Decoder::with_capacity(64);
        decoder.decode(stored).get(tag::CL_ORD_ID) != Some(b"KEEP")
    }

    fn on_note(&mut self, _: Timestamp, note: &[u8]) {
        self.heard.push(String::from_utf8_lossy(note).into());
    }

    fn on_logon_request(&mut self, _: Now, _: SessionId, it: &Message<'_>) -> Result<(), String> {
        let Some(user) = it.get(tag::USERNAME) else {
            return Ok(());
        };
        let user = String::from_utf8_lossy(user);
        self.heard.push(format!("asked {user}"));
        (self.on_logon_request)(&user)
    }

    fn on_admin_out(&mut self, _: Now, session: SessionId, message: &mut AdminOut<'_>) {
        (self.on_admin_out)(session, message);
    }

    fn on_admin(&mut self, _: Now, session: SessionId, it: &Message<'_>, outbox: &mut Outbox) {
        (self.on_admin)(session, it, outbox);
    }

    fn on_logon(&mut self, _: Now, session: SessionId, logon: &Message<'_>, outbox: &mut Outbox) {
        assert_eq!(logon.msg_type(), b"A");
        self.hear(format!("logon {}", session.0), outbox);
    }

    fn on_logout(&mut self, _: Now, _: SessionId, logout: PeerLogout<'_>) {
        (self.on_logout)("on_logout", logout);
    }

    fn on_disconnect(
        &mut self,
        _: Now,
        session: SessionId,
        how: Parting,
        logout: PeerLogout<'_>,
        outbox: &mut Outbox,
    ) {
        (self.on_logout)("on_disconnect", logout);
        (self.on_disconnect)(session, how, outbox);
    }

    fn on_reset(&mut self, _: Now, session: SessionId, outbox: &mut Outbox) {
        self.hear(format!("reset {}", session.0), outbox);
        (self.on_reset)(session, outbox);
    }

    fn on_hours(&mut self, _: Now, _: SessionId, open: bool) {
        self.heard.push(format!("open {open}"));
    }

    /// Notes the command and answers with it, but for `no`.
    fn on_command(
        &mut self,
        _: Now,
        command: OperatorCommand<'_>,
        answer: &mut Vec<u8>,
        outbox: &mut Outbox,
    ) -> Result<(), String> {
        let command = command.bytes;
        if command == b"no" {
            return Err("not today".into());
        }
        self.hear(format!("command {}", command.escape_ascii()), outbox);
        answer.extend_from_slice(command);
        Ok(())
    }

    fn survives_panics(&self) -> bool {
        !self.keeps_notes
    }

    fn on_time(&mut self, _: Now, outbox: &mut Outbox) -> Option<Mono> {
        self.later.drain(..).for_each(|act| act(outbox));
        None
    }
}

/// The value of a field; `-` when missing.
pub fn text(message: &Message<'_>, tag: Tag) -> String {
    String::from_utf8_lossy(message.get(tag).unwrap_or(b"-")).into()
}

/// Sends a message with the ClOrdID of this one.
pub fn answer(
    message: &Message<'_>,
    to: SessionId,
    msg_type: &[u8],
    outbox: &mut Outbox,
) -> Result<(), Refusal> {
    let id = message.get(tag::CL_ORD_ID).unwrap_or_default();
    send(outbox, to, msg_type, tag::CL_ORD_ID, id).map_err(|_| Refusal::NotAvailable)
}

/// Sends a message of one field.
pub fn send(
    outbox: &mut Outbox,
    to: SessionId,
    msg_type: &[u8],
    tag: Tag,
    value: &[u8],
) -> Result<(), BodyError> {
    let mut body = outbox.begin(to, msg_type);
    body.field(tag, value);
    body.finish()
}
