#![doc = include_str!("ARCHITECTURE.md")]

// words
pub mod clock;
pub mod model;

// the path of a mail
pub mod planner;
