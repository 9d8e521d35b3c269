//! The users of a session: a file of names and argon2id hashes.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Argon2, Params};
use fixwire_sys::regular;

/// Minimum memory of a hash, in KiB. Source: OWASP Password Storage Cheat Sheet, argon2id.
const LEAST_MEMORY: u32 = 19_456;
/// Minimum number of passes over the memory.
const LEAST_PASSES: u32 = 2;
/// Maximum memory of one comparison, in KiB.
const MOST_MEMORY: u32 = 1 << 20;
/// Maximum number of passes.
const MOST_PASSES: u32 = 64;
/// Maximum length of a password file, in bytes.
const LONGEST_FILE: u64 = 16 << 20;
/// Maximum length of a new password in a Logon, in bytes.
const LONGEST_PASSWORD: usize = 1024;

/// Prefix of a hash whose password must be changed by the next Logon.
const CHANGE: &str = "change:";

/// The hash of a user's password.
#[derive(Clone, Eq, PartialEq)]
struct KnownPassword {
    hash: String,
    /// Whether the password is accepted only in a Logon that changes it.
    must_change: bool,
}

/// The passwords by user.
type Hashes = BTreeMap<Vec<u8>, KnownPassword>;

/// The users who may log on to a session, each with the hash of a password.
pub struct Users {
    known: Mutex<Known>,
    /// The file in which a changed password is stored.
    file: Option<PathBuf>,
}

struct Known {
    hashes: Hashes,
    /// The text of the file from which the hashes were read.
    text: String,
}

/// How the users of a file changed when the file was read again.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UsersChange {
    /// The file.
    pub file: PathBuf,
    /// Number of users that the file lists.
    pub users: usize,
    /// Number of users that the file did not list before.
    pub added: usize,
    /// Number of users whose line has changed.
    pub changed: usize,
    /// Number of users that the file no longer lists.
    pub removed: usize,
}

impl fmt::Display for UsersChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            users,
            added,
            changed,
            removed,
        } = self;
        let file = file.display();
        write!(
            f,
            "{file}: {users} user{}, {added} added, {changed} changed, {removed} removed",
            if *users == 1 { "" } else { "s" }
        )
    }
}

/// Why the users of a file cannot be used.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum UsersError {
    /// The file lists no user.
    Empty,
    /// The line, counted from 1, is not `name:hash`.
    Line(usize),
    /// The user is listed twice.
    Twice(String),
    /// The hash of this user is not a PHC string of argon2id.
    NotAHash(String),
    /// The hash of this user is too weak, or its comparison costs too much. The values are the memory in KiB and the
    /// number of passes.
    Cost(String, u32, u32),
    /// The file cannot be read.
    Io(String),
    /// The line, counted from 1, requires a change of the password but names no user.
    Nobody(usize),
    /// Users other than the owner may read or write the file. The value is the mode.
    Exposed(u32),
}

impl fmt::Display for UsersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it lists no user"),
            Self::Line(line) => write!(f, "line {line} is not name:hash"),
            Self::Nobody(line) => write!(
                f,
                "line {line} asks for a change of the password but names no user: write name:{CHANGE}hash"
            ),
            Self::Twice(name) => write!(f, "duplicate user {}", name.escape_debug()),
            Self::NotAHash(name) => write!(
                f,
                "the password hash of user {} is not argon2id ($argon2id$v=19$...): \
                 create one with `fixwire hash-password`",
                name.escape_debug()
            ),
            Self::Cost(name, memory, passes) => write!(
                f,
                "the hash of user {} takes {memory} KiB and {passes} passes, but must take {LEAST_MEMORY} to \
                 {MOST_MEMORY} KiB and {LEAST_PASSES} to {MOST_PASSES} passes",
                name.escape_debug()
            ),
            Self::Io(error) => write!(f, "cannot read it: {error}"),
            Self::Exposed(mode) => write!(
                f,
                "its mode is {:03o}: other users can read it; run chmod 600",
                mode & 0o777
            ),
        }
    }
}

impl std::error::Error for UsersError {}

impl Known {
    /// Reads the users of a file.
    fn read(path: &Path) -> Result<Self, UsersError> {
        let io = |error: io::Error| UsersError::Io(error.to_string());
        let file = regular::open(path).map_err(io)?;
        let mode = file.metadata().map_err(io)?.mode();
        if mode & 0o077 != 0 {
            return Err(UsersError::Exposed(mode));
        }
        let mut text = String::new();
        file.take(LONGEST_FILE)
            .read_to_string(&mut text)
            .map_err(io)?;
        let mut hashes = BTreeMap::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim_end();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (name, hash) = line.split_once(':').ok_or(UsersError::Line(index + 1))?;
            let (hash, must_change) = match hash.strip_prefix(CHANGE) {
                Some(_) if name.is_empty() => return Err(UsersError::Nobody(index + 1)),
                Some(hash) => (hash, true),
                None => (hash, false),
            };
            check_hash(name.as_bytes(), hash)?;
            let known = KnownPassword {
                hash: hash.to_owned(),
                must_change,
            };
            if hashes.insert(name.as_bytes().to_vec(), known).is_some() {
                return Err(UsersError::Twice(name.to_owned()));
            }
        }
        if hashes.is_empty() {
            return Err(UsersError::Empty);
        }
        Ok(Self { hashes, text })
    }
}

