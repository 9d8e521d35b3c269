//! The operating system as a host: no connection with data is passed over.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use fixwire::Wait;
use fixwire::host::{ConnId, Host, ListenerId, Os, Ready};
use fixwire::protocol::Nanos;
use fixwire::transport::Transport;

const PATIENCE: Duration = Duration::from_secs(10);

/// Polls until something is ready.
fn wait_for(host: &mut Os, wanted: Ready) {
    let (mut ready, since) = (Vec::new(), Instant::now());
    while since.elapsed() < PATIENCE {
        host.poll(Nanos(1_000_000), &mut ready).unwrap();
        if ready.contains(&wanted) {
            return;
        }
    }
    panic!("{wanted:?} never came");
}

fn accept(host: &mut Os, listener: ListenerId, at: SocketAddr) -> (TcpStream, ConnId) {
    let stream = TcpStream::connect(at).unwrap();
    wait_for(host, Ready::Accept(listener));
    let (conn, _) = host.accept(listener).unwrap().unwrap();
    (stream, conn)
}

/// A host that never sleeps reads a few connections without asking the poller; with one more it asks.
#[test]
fn a_connection_that_spoke_before_there_were_many_is_still_heard() {
    let mut host = Os::new(Wait::Spin).unwrap();
    let mut transport = Transport::default();
    transport.balancers = vec!["127.0.0.1".parse().unwrap()];
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let (listener, at) = host.listen(any, &transport).unwrap();
    let mut peers: Vec<_> = (0..8).map(|_| accept(&mut host, listener, at)).collect();
    let (mut into, mut ready) = ([0; 64], Vec::new());
    for (_, conn) in &peers {
        let nothing = host.read(*conn, &mut into).unwrap_err();
        assert_eq!(nothing.kind(), ErrorKind::WouldBlock);
    }
    // The poller has been asked since: no connection is known to be readable.
    for _ in 0..200 {
        host.poll(Nanos(0), &mut ready).unwrap();
    }
    let (stream, conn) = &mut peers[0];
    let conn = *conn;
    stream
        .write_all(b"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\none")
        .unwrap();
    let since = Instant::now();
    let count = loop {
        match host.read(conn, &mut into) {
            Ok(count) => break count,
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
        assert!(since.elapsed() < PATIENCE);
    };
    assert_eq!(&into[..count], b"one");
    let _ninth = accept(&mut host, listener, at);
    peers[0].0.write_all(b"two").unwrap();
    wait_for(&mut host, Ready::Read(conn));
}

/// Bytes on a connection that nothing is sent back on are read before it is shut down, and all the
/// same read once, whatever else happens to the connection meanwhile.
#[test]
fn what_is_read_one_way_is_read_once() {
    let mut host = Os::new(Wait::Spin).unwrap();
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let (listener, at) = host.listen(any, &Transport::default()).unwrap();
    let (mut stream, conn) = accept(&mut host, listener, at);
    let mut ready = Vec::new();
    let read = |host: &mut Os, room: usize| {
        let (mut into, since) = (vec![0; room], Instant::now());
        loop {
            match host.read(conn, &mut into) {
                Ok(count) => break into[..count].to_vec(),
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
            assert!(since.elapsed() < PATIENCE);
        }
    };
    // The first is taken at once, the later ones at the next poll or the next read.
    for (number, polls) in [(0, 1), (1, 1), (2, 0), (3, 0), (4, 2)] {
        stream.write_all(&[number; 100]).unwrap();
        assert_eq!(read(&mut host, 64), [number; 64]);
        assert_eq!(read(&mut host, 64), [number; 36]);
        for _ in 0..polls {
            host.poll(Nanos(0), &mut ready).unwrap();
        }
    }
    // An answer carries the acknowledgement again.
    host.write(conn, b"answer").unwrap();
    stream.write_all(b"five").unwrap();
    assert_eq!(read(&mut host, 64), b"five");
    stream.write_all(b"six").unwrap();
    assert_eq!(read(&mut host, 64), b"six");
    // A close with bytes that are read and not taken is no reset: the peer receives the last bytes.
    host.write(conn, b" and a last word").unwrap();
    stream.write_all(&[7; 100]).unwrap();
    assert_eq!(read(&mut host, 200), [7; 100]);
    stream.write_all(&[8; 100]).unwrap();
    assert_eq!(read(&mut host, 200), [8; 100]);
    host.close(conn);
    let mut heard = String::new();
    stream.read_to_string(&mut heard).unwrap();
    assert_eq!(heard, "answer and a last word");
}
