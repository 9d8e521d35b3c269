//! Reads the messages in the data of L41, which may end in the middle of a message.

use alloc::vec::Vec;

use crate::error::{FrameError, TmpExpectedValue};
use crate::frame::TmpFrame;
use crate::header::FRAME_BYTES_LEAST;
use crate::link::end::LinkEnd;
use crate::wire::WireField;

/// The incomplete message with which the last block ended. The incomplete message is shorter than the longest frame.
#[derive(Clone, Default)]
pub(crate) struct BlockTail(Vec<u8>);

impl BlockTail {
    /// Number of bytes of the incomplete message.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Reads the next block: passes on each complete message, and keeps the rest.
    pub fn read(
        &mut self,
        data: &[u8],
        mut each: impl FnMut(&TmpFrame<'_>) -> Result<(), LinkEnd>,
    ) -> Result<(), LinkEnd> {
        if self.0.is_empty() {
            let rest = walk(data, &mut each)?;
            self.0.extend_from_slice(rest);
            return Ok(());
        }
        self.0.extend_from_slice(data);
        let rest = walk(&self.0, &mut each)?.len();
        self.0.drain(..self.0.len() - rest);
        Ok(())
    }
}

/// Passes on the complete messages; returns the bytes after them.
fn walk<'a>(
    mut bytes: &'a [u8],
    each: &mut impl FnMut(&TmpFrame<'_>) -> Result<(), LinkEnd>,
) -> Result<&'a [u8], LinkEnd> {
    while let Some(length) = bytes.get(..2) {
        let total = usize::from(u16::get(length)) + 3;
        if total < FRAME_BYTES_LEAST {
            return Err(LinkEnd::BadFrame(FrameError {
                message: "frame in L41",
                field: "msg_length",
                at: 0,
                found: (total - 3) as u64,
                expected: TmpExpectedValue::AtLeast((FRAME_BYTES_LEAST - 3) as u64),
            }));
        }
        let Some(frame) = bytes.get(..total) else {
            break;
        };
        each(&TmpFrame::read(frame).map_err(LinkEnd::BadFrame)?)?;
        bytes = &bytes[total..];
    }
    Ok(bytes)
}
