//! Checkpoints as files of a journal's folder, made by the thread beside an engine.

use crate::checkpoints::{Desk, VERSION, config};
use crate::common::{self, Peer, events};

use std::fs;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

use fixwire::Engine;
use fixwire::config::Durability;
use fixwire::journal::stored_states;

/// The engine of a folder, and a client that has logged on.
fn in_folder(folder: &Path, seq: u64) -> (Engine<Desk>, Peer) {
    let mut config = config(Durability::Process);
    config.journal_dir = folder.to_owned();
    config.sessions = vec![common::acceptor_session("127.0.0.1:0")];
    let mut engine = Engine::new(config, Desk::default()).expect("it starts");
    let address = engine.addresses().next().expect("it listens");
    let mut peer = Peer::connect(address);
    peer.seq = seq;
    peer.send("A", "98=0|108=30|");
    answered(&mut engine, &mut peer, "|35=A|");
    (engine, peer)
}

fn answered(engine: &mut Engine<Desk>, peer: &mut Peer, wanted: &str) {
    peer.stream.set_nonblocking(true).unwrap();
    let mut text = String::new();
    let began = Instant::now();
    while !text.contains(wanted) {
        assert!(began.elapsed() < common::PATIENCE, "{text}");
        engine.turn().expect("it works");
        let mut bytes = [0; 4096];
        if let Ok(len) = peer.stream.read(&mut bytes) {
            text += &String::from_utf8_lossy(&bytes[..len]).replace('\x01', "|");
        }
    }
    peer.stream.set_nonblocking(false).unwrap();
}

#[test]
fn a_folder_has_two_checkpoints_and_a_start_reads_them() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = root.path().join("journal");
    let (mut engine, mut peer) = in_folder(&folder, 1);
    let states = || stored_states(&folder).unwrap();
    let mut orders = 0;
    let began = Instant::now();
    while states().len() < 2 || orders < 300 {
        assert!(began.elapsed() < common::PATIENCE, "{:?}", states());
        orders += 1;
        let id = peer.seq;
        peer.send("D", &format!("11={id}|"));
        answered(&mut engine, &mut peer, &format!("|11={id}|"));
    }
    let hash = engine.application_mut().book.hash();
    drop(engine);
    let (seq, found) = (peer.seq, states());
    let [Ok(older), Ok(newer)] = &found[..] else {
        panic!("{found:?}");
    };
    assert!(older.note < newer.note && newer.note <= orders, "{found:?}");
    assert_eq!((newer.name.as_str(), newer.version), ("book", VERSION));
    let (mut engine, peer) = in_folder(&folder, seq);
    let app = engine.application_mut();
    assert_eq!(app.book.hash(), hash);
    assert_eq!(app.replayed, orders - newer.note);
    drop((engine, peer));
    // It may have made another one meanwhile.
    let found = states();
    let [Ok(older), Ok(newer)] = &found[..] else {
        panic!("{found:?}");
    };

    // The newest is damaged: the one before, and an event that names it. Half of one beside it is no one's.
    fs::write(folder.join("00000099.fwk.new"), b"FXWSTAT").unwrap();
    let mut bytes = fs::read(&newer.file).unwrap();
    bytes[140] ^= 1;
    fs::write(&newer.file, &bytes).unwrap();
    let bad = states().pop().unwrap().unwrap_err();
    assert!((128..=140).contains(&bad.offset), "{bad}");
    let (mut engine, peer) = in_folder(&folder, seq + 1);
    let told = format!("{:?}", events(&mut engine).lock().unwrap());
    assert!(
        told.contains("NotRecalled") && told.contains(".fwk"),
        "{told}"
    );
    let app = engine.application_mut();
    assert_eq!(app.book.hash(), hash);
    assert_eq!(app.replayed, orders - older.note);
    drop((engine, peer));
}

/// The highest number of a file that ends so; 0 without one.
fn highest(folder: &Path, suffix: &str) -> u32 {
    let files = fs::read_dir(folder).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let numbers = names.filter_map(|name| name.strip_suffix(suffix)?.parse().ok());
    numbers.max().unwrap_or(0)
}

/// Orders until there is a checkpoint above this number: the next MsgSeqNum and the hash of the state.
fn order_until_above(folder: &Path, seq: u64, number: u32) -> (u64, u64) {
    let (mut engine, mut peer) = in_folder(folder, seq);
    let began = Instant::now();
    while highest(folder, ".fwk") <= number {
        assert!(began.elapsed() < common::PATIENCE, "no checkpoint");
        let id = peer.seq;
        peer.send("D", &format!("11={id}|"));
        answered(&mut engine, &mut peer, &format!("|11={id}|"));
    }
    (peer.seq, engine.application_mut().book.hash())
}

#[test]
fn a_restored_journal_passes_over_checkpoints_of_what_came_after_it() {
    let root = tempfile::tempdir().expect("a folder");
    let (folder, copy) = (root.path().join("journal"), root.path().join("copy"));
    let (seq, hash) = order_until_above(&folder, 1, 0);
    fs::create_dir(&copy).unwrap();
    fs::set_permissions(&copy, fs::metadata(&folder).unwrap().permissions()).unwrap();
    for file in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), copy.join(file.file_name())).unwrap();
    }
    order_until_above(&folder, seq, highest(&copy, ".fwj"));
    // The copy is put back without what came later, but for a checkpoint, and what looks like its segment.
    let name = format!("{:08}.fwk", highest(&folder, ".fwk"));
    fs::copy(folder.join(&name), copy.join(&name)).unwrap();
    fs::write(copy.join(&name).with_extension("fwz"), b"not a segment").unwrap();
    fs::remove_dir_all(&folder).unwrap();
    fs::rename(&copy, &folder).unwrap();

    let (mut engine, _peer) = in_folder(&folder, seq);
    let told = format!("{:?}", events(&mut engine).lock().unwrap());
    assert!(told.contains("beyond the end of the journal"), "{told}");
    assert_eq!(engine.application_mut().book.hash(), hash);
}
