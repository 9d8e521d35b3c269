//! Copies of a simulated disk.

use std::fs::DirBuilder;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use fixwire_sys::private;

use super::{SimDisk, State};
use crate::JournalError;
use crate::archive::base_path;
use crate::files::segment_path;
use crate::newest::{self, NEWEST};

impl SimDisk {
    /// Writes the files of the disk into a directory of the operating system, where they are the same journal.
    ///
    /// # Errors
    ///
    /// The system error.
    pub fn write_to(&self, directory: &Path) -> Result<(), JournalError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(directory)
            .map_err(JournalError::io(
                "make the directory",
                directory.display().to_string(),
            ))?;
        let write = |path: PathBuf, bytes: &[u8]| {
            let name = path.display().to_string();
            let mut file = private()
                .truncate(true)
                .open(path)
                .map_err(JournalError::io("create", &name))?;
            file.write_all(bytes)
                .map_err(JournalError::io("write", name))
        };
        let state = self.state();
        for (number, file) in &state.files {
            write(segment_path(directory, *number), &file.cached)?;
        }
        if let Some(base) = state.base[0] {
            write(base_path(directory), &base.to_bytes())?;
        }
        if let Some(newest) = state.newest[0] {
            write(directory.join(NEWEST), &newest::to_bytes(newest))?;
        }
        Ok(())
    }

    /// A separate disk with a copy of the content.
    #[must_use]
    pub fn copy(&self) -> Self {
        let state = self.state();
        let files = state.files.clone();
        let copied = State {
            files,
            base: state.base,
            newest: state.newest,
            removed: state.removed.clone(),
            attic: state.attic.clone(),
            salts: state.salts,
            checkpoints: state.checkpoints.copy(),
            ..State::default()
        };
        Self {
            state: Arc::new(Mutex::new(copied)),
        }
    }

    /// A copy of the disk in which no segment is retired: recovery reads it from the first segment on, even if some
    /// segments were retired, removed or compressed.
    #[must_use]
    pub fn copy_unretired(&self) -> Self {
        let copy = self.copy();
        {
            let mut state = copy.state();
            state.base = [None; 2];
            let attic = std::mem::take(&mut state.attic);
            for (number, file) in attic {
                state.files.entry(number).or_insert(file);
            }
        }
        copy
    }
}
