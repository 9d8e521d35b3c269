//! Validates the fields of a message against the session's dictionary.

use alloc::sync::Arc;

use super::receive::Marks;
use super::reject::Objection;
use super::{ApplVerId, Config, Session, is_admin};
use crate::dictionary::{Dictionary, RejectReason, validate};
use crate::{Message, tag};

impl Session {
    /// The first fault in the message's fields.
    pub(super) fn find_fault<'a>(&mut self, message: &Message<'a>) -> Result<(), Objection<'a>> {
        let dictionary = match self.config.appl_dictionaries.is_empty() {
            true => self.config.dictionary.as_ref(),
            false => dictionary_of(&self.config, self.peer_version, message)?,
        };
        if let Some(dictionary) = dictionary {
            return match validate::check(dictionary, message, &self.config.rules, &mut self.scratch)
            {
                Err(_) if !self.config.reject_invalid_message && message.fault().is_none() => {
                    Ok(())
                }
                found => found.map_err(|fault| Objection::from_fault(message, fault)),
            };
        }
        match message.fault() {
            Some(fault) => Err(Objection::from_form(message, fault)),
            None => Ok(()),
        }
    }
}

/// The dictionary for the version of a message: the version in ApplVerID(1128) of the message, or without that field,
/// DefaultApplVerID(1137) of the peer's Logon.
///
/// # Source
///
/// FIXT 1.1, application versioning: ApplVerID of the message comes before DefaultApplVerID of the
/// Logon. An unsupported version is SessionRejectReason(373) = 18.
fn dictionary_of<'c, 'a>(
    config: &'c Config,
    of_peer: Option<ApplVerId>,
    message: &Message<'a>,
) -> Result<Option<&'c Arc<Dictionary>>, Objection<'a>> {
    if is_admin(message.msg_type()) {
        return Ok(config.dictionary.as_ref());
    }
    let named = message.get(tag::APPL_VER_ID);
    let version = match named {
        Some(text) => ApplVerId::parse(text),
        None => of_peer.or(config.default_appl_ver_id),
    };
    if version == config.default_appl_ver_id {
        return Ok(config.dictionary.as_ref());
    }
    let mut others = config.appl_dictionaries.iter();
    match others.find(|(other, _)| Some(*other) == version) {
        Some((_, dictionary)) => Ok(Some(dictionary)),
        None => Err(Objection::to_tag(
            RejectReason::InvalidApplicationVersion,
            tag::APPL_VER_ID,
        )),
    }
}

/// Checks the fields that the session itself needs. The session makes these checks with or without a dictionary.
pub(super) fn check_own_needs<'a>(
    message: &Message<'a>,
    marks: &Marks<'_>,
) -> Result<(), Objection<'a>> {
    let all = [marks.sender, marks.target, marks.sending_time].map(Option::unwrap_or_default);
    let there = all.iter().all(|value| !value.is_empty()) && matches!(marks.sent, Some(Ok(_)));
    match message.msg_type() {
        b"" | b"1" => find_own_need(message, marks),
        _ if there => Ok(()),
        _ => find_own_need(message, marks),
    }
}

/// Finds the first fault of a message among the fields that the session needs.
#[cold]
fn find_own_need<'a>(message: &Message<'a>, marks: &Marks<'_>) -> Result<(), Objection<'a>> {
    for (tag, value) in [
        (tag::MSG_TYPE, message.get(tag::MSG_TYPE)),
        (tag::SENDER_COMP_ID, marks.sender),
        (tag::TARGET_COMP_ID, marks.target),
        (tag::SENDING_TIME, marks.sending_time),
    ] {
        match value {
            None => return Err(Objection::to_tag(RejectReason::RequiredTagMissing, tag)),
            Some(b"") => return Err(Objection::to_tag(RejectReason::TagWithoutValue, tag)),
            Some(_) => {}
        }
    }
    if marks.sent.is_some_and(|sent| sent.is_err()) {
        let tag = tag::SENDING_TIME;
        return Err(Objection::to_tag(RejectReason::IncorrectDataFormat, tag));
    }
    if message.msg_type() == b"1" && !message.has(tag::TEST_REQ_ID) {
        let tag = tag::TEST_REQ_ID;
        return Err(Objection::to_tag(RejectReason::RequiredTagMissing, tag));
    }
    Ok(())
}
