//! Common parts of all figures of a report: axes, scales, curves, and names.
//!
//! Colours come from style sheets, by CSS class: `curve`, `grid`, `tick`, `name`, and the classes of each curve.

use std::fmt::{self, Write};

/// Colours of curves on a white page; further curves repeat them.
pub(crate) const COLOURS: [&str; 8] = [
    "#1f6fd0", "#d1495b", "#1e8a5a", "#8250c4", "#b07d00", "#0e8a9a", "#c2378a", "#7a5c3e",
];
/// Minimum distance between the names of two curves, pixels.
const NAME_HEIGHT: f64 = 15.0;
/// Maximum length of a displayed name, characters.
const NAME_LENGTH: usize = 34;
/// A dot for a single point: a circle filled by its own line.
const DOT: &str = "m-1.5 0a1.5 1.5 0 1 0 3 0a1.5 1.5 0 1 0-3 0";

/// The scale of an axis.
#[derive(Clone, Copy, Debug)]
enum Spread {
    Linear,
    Log,
    /// Percent, logarithmic towards 100 %, with this number of decades. To the right is a place for the longest
    /// value, which is 100 %.
    Nines(f64),
}

/// Share of the width of a percentile axis that is reserved for the longest value.
const LONGEST: f64 = 0.11;

/// One axis: its range, and the text at each mark.
#[derive(Clone, Debug)]
pub(crate) struct ChartAxis {
    spread: Spread,
    low: f64,
    high: f64,
    ticks: Vec<(f64, String)>,
}

impl ChartAxis {
    /// From `low` to `high`, with these marks.
    pub(crate) fn linear(low: f64, high: f64, ticks: Vec<(f64, String)>) -> Self {
        Self {
            spread: Spread::Linear,
            low,
            high: high.max(low + f64::EPSILON),
            ticks,
        }
    }

    /// A logarithmic axis that includes all values; all values must be above 0. `name` formats the text of a mark.
    pub(crate) fn log(values: impl Iterator<Item = f64>, name: fn(f64) -> String) -> Self {
        let (low, high) = values.fold((f64::MAX, 0_f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let (low, high) = if high > 0.0 { (low, high) } else { (1.0, 10.0) };
        // The axis reaches one mark (1, 2 or 5) below and one above the values: at least a factor of two, so that a
        // flat curve does not look steep.
        let mark = |digit: f64, decade: i32| match decade < 0 {
            // Divide: multiplying by 0.001 would not give the nearest float.
            true => digit / 10_f64.powi(-decade),
            false => digit * 10_f64.powi(decade),
        };
        let decades = (-9..=12).flat_map(|decade| [1.0, 2.0, 5.0].map(|it| mark(it, decade)));
        let marks: Vec<f64> = decades.collect();
        let most = marks.len() - 1;
        let first = marks.iter().rposition(|mark| *mark <= low).unwrap_or(0);
        let first = first.min(most - 1);
        let last = marks.iter().position(|mark| *mark >= high);
        let last = last.unwrap_or(most).max(first + 1);
        let (low, high) = (marks[first], marks[last]);
        let few = last - first <= 6;
        let shown = marks[first..=last].iter().enumerate();
        let ticks = shown
            .filter(|(at, _)| few || (first + at) % 3 == 0)
            .map(|(_, mark)| (*mark, name(*mark)))
            .collect();
        Self {
            spread: Spread::Log,
            low,
            high,
            ticks,
        }
    }

    /// A percentile axis with this number of nines, and a place for the longest value.
    pub(crate) fn percentiles(nines: u32) -> Self {
        let percent = |nines: u32| 100.0 - 100.0 / 10_f64.powi(nines as i32);
        let mut ticks: Vec<(f64, String)> = (0..=nines)
            .map(|nines| {
                let digits = nines.saturating_sub(2) as usize;
                (percent(nines), format!("{:.digits$} %", percent(nines)))
            })
            .collect();
        ticks.push((100.0, "longest".to_owned()));
        Self {
            spread: Spread::Nines(f64::from(nines)),
            low: 0.0,
            high: 100.0,
            ticks,
        }
    }

    /// Position of a value on the axis, from 0 to 1.
    fn share(&self, value: f64) -> f64 {
        let share = match self.spread {
            Spread::Linear => (value - self.low) / (self.high - self.low),
            Spread::Log => {
                (value.max(self.low).ln() - self.low.ln()) / (self.high.ln() - self.low.ln())
            }
            Spread::Nines(_) if value >= 100.0 => 1.0,
            Spread::Nines(decades) => {
                let nines = -(1.0 - value / 100.0).log10() / decades.max(1.0);
                nines.min(1.0) * (1.0 - LONGEST)
            }
        };
        share.clamp(0.0, 1.0)
    }
}

/// Size of a picture and its margins, pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChartSize {
    /// Total width and height.
    pub(crate) whole: (f64, f64),
    /// Margins at the left, top, right and bottom.
    pub(crate) margins: [f64; 4],
}

/// Two axes in a picture.
#[derive(Clone, Debug)]
pub(crate) struct ChartPlane {
    /// Size of the picture.
    pub(crate) size: ChartSize,
    /// The horizontal axis.
    pub(crate) x: ChartAxis,
    /// Upwards.
    pub(crate) y: ChartAxis,
}

impl ChartPlane {
    /// The horizontal pixel of a value.
    pub(crate) fn pixel_x(&self, value: f64) -> f64 {
        let [left, _, right, _] = self.size.margins;
        left + (self.size.whole.0 - left - right) * self.x.share(value)
    }

