//! TLS to a PostgreSQL server, as the parameters of the server's address say. The parameters are those of
//! PostgreSQL's own library.

use std::fmt::Write as _;
use std::future::{Future, poll_fn};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use postgres::Socket;
use postgres::config::SslMode;
use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use fixwire_engine::tls::{Authority, Identity, Stream, Tls, TlsError, TlsFailure, TlsOptions};

/// The value of `sslrootcert` for the authorities of the system.
const SYSTEM: &str = "system";

/// How far the server is trusted: `sslmode`.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Trust {
    /// No TLS.
    #[default]
    Disable,
    /// TLS if the server supports it, with any certificate.
    Prefer,
    /// TLS with any certificate, or with one of `sslrootcert` if this is set.
    Require,
    /// The certificate must be from an authority in `sslrootcert`.
    VerifyCa,
    /// The certificate must also have the name of the host.
    VerifyFull,
}

const MODES: [(&str, Trust); 5] = [
    ("disable", Trust::Disable),
    ("prefer", Trust::Prefer),
    ("require", Trust::Require),
    ("verify-ca", Trust::VerifyCa),
    ("verify-full", Trust::VerifyFull),
];

/// The parameters of an address that concern TLS.
#[derive(Debug, Default, Eq, PartialEq)]
pub(super) struct TlsParameters {
    trust: Trust,
    root: Option<String>,
    certificate: Option<String>,
    key: Option<String>,
}

impl TlsParameters {
    /// Splits an address into the part that the database's library reads, and these parameters.
    ///
    /// # Errors
    ///
    /// A value that a parameter does not have.
    pub(super) fn split(address: &str) -> Result<(String, Self), String> {
        let mut found = Self::default();
        let Some((server, parameters)) = address.split_once('?') else {
            return Ok((address.to_owned(), found));
        };
        let mut rest = String::new();
        for parameter in parameters.split('&') {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let file = || file(name, value).map(Some);
            match name {
                "sslmode" => {
                    let known = MODES.iter().find(|(mode, _)| *mode == value);
                    let names = MODES.map(|(mode, _)| mode).join(", ");
                    // The value is not repeated: a password may have got there by mistake.
                    let wrong = || format!("sslmode has none of the values {names}");
                    found.trust = known.ok_or_else(wrong)?.1;
                }
                "sslrootcert" if value == SYSTEM => found.root = Some(SYSTEM.to_owned()),
                "sslrootcert" => found.root = file()?,
                "sslcert" => found.certificate = file()?,
                "sslkey" => found.key = file()?,
                _ => {
                    let sign = if rest.is_empty() { '?' } else { '&' };
                    let _ = write!(rest, "{sign}{parameter}");
                }
            }
        }
        Ok((format!("{server}{rest}"), found))
    }

    /// Whether a connection without TLS is refused.
    pub(super) fn is_required(&self) -> bool {
        !matches!(self.trust, Trust::Disable | Trust::Prefer)
    }

    /// How the PostgreSQL client uses TLS after the files were loaded.
    pub(super) fn mode(&self) -> SslMode {
        match self.is_required() {
            true => SslMode::Require,
            false => SslMode::Prefer,
        }
    }

    /// Reads the files; `None` for connections without TLS.
    ///
    /// # Errors
    ///
    /// A file cannot be read or used, a file is set that is not used, or this build has no TLS.
    pub(super) fn load(&self) -> Result<Option<DatabaseTls>, String> {
        let files = [&self.root, &self.certificate, &self.key];
        if self.trust == Trust::Disable {
            return match files.iter().any(|it| it.is_some()) {
                true => Err(
                    "sslrootcert, sslcert and sslkey need an sslmode such as verify-full".into(),
                ),
                false => Ok(None),
            };
        }
        let identity = match (&self.certificate, &self.key) {
            (None, None) => None,
            (Some(chain), Some(key)) => Some(Identity::Pem {
                chain: chain.into(),
                key: key.into(),
            }),
            (Some(_), None) | (None, Some(_)) => {
                return Err("sslcert and sslkey need each other".into());
            }
        };
        let authorities = match (self.root.as_deref(), self.trust) {
            // Anyone who owns a host can get a certificate of the system's authorities, so the host name must be
            // checked.
            (Some(SYSTEM), trust) if trust != Trust::VerifyFull => {
                return Err("sslrootcert=system needs sslmode=verify-full".into());
            }
            (None, Trust::VerifyCa) => {
                return Err("sslmode=verify-ca needs an sslrootcert".into());
            }
            (None, _) => Vec::new(),
            (Some(SYSTEM), _) => vec![Authority::System],
            (Some(file), _) => vec![Authority::Pem(PathBuf::from(file))],
        };
        let options = TlsOptions {
            identity,
            check_chain: self.root.is_some()
                || matches!(self.trust, Trust::VerifyCa | Trust::VerifyFull),
            check_name: self.trust == Trust::VerifyFull,
            authorities,
            ..TlsOptions::default()
        };
        match Tls::initiator(options).map_err(|error: TlsError| error.to_string()) {
            Ok(loaded) => Ok(Some(DatabaseTls(loaded))),
            // A build without TLS prefers none.
            Err(why)
                if self.trust == Trust::Prefer
                    && files.iter().all(|it| it.is_none())
                    && why.contains(&TlsFailure::NotBuilt.to_string()) =>
            {
                Ok(None)
            }
            Err(why) => Err(why),
        }
    }
}

