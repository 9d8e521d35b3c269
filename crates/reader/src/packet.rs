//! Finds the TCP segment in a captured packet.

use std::net::{IpAddr, SocketAddr};

use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TransportSlice};

/// Link types of captures: <https://www.tcpdump.org/linktypes.html>.
pub(crate) const ETHERNET: i32 = 1;
const NULL: i32 = 0;
const LOOP: i32 = 108;
const RAW: [i32; 5] = [12, 14, 101, 228, 229];
const LINUX_SLL: i32 = 113;
const LINUX_SLL2: i32 = 276;

/// A TCP segment.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct TcpSegment<'a> {
    pub(crate) from: SocketAddr,
    pub(crate) to: SocketAddr,
    pub(crate) seq: u32,
    pub(crate) ack: Option<u32>,
    pub(crate) syn: bool,
    pub(crate) fin: bool,
    pub(crate) rst: bool,
    /// The captured data.
    pub(crate) payload: &'a [u8],
    /// Length of the data, including bytes that the capture has cut off.
    pub(crate) carried: usize,
}

/// Whether this link type is supported.
pub(crate) fn is_known(link: i32) -> bool {
    [NULL, ETHERNET, LOOP, LINUX_SLL, LINUX_SLL2].contains(&link) || RAW.contains(&link)
}

/// The TCP segment in a packet; `None` for another protocol.
pub(crate) fn segment(link: i32, data: &[u8]) -> Option<TcpSegment<'_>> {
    let tagged = |at: usize, payload: usize| {
        let protocol = data.get(at..at + 2)?;
        let protocol = EtherType(u16::from_be_bytes([protocol[0], protocol[1]]));
        Some(LaxSlicedPacket::from_ether_type(
            protocol,
            data.get(payload..)?,
        ))
    };
    let packet = match link {
        ETHERNET => LaxSlicedPacket::from_ethernet(data).ok()?,
        LINUX_SLL => tagged(14, 16)?,
        LINUX_SLL2 => tagged(0, 20)?,
        NULL | LOOP => LaxSlicedPacket::from_ip(data.get(4..)?).ok()?,
        link if RAW.contains(&link) => LaxSlicedPacket::from_ip(data).ok()?,
        _ => return None,
    };
    let Some(TransportSlice::Tcp(tcp)) = packet.transport else {
        return None;
    };
    let captured = tcp.payload();
    let header = tcp.header_len();
    let (from, to, stated) = match &packet.net {
        Some(LaxNetSlice::Ipv4(ip)) => {
            let head = ip.header();
            let from = IpAddr::from(head.source_addr());
            let stated = usize::from(head.total_len());
            let heads = usize::from(head.ihl()) * 4 + header;
            // The stated length is zero when the network card segments a large packet of the system.
            let carried = stated.checked_sub(heads).filter(|_| stated > 0);
            (from, IpAddr::from(head.destination_addr()), carried)
        }
        Some(LaxNetSlice::Ipv6(ip)) => {
            let head = ip.header();
            let from = IpAddr::from(head.source_addr());
            let stated = usize::from(head.payload_length());
            let heads = ip.extensions().slice().len() + header;
            let carried = stated.checked_sub(heads).filter(|_| stated > 0);
            (from, IpAddr::from(head.destination_addr()), carried)
        }
        _ => return None,
    };
    let carried = stated.unwrap_or(captured.len());
    Some(TcpSegment {
        from: SocketAddr::new(from, tcp.source_port()),
        to: SocketAddr::new(to, tcp.destination_port()),
        seq: tcp.sequence_number(),
        ack: tcp.ack().then(|| tcp.acknowledgment_number()),
        syn: tcp.syn(),
        fin: tcp.fin(),
        rst: tcp.rst(),
        // Bytes after the packet in its frame are padding, not data.
        payload: &captured[..captured.len().min(carried)],
        carried,
    })
}
