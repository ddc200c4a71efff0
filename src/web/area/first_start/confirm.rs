//! What the answers would do: the changed lines of the configuration, and what the last week's mail would become.

use axum::extract::Path;
use maud::{Markup, html};

use crate::{
    app::{CheckedAnswers, FirstStart, Preview, PreviewLine},
    model::ids::sha256_hex,
    web::{
        area::{Area, rules::diff_block},
        page::{PageAnswer, PageChange, PageFailure, PageNote, Visit, shown, shown_short},
    },
    wording::description::format_deadline,
};

/// The most lines of the preview that are shown.
const MOST_SHOWN: usize = 60;

/// Returns the checked answers of a draft.
fn checked(visit: &Visit, name: &str) -> Result<CheckedAnswers, PageFailure> {
    let draft = visit.state().drafts.answers.find(visit.session(), name).map_err(anyhow::Error::from)?;
    draft.outcome.map_err(|problem| anyhow::Error::from(crate::app::BadInput(problem)).into())
}

/// Returns what stands for the file that the answers make.
fn digest(answers: &CheckedAnswers) -> String {
    sha256_hex(answers.text.as_bytes())
}

/// Shows what the answers would do. Nothing is stored yet.
pub(super) async fn show(visit: Visit, Path(name): Path<String>) -> PageAnswer {
    let answers = checked(&visit, &name)?;
    let preview = visit.app().preview().read_answered(&answers).await;
    let button = html! { button.primary type="submit" { "Enter the answers" } };
    let body = html! {
        p.crumbs { a href={ "/start?draft=" (name) } { "First start" } }
        h1 { "Your last week" }
        @match &preview {
            Ok(Some(preview)) => (preview_block(&visit, preview)),
            Ok(None) => p.muted { "You named no mailbox, so there is nothing to look at." },
            Err(error) => p.warning { "The mailbox could not be read: " (shown(&format!("{error:#}"))) },
        }
        h2 { "What is entered into adjutant.toml" }
        (diff_block(&answers.changed_lines(), "What is entered into adjutant.toml"))
        @if let Some(account) = &answers.account {
            p { "The account " strong { (shown(account)) } " only observes: what would be done is shown, and nothing is touched, until you run "
                code { "adjutant mail mode " (account) " active" } "." }
        }
        div.actions {
            (visit.form(&format!("/start/{name}/write"), &digest(&answers), &button)?)
            a.button href={ "/start?draft=" (name) } { "Change the answers" }
        }
    };
    visit.page(Area::Site, "Your last week", &body).await
}

fn preview_block(visit: &Visit, preview: &Preview) -> Markup {
    html! {
        p {
            "Of the " (preview.mails) " mails " (preview.span) ": " strong { (preview.tasks) " tasks" } ", " (preview.overdue) " overdue, "
            (preview.replies_ready) " replies ready, " (preview.sent) " sent."
            @if preview.unreadable > 0 { " " (preview.unreadable) " cannot be read." }
        }
        @if !preview.lines.is_empty() {
            div.scroll role="region" aria-label="The last week" tabindex="0" {
                table {
                    thead { tr {
                        th scope="col" { "From" } th scope="col" { "Subject" } th scope="col" { "Task" } th scope="col" { "Priority" }
                        th scope="col" { "Why" }
                    } }
                    tbody { @for line in preview.lines.iter().take(MOST_SHOWN) { (preview_row(visit, line)) } }
                }
            }
        }
        @if preview.lines.len() > MOST_SHOWN { p.muted { "… and " (preview.lines.len() - MOST_SHOWN) " more." } }
    }
}

fn preview_row(visit: &Visit, line: &PreviewLine) -> Markup {
    let zone = visit.app().config.me.time_zone;
    html! {
        tr {
            td { (shown_short(&line.from, 40)) }
            td { (shown_short(&line.subject, 80)) }
            td {
                @match &line.objective { Some(objective) => (shown_short(objective, 120)), None => span.muted { "none" } }
                @if let Some(deadline) = &line.deadline { br; span.muted { "due " (format_deadline(deadline, zone)) } }
            }
            td { @if let Some(priority) = line.priority { (priority) } }
            td { (shown_short(&line.evidence, 160)) @for warning in &line.warnings { br; span.warning { (shown_short(warning, 120)) } } }
        }
    }
}

/// Writes the configuration that was shown.
pub(super) async fn write(Path(name): Path<String>, change: PageChange) -> PageAnswer {
    let answers = checked(&change.visit, &name)?;
    if digest(&answers) != change.form.seen() {
        return Err(PageFailure::Outdated);
    }
    let app = change.visit.app();
    let outcome = FirstStart::at(app.home.clone()).write(&answers);
    let outcome = match outcome {
        Ok(()) => {
            drop(change.visit.state().drafts.answers.take(change.visit.session(), &name));
            app.worker().request_restart();
            Ok(PageNote::done("Entered. Adjutant starts again with these answers; a new mailbox is only observed."))
        }
        Err(error) => Err(error),
    };
    change.visit.redirect_after("/health", outcome)
}
