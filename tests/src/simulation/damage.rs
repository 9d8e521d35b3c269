//! Damaged copies of a journal: each is refused unchanged, or loses only damaged records.

use fixwire::journal::sim::SimDisk;
use fixwire::journal::{Journal, JournalConfig, JournalError, JournalPosition};

use super::image::{Image, Span, image};
use crate::random::Random;

/// Damage to one segment: these of its bytes were changed.
struct Harm {
    what: String,
    segment: u32,
    from: usize,
    to: usize,
}

impl Harm {
    /// Whether the damage is in a record.
    fn touches(&self, span: &Span) -> bool {
        let offset = |at: usize| JournalPosition::new(self.segment, at as u32);
        span.at < offset(self.to) && offset(self.from) < span.end
    }
}

/// Damages a copy of the disk: a flipped bit, old records after the last one, or a hole of zeros.
///
/// # Errors
///
/// The damage that went unnoticed.
pub fn damage(disk: &SimDisk, config: JournalConfig, random: &mut Random) -> Result<(), String> {
    let whole = match image(disk, config) {
        Ok(whole) => whole,
        Err(error) => return Err(format!("A7: the journal does not open: {error}")),
    };
    let segments: Vec<u32> = (1..=whole.end.segment() + 1)
        .filter(|&number| disk.read(number).is_some())
        .collect();
    if whole.records.is_empty() {
        return Ok(());
    }
    let kind = random.below(3);
    let number = match kind {
        1 => whole.end.segment(),
        _ => segments[random.below(segments.len() as u64) as usize],
    };
    let mut bytes = disk.read(number).unwrap_or_default();
    let used = bytes
        .iter()
        .rposition(|&byte| byte != 0)
        .map_or(0, |last| last + 1);
    let harm = |what: String, from, to| Harm {
        what: format!("{what} of segment {number}"),
        segment: number,
        from,
        to,
    };
    let harm = match kind {
        0 => {
            let at = random.below((used + 64).min(bytes.len()) as u64) as usize;
            bytes[at] ^= 1 << random.below(8);
            harm(format!("A7: a bit of byte {at} flipped"), at, at + 1)
        }
        1 => {
            // Old records after the last one, as in a segment that was used before.
            let at = whole.end.offset() as usize;
            let old: Vec<u8> = bytes[64..used.max(64)].to_vec();
            let len = old.len().min(bytes.len() - at);
            bytes[at..at + len].copy_from_slice(&old[..len]);
            harm(format!("A9: old records at byte {at}"), at, at + len)
        }
        _ => {
            let from = random.below(used.max(1) as u64) as usize / 512 * 512;
            let to = (from + 512).min(bytes.len());
            bytes[from..to].fill(0);
            harm(format!("A8: bytes {from} to {to} are zeros"), from, to)
        }
    };
    let copy = disk.copy();
    copy.write(number, Some(bytes));
    judge(disk, &copy, config, &whole, &harm)
}

/// Opens the damaged copy, and compares.
fn judge(
    disk: &SimDisk,
    copy: &SimDisk,
    config: JournalConfig,
    whole: &Image,
    harm: &Harm,
) -> Result<(), String> {
    let what = &harm.what;
    match image(copy, config) {
        Ok(found) if found == *whole => Ok(()),
        Ok(found) => {
            let (left, all) = (found.spans.len(), whole.spans.len());
            let is_start = whole.spans.starts_with(&found.spans);
            if is_start && may_be_lost(disk, config, whole, left, harm) {
                Ok(())
            } else {
                Err(format!(
                    "{what}: {left} of {all} records are left, the same: {is_start}"
                ))
            }
        }
        Err(JournalError::Damaged(_) | JournalError::OtherVersion { .. }) => {
            // The journal itself is opened this time, not a copy: it must not have changed.
            let harmed = copy.read(harm.segment);
            let refused = Journal::open(copy.clone(), config).is_err();
            let unchanged = (1..=whole.end.segment() + 1).all(|number| {
                let now = copy.read(number);
                if number == harm.segment {
                    now == harmed
                } else {
                    now == disk.read(number)
                }
            });
            if refused && unchanged {
                Ok(())
            } else {
                Err(format!("{what}: refused, but changed"))
            }
        }
        Err(error) => Err(format!("{what}: {error}")),
    }
}

