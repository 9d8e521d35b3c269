//! The state of an application: its bytes for a checkpoint, and its hash. The same function makes the bytes and the
//! hash.

use alloc::vec::Vec;
use core::hash::Hasher as _;

use siphasher::sip::SipHasher24;

use crate::{Put, Wire};

/// A piece is passed on when it has at least this number of bytes.
const PIECE: usize = 4096;

/// Collects bytes and passes them on in pieces.
pub struct Pieces<'p> {
    give: &'p mut dyn FnMut(&[u8]),
    bytes: Vec<u8>,
}

impl Put for Pieces<'_> {
    fn some<const N: usize>(&mut self, bytes: [u8; N]) {
        self.text(&bytes);
    }

    fn text(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() >= PIECE {
            (self.give)(&self.bytes);
            self.bytes.clear();
        }
    }
}

/// Passes the bytes of a state to `give`, in pieces; `put` puts the whole state.
pub fn write_state(give: &mut dyn FnMut(&[u8]), put: impl FnOnce(&mut Pieces<'_>)) {
    let mut pieces = Pieces {
        give,
        bytes: Vec::with_capacity(2 * PIECE),
    };
    put(&mut pieces);
    (pieces.give)(&pieces.bytes);
}

/// The hash of a state. Equal bytes have equal hashes, in every process of this version.
pub fn state_hash(put: impl FnOnce(&mut Pieces<'_>)) -> u64 {
    let mut hasher = SipHasher24::new();
    write_state(&mut |bytes| hasher.write(bytes), put);
    hasher.finish()
}

/// The value that these bytes encode. `None` if the bytes are not complete, have more bytes at the end, or encode a
/// value of another type.
pub fn whole<'a, T: Wire<'a>>(mut bytes: &'a [u8]) -> Option<T> {
    let value = T::take(&mut bytes)?;
    bytes.is_empty().then_some(value)
}
