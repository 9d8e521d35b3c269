//! A proxy between two engines: it counts the messages that pass, and loses messages on request.

use crate::wire::{Missing, Wire, value};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The direction of a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Way {
    /// From the initiator to the acceptor.
    ToAcceptor,
    /// From the acceptor to the initiator.
    ToInitiator,
}

impl Way {
    /// The opposite direction.
    #[must_use]
    pub fn back(self) -> Self {
        match self {
            Self::ToAcceptor => Self::ToInitiator,
            Self::ToInitiator => Self::ToAcceptor,
        }
    }
}

/// A listener in front of an acceptor.
#[derive(Debug)]
pub struct Proxy {
    /// The address that the initiator connects to.
    pub address: SocketAddr,
    counts: Arc<[Counts; 2]>,
    /// Streams that pass unread.
    sealed: Arc<Mutex<Vec<TcpStream>>>,
}

#[derive(Debug, Default)]
struct Counts {
    /// Application messages to be lost.
    lose: AtomicUsize,
    /// ResendRequests that passed.
    asked: AtomicUsize,
    /// Logons with ResetSeqNumFlag=Y that passed.
    resets: AtomicUsize,
}

impl Proxy {
    /// Listens, and connects to `acceptor` once for each accepted connection.
    pub fn start(acceptor: SocketAddr) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let counts = Arc::new([Counts::default(), Counts::default()]);
        let proxy = Self {
            address: listener.local_addr()?,
            counts: counts.clone(),
            sealed: Arc::default(),
        };
        std::thread::spawn(move || {
            for initiator in listener.incoming().flatten() {
                // An initiator tries again by itself when the acceptor is not there yet.
                let _ = TcpStream::connect(acceptor).and_then(|to| join(initiator, to, &counts));
            }
        });
        Ok(proxy)
    }

    /// The same for streams that cannot be read: bytes pass unchanged, and no message is counted.
    pub fn start_sealed(acceptor: SocketAddr) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let sealed: Arc<Mutex<Vec<TcpStream>>> = Arc::default();
        let proxy = Self {
            address: listener.local_addr()?,
            counts: Arc::default(),
            sealed: sealed.clone(),
        };
        std::thread::spawn(move || {
            for initiator in listener.incoming().flatten() {
                let _ = TcpStream::connect(acceptor).and_then(|to| pass(initiator, to, &sealed));
            }
        });
        Ok(proxy)
    }

    /// Ends the sealed connections in the middle of their messages.
    pub fn cut(&self) {
        let mut sealed = self.sealed.lock().unwrap_or_else(PoisonError::into_inner);
        for stream in sealed.drain(..) {
            // The connection may already be gone.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// The next application messages in this direction are lost.
    pub fn lose(&self, way: Way, messages: usize) {
        self.counts[way as usize]
            .lose
            .fetch_add(messages, Ordering::SeqCst);
    }

    /// The number of ResendRequests in this direction.
    pub fn asked(&self, way: Way) -> usize {
        self.counts[way as usize].asked.load(Ordering::SeqCst)
    }

    /// The number of Logons with a reset in this direction.
    pub fn resets(&self, way: Way) -> usize {
        self.counts[way as usize].resets.load(Ordering::SeqCst)
    }
}

fn pass(
    initiator: TcpStream,
    acceptor: TcpStream,
    sealed: &Mutex<Vec<TcpStream>>,
) -> std::io::Result<()> {
    let pairs = [
        (initiator.try_clone()?, acceptor.try_clone()?),
        (acceptor.try_clone()?, initiator.try_clone()?),
    ];
    let mut open = sealed.lock().unwrap_or_else(PoisonError::into_inner);
    open.extend([initiator, acceptor]);
    for (mut from, mut to) in pairs {
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut from, &mut to);
            let _ = to.shutdown(Shutdown::Both);
        });
    }
    Ok(())
}

fn join(
    initiator: TcpStream,
    acceptor: TcpStream,
    counts: &Arc<[Counts; 2]>,
) -> std::io::Result<()> {
    for (from, to, way) in [
        (
            initiator.try_clone()?,
            acceptor.try_clone()?,
            Way::ToAcceptor,
        ),
        (acceptor, initiator, Way::ToInitiator),
    ] {
        let (counts, from, to) = (counts.clone(), Wire::over(from)?, Wire::over(to)?);
        std::thread::spawn(move || pump(from, to, &counts[way as usize]));
    }
    Ok(())
}

/// Forwards messages until one side disconnects, then disconnects the other.
fn pump(mut from: Wire, mut to: Wire, counts: &Counts) {
    loop {
        match from.receive(Duration::from_secs(1)) {
            Ok(message) => {
                if !is_lost(&message, counts) && to.send(&message).is_err() {
                    break;
                }
            }
            Err(Missing::Silent(_)) => {}
            Err(_) => break,
        }
    }
    let _ = from.shut_down(Shutdown::Both);
    let _ = to.shut_down(Shutdown::Both);
}

fn is_lost(message: &[u8], counts: &Counts) -> bool {
    match value(message, "35") {
        Some(b"2") => counts.asked.fetch_add(1, Ordering::SeqCst),
        Some(b"A") if value(message, "141") == Some(b"Y") => {
            counts.resets.fetch_add(1, Ordering::SeqCst)
        }
        Some(b"D" | b"8") => {
            let less = |left: usize| left.checked_sub(1);
            return counts
                .lose
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, less)
                .is_ok();
        }
        _ => 0,
    };
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::message;

    #[test]
    fn only_the_lost_messages_are_missing() -> std::io::Result<()> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let proxy = Proxy::start(listener.local_addr()?)?;
        let mut initiator = Wire::connect(proxy.address)?;
        let mut acceptor = Wire::over(listener.accept()?.0)?;
        let [first, second, asks] = ["35=D|34=1|", "35=D|34=2|", "35=2|34=3|"]
            .map(|text| message(&format!("8=FIX.4.2|{text}")));
        proxy.lose(Way::ToAcceptor, 1);
        for raw in [&first, &second, &asks] {
            initiator.send(raw)?;
        }
        let patience = Duration::from_secs(5);
        assert_eq!(acceptor.receive(patience), Ok(second));
        assert_eq!(acceptor.receive(patience), Ok(asks));
        assert_eq!(
            (proxy.asked(Way::ToAcceptor), proxy.asked(Way::ToInitiator)),
            (1, 0)
        );
        drop(initiator);
        assert_eq!(acceptor.expect_close(patience), Ok(()));
        Ok(())
    }
}
