//! Draws a [`Screen`].

use fixwire_protocol::dictionary::Version;
use fixwire_protocol::readable::Escaped;
use fixwire_protocol::{Dictionary, SOH};
use ratatui_core::buffer::Buffer;
use ratatui_core::layout::Rect;
use ratatui_core::style::{Modifier, Style};

use super::reading::ReadState;
use super::screen::{Mode, Page, Screen};
use super::spots::{LogSpot, ReadMessage, time_of};
use crate::log::order::shown;
use crate::log::sources::way;
use crate::log::summary::moment;

/// Minimum number of rows at which the selected message is shown below the list.
const SPLIT: u16 = 16;

/// Draws the screen.
pub fn draw(screen: &mut Screen, names: &Dictionary, area: Rect, buffer: &mut Buffer) {
    if area.height < 3 || area.width < 10 {
        return;
    }
    let body = Rect {
        height: area.height - 2,
        ..area
    };
    match &screen.mode {
        Mode::Page(page) => {
            let rows = usize::from(body.height) - 1;
            draw_page(page, body, buffer);
            screen.rows = rows;
        }
        Mode::List => draw_list(screen, names, body, buffer),
    }
    let at = area.y + area.height - 2;
    let width = usize::from(area.width);
    buffer.set_stringn(area.x, at, status(screen), width, reversed());
    let last = last_line(screen);
    buffer.set_stringn(area.x, at + 1, &last, width, Style::new());
}

/// The position of the cursor while a filter is typed.
pub fn cursor(screen: &Screen, area: Rect) -> Option<(u16, u16)> {
    let at = screen.typing?;
    let x = u16::try_from(at + 1).unwrap_or(u16::MAX);
    Some((
        x.min(area.width.saturating_sub(1)),
        area.height.saturating_sub(1),
    ))
}

fn reversed() -> Style {
    Style::new().add_modifier(Modifier::REVERSED)
}

fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

fn draw_page(page: &Page, area: Rect, buffer: &mut Buffer) {
    let width = usize::from(area.width);
    buffer.set_stringn(area.x, area.y, &page.title, width, bold());
    let lines = page.lines.iter().skip(page.top);
    for (row, line) in (area.y + 1..area.y + area.height).zip(lines) {
        let line: String = line.chars().skip(page.left).collect();
        buffer.set_stringn(area.x, row, line, width, Style::new());
    }
}

fn draw_list(screen: &mut Screen, names: &Dictionary, area: Rect, buffer: &mut Buffer) {
    let height = match area.height {
        SPLIT.. => area.height / 2,
        all => all,
    };
    let rows = usize::from(height);
    screen.rows = rows;
    let last = screen.spots.len().saturating_sub(1);
    screen.selected = screen.selected.min(last);
    let lowest = (screen.selected + 1).saturating_sub(rows);
    screen.top = screen.top.clamp(lowest, screen.selected);
    let width = usize::from(area.width);
    for row in 0..height {
        let at = screen.top + usize::from(row);
        let Some(spot) = screen.spots.get(at).copied() else {
            break;
        };
        let text = match screen.places.read(&spot) {
            Some(message) => line(&spot, &message, names),
            None => "(no longer in the file)".to_owned(),
        };
        let style = match at == screen.selected {
            true => reversed(),
            false => Style::new(),
        };
        let text = format!("{text:<width$}");
        buffer.set_stringn(area.x, area.y + row, text, width, style);
    }
    if screen.spots.len() == 0 && screen.state != ReadState::Reading {
        buffer.set_stringn(area.x, area.y, "no message", width, Style::new());
    }
    if height < area.height {
        draw_selected(screen, area, height, buffer);
    }
}

fn draw_selected(screen: &mut Screen, area: Rect, from: u16, buffer: &mut Buffer) {
    let Some(message) = screen.message() else {
        return;
    };
    let width = usize::from(area.width);
    let time = screen.spot().as_ref().and_then(time_of);
    let head = format!(
        "{} {} {}",
        Escaped(message.place.as_bytes()),
        time.map_or_else(|| "no time".to_owned(), moment),
        Escaped(message.session.as_bytes())
    );
    let head = format!("{head:-<width$}");
    buffer.set_stringn(area.x, area.y + from, head, width, bold());
    let lines = screen
        .decoded(&message)
        .unwrap_or_else(|why| vec![why.to_string()]);
    for (row, line) in (area.y + from + 1..area.y + area.height).zip(&lines) {
        buffer.set_stringn(area.x, row, line, width, Style::new());
    }
}

/// A message in one line: date and time, direction, session, type and the descriptive fields.
fn line(spot: &LogSpot, message: &ReadMessage, names: &Dictionary) -> String {
    let time = time_of(spot).map(moment).unwrap_or_default();
    let time = match time.get(5..26) {
        Some(time) => time.replacen('T', " ", 1),
        None => "-".repeat(21),
    };
    let mut fields = message.bytes.split(|byte| *byte == SOH);
    let msg_type = fields.find_map(|field| field.strip_prefix(b"35="));
    let msg_type = msg_type.unwrap_or_default();
    let code = Escaped(msg_type).to_string();
    let known = names.message(msg_type);
    let kind = known.map_or(code.as_str(), |known| known.name());
    let session = Escaped(message.session.as_bytes()).to_string();
    let session = session.split_once(':').map_or("", |(_, ends)| ends);
    format!(
        "{time} {:<3} {session:<16} {kind:<20} {}{}",
        way(spot.direction),
        message.marks,
        shown(&message.bytes)
    )
}

fn status(screen: &Screen) -> String {
    let state = match screen.state {
        ReadState::Reading => "reading",
        ReadState::Following if screen.follows => "follows",
        ReadState::Following | ReadState::Ended => "all read",
        ReadState::Full => "list full: use a filter",
    };
    let place = match screen.spots.len() {
        0 => "0 messages".to_owned(),
        count => format!("{} of {count} messages", screen.selected + 1),
    };
    let left_out = match screen.left_out.len() {
        0 => String::new(),
        count => format!("  {count} parts not read (e)"),
    };
    let keys = match screen.mode {
        Mode::Page(_) => "Esc back",
        Mode::List => "/ filter  Enter message  o order  Tab jump  f follow  ? help  q quit",
    };
    format!(" {place}, {state}{left_out}  {keys}{:200}", "")
}

fn last_line(screen: &Screen) -> String {
    match (&screen.note, screen.typing) {
        (note, None) if !note.is_empty() => Escaped(note.as_bytes()).to_string(),
        (note, Some(_)) if !note.is_empty() => {
            format!("/{}   {}", screen.filter, Escaped(note.as_bytes()))
        }
        (_, None) if screen.filter.is_empty() => String::new(),
        _ => format!("/{}", screen.filter),
    }
}

/// A dictionary with the names of messages of all FIX versions.
pub fn names() -> Dictionary {
    Dictionary::built_in(Version::Fix50Sp2).over(&Dictionary::built_in(Version::Fixt11))
}
