//! Wraps a host in another host, for measurements and for fault injection.

use std::io;
use std::net::SocketAddr;

use fixwire_protocol::{Message, Nanos, Now, Outbox};

use crate::transport::Transport;
use crate::{ConnId, Dial, Host, ListenerId, Mark, PeerInfo, Ready, SocketOptions, WakeUp};

/// A host that changes some methods of an inner host. The outer host is a [`Host`] that forwards all other methods.
///
/// ```text
/// engine > Host::write > HostAround::on_write, when the host around has one > Host::write of the host within
/// engine > Host::dial                                                       > Host::dial of the host within
/// ```
pub trait HostAround {
    /// The inner host.
    type Within: Host;

    /// The inner host.
    fn within(&self) -> &Self::Within;

    /// The inner host, for methods that change it.
    fn within_mut(&mut self) -> &mut Self::Within;

    /// Replaces [`Host::now`].
    #[inline]
    fn on_now(&mut self) -> Now {
        self.within_mut().now()
    }

    /// Replaces [`Host::read`].
    ///
    /// # Errors
    ///
    /// As for [`Host::read`].
    #[inline]
    fn on_read(&mut self, conn: ConnId, into: &mut [u8]) -> io::Result<usize> {
        self.within_mut().read(conn, into)
    }

    /// Replaces [`Host::write`].
    ///
    /// # Errors
    ///
    /// As for [`Host::write`].
    #[inline]
    fn on_write(&mut self, conn: ConnId, bytes: &[u8]) -> io::Result<usize> {
        self.within_mut().write(conn, bytes)
    }

    /// Replaces [`Host::handled`].
    #[inline]
    fn on_handled(&mut self, message: &Message<'_>, outbox: &Outbox, from: usize) {
        self.within_mut().handled(message, outbox, from);
    }

    /// Replaces [`Host::handled_frame`].
    #[inline]
    fn on_handled_frame(&mut self, frame: &[u8], outbox: &Outbox, from: usize) {
        self.within_mut().handled_frame(frame, outbox, from);
    }

    /// Replaces [`Host::mark`].
    #[inline]
    fn on_mark(&mut self, mark: Mark<'_>) {
        self.within_mut().mark(mark);
    }

    /// Replaces [`Host::close`].
    #[inline]
    fn on_close(&mut self, conn: ConnId) {
        self.within_mut().close(conn);
    }

    /// Replaces [`Host::poll`].
    ///
    /// # Errors
    ///
    /// As for [`Host::poll`].
    #[inline]
    fn on_poll(&mut self, wait: Nanos, ready: &mut Vec<Ready>) -> io::Result<()> {
        self.within_mut().poll(wait, ready)
    }
}

// Every method of a host is here, including those with a default.
#[deny(clippy::missing_trait_methods)]
impl<H: HostAround> Host for H {
    #[inline]
    fn now(&mut self) -> Now {
        self.on_now()
    }

    fn listen(&mut self, at: SocketAddr, by: &Transport) -> io::Result<(ListenerId, SocketAddr)> {
        self.within_mut().listen(at, by)
    }

    fn accept(&mut self, listener: ListenerId) -> io::Result<Option<(ConnId, SocketAddr)>> {
        self.within_mut().accept(listener)
    }

    fn dial(&mut self, to: &Dial<'_>) -> io::Result<ConnId> {
        self.within_mut().dial(to)
    }

    fn dialled(&mut self, conn: ConnId) -> io::Result<SocketAddr> {
        self.within_mut().dialled(conn)
    }

