//! The sample mailbox: mails for a first look, dated from today.

use anyhow::Context as _;
use chrono::{DateTime, Days, NaiveTime, TimeZone};
use chrono_tz::Tz;

use crate::{
    app::AccountUseCases,
    config::SAMPLES_ACCOUNT,
    model::{AccountId, Instant},
    source::{Maildir, maildir::INBOX},
};

/// The sample mails: file name and template.
const MAILS: &[(&str, &str)] = &include!("samples.in");
/// The setting that is stored once the mails are in the folder. A person may delete them, and they stay deleted.
const SEEDED: &str = "samples_seeded";

impl AccountUseCases<'_> {
    /// Delivers the sample mails at the first start.
    pub(in crate::app) async fn seed_samples(self, maildir: &Maildir) -> anyhow::Result<()> {
        if self.app.store.read(|reader| reader.settings().get(SEEDED)).await?.is_some() {
            return Ok(());
        }
        let now = self.app.clock.now();
        for (name, template) in MAILS {
            let text = fill_placeholders(template, now, self.app.config.me.time_zone)
                .with_context(|| format!("sample {name}"))?;
            maildir
                .deliver(INBOX, name, text.as_bytes())
                .with_context(|| format!("sample {name} cannot be delivered"))?;
        }
        let value = now.to_string();
        self.app.store.write(crate::store::Write::StoreSetting { name: SEEDED.into(), value }).await?;
        let account = AccountId::from(SAMPLES_ACCOUNT);
        tracing::info!(account = %account, mails = MAILS.len(), "the sample mailbox was created");
        Ok(())
    }
}

/// Replaces placeholders such as `{{date:-2d 09:15}}`, `{{day:+3d}}` and `{{ics:+2d 10:00}}` by dates around today.
fn fill_placeholders(template: &str, now: Instant, zone: Tz) -> anyhow::Result<String> {
    let mut filled = String::with_capacity(template.len() + 64);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (mark, remaining) = after.split_once("}}").context("a placeholder does not end")?;
        filled.push_str(before);
        filled.push_str(
            &expand_placeholder(mark, now, zone).with_context(|| format!("'{{{{{mark}}}}}' is not a placeholder"))?,
        );
        rest = remaining;
    }
    filled.push_str(rest);
    Ok(filled)
}

/// Returns the text for one placeholder: an RFC 2822 date, a day in words, or an iCalendar time. Returns none for a
/// placeholder that is not understood.
fn expand_placeholder(mark: &str, now: Instant, zone: Tz) -> Option<String> {
    let (kind, offset) = mark.split_once(':')?;
    let (days, time) = offset.split_once(' ').unwrap_or((offset, "09:00"));
    let at = resolve_local_time(days.strip_suffix('d')?.parse().ok()?, time, now, zone)?;
    match kind {
        // A mail must not be dated in the future, whatever the time of day is.
        "date" => Some(at.min(now.utc().with_timezone(&zone)).to_rfc2822()),
        "day" => Some(at.format("%A %-d %B %Y").to_string()),
        "ics" => Some(at.to_utc().format("%Y%m%dT%H%M%SZ").to_string()),
        _ => None,
    }
}

/// Returns the instant that many days from today, at a local time of day.
fn resolve_local_time(days: i64, time: &str, now: Instant, zone: Tz) -> Option<DateTime<Tz>> {
    let today = now.utc().with_timezone(&zone).date_naive();
    let day = if days < 0 {
        today.checked_sub_days(Days::new(days.unsigned_abs()))
    } else {
        today.checked_add_days(Days::new(days.unsigned_abs()))
    };
    let time = NaiveTime::parse_from_str(time, "%H:%M").ok()?;
    zone.from_local_datetime(&day?.and_time(time)).earliest()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_dates_around_today() {
        let now = "2026-11-16T08:00:00Z".parse().unwrap();
        let text = fill_placeholders(
            "{{date:-2d 09:15}}|{{day:+3d}}|{{ics:+2d 10:00}}|{{date:0d 23:00}}",
            now,
            chrono_tz::UTC,
        )
        .unwrap();
        assert_eq!(
            text,
            "Sat, 14 Nov 2026 09:15:00 +0000|Thursday 19 November 2026|20261118T100000Z|Mon, 16 Nov 2026 08:00:00 +0000"
        );
    }

    #[test]
    fn every_sample_can_be_filled_and_read() {
        let now = "2026-11-16T08:00:00Z".parse().unwrap();
        assert!(MAILS.len() >= 15, "{} samples", MAILS.len());
        for (name, template) in MAILS {
            let text = fill_placeholders(template, now, chrono_tz::UTC).unwrap();
            let mail = crate::ingest::parse_mail(text.as_bytes(), &crate::ingest::TrustedServers::default());
            assert!(mail.is_ok_and(|mail| mail.date.is_some() && !mail.from.addr.is_empty()), "{name}");
        }
    }
}