/// The path of a file in an address.
fn file(name: &str, value: &str) -> Result<String, String> {
    let path = decoded(value).ok_or_else(|| format!("{name} has a % without two digits"))?;
    match Path::new(&path).is_absolute() {
        true => Ok(path),
        false => Err(format!("{name} needs an absolute path")),
    }
}

/// A text in which `%2F` and the like stand for bytes.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

/// TLS for the connections to a database.
#[derive(Clone, Debug)]
pub(crate) struct DatabaseTls(Tls);

impl MakeTlsConnect<Socket> for DatabaseTls {
    type Stream = TlsSocket;
    type TlsConnect = Handshake;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> Result<Handshake, io::Error> {
        let stream = self.0.connect(host);
        stream
            .map(Handshake)
            .map_err(|failure| named(failure.into()))
    }
}

/// A TLS connection before its handshake.
#[derive(Debug)]
pub(crate) struct Handshake(Stream);

impl TlsConnect<Socket> for Handshake {
    type Stream = TlsSocket;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<TlsSocket>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        let mut stream = TlsSocket {
            tls: self.0,
            socket,
        };
        Box::pin(async move {
            poll_fn(|context| stream.poll_handshake(context)).await?;
            Ok(stream)
        })
    }
}

/// A socket under TLS.
pub(crate) struct TlsSocket {
    tls: Stream,
    socket: Socket,
}

/// The socket while it is polled. The socket reads and writes what is possible now, and wakes the task when more is
/// possible.
struct Polled<'a, 'w> {
    socket: &'a mut Socket,
    context: &'a mut Context<'w>,
}

impl Read for Polled<'_, '_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut buffer = ReadBuf::new(into);
        match Pin::new(&mut *self.socket).poll_read(self.context, &mut buffer) {
            Poll::Ready(read) => read.map(|()| buffer.filled().len()),
            Poll::Pending => Err(ErrorKind::WouldBlock.into()),
        }
    }
}

impl Write for Polled<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match Pin::new(&mut *self.socket).poll_write(self.context, bytes) {
            Poll::Ready(written) => written,
            Poll::Pending => Err(ErrorKind::WouldBlock.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match Pin::new(&mut *self.socket).poll_flush(self.context) {
            Poll::Ready(flushed) => flushed,
            Poll::Pending => Err(ErrorKind::WouldBlock.into()),
        }
    }
}

/// What a call did. The socket wakes the task of a call that would block.
fn polled<T>(done: io::Result<T>) -> Poll<io::Result<T>> {
    match done {
        Err(error) if error.kind() == ErrorKind::WouldBlock => Poll::Pending,
        done => Poll::Ready(done.map_err(named)),
    }
}

/// The error with names of parameters of an address. Errors of a session have names of its settings instead.
fn named(error: io::Error) -> io::Error {
    let why = match TlsFailure::of(&error) {
        Some(TlsFailure::UnknownAuthority) => "was not issued by an authority in sslrootcert",
        Some(TlsFailure::NotItselfTrusted) => {
            "is self-signed or an authority's (CA:TRUE), and not itself in sslrootcert"
        }
        Some(TlsFailure::OldVersion) => "has X.509 version 1, and is not itself in sslrootcert",
        Some(TlsFailure::Name) => {
            "is for another host: write its name as the host of the address, or sslmode=verify-ca"
        }
        Some(TlsFailure::CertificateRequired) => {
            let why = "TLS: the server requires a client certificate: set sslcert and sslkey";
            return io::Error::new(error.kind(), why);
        }
        Some(_) | None => return error,
    };
    io::Error::new(error.kind(), format!("TLS: the server's certificate {why}"))
}