    fn peer(&self, conn: ConnId) -> PeerInfo<'_> {
        self.within().peer(conn)
    }

    fn tune(&mut self, conn: ConnId, options: &SocketOptions) -> io::Result<()> {
        self.within_mut().tune(conn, options)
    }

    #[inline]
    fn read(&mut self, conn: ConnId, into: &mut [u8]) -> io::Result<usize> {
        self.on_read(conn, into)
    }

    #[inline]
    fn write(&mut self, conn: ConnId, bytes: &[u8]) -> io::Result<usize> {
        self.on_write(conn, bytes)
    }

    #[inline]
    fn is_flushed(&self, conn: ConnId) -> bool {
        self.within().is_flushed(conn)
    }

    fn hold(&mut self, conn: ConnId, held: bool) {
        self.within_mut().hold(conn, held);
    }

    #[inline]
    fn handled(&mut self, message: &Message<'_>, outbox: &Outbox, from: usize) {
        self.on_handled(message, outbox, from);
    }

    #[inline]
    fn handled_frame(&mut self, frame: &[u8], outbox: &Outbox, from: usize) {
        self.on_handled_frame(frame, outbox, from);
    }

    #[inline]
    fn mark(&mut self, mark: Mark<'_>) {
        self.on_mark(mark);
    }

    fn close(&mut self, conn: ConnId) {
        self.on_close(conn);
    }

    #[inline]
    fn poll(&mut self, wait: Nanos, ready: &mut Vec<Ready>) -> io::Result<()> {
        self.on_poll(wait, ready)
    }

    fn wake_up(&self) -> WakeUp {
        self.within().wake_up()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixwire_protocol::Decoder;
    use std::cell::RefCell;
    use std::sync::Arc;

    /// Records its calls, and returns other values than the defaults of [`Host`].
    #[derive(Default)]
    struct Called(RefCell<Vec<&'static str>>);

    impl Called {
        fn note(&self, name: &'static str) {
            self.0.borrow_mut().push(name);
        }
    }

    const ADDRESS: SocketAddr =
        SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 1);

    #[deny(clippy::missing_trait_methods)]
    impl Host for Called {
        fn now(&mut self) -> Now {
            self.note("now");
            Now::default()
        }

        fn listen(
            &mut self,
            at: SocketAddr,
            _: &Transport,
        ) -> io::Result<(ListenerId, SocketAddr)> {
            self.note("listen");
            Ok((ListenerId(0), at))
        }

        fn accept(&mut self, _: ListenerId) -> io::Result<Option<(ConnId, SocketAddr)>> {
            self.note("accept");
            Ok(None)
        }

        fn dial(&mut self, _: &Dial<'_>) -> io::Result<ConnId> {
            self.note("dial");
            Ok(ConnId(0))
        }

        fn dialled(&mut self, _: ConnId) -> io::Result<SocketAddr> {
            self.note("dialled");
            Ok(ADDRESS)
        }

        fn peer(&self, _: ConnId) -> PeerInfo<'_> {
            self.note("peer");
            PeerInfo::default()
        }

        fn tune(&mut self, _: ConnId, _: &SocketOptions) -> io::Result<()> {
            self.note("tune");
            Ok(())
        }

        fn read(&mut self, _: ConnId, _: &mut [u8]) -> io::Result<usize> {
            self.note("read");
            Ok(0)
        }

        fn write(&mut self, _: ConnId, _: &[u8]) -> io::Result<usize> {
            self.note("write");
            Ok(0)
        }

        fn is_flushed(&self, _: ConnId) -> bool {
            self.note("is_flushed");
            false
        }

        fn hold(&mut self, _: ConnId, _: bool) {
            self.note("hold");
        }

        fn handled(&mut self, _: &Message<'_>, _: &Outbox, _: usize) {
            self.note("handled");
        }

        fn handled_frame(&mut self, _: &[u8], _: &Outbox, _: usize) {
            self.note("handled_frame");
        }

        fn mark(&mut self, _: Mark<'_>) {
            self.note("mark");
        }

        fn close(&mut self, _: ConnId) {
            self.note("close");
        }

        fn poll(&mut self, _: Nanos, _: &mut Vec<Ready>) -> io::Result<()> {
            self.note("poll");
            Ok(())
        }

        fn wake_up(&self) -> WakeUp {
            self.note("wake_up");
            Arc::new(|| {})
        }
    }

    /// Changes one method.
    struct Around(Called);

    impl HostAround for Around {
        type Within = Called;

        fn within(&self) -> &Called {
            &self.0
        }

        fn within_mut(&mut self) -> &mut Called {
            &mut self.0
        }

        fn on_write(&mut self, _: ConnId, bytes: &[u8]) -> io::Result<usize> {
            Ok(bytes.len())
        }
    }

    #[test]
    fn each_call_but_its_own_reaches_the_host_within() {
        let mut host = Around(Called::default());
        let (conn, transport, options) =
            (ConnId(0), Transport::default(), SocketOptions::default());
        let dial = Dial {
            host: "",
            port: 1,
            local: None,
            transport: &transport,
            options: &options,
        };
        let mut decoder = Decoder::with_capacity(8);
        host.now();
        host.listen(ADDRESS, &transport).unwrap();
        host.accept(ListenerId(0)).unwrap();
        host.dial(&dial).unwrap();
        host.dialled(conn).unwrap();
        assert_eq!(host.peer(conn).announced, None);
        host.tune(conn, &options).unwrap();
        assert_eq!(host.read(conn, &mut []).unwrap(), 0);
        assert_eq!(host.write(conn, b"own").unwrap(), 3);
        assert!(!host.is_flushed(conn));
        host.hold(conn, true);
        host.handled(
            &decoder.decode(b"8=FIX.4.4\x01"),
            &Outbox::new(64, 1, 64),
            0,
        );
        host.handled_frame(b"", &Outbox::new(64, 1, 64), 0);
        host.mark(Mark::Checked);
        host.close(conn);
        host.poll(Nanos(0), &mut Vec::new()).unwrap();
        host.wake_up();
        assert_eq!(
            host.0.0.into_inner(),
            [
                "now",
                "listen",
                "accept",
                "dial",
                "dialled",
                "peer",
                "tune",
                "read",
                "is_flushed",
                "hold",
                "handled",
                "handled_frame",
                "mark",
                "close",
                "poll",
                "wake_up",
            ]
        );
    }
}
