//! The edited copy: typed, kept as a draft, and saved once its effect was shown.

use axum::extract::Path;
use maud::{Markup, html};

use super::what_if::draft_digest;
use crate::{
    app::RulesSaveOutcome,
    web::{
        area::Area,
        draft::RulesDraft,
        page::{PageAnswer, PageChange, PageFailure, PageNote, Visit, see_other},
    },
};

/// Shows the copy in an editor: the file, the text of a version, or a draft that is edited further.
pub(super) async fn show(visit: Visit) -> PageAnswer {
    let overview = visit.app().rules().overview().await?;
    let (draft, of) = match (visit.query("draft"), visit.query("version")) {
        ("", "") => (RulesDraft { base: overview.fingerprint, text: overview.text }, String::new()),
        ("", version) => {
            let number = version.parse().unwrap_or_default();
            let text = visit.app().rules().text_of_version(number).await?;
            (RulesDraft { base: overview.fingerprint, text }, format!(" with the text of version {number}"))
        }
        (draft, _) => {
            (visit.state().drafts.rules.find(visit.session(), draft).map_err(anyhow::Error::from)?, String::new())
        }
    };
    let body = html! {
        p.crumbs { a href="/rules" { "Rules" } }
        h1 { "Edit a copy" (of) }
        p.muted { "Nothing is saved yet. First you see which of your past tasks would change." }
        (editor(&visit, &draft)?)
    };
    visit.page(Area::Rules, "Edit a copy of the rules", &body).await
}

/// Returns the editor of a copy. Its button leads to what the copy would change.
pub(super) fn editor(visit: &Visit, draft: &RulesDraft) -> Result<Markup, PageFailure> {
    let fields = html! {
        label for="text" { "The copy" }
        textarea.code #text name="text" rows="28" dir="ltr" spellcheck="false" autocapitalize="off" autocomplete="off" wrap="off" {
            // A browser drops the first line break of the field.
            "\n" (draft.text)
        }
        p.actions {
            button.primary type="submit" { "What would change?" }
            a.button href="/rules" { "Discard" }
        }
    };
    let form = visit.form("/rules/drafts", &draft.base, &fields)?;
    Ok(html! { div.sheet { (form) } })
}

/// Keeps a copy as a draft and leads to what it would change.
pub(super) async fn keep(change: PageChange) -> PageAnswer {
    // A browser sends line breaks as CR LF; the file keeps its own.
    let text = change.form.get("text").replace("\r\n", "\n");
    let draft = RulesDraft { base: change.form.seen().to_owned(), text };
    let name = change.visit.state().drafts.rules.keep(change.visit.session(), draft)?;
    Ok(see_other(&format!("/rules/drafts/{name}")))
}

/// Saves the draft that was shown. If the file was changed since the copy was made, nothing is saved.
pub(super) async fn save(Path(name): Path<String>, change: PageChange) -> PageAnswer {
    let drafts = &change.visit.state().drafts.rules;
    let draft = drafts.find(change.visit.session(), &name).map_err(anyhow::Error::from)?;
    if change.form.seen() != draft_digest(&draft) {
        return Err(PageFailure::Outdated);
    }
    let saved = change.visit.app().rules().copy(&draft.text).save(&draft.base).await?;
    match saved {
        RulesSaveOutcome::Saved(version) => {
            drop(drafts.take(change.visit.session(), &name));
            let note = format!("Saved as version {version}; it counts from now on. Open tasks were ranked again.");
            change.visit.redirect("/rules", PageNote::done(note))
        }
        RulesSaveOutcome::Unchanged => change.visit.redirect("/rules", PageNote::done("The copy is the file already.")),
        RulesSaveOutcome::ChangedMeanwhile => {
            let note = "The file was changed since you made this copy, so nothing was saved. The lines below show how the copy \
                        differs from the file as it is now.";
            change.visit.redirect(&format!("/rules/drafts/{name}"), PageNote::refused(note))
        }
    }
}
