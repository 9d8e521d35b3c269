//! Players and rigs that test the product from outside.
//!
//! The suites that use them are in `tests/tests`: each of those files asks one question of the finished binary or of
//! the repository itself.
#![forbid(unsafe_code)]

pub mod browser;
pub mod capture;
pub mod certificates;
pub mod crowd;
pub mod def;
pub mod embedded;
pub mod features;
pub mod foreign;
pub mod fuzz;
pub mod house;
pub mod imports;
pub mod licences;
pub mod oms;
pub mod orchestrations;
pub mod order_flow;
pub mod packages;
pub mod pages;
pub mod peers;
pub mod phrases;
pub mod proxy;
pub mod publishing;
pub mod random;
pub mod scenario;
pub mod server;
pub mod shape;
pub mod simulation;
pub mod tee;
pub mod tidy;
pub mod trade;
pub mod type_names;
pub mod wire;
