//! Times of the requests and reports of one order, from the stamps file of its OMS.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use fixwire::settings::Source;
use fixwire_protocol::Timestamp;
use fixwire_protocol::time::{Precision, TimestampWriter as SourceText};
use fixwire_stamps::Stamp;
use fixwire_stamps::analysis::kind_name;
use fixwire_stamps::file;
use fixwire_text::TomlFile;
use serde_json::{Map, Value};

use crate::failure::Failure;

/// Shown for a missing time.
pub const NOTHING: &str = "-";

/// The stamps of an order, or why they are missing.
#[derive(Debug)]
pub enum OrderStamps {
    /// The stamps in the order in which they were written; at least one.
    Found(Vec<Stamp>),
    /// The reason why there are no stamps.
    Missing(String),
}

/// Path of the stamps file of an OMS, in the folder of its settings.
pub fn place(settings: &Path, stamps: &str) -> PathBuf {
    settings.parent().unwrap_or(Path::new("")).join(stamps)
}

impl OrderStamps {
    /// The stamps of an order, from the OMS of a settings file.
    ///
    /// # Errors
    ///
    /// The stamps file cannot be read.
    pub fn of(settings: &Path, order: u64) -> Result<Self, Failure> {
        if !fs::metadata(settings).is_ok_and(|it| it.is_file()) {
            let why = "no stamps: pass the settings file, which has the path of the stamps";
            return Ok(Self::Missing(why.to_owned()));
        }
        let Some(name) = named(&Source::read(settings)?.text) else {
            let why = "no stamps: [oms] stamps is not configured";
            return Ok(Self::Missing(why.to_owned()));
        };
        let path = place(settings, &name);
        let shown = path.display();
        let cannot = |error: std::io::Error| Failure::Text(format!("{shown}: {error}"));
        let file = match File::open(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::Missing(format!("no stamps: file {shown} is missing")));
            }
            other => other.map_err(cannot)?,
        };
        let read = file::read(BufReader::new(file), Some(order));
        let mut stamps = read.map_err(cannot)?;
        // A new journal in another folder uses the order numbers of the previous journal again.
        if let Some(newest) = stamps.iter().rposition(|it| it.kind == b'D') {
            stamps.drain(..newest);
        }
        if stamps.is_empty() {
            return Ok(Self::Missing(format!(
                "no stamps of order {order} in {shown}"
            )));
        }
        Ok(Self::Found(stamps))
    }

    /// The stamps as text: microseconds since the first T0, in tab-separated columns. Also the time at which the count
    /// starts.
    pub fn table(stamps: &[Stamp]) -> (String, String) {
        let first = stamps.iter().find(|it| it.sent > 0);
        let from = first.or(stamps.first());
        let from = from.map_or(0, |it| if it.sent > 0 { it.sent } else { it.read });
        let mut text = SourceText::new();
        let at = text.format(Timestamp(from.cast_signed()), Precision::Nanos);
        let name = if first.is_some() {
            "T0"
        } else {
            "the first T1, as no T0 is known"
        };
        let head = format!(
            "us since {name}, {}; for a request, read and found are T1, journalled and written T2; \
            for a report, read and found are T3, journalled and written T4",
            String::from_utf8_lossy(at)
        );
        let mut rows =
            String::from("message\tClOrdID\tbecame\tT0\tread\tfound\tjournalled\twritten");
        for stamp in stamps {
            let id = String::from_utf8_lossy(stamp.id());
            rows += &format!("\n{}\t{id}\t{}", kind_name(stamp.kind), stamp.state.name());
            for (_, time) in times(stamp) {
                rows.push('\t');
                rows += &since(from, time);
            }
        }
        (head, rows)
    }

    /// The stamps as JSON: for each message an object with nanoseconds since 1970; `null` for missing times.
    pub fn json(&self) -> Value {
        let Self::Found(stamps) = self else {
            return Value::Array(Vec::new());
        };
        let object = |stamp: &Stamp| {
            let mut object = Map::new();
            let id = String::from_utf8_lossy(stamp.id()).into_owned();
            object.insert("message".to_owned(), kind_name(stamp.kind).into());
            object.insert("ClOrdID".to_owned(), id.into());
            object.insert("became".to_owned(), stamp.state.name().into());
            for (name, time) in times(stamp) {
                if !name.is_empty() {
                    let time = Some(time).filter(|it| *it > 0);
                    object.insert(name.to_owned(), time.into());
                }
            }
            Value::Object(object)
        };
        Value::Array(stamps.iter().map(object).collect())
    }
}

