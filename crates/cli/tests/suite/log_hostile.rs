//! Bad input of `fixwire log`, in large amounts: prints the readable part, then what was skipped, with exit code 1 and
//! little memory.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::log::{fixwire, message, text};

/// Maximum memory of any command.
const MOST: u64 = 256 << 20;
/// Maximum size of a zstd block that is one repeated byte.
const ZSTD_BLOCK: usize = 128 << 10;

fn order(number: u32) -> String {
    message(
        "D",
        number,
        "CLIENT",
        number % 60,
        &format!("11=A{number}|"),
    )
}

/// Peak resident memory of a running process, bytes.
fn peak(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.trim().strip_suffix(" kB"));
    number.and_then(|it| it.parse::<u64>().ok()).unwrap_or(0) << 10
}

/// Runs `fixwire log ARGS`; returns exit code, output, errors, and the observed peak memory.
fn watched(folder: &Path, args: &[&str]) -> (Option<i32>, String, String, u64) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fixwire"))
        .current_dir(folder)
        .arg("log")
        .args(args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(240);
    let mut most = 0;
    let code = loop {
        most = peak(&child).max(most);
        if let Some(code) = child.try_wait().unwrap() {
            break code.code();
        }
        assert!(Instant::now() < deadline, "{args:?} does not end");
        thread::sleep(Duration::from_millis(2));
    };
    let (mut said, mut errors) = (String::new(), String::new());
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut errors)
        .unwrap();
    (code, said, errors, most)
}

/// Two orders with a gigabyte of zeros before them, and a message without an end between them.
fn bomb(mut write: impl FnMut(&[u8], usize)) {
    write(b"x", 1 << 30);
    write(format!("\n{}\n", order(1)).as_bytes(), 1);
    write(b"8=FIX.4.4\x019=999999999\x0135=D\x01", 1);
    write(b"x", 40 << 20);
    write(format!("\n{}\n", order(2)).as_bytes(), 1);
}

fn gzip_bomb(path: &Path) {
    let mut packed = GzEncoder::new(File::create(path).unwrap(), Compression::fast());
    bomb(|bytes, times| {
        if times == 1 {
            packed.write_all(bytes).unwrap();
        } else {
            let block = bytes.repeat(1 << 20);
            (0..times >> 20).for_each(|_| packed.write_all(&block).unwrap());
        }
    });
    packed.finish().unwrap();
}

/// A zstd frame with a window of 128 KiB, whose blocks are raw or one repeated byte.
fn zstd_bomb(path: &Path) {
    let mut packed = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 7 << 3];
    let head = |kind: usize, len: usize| (len << 3 | kind << 1).to_le_bytes()[..3].to_vec();
    bomb(|bytes, times| {
        if times == 1 {
            packed.extend(head(0, bytes.len()));
            packed.extend(bytes);
        } else {
            for _ in 0..times / ZSTD_BLOCK {
                packed.extend(head(1, ZSTD_BLOCK));
                packed.extend(bytes);
            }
        }
    });
    // The last block, empty.
    packed.extend([1, 0, 0]);
    fs::write(path, packed).unwrap();
}

#[test]
fn bombs_are_read_to_their_end_within_little_memory() {
    let root = tempfile::tempdir().unwrap();
    gzip_bomb(&root.path().join("bomb.gz"));
    zstd_bomb(&root.path().join("bomb.zst"));
    for name in ["bomb.gz", "bomb.zst"] {
        let size = fs::metadata(root.path().join(name)).unwrap().len();
        assert!(size < 8 << 20, "{name} has {size} bytes");
        let (code, said, errors, most) = watched(root.path(), &["grep", "35=D", name]);
        assert_eq!(code, Some(1), "{name}: {errors}");
        let lines: Vec<&str> = said.lines().collect();
        assert!(
            lines.len() == 2 && lines[0].contains("|34=1|") && lines[1].contains("|34=2|"),
            "{name}: {said}"
        );
        let at = (1 << 30) + 1 + order(1).len() + 1;
        let part = format!(
            "{name}: bytes {at} to {}: a message longer",
            at + (16 << 20) - 1
        );
        assert!(
            errors.contains(&part) && errors.lines().count() == 1,
            "{errors}"
        );
        assert!(most > 0 && most < MOST, "{name}: {most} bytes");
    }
}

