//! The percentile figure: measured and published curves.

use super::figure::{PageCurve, PageStop, Picture};
use super::legend::{Legend, SERVICE};
use super::measured::AtPace;
use crate::published;
use crate::report::chart::ChartSize;
use crate::report::percentiles::{percents, plane, points, together};

const SIZE: ChartSize = ChartSize {
    whole: (940.0, 400.0),
    margins: [84.0, 12.0, 224.0, 26.0],
};

/// The picture of response and service time over percentile. All runs of a row are combined.
pub(super) fn picture(of: &AtPace<'_>, legend: &Legend) -> Picture {
    let mut curves = Vec::new();
    for curve in published::curves(&of.report.scenario, of.pace) {
        curves.push(page_curve(
            of.key(curve.name),
            "published",
            curve.name.to_owned(),
            legend.published_class(curve.name),
            curve.points,
        ));
    }
    for (subject, rows) in &of.subjects {
        let class = legend.class(subject);
        let rows = || rows.iter().copied();
        let service = points(&together(rows(), |run| &run.service_histogram));
        let name = format!("{subject}, service time");
        let faint = format!("{class} {SERVICE}");
        curves.push(page_curve(of.key(subject), SERVICE, name, faint, service));
        let response = points(&together(rows(), |run| &run.histogram));
        let name = (*subject).to_owned();
        curves.push(page_curve(
            of.key(subject),
            "response",
            name,
            class,
            response,
        ));
    }
    curves.retain(|curve| !curve.parts[0].is_empty());
    let stop = |percent: f64| PageStop {
        x: percent,
        name: match percent < 100.0 {
            true => percent.to_string(),
            false => "longest".to_owned(),
        },
    };
    Picture {
        id: format!("{}-percentiles", of.id),
        caption: "Response time by percentile, all runs together".to_owned(),
        units: [" %", " us"],
        plane: plane(curves.iter().map(|curve| &curve.parts[0][..]), SIZE),
        stops: percents().into_iter().map(stop).collect(),
        curves,
        is_named: true,
    }
}

fn page_curve(
    key: String,
    time: &'static str,
    name: String,
    class: String,
    points: Vec<(f64, f64)>,
) -> PageCurve {
    let at = |percent: f64| points.iter().find(|point| point.0 == percent);
    PageCurve {
        key,
        time,
        name,
        class,
        values: percents()
            .into_iter()
            .map(|percent| Some(at(percent)?.1))
            .collect(),
        parts: vec![points],
    }
}
