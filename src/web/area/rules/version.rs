//! One version of the rules: what it changed, why, and the way back to it.

use axum::extract::Path;
use maud::{Markup, html};

use super::{author, diff::diff_block};
use crate::{
    app::{NotFound, RulesVersionDetail},
    nightly::TestedEdit,
    web::{
        area::Area,
        page::{PageAnswer, PageChange, PageFailure, PageNote, Visit, shown},
    },
    wording::description::format_timestamp,
};

/// Shows a version.
pub(super) async fn show(visit: Visit, Path(number): Path<i64>) -> PageAnswer {
    let rules = visit.app().rules();
    let versions = rules.history().await?;
    let missing = || anyhow::Error::from(NotFound(format!("there is no version {number} any more")));
    let version = versions.iter().find(|version| version.row.version == number).ok_or_else(missing)?;
    let is_oldest = versions.last().is_some_and(|oldest| oldest.row.version == number);
    let diff = rules.diff_of_version(number).await?;
    let zone = visit.app().config.me.time_zone;
    let title = format!("Version {number} of the rules");
    let body = html! {
        p.crumbs { a href="/rules" { "Rules" } }
        h1 { (title) @if version.current { " " span.tag { "in force" } } }
        p.muted { "Made " (format_timestamp(version.row.at, zone)) " by " (author(version.row.who)) ": " (shown(&version.row.why)) }
        (edits_of(version))
        h2 { "What it changed" }
        @if is_oldest {
            p.muted { "It is the oldest version that is kept, so there is nothing to compare it with." }
        } @else {
            (diff_block(&diff, "What the version changed"))
        }
        h2 { "Since then" }
        (diff_block(&rules.diff(Some(number)).await?, "What changed since the version"))
        h2 { "Going back" }
        (way_back(&visit, version)?)
    };
    visit.page(Area::Rules, &title, &body).await
}

/// Lists what the nightly job or an approval changed, with the reason and the test.
fn edits_of(version: &RulesVersionDetail) -> Markup {
    let edits = version.row.edits.get("edits").cloned().unwrap_or_default();
    let edits: Vec<TestedEdit> = serde_json::from_value(edits).unwrap_or_default();
    html! {
        @if !edits.is_empty() {
            ul.findings {
                @for tested in &edits {
                    li {
                        strong { (shown(&tested.words)) }
                        p.muted { "Because " (shown(tested.edit.why())) ". Tested: " (tested.trial.to_string()) "." }
                    }
                }
            }
        }
    }
}

fn way_back(visit: &Visit, version: &RulesVersionDetail) -> Result<Markup, PageFailure> {
    let number = version.row.version;
    if version.current {
        return Ok(html! { p.muted { "This version is in force." } });
    }
    let seen = visit.app().rules().fingerprint()?;
    let roll_back = html! { button type="submit" { "Go back to what was learned here" } };
    Ok(html! {
        p {
            "Going back restores what was learned, as it was in this version; what you wrote yourself stays. What is undone "
            "is learned again only from new corrections."
        }
        div.actions {
            (visit.form(&format!("/rules/versions/{number}/rollback"), &seen, &roll_back)?)
            a.button href={ "/rules/edit?version=" (number) } { "Edit a copy with the whole text of this version" }
        }
    })
}

/// Goes back to what was learned in a version.
pub(super) async fn roll_back(Path(number): Path<i64>, change: PageChange) -> PageAnswer {
    let rules = change.visit.app().rules();
    let page = format!("/rules/versions/{number}");
    if rules.fingerprint()? != change.form.seen() {
        let note = "The rules were changed since this page was shown, so nothing was done. Look again.";
        return change.visit.redirect(&page, PageNote::refused(note));
    }
    match rules.roll_back(Some(number)).await {
        Ok(made) => {
            let note = format!("Done: version {made} is in force, with what was learned in version {number}.");
            change.visit.redirect("/rules", PageNote::done(note))
        }
        Err(error) => change.visit.redirect(&page, PageNote::refused(format!("{error:#}"))),
    }
}
