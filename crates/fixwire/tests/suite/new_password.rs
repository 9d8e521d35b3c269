//! NewPassword(925): a Logon that is accepted changes the password, in every version; no other does.

use crate::common;

use std::fs::Permissions;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use common::app::{App, Heard};
use common::{Peer, acceptor_session, config, whole};
use fixwire::Engine;
use fixwire::passwords::Users;
use fixwire::protocol::dictionary::{Dictionary, Version};
use fixwire::protocol::session::{ApplVerId, BeginString, Config, Role};
use fixwire::protocol::{Precision, Timestamp, TimestampWriter};

/// An acceptor of one version with its dictionary, and what its peer says.
struct World {
    begin_string: BeginString,
    precision: Precision,
    address: SocketAddr,
    /// Whether the application refuses each Logon.
    refuses: Arc<AtomicBool>,
    heard: Heard,
}

impl World {
    /// The answer to a Logon, up to the end of the connection or the Logon of the acceptor.
    fn log_on(&self, seq: u64, fields: &str) -> Vec<String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let mut stamp = TimestampWriter::new();
        let time = stamp.format(Timestamp(now.as_nanos() as i64), self.precision);
        let time = String::from_utf8_lossy(time);
        let version = match self.begin_string {
            BeginString::Fixt11 => "1137=9|",
            _ => "",
        };
        let body = format!(
            "35=A|34={seq}|49=BENCH|52={time}|56=EXEC|98=0|108=30|{version}553=me|{fields}"
        );
        let mut peer = Peer::connect(self.address);
        peer.send_bytes(&whole(self.begin_string.as_str(), &body));
        let mut answers = Vec::new();
        while let Some(answer) = peer.receive() {
            let is_logon = answer.contains("|35=A|");
            answers.push(answer);
            if is_logon {
                break;
            }
        }
        answers
    }
}

/// Plays against an acceptor of this version; the last argument is the file of its users.
fn play(begin_string: BeginString, version: Version, game: impl FnOnce(&World, &Path)) {
    let place = tempfile::tempdir().unwrap();
    add_user(place.path(), "", b"tiger");
    play_in(place.path(), (begin_string, version), game);
}

/// The file of users in a folder: one, with this in front of the hash of its password.
fn add_user(place: &Path, mark: &str, password: &[u8]) {
    let users = place.join("users");
    let hash = fixwire::passwords::hash(password).unwrap();
    std::fs::write(&users, format!("me:{mark}{hash}\n")).unwrap();
    std::fs::set_permissions(&users, Permissions::from_mode(0o600)).unwrap();
}

/// The same in a folder that has the file of users, and the journal of an acceptor that ran there before.
fn play_in(
    place: &Path,
    (begin_string, version): (BeginString, Version),
    game: impl FnOnce(&World, &Path),
) {
    let users = place.join("users");
    let mut session = acceptor_session("127.0.0.1:0");
    session.session = Config::new(begin_string, Role::Acceptor, b"EXEC", b"BENCH");
    let mut dictionary = Dictionary::built_in(version);
    if begin_string == BeginString::Fixt11 {
        session.session.default_appl_ver_id = ApplVerId::parse(b"9");
        dictionary = dictionary.over(&Dictionary::built_in(Version::Fixt11));
    }
    session.session.dictionary = Some(Arc::new(dictionary));
    session.access.users = Some(Arc::new(Users::read(&users).unwrap()));
    let refuses = Arc::new(AtomicBool::new(false));
    let refused = Arc::clone(&refuses);
    let door = App {
        on_logon_request: Box::new(move |_| {
            let refuses = refused.load(Ordering::SeqCst);
            if refuses {
                Err("not today".into())
            } else {
                Ok(())
            }
        }),
        ..App::default()
    };
    let heard = door.heard.clone();
    let journal = place.join("journal");
    let mut engine = Engine::new(config(&journal, session), door).unwrap();
    let world = World {
        begin_string,
        precision: match begin_string {
            BeginString::Fix40 | BeginString::Fix41 => Precision::Seconds,
            _ => Precision::Millis,
        },
        address: engine.addresses().next().unwrap(),
        refuses,
        heard,
    };
    let mut handle = engine.handle();
    let thread = std::thread::spawn(move || engine.run());
    game(&world, &users);
    handle.stop().unwrap();
    thread.join().unwrap().unwrap();
}

