use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What one run of a script may use. The defaults are generous for a script that looks through a mailbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// How long the script may run, the answers of the host included.
    pub deadline: Duration,
    /// The objects and strings of the script.
    pub heap_bytes: usize,
    /// The stack of the interpreter. The main thread of a process has several megabytes.
    pub stack_bytes: usize,
    /// The text of the script.
    pub script_bytes: usize,
    /// What is kept of `console`; the rest is counted.
    pub log_bytes: usize,
    pub log_lines: usize,
    /// The result as JSON. A longer one is an error, because half of it would be read as all of it.
    pub result_bytes: usize,
    /// How often the host is asked.
    pub host_calls: usize,
    /// The arguments of one such call as JSON.
    pub argument_bytes: usize,
    /// The answer to one such call as JSON.
    pub reply_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            deadline: Duration::from_secs(30),
            heap_bytes: 64 << 20,
            stack_bytes: 512 << 10,
            script_bytes: 256 << 10,
            log_bytes: 64 << 10,
            log_lines: 1000,
            result_bytes: 256 << 10,
            host_calls: 1000,
            argument_bytes: 64 << 10,
            reply_bytes: 4 << 20,
        }
    }
}

impl Limits {
    /// The longest line that an honest child writes: JSON within JSON, where a byte can become six.
    pub(crate) fn line_bytes(&self) -> u64 {
        let longest = self.result_bytes.max(self.log_bytes).max(self.argument_bytes);
        u64::try_from(longest * 6 + (64 << 10)).unwrap_or(u64::MAX)
    }

    /// The most lines that an honest child writes.
    pub(crate) fn messages(&self) -> usize {
        self.log_lines + self.host_calls + 1
    }
}
