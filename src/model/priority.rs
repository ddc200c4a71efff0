//! The four levels of urgency, in order.

use super::text_enum::words;

words! {
    /// low < med < high < critical.
    Priority {
        Low = "low",
        Med = "med",
        High = "high",
        Critical = "critical",
    }
}
