//! The bytes of a segment are those that docs/reference/journal-format.md draws.

use fixwire::journal::sim::SimDisk;
use fixwire::journal::{Cause, Effect, Journal, JournalConfig, JournalId, RecordKind};
use fixwire_protocol::time::Timestamp;

const SMALL: JournalConfig = JournalConfig {
    segment_bytes: 4096,
    index_entries: 4,
    synced_before_sent: false,
    retention: None,
};

/// CRC-32C, one bit at a time, as its definition has it.
fn slow_crc(before: u32, bytes: &[u8]) -> u32 {
    let mut crc = !before;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                crc >> 1 ^ 0x82F6_3B78
            } else {
                crc >> 1
            };
        }
    }
    !crc
}

/// The file is what docs/reference/journal-format.md draws: who changes this test changes the version.
#[test]
fn the_bytes_are_the_documented_ones() {
    let disk = SimDisk::new();
    let (mut journal, _) = Journal::open(disk.clone(), SMALL).unwrap();
    journal.register(Timestamp(7), "A").unwrap();
    journal.register(Timestamp(8), "B").unwrap();
    let session = JournalId(1);
    let cause = Cause {
        session,
        kind: RecordKind::Message,
        inbound: Some(b"order"),
        next_in: 0x21,
        next_out: 0x32,
        epoch: 0x43,
    };
    let effects = [(0x30, b"first"), (0x31, b"other")];
    let effects = effects.map(|(seq, bytes)| Effect {
        session,
        seq,
        bytes,
    });
    journal
        .append(Timestamp(-2), cause, effects.into_iter())
        .unwrap();
    drop(journal);
    let bytes = disk.read(1).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());

    assert_eq!(&bytes[..8], b"FXWJRNL\x1a");
    assert_eq!((word(8), word(16), word(20), long(32)), (1, 1, 4096, 0));
    assert_eq!(word(12), slow_crc(slow_crc(0, &bytes[..8]), &bytes[16..64]));
    assert_eq!(&bytes[40..64], &[0; 24]);
    let salt = long(24);

    // Two registrations of 64 + 8 bytes.
    assert_eq!(
        (word(64), word(136), &bytes[128..136]),
        (72, 72, &b"A\0\0\0\0\0\0\0"[..])
    );
    let at = 64 + 72 + 72;
    let length = 64 + 8 + (24 + 8) * 2;
    assert_eq!((word(at), long(at + 8)), (length, 2));
    let mixed =
        (salt ^ ((at as u64) << 32 | u64::from(length))).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let seed = (mixed >> 32) as u32 ^ mixed as u32;
    assert_eq!(
        word(at + 4),
        slow_crc(seed, &bytes[at + 8..at + length as usize])
    );
    assert_eq!(long(at + 16) as i64, -2);
    assert_eq!(
        long(at + 24),
        1 << 32 | 64,
        "known to be on the disk: the header"
    );
    assert_eq!((word(at + 32), word(at + 36)), (1, 2 << 16 | 1));
    assert_eq!((long(at + 40), long(at + 48)), (0x21, 0x32));
    assert_eq!((word(at + 56), word(at + 60)), (0x43, 5));
    assert_eq!(&bytes[at + 64..at + 72], b"order\0\0\0");
    let (first, second) = (at + 72, at + 104);
    assert_eq!(
        (word(first), word(first + 4), long(first + 8)),
        (1, 5, 0x30)
    );
    assert_eq!(
        (long(first + 16), &bytes[first + 24..first + 32]),
        (0, &b"first\0\0\0"[..])
    );
    assert_eq!((word(second + 4), long(second + 8)), (5, 0x31));
    assert_eq!(long(second + 16), 1 << 32 | first as u64);
    assert!(bytes[second + 32..].iter().all(|&byte| byte == 0));
}

/// The version of a segment's header; no checksum covers it.
fn set_version(disk: &SimDisk, segment: u32, version: u8) {
    let mut bytes = disk.read(segment).unwrap();
    bytes[8] = version;
    disk.write(segment, Some(bytes));
}

#[test]
fn another_version_is_refused_by_its_number() {
    for version in [0, 2, 3, 77] {
        let disk = SimDisk::new();
        let (mut journal, _) = Journal::open(disk.clone(), SMALL).unwrap();
        journal.register(Timestamp(7), "A").unwrap();
        drop(journal);
        set_version(&disk, 1, version);
        let before = disk.read(1);
        let error = Journal::open(disk.clone(), SMALL).unwrap_err().to_string();
        let wanted = match version {
            0 => {
                "00000001.fwj is damaged at byte 8: expected version 1, found version 0".to_owned()
            }
            _ => format!(
                "00000001.fwj has version {version} of the journal's format, and this build of fixwire \
                 reads version 1; nothing was changed"
            ),
        };
        assert!(error.contains(&wanted), "{error}");
        assert_eq!(error.contains("--new-journal"), version > 0, "{error}");
        assert_eq!(disk.read(1), before);
    }
}
