//! A tee between a peer and an engine: forwards every byte and records it.

use crate::proxy::Way;
use crate::wire::frame_fault;
use rustix::net::sockopt::set_socket_recv_buffer_size;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The most bytes that the system keeps of a paused direction: the writer soon has to wait.
const KEPT: usize = 64 * 1024;

/// A listener in front of an acceptor.
#[derive(Debug)]
pub struct Tee {
    /// The address that the initiator connects to.
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// Bytes of each connection, in the order of their beginning, by direction.
    passed: Mutex<Vec<[Vec<u8>; 2]>>,
    /// The paused directions.
    paused: [AtomicBool; 2],
}

impl Tee {
    /// Listens, and connects to `acceptor` once for each accepted connection.
    pub fn start(acceptor: SocketAddr) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let shared = Arc::<Shared>::default();
        let tee = Self {
            address: listener.local_addr()?,
            shared: Arc::clone(&shared),
        };
        std::thread::spawn(move || {
            for initiator in listener.incoming().flatten() {
                // An initiator tries again by itself when the acceptor is not there yet.
                let _ = TcpStream::connect(acceptor).and_then(|to| join(initiator, to, &shared));
            }
        });
        Ok(tee)
    }

    /// Stops reading in this direction, or continues.
    pub fn pause(&self, way: Way, paused: bool) {
        self.shared.paused[way as usize].store(paused, Ordering::SeqCst);
    }

    /// The whole messages that went in this direction, by connection. Garbled ones are left out.
    pub fn messages(&self, way: Way) -> Vec<Vec<Vec<u8>>> {
        let passed = self.shared.passed.lock();
        let passed = passed.unwrap_or_else(PoisonError::into_inner);
        passed
            .iter()
            .map(|ways| messages(&ways[way as usize]))
            .collect()
    }
}

fn join(initiator: TcpStream, acceptor: TcpStream, shared: &Arc<Shared>) -> std::io::Result<()> {
    let connection = {
        let mut passed = shared.passed.lock().unwrap_or_else(PoisonError::into_inner);
        passed.push(Default::default());
        passed.len() - 1
    };
    for (from, to, way) in [
        (
            initiator.try_clone()?,
            acceptor.try_clone()?,
            Way::ToAcceptor,
        ),
        (acceptor, initiator, Way::ToInitiator),
    ] {
        from.set_nodelay(true)?;
        set_socket_recv_buffer_size(&from, KEPT)?;
        let shared = Arc::clone(shared);
        std::thread::spawn(move || pump(from, to, &shared, connection, way));
    }
    Ok(())
}

fn pump(mut from: TcpStream, mut to: TcpStream, shared: &Shared, connection: usize, way: Way) {
    let mut chunk = [0; 4096];
    loop {
        while shared.paused[way as usize].load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let count = match from.read(&mut chunk) {
            Ok(count) if count > 0 => count,
            _ => break,
        };
        let mut passed = shared.passed.lock().unwrap_or_else(PoisonError::into_inner);
        passed[connection][way as usize].extend_from_slice(&chunk[..count]);
        drop(passed);
        if to.write_all(&chunk[..count]).is_err() {
            break;
        }
    }
    // The connection may already be gone.
    let _ = to.shutdown(Shutdown::Both);
    let _ = from.shutdown(Shutdown::Both);
}

/// The whole messages in a stream: from each `8=FIX` to the end of the next CheckSum(10).
fn messages(bytes: &[u8]) -> Vec<Vec<u8>> {
    let begins =
        |at: &usize| bytes[*at..].starts_with(b"8=FIX") && (*at == 0 || bytes[at - 1] == 1);
    let starts: Vec<usize> = (0..bytes.len()).filter(begins).collect();
    let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
    let pieces = starts
        .iter()
        .zip(ends)
        .map(|(start, end)| &bytes[*start..end]);
    let whole = pieces.filter(|piece| frame_fault(piece).is_none());
    whole.map(<[u8]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Wire, message};

    #[test]
    fn every_byte_passes_and_whole_messages_are_remembered() -> std::io::Result<()> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let tee = Tee::start(listener.local_addr()?)?;
        let mut initiator = Wire::connect(tee.address)?;
        let mut acceptor = Wire::over(listener.accept()?.0)?;
        let [first, second, back] = ["35=D|34=1|", "35=D|34=2|", "35=8|34=1|"]
            .map(|text| message(&format!("8=FIX.4.2|{text}")));
        let garbled = message("8=FIX.4.2|35=D|34=7|10=000|");
        let patience = Duration::from_secs(5);
        for raw in [&first, &garbled, &second] {
            initiator.send(raw)?;
            assert_eq!(acceptor.receive(patience).as_ref(), Ok(raw));
        }
        tee.pause(Way::ToInitiator, true);
        acceptor.send(&back)?;
        tee.pause(Way::ToInitiator, false);
        assert_eq!(initiator.receive(patience).as_ref(), Ok(&back));
        assert_eq!(tee.messages(Way::ToAcceptor), [[first, second]]);
        assert_eq!(tee.messages(Way::ToInitiator), [[back]]);
        Ok(())
    }
}
