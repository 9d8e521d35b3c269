//! Both ends of a link, played against each other over a wire with faults.

mod faults;
mod flow;
mod login;
mod noise;
mod world;
