#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| offbeat_fuzz::target("ids")(data));
