//! Packets of a capture: pcap with microseconds or nanoseconds, and pcapng. Each may have either byte order.

use fixwire_protocol::Timestamp;
use pcap_parser::pcapng::Block as PcapNgBlock;
use pcap_parser::{
    PcapHeader, parse_block_be, parse_block_le, parse_pcap_frame, parse_pcap_frame_be,
    parse_pcap_header,
};

use crate::packet;
use crate::zone::SECOND;

/// Size of the longest packet or block, bytes.
const LONGEST: usize = 16 << 20;
/// Size of the file header of a pcap capture, bytes.
const PCAP_HEADER: usize = 24;
/// Size of the header of one packet in a pcap capture, bytes.
const PCAP_FRAME: usize = 16;
/// Bytes of a pcapng block's type and length, and of a section's byte order mark.
const PCAPNG_HEAD: usize = 12;
/// Type of the block that begins a section, in either byte order.
const SECTION: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// The byte order of a section, if little-endian.
const LITTLE: [u8; 4] = [0x4d, 0x3c, 0x2b, 0x1a];
const BIG: [u8; 4] = [0x1a, 0x2b, 0x3c, 0x4d];
/// Maximum number of interfaces of a section.
const MOST_INTERFACES: usize = 4096;
const READ: usize = 1 << 18;

/// The next part of a capture.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Block {
    /// A packet. [`Blocks::data`] returns the bytes of this part.
    Packet {
        link: i32,
        time: Timestamp,
        number: u64,
    },
    /// A block that is not a packet.
    Other,
}

/// Bytes that are not a block. The length of these bytes is unknown, so nothing after them can be read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Unreadable {
    pub(crate) at: u64,
    pub(crate) len: Option<u64>,
    pub(crate) why: String,
}

/// Splits a capture into packets.
#[derive(Default)]
pub(crate) struct Blocks {
    window: Vec<u8>,
    filled: usize,
    at: usize,
    /// The position of the window's first byte in the capture.
    base: u64,
    layout: Option<Layout>,
    packets: u64,
    data: (usize, usize),
    /// Link types of packets that are not supported, each reported once.
    refused: Vec<i32>,
}

enum Layout {
    Pcap(PcapHeader),
    PcapNg {
        big: bool,
        interfaces: Vec<Interface>,
    },
}

#[derive(Clone, Copy)]
struct Interface {
    link: i32,
    /// Units of time per second; 0 when the value is invalid.
    resolution: u64,
    /// Seconds to add.
    offset: i64,
}

impl Blocks {
    /// The buffer for the next read.
    pub(crate) fn room(&mut self) -> &mut [u8] {
        self.window.copy_within(self.at..self.filled, 0);
        self.base += self.at as u64;
        self.filled -= self.at;
        self.at = 0;
        let wanted = self.filled + READ.max(self.filled);
        if self.window.len() < self.filled + READ {
            self.window.resize(wanted, 0);
        }
        &mut self.window[self.filled..]
    }

    /// Records that this number of bytes was read into the buffer.
    pub(crate) fn filled(&mut self, len: usize) {
        self.filled += len;
    }

    /// The position of the next block in the capture.
    pub(crate) fn place(&self) -> u64 {
        self.base + self.at as u64
    }

    /// The bytes of the packet that was found.
    pub(crate) fn data(&self) -> &[u8] {
        &self.window[self.data.0..self.data.1]
    }

    /// Stops reading.
    pub(crate) fn stop(&mut self) {
        self.at = self.filled;
    }

    /// The next block; `None` when more bytes are needed.
    pub(crate) fn next(&mut self, ended: bool) -> Result<Option<Block>, Unreadable> {
        let rest = &self.window[self.at..self.filled];
        if ended && rest.is_empty() {
            return Ok(None);
        }
        let result = match &mut self.layout {
            None => begin(rest),
            Some(Layout::Pcap(header)) => pcap(rest, header),
            Some(Layout::PcapNg { big, interfaces }) => pcapng(rest, big, interfaces),
        };
        let wrong = |why: &str, len| {
            let (at, why) = (self.base + self.at as u64, why.to_owned());
            Unreadable { at, len, why }
        };
        let part = match result {
            Ok(Some(part)) => part,
            Ok(None) if ended => {
                let cut = wrong("the capture ends within a packet", Some(rest.len() as u64));
                self.stop();
                return Err(cut);
            }
            Ok(None) => return Ok(None),
            Err(why) => {
                let unreadable = wrong(&format!("{why}: the rest is not read"), None);
                self.stop();
                return Err(unreadable);
            }
        };
        let start = self.at;
        self.at += part.len;
        if let Some(layout) = part.layout {
            self.layout = Some(layout);
        }
        let Some(found) = part.packet else {
            return Ok(Some(Block::Other));
        };
        self.packets += 1;
        self.data = (start + found.data.0, start + found.data.1);
        if !packet::is_known(found.link) {
            if self.refused.contains(&found.link) {
                return Ok(Some(Block::Other));
            }
            self.refused.push(found.link);
            return Err(Unreadable {
                at: self.base + start as u64,
                len: Some(part.len as u64),
                why: format!(
                    "a packet of link type {}: packets of this link type are not read",
                    found.link
                ),
            });
        }
        Ok(Some(Block::Packet {
            link: found.link,
            time: found.time,
            number: self.packets,
        }))
    }
}

/// A part of a capture.
struct Part {
    len: usize,
    layout: Option<Layout>,
    packet: Option<Found>,
}

