//! Measures latency and reads logs.
#![forbid(unsafe_code)]
