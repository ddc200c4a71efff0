//! Teams: a task manager that divides a request into tasks, and up to five workers that do them at the same time.

pub mod event;
