//! Reads FIX messages from the files of any engine: text logs, journals, network captures.
//!
//! The type of a source is detected from its content, not from its name. Each message comes with its position, its
//! time and the origin of that time. The session and the direction are given if they are known. Several sources are
//! merged by time. Parts that cannot be read are skipped and reported as [`LeftOut`].
//!
//! ```text
//! let mut reader = LogReader::open(&paths, ReadOptions::default())?;
//! while let LogStep::Message(entry) = reader.next_step() {
//!     entry.bytes, entry.place, entry.time(), entry.direction(), entry.session()
//! }
//! for left_out in reader.take_left_out() { .. }
//! ```
//!
//! Files are read in blocks. Files are never mapped, because truncating a mapped file would kill the reader. Memory is
//! bounded, whatever the content.

#![forbid(unsafe_code)]

mod ahead;
mod anonymise;
mod blocks;
mod capture;
mod covered;
mod diff;
mod entry;
mod export;
mod feed;
mod field;
mod find;
mod gaps;
mod index;
mod index_build;
mod index_choice;
mod index_file;
mod index_key;
mod index_record;
mod input;
mod journal;
mod latency;
mod left_out;
mod open;
mod open_orders;
mod order_entry;
mod order_lives;
mod order_look;
mod order_search;
mod order_step;
mod packet;
#[cfg(feature = "parquet")]
mod parquet_export;
mod places;
mod prefix;
mod reader;
mod same_shape;
mod scan;
mod short_query;
mod summary;
mod tcp;
mod text;
mod validate;
mod zone;

pub use anonymise::{Anonymiser, NotAnonymised};
pub use covered::covered;
pub use diff::{DiffFinding, DiffMessage, DiffSide, FieldDifference, LogDiff};
pub use entry::{LogEntry, LogPlace, MessageHead, TimeSource};
pub use export::ExportColumns;
pub use gaps::{LogGaps, SenderSequence, SequenceGap};
pub use index::{IndexUpdate, LogIndexes};
pub use index_choice::BlockChoice;
pub use index_file::LogIndex;
pub use latency::{LatencyCounts, LatencyGroup, LatencyKind, LogLatency};
pub use left_out::LeftOut;
pub use order_entry::fields_of_order;
pub use order_search::{FoundOrder, OrderSearch};
pub use order_step::OrderStep;
#[cfg(feature = "parquet")]
pub use parquet_export::{ParquetExport, ParquetKind, ParquetValue};
pub use places::TextPlaces;
pub use reader::{LogReader, LogSource, LogStep, ReadOptions};
pub use short_query::ShortQuery;
pub use summary::{LogSummary, SessionSummary};
pub use validate::{LogValidation, MessageProblem, ProblemCount};
pub use zone::LogZone;

/// Finds messages in arbitrary bytes, both as in a log and as in a connection; for tests.
#[doc(hidden)]
pub mod probe;
