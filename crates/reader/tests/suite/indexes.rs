//! An index reduces the data read, and does not change the results.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

use fixwire_random::Random;
use fixwire_reader::{
    BlockChoice, LogEntry, LogIndex, LogIndexes, LogPlace, LogReader, LogStep, LogZone,
    OrderSearch, ReadOptions, ShortQuery, TextPlaces,
};

use crate::samples::message;

/// Size of a block, bytes.
const BLOCK: u64 = 256 << 10;

/// Histories of orders: replaces, fills, busts, rejects by MsgSeqNum, resets, reused ids, lines without a message.
struct Lives {
    random: Random,
    numbers: [u64; 2],
    orders: Vec<[String; 2]>,
    executions: Vec<String>,
    made: u64,
    clock: u64,
    /// Whether sequence numbers are reset sometimes.
    resets: bool,
    /// Sessions that send Heartbeats only.
    others: u64,
}

impl Lives {
    fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            numbers: [1; 2],
            orders: Vec::new(),
            executions: Vec::new(),
            made: 0,
            clock: 0,
            resets: true,
            others: 0,
        }
    }

    fn send(&mut self, from: usize, body: &str) -> Vec<u8> {
        self.clock += self.random.below(3_000);
        let number = self.numbers[from];
        self.numbers[from] += 1;
        let names = ["CLIENT", "BROKER"];
        let (kind, body) = body.split_once('|').unwrap();
        let (minute, milli) = (self.clock / 60_000 % 600, self.clock % 60_000);
        let time = format!(
            "20261120-{:02}:{:02}:{:02}.{:03}",
            10 + minute / 60,
            minute % 60,
            milli / 1000,
            milli % 1000
        );
        let text = "x".repeat(self.random.below(200) as usize);
        let bytes = message(&format!(
            "35={kind}|34={number}|49={}|52={time}|56={}|{body}58={text}|",
            names[from],
            names[1 - from],
        ));
        let mut line = match self.random.below(3) {
            0 => format!("{time} : ").into_bytes(),
            1 => b"INFO ".to_vec(),
            _ => Vec::new(),
        };
        line.extend(bytes);
        line.push(b'\n');
        if self.random.below(50) == 0 {
            line.extend(b"20261120-10:00:00 : 8=FIX.4.4 is spoken here\n");
        }
        line
    }

    fn step(&mut self) -> Vec<u8> {
        let known = self.orders.len() as u64;
        let pick = known.saturating_sub(1 + self.random.below(known.clamp(1, 2_000)));
        match self.random.below(12) {
            0..4 => {
                self.made += 1;
                let id = match self.random.below(40) {
                    0 if known > 0 => self.orders[pick as usize][0].clone(),
                    _ => format!("A{}", self.made),
                };
                self.orders.push([id.clone(), format!("O{}", self.made)]);
                self.send(0, &format!("D|11={id}|55=VOD|"))
            }
            4..8 if known > 0 => {
                let [id, order] = self.orders[pick as usize].clone();
                let execution = format!("E{}", self.executions.len());
                self.executions.push(execution.clone());
                self.send(1, &format!("8|37={order}|11={id}|17={execution}|150=F|"))
            }
            8..10 if known > 0 => {
                self.made += 1;
                let old = self.orders[pick as usize][0].clone();
                let new = format!("A{}", self.made);
                self.orders[pick as usize][0].clone_from(&new);
                self.send(0, &format!("G|11={new}|41={old}|"))
            }
            10 if !self.executions.is_empty() => {
                let at = self.random.below(self.executions.len() as u64) as usize;
                let bust = self.executions[at].clone();
                self.send(1, &format!("8|37=NONE|17=B{at}|19={bust}|150=H|"))
            }
            _ => match self.random.below(60) {
                0 if self.resets => {
                    self.numbers = [1; 2];
                    self.send(0, "A|141=Y|")
                }
                1..30 => {
                    let back = 1 + self.random.below(30);
                    let number = self.numbers[0].saturating_sub(back);
                    self.send(1, &format!("3|45={number}|"))
                }
                _ => self.send(1, "0|"),
            },
        }
    }

    fn log(&mut self, bytes: usize) -> Vec<u8> {
        let mut log = Vec::new();
        while log.len() < bytes {
            log.extend(self.step());
            if self.others > 0 {
                let name = self.random.below(self.others);
                let body = format!("35=0|34={}|49=S{name}|56=BROKER|", self.random.below(900));
                log.extend(message(&body));
            }
        }
        log
    }
}

