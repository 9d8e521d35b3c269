//! Resolves host names on threads of their own, because a name server may take half a minute.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Maximum number of lookups at the same time. A further lookup fails at once, and is retried after the back-off.
const MOST: usize = 16;

/// An answer: the id of the question and the addresses that were found.
pub struct Resolution {
    /// The key that was passed to [`Resolver::ask`].
    pub key: u64,
    /// The addresses, at least one, or the reason why the lookup failed.
    pub addresses: io::Result<Vec<SocketAddr>>,
}

/// Asks the system's resolver without blocking.
pub struct Resolver {
    sender: Sender<Resolution>,
    receiver: Receiver<Resolution>,
    running: usize,
}

impl Resolver {
    /// A resolver without questions and threads.
    pub fn new() -> Self {
        let (sender, receiver) = channel();
        Self {
            sender,
            receiver,
            running: 0,
        }
    }

    /// Starts a lookup. `wake` is called when the answer is available.
    pub fn ask(
        &mut self,
        key: u64,
        host: &str,
        port: u16,
        wake: Arc<dyn Fn() + Send + Sync>,
    ) -> io::Result<()> {
        if self.running == MOST {
            return Err(io::Error::other("too many host name lookups in progress"));
        }
        let (sender, host) = (self.sender.clone(), host.to_owned());
        fixwire_threads::spawn("resolve", move || {
            let addresses = (host.as_str(), port).to_socket_addrs().and_then(|found| {
                let found: Vec<_> = found.collect();
                if found.is_empty() {
                    return Err(io::Error::new(io::ErrorKind::NotFound, "no address"));
                }
                Ok(found)
            });
            // If the engine has ended, nobody needs the answer.
            let _ = sender.send(Resolution { key, addresses });
            wake();
        })?;
        self.running += 1;
        Ok(())
    }

    /// The next answer, if there is one.
    pub fn answer(&mut self) -> Option<Resolution> {
        if self.running == 0 {
            return None;
        }
        let answer = self.receiver.try_recv().ok()?;
        self.running -= 1;
        Some(answer)
    }
}
