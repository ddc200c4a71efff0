#![doc = include_str!("ARCHITECTURE.md")]

// words
pub mod clock;
pub mod model;

// what a run leaves behind
pub mod store;
