//! Any files are the store of a session, which can be imported and exported again unchanged, or an error.
//!
//! Input: a byte for the engine that wrote the store, then its files: each begins with a line `== ENDING`, for example
//! `== body`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use fixwire::store::{Existing, Family, SessionName, StoreError, export, import};
use fixwire_protocol::Timestamp;

use super::hold;

const SESSION: &str = "FIX.4.2:EXEC->BENCH";

/// A folder that is removed again.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("fixwire-fuzz-store-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("a temporary folder");
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Panics when an import breaks its promises for these bytes.
pub fn run(data: &[u8]) {
    check(data, take).unwrap_or_else(|what| panic!("{what}"));
}

fn take(family: Family, store: &Path, journal: &Path) -> Result<Moved, StoreError> {
    let now = Timestamp(1_800_000_000_000_000_000);
    let moved = import(family, store, journal, SESSION, Existing::Refuse, now)?;
    Ok((moved.messages, moved.next_in, moved.next_out))
}

/// The imported messages and numbers.
type Moved = (u64, u64, u64);

/// [`run`] for any import.
///
/// # Errors
///
/// The violated property.
pub fn check(
    data: &[u8],
    import: impl Fn(Family, &Path, &Path) -> Result<Moved, StoreError>,
) -> Result<(), String> {
    let (family, files) = data.split_first().unwrap_or((&0, &[]));
    let family = Family::ALL[usize::from(*family) % Family::ALL.len()];
    let folder = Folder::new();
    let path = |name: &str| folder.0.join(name);
    let (store, journal) = (path("store"), path("journal"));
    fs::create_dir(&store).map_err(|error| error.to_string())?;
    write(family, &store, files)?;
    let before = contents(&store);
    let moved = import(family, &store, &journal);
    hold!(contents(&store) == before, "the store was changed");
    let moved = match moved {
        Ok(moved) => moved,
        Err(error) => {
            hold!(!error.to_string().is_empty(), "an error without a word");
            hold!(
                !journal.exists(),
                "refused, and the journal is there: {error}"
            );
            return Ok(());
        }
    };
    let (messages, next_in, next_out) = moved;
    hold!(
        next_in >= 1 && next_out >= 1,
        "numbers {next_in}, {next_out}"
    );
    hold!(messages < next_out, "{messages} messages before {next_out}");
    // Exports the store, and imports it elsewhere.
    let again = path("again");
    let out = export(family, &journal, &again, SESSION).map_err(|error| format!("out: {error}"))?;
    hold!(
        (out.messages, out.next_in, out.next_out) == moved,
        "{moved:?} moved in, {out:?} moved out"
    );
    let back = import(family, &again, &path("elsewhere"));
    hold!(
        back.as_ref().is_ok_and(|back| *back == moved),
        "{moved:?} is {back:?} after a journey"
    );
    Ok(())
}

/// Writes the files of the input.
fn write(family: Family, store: &Path, files: &[u8]) -> Result<(), String> {
    let name = SessionName::parse(SESSION).map_err(|error| error.to_string())?;
    let stem = name.stem(family);
    let mut file: Option<(String, Vec<u8>)> = None;
    let mut done = Vec::new();
    for line in files.split_inclusive(|byte| *byte == b'\n') {
        if let Some(ending) = line.strip_prefix(b"== ") {
            done.extend(file.take());
            let ending = String::from_utf8_lossy(ending);
            // A file whose name no store has would only be ignored.
            let ending: String = ending
                .chars()
                .filter(char::is_ascii_lowercase)
                .take(20)
                .collect();
            file = Some((ending, Vec::new()));
        } else if let Some((_, bytes)) = &mut file {
            bytes.extend(
                line.iter()
                    .map(|byte| if *byte == b'|' { 1 } else { *byte }),
            );
        }
    }
    done.extend(file);
    for (ending, mut bytes) in done {
        // The last end of line belongs to the input.
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
        }
        let path = store.join(format!("{stem}.{ending}"));
        fs::write(&path, bytes).map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<_> = entries
        .map(|entry| (entry.path(), fs::read(entry.path()).unwrap_or_default()))
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// A store of QuickFIX (C++) without messages.
    const EMPTY: &[u8] = b"\0== seqnums\n0000000005 : 0000000007\n== session\n20260821-13:30:00\n== body\n\n== header\n\n";

    #[test]
    fn the_import_passes() {
        let imported = Cell::new(0);
        let imports = |family: Family, store: &Path, journal: &Path| {
            let moved = take(family, store, journal)?;
            imported.set(imported.get() + 1);
            Ok(moved)
        };
        for store in [
            include_bytes!("../../../fuzz/corpus/store/quickfix").as_slice(),
            include_bytes!("../../../fuzz/corpus/store/quickfixj"),
            include_bytes!("../../../fuzz/corpus/store/quickfixgo"),
            include_bytes!("../../../fuzz/corpus/store/quickfixn"),
            EMPTY,
        ] {
            assert_eq!(check(store, imports), Ok(()));
        }
        // Each store imported, exported and imported again.
        assert_eq!(imported.get(), 10);
        run(b"\x01== senderseqnums\nx");
    }

    #[test]
    fn an_import_that_writes_to_the_store_is_found() {
        let writes = |_: Family, store: &Path, _: &Path| {
            let _ = fs::write(store.join("left-over"), "");
            Ok((0, 1, 1))
        };
        assert!(check(EMPTY, writes).is_err());
    }

    #[test]
    fn an_import_that_leaves_a_journal_behind_is_found() {
        let leaves = |family: Family, _: &Path, journal: &Path| {
            let _ = fs::create_dir(journal);
            let nowhere = journal.join("nothing");
            let now = Timestamp(0);
            import(family, &nowhere, journal, SESSION, Existing::Refuse, now).map(|_| (0, 1, 1))
        };
        assert!(check(EMPTY, leaves).is_err());
    }
}
