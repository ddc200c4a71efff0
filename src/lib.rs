#![doc = include_str!("ARCHITECTURE.md")]

// values and infrastructure
pub mod clock;
pub mod config;
pub mod date;
pub mod document;
pub mod durable_file;
pub mod failpoint;
pub mod http_guard;
pub mod icalendar;
pub mod model;
pub mod plain_text;
pub mod regular_file;
pub mod tls;

// the path of a mail
pub mod approval;
pub mod followup;
pub mod graph;
pub mod ingest;
pub mod llm;
pub mod planner;
pub mod policy;
pub mod reading;
pub mod rules;
pub mod source;
pub mod tool;

// what a run leaves behind
pub mod audit;
pub mod hitl;
pub mod memory;
pub mod outbox;
pub mod reflection;
pub mod store;
pub mod witness;

// the night, and the questions
pub mod assistant;
pub mod nightly;
pub mod team;

// running it
pub mod app;
pub mod cli;
pub mod daemon;
pub mod mcp;
pub mod tui;
pub mod web;
pub mod wording;
