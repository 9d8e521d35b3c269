//! Invalid, huge and empty input.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use fixwire_reader::{LogReader, ReadOptions};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::samples::{bytes_of, order, read};

/// Peak memory of this process, bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

#[test]
fn holes_of_a_hundred_gigabytes_are_skipped() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("sparse");
    let file = File::create(&path).unwrap();
    file.set_len(100 << 30).unwrap();
    let cut = &order(2)[..60];
    for (at, bytes) in [
        (0, order(1)),
        ((1 << 20) - 60, cut.to_vec()),
        (50 << 30, order(3)),
        ((100 << 30) - 4096, order(5)),
    ] {
        file.write_all_at(&bytes, at).unwrap();
    }
    let begun = Instant::now();
    let (messages, left_out) = bytes_of(&path);
    assert_eq!(messages, [order(1), order(3), order(5)]);
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
    let at = (1 << 20) - 60;
    assert_eq!(
        left_out,
        [format!(
            "{}: bytes {at} to {}: a message without its end",
            path.display(),
            at + 59
        )]
    );
}

#[test]
fn a_gzip_bomb_and_long_lines_take_little_memory() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("bomb.gz");
    let mut packed = GzEncoder::new(File::create(&path).unwrap(), Compression::fast());
    let block = vec![b'x'; 1 << 20];
    for _ in 0..300 {
        packed.write_all(&block).unwrap();
    }
    // A message without an end, and one that claims to be huge.
    packed
        .write_all(b"\n8=FIX.4.4\x019=999999999\x0135=D\x01")
        .unwrap();
    for _ in 0..50 {
        packed.write_all(&block).unwrap();
    }
    packed.write_all(b"\n").unwrap();
    packed.write_all(&order(1)).unwrap();
    packed.finish().unwrap();
    let before = peak();
    let (messages, left_out) = bytes_of(&path);
    assert_eq!(messages, [order(1)]);
    assert!(
        left_out.len() == 1 && left_out[0].contains("longer than 16 MiB"),
        "{left_out:?}"
    );
    assert!(peak() - before < 200 << 20, "{} bytes", peak() - before);
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_read() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    fs::write(at("good"), order(1)).unwrap();
    fs::write(at("cut"), [order(3), order(5)[..70].to_vec()].concat()).unwrap();
    fs::write(
        at("binary"),
        (0..=255).cycle().take(100_000).collect::<Vec<u8>>(),
    )
    .unwrap();
    fs::write(
        at("segment"),
        [&fixwire_journal::segment::MAGIC[..], &[0; 100]].concat(),
    )
    .unwrap();
    fs::write(at("noise.gz"), [0x1f, 0x8b, 8, 0, 1, 2, 3]).unwrap();
    fs::write(at("noise.zst"), [0x28, 0xb5, 0x2f, 0xfd, 0xff, 0xff]).unwrap();
    fs::write(
        at("noise.pcapng"),
        [0x0a, 0x0d, 0x0d, 0x0a, 1, 0, 0, 0, 1, 2, 3, 4, 5],
    )
    .unwrap();
    fs::write(at("empty"), "").unwrap();
    let names = [
        "good",
        "cut",
        "binary",
        "segment",
        "noise.gz",
        "noise.zst",
        "noise.pcapng",
        "empty",
        "missing",
    ];
    let paths: Vec<_> = names.iter().map(|name| at(name)).collect();
    let (messages, left_out) = read(&paths, ReadOptions::default());
    assert_eq!(messages.len(), 2);
    let said = left_out.join("\n");
    for (name, why) in [
        ("cut", "a message without its end"),
        ("segment", "name the journal's folder"),
        ("noise.gz", "gzip"),
        ("noise.zst", "zstd"),
        ("noise.pcapng", "the rest is not read"),
        ("missing", "No such file"),
    ] {
        let lines: Vec<_> = left_out
            .iter()
            .filter(|line| line.contains(&format!("/{name}:")))
            .collect();
        assert!(lines.len() == 1 && lines[0].contains(why), "{name}: {said}");
    }
    assert_eq!(left_out.len(), 6, "{said}");
    let options = ReadOptions {
        shifts: vec![("nobody".to_owned(), 1)],
        ..ReadOptions::default()
    };
    assert!(LogReader::open(&paths, options).is_err_and(|why| why.contains("nobody")));
}
