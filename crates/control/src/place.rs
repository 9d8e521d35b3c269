//! The path of the control socket, and its permissions.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use fixwire_engine::OperatorStanding;
use nix::unistd::{Group, Uid, User};
use rustix::net::sockopt::socket_peercred;
use rustix::process::geteuid;

/// The socket's name in a journal folder.
pub const IN_STORE: &str = "control";

/// The path of the socket, and the group that may use it in addition to the user of the process and root.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Place {
    /// The socket.
    pub path: PathBuf,
    /// Name of the group whose members may use the socket; `None` without such a group.
    pub group: Option<String>,
}

impl Place {
    /// The socket in a journal folder. The folder belongs to one process at a time, and only the user of this process
    /// and root may use the socket.
    #[must_use]
    pub fn in_store(folder: &Path) -> Self {
        let path = folder.join(IN_STORE);
        Self { path, group: None }
    }

    /// Listens at the path. Removes the socket of a process that has ended.
    ///
    /// # Errors
    ///
    /// The path is another file, or a process listens there; the group is unknown; or a system error.
    pub(crate) fn listen(&self) -> io::Result<UnixListener> {
        let group = match &self.group {
            Some(name) => Some(group(name)?),
            None => None,
        };
        self.clear()?;
        let listener = at(&self.path, |path| UnixListener::bind(path))?;
        let mode = match group {
            Some(group) => {
                chown(&self.path, None, Some(group))?;
                0o660
            }
            None => 0o600,
        };
        fs::set_permissions(&self.path, Permissions::from_mode(mode))?;
        Ok(listener)
    }

    /// Removes the socket of a process that has ended.
    fn clear(&self) -> io::Result<()> {
        let found = match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            found => found?,
        };
        let path = self.path.display();
        // The link in the journal folder points to the socket that was configured before.
        if found.file_type().is_symlink() && self.path.ends_with(IN_STORE) {
            return fs::remove_file(&self.path);
        }
        if !found.file_type().is_socket() {
            let why = format!("{path} exists and is not a socket");
            return Err(io::Error::new(ErrorKind::AlreadyExists, why));
        }
        match connect(&self.path) {
            Ok(_) => {
                let why = format!("another process is listening at {path}");
                Err(io::Error::new(ErrorKind::AddrInUse, why))
            }
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                fs::remove_file(&self.path)
            }
            Err(error) => Err(error),
        }
    }

    /// The user at the other end of a connection, for the journal; an error for a user without access.
    pub(crate) fn who(&self, asks: &UnixStream) -> io::Result<(String, OperatorStanding)> {
        let uid = socket_peercred(asks)?.uid;
        // The system has already checked the members of the group.
        let is_owner = uid == geteuid() || uid.is_root();
        if self.group.is_none() && !is_owner {
            let why = "only the user of this process may use its control socket";
            return Err(io::Error::new(ErrorKind::PermissionDenied, why));
        }
        let standing = match is_owner {
            true => OperatorStanding::Owner,
            false => OperatorStanding::Member,
        };
        Ok((name(uid.as_raw()), standing))
    }
}

/// The user of this process, as operators are named in the journal.
#[must_use]
pub fn this_user() -> String {
    name(geteuid().as_raw())
}

fn name(uid: u32) -> String {
    let user = User::from_uid(Uid::from_raw(uid)).ok().flatten();
    match user {
        Some(user) => format!("{} (uid {uid})", user.name),
        None => format!("uid {uid}"),
    }
}

fn group(name: &str) -> io::Result<u32> {
    let no_such = || {
        let why = format!("ControlGroup: this machine has no group {name}");
        io::Error::new(ErrorKind::NotFound, why)
    };
    let found = Group::from_name(name).map_err(io::Error::from)?;
    found.map(|group| group.gid.as_raw()).ok_or_else(no_such)
}

/// Connects to a socket.
pub(crate) fn connect(path: &Path) -> io::Result<UnixStream> {
    at(path, |path| UnixStream::connect(path))
}

/// Calls `act` with a short path of the socket, by its open folder: a socket address has room for 107 bytes, and a path
/// may be longer.
fn at<T>(path: &Path, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return act(path);
    };
    if path.as_os_str().len() < 100 {
        return act(path);
    }
    let folder = File::open(folder)?;
    let short = format!("/proc/self/fd/{}", folder.as_raw_fd());
    act(&Path::new(&short).join(name))
}
