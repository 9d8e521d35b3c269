//! One figure of the page: its curves, and the values shown at the pointer.

use std::fmt::{self, Write};

use crate::report::chart::{ChartPlane, escape};

/// A curve of a picture.
#[derive(Debug)]
pub(super) struct PageCurve {
    /// Scenario, pace and subject, with `|` between.
    pub(super) key: String,
    /// `response`, `service` or `published`.
    pub(super) time: &'static str,
    /// Display name of the curve.
    pub(super) name: String,
    /// CSS classes of the curve, for the attribute `class`: colour, dashes, and the check box that hides the curve.
    pub(super) class: String,
    /// Points of the curve.
    pub(super) parts: Vec<Vec<(f64, f64)>>,
    /// The value at each stop of the picture; `None` where the curve has no value.
    pub(super) values: Vec<Option<f64>>,
}

/// A position at which the pointer shows values.
#[derive(Debug)]
pub(super) struct PageStop {
    /// Position on the axis, from left to right.
    pub(super) x: f64,
    /// Name of the stop in the page's address, without `|`.
    pub(super) name: String,
}

/// A picture with a caption.
#[derive(Debug)]
pub(super) struct Picture {
    /// Id of the picture, unique on the page.
    pub(super) id: String,
    /// Caption of the picture.
    pub(super) caption: String,
    /// Units shown at the pointer: after the name of a stop, and after a value.
    pub(super) units: [&'static str; 2],
    /// The axes.
    pub(super) plane: ChartPlane,
    /// Stops of the pointer, from left to right.
    pub(super) stops: Vec<PageStop>,
    /// The curves; later ones are drawn over earlier ones.
    pub(super) curves: Vec<PageCurve>,
    /// Whether the names appear next to the curves.
    pub(super) is_named: bool,
}

impl Picture {
    /// Writes the picture as a `figure`; writes nothing when it has no curve.
    pub(super) fn write(&self, to: &mut impl Write) -> fmt::Result {
        if self.curves.is_empty() {
            return Ok(());
        }
        let pixels = self.stops.iter().map(|stop| {
            let pixel = self.plane.pixel_x(stop.x);
            format!("{pixel:.1}")
        });
        let names: Vec<&str> = self.stops.iter().map(|stop| &stop.name[..]).collect();
        let (width, height) = self.plane.size.whole;
        let caption = escape(&self.caption);
        writeln!(
            to,
            r#"<figure id="{}" data-x="{}" data-at="{}" data-units="{}|{}">"#,
            escape(&self.id),
            pixels.collect::<Vec<_>>().join(" "),
            escape(&names.join("|")),
            self.units[0],
            self.units[1]
        )?;
        writeln!(to, "<figcaption>{caption}</figcaption>")?;
        writeln!(
            to,
            r#"<svg viewBox="0 0 {width} {height}" role="img" aria-label="{caption}">"#
        )?;
        self.plane.axes(to)?;
        for curve in &self.curves {
            self.curve(curve, to)?;
        }
        if self.is_named {
            let end = |curve: &PageCurve| Some(curve.parts.last()?.last()?.1);
            let names: Vec<_> = self
                .curves
                .iter()
                .filter(|curve| curve.time != super::legend::SERVICE)
                .filter_map(|curve| Some((curve.name.clone(), curve.class.clone(), end(curve)?)))
                .collect();
            self.plane.names(&names, to)?;
        }
        writeln!(to, "</svg>\n</figure>")
    }

    fn curve(&self, curve: &PageCurve, to: &mut impl Write) -> fmt::Result {
        let value = |value: &Option<f64>| value.map_or_else(|| "-".to_owned(), four_digits);
        let values: Vec<String> = curve.values.iter().map(value).collect();
        writeln!(
            to,
            r#"<path class="curve {}" data-curve="{}" data-time="{}" data-name="{}" data-values="{}" d="{}"/>"#,
            curve.class,
            escape(&curve.key),
            curve.time,
            escape(&curve.name),
            values.join(" "),
            self.plane.path(&curve.parts)
        )
    }
}

/// A number with four significant digits, without an exponent.
fn four_digits(value: f64) -> String {
    let size = value.abs().max(1e-9).log10().floor() as i32;
    let digits = (3 - size).max(0) as usize;
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        let texts = [163_577.86, 8.0, 0.05604, 12.345, 0.0].map(four_digits);
        assert_eq!(texts, ["163578", "8", "0.05604", "12.35", "0"]);
    }
}
