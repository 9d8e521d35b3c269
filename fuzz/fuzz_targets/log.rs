#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| fixwire_rigs::fuzz::log::run(data));
