//! The section `[planner]`: plans for requests with several steps.

use std::path::PathBuf;

use chrono::Duration;
use serde::Deserialize;

use super::home::Home;
use crate::model::plan::PlannerSettings;

/// The section `[planner]`. The first four keys have the names of the specification; a variable has no capitals.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawPlanner {
    #[serde(rename = "enableTaskPlanning", alias = "enabletaskplanning")]
    enable_task_planning: bool,
    #[serde(rename = "enableFallbackFunctionParsing", alias = "enablefallbackfunctionparsing")]
    enable_fallback_function_parsing: bool,
    #[serde(rename = "functionDeduplicationWindowSeconds", alias = "functiondeduplicationwindowseconds")]
    function_deduplication_window_seconds: u32,
    #[serde(rename = "maxRetryAttempts", alias = "maxretryattempts")]
    max_retry_attempts: usize,
    parallel_steps: usize,
    completion_timeout_seconds: u32,
    file_roots: Vec<PathBuf>,
    file_kilobytes: usize,
}

impl Default for RawPlanner {
    fn default() -> Self {
        let settings = PlannerSettings::default();
        Self {
            enable_task_planning: settings.is_enabled,
            enable_fallback_function_parsing: settings.parses_calls_in_text,
            function_deduplication_window_seconds: 5,
            max_retry_attempts: settings.max_retry_attempts,
            parallel_steps: settings.max_parallel_steps,
            completion_timeout_seconds: 30,
            file_roots: Vec::new(),
            file_kilobytes: 64,
        }
    }
}

/// Where the files are that a request may attach, and how large one may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachableFiles {
    pub roots: Vec<PathBuf>,
    pub largest: usize,
}

/// Checks the section. A root that is not absolute is a folder of the home.
pub(super) fn validate_planner(raw: RawPlanner, home: &Home) -> Result<(PlannerSettings, AttachableFiles), String> {
    if raw.max_retry_attempts > 10 {
        return Err(format!("planner.maxRetryAttempts is {}; expected 0 to 10", raw.max_retry_attempts));
    }
    if !(1..=32).contains(&raw.parallel_steps) {
        return Err(format!("planner.parallel_steps is {}; expected 1 to 32", raw.parallel_steps));
    }
    if !(1..=600).contains(&raw.completion_timeout_seconds) {
        return Err(format!(
            "planner.completion_timeout_seconds is {}; expected 1 to 600",
            raw.completion_timeout_seconds
        ));
    }
    if !(1..=1024).contains(&raw.file_kilobytes) {
        return Err(format!("planner.file_kilobytes is {}; expected 1 to 1024", raw.file_kilobytes));
    }
    let settings = PlannerSettings {
        is_enabled: raw.enable_task_planning,
        parses_calls_in_text: raw.enable_fallback_function_parsing,
        deduplication_window: Duration::seconds(raw.function_deduplication_window_seconds.into()),
        max_retry_attempts: raw.max_retry_attempts,
        max_parallel_steps: raw.parallel_steps,
        completion_timeout: Duration::seconds(raw.completion_timeout_seconds.into()),
    };
    let roots = if raw.file_roots.is_empty() {
        vec![home.files()]
    } else {
        raw.file_roots.into_iter().map(|root| home.resolve(&root)).collect()
    };
    Ok((settings, AttachableFiles { roots, largest: raw.file_kilobytes * 1024 }))
}
