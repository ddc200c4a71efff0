//! Whether the program may touch a mailbox.

use super::words::words;

words! {
    AccountMode {
        /// Plans and drafts are shown, nothing is touched. Where every real account starts.
        Observe = "observe",
        Active = "active",
        /// No longer polled.
        Retired = "retired",
    }
}