/// The whole result for an order, and the number of messages read in the last pass.
fn life(paths: &[PathBuf], id: &str, indexes: HashMap<PathBuf, LogIndex>) -> (Vec<String>, u64) {
    let mut search = OrderSearch::new(id);
    let choice = search.blocks().clone().with_indexes(indexes);
    loop {
        search.begin();
        choice.take_grew();
        let mut reader =
            LogReader::open_blocks(paths, ReadOptions::default(), choice.clone()).unwrap();
        let mut read = 0;
        while let LogStep::Message(entry) = reader.next_step() {
            read += 1;
            search.look(&entry);
        }
        let has_new = search.finish();
        let grew = choice.has_indexes() && choice.take_grew();
        if !has_new && !grew {
            let lives = search.lives().enumerate();
            let said = lives.flat_map(|(life, found)| {
                found.steps.into_iter().map(move |step| {
                    let text = String::from_utf8_lossy(&step.bytes);
                    format!("{life} {}:{} {:?} {text}", step.file, step.place, step.time)
                })
            });
            let left_out = reader.take_left_out();
            let left_out = left_out.iter().map(ToString::to_string);
            return (said.chain(left_out).collect(), read);
        }
    }
}

/// The messages that match a query.
fn matches(path: &Path, query: &str, indexes: &LogIndexes, indexed: bool) -> Vec<String> {
    let query = ShortQuery::parse(query).unwrap();
    let mut choice = query.blocks().unwrap_or_default();
    let paths = [path.to_owned()];
    if indexed {
        choice = choice.with_indexes(indexes.open_all(&paths, None));
        assert!(choice.has_indexes());
    } else {
        choice = BlockChoice::default();
    }
    let mut reader = LogReader::open_blocks(&paths, ReadOptions::default(), choice).unwrap();
    let mut decoder = fixwire_protocol::Decoder::with_capacity(64);
    let mut found = Vec::new();
    while let LogStep::Message(entry) = reader.next_step() {
        if query.matches(&decoder.decode(entry.bytes)) {
            found.push(format!("{entry:?} {:?}", entry.time()));
        }
    }
    found
}

struct Place {
    root: tempfile::TempDir,
    indexes: LogIndexes,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let indexes = LogIndexes::new(&root.path().join("cache"), LogZone::utc());
        Self { root, indexes }
    }

    fn log(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.root.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// The file of the only index.
    fn file(&self) -> PathBuf {
        let files = fs::read_dir(self.root.path().join("cache")).unwrap();
        let files: Vec<PathBuf> = files.map(|it| it.unwrap().path()).collect();
        assert_eq!(files.len(), 1, "{files:?}");
        files[0].clone()
    }

    /// With indexes in memory, with indexes read from their files each time, and without.
    fn compare(&self, paths: &[PathBuf], ids: &[String]) {
        for id in ids {
            let (kept, _) = life(paths, id, self.indexes.open_all(paths, None));
            let opened = paths
                .iter()
                .filter_map(|path| Some((path.clone(), self.indexes.open(path)?)));
            let (read, _) = life(paths, id, opened.collect());
            let (without, _) = life(paths, id, HashMap::new());
            assert_eq!(kept, without, "{id}");
            assert_eq!(read, without, "{id}");
        }
    }
}

fn some_ids(lives: &mut Lives, count: usize) -> Vec<String> {
    (0..count)
        .map(|_| match lives.random.below(4) {
            0 => format!("O{}", lives.random.below(lives.made)),
            _ => format!("A{}", lives.random.below(lives.made + 3)),
        })
        .collect()
}

#[test]
fn orders_are_the_same_with_and_without_an_index() {
    for seed in 1..6 {
        let place = Place::new();
        let mut lives = Lives::new(seed);
        lives.others = [0, 500][seed as usize % 2];
        let first = place.log("x.log", &lives.log(1_500_000));
        // The other log begins during the first, with the same ids.
        lives.clock /= 2;
        let second = place.log("y.log", &lives.log(700_000));
        for path in [&first, &second] {
            let update = place.indexes.update(path).unwrap();
            let size = fs::metadata(path).unwrap().len();
            assert!(update.covered + BLOCK + 4096 > size && update.blocks > 1);
            let share = update.size as f64 / update.covered as f64;
            assert!(share < 0.04, "{share}");
        }
        let ids = some_ids(&mut lives, 8);
        place.compare(std::slice::from_ref(&first), &ids);
        place.compare(&[first, second], &ids[..4]);
    }
}

