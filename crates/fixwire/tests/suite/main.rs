//! The tests of the engine that need no process of their own and start none: one program, built once.
//! A program that is being started holds the locks of all journals that are open here.

#[cfg(feature = "tls")]
#[path = "../common/certificates.rs"]
mod certificates;
#[path = "../common/mod.rs"]
mod common;
#[cfg(feature = "tls")]
#[path = "../common/relay.rs"]
mod relay;

mod admin_messages;
mod allocations;
mod before_logon;
mod broken_lines;
mod checkpoint_files;
mod checkpoints;
mod control;
mod created_sessions;
mod early_release;
mod effect_once;
mod events;
mod farewell;
mod frames;
mod frames_journal;
mod frames_world;
mod gateway;
mod harness;
mod host_os;
mod journal_crashes;
mod journal_directory;
mod journal_files;
mod journal_format;
mod journal_newest;
mod journal_recovery;
mod journal_replay;
mod journal_retention;
mod journal_salvage;
mod journal_trail;
mod journal_unread;
mod limits;
mod lines;
mod log_out;
mod logon_requests;
mod new_password;
mod notes;
mod operate;
mod paced;
mod peers;
mod rejects;
mod resend_order;
mod resets;
mod restarts;
mod routes;
mod schedule_engine;
mod schedule_model;
mod secrets;
mod splits;
mod tls;
mod trade;
mod transport;
mod typed;
mod validation_settings;
