//! The state of the screen, and the actions of the keys.

use std::path::Path;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use ratatui_crossterm::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::reading::{LogReading, ReadState};
use super::spots::{LogSpot, Places, ReadMessage, Spots, hash};
use crate::decoded::Decoded;
use crate::failure::Failure;
use crate::log::index::IndexUse;
use crate::log::order::{OrderLife, ladders};
use crate::log::sources::Sources;
use crate::query::Shelf;
use fixwire_protocol::{Decoder, SOH};

/// Number of unreadable parts kept for display.
const MOST_LEFT_OUT: usize = 1000;
/// Maximum length of a filter.
const LONGEST_FILTER: usize = 500;

/// The keys.
pub const HELP: &str = "\
Up, Down, j, k        the previous message, the next message
PageUp, PageDown      one screen back, one screen forward
Home, g   End, G      the first message, the last message

/                     filter while typing: terms or a condition, as for fixwire log grep
                        55=VOD   35=D|G   55~^TX   38>1000   58=\"no such order\"
                        MsgType = NewOrderSingle and OrderQty > 1000
Enter                 keep the filter; Esc clears it
Enter                 the message with all its fields; Esc goes back
o                     what happened to the order of the message, as fixwire log order shows it
Tab                   from a request to its answer, from an answer or a Reject to its request
f                     follow: show new messages as they are written
e                     parts that could not be read
q, Ctrl-C             quit

On a page: arrows, PageUp, PageDown, Home and End scroll, Esc goes back.";

/// The content of the screen.
pub enum Mode {
    List,
    /// A text that covers the whole screen.
    Page(Page),
}

/// A text that can be scrolled.
pub struct Page {
    pub title: String,
    pub lines: Vec<String>,
    pub top: usize,
    pub left: usize,
    /// The rest of the text, which is still being loaded; `None` when all is loaded.
    coming: Option<Receiver<Vec<String>>>,
}

/// The whole state of the screen.
pub struct Screen {
    sources: Sources,
    index: IndexUse,
    dictionary: Option<String>,
    reading: Option<LogReading>,
    pub spots: Spots,
    pub places: Places,
    pub state: ReadState,
    /// Number of messages read.
    pub read: u64,
    pub left_out: Vec<String>,
    /// The selected message, and the first one on the screen.
    pub selected: usize,
    pub top: usize,
    /// Number of list rows when the screen was last drawn.
    pub rows: usize,
    pub mode: Mode,
    pub filter: String,
    /// The cursor position while the filter is typed; `None` when it is not typed.
    pub typing: Option<usize>,
    /// The text in the last line of the screen.
    pub note: String,
    /// Whether the selection follows the last message.
    pub follows: bool,
    /// The time of the message to be selected again in a new list; `None` for no such message.
    anchor: Option<i64>,
    /// Whether a jump waits for a message that has not been read yet.
    jumps: bool,
    shelf: Option<Shelf>,
    decoder: Decoder,
}

impl Screen {
    pub fn new(
        sources: Sources,
        index: IndexUse,
        dictionary: Option<String>,
        filter: String,
    ) -> Result<Self, Failure> {
        let options = sources.options(false);
        let mut screen = Self {
            sources,
            index,
            dictionary,
            reading: None,
            spots: Spots::default(),
            places: Places::new(options),
            state: ReadState::Reading,
            read: 0,
            left_out: Vec::new(),
            selected: 0,
            top: 0,
            rows: 1,
            mode: Mode::List,
            filter,
            typing: None,
            note: String::new(),
            follows: false,
            anchor: None,
            jumps: false,
            shelf: None,
            decoder: Decoder::with_capacity(4096),
        };
        screen.read_again()?;
        Ok(screen)
    }

    /// Reads the logs with the current filter. If the filter is invalid, the list stays unchanged.
    fn read_again(&mut self) -> Result<(), Failure> {
        let reading = LogReading::start(&self.sources, &self.filter, self.dictionary.as_deref())?;
        self.anchor = self.anchor.or(self.spot().map(|spot| spot.time));
        self.places.clear();
        self.places.spool = reading.spool.as_ref().and_then(|it| it.try_clone().ok());
        self.reading = Some(reading);
        self.spots = Spots::default();
        self.left_out.clear();
        (self.selected, self.top, self.read) = (0, 0, 0);
        self.state = ReadState::Reading;
        Ok(())
    }

