//! Certification of a venue: a plan of numbered cases, played over a socket, with the bytes as evidence.
//!
//! ```text
//! text > CertificationPlan::parse > CasePlayer::play > CaseResult      one for each case
//!                                        |  > RawSession (FIX), TmpSession (TMP) > VenueLine > the venue
//!                                        v
//!                                   EvidenceFolder                     a file for each case, and an index
//! ```
//!
//! The session does not use the engine, because a certification sends messages that an engine never sends, such as a
//! wrong CheckSum(10), a gap, or a Logon with a wrong MsgSeqNum. Only a TMP login for which the case has no steps
//! uses the real link.
#![forbid(unsafe_code)]

mod evidence;
mod field_names;
mod fix_session;
mod ids;
mod masking;
mod parse;
mod plan;
mod player;
mod raw_session;
mod record;
mod result;
mod scope;
mod selection;
mod session;
mod tmp;
mod value;
mod venue_line;
mod wire_message;

pub use evidence::EvidenceFolder;
pub use plan::{
    CertificationCase, CertificationPlan, Expectation, MessagePattern, Outgoing, PlanMistake,
    PlanProtocol, PlanStep, StepAction,
};
pub use player::{CasePlayer, PlayerSetup, StartNumbers, VenueSession};
pub use result::{CaseResult, CaseVerdict, Totals};
pub use selection::{CaseSelection, SelectionError};
pub use value::{ExpectedValue, SentValue};
