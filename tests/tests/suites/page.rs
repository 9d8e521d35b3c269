//! Does a browser show a page of results as it should, without network, with and without scripts?

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fixwire_lab::load::Pace;
use fixwire_lab::published;
use fixwire_lab::report::{Report, Row, result_file};
use fixwire_rigs::browser::Browser;
use fixwire_rigs::server::{binary, scratch};
use serde_json::Value;

/// The measured runs, file by file; the first one has stages.
const BENCHES: [&[&str]; 2] = [&["echo", "--stages"], &["gateway-echo", "--no-ping-pong"]];
const LOAD: &str =
    "--rate 2000 --warm-up 100 --iterations 3000 --runs 2 --cores none --json result.json";
/// The pictures of a part; the middle of each has its curves.
const PICTURES: [&str; 5] = ["percentiles", "histogram", "p50", "p99", "worst"];
const BYTES_MAX: u64 = 1_000_000;

/// Results, and the page made from them.
struct Page {
    reports: Vec<Report>,
    address: String,
    folder: PathBuf,
}

impl Page {
    fn new(name: &str) -> Self {
        let folder = scratch(name).expect("a folder");
        let folder = fs::canonicalize(folder).expect("a folder");
        let mut files = Vec::new();
        for bench in BENCHES {
            let file = folder.join(format!("{}.json", bench[0]));
            let args: Vec<&str> = bench.iter().copied().chain(LOAD.split(' ')).collect();
            fixwire(&folder, &args);
            fs::rename(folder.join("result.json"), &file).expect("a result file");
            files.push(file);
        }
        let names = files.iter().map(|file| file.to_str().expect("text"));
        let args = ["report", "--output", "page.html"];
        let said = fixwire(&folder, &args.into_iter().chain(names).collect::<Vec<_>>());
        assert!(
            said.starts_with("page.html: ") && said.ends_with(" bytes\n"),
            "{said}"
        );
        let page = folder.join("page.html");
        let bytes = fs::metadata(&page).expect("the page").len();
        assert!(bytes < BYTES_MAX, "{bytes} bytes");
        let read = |file: &PathBuf| result_file::read(file).expect("a report");
        Self {
            reports: files.iter().map(read).collect(),
            address: format!("file://{}", page.display()),
            folder,
        }
    }

    fn browser(&self, with_scripts: bool) -> Browser {
        let mut browser = Browser::start(&self.folder.join("profile"), with_scripts)
            .unwrap_or_else(|error| panic!("{error}"));
        browser.open(&self.address).expect("the page opens");
        browser
    }

    /// The row whose curves have this key, and whether its part of the page comes from this file.
    fn rows(&self) -> impl Iterator<Item = (usize, &Report, &Row)> {
        let files = self.reports.iter().enumerate();
        files.flat_map(|(file, report)| report.rows.iter().map(move |row| (file + 1, report, row)))
    }

    /// Every curve of the results is drawn in each picture, and so is every published value.
    fn check_curves(&self, browser: &mut Browser) {
        let mut looked_at = 0;
        for (file, report, row) in self.rows() {
            let (part, key) = (part(file, row.pace), key(report, row.pace, &row.subject));
            for picture in PICTURES {
                shown(browser, &format!("{part}-{picture}"), &key, "response");
                looked_at += 1;
            }
            let service =
                format!("#{part}-percentiles path[data-curve=\"{key}\"][data-time=service]");
            assert_eq!(display(browser, &service), "none", "{service}");
            for curve in published::curves(&report.scenario, row.pace) {
                let key = self::key(report, row.pace, curve.name);
                shown(browser, &format!("{part}-percentiles"), &key, "published");
            }
        }
        // Three subjects at two paces, and two at one.
        assert_eq!(looked_at, 8 * PICTURES.len());
        let stages = browser.value("document.querySelectorAll('table.stages').length");
        assert_eq!(stages.expect("a number"), 2);
    }
}

/// The output of fixwire.
fn fixwire(folder: &Path, args: &[&str]) -> String {
    let mut command = Command::new(binary().expect("the binary"));
    let output = command.arg("bench").args(args).current_dir(folder).output();
    let output = output.expect("fixwire runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {said}");
    String::from_utf8(output.stdout).expect("text")
}

fn pace_name(pace: Pace) -> String {
    match pace {
        Pace::PerSecond(rate) => rate.to_string(),
        Pace::PingPong => "ping-pong".to_owned(),
        Pace::Flood => "flood".to_owned(),
    }
}

fn part(file: usize, pace: Pace) -> String {
    format!("f{file}-{}", pace_name(pace))
}

fn key(report: &Report, pace: Pace, name: &str) -> String {
    format!("{}|{}|{name}", report.scenario, pace_name(pace))
}

/// The picture has curves inside.
fn shown(browser: &mut Browser, picture: &str, key: &str, time: &str) {
    let curve = format!("#{picture} path[data-curve=\"{key}\"][data-time={time}]");
    let drawn = browser.value(&format!(
        "(all => all.length === 1 && getComputedStyle(all[0]).display !== 'none' && (box => \
         box.x >= 0 && box.y >= 0 && box.x + box.width <= 940 && box.y + box.height <= 400)(all[0].getBBox()) \
         && all[0].getTotalLength() > 0)\
         (document.querySelectorAll('{curve}'))"
    ));
    assert_eq!(drawn, Ok(true.into()), "{curve}");
}

fn display(browser: &mut Browser, element: &str) -> Value {
    let style = format!("getComputedStyle(document.querySelector('{element}')).display");
    browser.value(&style).expect("a style")
}

