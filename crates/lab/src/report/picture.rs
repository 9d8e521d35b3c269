//! The picture of the first screen, in characters: times over percentiles, both axes logarithmic.

use std::fmt::{self, Write};

use hdrhistogram::Histogram;

/// Columns and lines of the picture, without axes.
const PLOT: (usize, usize) = (60, 5);
/// Decades of the share of slower orders: the picture ends at 99.9 %.
const DECADES: f64 = 3.0;
/// Width of a line, characters.
const WIDTH: usize = 80;

/// A curve of the picture.
#[derive(Clone, Debug)]
pub struct PictureCurve<'a> {
    /// The character with which points of the curve are drawn.
    pub mark: char,
    /// Name of the curve in the legend.
    pub name: &'a str,
    /// Values of the curve, in nanoseconds.
    pub histogram: Histogram<u64>,
}

/// Writes the picture; writes nothing when all curves are empty. A later curve is drawn over earlier ones, and comes
/// first in the legend. The legend begins with `of`, unless that is empty. `shown` formats nanoseconds in `unit`.
///
/// # Errors
///
/// When writing fails.
pub fn write(
    curves: &[PictureCurve<'_>],
    of: &str,
    unit: &str,
    shown: impl Fn(u64) -> String,
    to: &mut impl Write,
) -> fmt::Result {
    let curves = curves.iter().filter(|curve| !curve.histogram.is_empty());
    let curves: Vec<(&PictureCurve<'_>, Vec<f64>)> = curves
        .map(|curve| (curve, points(&curve.histogram)))
        .collect();
    let values = || curves.iter().flat_map(|(_, points)| points.iter().copied());
    let (low, high) = values().fold((f64::MAX, 0_f64), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    if high <= 0.0 {
        return Ok(());
    }
    let (width, height) = PLOT;
    // The axis covers at least a factor of two, so that a flat curve does not look steep.
    let (low, high) = (low.ln(), high.max(2.0 * low).ln());
    let mut grid = vec![vec![' '; width]; height];
    for (curve, points) in &curves {
        for (x, value) in points.iter().enumerate() {
            let share = (value.ln() - low) / (high - low);
            let y = (share * (height - 1) as f64).round() as usize;
            grid[height - 1 - y.min(height - 1)][x] = curve.mark;
        }
    }
    let legend = curves.iter().rev();
    let legend = legend.map(|(curve, _)| format!("{} {}", curve.mark, curve.name));
    let legend = legend.collect::<Vec<_>>().join("  ");
    let legend = match of {
        "" => legend,
        _ => format!("{of}: {legend}"),
    };
    for (index, line) in grid.iter().enumerate() {
        let share = (height - 1 - index) as f64 / (height - 1) as f64;
        let value = (low + share * (high - low)).exp() as u64;
        let label = shown(value);
        let line: String = line.iter().collect();
        let plain = format!("{label:>6} {0:1$} |{2}", "", unit.len(), line.trim_end());
        let text = match index {
            0 => format!("{label:>6} {unit} |{}", beside(&line, &legend, width)),
            _ => plain,
        };
        if text.chars().count() > WIDTH {
            // The legend is above the picture when the curves leave no room inside.
            writeln!(to, "{:1$}{legend}", "", 9 + unit.len())?;
            writeln!(to, "{label:>6} {unit} |{}", line.trim_end())?;
            continue;
        }
        writeln!(to, "{text}")?;
    }
    let step = width / DECADES as usize;
    let marks = ["0 %", "90 %", "99 %"].map(|mark| format!("{mark:<step$}"));
    writeln!(to, "{:1$}{2}99.9 %", "", 9 + unit.len(), marks.concat())
}

/// Writes the legend at the left of the top line, where curves are low.
fn beside(line: &str, legend: &str, width: usize) -> String {
    let free = line.chars().take_while(|mark| *mark == ' ').count();
    if free > legend.chars().count() + 3 {
        let rest: String = line.chars().skip(legend.chars().count() + 2).collect();
        format!("  {legend}{rest}").trim_end().to_owned()
    } else {
        format!("{:<width$}  {legend}", line.trim_end())
    }
}

/// The time at each column of the picture, nanoseconds.
fn points(histogram: &Histogram<u64>) -> Vec<f64> {
    let columns = 0..PLOT.0;
    columns
        .map(|x| {
            let slower = 10_f64.powf(-DECADES * x as f64 / (PLOT.0 - 1) as f64);
            histogram.value_at_quantile(1.0 - slower).max(1) as f64
        })
        .collect()
}
