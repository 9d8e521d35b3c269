//! The path of the control socket, and who may use the socket.

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

/// The path of the socket, and the group that may use the socket in addition to the process's user and root.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Place {
    /// The socket.
    pub path: PathBuf,
    /// Name of the group whose members may use the socket; `None` if there is no such group.
    pub group: Option<String>,
}

impl Place {
    /// A socket in a journal folder, which belongs to one process at a time. Only the process's user and root may use
    /// this socket.
    #[must_use]
    pub fn in_store(folder: &Path) -> Self {
        let path = folder.join(IN_STORE);
        Self { path, group: None }
    }

    /// Listens at the path. Removes a socket that a process has left behind.
    ///
    /// # Errors
    ///
    /// The path is a file of another kind, a process listens there, the group is unknown, or a system error.
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

    /// Removes a socket that a process has left behind.
    fn clear(&self) -> io::Result<()> {
        let found = match fs::symlink_metadata(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            found => found?,
        };
        let path = self.path.display();
        // A link in the journal folder points to a socket that was configured earlier.
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

    /// The user at the other end of a connection, as named in the journal. An error if the user has no access.
    pub(crate) fn who(&self, asks: &UnixStream) -> io::Result<(String, OperatorStanding)> {
        let uid = socket_peercred(asks)?.uid;
        // If there is a group, the system has already checked that the user is a member.
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

/// Calls `act` with a short path of the socket, through the socket's folder, which is opened. The address of a socket
/// has room for 107 bytes only, and a path may be longer.
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
