//! The four levels of urgency, in order.

use super::text_enum::text_enum;

text_enum! {
    /// low < med < high < critical.
    Priority {
        Low = "low",
        Med = "med",
        High = "high",
        Critical = "critical",
    }
}
