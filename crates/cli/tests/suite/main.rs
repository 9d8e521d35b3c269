//! The tests of the binary: one program, built once.

mod bench;
mod certify;
mod check;
mod client;
mod convert;
mod dictionary;
mod dump;
mod echo;
mod gateway;
mod gateway_run;
mod hash_password;
mod low_latency;
mod oms;
mod oms_reports;
mod peer;
mod process;
mod restart;
mod run;
mod running;
mod samples;
mod session;
mod signals;
mod sim;
mod sim_faults;
mod sim_scripts;
mod stock;
