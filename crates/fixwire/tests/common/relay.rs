//! A relay between two sides: connections pass through it, can be cut, and are counted.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Connections that run through it.
type Open = Arc<Mutex<Vec<TcpStream>>>;

pub struct Relay {
    pub address: SocketAddr,
    open: Open,
}

impl Relay {
    pub fn start(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let open = Open::default();
        let opened = Arc::clone(&open);
        std::thread::spawn(move || {
            for from in listener.incoming().map_while(Result::ok) {
                let Ok(there) = TcpStream::connect(to) else {
                    continue;
                };
                let pairs = [
                    (from.try_clone().unwrap(), there.try_clone().unwrap()),
                    (there.try_clone().unwrap(), from.try_clone().unwrap()),
                ];
                opened.lock().unwrap().extend([from, there]);
                for (mut from, mut to) in pairs {
                    std::thread::spawn(move || {
                        let mut bytes = [0; 4096];
                        while let Ok(count @ 1..) = from.read(&mut bytes) {
                            if to.write_all(&bytes[..count]).is_err() {
                                break;
                            }
                        }
                        let _ = to.shutdown(Shutdown::Both);
                    });
                }
            }
        });
        Self { address, open }
    }

    /// Ends every connection at once, in the middle of whatever is under way.
    pub fn cut(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}
