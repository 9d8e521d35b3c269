//! The application that public conformance suites expect of an acceptor.

use std::collections::{HashSet, VecDeque};

use fixwire_protocol::{
    Application, Message, Now, Outbox, PeerLogout, Refusal, SessionId, Tag, tag,
};

/// Echoes orders, security definitions, mails and quote requests. Answers a News(B) that requests an echo.
///
/// An order with PossResend(97) = Y is not echoed if its ClOrdID(11) was already received on this session since the
/// logon.
#[derive(Debug, Default)]
pub struct Conformance {
    /// ClOrdIDs by session.
    seen: Vec<Seen>,
}

/// ClOrdIDs(11) of a session. The oldest is removed first.
#[derive(Debug, Default)]
struct Seen {
    ids: HashSet<Box<[u8]>>,
    order: VecDeque<Box<[u8]>>,
}

/// Maximum number of ClOrdIDs kept for a session.
const REMEMBERED: usize = 100_000;
/// Maximum length of a ClOrdID(11) that is kept, in bytes.
const LONGEST_ID: usize = 256;

impl Seen {
    fn remember(&mut self, id: &[u8]) {
        if id.len() > LONGEST_ID || self.ids.contains(id) {
            return;
        }
        if self.order.len() == REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
        self.ids.insert(id.into());
        self.order.push_back(id.into());
    }
}

impl Application for Conformance {
    fn on_message(
        &mut self,
        _now: Now,
        from: SessionId,
        message: &Message<'_>,
        outbox: &mut Outbox,
    ) -> Result<(), Refusal> {
        match message.msg_type() {
            b"D" => {
                let id = message.get(tag::CL_ORD_ID).unwrap_or_default();
                let seen = self.seen(from);
                if message.is_poss_resend() && seen.ids.contains(id) {
                    return Ok(());
                }
                seen.remember(id);
                echo(from, message, outbox)
            }
            b"d" | b"C" | b"R" => echo(from, message, outbox),
            b"B" => news(from, message, outbox),
            b"AD" => Ok(()),
            _ => Err(Refusal::UnsupportedMessageType),
        }
    }

    fn on_logout(&mut self, _now: Now, session: SessionId, _logout: PeerLogout<'_>) {
        *self.seen(session) = Seen::default();
    }
}

impl Conformance {
    fn seen(&mut self, session: SessionId) -> &mut Seen {
        let index = session.0 as usize;
        if self.seen.len() <= index {
            self.seen.resize_with(index + 1, Seen::default);
        }
        &mut self.seen[index]
    }
}

/// Sends a message back as a new message, with every field of its body unchanged and in order.
fn echo(to: SessionId, message: &Message<'_>, outbox: &mut Outbox) -> Result<(), Refusal> {
    let mut body = outbox.begin(to, message.msg_type());
    if message.is_poss_resend() {
        body.bool(tag::POSS_RESEND, true);
    }
    let fields = message.fields();
    let mut at = 0;
    while at < fields.len() {
        let run = fields[at..]
            .iter()
            .take_while(|field| !frames(field.tag))
            .count();
        if run > 0 {
            body.copy(message, at..at + run);
        }
        at += run + 1;
    }
    body.finish().map_err(|_| Refusal::NotAvailable)
}

/// Answers a News(B) whose Headline(148) is `echo: text` by a News with the Headline `text`.
fn news(to: SessionId, message: &Message<'_>, outbox: &mut Outbox) -> Result<(), Refusal> {
    let headline = message.get(tag::HEADLINE).unwrap_or_default();
    let text = match headline.strip_prefix(b"echo:") {
        Some(text) => text.trim_ascii_start(),
        None => return Err(Refusal::UnsupportedMessageType),
    };
    if text.is_empty() {
        return Err(Refusal::ValueOutOfRange(tag::HEADLINE));
    }
    let mut body = outbox.begin(to, b"B");
    if let Some(encoding) = message.get(tag::MESSAGE_ENCODING) {
        body.field(tag::MESSAGE_ENCODING, encoding);
    }
    body.field(tag::HEADLINE, text);
    if let Some(encoded) = message.get(tag::ENCODED_HEADLINE) {
        body.data(tag::ENCODED_HEADLINE_LEN, tag::ENCODED_HEADLINE, encoded);
    }
    body.finish().map_err(|_| Refusal::NotAvailable)
}

