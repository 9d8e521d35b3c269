//! Resolves host names on separate threads: a name server may take half a minute.

use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Maximum number of concurrent lookups; another one fails at once and is retried after the back-off.
const MOST: usize = 16;

/// An answer: the id of the question, and the addresses.
pub struct Resolution {
    /// As passed to [`Resolver::ask`].
    pub key: u64,
    /// The addresses, at least one, or why the lookup failed.
    pub addresses: io::Result<Vec<SocketAddr>>,
}

/// Queries the system's resolver without blocking.
pub struct Resolver {
    sender: Sender<Resolution>,
    receiver: Receiver<Resolution>,
    running: usize,
}

impl Resolver {
    /// Without queries or threads.
    pub fn new() -> Self {
        let (sender, receiver) = channel();
        Self {
            sender,
            receiver,
            running: 0,
        }
    }

    /// Starts a lookup; `wake` is called when its answer is available.
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
            // The engine may have ended; then the answer is not needed.
            let _ = sender.send(Resolution { key, addresses });
            wake();
        })?;
        self.running += 1;
        Ok(())
    }

    /// The next answer, if available.
    pub fn answer(&mut self) -> Option<Resolution> {
        if self.running == 0 {
            return None;
        }
        let answer = self.receiver.try_recv().ok()?;
        self.running -= 1;
        Some(answer)
    }
}
