//! The floor: what the fastest engine on the kernel's TCP could do.
//!
//!     peer-raw PORT MODE DIR spin|block
//!
//! MODE `memory`: finds the end of each message by BodyLength, copies ClOrdID into a canned
//! ExecutionReport, sets MsgSeqNum and CheckSum, and sends it. Nothing is parsed, validated or stored.
//! `persistent`: appends both messages to a file with one write(2) before it answers.
//! `bad-clordid`, `bad-checksum`, `bad-seq`, `bad-drop`: spoils every thousandth answer, which the
//! initiator must count.
//!
//! `spin` tries a non-blocking read again and again; `block` sleeps in recv(2).

#![forbid(unsafe_code)]

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{SystemTime, UNIX_EPOCH};

const SOH: u8 = 1;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [port, mode, dir, wait] = args.as_slice() else {
        eprintln!("usage: peer-raw PORT MODE DIR spin|block");
        std::process::exit(2);
    };
    let port: u16 = port.parse().expect("a port");
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("a free port");
    for socket in listener.incoming() {
        let Ok(socket) = socket else { continue };
        socket.set_nodelay(true).expect("TCP_NODELAY");
        socket
            .set_nonblocking(wait == "spin")
            .expect("a non-blocking socket");
        let file = (mode == "persistent").then(|| {
            let path = format!("{dir}/messages");
            OpenOptions::new()
                .create(true)
                .append(true)
                .open(path)
                .expect("a file")
        });
        if let Err(error) = serve(socket, file, mode.strip_prefix("bad-").unwrap_or("")) {
            eprintln!("peer-raw: {error}");
        }
    }
}

#[inline]
fn recv(s: &mut TcpStream, b: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match s.read(b) {
            Err(e) if e.kind() == ErrorKind::WouldBlock || e.kind() == ErrorKind::Interrupted => {
                continue;
            }
            r => return r,
        }
    }
}

