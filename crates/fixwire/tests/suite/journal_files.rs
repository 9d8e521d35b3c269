//! Changes to the journal's files while an engine runs, and a full disk, are reported.

use crate::common;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use common::*;
use fixwire::journal::{Alteration, Directory, Journal, JournalConfig, JournalTrouble};
use fixwire::log::FileLog;
use fixwire::{ConfigError, Engine, EngineConfig, EngineError, Event};
use fixwire_protocol::Timestamp;

fn running(folder: &Path) -> Running {
    Running::start(config(
        &folder.join("store"),
        acceptor_session("127.0.0.1:0"),
    ))
}

/// Waits until an event reports that this file was altered.
fn hears(engine: &Running, ending: &str, wanted: Alteration) {
    engine.wait_event(|event| {
        let Event::JournalTrouble {
            trouble: JournalTrouble::Altered { file, how, .. },
        } = event
        else {
            return false;
        };
        file.ends_with(ending) && *how == wanted
    });
}

#[test]
fn a_segment_that_is_removed_is_named_while_the_engine_sleeps() {
    let folder = tempfile::tempdir().unwrap();
    let engine = running(folder.path());
    let segment = folder.path().join("store/00000001.fwj");
    fs::remove_file(&segment).unwrap();
    hears(&engine, "00000001.fwj", Alteration::Removed);
    let text = |event: &Event| {
        event
            .to_string()
            .contains("was removed while the engine runs")
    };
    assert!(engine.has_event(text));
    // An event reports it once, and the session trades on.
    let mut peer = Peer::connect(engine.address());
    peer.send("A", "98=0|108=30|");
    assert!(peer.receive().unwrap().contains("|35=A|"));
    engine.stop();
}

#[test]
fn a_file_that_is_replaced_or_resized_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let engine = running(folder.path());
    let store = folder.path().join("store");
    fs::remove_file(store.join("lock")).unwrap();
    hears(&engine, "lock", Alteration::Removed);
    let segment = store.join("00000001.fwj");
    let length = fs::metadata(&segment).unwrap().len();
    // Longer, not shorter: nothing that is mapped goes away.
    let file = fs::File::options().write(true).open(&segment).unwrap();
    file.set_len(length + 4096).unwrap();
    let resized = Alteration::Resized {
        from: length,
        to: length + 4096,
    };
    hears(&engine, "00000001.fwj", resized);
    engine.stop();

    let folder = tempfile::tempdir().unwrap();
    let engine = running(folder.path());
    let segment = folder.path().join("store/00000001.fwj");
    fs::rename(&segment, folder.path().join("aside")).unwrap();
    fs::copy(folder.path().join("aside"), &segment).unwrap();
    hears(&engine, "00000001.fwj", Alteration::Replaced);
    engine.stop();
}

/// The next segment cannot be made ahead: here because something has its name, as when a disk is full.
#[test]
fn a_segment_that_cannot_be_made_ahead_is_reported_and_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let engine = running(folder.path());
    let blocked = folder.path().join("store/00000002.new");
    fs::create_dir(&blocked).unwrap();
    let mut peer = Peer::connect(engine.address());
    peer.send("A", "98=0|108=30|");
    assert!(peer.receive().unwrap().contains("|35=A|"));
    let text = "x".repeat(1 << 20);
    for number in 1..=9 {
        peer.send("D", &format!("11={number}|58={text}|"));
        peer.receive().unwrap();
    }
    let trouble = |wanted: fn(&JournalTrouble) -> bool| move |event: &Event| matches!(event, Event::JournalTrouble { trouble } if wanted(trouble));
    engine.wait_event(trouble(
        |trouble| matches!(trouble, JournalTrouble::NotMade { error } if error.contains("00000002.new")),
    ));
    fs::remove_dir(&blocked).unwrap();
    engine.wait_event(trouble(|trouble| *trouble == JournalTrouble::Made));
    assert!(folder.path().join("store/00000002.fwj").exists());
    engine.stop();
}

