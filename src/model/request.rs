//! Requests: what a command leaves in the database for the running daemon.

use crate::model::text_enum::text_enum;

text_enum! {
    /// What a command asks the daemon to do on its behalf, because only the daemon holds the lock on the data folder.
    RequestKind {
        /// Poll every account and work what is there.
        Once = "once",
        /// Do the nightly job, unless it was done today.
        Reflect = "reflect",
        /// Build the vectors of the memory anew.
        RebuildMemory = "memory_rebuild",
    }
}
