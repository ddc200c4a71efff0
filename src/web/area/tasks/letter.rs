//! Messages that a person writes from a task, or on their own. Each waits in the approvals before anything is sent.

use axum::extract::Path;
use maud::html;

use super::seen::find_unchanged;
use crate::{
    app::{BadInput, name_recipients},
    model::{AccountMode, NamedMessage, task::SEND_REPLY},
    web::{
        area::Area,
        page::{PageAnswer, PageChange, PageNote, Visit},
    },
};

/// What is said of a message that was written.
const WRITTEN: &str = "It is being written. You will find it in the approvals; nothing is sent before you approve it.";

/// Answers the mail of a task: in the person's words, by when it will be done, or by declining.
pub(super) async fn reply(Path(task): Path<String>, change: PageChange) -> PageAnswer {
    let outcome = async {
        let row = find_unchanged(&change, &task).await?;
        let tasks = change.visit.app().tasks();
        let words = match change.form.get("how") {
            "when" => tasks.say_when(&task).await?,
            "decline" => tasks.decline_text()?,
            _ => typed_words(&change)?,
        };
        tasks.instruct(&row.task.task_id.to_string(), SEND_REPLY, &words, None).await?;
        Ok(PageNote::done(WRITTEN))
    };
    let outcome = outcome.await;
    change.visit.redirect_after(&format!("/tasks/{task}"), outcome)
}

/// Forwards the mail of a task.
pub(super) async fn forward(Path(task): Path<String>, change: PageChange) -> PageAnswer {
    let outcome = async {
        let row = find_unchanged(&change, &task).await?;
        let message = name_recipients(&recipients(&change), None)?;
        let (id, words) = (row.task.task_id.to_string(), change.form.get("text"));
        change.visit.app().tasks().instruct(&id, "forward", words, Some(message)).await?;
        Ok(PageNote::done(WRITTEN))
    };
    let outcome = outcome.await;
    change.visit.redirect_after(&format!("/tasks/{task}"), outcome)
}

/// Writes a new mail from a task.
pub(super) async fn mail(Path(task): Path<String>, change: PageChange) -> PageAnswer {
    let outcome = async {
        let row = find_unchanged(&change, &task).await?;
        let (message, words) = (new_message(&change)?, typed_words(&change)?);
        let id = row.task.task_id.to_string();
        change.visit.app().tasks().instruct(&id, "send_mail", &words, Some(message)).await?;
        Ok(PageNote::done(WRITTEN))
    };
    let outcome = outcome.await;
    change.visit.redirect_after(&format!("/tasks/{task}"), outcome)
}

/// Has the mail of a task moved to the archive.
pub(super) async fn archive(Path(task): Path<String>, change: PageChange) -> PageAnswer {
    let outcome = async {
        let row = find_unchanged(&change, &task).await?;
        change.visit.app().tasks().instruct(&row.task.task_id.to_string(), "archive", "", None).await?;
        Ok(PageNote::done("Its mail is being archived."))
    };
    let outcome = outcome.await;
    change.visit.redirect_after(&format!("/tasks/{task}"), outcome)
}

/// Shows the form of a new mail.
pub(super) async fn show(visit: Visit) -> PageAnswer {
    let accounts = visit.app().accounts().list().await?;
    let may_send = accounts.iter().filter(|known| known.kind.is_polled() && known.mode != AccountMode::Retired);
    let names: Vec<&str> = may_send.map(|known| known.account.as_str()).collect();
    let form = visit.form(
        "/tasks/write",
        "",
        &html! {
            @if names.len() > 1 {
                label { "From" select name="account" { @for name in &names { option value=(name) { (name) } } } }
            }
            label.wide { "To" input type="text" name="to" required autocomplete="off" placeholder="dana@work.example"; }
            label.wide { "Subject" input type="text" name="subject" dir="auto" autocomplete="off"; }
            label.wide { "Text" textarea name="text" dir="auto" required rows="10" {} }
            button.primary type="submit" { "Write it" }
        },
    )?;
    let body = html! {
        p.crumbs { a href="/tasks" { "Tasks" } }
        h1 { "Write a mail" }
        @if names.is_empty() {
            p.empty { "There is no account to send from." }
        } @else {
            p.muted { "It becomes a task, and waits for your approval before it is sent." }
            (form)
        }
    };
    visit.page(Area::Tasks, "Write a mail", &body).await
}

/// Adds the task of a new mail, with the mail as its step.
pub(super) async fn write(change: PageChange) -> PageAnswer {
    let outcome = async {
        let (message, words) = (new_message(&change)?, typed_words(&change)?);
        let tasks = change.visit.app().tasks();
        let account = Some(change.form.get("account")).filter(|name| !name.is_empty());
        let id = tasks.add_letter(&message, account).await?.task.task_id.to_string();
        tasks.instruct(&id, "send_mail", &words, Some(message)).await?;
        anyhow::Ok(id)
    };
    match outcome.await {
        Ok(id) => change.visit.redirect(&format!("/tasks/{id}"), PageNote::done(WRITTEN)),
        Err(error) => change.visit.redirect_after("/tasks/write", Err(error)),
    }
}

fn new_message(change: &PageChange) -> anyhow::Result<NamedMessage> {
    let subject = Some(change.form.get("subject").trim().to_owned()).filter(|subject| !subject.is_empty());
    Ok(name_recipients(&recipients(change), subject)?)
}

/// Returns the addresses of a form, which are separated by commas, semicolons or spaces.
fn recipients(change: &PageChange) -> Vec<String> {
    let typed = change.form.get("to").split([',', ';', ' ']).map(str::trim);
    let mut to: Vec<String> = typed.filter(|address| !address.is_empty()).map(str::to_owned).collect();
    if to.is_empty() {
        // An address that is none is refused in words.
        to.push(String::new());
    }
    to
}

fn typed_words(change: &PageChange) -> Result<String, BadInput> {
    let words = change.form.get("text").trim().replace("\r\n", "\n");
    if words.is_empty() { Err(BadInput("Nothing was written, so nothing is sent.".into())) } else { Ok(words) }
}
