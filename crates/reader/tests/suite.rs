//! The reader finds every message, whatever wrote it, and reports the parts it skips.

#[path = "suite/anonymise.rs"]
mod anonymise;
#[path = "suite/captures.rs"]
mod captures;
#[path = "suite/diff.rs"]
mod diff;
#[path = "suite/export.rs"]
mod export;
#[path = "suite/hostile.rs"]
mod hostile;
#[path = "suite/indexes.rs"]
mod indexes;
#[path = "suite/journals.rs"]
mod journals;
#[path = "suite/latency.rs"]
mod latency;
#[path = "suite/lives.rs"]
mod lives;
#[path = "suite/logs.rs"]
mod logs;
#[path = "suite/orders.rs"]
mod orders;
#[path = "suite/reused_ids.rs"]
mod reused_ids;
#[path = "suite/samples.rs"]
mod samples;
#[path = "suite/validate.rs"]
mod validate;
