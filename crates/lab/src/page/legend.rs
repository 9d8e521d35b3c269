//! The legend: names, colours, and the check boxes that hide curves. It works without scripts.

use std::fmt::{self, Write};

use crate::published;
use crate::report::any::AnyReport;
use crate::report::chart::{COLOURS, escape};
use crate::report::{FLOOR, FLOOR_ONWARD};

/// [`COLOURS`] for a black background.
const DARK_COLOURS: [&str; COLOURS.len()] = [
    "#6ea8fe", "#ff8a80", "#5fd39a", "#c09bff", "#e5b94e", "#4fd0e0", "#ff8fc8", "#c9a27c",
];
/// Dash patterns of published curves, which all have the same colour.
const DASHES: [&str; 5] = ["7 4", "2 4", "12 4 2 4", "14 6", "7 3 2 3 2 3"];
/// Class of the curves of service time.
pub(super) const SERVICE: &str = "service";
/// The subject of figures that have no subject of their own.
pub(super) const OURS: &str = "fixwire";

/// All names of the page.
#[derive(Debug)]
pub(super) struct Legend {
    measured: Vec<String>,
    published: Vec<&'static str>,
    /// Whether any curve is of service time.
    with_service: bool,
}

impl Legend {
    /// The legend of these reports: the measured subjects, then the subjects with published figures, each in the
    /// order of the page.
    pub(super) fn of<'a>(reports: impl IntoIterator<Item = &'a AnyReport>) -> Self {
        let mut legend = Self {
            measured: Vec::new(),
            published: Vec::new(),
            with_service: false,
        };
        for report in reports {
            match report {
                AnyReport::Rates(report) => {
                    legend.with_service = true;
                    for row in &report.rows {
                        legend.measure(&row.subject);
                        for curve in published::curves(&report.scenario, row.pace) {
                            legend.publish(curve.name);
                        }
                    }
                }
                AnyReport::Transactions(_) => {
                    legend.measure(OURS);
                    for row in published::TRANSACTIONS {
                        legend.publish(row.system);
                    }
                }
                // Results of an OMS are tables, not curves.
                AnyReport::Oms(_) => {}
            }
        }
        legend
    }

    fn measure(&mut self, subject: &str) {
        if !self.measured.iter().any(|name| name == subject) {
            self.measured.push(subject.to_owned());
        }
    }

    fn publish(&mut self, name: &'static str) {
        if !self.published.contains(&name) {
            self.published.push(name);
        }
    }

    /// The CSS classes of a subject's curves, for the attribute `class`.
    pub(super) fn class(&self, subject: &str) -> String {
        let place = self.measured.iter().position(|name| name == subject);
        format!("k{}", place.unwrap_or(0))
    }

    /// The CSS classes of a published curve, for the attribute `class`.
    pub(super) fn published_class(&self, name: &str) -> String {
        let place = self.published.iter().position(|other| *other == name);
        format!("published p{}", place.unwrap_or(0))
    }

    /// Writes the CSS rules: the colours, and which check box hides which curves.
    pub(super) fn rules(&self, to: &mut impl Write) -> fmt::Result {
        let is_floor = |name: &&String| [FLOOR, FLOOR_ONWARD].contains(&name.as_str());
        let (mut light, mut dark) = (String::new(), String::new());
        for floor in self.measured.iter().filter(is_floor) {
            write!(light, ".{}{{--c:var(--floor)}}", self.class(floor))?;
        }
        let engines = self.measured.iter().filter(|name| !is_floor(name));
        for (colour, name) in engines.enumerate() {
            let class = self.class(name);
            let colour = colour % COLOURS.len();
            write!(light, ".{class}{{--c:{}}}", COLOURS[colour])?;
            write!(dark, ".{class}{{--c:{}}}", DARK_COLOURS[colour])?;
        }
        writeln!(to, "{light}")?;
        writeln!(
            to,
            "@media screen and (prefers-color-scheme: dark){{{dark}}}"
        )?;
        for (place, dash) in (0..self.published.len()).zip(DASHES.iter().cycle()) {
            writeln!(to, ".p{place}{{stroke-dasharray:{dash}}}")?;
        }
        let measured = (0..self.measured.len()).map(|place| format!("k{place}"));
        let published = (0..self.published.len()).map(|place| format!("p{place}"));
        for class in measured.chain(published).chain([SERVICE.to_owned()]) {
            writeln!(
                to,
                "body:has(#{class}:not(:checked)) figure .{class}{{display:none}}"
            )?;
        }
        Ok(())
    }

    /// Writes the check boxes; writes nothing when the page has no curves.
    pub(super) fn write(&self, to: &mut impl Write) -> fmt::Result {
        if self.measured.is_empty() {
            return Ok(());
        }
        writeln!(
            to,
            r#"<form id="legend" autocomplete="off" aria-label="Curves that are shown">"#
        )?;
        for (place, name) in self.measured.iter().enumerate() {
            entry(to, &format!("k{place}"), "", name, name, true)?;
        }
        if self.with_service {
            entry(to, SERVICE, "", "service time", "service time", false)?;
        }
        if !self.published.is_empty() {
            writeln!(to, "<span>Published:</span>")?;
        }
        for (place, name) in self.published.iter().enumerate() {
            // A measured subject may have the same name, so the value has a prefix.
            let value = format!("published {name}");
            entry(to, &format!("p{place}"), "published ", name, &value, true)?;
        }
        writeln!(to, "</form>")
    }
}

/// Writes one check box. The page's address names a box by `value`.
fn entry(
    to: &mut impl Write,
    id: &str,
    class: &str,
    name: &str,
    value: &str,
    shown: bool,
) -> fmt::Result {
    let (value, name) = (escape(value), escape(name));
    let checked = if shown { " checked" } else { "" };
    writeln!(
        to,
        r#"<label><input type="checkbox" id="{id}" value="{value}"{checked}><svg viewBox="0 0 26 10" aria-hidden="true"><path class="curve {class}{id}" d="M2 5H24"/></svg>{name}</label>"#
    )
}