fn send(s: &mut TcpStream, mut b: &[u8]) -> std::io::Result<()> {
    while !b.is_empty() {
        match s.write(b) {
            Ok(n) => b = &b[n..],
            Err(e) if e.kind() == ErrorKind::WouldBlock || e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

/// The canned report. It is laid out again only when MsgSeqNum gets longer.
struct Canned {
    buf: Vec<u8>,
    digits: u32,
    seq_at: usize,
    clord_at: usize,
    clord_len: usize,
    /// sum of every byte that does not change
    base: u8,
}

impl Canned {
    fn layout(&mut self, digits: u32, clord_len: usize) {
        let mut b = String::new();
        b.push_str("35=8\x01");
        let seq_rel = b.len() + 3;
        b.push_str(&format!("34={:\x01<w$}\x01", "", w = digits as usize));
        b.push_str(&format!("49=EXEC\x0152={}\x0156=BENCH\x01", utc_now()));
        b.push_str("6=110.11\x01");
        let clord_rel = b.len() + 3;
        b.push_str(&format!("11={:\x01<w$}\x01", "", w = clord_len));
        b.push_str(
            "14=7\x0117=tkacct.151124.e.EFX.122.6\x0120=0\x0137=tkacct.151124.e.EFX.122.6\x01",
        );
        b.push_str("39=0\x0154=1\x0155=EFX\x01109=TEST\x01150=2\x01151=0\x01");
        let head = format!("8=FIX.4.2\x019={}\x01", b.len());
        self.seq_at = head.len() + seq_rel;
        self.clord_at = head.len() + clord_rel;
        self.buf = head.into_bytes();
        self.buf.extend_from_slice(b.as_bytes());
        self.digits = digits;
        self.clord_len = clord_len;
        // the placeholders are SOH bytes: take them out of the sum
        let holes = digits as usize + clord_len;
        self.base = self
            .buf
            .iter()
            .fold(0u8, |a, &x| a.wrapping_add(x))
            .wrapping_sub(holes as u8);
        self.buf.extend_from_slice(b"10=000\x01");
    }

    #[inline]
    fn render(&mut self, seq: u64, clord: &[u8]) -> &[u8] {
        let d = seq.ilog10() + 1;
        if d != self.digits || clord.len() != self.clord_len {
            self.layout(d, clord.len());
        }
        let mut sum = self.base;
        let mut v = seq;
        for c in self.buf[self.seq_at..self.seq_at + d as usize]
            .iter_mut()
            .rev()
        {
            *c = b'0' + (v % 10) as u8;
            sum = sum.wrapping_add(*c);
            v /= 10;
        }
        self.buf[self.clord_at..self.clord_at + clord.len()].copy_from_slice(clord);
        sum = clord.iter().fold(sum, |a, &x| a.wrapping_add(x));
        let n = self.buf.len();
        self.buf[n - 4] = b'0' + sum / 100;
        self.buf[n - 3] = b'0' + sum / 10 % 10;
        self.buf[n - 2] = b'0' + sum % 10;
        &self.buf
    }
}

/// Length of the whole message at the front, or 0 when it is not all there.
#[inline]
fn whole(b: &[u8]) -> usize {
    if b.len() < 20 {
        return 0;
    }
    let mut i = 12; // after "8=FIX.4.2|9="
    let mut n = 0usize;
    while i < b.len() && b[i] != SOH {
        n = n * 10 + (b[i] - b'0') as usize;
        i += 1;
    }
    let len = i + 1 + n + 7;
    if len <= b.len() { len } else { 0 }
}

/// Where "|11=" ends and the next SOH is. The search starts after the header
/// fields whose length cannot vary.
#[inline]
fn clordid(m: &[u8]) -> Option<&[u8]> {
    let at = m.windows(4).skip(40).position(|w| w == b"\x0111=")? + 44;
    let end = m[at..].iter().position(|&c| c == SOH)? + at;
    Some(&m[at..end])
}

fn serve(mut s: TcpStream, mut journal: Option<File>, fault: &str) -> std::io::Result<()> {
    let mut buf = vec![0u8; 1 << 20];
    let (mut a, mut z) = (0usize, 0usize);
    let mut out: Vec<u8> = Vec::with_capacity(1 << 20);
    let mut jrn: Vec<u8> = Vec::with_capacity(1 << 20);
    let mut canned = Canned {
        buf: Vec::new(),
        digits: 0,
        seq_at: 0,
        clord_at: 0,
        clord_len: 0,
        base: 0,
    };
    let mut seq = 1u64;
    loop {
        if a == z {
            a = 0;
            z = 0;
        } else if z > buf.len() - (64 << 10) {
            buf.copy_within(a..z, 0);
            z -= a;
            a = 0;
        }
        let n = recv(&mut s, &mut buf[z..])?;
        if n == 0 {
            return Ok(());
        }
        z += n;
        out.clear();
        jrn.clear();
        let mut bye = false;
        loop {
            let len = whole(&buf[a..z]);
            if len == 0 {
                break;
            }
            let m = &buf[a..a + len];
            a += len;
            let ty = m
                .windows(4)
                .position(|w| w == b"\x0135=")
                .map_or(b'?', |p| m[p + 4]);
            if journal.is_some() {
                jrn.extend_from_slice(m);
            }
            match ty {
                b'D' => {
                    if let Some(id) = clordid(m) {
                        let at = out.len();
                        out.extend_from_slice(canned.render(seq, id));
                        seq += 1;
                        if !fault.is_empty() && seq.is_multiple_of(1000) {
                            spoil(fault, &mut out, at, &mut seq);
                        }
                    }
                }
                b'A' => {
                    out.extend_from_slice(&admin("A", seq, "98=0\x01108=30\x01141=Y\x01"));
                    seq += 1;
                }
                b'5' => {
                    out.extend_from_slice(&admin("5", seq, ""));
                    seq += 1;
                    bye = true;
                }
                _ => {}
            }
        }
        if !out.is_empty() {
            if let Some(f) = &mut journal {
                jrn.extend_from_slice(&out);
                f.write_all(&jrn)?;
            }
            send(&mut s, &out)?;
        }
        if bye {
            return Ok(());
        }
    }
}

#[cold]
fn spoil(fault: &str, out: &mut Vec<u8>, at: usize, seq: &mut u64) {
    let n = out.len();
    match fault {
        "checksum" => out[n - 2] = if out[n - 2] == b'0' { b'1' } else { b'0' },
        "clordid" => {
            // two neighbouring different digits of ClOrdID change places: CheckSum stays right
            let m = &mut out[at..];
            let p = m.windows(4).position(|w| w == b"\x0111=").expect("ClOrdID") + 4;
            let k = (p..p + 18).find(|&k| m[k] != m[k + 1]).expect("digits");
            m.swap(k, k + 1);
        }
        "seq" => *seq += 1,
        "drop" => {
            out.truncate(at);
            *seq -= 1;
        }
        _ => {}
    }
}

fn admin(ty: &str, seq: u64, body: &str) -> Vec<u8> {
    let b = format!(
        "35={ty}\x0134={seq}\x0149=EXEC\x0152={}\x0156=BENCH\x01{body}",
        utc_now()
    );
    let mut m = format!("8=FIX.4.2\x019={}\x01{b}", b.len()).into_bytes();
    let sum = m.iter().fold(0u8, |a, &x| a.wrapping_add(x));
    m.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    m
}

fn utc_now() -> String {
    let ms = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_millis() as i64;
    let (days, r) = (ms / 86_400_000, ms % 86_400_000);
    let z = days + 719_468;
    let (era, doe) = (z / 146_097, z % 146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let (d, m) = (
        doy - (153 * mp + 2) / 5 + 1,
        if mp < 10 { mp + 3 } else { mp - 9 },
    );
    let y = yoe + era * 400 + i64::from(m <= 2);
    format!(
        "{y:04}{m:02}{d:02}-{:02}:{:02}:{:02}.{:03}",
        r / 3_600_000,
        r / 60_000 % 60,
        r / 1000 % 60,
        r % 1000
    )
}