impl Users {
    /// A single user. An empty name matches any Username(553), and a Logon without one.
    ///
    /// # Errors
    ///
    /// The hash is not an argon2id PHC string, or is too weak.
    pub fn one(name: &[u8], hash: &str) -> Result<Self, UsersError> {
        check_hash(name, hash)?;
        let known = KnownPassword {
            hash: hash.to_owned(),
            must_change: false,
        };
        Ok(Self {
            known: Mutex::new(Known {
                hashes: BTreeMap::from([(name.to_vec(), known)]),
                text: String::new(),
            }),
            file: None,
        })
    }

    /// The users of a file. A NewPassword(925) of a Logon is written to the file, after its present content is read.
    /// Sessions with the same file must share one `Users`.
    ///
    /// # Errors
    ///
    /// The file cannot be read, users other than its owner may read it, or a line is not a user with a hash.
    pub fn read(path: &Path) -> Result<Self, UsersError> {
        Ok(Self {
            known: Mutex::new(Known::read(path)?),
            file: Some(path.to_owned()),
        })
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The file of the users; `None` for a user in the settings.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Replaces the users by those that the file has now. A user who is logged on stays logged on.
    pub(crate) fn take(&self, file: &Path) -> Result<UsersChange, UsersError> {
        let mut known = self.known();
        let new = Known::read(file)?;
        let before = std::mem::replace(&mut *known, new).hashes;
        let now = &known.hashes;
        let both = now
            .iter()
            .filter_map(|(name, it)| Some((it, before.get(name)?)));
        let changed = both.clone().filter(|(it, was)| it != was).count();
        let kept = both.count();
        Ok(UsersChange {
            file: file.to_owned(),
            users: now.len(),
            added: now.len() - kept,
            changed,
            removed: before.len() - kept,
        })
    }
    /// Whether a password is right. The comparison takes the same time whether or not the user exists.
    pub(crate) fn check(&self, name: &[u8], password: &[u8]) -> bool {
        let (hash, known) = {
            let hashes = &self.known().hashes;
            let found = hashes.get(name).or_else(|| hashes.get(&b""[..]));
            let Some(known) = found.or_else(|| hashes.values().next()) else {
                return false;
            };
            (known.hash.clone(), found.is_some())
        };
        let Ok(hash) = PasswordHash::new(&hash) else {
            return false;
        };
        let matches = Argon2::default().verify_password(password, &hash).is_ok();
        matches & known
    }

    /// Whether a user's password is accepted only in a Logon that changes it.
    pub(crate) fn must_change(&self, name: &[u8]) -> bool {
        let known = self.known();
        known.hashes.get(name).is_some_and(|it| it.must_change)
    }

    /// Stores the hash of a user's new password, which need not be changed again: first in the file, then in memory.
    /// The whole file is replaced.
    ///
    /// If the file was edited after it was read, its present content counts. A user whose line was removed or replaced
    /// gets no new password.
    pub(crate) fn change(&self, name: &[u8], hash: String) -> io::Result<()> {
        let Some(path) = &self.file else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let mut known = self.known();
        let Some(old) = known.hashes.get(name).cloned() else {
            return Err(io::ErrorKind::NotFound.into());
        };
        let now = Known::read(path).map_err(|error| io::Error::other(error.to_string()))?;
        if now.text != known.text {
            if now.hashes.get(name) != Some(&old) {
                return Err(io::Error::other("the user's line was changed meanwhile"));
            }
            *known = now;
        }
        let new = KnownPassword {
            hash,
            must_change: false,
        };
        let mut hashes = known.hashes.clone();
        hashes.insert(name.to_vec(), new);
        let text = replace(path, &hashes)?;
        *known = Known { hashes, text };
        Ok(())
    }
}

impl fmt::Debug for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Users({})", self.known().hashes.len())
    }
}

fn check_hash(name: &[u8], text: &str) -> Result<(), UsersError> {
    let name = || String::from_utf8_lossy(name).into_owned();
    let hash = PasswordHash::new(text).map_err(|_| UsersError::NotAHash(name()))?;
    if hash.algorithm.as_str() != "argon2id" || hash.salt.is_none() || hash.hash.is_none() {
        return Err(UsersError::NotAHash(name()));
    }
    let params = Params::try_from(&hash).map_err(|_| UsersError::NotAHash(name()))?;
    let (memory, passes) = (params.m_cost(), params.t_cost());
    let fits = (LEAST_MEMORY..=MOST_MEMORY).contains(&memory)
        && (LEAST_PASSES..=MOST_PASSES).contains(&passes);
    match fits {
        true => Ok(()),
        false => Err(UsersError::Cost(name(), memory, passes)),
    }
}