/// Whether a journal may lose the records from this place on.
///
/// The damaged records may go. With durability `disk`, where syncs come before messages leave, a record before or after
/// them may go too if nothing else proves it: a record whose length was lost in a power cut, or, after a hole, a record
/// that no later record says was synced.
fn may_be_lost(
    disk: &SimDisk,
    config: JournalConfig,
    whole: &Image,
    left: usize,
    harm: &Harm,
) -> bool {
    let is_hole = harm.to - harm.from > 1;
    let untouched = |span: &&Span| !harm.touches(span);
    let synced = whole.spans.iter().filter(untouched).map(|span| span.synced);
    let synced = synced.max().unwrap_or(JournalPosition::START);
    whole.spans[left..].iter().filter(untouched).all(|span| {
        let has_length = disk.read(span.at.segment()).is_some_and(|bytes| {
            let at = span.at.offset() as usize;
            bytes[at..at + 4] != [0; 4]
        });
        config.synced_before_sent && (!has_length || is_hole && span.at >= synced)
    })
}

#[cfg(test)]
mod tests {
    use fixwire::journal::{Cause, RecordKind};
    use fixwire::protocol::Timestamp;

    use super::*;

    fn config() -> JournalConfig {
        JournalConfig {
            segment_bytes: 8 << 10,
            synced_before_sent: true,
            ..JournalConfig::default()
        }
    }

    /// A journal of some records; a sync comes before the last two.
    fn disk() -> SimDisk {
        let disk = SimDisk::new();
        let (mut journal, _) = Journal::open(disk.clone(), config()).expect("an empty disk");
        let session = journal.register(Timestamp(1), "A").expect("room");
        for number in 2..12 {
            if number == 10 {
                journal.sync(journal.end()).expect("the disk works");
            }
            let cause = Cause {
                session,
                kind: RecordKind::Message,
                inbound: Some(b"some words of a message that came"),
                next_in: number,
                next_out: 1,
                epoch: 0,
            };
            let wall = Timestamp(number as i64);
            journal
                .append(wall, cause, std::iter::empty())
                .expect("room");
        }
        disk
    }

    #[test]
    fn a_record_without_its_length_goes_with_the_one_that_proves_it() {
        let disk = disk();
        let whole = image(&disk, config()).expect("it opens");
        let before_last = &whole.spans[whole.spans.len() - 2];
        let (number, at) = (before_last.at.segment(), before_last.at.offset() as usize);
        let mut bytes = disk.read(number).expect("a segment");
        bytes[at..at + 4].fill(0);
        disk.write(number, Some(bytes));
        let proved = image(&disk, config()).expect("the last record proves it");
        assert_eq!(proved.spans.len(), whole.spans.len());
        let mut random = Random::new(1);
        for _ in 0..3_000 {
            assert_eq!(damage(&disk, config(), &mut random), Ok(()));
        }
    }

    #[test]
    fn no_more_than_the_damage_explains_may_be_lost() {
        let disk = disk();
        let whole = image(&disk, config()).expect("it opens");
        let count = whole.spans.len();
        let last = &whole.spans[count - 1];
        let at = last.at.offset() as usize + 40;
        let harm = |to| Harm {
            what: String::new(),
            segment: last.at.segment(),
            from: at,
            to,
        };
        let may = |left, to| may_be_lost(&disk, config(), &whole, left, &harm(to));
        assert!(may(count - 1, at + 1), "a flipped bit takes its record");
        assert!(!may(count - 2, at + 1), "and not the one before");
        assert!(
            may(count - 2, at + 16),
            "a hole takes what no sync had covered"
        );
        assert!(!may(count - 3, at + 16), "and nothing that a sync had");
        let process = JournalConfig {
            synced_before_sent: false,
            ..config()
        };
        let lost = may_be_lost(&disk, process, &whole, count - 2, &harm(at + 16));
        assert!(!lost, "without syncs it takes what it touches");
    }
}
