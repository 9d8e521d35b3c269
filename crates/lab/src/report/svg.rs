//! The percentile curves of a report as a picture, without any library.

use std::fmt::{self, Write};

use super::{Report, Row, pace_text};

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 480.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 210.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 50.0;
/// Percentiles reach to 99.999 %: five decades of the share that is slower.
const DECADES: f64 = 5.0;
const COLOURS: [&str; 6] = [
    "#1b6ca8", "#c8553d", "#3a7d44", "#8a4fa3", "#b8860b", "#4a4a4a",
];

/// Draws response time (logarithmic, us) over percentile (logarithmic towards 100 %), one curve a
/// row, the floor's dashed; the runs of a row are added up.
///
/// # Errors
///
/// Those of the writer.
pub fn write(report: &Report, to: &mut impl Write) -> fmt::Result {
    let curves: Vec<(&Row, Vec<(f64, f64)>)> = report
        .rows
        .iter()
        .map(|row| (row, curve(row)))
        .filter(|(_, curve)| !curve.is_empty())
        .collect();
    let values = || {
        curves
            .iter()
            .flat_map(|(_, curve)| curve.iter().map(|point| point.1))
    };
    let low = values().fold(f64::MAX, f64::min).log10().floor();
    let high = values().fold(1.0, f64::max).log10().ceil();
    let (low, high) = if low < high {
        (low, high)
    } else {
        (high - 1.0, high)
    };
    let x =
        |slower: f64| LEFT + (WIDTH - LEFT - RIGHT) * (-slower.log10() / DECADES).clamp(0.0, 1.0);
    let y = |micros: f64| {
        HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (micros.log10() - low) / (high - low)
    };

    writeln!(
        to,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">"#
    )?;
    writeln!(
        to,
        r##"<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>"##
    )?;
    for decade in 0..=5 {
        let slower = 10_f64.powi(-decade);
        let name = ["0 %", "90 %", "99 %", "99.9 %", "99.99 %", "99.999 %"][decade as usize];
        let x = x(slower);
        writeln!(
            to,
            r##"<path d="M{x:.1} {TOP}V{:.1}" stroke="#dddddd"/><text x="{x:.1}" y="{:.1}" text-anchor="middle">{name}</text>"##,
            HEIGHT - BOTTOM,
            HEIGHT - BOTTOM + 18.0
        )?;
    }
    for decade in low as i32..=high as i32 {
        let micros = 10_f64.powi(decade);
        let y = y(micros);
        writeln!(
            to,
            r##"<path d="M{LEFT} {y:.1}H{:.1}" stroke="#dddddd"/><text x="{:.1}" y="{:.1}" text-anchor="end">{micros} us</text>"##,
            WIDTH - RIGHT,
            LEFT - 6.0,
            y + 4.0
        )?;
    }
    for (index, (row, curve)) in curves.iter().enumerate() {
        // The floor and the engine of one pace share a colour.
        let place = report
            .rows
            .iter()
            .filter(|other| !other.is_floor())
            .position(|other| other.pace == row.pace);
        let colour = COLOURS[place.unwrap_or(index) % COLOURS.len()];
        let dash = if row.is_floor() {
            r#" stroke-dasharray="5 4""#
        } else {
            ""
        };
        let mut path = String::new();
        for (point, (slower, micros)) in curve.iter().enumerate() {
            write!(
                path,
                "{}{:.1} {:.1}",
                if point == 0 { 'M' } else { 'L' },
                x(*slower),
                y(*micros)
            )?;
        }
        let line = TOP + 16.0 * (index as f64 + 0.5);
        writeln!(
            to,
            r#"<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/><path d="M{:.1} {line:.1}h24" stroke="{colour}" stroke-width="2"{dash}/><text x="{:.1}" y="{:.1}">{}</text>"#,
            WIDTH - RIGHT + 14.0,
            WIDTH - RIGHT + 44.0,
            line + 4.0,
            escape(&format!("{} {}", row.subject, pace_text(row.pace)))
        )?;
    }
    writeln!(to, "</svg>")
}

/// Points of a row's curve: the share of orders that is slower, and the time in microseconds.
fn curve(row: &Row) -> Vec<(f64, f64)> {
    let mut all = crate::load::histogram();
    for run in &row.runs {
        // The histograms have the same bounds, so that adding cannot fail.
        let _ = all.add(&run.histogram);
    }
    if all.is_empty() {
        return Vec::new();
    }
    let most = (all.len() as f64).log10().min(DECADES);
    (0..=100)
        .map(|step| {
            let slower = 10_f64.powf(-most * f64::from(step) / 100.0);
            (
                slower,
                all.value_at_quantile(1.0 - slower).max(1) as f64 / 1e3,
            )
        })
        .collect()
}

/// Text for XML.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn a_curve_for_each_row_inside_the_picture() {
        let mut report = sample::report();
        report.rows[1].subject = "<peer> & co".to_owned();
        let mut svg = String::new();
        write(&report, &mut svg).unwrap();
        assert_eq!(svg.matches(r#"fill="none""#).count(), 4);
        assert_eq!(svg.matches("stroke-dasharray").count(), 4);
        assert!(svg.contains("&lt;peer&gt; &amp; co ping-pong"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }

    #[test]
    fn a_report_without_runs_is_still_a_picture() {
        let mut report = sample::report();
        for row in &mut report.rows {
            row.runs.clear();
        }
        let mut svg = String::new();
        write(&report, &mut svg).unwrap();
        assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN"), "{svg}");
    }
}