/// The middle of an element, after scrolling it into the window.
fn middle(browser: &mut Browser, element: &str) -> (f64, f64) {
    let place = browser.value(&format!(
        "(it => {{ it.scrollIntoView({{ block: 'center' }}); const box = it.getBoundingClientRect(); \
         return [box.x + box.width / 2, box.y + box.height / 2]; }})(document.querySelector('{element}'))"
    ));
    let place = place.expect("a place");
    let [x, y] = [0, 1].map(|at| place[at].as_f64().expect("a number"));
    (x, y)
}

/// The labels at the pointer: the place, then names and values, in microseconds.
fn under_pointer(browser: &mut Browser, picture: &str) -> (String, Vec<(String, f64)>) {
    let texts = browser.value(&format!(
        "[...document.querySelectorAll('#{picture} output:not([hidden]) > *')].map(it => it.textContent)"
    ));
    let texts = texts.expect("texts");
    let texts: Vec<&str> = texts
        .as_array()
        .expect("texts")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let (place, values) = texts.split_first().expect("values under the pointer");
    let value = |pair: &[&str]| {
        let number = pair[1].strip_suffix(" us").expect(pair[1]).replace(',', "");
        (pair[0].to_owned(), number.parse().expect(pair[1]))
    };
    ((*place).to_owned(), values.chunks(2).map(value).collect())
}

/// The values of the measured curves at a percentile agree with the result file.
fn check_values(values: &[(String, f64)], report: &Report, pace: Pace, percent: f64) {
    let mut looked_at = 0;
    for row in report.rows.iter().filter(|row| row.pace == pace) {
        let Some((_, micros)) = values.iter().find(|(name, _)| *name == row.subject) else {
            continue;
        };
        let mut all = row.runs[0].histogram.clone();
        all.add(&row.runs[1].histogram).expect("the same bounds");
        let expected = all.value_at_quantile((percent * 1e6).round() / 1e8) as f64 / 1e3;
        assert!(
            (micros / expected - 1.0).abs() < 0.001,
            "{}: {micros}, not {expected}",
            row.subject
        );
        looked_at += 1;
    }
    assert!(looked_at > 0, "{values:?}");
}

fn nothing_wrong(browser: &Browser, address: &str) {
    assert_eq!(browser.problems, [""; 0]);
    let others = browser.asked_for.iter().filter(|it| {
        let page = it.split('#').next().unwrap_or_default();
        page != address && *it != "about:blank"
    });
    assert_eq!(others.count(), 0, "{:?}", browser.asked_for);
}

#[test]
fn values_stand_under_the_pointer_and_the_address_keeps_what_is_hidden() {
    let page = Page::new("scripts");
    let pace = Pace::PerSecond(2_000);
    let mut browser = page.browser(true);
    page.check_curves(&mut browser);

    let picture = "f1-2000-percentiles";
    let place = middle(&mut browser, &format!("#{picture} svg"));
    browser.move_pointer(place).expect("it moves");
    let (at, values) = under_pointer(&mut browser, picture);
    let percent: f64 = at.strip_suffix(" %").expect(&at).parse().expect(&at);
    assert!((90.0..99.9).contains(&percent), "{at}");
    check_values(&values, &page.reports[0], pace, percent);
    assert!(values.len() >= 2, "{values:?}");
    browser.click(place).expect("it clicks");
    let hash = browser.value("new URLSearchParams(location.hash.slice(1)).get('at')");
    assert_eq!(hash, Ok(format!("{picture},{percent}").into()));

    // A hidden curve is not under the pointer, and the address says which curves are hidden.
    let floor = format!("#{picture} .curve[data-name=\"tcp floor\"]");
    assert_ne!(display(&mut browser, &floor), "none");
    let box_place = middle(&mut browser, "#legend input[value=\"tcp floor\"]");
    browser.click(box_place).expect("it clicks");
    assert_eq!(display(&mut browser, &floor), "none");
    let (_, fewer) = under_pointer(&mut browser, picture);
    assert_eq!(fewer.len() + 1, values.len(), "{fewer:?}");
    let address = browser.value("location.href").expect("an address");
    let address = address.as_str().expect("text");
    assert!(address.contains("#hide=tcp+floor&at="), "{address}");
    browser.open(address).expect("the page opens");
    assert_eq!(display(&mut browser, &floor), "none");
    assert_eq!(under_pointer(&mut browser, picture), (at, fewer));

    // An address written by hand.
    let written = format!("{}#show=service+time&at={picture},99.9", page.address);
    browser.open(&written).expect("the page opens");
    let (at, values) = under_pointer(&mut browser, picture);
    assert_eq!(at, "99.9 %");
    check_values(&values, &page.reports[0], pace, 99.9);
    assert!(
        values
            .iter()
            .any(|(name, _)| name == "fixwire, service time"),
        "{values:?}"
    );
    assert!(
        values.contains(&("QuickFIX/J".to_owned(), 13_370.0)),
        "{values:?}"
    );
    nothing_wrong(&browser, &page.address);
}

#[test]
fn the_page_is_whole_without_scripts_and_its_boxes_hide_curves() {
    let page = Page::new("no-scripts");
    let mut browser = page.browser(false);
    page.check_curves(&mut browser);
    let outputs = browser.value("document.querySelectorAll('output').length");
    assert_eq!(outputs, Ok(0.into()), "a script ran");
    let floor = "#f1-2000-histogram .curve[data-name=\"tcp floor\"]";
    let place = middle(&mut browser, "#legend input[value=\"tcp floor\"]");
    browser.click(place).expect("it clicks");
    assert_eq!(display(&mut browser, floor), "none");
    nothing_wrong(&browser, &page.address);
}
