//! Masks the values of secret fields, such as Password(554), in displayed texts.

use std::collections::BTreeSet;

use fixwire_protocol::Tag;
use fixwire_protocol::readable::is_secret as is_secret_of_fix;

use crate::tmp::fields;

/// The mask of a secret value.
pub(crate) const MASK: &str = "***";

/// Whether the value of a field is secret.
pub(crate) fn is_secret(tag: Tag) -> bool {
    is_secret_of_fix(tag) || fields::is_secret(tag)
}

/// Values that a plan has read from secret fields. These values are masked in all other fields too.
#[derive(Clone, Debug, Default)]
pub(crate) struct Secrets(BTreeSet<String>);

impl Secrets {
    /// Shorter secrets are masked only where they are the whole value. Otherwise short secrets would mask too much.
    const SHORT: usize = 4;

    pub(crate) fn add(&mut self, secret: &str) {
        if !secret.is_empty() {
            self.0.insert(secret.to_owned());
        }
    }

    /// Whether a value is or contains one of the secrets.
    pub(crate) fn has(&self, text: &str) -> bool {
        let mut all = self.0.iter();
        all.any(|it| it == text || (it.len() >= Self::SHORT && text.contains(it.as_str())))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The value of a field, or the mask if the value is secret.
    pub(crate) fn masked<'a>(&self, tag: Tag, text: &'a str) -> &'a str {
        if self.has(text) {
            MASK
        } else {
            masked(tag, text)
        }
    }
}

/// The value of a field; masked for a secret field.
pub(crate) fn masked(tag: Tag, text: &str) -> &str {
    if is_secret(tag) { MASK } else { text }
}

/// The text of a step with its secret values masked. Fields are separated by `|`; in an order client command, by
/// blanks.
pub(crate) fn masked_step(text: &str, is_command: bool) -> String {
    let ends_value = |c: char| {
        if is_command {
            c.is_whitespace()
        } else {
            c == '|'
        }
    };
    let begins_field = |c: char| c.is_whitespace() || ends_value(c);
    let (mut shown, mut rest) = (String::new(), text);
    loop {
        let equals = rest.find('=').filter(|equals| {
            let tag = &rest[..*equals];
            tag.parse()
                .map_or(fields::tag_of(tag).is_some_and(is_secret), is_secret)
        });
        let end = match equals {
            Some(equals) => {
                let length = rest[equals..].find(ends_value);
                let end = length.map_or(rest.len(), |length| equals + length);
                let value = &rest[equals + 1..end];
                // A reference to another value is not secret, and neither is a pattern without text.
                let is_open = matches!(value, "*" | "(none)")
                    || value.starts_with(['$', '@'])
                    || (rest.starts_with(fields::KEY_VALUE) && value == fields::WRONG);
                shown += &rest[..=equals];
                shown += if is_open { value } else { MASK };
                end
            }
            None => {
                let end = rest.find(begins_field).unwrap_or(rest.len());
                shown += &rest[..end];
                end
            }
        };
        rest = &rest[end..];
        let Some(separator) = rest.chars().next() else {
            return shown;
        };
        shown.push(separator);
        rest = &rest[separator.len_utf8()..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_of_a_step_are_masked() {
        for (text, is_command, shown) in [
            (
                "logon 554=old one|925=new|553=me",
                false,
                "logon 554=***|925=***|553=me",
            ),
            (
                "expect within 2s 35=BF|554=*|925=(none)|96=@1|1402=$x",
                false,
                "expect within 2s 35=BF|554=*|925=(none)|96=@1|1402=$x",
            ),
            ("send 35=BE|554=\\$A", false, "send 35=BE|554=***"),
            ("send 35=BE|0554=a=b", false, "send 35=BE|0554=***"),
            ("send 35=D|58=554=x", false, "send 35=D|58=554=x"),
            (
                "new buy 100 VOD 554=a|b 58=c",
                true,
                "new buy 100 VOD 554=*** 58=c",
            ),
            ("log-out Ende ü", false, "log-out Ende ü"),
        ] {
            assert_eq!(masked_step(text, is_command), shown);
        }
        assert_eq!((masked(554, "x"), masked(58, "x")), ("***", "x"));
    }
}