    /// Takes new results from the reading thread; returns true when there are any.
    pub fn collect(&mut self) -> bool {
        let mut is_new = false;
        if let Mode::Page(page) = &mut self.mode
            && let Some(coming) = &page.coming
        {
            match coming.try_recv() {
                Ok(lines) => (page.lines, page.coming, is_new) = (lines, None, true),
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => page.coming = None,
            }
        }
        // The number of batches is limited, so that keys are answered in between.
        for _ in 0..64 {
            let Some(Ok(batch)) = self.reading.as_ref().map(|it| it.batches.try_recv()) else {
                break;
            };
            is_new = true;
            batch.sources.into_iter().for_each(|it| self.places.add(it));
            for spot in batch.spots {
                if let Some(anchor) = self.anchor.filter(|_| !self.follows) {
                    self.selected = self.spots.len();
                    if spot.time >= anchor {
                        self.anchor = None;
                    }
                }
                self.spots.push(spot);
            }
            let left_out = batch.left_out.iter().map(ToString::to_string);
            self.left_out.extend(left_out);
            self.left_out.truncate(MOST_LEFT_OUT);
            (self.read, self.state) = (batch.read, batch.state);
            if self.follows {
                self.selected = self.spots.len().saturating_sub(1);
            }
        }
        if is_new && self.jumps {
            self.jump();
        }
        is_new
    }

    /// The position of the selected message.
    pub fn spot(&self) -> Option<LogSpot> {
        self.spots.get(self.selected).copied()
    }

    /// The selected message, read again.
    pub fn message(&mut self) -> Option<ReadMessage> {
        let spot = self.spot()?;
        self.places.read(&spot)
    }

    /// The lines of a message: header line, name and fields.
    pub fn decoded(&mut self, message: &ReadMessage) -> Result<Vec<String>, Failure> {
        let shelf = match &mut self.shelf {
            Some(shelf) => shelf,
            empty => empty.insert(Shelf::new(self.dictionary.as_deref())?),
        };
        let fields = self.decoder.decode_whole(&message.bytes);
        let decoded = Decoded {
            dictionary: shelf.dictionary(shelf.place(&fields)),
            masked: &[],
        };
        let mut text = Vec::new();
        decoded.write(&fields, &mut text)?;
        let text = String::from_utf8_lossy(&text).into_owned();
        let kind = format!("{}{}", message.marks, decoded.kind(&fields));
        Ok(std::iter::once(kind)
            .chain(text.lines().map(str::to_owned))
            .collect())
    }

    /// Handles a key; returns false if the user quits.
    pub fn key(&mut self, key: KeyEvent) -> bool {
        self.note.clear();
        self.jumps = false;
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if is_control && key.code == KeyCode::Char('c') {
            return false;
        }
        if self.typing.is_some() {
            self.type_key(key.code);
            return true;
        }
        match &mut self.mode {
            Mode::Page(page) => {
                if !page.key(key.code, self.rows) {
                    self.mode = Mode::List;
                }
                true
            }
            Mode::List => self.list_key(key.code),
        }
    }

