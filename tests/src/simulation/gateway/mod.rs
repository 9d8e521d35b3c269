//! Worlds in which a gateway dies, judged by the messages that its clients and venues have seen.
//!
//! Two clients send orders, replacements and cancels under the same ids to two venues of different versions, through
//! rules that convert, remember, hold and change. Whichever process dies on the way:
//!
//! * G1: each request is at its venue at most once, in order, or rejected once by the gateway;
//! * G2: each report and answer of a venue is at the client that asked, once;
//! * G3: an id stands for the same request on both sides, and for one request on each side;
//! * G4: values are the sent ones, as converted by one set of rules that held at that time;
//! * G5: no side rejects a valid message.

mod client;
mod judge;
pub mod market;
mod venue;
pub mod world;

use std::fmt;

/// The instruments traded at each venue.
const SYMBOLS: [&str; 2] = ["VOD", "SAP"];

/// The rules of all gateways here; rules of the same number write that number into each request.
fn rules(number: u64) -> String {
    let change =
        format!("'remember Account', 'remove Account', 'set SecurityDesc \"{number}\"', 'convert'");
    format!(
        "[[rule]]\nfrom = ['ANNA', 'BERT']\nwhen = 'Symbol = \"VOD\"'\ndo = [{change}, 'send FIRST']\n\
         [[rule]]\nfrom = ['ANNA', 'BERT']\ndo = [{change}, 'send SECOND']\n\
         [[rule]]\nfrom = ['FIRST', 'SECOND']\nwhen = 'MsgType = 8'\n\
         do = ['recall Account', 'convert', 'return']\n\
         [[rule]]\nfrom = ['FIRST', 'SECOND']\ndo = ['convert', 'return']\n"
    )
}

/// The name of a request, in a text that the gateway does not change: `A3.1` is the second request about the fourth
/// order of client A.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
struct Token {
    client: char,
    order: usize,
    request: usize,
}

impl Token {
    fn parse(text: &[u8]) -> Option<Self> {
        let text = str::from_utf8(text).ok()?;
        let client = text.chars().next()?;
        let (order, request) = text[client.len_utf8()..].split_once('.')?;
        Some(Self {
            client,
            order: order.parse().ok()?,
            request: request.parse().ok()?,
        })
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}.{}", self.client, self.order, self.request)
    }
}