#[test]
fn a_rejected_logon_changes_no_password_and_a_valid_one_does_in_every_version() {
    for (begin_string, version) in [
        (BeginString::Fix40, Version::Fix40),
        (BeginString::Fix41, Version::Fix41),
        (BeginString::Fix42, Version::Fix42),
        (BeginString::Fix43, Version::Fix43),
        (BeginString::Fix44, Version::Fix44),
        (BeginString::Fixt11, Version::Fix50Sp2),
    ] {
        play(begin_string, version, |world, users| {
            let what = begin_string.as_str();
            let before = std::fs::read(users).unwrap();
            let answers = world.log_on(1, "554=tiger|925=lion|9999=x|");
            assert!(answers[0].contains("|35=3|"), "{what}: {answers:?}");
            assert!(answers[1].contains("|35=5|"), "{what}: {answers:?}");
            assert_eq!(std::fs::read(users).unwrap(), before, "{what}");
            let fields = "554=tiger|925=lion|1400=0|1401=1|1402=x|1403=1|1404=y|";
            let answers = world.log_on(1, fields);
            assert!(answers[0].contains("|35=A|"), "{what}: {answers:?}");
            assert_ne!(std::fs::read(users).unwrap(), before, "{what}");
            let answers = world.log_on(2, "554=tiger|");
            assert!(answers.is_empty(), "{what}: {answers:?}");
            let answers = world.log_on(2, "554=lion|");
            assert!(answers[0].contains("|35=A|"), "{what}: {answers:?}");
            // A MsgSeqNum that is too low ends in a Logout, which is no Logon either.
            let changed = std::fs::read(users).unwrap();
            let answers = world.log_on(1, "554=lion|925=bear|");
            assert!(answers[0].contains("|35=5|"), "{what}: {answers:?}");
            assert_eq!(std::fs::read(users).unwrap(), changed, "{what}");
        });
    }
}

#[test]
fn the_application_is_asked_once_and_before_a_new_password_is_stored() {
    play(BeginString::Fix44, Version::Fix44, |world, users| {
        let before = std::fs::read(users).unwrap();
        world.refuses.store(true, Ordering::SeqCst);
        let answers = world.log_on(1, "554=tiger|925=lion|");
        assert!(answers[0].contains("|58=not today|"), "{answers:?}");
        assert_eq!(std::fs::read(users).unwrap(), before);
        assert_eq!(world.heard.of("asked").len(), 1);
        world.refuses.store(false, Ordering::SeqCst);
        let answers = world.log_on(1, "554=tiger|925=lion|");
        assert!(answers[0].contains("|35=A|"), "{answers:?}");
        assert_ne!(std::fs::read(users).unwrap(), before);
        assert_eq!(world.heard.of("asked").len(), 2);
    });
}

/// Whether a file in a folder, or below it, has these bytes.
fn has_bytes(folder: &Path, bytes: &[u8]) -> bool {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().path()).any(|path| {
        if path.is_dir() {
            return has_bytes(&path, bytes);
        }
        let content = std::fs::read(&path).unwrap();
        content.windows(bytes.len()).any(|part| part == bytes)
    })
}

#[test]
fn a_password_that_must_be_changed_lets_no_logon_in_without_a_new_one() {
    let place = tempfile::tempdir().unwrap();
    let version = (BeginString::Fix44, Version::Fix44);
    let (old, new) = ("first-4711", "second-4712");
    add_user(place.path(), "change:", old.as_bytes());
    play_in(place.path(), version, |world, users| {
        let before = std::fs::read(users).unwrap();
        for fields in [
            format!("554={old}|"),
            format!("554={old}|925={old}|"),
            format!("554={new}|925={new}|"),
        ] {
            let answers = world.log_on(1, &fields);
            assert!(answers.is_empty(), "{fields}: {answers:?}");
            assert_eq!(std::fs::read(users).unwrap(), before, "{fields}");
        }
        let answers = world.log_on(1, &format!("554={old}|925={new}|"));
        assert!(answers[0].contains("|35=A|"), "{answers:?}");
        let after = String::from_utf8(std::fs::read(users).unwrap()).unwrap();
        assert!(after.starts_with("me:$argon2id$"), "{after}");
    });
    // The engine starts again: the new one is good, without another change.
    play_in(place.path(), version, |world, _| {
        let answers = world.log_on(2, &format!("554={old}|"));
        assert!(answers.is_empty(), "{answers:?}");
        let answers = world.log_on(2, &format!("554={new}|"));
        assert!(answers[0].contains("|35=A|"), "{answers:?}");
    });
    let journal = place.path().join("journal");
    assert!(has_bytes(&journal, b"\x0135=A\x01"), "it has the Logons");
    for secret in [old, new] {
        assert!(!has_bytes(&journal, secret.as_bytes()), "{secret}");
        assert!(!has_bytes(place.path(), secret.as_bytes()), "{secret}");
    }
}