/// The argon2id hash of a password as a PHC string, with its own salt, 19 MiB of memory and 2 passes.
///
/// # Errors
///
/// The system gives no random bytes, or the password is empty or longer than 1,024 bytes.
pub fn hash(password: &[u8]) -> io::Result<String> {
    if password.is_empty() || password.len() > LONGEST_PASSWORD {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut salt = [0; 16];
    File::open("/dev/urandom")?.read_exact(&mut salt)?;
    Argon2::default()
        .hash_password_with_salt(password, &salt)
        .map(|hash: PasswordHash| hash.to_string())
        .map_err(|error| io::Error::other(error.to_string()))
}

/// Writes a temporary file, syncs it and renames it, so that a reader sees either the old or the new file. Returns the
/// text of the file.
fn replace(path: &Path, hashes: &Hashes) -> io::Result<String> {
    let mut text = Vec::new();
    for (name, known) in hashes {
        text.extend_from_slice(name);
        text.push(b':');
        if known.must_change {
            text.extend_from_slice(CHANGE.as_bytes());
        }
        text.extend_from_slice(known.hash.as_bytes());
        text.push(b'\n');
    }
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    // Removes the file that a killed process has left.
    let _ = fs::remove_file(&beside);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&beside)?;
    file.write_all(&text)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
    String::from_utf8(text).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use std::time::{Duration, Instant};

    fn users(lines: &str) -> Result<Users, UsersError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users");
        fs::write(&path, lines).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        Users::read(&path)
    }

    /// T6: argon2id of at least 19 MiB and 2 passes, and nothing else.
    #[test]
    fn only_hashes_that_cost_enough_are_taken() {
        let made = hash(b"tiger").unwrap();
        assert!(
            made.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"),
            "{made}"
        );
        assert!(Users::one(b"me", &made).is_ok());
        let cheap = made.replace("m=19456", "m=19455");
        assert_eq!(
            Users::one(b"me", &cheap).unwrap_err(),
            UsersError::Cost("me".into(), 19_455, 2)
        );
        for (from, to) in [("t=2", "t=1"), ("t=2", "t=65"), ("m=19456", "m=1048577")] {
            let error = Users::one(b"me", &made.replace(from, to)).unwrap_err();
            assert!(matches!(error, UsersError::Cost(..)), "{error}");
        }
        for wrong in [
            "",
            "tiger",
            "$argon2id$",
            &made.replace("argon2id", "argon2i"),
        ] {
            let error = Users::one(b"me", wrong).unwrap_err();
            assert_eq!(error, UsersError::NotAHash("me".into()), "{wrong}");
        }
        let cut = &made[..made.rfind('$').unwrap()];
        assert!(Users::one(b"me", cut).is_err(), "no hash in it");
    }

    #[test]
    fn a_file_is_read_as_a_whole_or_not_at_all() {
        let hash = hash(b"tiger").unwrap();
        let read = users(&format!("# users\n\na:{hash}\nb:{hash}\n")).unwrap();
        assert!(read.check(b"a", b"tiger") && !read.check(b"a", b"lion"));
        assert!(!read.check(b"c", b"tiger"));
        assert_eq!(users("").unwrap_err(), UsersError::Empty);
        assert_eq!(users("a").unwrap_err(), UsersError::Line(1));
        let twice = users(&format!("a:{hash}\na:{hash}\n")).unwrap_err();
        assert_eq!(twice, UsersError::Twice("a".into()));
        let nobody = users(&format!("a:{hash}\n:change:{hash}\n")).unwrap_err();
        assert_eq!(nobody, UsersError::Nobody(2));
        let plain = users("a:change:tiger").unwrap_err();
        assert_eq!(plain, UsersError::NotAHash("a".into()));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("users");
        assert!(matches!(Users::read(&path), Err(UsersError::Io(_))));
        fs::write(&path, format!("a:{hash}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(Users::read(&path), Err(UsersError::Exposed(_))));
        assert!(
            users(&format!(":{hash}"))
                .unwrap()
                .check(b"anybody", b"tiger")
        );
    }

    /// T6: an unknown user burns the same work as a known one: both verify one hash of the same cost.
    #[test]
    fn an_unknown_user_costs_as_much_as_a_known_one() {
        let hash = hash(b"tiger").unwrap();
        let users = Users::one(b"me", &hash).unwrap();
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..7 {
            for (times, name) in times.iter_mut().zip([b"me", b"no"]) {
                let begin = Instant::now();
                assert!(!users.check(name, b"lion"));
                times.push(begin.elapsed());
            }
        }
        // The least of each is what the work takes; a shared machine only adds to it.
        let [known, unknown] = times.map(|times| times.into_iter().min().unwrap());
        assert!(known > Duration::from_millis(1), "{known:?}");
        assert!(
            unknown * 2 > known && known * 2 > unknown,
            "known {known:?}, unknown {unknown:?}"
        );
    }
}
