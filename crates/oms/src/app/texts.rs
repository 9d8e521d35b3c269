//! Texts in the language of a client: EncodedText(355) in addition to Text(58).

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use fixwire_protocol::tag;

use fixwire_protocol::Outbox;
use fixwire_protocol::dictionary::Version;

use crate::values::fields::carried::each_field;
use crate::values::rules::RiskRules;
use crate::values::show::digits;
use crate::values::texts::TextTable;

const SOH: u8 = 1;
/// The header field MessageEncoding(347), which comes before the fields of the body.
const MESSAGE_ENCODING: &[u8] = b"347=UTF-8\x01";

/// Languages of clients.
#[derive(Debug)]
pub(super) struct Languages {
    texts: TextTable,
    /// By engine session: the session's language and FIX version, if it has a language.
    sessions: Vec<Option<(String, Version)>>,
    /// Buffer for the translated text.
    said: Vec<u8>,
    /// Buffer for the message body with the translated text.
    body: Vec<u8>,
}

impl Languages {
    /// Languages of the clients with these names and versions; `None` when no client has a language.
    pub(super) fn new<'a>(
        rules: &RiskRules,
        sessions: impl Iterator<Item = (&'a str, Version)>,
    ) -> Option<Box<Self>> {
        let of = |(name, version): (&str, Version)| {
            let user = rules.users.iter().find(|it| it.session == name)?;
            // FIX 4.1 has no EncodedText(355).
            let can = version >= Version::Fix42;
            let language = user.language.clone().filter(|_| can)?;
            Some((language, version))
        };
        let sessions: Vec<_> = sessions.map(of).collect();
        sessions.iter().any(Option::is_some).then(|| {
            Box::new(Self {
                texts: rules.texts.clone(),
                sessions,
                said: Vec::new(),
                body: Vec::new(),
            })
        })
    }

    /// Adds the translation of Text(58) to unsealed messages, from entry `from` of the outbox on. Messages without
    /// Text(58), or with a translation already, stay unchanged.
    #[cold]
    pub(super) fn translate(&mut self, from: usize, outbox: &mut Outbox) {
        let Self {
            texts,
            sessions,
            said,
            body,
        } = self;
        outbox.rewrite(from, body, |entry, old, new| {
            let session = sessions.get(entry.session.0 as usize);
            let Some(Some((language, version))) = session else {
                return;
            };
            if !has_encoded_text(entry.msg_type(), *version) {
                return;
            }
            let Some((text, end)) = text_of(old) else {
                return;
            };
            said.clear();
            if !texts.translate(language, text, said) {
                return;
            }
            new.extend_from_slice(MESSAGE_ENCODING);
            new.extend_from_slice(&old[..end]);
            for (tag, value) in [
                (tag::ENCODED_TEXT_LEN, digits(said.len() as u64).bytes()),
                (tag::ENCODED_TEXT, said.as_slice()),
            ] {
                new.extend_from_slice(digits(tag.into()).bytes());
                new.push(b'=');
                new.extend_from_slice(value);
                new.push(SOH);
            }
            new.extend_from_slice(&old[end..]);
        });
    }
}

/// FIX 4.2 and 4.3 have no EncodedText(355) in QuoteAcknowledgement(b), and 4.2 none in SecurityStatus(f).
fn has_encoded_text(msg_type: &[u8], version: Version) -> bool {
    match msg_type {
        b"b" => version >= Version::Fix44,
        b"f" => version >= Version::Fix43,
        _ => true,
    }
}

/// Text(58) of a body, and the offset at which the field ends; `None` when the body already has an EncodedText(355).
fn text_of(body: &[u8]) -> Option<(&[u8], usize)> {
    let (mut at, mut found) = (0, None);
    for field in each_field(body) {
        at += field.bytes.len();
        match field.tag {
            tag::TEXT => found = found.or(Some((field.value, at))),
            347 | tag::ENCODED_TEXT_LEN => return None,
            _ => {}
        }
    }
    found
}
