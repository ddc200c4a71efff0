//! The task planner: whether a request is complex, its plan in the formats that models write, the order of its steps, and
//! the calls of a model that wrote them as text. Pure: no I/O, no clock.

pub mod call_reader;
pub mod complexity;
pub mod deduplication;
pub mod file_reference;
pub mod json_repair;
pub mod plan_text;
pub mod request_split;
pub mod retry;
pub mod step_order;
pub mod tool_list;

pub use complexity::{PlannerRequest, detect_complexity};