#[test]
fn few_blocks_are_read_for_an_order() {
    let place = Place::new();
    let mut lives = Lives::new(77);
    lives.resets = false;
    let mut log = lives.log(2_000_000);
    for body in ["D|11=X1|", "G|11=X2|41=X1|", "G|11=X3|41=X2|"] {
        log.extend(lives.send(0, body));
        log.extend(lives.log(600_000));
    }
    log.extend(lives.send(1, "8|11=X3|37=OX|17=EX|"));
    log.extend(lives.log(900_000));
    let path = place.log("x.log", &log);
    place.indexes.update(&path).unwrap();
    let paths = [path];
    let (with, read) = life(&paths, "X2", place.indexes.open_all(&paths, None));
    let (without, all) = life(&paths, "X2", HashMap::new());
    assert_eq!(with, without);
    // Four blocks of them, the rest after the last one, and a few at random.
    assert!(
        with.len() >= 4 && read * 2 < all,
        "{} {read} {all}",
        with.len()
    );
    for query in ["11=X1|X3", "37=OX 35=8", "17=EX", "41=X1", "11=nobody"] {
        let [with, without] = [true, false].map(|it| matches(&paths[0], query, &place.indexes, it));
        assert_eq!(with, without, "{query}");
    }
    let mode = fs::metadata(place.file()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_log_that_grew_was_cut_written_anew_or_rotated_is_read_right() {
    let place = Place::new();
    let mut lives = Lives::new(5);
    let path = place.log("x.log", &lives.log(700_000));
    assert!(!place.indexes.update(&path).unwrap().extended);
    let covered = |path: &Path| place.indexes.open(path).map(|index| index.covered());
    let before = covered(&path).unwrap();
    let paths = [path.clone()];
    let ids = some_ids(&mut lives, 3);
    // The log grows: the index is used as far as it goes, then extended.
    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(&lives.log(600_000)).unwrap();
    assert_eq!(covered(&path), Some(before));
    let late = format!("A{}", lives.made - 1);
    place.compare(&paths, &[&ids[..], &[late]].concat());
    let update = place.indexes.update(&path).unwrap();
    assert!(update.extended && update.covered > before && update.read > 0);
    place.compare(&paths, &ids);
    let update = place.indexes.update(&path).unwrap();
    assert_eq!((update.extended, update.read), (true, 0));
    // It is the same as if it had been built at once.
    let extended = fs::read(place.file()).unwrap();
    fs::remove_file(place.file()).unwrap();
    place.indexes.update(&path).unwrap();
    let anew = fs::read(place.file()).unwrap();
    assert_eq!(extended.len(), anew.len());
    // Rotated: the index follows the file, and the new file has none.
    let old = place.root.path().join("x.log.1");
    fs::rename(&path, &old).unwrap();
    fs::write(&path, lives.log(400_000)).unwrap();
    assert!(covered(&old).is_some() && covered(&path).is_none());
    place.compare(&[path.clone(), old.clone()], &ids);
    // Truncated, otherwise unchanged.
    let len = fs::metadata(&old).unwrap().len();
    let file = OpenOptions::new().write(true).open(&old).unwrap();
    file.set_len(len - 10).unwrap();
    assert_eq!(covered(&old), None);
    place.compare(std::slice::from_ref(&old), &ids);
    assert!(!place.indexes.update(&old).unwrap().extended);
    // Overwritten in place, longer than before.
    let other = Lives::new(6).log(len as usize + 100_000);
    file.set_len(0).unwrap();
    file.write_all_at(&other, 0).unwrap();
    assert_eq!(covered(&old), None);
    place.compare(std::slice::from_ref(&old), &ids);
    // Changed only in the middle: the same length, but written later.
    place.indexes.update(&old).unwrap();
    assert!(covered(&old).is_some());
    file.write_all_at(b"\n8=FIX.4.4|9=11|35=D|11=A1|10=000|\n", 100_000)
        .unwrap();
    file.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(9))
        .unwrap();
    assert_eq!(covered(&old), None);
    place.compare(&[old], &ids);
}

#[test]
fn a_damaged_index_is_used_up_to_the_damage_only() {
    let place = Place::new();
    let mut lives = Lives::new(9);
    let path = place.log("x.log", &lives.log(900_000));
    place.indexes.update(&path).unwrap();
    let whole = fs::read(place.file()).unwrap();
    let file = OpenOptions::new().write(true).open(place.file()).unwrap();
    let open = || place.indexes.open(&path).map(|index| index.covered());
    // The end of each record, and the log bytes covered there.
    let mut ends = vec![(48, None)];
    while ends[ends.len() - 1].0 < whole.len() {
        let at = ends[ends.len() - 1].0;
        let len = u32::from_le_bytes(whole[at..at + 4].try_into().unwrap()) as usize;
        let covered = u64::from_le_bytes(whole[at + 4..at + 12].try_into().unwrap());
        ends.push((at + len + 12, Some(covered)));
    }
    assert_eq!(open(), ends[ends.len() - 1].1);
    let ids = some_ids(&mut lives, 2);
    for at in 0..whole.len() {
        file.write_all_at(&[whole[at] ^ (1 << (at % 8))], at as u64)
            .unwrap();
        let expected = ends.iter().rfind(|(end, _)| *end <= at);
        assert_eq!(open(), expected.and_then(|(_, covered)| *covered), "{at}");
        if at % 2_503 == 0 {
            place.compare(std::slice::from_ref(&path), &ids);
        }
        file.write_all_at(&whole[at..=at], at as u64).unwrap();
    }
    for len in (0..whole.len()).step_by(331) {
        file.set_len(len as u64).unwrap();
        let expected = ends.iter().rfind(|(end, _)| *end <= len);
        assert_eq!(open(), expected.and_then(|(_, covered)| *covered), "{len}");
        file.set_len(0).unwrap();
        file.write_all_at(&whole, 0).unwrap();
    }
    // Damaged records are rebuilt.
    file.write_all_at(b"x", ends[1].0 as u64 + 100).unwrap();
    place.indexes.update(&path).unwrap();
    assert_eq!(open(), ends[ends.len() - 1].1);
    assert_eq!(fs::read(place.file()).unwrap(), whole);
}

#[test]
fn what_is_left_out_is_named_with_an_index_too() {
    let place = Place::new();
    let mut lives = Lives::new(3);
    let path = place.root.path().join("x.log");
    let file = File::create(&path).unwrap();
    let log = lives.log(600_000);
    file.write_all_at(&log, 0).unwrap();
    file.write_all_at(b"8=FIX.4.4\x019=70000\x0135=D\x01", log.len() as u64)
        .unwrap();
    // A hole truncates the message.
    let behind = 4 << 20;
    file.write_all_at(&lives.log(600_000), behind).unwrap();
    let update = place.indexes.update(&path).unwrap();
    assert!(update.covered > behind, "{update:?}");
    let (said, _) = life(std::slice::from_ref(&path), "A3", HashMap::new());
    assert!(
        said.iter().any(|it| it.contains("without its end")),
        "{said:?}"
    );
    place.compare(&[path], &some_ids(&mut lives, 6));
}

#[test]
fn packed_logs_and_journals_have_no_index() {
    let place = Place::new();
    let packed = place.log("x.gz", &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0]);
    let why = place.indexes.update(&packed).unwrap_err();
    assert!(why.contains("compressed"), "{why}");
    let why = place.indexes.update(place.root.path()).unwrap_err();
    assert!(why.contains("journal"), "{why}");
    let small = place.log("small.log", b"8=FIX.4.4|9=5|35=0|10=161|\n");
    assert_eq!(place.indexes.update(&small).unwrap().blocks, 0);
    assert!(place.indexes.open(&small).is_none());
}

