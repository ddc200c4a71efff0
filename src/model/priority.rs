//! The four levels of priority, in order.

use super::text_enum::text_enum;

text_enum! {
    /// How soon a task is to be worked: low < med < high < critical.
    Priority {
        Low = "low",
        Med = "med",
        High = "high",
        Critical = "critical",
    }
}
