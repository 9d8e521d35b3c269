//! The suites: each file is one, and its first line is the question that it asks; `./test NAME` runs one. The
//! simulations are programs of their own, for they plant faults in their process.

mod acceptance;
mod canaries;
mod corpus;
mod disturbed;
mod doctor;
mod embedder;
mod flow;
mod foreign;
mod gateway;
mod gateway_hold;
mod gateway_interop;
mod gateway_kill;
mod gateway_reload;
mod histograms;
mod instructions;
mod interop;
mod interop_kill;
mod kill;
mod lockstep;
mod message_log;
mod oms_faults;
mod oms_interop;
mod oms_kill;
mod operate_kill;
mod page;
mod pages;
mod peers;
mod preloaded;
mod scenarios;
mod scenarios_tcp;
mod signatures;
mod stores;
mod strangers;
mod tidy;
mod two_hosts;