    /// The vertical pixel of a value.
    pub(crate) fn pixel_y(&self, value: f64) -> f64 {
        let [_, top, _, bottom] = self.size.margins;
        self.size.whole.1 - bottom - (self.size.whole.1 - top - bottom) * self.y.share(value)
    }

    /// Writes the lines and texts of both axes.
    pub(crate) fn axes(&self, to: &mut impl Write) -> fmt::Result {
        let (width, height) = self.size.whole;
        let [left, top, right, bottom] = self.size.margins;
        for (value, name) in &self.x.ticks {
            let x = self.pixel_x(*value);
            writeln!(
                to,
                r#"<path class="grid" d="M{x:.1} {top}V{:.1}"/><text class="tick" x="{x:.1}" y="{:.1}" text-anchor="middle">{}</text>"#,
                height - bottom,
                height - bottom + 16.0,
                escape(name)
            )?;
        }
        for (value, name) in &self.y.ticks {
            let y = self.pixel_y(*value);
            writeln!(
                to,
                r#"<path class="grid" d="M{left} {y:.1}H{:.1}"/><text class="tick" x="{:.1}" y="{:.1}" text-anchor="end">{}</text>"#,
                width - right,
                left - 6.0,
                y + 4.0,
                escape(name)
            )?;
        }
        Ok(())
    }

    /// The SVG path of a curve. The parts are not connected; a part with a single value becomes a dot.
    pub(crate) fn path(&self, parts: &[Vec<(f64, f64)>]) -> String {
        let pixel = |(x, y): &(f64, f64)| {
            let (x, y) = (self.pixel_x(*x), self.pixel_y(*y));
            (format!("{x:.1}"), format!("{y:.1}"))
        };
        let mut path = String::new();
        for part in parts {
            let mut before: Option<(String, String)> = None;
            for (x, y) in part.iter().map(pixel) {
                path += &match &before {
                    None => format!("M{x} {y}"),
                    Some((_, same)) if *same == y => format!("H{x}"),
                    Some((same, _)) if *same == x => format!("V{y}"),
                    Some(_) => format!("L{x} {y}"),
                };
                before = Some((x, y));
            }
            if part.len() == 1 {
                path += DOT;
            }
        }
        path
    }

