//! Events that are part of another event.

use alloc::vec::Vec;

use crate::{Put, Wire};

/// Events that are part of another event. Each of these events is preceded by its length as a `u32`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct NestedEvents<'a>(pub &'a [u8]);

impl<'a> NestedEvents<'a> {
    /// Appends one.
    pub fn push(to: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>)) {
        let start = to.len();
        to.extend_from_slice(&[0; 4]);
        put(to);
        let len = (to.len() - start - 4) as u32;
        to[start..start + 4].copy_from_slice(&len.to_le_bytes());
    }

    /// The bytes of each event; `None` for an event that is not complete.
    pub fn each(self) -> impl Iterator<Item = Option<&'a [u8]>> {
        let mut rest = self.0;
        core::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let len = u32::take(&mut rest).map(|len| len as usize);
            let Some((event, behind)) = len.and_then(|len| rest.split_at_checked(len)) else {
                rest = &[];
                return Some(None);
            };
            rest = behind;
            Some(Some(event))
        })
    }
}

impl<'a> Wire<'a> for NestedEvents<'a> {
    fn put(&self, to: &mut impl Put) {
        (self.0.len() as u32).put(to);
        to.text(self.0);
    }

    fn take(from: &mut &'a [u8]) -> Option<Self> {
        let len = u32::take(from)? as usize;
        let (events, rest) = from.split_at_checked(len)?;
        *from = rest;
        Some(Self(events))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_one_by_one_and_a_cut_one_is_noticed() {
        let mut bytes = Vec::new();
        for event in [&b"one"[..], b"", b"three"] {
            NestedEvents::push(&mut bytes, |to| to.extend_from_slice(event));
        }
        let all: Vec<Option<&[u8]>> = NestedEvents(&bytes).each().collect();
        assert_eq!(all, [Some(&b"one"[..]), Some(b""), Some(b"three")]);
        for cut in 1..bytes.len() {
            let last = NestedEvents(&bytes[..cut]).each().last();
            let is_whole = [7, 11].contains(&cut);
            assert_eq!(last.flatten().is_some(), is_whole, "{cut}");
        }
    }
}