    fn list_key(&mut self, key: KeyCode) -> bool {
        let last = self.spots.len().saturating_sub(1);
        let page = self.rows.max(2) - 1;
        match key {
            KeyCode::Char('q') => return false,
            KeyCode::Up | KeyCode::Char('k') => self.select(self.selected.saturating_sub(1)),
            KeyCode::Down | KeyCode::Char('j') => self.select(self.selected + 1),
            KeyCode::PageUp => self.select(self.selected.saturating_sub(page)),
            KeyCode::PageDown | KeyCode::Char(' ') => self.select(self.selected + page),
            KeyCode::Home | KeyCode::Char('g') => self.select(0),
            KeyCode::End | KeyCode::Char('G') => self.select(last),
            KeyCode::Char('/') => self.typing = Some(self.filter.chars().count()),
            KeyCode::Esc if !self.filter.is_empty() => {
                self.filter.clear();
                self.refilter();
            }
            KeyCode::Enter => self.open_message(),
            KeyCode::Char('o') => self.open_order(),
            KeyCode::Tab => self.jump(),
            KeyCode::Char('f') => {
                self.follows = !self.follows;
                if self.follows {
                    self.selected = last;
                }
            }
            KeyCode::Char('e') => {
                let lines = match self.left_out.is_empty() {
                    true => vec!["Everything was read.".to_owned()],
                    false => self.left_out.clone(),
                };
                self.mode = Mode::Page(Page::new("not read", lines));
            }
            KeyCode::Char('?' | 'h') | KeyCode::F(1) => {
                let lines = HELP.lines().map(str::to_owned).collect();
                self.mode = Mode::Page(Page::new("keys", lines));
            }
            _ => {}
        }
        true
    }

    fn select(&mut self, at: usize) {
        (self.anchor, self.follows) = (None, false);
        self.selected = at.min(self.spots.len().saturating_sub(1));
    }

    fn type_key(&mut self, key: KeyCode) {
        let at = self.typing.unwrap_or_default();
        let count = self.filter.chars().count();
        let mut typed: Vec<char> = self.filter.chars().collect();
        match key {
            KeyCode::Char(c) if count < LONGEST_FILTER => {
                typed.insert(at, c);
                self.typing = Some(at + 1);
            }
            KeyCode::Backspace if at > 0 => {
                typed.remove(at - 1);
                self.typing = Some(at - 1);
            }
            KeyCode::Delete if at < count => drop(typed.remove(at)),
            KeyCode::Left => self.typing = Some(at.saturating_sub(1)),
            KeyCode::Right => self.typing = Some(count.min(at + 1)),
            KeyCode::Home => self.typing = Some(0),
            KeyCode::End => self.typing = Some(count),
            KeyCode::Enter => self.typing = None,
            KeyCode::Esc => {
                typed.clear();
                self.typing = None;
            }
            _ => {}
        }
        let typed: String = typed.into_iter().collect();
        if typed != self.filter {
            self.filter = typed;
            self.refilter();
        } else if let Err(why) = self.check_filter() {
            self.note = why;
        }
    }

    fn check_filter(&self) -> Result<(), String> {
        match self.filter.trim() {
            "" => Ok(()),
            query => crate::log::grep::Wanted::new(query, false, self.dictionary.as_deref())
                .map(drop)
                .map_err(|why| why.to_string()),
        }
    }

    fn refilter(&mut self) {
        if let Err(why) = self.read_again() {
            self.note = why.to_string();
        }
    }

    fn open_message(&mut self) {
        let Some(message) = self.message() else {
            return;
        };
        match self.decoded(&message) {
            Ok(lines) => self.mode = Mode::Page(Page::new(&message.place, lines)),
            Err(why) => self.note = why.to_string(),
        }
    }

    /// Reads the history of the selected message's order.
    fn open_order(&mut self) {
        let Some(message) = self.message() else {
            return;
        };
        let found = [11, 37, 41].into_iter().find_map(|tag| {
            let id = value(&message.bytes, tag)?;
            (!id.is_empty() && id != b"NONE").then(|| String::from_utf8_lossy(id).into_owned())
        });
        let Some(id) = found else {
            self.note = "the message has no ClOrdID(11) and no OrderID(37)".to_owned();
            return;
        };
        let (sender, coming) = channel();
        let (sources, index, wanted) = (self.sources.clone(), self.index.clone(), id.clone());
        let find = move || {
            // This fails only when the page was closed.
            let _ = sender.send(life(&sources, &index, &wanted));
        };
        if let Err(error) = fixwire_threads::spawn("order", find) {
            self.note = error.to_string();
            return;
        }
        let mut page = Page::new(&format!("order {id}"), vec!["reading ...".to_owned()]);
        page.coming = Some(coming);
        self.mode = Mode::Page(page);
    }