    /// Writes the names of curves at the right edge, each as close to the end of its curve as the other names allow.
    /// `names` has, for each curve: name, class, and the value at the end.
    pub(crate) fn names(
        &self,
        curves: &[(String, String, f64)],
        to: &mut impl Write,
    ) -> fmt::Result {
        let right = self.size.whole.0 - self.size.margins[2];
        let mut sorted: Vec<(f64, &(String, String, f64))> = curves
            .iter()
            .map(|curve| (self.pixel_y(curve.2), curve))
            .collect();
        sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
        let ends: Vec<f64> = sorted.iter().map(|(end, _)| *end).collect();
        let lowest = self.size.whole.1 - self.size.margins[3];
        for ((end, (name, class, _)), place) in sorted.iter().zip(apart(&ends, lowest)) {
            let shown: String = match name.chars().count() > NAME_LENGTH {
                true => name.chars().take(NAME_LENGTH - 1).chain(['…']).collect(),
                false => name.clone(),
            };
            writeln!(
                to,
                r#"<g class="name {class}"><path d="M{:.1} {end:.1}L{:.1} {place:.1}"/><text x="{:.1}" y="{:.1}">{}</text></g>"#,
                right + 3.0,
                right + 16.0,
                right + 20.0,
                place + 4.0,
                escape(&shown)
            )?;
        }
        Ok(())
    }
}

/// Positions for names whose wanted positions are `wanted`, ascending. Neighbours are at least one line apart. The
/// last one is not below `lowest`, unless there are too many names.
fn apart(wanted: &[f64], lowest: f64) -> Vec<f64> {
    let mut places = wanted.to_vec();
    let mut most = lowest;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - NAME_HEIGHT;
    }
    let mut least = NAME_HEIGHT / 2.0;
    for place in &mut places {
        *place = place.max(least);
        least = *place + NAME_HEIGHT;
    }
    places
}

/// Escapes a text for XML and HTML: for elements, and for attributes in double quotes.
pub(crate) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nines_have_equal_room_and_the_longest_its_own() {
        let axis = ChartAxis::percentiles(4);
        let places = [0.0, 90.0, 99.0, 99.9, 99.99, 99.999, 100.0].map(|value| axis.share(value));
        let expected = [0.0, 0.2225, 0.445, 0.6675, 0.89, 0.89, 1.0];
        for (place, expected) in places.iter().zip(expected) {
            assert!((place - expected).abs() < 1e-9, "{places:?}");
        }
        let names: Vec<&str> = axis.ticks.iter().map(|tick| &tick.1[..]).collect();
        let expected = ["0 %", "90 %", "99 %", "99.9 %", "99.99 %", "longest"];
        assert_eq!(names, expected);
    }

    #[test]
    fn an_axis_of_logarithms_has_all_values_and_few_marks() {
        let ends = |values: &[f64]| {
            let axis = ChartAxis::log(values.iter().copied(), |value| value.to_string());
            assert!((2..=9).contains(&axis.ticks.len()), "{axis:?}");
            (axis.low, axis.high)
        };
        assert_eq!(ends(&[9.0, 9.1]), (5.0, 10.0));
        assert_eq!(ends(&[10.0]), (10.0, 20.0));
        assert_eq!(ends(&[1e15]), (2e12, 5e12));
        assert_eq!(ends(&[7.9, 163_577.0]), (5.0, 200_000.0));
        assert_eq!(ends(&[]), (1.0, 10.0));
    }

    #[test]
    fn a_path_has_its_parts_and_no_more_than_it_needs() {
        let axis = || ChartAxis::linear(0.0, 10.0, Vec::new());
        let plane = ChartPlane {
            size: ChartSize {
                whole: (10.0, 10.0),
                margins: [0.0; 4],
            },
            x: axis(),
            y: axis(),
        };
        let steps = vec![(1.0, 0.0), (1.0, 2.0), (3.0, 2.0), (4.0, 5.0)];
        let path = plane.path(&[steps, vec![(7.0, 7.0)]]);
        assert_eq!(path, format!("M1.0 10.0V8.0H3.0L4.0 5.0M7.0 3.0{DOT}"));
    }

    #[test]
    fn names_do_not_cover_each_other() {
        assert_eq!(apart(&[50.0, 100.0], 200.0), [50.0, 100.0]);
        assert_eq!(
            apart(&[50.0, 52.0, 199.0, 200.0], 200.0),
            [37.0, 52.0, 185.0, 200.0]
        );
        assert_eq!(apart(&[1.0, 2.0], 200.0), [7.5, 22.5]);
    }
}
