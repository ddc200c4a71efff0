//! `search`.

use super::{
    description::format_timestamp,
    mail::has_several_accounts,
    printer::{Printer, cell, escape_and_truncate},
    table::{Cell, Column},
};
use crate::{
    app::{App, SearchResults},
    memory::FoundDocument,
};

/// The columns of what was found. The account is left empty where there is only one.
const COLUMNS: [Column<'static>; 6] = [
    Column::fixed("where"),
    Column::text("what", 24),
    Column::text("when", 10).folding(2),
    Column::fixed("score").folding(3),
    Column::text("because", 20).folding(1),
    Column::text("account", 8).folding(4),
];

/// Searches by words and by meaning, after rebuilding the index of words if asked to.
pub(super) async fn search(app: &App, screen: Printer, text: &str, rebuild: bool, limit: usize) -> anyhow::Result<()> {
    if rebuild {
        app.search().rebuild_index().await?;
        if text.is_empty() {
            return screen.print_json_or(&serde_json::json!({ "rebuilt": true }), |screen| {
                screen.print_line("The search index was rebuilt.")
            });
        }
    }
    let SearchResults { found, trouble } = app.search().find(text, limit).await?;
    let mut names = Vec::new();
    for document in &found {
        names.push(short_name(app, &document.doc).await);
    }
    let zone = app.config.me.time_zone;
    screen.print_json_or(&found, |screen| {
        if let Some(trouble) = &trouble {
            screen.print_line(&format!("Found by words only: {}", escape_and_truncate(trouble, 200)))?;
        }
        if found.is_empty() {
            return screen.print_line("Nothing found.");
        }
        let several = has_several_accounts(names.iter().filter_map(|name| name.account.as_ref()));
        let line = |(found, name): (&FoundDocument, &DocumentName)| {
            let because: Vec<String> = found.reasons.iter().map(ToString::to_string).collect();
            let account = name.account.as_ref().filter(|_| several).map_or("", |account| account.as_str());
            vec![
                Cell::new(&name.words),
                cell(&found.title, 80),
                Cell::new(format_timestamp(found.at, zone)),
                Cell::new(format!("{:.2}", found.score)),
                cell(&because.join(", "), 80),
                Cell::new(account),
            ]
        };
        screen.print_table(&COLUMNS, found.iter().zip(&names).map(line).collect())?;
        if found.len() == limit {
            screen.print_line(&format!("the best {limit}; --limit N shows more"))?;
        }
        screen.print_line("adjutant tasks show NR · adjutant mail show NR")
    })
}

/// How a person names a document that was found, and the account that it belongs to.
struct DocumentName {
    words: String,
    account: Option<crate::model::AccountId>,
}

/// Returns the name of a document as other commands take it: "task 3" or "mail 18". A task whose number a successor has
/// is named by its id.
async fn short_name(app: &App, doc: &str) -> DocumentName {
    match doc.split_once(':') {
        Some(("task", id)) => {
            let task = app.tasks().find(id).await.ok();
            let number = task.as_ref().and_then(|task| task.number);
            let words = number.map_or_else(|| format!("task {id}"), |number| format!("task {number}"));
            DocumentName { words, account: task.map(|task| task.account) }
        }
        Some((kind, number)) => {
            let mail = match number.parse() {
                Ok(number) => app.mail().detail(crate::model::MailId(number)).await.ok(),
                Err(_) => None,
            };
            DocumentName { words: format!("{kind} {number}"), account: mail.map(|mail| mail.row.account) }
        }
        None => DocumentName { words: doc.to_owned(), account: None },
    }
}
