//! The nights as a person looks back at them: what each did, on which evidence, and how often the program and the
//! person agreed.

use chrono::{Days, TimeZone as _};
use serde::Serialize;

use crate::{
    app::NightlyUseCases,
    model::{
        Instant, TaskId,
        nightly::{EvidenceRow, NightlyRow},
    },
};

/// How often the person let the program's priority stand, for the tasks that mail opened on one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgreementDay {
    /// The local date.
    pub date: String,
    pub tasks: u64,
    /// The tasks whose first priority is the person's last word on it.
    pub agreed: u64,
}

impl AgreementDay {
    /// Returns the share from 0 to 1; none for a day without tasks.
    pub fn share(&self) -> Option<f64> {
        (self.tasks > 0).then(|| self.agreed as f64 / self.tasks as f64)
    }
}

impl NightlyUseCases<'_> {
    /// Returns the nights, the newest first. `before` continues a list after its last date.
    pub async fn list(self, before: Option<&str>, limit: usize) -> anyhow::Result<Vec<NightlyRow>> {
        let before = before.map(str::to_owned);
        Ok(self.app.store.read(move |reader| reader.nightly().nights(before.as_deref(), limit)).await?)
    }

    /// Returns the night of a date; none when there was none.
    pub async fn find(self, date: &str) -> anyhow::Result<Option<NightlyRow>> {
        let date = date.to_owned();
        Ok(self.app.store.read(move |reader| reader.nightly().run(&date)).await?)
    }

    /// Returns the corrections with these numbers, each with what it was about.
    pub async fn evidence(self, corrections: Vec<i64>) -> anyhow::Result<Vec<EvidenceRow>> {
        Ok(self.app.store.read(move |reader| reader.nightly().evidence(&corrections)).await?)
    }

    /// Returns how often the person agreed on each of the last `days` days, the oldest first.
    pub async fn agreement(self, days: u32) -> anyhow::Result<Vec<AgreementDay>> {
        let zone = self.app.config.me.time_zone;
        let today = self.app.clock.now().utc().with_timezone(&zone).date_naive();
        // A day begins at its first instant, which is not midnight where the clocks change at midnight.
        let start_of = |date: chrono::NaiveDate| {
            let hours = (0..4).filter_map(|hour| date.and_hms_opt(hour, 0, 0));
            hours.filter_map(|time| zone.from_local_datetime(&time).earliest()).next()
        };
        let dates = (0..days).rev().filter_map(|back| today.checked_sub_days(Days::new(back.into())));
        let bounds: Vec<(String, TaskId, TaskId)> = dates
            .filter_map(|date| {
                let (from, to) = (start_of(date)?, start_of(date.succ_opt()?)?);
                let lowest = |at: chrono::DateTime<_>| Some(TaskId::lowest_at(Instant::new(at.to_utc())?));
                Some((date.to_string(), lowest(from)?, lowest(to)?))
            })
            .collect();
        let Some(first) = bounds.first().map(|(_, from, _)| *from) else { return Ok(Vec::new()) };
        let read = self.app.store.read(move |reader| {
            let corrected = reader.nightly().priority_corrections(first)?;
            let day = |(date, from, to): (String, TaskId, TaskId)| {
                let of_day = corrected.iter().filter(|known| (from..to).contains(&known.task_id));
                let overruled = of_day.filter(|known| known.given != known.wanted).count() as u64;
                let tasks = reader.nightly().count_tasks_between(from, to)?;
                Ok(AgreementDay { date, tasks, agreed: tasks.saturating_sub(overruled) })
            };
            bounds.into_iter().map(day).collect()
        });
        Ok(read.await?)
    }
}
