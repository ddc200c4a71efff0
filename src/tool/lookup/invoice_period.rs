//! The period that a request for invoices names, in English or Hebrew.

use chrono::{Datelike, Days, Months, NaiveDate};

/// A range of days, both included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InvoicePeriod {
    /// The period as it is shown.
    pub(super) name: String,
    first: NaiveDate,
    last: NaiveDate,
}

impl InvoicePeriod {
    pub(super) fn contains(&self, day: NaiveDate) -> bool {
        (self.first..=self.last).contains(&day)
    }

    /// Returns the period that a text names; none if it names none.
    pub(super) fn find_in_text(text: &str, today: NaiveDate) -> Option<Self> {
        let text = text.to_lowercase().replace(['’', '\''], "");
        let has = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
        let month = today.with_day(1)?;
        let year = today.with_day(1)?.with_month(1)?;
        let week = today.checked_sub_days(Days::new(u64::from(today.weekday().num_days_from_monday())))?;
        let (name, first, next) = if has(&["last month", "previous month", "חודש שעבר", "חודש הקודם"])
        {
            let first = month.checked_sub_months(Months::new(1))?;
            (first.format("%B %Y").to_string(), first, month)
        } else if has(&["this month", "current month", "החודש", "חודש הנוכחי"]) {
            (month.format("%B %Y").to_string(), month, month.checked_add_months(Months::new(1))?)
        } else if has(&["last week", "previous week", "שבוע שעבר"]) {
            let first = week.checked_sub_days(Days::new(7))?;
            (format!("the week of {first}"), first, week)
        } else if has(&["this week", "השבוע"]) {
            (format!("the week of {week}"), week, week.checked_add_days(Days::new(7))?)
        } else if has(&["last year", "previous year", "שנה שעברה"]) {
            let first = year.checked_sub_months(Months::new(12))?;
            (first.format("%Y").to_string(), first, year)
        } else if has(&["this year", "השנה"]) {
            (year.format("%Y").to_string(), year, year.checked_add_months(Months::new(12))?)
        } else {
            return None;
        };
        Some(Self { name, first, last: next.pred_opt()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_whole_months_weeks_and_years() {
        let today: NaiveDate = "2026-01-15".parse().unwrap();
        for (text, range) in [
            ("collect last month's invoices", Some("2025-12-01 2025-12-31")),
            ("this month", Some("2026-01-01 2026-01-31")),
            ("Last Week", Some("2026-01-05 2026-01-11")),
            ("this week", Some("2026-01-12 2026-01-18")),
            ("last year", Some("2025-01-01 2025-12-31")),
            ("אסוף את החשבוניות של החודש שעבר", Some("2025-12-01 2025-12-31")),
            ("all invoices", None),
        ] {
            let found = InvoicePeriod::find_in_text(text, today);
            let found = found.map(|period| format!("{} {}", period.first, period.last));
            assert_eq!(found.as_deref(), range, "{text}");
        }
    }
}