/// Whether a field belongs to the standard header or trailer, of any version.
fn frames(tag: Tag) -> bool {
    matches!(
        tag,
        8 | 9
            | 10
            | 34
            | 35
            | 43
            | 49
            | 50
            | 52
            | 56
            | 57
            | 89
            | 90
            | 91
            | 93
            | 97
            | 115
            | 116
            | 122
            | 128
            | 129
            | 142
            | 143
            | 144
            | 145
            | 212
            | 213
            | 347
            | 369
            | 370
            | 627..=630 | 1128 | 1129 | 1156
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::tests::answer;

    const ORDER: &str =
        "8=FIX.4.4|9=5|35=D|34=2|49=A|52=t|56=B|11=X|55=S|453=1|448=P|58=a b|10=000|";

    #[test]
    fn an_order_comes_back_unchanged_and_in_order() {
        let said = answer(&mut Conformance::default(), ORDER).unwrap();
        assert_eq!(said, ["D 11=X|55=S|453=1|448=P|58=a b|"]);
    }

    #[test]
    fn an_order_sent_again_is_answered_once_until_logout() {
        let mut app = Conformance::default();
        let again = ORDER.replace("34=2|", "34=2|97=Y|43=Y|122=t|");
        assert_eq!(
            answer(&mut app, &again).unwrap(),
            ["D 97=Y|11=X|55=S|453=1|448=P|58=a b|"]
        );
        assert!(answer(&mut app, &again).unwrap().is_empty());
        assert_eq!(
            answer(&mut app, ORDER).unwrap().len(),
            1,
            "no PossResend: a new order"
        );
        app.on_logout(Now::default(), SessionId(0), PeerLogout::NONE);
        assert_eq!(answer(&mut app, &again).unwrap().len(), 1);
    }

    #[test]
    fn news_is_answered_when_it_asks_for_it() {
        let mut app = Conformance::default();
        let news = |headline: &str| format!("8=FIX.4.4|9=5|35=B|148={headline}|33=1|58=x|10=000|");
        assert_eq!(
            answer(&mut app, &news("echo: hello you")).unwrap(),
            ["B 148=hello you|"]
        );
        let unsupported = Err(Refusal::UnsupportedMessageType);
        assert_eq!(answer(&mut app, &news("hello")), unsupported);
    }

    #[test]
    fn other_messages_are_taken_echoed_or_refused() {
        let mut app = Conformance::default();
        let text = |kind: &str| format!("8=FIX.4.4|9=5|35={kind}|34=2|1=a|10=000|");
        for echoed in ["d", "C", "R"] {
            assert_eq!(
                answer(&mut app, &text(echoed)).unwrap(),
                [format!("{echoed} 1=a|")]
            );
        }
        assert!(answer(&mut app, &text("AD")).unwrap().is_empty());
        assert_eq!(
            answer(&mut app, &text("8")),
            Err(Refusal::UnsupportedMessageType)
        );
    }

    #[test]
    fn what_a_peer_makes_it_remember_is_bounded() {
        let mut seen = Seen::default();
        for n in 0..REMEMBERED + 10 {
            seen.remember(n.to_string().as_bytes());
        }
        seen.remember(&[b'x'; LONGEST_ID + 1]);
        assert_eq!((seen.ids.len(), seen.order.len()), (REMEMBERED, REMEMBERED));
        assert!(!seen.ids.contains(&b"0"[..]));
    }
}
