//! Kernel files below a root folder, each read once.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Contents of the files in a folder, as of their first read.
///
/// The live machine has the root `/`; a captured tree has another root. All paths are relative to the root, for
/// example `proc/stat`. No file is opened for writing.
#[derive(Debug)]
pub struct Snapshot {
    root: PathBuf,
    texts: RefCell<BTreeMap<String, Option<String>>>,
    folders: RefCell<BTreeMap<String, Option<Vec<String>>>>,
    counts: RefCell<BTreeMap<(String, u64), Option<u64>>>,
}

impl Snapshot {
    /// A snapshot of the files in this folder.
    pub fn of(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            texts: RefCell::default(),
            folders: RefCell::default(),
            counts: RefCell::default(),
        }
    }

    /// A whole file; `None` when it cannot be read. Bytes that are not UTF-8 are replaced.
    pub fn text(&self, path: &str) -> Option<String> {
        let mut texts = self.texts.borrow_mut();
        let text = texts.entry(path.to_owned()).or_insert_with(|| {
            let bytes = fs::read(self.root.join(path)).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        });
        text.clone()
    }

    /// The first line of a file, trimmed; empty when the file is empty.
    pub fn line(&self, path: &str) -> Option<String> {
        let text = self.text(path)?;
        Some(text.lines().next().unwrap_or_default().trim().to_owned())
    }

    /// A file that contains one integer.
    pub fn number(&self, path: &str) -> Option<i64> {
        self.line(path)?.parse().ok()
    }

    /// The sorted names in a folder; `None` when it cannot be read.
    pub fn names(&self, folder: &str) -> Option<Vec<String>> {
        let mut folders = self.folders.borrow_mut();
        let names = folders.entry(folder.to_owned()).or_insert_with(|| {
            let entries = fs::read_dir(self.root.join(folder)).ok()?;
            let names = entries.flatten().map(|entry| entry.file_name());
            let mut names: Vec<_> = names.filter_map(|name| name.into_string().ok()).collect();
            names.sort();
            Some(names)
        });
        names.clone()
    }

    /// The entries of a folder whose names are numbers, such as the processes in `proc`.
    pub fn numbers(&self, folder: &str) -> Option<Vec<u32>> {
        let names = self.names(folder)?;
        let mut numbers: Vec<u32> = names.iter().filter_map(|name| name.parse().ok()).collect();
        numbers.sort_unstable();
        Some(numbers)
    }

    /// Whether `path` is a link to `target`.
    pub fn links_to(&self, path: &str, target: &str) -> bool {
        fs::read_link(self.root.join(path)).is_ok_and(|to| to == Path::new(target))
    }

    /// The eight bytes at this offset of a file, in the processor's byte order.
    pub fn count_at(&self, path: &str, offset: u64) -> Option<u64> {
        let mut counts = self.counts.borrow_mut();
        let count = counts.entry((path.to_owned(), offset)).or_insert_with(|| {
            let mut bytes = [0; 8];
            let file = File::open(self.root.join(path)).ok()?;
            file.read_exact_at(&mut bytes, offset).ok()?;
            Some(u64::from_ne_bytes(bytes))
        });
        *count
    }

    /// An argument of the kernel's command line: the value of `name=value`, and an empty value for a bare `name`.
    /// `None` when the command line cannot be read. When a name occurs several times, the last one counts.
    pub fn boot_argument(&self, name: &str) -> Option<Option<String>> {
        let line = self.text("proc/cmdline")?;
        let value = |word: &str| match word.split_once('=') {
            Some((key, value)) if key == name => Some(value.to_owned()),
            None if word == name => Some(String::new()),
            _ => None,
        };
        Some(line.split_whitespace().filter_map(value).next_back())
    }

    /// Seconds since the machine was started.
    pub fn uptime(&self) -> Option<f64> {
        let line = self.line("proc/uptime")?;
        line.split(' ').next()?.parse().ok()
    }

    /// A field of a file of `Name: value` lines, such as `proc/PID/status`.
    pub fn field(&self, path: &str, name: &str) -> Option<String> {
        let text = self.text(path)?;
        text.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == name).then(|| value.trim().to_owned())
        })
    }

    /// The processes with this name in `proc/PID/comm`. A `*` at the end of the name matches any ending. `None` when
    /// no process is visible.
    pub fn processes(&self, name: &str) -> Option<Vec<u32>> {
        let all = self.numbers("proc")?;
        if all.is_empty() {
            return None;
        }
        let is = |comm: &str| match name.strip_suffix('*') {
            Some(start) => comm.starts_with(start),
            None => comm == name,
        };
        let named = |pid: &u32| {
            self.line(&format!("proc/{pid}/comm"))
                .is_some_and(|comm| is(&comm))
        };
        Some(all.into_iter().filter(named).collect())
    }
}