impl TlsSocket {
    fn parts<'a, 'w>(
        &'a mut self,
        context: &'a mut Context<'w>,
    ) -> (&'a mut Stream, Polled<'a, 'w>) {
        let Self { tls, socket } = self;
        (tls, Polled { socket, context })
    }

    fn poll_handshake(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let (tls, mut socket) = self.parts(context);
        match ready!(polled(tls.settle(&mut socket)))? {
            true => Poll::Ready(Ok(())),
            false => Poll::Pending,
        }
    }

    /// Writes what TLS has encrypted.
    fn poll_encrypted(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let (tls, mut socket) = self.parts(context);
        match ready!(polled(tls.flush(&mut socket)))? {
            true => Poll::Ready(Ok(())),
            false => Poll::Pending,
        }
    }
}

impl AsyncRead for TlsSocket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let into = buffer.initialize_unfilled();
        if into.is_empty() {
            return Poll::Ready(Ok(()));
        }
        let waker = context.waker().clone();
        let (tls, mut socket) = self.get_mut().parts(context);
        let taken = tls.read(&mut socket, into);
        let would_block = |error: &io::Error| error.kind() == ErrorKind::WouldBlock;
        if taken.more && taken.result.as_ref().is_err_and(would_block) {
            // TLS has read enough for one call, and the socket may have more.
            waker.wake();
        }
        polled(taken.result.map(|count| buffer.advance(count)))
    }
}

impl AsyncWrite for TlsSocket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let (tls, mut socket) = self.get_mut().parts(context);
        polled(tls.write(&mut socket, bytes).map(|(count, _)| count))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        ready!(this.poll_encrypted(context))?;
        Pin::new(&mut this.socket).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let (tls, mut socket) = this.parts(context);
        tls.close(&mut socket);
        Pin::new(&mut this.socket).poll_shutdown(context)
    }
}

impl TlsStream for TlsSocket {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_tls_are_split_off() {
        let split = |address: &str| TlsParameters::split(address).unwrap();
        let plain = "postgresql://me@db/fix";
        assert_eq!(split(plain), (plain.to_owned(), TlsParameters::default()));
        let (rest, found) = split(
            "postgresql://me@db/fix?connect_timeout=3&sslmode=verify-full&sslrootcert=%2Fetc%2Fa%20b.pem&keepalives=1",
        );
        assert_eq!(
            rest,
            "postgresql://me@db/fix?connect_timeout=3&keepalives=1"
        );
        let wanted = TlsParameters {
            trust: Trust::VerifyFull,
            root: Some("/etc/a b.pem".to_owned()),
            ..TlsParameters::default()
        };
        assert_eq!(found, wanted);
        assert_eq!(split("postgresql://me@db/fix?sslmode=require").0, plain);
        for (parameters, why) in [
            (
                "sslmode=on",
                "sslmode has none of the values disable, prefer",
            ),
            ("sslmode=", "sslmode has none of the values"),
            (
                "sslmode=require&sslrootcert=ca.pem",
                "sslrootcert needs an absolute path",
            ),
            ("sslcert=%2", "sslcert has a % without two digits"),
        ] {
            let said = TlsParameters::split(&format!("{plain}?{parameters}")).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
        for (parameters, why) in [
            ("sslrootcert=system", "need an sslmode"),
            ("sslmode=disable&sslcert=/a&sslkey=/b", "need an sslmode"),
            ("sslmode=require&sslcert=/a", "need each other"),
            (
                "sslmode=verify-ca",
                "sslmode=verify-ca needs an sslrootcert",
            ),
            (
                "sslmode=verify-ca&sslrootcert=system",
                "sslrootcert=system needs sslmode=verify-full",
            ),
            (
                "sslmode=require&sslrootcert=system",
                "sslrootcert=system needs sslmode=verify-full",
            ),
            (
                "sslmode=prefer&sslrootcert=system",
                "sslrootcert=system needs sslmode=verify-full",
            ),
            ("sslmode=require&sslrootcert=/missing.pem", "/missing.pem"),
        ] {
            let said = split(&format!("{plain}?{parameters}")).1.load();
            let said = said.unwrap_err();
            let is_absent = said.contains("has no TLS");
            assert!(said.contains(why) || is_absent, "{said}");
        }
    }
}
