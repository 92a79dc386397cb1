#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| offbeat_fuzz::target("control_frames")(data));