/// A journal whose last record was only half written.
fn torn(store: &Path) -> u64 {
    let sizes = JournalConfig {
        segment_bytes: 16 << 20,
        ..JournalConfig::default()
    };
    let directory = Directory::open(store).unwrap();
    let (mut journal, _) = Journal::open(directory, sizes).unwrap();
    journal
        .register(Timestamp(0), "FIX.4.2:EXEC->BENCH")
        .unwrap();
    let end = journal.end().offset();
    journal.register(Timestamp(0), "another").unwrap();
    drop(journal);
    let segment = store.join("00000001.fwj");
    let mut bytes = fs::read(&segment).unwrap();
    bytes[end as usize] ^= 1;
    fs::write(&segment, bytes).unwrap();
    u64::from(end)
}

#[test]
fn an_unfinished_end_that_is_cut_off_is_the_first_event() {
    let folder = tempfile::tempdir().unwrap();
    let end = torn(&folder.path().join("store"));
    let engine = running(folder.path());
    let events = engine.events.lock().unwrap();
    let Event::JournalCut { cut } = &events[0] else {
        panic!("{events:?}");
    };
    assert_eq!((cut.offset, cut.bytes), (end, 64 + 7));
    assert!(cut.file.ends_with("store/00000001.fwj"), "{cut}");
    assert!(events[0].to_string().contains("71 bytes"), "{cut}");
    assert!(matches!(events[1], Event::Listening { .. }), "{events:?}");
    drop(events);
    engine.stop();
    // Once.
    let engine = running(folder.path());
    assert!(!engine.has_event(|event| matches!(event, Event::JournalCut { .. })));
    engine.stop();
}

/// It has been cut off although the engine does not start: its error is the only one to say so.
#[test]
fn an_engine_that_does_not_start_says_what_it_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    torn(&store);
    let logs = folder.path().join("logs");
    fs::write(&logs, "no folder").unwrap();
    let config = EngineConfig {
        logs: vec![Arc::new(FileLog::new(logs))],
        ..config(&store, acceptor_session("127.0.0.1:0"))
    };
    let error = Engine::new(config, Echo(Default::default())).err().unwrap();
    assert!(matches!(error, EngineError::AfterCut { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("logs") && text.contains("unfinished end was cut off"),
        "{text}"
    );
}

/// However many names the journal has from dynamic sessions of the past, configured sessions and new
/// dynamic ones get their places.
/// Both would write one cursor.
#[test]
fn two_logs_in_files_are_refused() {
    let mut config = config(Path::new("store"), acceptor_session("127.0.0.1:0"));
    config.logs = vec![Arc::new(FileLog::new("one"))];
    assert_eq!(config.check(), Ok(()));
    config.logs.push(Arc::new(FileLog::new("two")));
    assert_eq!(config.check(), Err(ConfigError::LogTwice("files")));
}

#[test]
fn names_of_the_past_keep_no_session_out() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let sizes = JournalConfig {
        segment_bytes: 16 << 20,
        ..JournalConfig::default()
    };
    let (mut journal, _) = Journal::open(Directory::open(&store).unwrap(), sizes).unwrap();
    let mut ids = std::collections::BTreeSet::new();
    for number in 0..5000 {
        let name = format!("FIX.4.2:EXEC->STRANGER{number}");
        ids.insert(journal.register(Timestamp(0), &name).unwrap());
    }
    assert_eq!(ids.len(), 5000);
    drop(journal);
    let mut config = config(&store, acceptor_session("127.0.0.1:0"));
    config.limits.dynamic_sessions = 1;
    let engine = Running::start(config);
    let mut peer = Peer::connect(engine.address());
    peer.send("A", "98=0|108=30|");
    assert!(peer.receive().unwrap().contains("|35=A|"));
    engine.stop();
    let (mut journal, _) = Journal::open(Directory::open(&store).unwrap(), sizes).unwrap();
    for number in [0, 17, 4999] {
        let name = format!("FIX.4.2:EXEC->STRANGER{number}");
        let id = journal.register(Timestamp(0), &name).unwrap();
        assert_eq!(id.0, number, "a name has one id, and keeps it");
    }
}
