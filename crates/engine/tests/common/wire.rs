//! FIX on the connections of a simulated network.

use fixwire::host::ConnId;
use fixwire::host::sim::{SimNet, Weather};
use fixwire::protocol::{Message, Outbox, Refusal, SessionId, tag};

use super::whole;

/// A network that breaks nothing, whose connections hold so many bytes that are not read.
pub fn calm(room: usize) -> Weather {
    Weather {
        splits: false,
        cuts: false,
        room,
    }
}

/// Writes a message of a FIX 4.2 peer of `ENGINE`.
pub fn write(net: &SimNet, conn: ConnId, from: &str, kind: &str, seq: u64, body: &str) {
    let body = format!("35={kind}|34={seq}|49={from}|52=20260302-08:00:01|56=ENGINE|{body}");
    let bytes = whole("FIX.4.2", &body);
    assert_eq!(net.write(conn, &bytes).unwrap(), bytes.len());
}

/// What has arrived, with `|` for SOH.
pub fn read(net: &SimNet, conn: ConnId) -> String {
    let mut bytes = vec![0; 1 << 16];
    let count = net.read(conn, &mut bytes).unwrap_or(0);
    String::from_utf8_lossy(&bytes[..count]).replace('\x01', "|")
}

/// MsgType, MsgSeqNum and these fields of each message, as far as it has them.
pub fn shown(text: &str, tags: &[&str]) -> Vec<String> {
    let messages = text.split("8=FIX.4.2|").skip(1);
    let shown = messages.map(|message| {
        let value = |tag: &str| {
            let mut fields = message.split('|').filter_map(|field| field.split_once('='));
            let found = fields.find(|(name, _)| *name == tag);
            found.map(|(_, value)| value)
        };
        let wanted = ["35", "34"].iter().chain(tags);
        let values: Vec<_> = wanted.filter_map(|tag| value(tag)).collect();
        values.join(" ")
    });
    shown.collect()
}

/// Sends a message with the ClOrdID of this one.
pub fn answer(
    message: &Message<'_>,
    to: SessionId,
    msg_type: &[u8],
    outbox: &mut Outbox,
) -> Result<(), Refusal> {
    let id = message.get(tag::CL_ORD_ID).unwrap_or_default();
    let mut body = outbox.begin(to, msg_type);
    body.field(tag::CL_ORD_ID, id);
    body.finish().map_err(|_| Refusal::NotAvailable)
}
