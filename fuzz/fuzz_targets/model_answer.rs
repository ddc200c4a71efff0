#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| adjutant_fuzz::fuzz("model_answer", bytes));
