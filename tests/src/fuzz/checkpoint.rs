//! Checkpoints: a written state is read back unchanged, and a file with any change is refused, with the byte.
//!
//! The first byte chooses the change of the file, the next three its place and kind; the rest is the state.

use fixwire::journal::sim::SimDisk;
use fixwire::journal::{
    Cause, Effect, FoldStep, Journal, JournalConfig, JournalError, NOTES, Recalled, RecordKind,
};
use fixwire_protocol::outbox::NOTE_ROOM;
use fixwire_protocol::{Ledger, Timestamp};

use super::hold;
use super::input::Input;

const CONFIG: JournalConfig = JournalConfig {
    segment_bytes: 4096,
    index_entries: 4,
    synced_before_sent: false,
    retention: None,
};
const NAME: &str = "bytes";
const VERSION: u32 = 7;

/// The checkpoint that a start used, as version and state, and the reasons why other files were not used.
type Taken = (Option<(u32, Vec<u8>)>, Recalled);

/// Panics when something does not hold.
pub fn run(data: &[u8]) {
    check(data, recall).unwrap_or_else(|what| panic!("{what}"));
}

/// [`run`] for any start.
///
/// # Errors
///
/// The violated property.
pub fn check(
    data: &[u8],
    recall: impl Fn(&SimDisk) -> Result<Taken, JournalError>,
) -> Result<(), String> {
    let mut input = Input::new(data);
    let (how, at, change) = (input.byte(), usize::from(input.short()), input.byte());
    let state = input.rest();
    let disk = SimDisk::new();
    let number = written(&disk, state).map_err(|error| error.to_string())?;
    let whole = disk.checkpoints().remove(&number).ok_or("no checkpoint")?;
    let at = at % whole.len();
    let file = match how % 4 {
        0 => whole.clone(),
        1 => {
            let mut file = whole.clone();
            file[at] ^= change;
            file
        }
        2 => whole[..at].to_vec(),
        _ => state.to_vec(),
    };
    let is_whole = file == whole;
    disk.write_checkpoint(number, Some(file));
    let (taken, recalled) = recall(&disk).map_err(|error| error.to_string())?;
    if is_whole {
        let wanted = Some((VERSION, state.to_vec()));
        hold!(taken == wanted, "{} bytes were read as others", state.len());
        return Ok(());
    }
    hold!(taken.is_none(), "a file that was changed at {at} was taken");
    let [(file, why)] = &recalled.refused[..] else {
        return Err(format!("not one file was refused: {recalled:?}"));
    };
    hold!(
        file.ends_with(".fwk") && why.contains("damaged at byte"),
        "{file}: {why}"
    );
    Ok(())
}

fn recall(disk: &SimDisk) -> Result<Taken, JournalError> {
    let mut taken = None;
    let mut take = |version, state: &[u8]| {
        taken = Some((version, state.to_vec()));
        Ok(())
    };
    let (_, _, recalled) =
        Journal::open_with_state(disk.copy(), CONFIG, (NAME, VERSION), &mut take)?;
    Ok((taken, recalled))
}

/// Folds one note into a checkpoint with this state; returns its number.
fn written(disk: &SimDisk, state: &[u8]) -> Result<u32, JournalError> {
    const NOW: Timestamp = Timestamp(1);
    let (mut journal, _) = Journal::open(disk.clone(), CONFIG)?;
    let notes = journal.register(NOW, NOTES)?;
    let mut note = vec![0; NOTE_ROOM];
    note[0] = 1;
    let cause = Cause {
        session: notes,
        kind: RecordKind::Sent,
        inbound: None,
        next_in: 1,
        next_out: 2,
        epoch: 0,
    };
    let effect = Effect {
        session: notes,
        seq: 1,
        bytes: &note,
    };
    journal.append(NOW, cause, std::iter::once(effect))?;
    journal.new_segment(NOW)?;
    journal.note(NOW, notes, "the segment before is closed")?;
    let ledger = Bytes(state.to_vec());
    journal.fold(Box::new(ledger), &Recalled::default())?;
    loop {
        match disk.fold_step() {
            Some(Ok(FoldStep::Made { segment, .. })) => return Ok(segment),
            Some(Ok(FoldStep::Folded)) => {}
            Some(Err(error)) => return Err(error),
            Some(Ok(FoldStep::Waits)) | None => return Ok(0),
        }
    }
}

/// A state that no note changes.
struct Bytes(Vec<u8>);

impl Ledger for Bytes {
    fn form(&self) -> (&'static str, u32) {
        (NAME, VERSION)
    }

    fn apply(&mut self, _: Timestamp, _: &[u8]) {}

    fn write(&self, put: &mut dyn FnMut(&[u8])) {
        self.0.chunks(100).for_each(put);
    }

    fn read(&mut self, _: u32, state: &[u8]) -> Result<(), String> {
        self.0 = state.to_vec();
        Ok(())
    }

    fn hash(&self) -> u64 {
        self.0.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_that_believes_everything_is_found() {
        let state = [&[1, 200, 0, 1][..], &[9; 300]].concat();
        assert_eq!(check(&state, recall), Ok(()));
        let believes = |disk: &SimDisk| {
            let (_, recalled) = recall(disk)?;
            Ok((Some((VERSION, vec![9; 300])), recalled))
        };
        check(&state, believes).unwrap_err();
        let forgets = |disk: &SimDisk| Ok((None, recall(disk)?.1));
        let whole = [&[0; 4][..], &[9; 300]].concat();
        check(&whole, forgets).unwrap_err();
    }
}
