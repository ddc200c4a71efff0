//! The questions.

use maud::{Markup, html};

use crate::{
    app::{FirstAnswers, FirstStart, FoundMailbox, MailboxFormat},
    web::{
        area::Area,
        draft::AnswersDraft,
        page::{PageAnswer, PageChange, PageFailure, Visit, see_other, shown},
    },
};

/// Shows the questions, with the answers as they stand or as they were typed.
pub(super) async fn show(visit: Visit) -> PageAnswer {
    let start = FirstStart::at(visit.app().home.clone());
    let (answers, problem) = match visit.query("draft") {
        "" => (start.current_answers(&visit.app().config), None),
        name => {
            let draft = visit.state().drafts.answers.find(visit.session(), name).map_err(anyhow::Error::from)?;
            (draft.answers, draft.outcome.err())
        }
    };
    let found = tokio::task::spawn_blocking(move || start.find_mailboxes()).await.map_err(anyhow::Error::from)?;
    let body = html! {
        h1 { "First start" }
        p {
            "Without these answers Adjutant has to guess whom a mail is for and when “Friday 5pm” is. They are entered into "
            code { "adjutant.toml" } "; what you wrote there stays. A new mailbox is only observed: nothing in it is changed until you allow it."
        }
        @if let Some(problem) = problem { div.warning-box role="alert" { p { (shown(&problem)) } } }
        div.sheet { (visit.form("/start/check", "", &fields(&answers, &found))?) }
    };
    visit.page(Area::Site, "First start", &body).await
}

fn fields(answers: &FirstAnswers, found: &[FoundMailbox]) -> Markup {
    html! {
        (field("name", "Your name", &answers.name, "as you sign", "name"))
        (field("addresses", "Your mail addresses", &answers.addresses, "separated by commas, the first is written from", "email"))
        (field("time_zone", "Time zone", &answers.time_zone, "such as Europe/Berlin", "off"))
        (field("working_hours", "Working hours", &answers.working_hours, "such as 09:00-17:00", "off"))
        (mailbox_fields(answers, found))
        p.actions { button.primary type="submit" { "Look at the last week" } }
    }
}

fn field(name: &str, label: &str, value: &str, hint: &str, completion: &str) -> Markup {
    html! {
        p.field {
            label for=(name) { (label) }
            input type="text" id=(name) name=(name) value=(value) dir="auto" autocomplete=(completion) aria-describedby={ (name) "-hint" };
            span.muted id={ (name) "-hint" } { (hint) }
        }
    }
}

/// Returns the choice among the mailboxes that were found, and the field for another one.
fn mailbox_fields(answers: &FirstAnswers, found: &[FoundMailbox]) -> Markup {
    let (follow, look): (Vec<&FoundMailbox>, Vec<&FoundMailbox>) =
        found.iter().partition(|mailbox| mailbox.format == MailboxFormat::Maildir);
    let paths: Vec<String> = follow.iter().map(|mailbox| mailbox.path.display().to_string()).collect();
    let is_found = paths.contains(&answers.mailbox);
    let typed = if is_found { "" } else { answers.mailbox.as_str() };
    html! {
        fieldset {
            legend { "Mailbox" }
            @for (nth, (path, mailbox)) in paths.iter().zip(&follow).enumerate() {
                p {
                    input type="radio" name="found" id={ "found-" (nth) } value=(path) checked[*path == answers.mailbox];
                    " " label for={ "found-" (nth) } { (shown(path)) }
                    " " span.muted { (mailbox.mails) " mails in the inbox" }
                }
            }
            @if !paths.is_empty() {
                p {
                    input type="radio" name="found" id="found-other" value="" checked[!is_found];
                    " " label for="found-other" { "the one below, or none" }
                }
            }
            (field("mailbox", "Path of a Maildir", typed, "a folder with new/ and cur/ in it; ~ is your home; empty for none", "off"))
            (field("account", "Name of the account", &answers.account, "letters, digits, - _ . ; “mail” when empty", "off"))
            @if !look.is_empty() { (files_with_mail(&look)) }
            p.muted { "A Gmail account is set up with " code { "adjutant auth gmail" } "; docs/gmail.md says how." }
        }
    }
}

/// Lists the mailboxes that cannot be followed.
fn files_with_mail(files: &[&FoundMailbox]) -> Markup {
    html! {
        details {
            summary { "Files with mail were found too" }
            p.muted { "A file is not followed, because mail programs rewrite it. Its mail can be imported once:" }
            ul {
                @for file in files {
                    li { code { "adjutant import " (shown(&file.path.display().to_string())) } " " span.muted { (file.bytes / 1024) " KB" } }
                }
            }
        }
    }
}

/// Checks the answers and leads to what they would do, or back to the questions with what is wrong.
pub(super) async fn check(change: PageChange) -> PageAnswer {
    let form = &change.form;
    let chosen = Some(form.get("found")).filter(|path| !path.is_empty()).unwrap_or_else(|| form.get("mailbox"));
    let answers = FirstAnswers {
        name: form.get("name").to_owned(),
        addresses: form.get("addresses").to_owned(),
        time_zone: form.get("time_zone").to_owned(),
        working_hours: form.get("working_hours").to_owned(),
        mailbox: chosen.to_owned(),
        account: form.get("account").to_owned(),
    };
    let start = FirstStart::at(change.visit.app().home.clone());
    let outcome = start.check(&answers).map_err(|error| format!("{error:#}"));
    let is_good = outcome.is_ok();
    let drafts = &change.visit.state().drafts.answers;
    let name = drafts.keep(change.visit.session(), AnswersDraft { answers, outcome }).map_err(PageFailure::from)?;
    Ok(see_other(&if is_good { format!("/start/{name}") } else { format!("/start?draft={name}") }))
}
