//! nanofix peer (crates.io; the engine formerly called velocitas): NewOrderSingle in,
//! ExecutionReport out.
//!   peer-nanofix PORT memory DIR [block|spin]
//! block is the library's own StdTcpTransport (a blocking read); spin gives it a transport
//! of ours over the same trait whose read never blocks, so that its loop busy-polls.
//! The engine keeps no store: it has no persistent mode. FixServer limits a session to
//! 50,000 messages a second, so the engine is set up here as FixServer does it, without that.

#![forbid(unsafe_code)]

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use nanofix::FixSerializer;
use nanofix::engine::{EngineContext, FixApp, FixEngine};
use nanofix::message::MessageView;
use nanofix::session::{SequenceResetPolicy, Session, SessionConfig, SessionRole};
use nanofix::timestamp::{HrTimestamp, TimestampSource};
use nanofix::transport::{Transport, TransportConfig, TransportEvent};
use nanofix::transport_tcp::StdTcpTransport;

struct Spin(TcpStream, bool);

impl Transport for Spin {
    fn connect(&mut self, _: &str, _: u16) -> io::Result<()> {
        Ok(())
    }
    fn bind(&mut self, _: &str, _: u16) -> io::Result<()> {
        Ok(())
    }
    fn send(&mut self, data: &[u8]) -> io::Result<usize> {
        let mut rest = data;
        while !rest.is_empty() {
            match self.0.write(rest) {
                Ok(n) => rest = &rest[n..],
                Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                Err(e) => return Err(e),
            }
        }
        Ok(data.len())
    }
    fn recv(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer) {
            Ok(0) => {
                self.1 = false;
                Err(ErrorKind::UnexpectedEof.into())
            }
            Err(e) if e.kind() == ErrorKind::WouldBlock => Ok(0),
            r => r,
        }
    }
    fn close(&mut self) -> io::Result<()> {
        self.1 = false;
        Ok(())
    }
    fn poll(&mut self) -> io::Result<Option<TransportEvent>> {
        Ok(None)
    }
    fn is_connected(&self) -> bool {
        self.1
    }
}

struct Bench {
    buf: [u8; 1024],
}

impl FixApp for Bench {
    fn on_message(
        &mut self,
        kind: &[u8],
        m: &MessageView<'_>,
        ctx: &mut EngineContext<'_>,
    ) -> io::Result<()> {
        if kind != b"D" {
            return Ok(());
        }
        let id = m.get_field(11).unwrap_or(b"");
        let now = HrTimestamp::now(TimestampSource::System).to_fix_timestamp();
        let seq = ctx.next_seq_num();
        let mut s = FixSerializer::new(&mut self.buf);
        s.begin(b"FIX.4.2", b"8")
            .add_str(49, b"EXEC")
            .add_str(56, b"BENCH")
            .add_u64(34, seq)
            .add_str(52, &now)
            .add_str(6, b"110.11")
            .add_str(11, id)
            .add_int(14, 7)
            .add_str(17, b"tkacct.151124.e.EFX.122.6")
            .add_str(20, b"0")
            .add_str(37, b"tkacct.151124.e.EFX.122.6")
            .add_str(39, b"0")
            .add_str(54, b"1")
            .add_str(55, b"EFX")
            .add_str(109, b"TEST")
            .add_str(150, b"2")
            .add_int(151, 0);
        let n = s.finalize();
        ctx.send_raw(&self.buf[..n])
    }
}

fn session() -> Session {
    Session::new(SessionConfig {
        session_id: "BENCH".into(),
        fix_version: "FIX.4.2".into(),
        sender_comp_id: "EXEC".into(),
        target_comp_id: "BENCH".into(),
        role: SessionRole::Acceptor,
        heartbeat_interval: Duration::from_secs(30),
        reconnect_interval: Duration::from_secs(0),
        max_reconnect_attempts: 0,
        sequence_reset_policy: SequenceResetPolicy::Daily,
        validate_comp_ids: true,
        max_msg_rate: u32::MAX,
    })
}

fn main() -> io::Result<()> {
    let a: Vec<String> = std::env::args().collect();
    if a.get(2).map(String::as_str) != Some("memory") {
        eprintln!("nanofix has no {} mode", a.get(2).map_or("?", |m| m));
        std::process::exit(2);
    }
    let spin = a.get(4).map(String::as_str) == Some("spin");
    let listener = TcpListener::bind(("127.0.0.1", a[1].parse::<u16>().expect("port")))?;
    for stream in listener.incoming() {
        let stream = stream?;
        let mut app = Bench { buf: [0; 1024] };
        let r = if spin {
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            FixEngine::new_acceptor(Spin(stream, true), session()).run_acceptor(&mut app)
        } else {
            let t = StdTcpTransport::from_stream(stream, TransportConfig::kernel_tcp())?;
            FixEngine::new_acceptor(t, session()).run_acceptor(&mut app)
        };
        if let Err(e) = r {
            eprintln!("acceptor: {e}");
        }
    }
    Ok(())
}
