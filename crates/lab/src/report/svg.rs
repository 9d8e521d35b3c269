//! The percentile curves of a report as SVG, made without a library.

use std::fmt::{self, Write};

use super::chart::{COLOURS, ChartSize, escape};
use super::percentiles::{plane, points, together};
use super::{Report, pace_text};

const SIZE: ChartSize = ChartSize {
    whole: (900.0, 480.0),
    margins: [80.0, 30.0, 210.0, 50.0],
};

/// Draws the response time (logarithmic, us) over the percentile (logarithmic towards 100 %): one curve per row,
/// combined from all its runs. The curves of the floor are dashed.
///
/// # Errors
///
/// When writing fails.
pub fn write(report: &Report, to: &mut impl Write) -> fmt::Result {
    let mut curves = Vec::new();
    for row in &report.rows {
        let points = points(&together([row], |run| &run.histogram));
        let Some((_, longest)) = points.last().copied() else {
            continue;
        };
        // The floor and the engine of one pace share a colour.
        let engines = report.rows.iter().filter(|other| !other.is_floor());
        let place = engines.clone().position(|other| other.pace == row.pace);
        let colour = place.unwrap_or(curves.len()) % COLOURS.len();
        let dash = if row.is_floor() { " floor" } else { "" };
        let name = format!("{} {}", row.subject, pace_text(row.pace));
        curves.push(((name, format!("c{colour}{dash}"), longest), points));
    }
    let plane = plane(curves.iter().map(|(_, points)| &points[..]), SIZE);

    let (width, height) = SIZE.whole;
    writeln!(
        to,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">"#
    )?;
    writeln!(
        to,
        "<style>path{{fill:none;stroke-linecap:round}}.grid{{stroke:#ddd}}.curve{{stroke-width:2}}.floor path,\
         path.floor{{stroke-dasharray:5 5}}{}</style>",
        escape(&colours())
    )?;
    writeln!(
        to,
        r##"<rect width="{width}" height="{height}" fill="#ffffff"/>"##
    )?;
    plane.axes(to)?;
    for ((_, class, _), points) in &curves {
        let path = plane.path(std::slice::from_ref(points));
        writeln!(to, r#"<path class="curve {class}" d="{path}"/>"#)?;
    }
    let names: Vec<_> = curves.into_iter().map(|(name, _)| name).collect();
    plane.names(&names, to)?;
    writeln!(to, "</svg>")
}

/// One CSS rule per colour.
fn colours() -> String {
    let rule = |(index, colour)| {
        format!(".c{index}{{stroke:{colour}}}.c{index} text{{fill:{colour};stroke:none}}")
    };
    COLOURS.iter().enumerate().map(rule).collect()
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
        assert_eq!(svg.matches(r#"<path class="curve "#).count(), 4);
        assert_eq!(svg.matches(r#"<path class="curve c0 floor""#).count(), 1);
        assert_eq!(svg.matches(r#"<path class="curve c1 floor""#).count(), 1);
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