struct Found {
    link: i32,
    time: Timestamp,
    /// Range of the packet's bytes in the part.
    data: (usize, usize),
}

fn begin(rest: &[u8]) -> Result<Option<Part>, String> {
    if rest.len() < PCAPNG_HEAD {
        return Ok(None);
    }
    if rest.starts_with(&SECTION) {
        let layout = Layout::PcapNg {
            big: false,
            interfaces: Vec::new(),
        };
        return Ok(Some(Part {
            len: 0,
            layout: Some(layout),
            packet: None,
        }));
    }
    if rest.len() < PCAP_HEADER {
        return Ok(None);
    }
    let (_, header) = parse_pcap_header(&rest[..PCAP_HEADER]).map_err(|_| {
        "an invalid header of a \
            capture"
            .to_owned()
    })?;
    Ok(Some(Part {
        len: PCAP_HEADER,
        layout: Some(Layout::Pcap(header)),
        packet: None,
    }))
}

fn pcap(rest: &[u8], header: &PcapHeader) -> Result<Option<Part>, String> {
    let Some(length) = rest.get(8..12) else {
        return Ok(None);
    };
    let captured = number(length, header.is_bigendian());
    let len = PCAP_FRAME.saturating_add(captured);
    if len > LONGEST {
        return Err(format!("a packet with an invalid length, {captured} bytes"));
    }
    let Some(whole) = rest.get(..len) else {
        return Ok(None);
    };
    let parsed = match header.is_bigendian() {
        true => parse_pcap_frame_be(whole),
        false => parse_pcap_frame(whole),
    };
    let (_, frame) = parsed.map_err(|error| format!("an invalid packet: {error:?}"))?;
    let unit = if header.is_nanosecond_precision() {
        1
    } else {
        1000
    };
    let time = i64::from(frame.ts_sec) * SECOND + i64::from(frame.ts_usec) * unit;
    Ok(Some(Part {
        len,
        layout: None,
        packet: Some(Found {
            // The upper half says whether frames end with a checksum; it is not part of the link type.
            link: header.network.0 & 0xffff,
            time: Timestamp(time),
            data: (PCAP_FRAME, len),
        }),
    }))
}

fn number(bytes: &[u8], big: bool) -> usize {
    let bytes = bytes.try_into().unwrap_or_default();
    let number = if big {
        u32::from_be_bytes(bytes)
    } else {
        u32::from_le_bytes(bytes)
    };
    number as usize
}

fn pcapng(
    rest: &[u8],
    big: &mut bool,
    interfaces: &mut Vec<Interface>,
) -> Result<Option<Part>, String> {
    let Some(head) = rest.get(..PCAPNG_HEAD) else {
        return Ok(None);
    };
    if head.starts_with(&SECTION) {
        // Each section has a byte order of its own and interfaces of its own.
        *big = match head[8..].try_into().unwrap_or_default() {
            LITTLE => false,
            BIG => true,
            _ => return Err("a section without a valid byte order".to_owned()),
        };
        interfaces.clear();
    }
    let len = number(&head[4..8], *big);
    if !(PCAPNG_HEAD..=LONGEST).contains(&len) || !len.is_multiple_of(4) {
        return Err(format!("a block with an invalid length, {len} bytes"));
    }
    let Some(whole) = rest.get(..len) else {
        return Ok(None);
    };
    let parsed = if *big {
        parse_block_be(whole)
    } else {
        parse_block_le(whole)
    };
    let (_, block) = parsed.map_err(|_| "an invalid block".to_owned())?;
    let place = |data: &[u8], captured: u32| {
        let start = data.as_ptr().addr() - whole.as_ptr().addr();
        (start, start + data.len().min(captured as usize))
    };
    let packet = match &block {
        PcapNgBlock::InterfaceDescription(described) => {
            if interfaces.len() >= MOST_INTERFACES {
                return Err("more interfaces than 4096".to_owned());
            }
            interfaces.push(Interface {
                link: described.linktype.0 & 0xffff,
                resolution: described.ts_resolution().unwrap_or(0),
                offset: described.if_tsoffset,
            });
            None
        }
        PcapNgBlock::EnhancedPacket(packet) => {
            let interface = interfaces.get(packet.if_id as usize);
            let interface = interface.ok_or("a packet of an interface without a description")?;
            let ticks = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
            Some(Found {
                link: interface.link,
                time: interface.moment(ticks),
                data: place(packet.data, packet.caplen),
            })
        }
        PcapNgBlock::SimplePacket(packet) => {
            let interface = interfaces.first();
            let interface = interface.ok_or("a packet of an interface without a description")?;
            Some(Found {
                link: interface.link,
                time: Timestamp(0),
                data: place(packet.data, packet.origlen),
            })
        }
        _ => None,
    };
    Ok(Some(Part {
        len,
        layout: None,
        packet,
    }))
}

impl Interface {
    fn moment(&self, ticks: u64) -> Timestamp {
        let Some(seconds) = ticks.checked_div(self.resolution) else {
            return Timestamp(0);
        };
        let rest = u128::from(ticks % self.resolution) * SECOND as u128;
        let nanos = (rest / u128::from(self.resolution)) as i64;
        let seconds = i64::try_from(seconds)
            .unwrap_or(0)
            .saturating_add(self.offset);
        Timestamp(seconds.saturating_mul(SECOND).saturating_add(nanos))
    }
}