#[test]
fn a_line_of_a_gigabyte_takes_little_memory() {
    let root = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_fixwire"))
        .current_dir(root.path())
        .args(["log", "grep", "35=D", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let block = vec![b'y'; 1 << 20];
    (0..1024).for_each(|_| input.write_all(&block).unwrap());
    let most = peak(&child);
    assert!(most > 0 && most < MOST, "{most} bytes");
    write!(input, "\n{}\n", order(7)).unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    let said = text(&output.stdout);
    assert!(
        output.status.success() && said.starts_with("stdin:2 "),
        "{said}"
    );
}

#[test]
fn holes_of_a_hundred_gigabytes_cost_no_time() {
    let root = tempfile::tempdir().unwrap();
    let file = File::create(root.path().join("sparse.log")).unwrap();
    file.set_len(100 << 30).unwrap();
    let first = order(1);
    file.write_all_at(first.as_bytes(), 0).unwrap();
    let cut = &order(2).into_bytes()[..60];
    // The rest of it is in the hole.
    let at = (4 << 20) - 60;
    file.write_all_at(cut, at).unwrap();
    file.write_all_at(order(3).as_bytes(), 70 << 30).unwrap();
    let begun = Instant::now();
    for args in [
        &["grep", "35=D"][..],
        &["grep", "11=A3"],
        &["order", "A3", "--no-index"],
    ] {
        let (code, said, errors, most) = watched(root.path(), &[args, &["sparse.log"]].concat());
        assert_eq!(code, Some(1), "{args:?}: {errors}");
        let part = format!(
            "sparse.log: bytes {at} to {}: a message without its end",
            at + 59
        );
        assert!(
            errors.contains(&part) && errors.lines().count() == 1,
            "{args:?}: {errors}"
        );
        assert!(said.contains("A3") && most < MOST, "{args:?}: {said}");
    }
    assert!(
        begun.elapsed() < Duration::from_secs(60),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn line_ends_and_encodings_may_be_mixed() {
    let root = tempfile::tempdir().unwrap();
    let mut log = Vec::new();
    let mut add = |bytes: &[u8]| log.extend_from_slice(bytes);
    add(b"\xef\xbb\xbf");
    for (number, end) in (1..).zip(["\r\n", "\n", "\r", "\r\r\n", "\u{85}\n", "\u{2028}"]) {
        add(format!("20261120-10:00:00.000 : {}{end}", order(number)).as_bytes());
    }
    // Latin-1, Shift JIS, all byte values, and Windows quotes around a message.
    add(b"Auftrag f\xfcr M\xfcnchen: ");
    add(order(7).replace('\x01', "|").as_bytes());
    add(b"\n\x83\x65\x83\x58\x83\x67 ");
    let text_58 = message("D", 8, "CLIENT", 8, "11=A8|58=\u{3042}\u{e9}|");
    add(text_58.as_bytes());
    add(&(0..=255).collect::<Vec<u8>>());
    add(b"\n\x93");
    add(order(9).as_bytes());
    add(b"\x94\r\n");
    let at = log.len();
    log.extend_from_slice(&order(10).as_bytes()[..50]);
    fs::write(root.path().join("mixed.log"), &log).unwrap();
    let output = fixwire(root.path(), &["log", "grep", "35=D", "mixed.log"]);
    let (said, errors) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{errors}");
    let numbers: Vec<String> = said
        .lines()
        .map(|line| {
            line.split("|34=")
                .nth(1)
                .unwrap()
                .split('|')
                .next()
                .unwrap()
                .to_owned()
        })
        .collect();
    assert_eq!(
        numbers,
        ["1", "2", "3", "4", "5", "6", "7", "8", "9"],
        "{said}"
    );
    let part = format!(
        "mixed.log: bytes {at} to {}: a message without its end",
        at + 49
    );
    assert_eq!(errors, format!("error: not read: {part}\n"));
}

#[test]
fn what_is_no_log_is_named() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let wide: Vec<u8> = order(1).encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(at("wide.log"), [&[0xff, 0xfe], &wide[..]].concat()).unwrap();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    for number in 1..2000 {
        writeln!(packed, "{}", order(number)).unwrap();
    }
    let packed = packed.finish().unwrap();
    fs::write(at("cut.gz"), &packed[..packed.len() / 2]).unwrap();
    let mut damaged = packed.clone();
    damaged[packed.len() / 2] ^= 0xff;
    fs::write(at("damaged.gz"), damaged).unwrap();
    fs::write(at("good.log"), order(1)).unwrap();
    let names = ["cut.gz", "damaged.gz", "wide.log", "good.log"];
    for (name, why) in names.into_iter().zip(["gzip: ", "gzip: ", "UTF-16", ""]) {
        let output = fixwire(root.path(), &["log", "grep", "35=D", name]);
        let (said, errors) = (text(&output.stdout), text(&output.stderr));
        let is_whole = why.is_empty();
        assert_eq!(
            output.status.code(),
            Some(i32::from(!is_whole)),
            "{name}: {errors}"
        );
        // The message that the damage cuts may be named, too.
        assert!(errors.lines().count() <= 2, "{name}: {errors}");
        assert!(
            errors.lines().all(|line| line.contains(name)),
            "{name}: {errors}"
        );
        assert!(
            errors.contains(why) && errors.contains(name) != is_whole,
            "{errors}"
        );
        if why == "gzip: " {
            // The part before the damage is read, and the position is after it.
            let count = said.lines().count();
            assert!((100..1999).contains(&count), "{name}: {count} messages");
            let from = errors
                .split("from byte ")
                .nth(1)
                .and_then(|it| it.split(' ').next());
            let from: usize = from.and_then(|it| it.parse().ok()).expect(&errors);
            let read: usize = (1..=count as u32).map(|it| order(it).len() + 1).sum();
            // A flipped bit changes the following bytes for a while.
            let is_near = name == "damaged.gz" || from < read + order(1999).len() + 1;
            assert!(from + 1 >= read && is_near, "{from}, {read}");
        }
    }
}
