//! Tests of the exchange as an application, without an engine: its answers, and its recovery from notes.

mod checkpoint_bytes;
mod desk;
mod dictionaries;
mod faults;
mod inquiries;
mod market_data;
mod orders;
mod random;
mod requests;
mod restarts;
mod scripts;
mod spreads;
mod state_lines;
mod tmp_bulletins;
mod tmp_copies;
mod tmp_copy_faults;
mod tmp_desk;
mod tmp_edges;
mod tmp_fault_states;
mod tmp_faults;
mod tmp_orders;
mod tmp_quotes;
mod tmp_random;
mod tmp_restarts;
mod trade_changes;
mod watches;
