//! The tables of `fixwire status`.

use fixwire::control::{EngineReport, LinkLine, SessionLine};
use fixwire_protocol::readable::Escaped;

/// One line about the running engine.
pub fn head(engine: &EngineReport, sessions: &[SessionLine]) -> String {
    let on = sessions
        .iter()
        .filter(|one| one.state == "logged on")
        .count();
    let of = sessions.len();
    let (hours, rest) = (engine.seconds / 3600, engine.seconds % 3600);
    let version = Escaped(engine.version.as_bytes());
    format!(
        "fixwire {version}, process {}, up {hours}:{:02}:{:02}; {on} of {of} sessions logged on",
        engine.pid,
        rest / 60,
        rest % 60
    )
}

/// The title of the column SessionName.
const NAME: &str = "SESSION NAME";

/// A row for each session, with aligned columns.
pub fn of_sessions(sessions: &[SessionLine], running: bool) -> String {
    let mut rows = vec![
        ["SESSION", "STATE", "NEXT IN", "NEXT OUT"]
            .map(str::to_owned)
            .to_vec(),
    ];
    if running {
        rows[0].extend(["RECEIVED", "SENT", "WAITING BYTES"].map(str::to_owned));
    }
    let is_named = sessions.iter().any(|one| one.session_name.is_some());
    if is_named {
        rows[0].push(NAME.to_owned());
    }
    for one in sessions {
        let text = |text: &str| Escaped(text.as_bytes()).to_string();
        let mut row = vec![text(&one.name), text(&one.state)];
        row.extend([one.next_in, one.next_out].map(|number| number.to_string()));
        if running {
            let counts = [one.received, one.sent, one.waiting_bytes];
            row.extend(counts.map(|count| count.to_string()));
        }
        if is_named {
            row.push(text(one.session_name.as_deref().unwrap_or("-")));
        }
        rows.push(row);
    }
    aligned(&rows)
}

/// A row for each link; empty if there are no links.
pub fn of_links(links: &[LinkLine], running: bool) -> String {
    if links.is_empty() {
        return String::new();
    }
    let mut rows = vec![
        ["LINK", "STATE", "FRAMES IN", "FRAMES OUT"]
            .map(str::to_owned)
            .to_vec(),
    ];
    if running {
        rows[0].extend(["CONNECTIONS", "WAITING BYTES"].map(str::to_owned));
    }
    for one in links {
        let text = |text: &str| Escaped(text.as_bytes()).to_string();
        let mut row = vec![text(&one.name), text(&one.state)];
        row.extend([one.frames_in, one.frames_out].map(|number| number.to_string()));
        if running {
            let counts = [one.connections, one.waiting_bytes];
            row.extend(counts.map(|count| count.to_string()));
        }
        rows.push(row);
    }
    aligned(&rows)
}

/// The rows with aligned columns; numbers are aligned to the right.
fn aligned(rows: &[Vec<String>]) -> String {
    let widths: Vec<usize> = (0..rows[0].len())
        .map(|at| rows.iter().map(|row| row[at].len()).max().unwrap_or(0))
        .collect();
    let mut text = String::new();
    for row in rows {
        let cells = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(at, (cell, width))| match at {
                0 | 1 => format!("{cell:<width$}"),
                _ if rows[0][at] == NAME => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}