/// The times of a stamp, each with its name. A report has no T0.
fn times(stamp: &Stamp) -> [(&'static str, u64); 5] {
    let names = if stamp.is_report() {
        ["", "T3_read", "T3_found", "T4_journalled", "T4_written"]
    } else {
        ["T0", "T1_read", "T1_found", "T2_journalled", "T2_written"]
    };
    let times = [
        stamp.sent,
        stamp.read,
        stamp.found,
        stamp.journalled,
        stamp.written,
    ];
    std::array::from_fn(|at| (names[at], times[at]))
}

fn since(from: u64, time: u64) -> String {
    if time == 0 {
        return NOTHING.to_owned();
    }
    // T0 comes from another clock, so it may be later than the other times.
    let nanos = i128::from(time) - i128::from(from);
    let sign = if nanos < 0 { "-" } else { "" };
    let nanos = nanos.unsigned_abs();
    format!("{sign}{}.{:03}", nanos / 1000, nanos % 1000)
}

/// The name of the stamps file in the settings, which the OMS has already checked.
fn named(settings: &str) -> Option<String> {
    let file = TomlFile::parse(settings).ok()?;
    let stamps = file.root().get("oms")?.table().ok()?.get("stamps")?;
    stamps.string().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire_stamps::FirstState;

    fn stamp(kind: u8, times: [u64; 5]) -> Stamp {
        let mut stamp = Stamp::new(kind, b"A", FirstState::Sending);
        [
            stamp.sent,
            stamp.read,
            stamp.found,
            stamp.journalled,
            stamp.written,
        ] = times;
        stamp
    }

    fn file(lines: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let settings = folder.path().join("oms.toml");
        fs::write(&settings, "[oms]\nstamps = \"times.txt\"\n").unwrap();
        let text = format!("{}\n{lines}", file::HEAD);
        fs::write(folder.path().join("times.txt"), text).unwrap();
        (folder, settings)
    }

    #[test]
    fn times_are_shown_since_t0() {
        let at = 1_787_319_000_000_000_000;
        let request = stamp(b'D', [at, at + 1_500, at + 1_600, at + 4_000, at + 6_001]);
        let report = stamp(b'8', [0, at + 90_000, at + 90_100, at + 92_000, 0]);
        let (head, rows) = OrderStamps::table(&[request, report]);
        assert!(
            head.starts_with("us since T0, 20260821-13:30:00.000000000;"),
            "{head}"
        );
        assert_eq!(
            rows,
            "message\tClOrdID\tbecame\tT0\tread\tfound\tjournalled\twritten\n\
             NewOrderSingle\tA\tSending\t0.000\t1.500\t1.600\t4.000\t6.001\n\
             ExecutionReport\tA\tSending\t-\t90.000\t90.100\t92.000\t-"
        );
        let json = OrderStamps::Found(vec![request, report]).json();
        assert_eq!(json[0]["T0"], at);
        assert_eq!(json[0]["T2_written"], at + 6_001);
        assert_eq!(json[1]["T3_read"], at + 90_000);
        assert_eq!(json[1]["T4_written"], Value::Null);
        assert!(json[1].get("T0").is_none());
    }

    #[test]
    fn without_t0_the_first_read_is_where_times_begin() {
        let (head, rows) = OrderStamps::table(&[stamp(b'D', [0, 5_000, 4_000, 6_000, 7_000])]);
        assert!(head.starts_with("us since the first T1"), "{head}");
        assert!(rows.ends_with("\t-\t0.000\t-1.000\t1.000\t2.000"), "{rows}");
    }

    /// A new journal was begun, and its numbers with it.
    #[test]
    fn the_newest_order_of_a_number_is_meant() {
        let (_folder, settings) = file(
            "7|old|D|Sending|1|2|3|4|5\n7|7|8|Reported|0|2|3|4|5\n\
             7|new|D|Sending|1|2|3|4|5\n8|x|D|Sending|1|2|3|4|5\n7|c|F|Sending|1|2|3|4|5\n",
        );
        let OrderStamps::Found(stamps) = OrderStamps::of(&settings, 7).unwrap() else {
            panic!("no stamps");
        };
        let ids: Vec<_> = stamps.iter().map(Stamp::id).collect();
        assert_eq!(ids, [&b"new"[..], b"c"]);
    }

    #[test]
    fn none_are_said_to_be_none() {
        let (folder, settings) = file("7|a|D|Sending|1|2|3|4|5\n");
        let why = |settings: &Path, order| match OrderStamps::of(settings, order).unwrap() {
            OrderStamps::Found(stamps) => panic!("{stamps:?}"),
            OrderStamps::Missing(why) => why,
        };
        assert!(why(&settings, 8).starts_with("no stamps of order 8 in "));
        assert!(why(folder.path(), 7).contains("pass the settings file"));
        fs::remove_file(folder.path().join("times.txt")).unwrap();
        assert!(why(&settings, 7).contains(" is missing"));
        fs::write(&settings, "[oms]\n").unwrap();
        assert!(why(&settings, 7).contains("[oms] stamps is not configured"));
    }
}
