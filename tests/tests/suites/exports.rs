//! Does Arrow read the Parquet files that we write, with the rows that CSV has?

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fixwire_rigs::foreign::parquet_reader;
use fixwire_rigs::random::Random;
use fixwire_rigs::server::{binary, scratch};
use fixwire_rigs::wire::message;

/// More rows than a row group has.
const MESSAGES: u64 = 120_000;

fn said(error: std::io::Error) -> String {
    error.to_string()
}

/// A line of the log.
fn line(number: u64, random: &mut Random) -> Vec<u8> {
    let body = match random.below(6) {
        0 => format!("35=8|37=O{number}|11=A{number}|17=E{number}|150=0|39=0|55=VOD.L|151=7|14=0|"),
        1 => "35=A|98=0|108=30|554=tiger|".to_owned(),
        2 => format!("35=D|11=A,{number}|55=\"SIE\"|54=1|58=a|58=b|38=1000|"),
        3 => format!("35=D|11=\u{e9}{number}|55=SIE|58=\u{1f600}|"),
        4 => "35=0|".to_owned(),
        _ => format!("35=D|11=A{number}|21=1|55=SIE|54=2|38=1{number}|40=2|44=1.25|"),
    };
    // Some lines have no time, neither of the line nor of the message.
    let mut line = match random.below(8) {
        0 => Vec::new(),
        _ => {
            let (minute, second) = (number / 60 % 60, number % 60);
            format!("20261120-10:{minute:02}:{second:02}.000000123 : ").into_bytes()
        }
    };
    line.extend(message(&format!(
        "8=FIX.4.4|{body}34={number}|49=CLIENT|56=BROKER|"
    )));
    line.push(b'\n');
    line
}

/// A folder with a log.
fn logged(name: &str) -> Result<PathBuf, String> {
    let folder = scratch(name).map_err(said)?;
    let mut random = Random::new(1);
    let lines = (1..=MESSAGES).flat_map(|number| line(number, &mut random));
    fs::write(folder.join("x.log"), lines.collect::<Vec<_>>()).map_err(said)?;
    Ok(folder)
}

fn export(folder: &Path, form: &str) -> Result<Command, String> {
    let mut command = Command::new(binary()?);
    command
        .args(["log", "export", "--format", form, "x.log"])
        .current_dir(folder);
    Ok(command)
}

#[test]
fn rows_are_those_of_csv() -> Result<(), String> {
    let folder = logged("exports")?;
    for form in ["csv", "parquet"] {
        let out = File::create(folder.join(form)).map_err(said)?;
        let status = export(&folder, form)?.stdout(out).status();
        assert!(status.map_err(said)?.success(), "{form}");
    }
    let mut reader = parquet_reader()?;
    let read = reader.arg(folder.join("parquet")).output().map_err(said)?;
    let words = String::from_utf8_lossy(&read.stderr);
    let read = String::from_utf8_lossy(&read.stdout);
    let (about, rows) = read.split_once('\n').ok_or(words)?;
    let (groups, types) = about.split_once(' ').ok_or("no types")?;
    let groups: u32 = groups.parse().map_err(|_| about)?;
    assert!(groups > 1, "{groups}");
    assert_eq!(types, "string, timestamp[ns, tz=UTC]");
    let csv = fs::read_to_string(folder.join("csv")).map_err(said)?;
    assert_eq!(csv.lines().count() as u64, MESSAGES + 1);
    assert_eq!(rows.lines().count(), csv.lines().count());
    for (read, expected) in rows.lines().zip(csv.lines()) {
        assert_eq!(read, expected);
    }
    Ok(())
}

#[test]
fn it_ends_quietly_when_nobody_reads() -> Result<(), String> {
    let folder = logged("exports-unread")?;
    let mut command = export(&folder, "parquet")?;
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = command.spawn().map_err(said)?;
    drop(running.stdout.take());
    let ended = running.wait_with_output().map_err(said)?;
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
    assert!(ended.status.success(), "{:?}", ended.status);
    Ok(())
}