    /// Selects the next message that answers the selected request; for a selected answer, selects the request.
    fn jump(&mut self) {
        self.jumps = matches!(self.state, ReadState::Reading);
        if self.jumps && self.anchor.is_some() {
            // An earlier jump still waits for its message.
            return;
        }
        let (Some(spot), Some(message)) = (self.spot(), self.message()) else {
            return;
        };
        let field = |tag| value(&message.bytes, tag).unwrap_or_default();
        let msg_type = field(35);
        let found = match msg_type {
            b"3" | b"j" => {
                let wanted = hash(&[field(45), field(56), field(49)]);
                let mut before = (0..self.selected).rev();
                before.find(|at| {
                    let spot = self.spots.get(*at);
                    spot.is_some_and(|spot| spot.number == wanted)
                })
            }
            _ if spot.id == 0 => None,
            b"8" | b"9" => self.with_id(spot.id, (0..self.selected).rev(), false),
            _ => self.with_id(spot.id, self.selected + 1..self.spots.len(), true),
        };
        match found {
            Some(at) => {
                self.jumps = false;
                self.select(at);
            }
            None if self.jumps => {}
            None => {
                self.note = "the list has no message that answers, or is answered by, this message"
                    .to_owned()
            }
        }
    }

    /// The first message with a ClOrdID(11) that is a report, or the first one that is not a report.
    fn with_id(
        &mut self,
        id: u32,
        mut places: impl Iterator<Item = usize>,
        reports: bool,
    ) -> Option<usize> {
        places.find(|at| {
            let spot = self.spots.get(*at).copied().filter(|spot| spot.id == id);
            let message = spot.and_then(|spot| self.places.read(&spot));
            message.is_some_and(|message| {
                let is_report = matches!(value(&message.bytes, 35), Some(b"8" | b"9"));
                is_report == reports
            })
        })
    }
}

impl Page {
    fn new(title: &str, lines: Vec<String>) -> Self {
        Self {
            title: title.to_owned(),
            lines,
            top: 0,
            left: 0,
            coming: None,
        }
    }

    /// Handles a key on a page; returns false when the page is closed.
    fn key(&mut self, key: KeyCode, rows: usize) -> bool {
        let last = self.lines.len().saturating_sub(rows);
        match key {
            KeyCode::Esc | KeyCode::Enter | KeyCode::Char('q') => return false,
            KeyCode::Up | KeyCode::Char('k') => self.top = self.top.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.top = last.min(self.top + 1),
            KeyCode::PageUp => self.top = self.top.saturating_sub(rows),
            KeyCode::PageDown | KeyCode::Char(' ') => self.top = last.min(self.top + rows),
            KeyCode::Home | KeyCode::Char('g') => self.top = 0,
            KeyCode::End | KeyCode::Char('G') => self.top = last,
            KeyCode::Left => self.left = self.left.saturating_sub(8),
            KeyCode::Right => self.left += 8,
            _ => {}
        }
        true
    }
}

/// The sequence diagram of an order, with warnings that it may be incomplete.
fn life(sources: &Sources, index: &IndexUse, id: &str) -> Vec<String> {
    let life = match OrderLife::find(sources, index, id) {
        Ok(life) => life,
        Err(why) => return vec![why.to_string()],
    };
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = ladders(&life.lives(), &mut text);
    let text = String::from_utf8_lossy(&text);
    let lines = text.trim_end().lines().map(str::to_owned);
    let warnings = life.warnings().map(|why| format!("warning: {why}"));
    let left_out = life.left_out.iter().map(|what| format!("not read: {what}"));
    lines.chain(warnings).chain(left_out).collect()
}

/// The first value of a tag.
fn value(bytes: &[u8], tag: u32) -> Option<&[u8]> {
    let wanted = format!("{tag}=");
    let mut fields = bytes.split(|byte| *byte == SOH);
    fields.find_map(|field| field.strip_prefix(wanted.as_bytes()))
}

/// Whether a path can be read again.
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}
