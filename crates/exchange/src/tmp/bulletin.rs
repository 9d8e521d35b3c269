//! A bulletin as an R14.

use alloc::string::String;
use alloc::vec::Vec;

use fixwire_tmp::messages::R14;
use fixwire_tmp::{SystemType, TmpHeader, TmpLayout, TmpStatus, TmpTime};

/// A bulletin of an operator.
#[derive(Clone, Debug)]
pub(crate) struct KeptBulletin {
    pub(crate) number: u32,
    pub(crate) time: TmpTime,
    pub(crate) text: String,
}

impl KeptBulletin {
    /// The R14 for this request. An unsolicited R14 has request number 0.
    pub(crate) fn frame(
        &self,
        fcm_req_id: u32,
        status: TmpStatus,
        system_type: SystemType,
    ) -> Vec<u8> {
        frame(&R14 {
            status,
            fcm_req_id,
            bulletin_seq: self.number,
            time: self.time,
            system_type,
            data: self.text.as_bytes(),
        })
    }
}

/// An R14 as a frame whose header is empty.
pub(crate) fn frame(bulletin: &R14<'_>) -> Vec<u8> {
    let mut frame = alloc::vec![0; R14::SIZE + bulletin.data.len()];
    let encoded = bulletin.encode(&TmpHeader::default(), &mut frame);
    debug_assert!(encoded.is_ok(), "it has its length");
    frame
}