#[test]
fn messages_are_read_again_from_their_places() {
    let place = Place::new();
    let mut log = Lives::new(21).log(200_000);
    log.extend(b"20261120-10:00:00 : 8=FIX.4.4|9=15|35=D|58=\\x0a|10=001|\n");
    let path = place.log("x.log", &log);
    let paths = [path.clone()];
    let mut reader = LogReader::open(&paths, ReadOptions::default()).unwrap();
    let mut places = TextPlaces::open(&path, &ReadOptions::default())
        .unwrap()
        .unwrap();
    let mut spots = Vec::new();
    while let LogStep::Message(entry) = reader.next_step() {
        let LogPlace::Text { offset, line } = entry.place else {
            panic!("{entry:?}");
        };
        spots.push((offset, line, entry.bytes.to_vec(), entry.fault));
    }
    assert!(spots.len() > 500);
    for (offset, line, bytes, fault) in spots.iter().rev() {
        let same = |entry: &LogEntry<'_>| entry.bytes == *bytes && entry.fault == *fault;
        assert_eq!(places.read(*offset, *line, same), Some(true));
        assert_eq!(places.read(*offset + 1, *line, same), None);
    }
    assert_eq!(places.read(log.len() as u64 + 9, 1, |_| ()), None);
    let packed = place.log("x.gz", &[0x1f, 0x8b, 8]);
    for path in [packed.as_path(), place.root.path()] {
        let opened = TextPlaces::open(path, &ReadOptions::default()).unwrap();
        assert!(opened.is_none());
    }
}
