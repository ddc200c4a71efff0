//! Lists of tasks by page, and tasks by their titles. The time of a query does not grow with the number of tasks, apart
//! from counting them.
//!
//! `task_listing` is kept by triggers. `task_title` and `task_word` are written with the task, because the words of a
//! title are folded by [`crate::document::title`].

use std::collections::BTreeSet;

use rusqlite::Connection;

use super::{COLUMNS, task_row};
use crate::{
    document::{
        query_words,
        title::{TitleMatch, TitleQuery, similarity_above, title_key, title_words},
    },
    model::{Instant, ListedStatus, TaskId, TaskRow, TaskView, UserId},
    store::{
        error::Result,
        session::Session,
        table::{execute, parse_column, query_optional, query_readable, setting, setting::SettingReader},
    },
};

/// The setting with the edition of the words of titles.
const EDITION: &str = "title_edition";
/// The edition of this program. It must be increased when titles are folded differently.
const NEWEST_EDITION: &str = "1";
/// A word that is in fewer titles is rare: every task with it is a candidate.
const RARE_TITLES: usize = 200;
/// How many words of a query are looked up. The longest come first.
const MOST_LOOKED_UP_WORDS: usize = 6;
/// How many different words of titles are compared with a misspelt one.
const MOST_SIMILAR_WORDS: usize = 3000;
/// How many letters a misspelt word has in common with the right one at its beginning. Nobody looks for a word by a wrong
/// beginning, and the index finds it only by its beginning.
const SHARED_LETTERS: usize = 1;
/// From this share of equal letters on, a word may be the misspelt one.
const LEAST_WORD_SIMILARITY: f64 = 0.6;

/// The tasks of a page, and how many there are on all pages.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedTasks {
    pub rows: Vec<TaskRow>,
    pub total: u64,
}

/// Stores the title of a task for its owner. Replaces the one before.
pub(in crate::store) fn index_title(connection: &Connection, task_id: TaskId, title: &str) -> Result<()> {
    let id = task_id.to_string();
    let sql = "INSERT INTO task_title (task_id, user_id, title_key) SELECT task_id, user_id, ?2 FROM task_owner WHERE task_id = ?1
               ON CONFLICT DO UPDATE SET title_key = excluded.title_key WHERE title_key <> excluded.title_key";
    if execute(connection, sql, (&id, title_key(title)), "storing a title")? == 0 {
        return Ok(());
    }
    execute(connection, "DELETE FROM task_word WHERE task_id = ?1", [&id], "forgetting a title")?;
    let sql =
        "INSERT INTO task_word (user_id, word, task_id) SELECT user_id, ?2, task_id FROM task_title WHERE task_id = ?1
               ON CONFLICT DO NOTHING";
    title_words(title).iter().try_for_each(|word| execute(connection, sql, (&id, word), "storing a word").map(drop))
}

/// Stores the titles of all tasks, which an older program has opened.
pub(in crate::store) fn index_all_titles(session: &Session) -> Result<()> {
    let sql = "SELECT task_id, objective FROM tasks";
    let titles: Vec<(TaskId, String)> =
        query_readable(session, sql, [], "reading titles", |row| Ok((parse_column(row, 0)?, row.get(1)?)))?;
    titles.iter().try_for_each(|(task_id, title)| index_title(session, *task_id, title))?;
    setting::set(session, EDITION, NEWEST_EDITION)
}

/// The SQL condition on `l` that a task is in a list of this status.
const fn state_condition(status: ListedStatus) -> &'static str {
    match status {
        ListedStatus::Pending => "l.state = 'pending'",
        ListedStatus::Completed => "l.state = 'completed'",
        // There is no other state, and naming both would make SQLite sort the whole list.
        ListedStatus::All => "TRUE",
    }
}

/// Queries of the tasks of one user, as a conversation lists and finds them.
#[derive(Clone, Copy)]
pub struct TaskListReader<'a>(pub(in crate::store) &'a Connection);

impl TaskListReader<'_> {
    /// Returns whether the titles were stored by a program that folds words as this one does.
    pub fn are_titles_indexed(self) -> Result<bool> {
        Ok(SettingReader(self.0).get(EDITION)?.is_some_and(|edition| edition == NEWEST_EDITION))
    }

    /// Returns the task of a user with this number. A number belongs to the newest of reopened tasks.
    pub fn of_user_by_number(self, user: &UserId, number: i64) -> Result<Option<TaskRow>> {
        let sql = format!("{COLUMNS} WHERE o.user_id = ?1 AND o.number = ?2");
        query_optional(self.0, &sql, (user.as_str(), number), "reading a task", task_row)
    }

    /// Returns a page of a user's tasks: first what is pending, the most urgent first. With `awake_at`, what is snoozed
    /// at that time is left out.
    pub fn listed(
        self,
        user: &UserId,
        status: ListedStatus,
        awake_at: Option<Instant>,
        (skip, limit): (usize, usize),
    ) -> Result<ListedTasks> {
        let condition = state_condition(status);
        let awake = "(?2 IS NULL OR l.snooze_until IS NULL OR l.snooze_until <= ?2 OR l.state = 'completed')";
        let at = awake_at.map(|at| at.to_string());
        let total = self.count_listed(user, status, awake_at)?;
        let sql = format!(
            "SELECT l.task_id FROM task_listing l WHERE l.user_id = ?1 AND {condition} AND {awake}
             ORDER BY l.state DESC, l.rank DESC, l.no_due, l.due_at, l.task_id LIMIT ?3 OFFSET ?4"
        );
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let values = (user.as_str(), &at, count(limit), count(skip));
        let ids = query_readable(self.0, &sql, values, "listing tasks", |row| row.get(0))?;
        Ok(ListedTasks { rows: self.rows(&ids)?, total })
    }

    /// Returns how many tasks all pages of [`Self::listed`] have.
    fn count_listed(self, user: &UserId, status: ListedStatus, awake_at: Option<Instant>) -> Result<u64> {
        let counts = self.counts(user, awake_at.unwrap_or(Instant::LATEST))?;
        Ok(match status {
            ListedStatus::Pending => counts.of(TaskView::Open),
            ListedStatus::Completed => counts.done,
            ListedStatus::All => counts.of(TaskView::Open) + counts.done,
        })
    }

    /// Returns the tasks of a user whose titles the query names best: equal ones, or else those that contain it, or else
    /// similar ones. Snoozed tasks are among them.
    pub fn find_by_title(
        self,
        user: &UserId,
        query: &str,
        status: ListedStatus,
        limit: usize,
    ) -> Result<Vec<(TaskRow, TitleMatch)>> {
        let query = TitleQuery::new(query);
        let found = self.best_titles(&query, self.titles_with_words(user, query.key(), status)?);
        let found = if found.is_empty() {
            self.best_titles(&query, self.titles_with_similar_words(user, query.key(), status)?)
        } else {
            found
        };
        let found: Vec<(String, TitleMatch)> = found.into_iter().take(limit).collect();
        let ids: Vec<String> = found.iter().map(|(id, _)| id.clone()).collect();
        let rows = self.rows(&ids)?.into_iter();
        Ok(rows
            .filter_map(|row| {
                let id = row.task.task_id.to_string();
                let (_, how) = found.iter().find(|(known, _)| *known == id)?;
                Some((row, *how))
            })
            .collect())
    }

    /// Returns pending tasks of a user that have one of these words in their title, the oldest first.
    pub fn with_any_word(self, user: &UserId, words: &[String], limit: usize) -> Result<Vec<TaskRow>> {
        let mut ids = BTreeSet::new();
        for word in words.iter().take(MOST_LOOKED_UP_WORDS) {
            let sql = "SELECT w.task_id FROM task_word w JOIN task_listing l USING (task_id)
                       WHERE w.user_id = ?1 AND w.word = ?2 AND l.state = 'pending' ORDER BY w.task_id LIMIT ?3";
            let values = (user.as_str(), word, i64::try_from(limit).unwrap_or(i64::MAX));
            let found = query_readable(self.0, sql, values, "finding a word", |row| row.get::<_, String>(0))?;
            ids.extend(found);
        }
        self.rows(&ids.into_iter().take(limit).collect::<Vec<_>>())
    }

    /// Returns the tasks with these ids, in their order.
    pub(super) fn rows(self, ids: &[String]) -> Result<Vec<TaskRow>> {
        let sql = format!("{COLUMNS} WHERE t.task_id = ?1");
        let row = |id: &String| query_readable(self.0, &sql, [id], "reading a task", task_row);
        Ok(ids.iter().map(row).collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    }

    /// Returns those titles that the query names best, the most similar first, then the oldest.
    fn best_titles(self, query: &TitleQuery, titles: BTreeSet<(String, String)>) -> Vec<(String, TitleMatch)> {
        let matched = titles.into_iter().filter_map(|(id, title)| Some((id, query.match_title(&title)?)));
        let mut matched: Vec<(String, TitleMatch)> = matched.collect();
        matched.sort_by(|(_, one), (_, other)| other.compare(*one));
        if let Some((_, best)) = matched.first().cloned() {
            matched.retain(|(_, how)| how.is_same_kind(best));
        }
        matched
    }

    /// Returns the titles that are equal to the query or may contain it, as (task, title).
    fn titles_with_words(self, user: &UserId, query: &str, status: ListedStatus) -> Result<BTreeSet<(String, String)>> {
        let condition = state_condition(status);
        let sql = format!(
            "SELECT t.task_id, t.title_key FROM task_title t JOIN task_listing l USING (task_id)
             WHERE t.user_id = ?1 AND t.title_key = ?2 AND {condition} LIMIT {RARE_TITLES}"
        );
        let values = (user.as_str(), query);
        let mut found: BTreeSet<(String, String)> =
            query_readable(self.0, &sql, values, "finding a title", |row| Ok((row.get(0)?, row.get(1)?)))?
                .into_iter()
                .collect();
        if !found.is_empty() {
            return Ok(found);
        }
        // Every title that contains the query has all of its words, so the tasks of one rare word are enough.
        let mut common = BTreeSet::new();
        for word in query_words(query).iter().take(MOST_LOOKED_UP_WORDS) {
            let with_word = self.titles_with_prefix(user, &lookup_forms(word), condition)?;
            if with_word.len() < RARE_TITLES {
                return Ok(with_word);
            }
            common.extend(with_word);
        }
        found.extend(common);
        Ok(found)
    }

    /// Returns titles that have a word with one of these beginnings.
    fn titles_with_prefix(
        self,
        user: &UserId,
        beginnings: &[String],
        condition: &str,
    ) -> Result<BTreeSet<(String, String)>> {
        let sql = format!(
            "SELECT t.task_id, t.title_key FROM task_word w JOIN task_title t USING (task_id) JOIN task_listing l USING (task_id)
             WHERE w.user_id = ?1 AND w.word >= ?2 AND w.word < ?3 AND {condition} LIMIT {RARE_TITLES}"
        );
        let mut found = BTreeSet::new();
        for beginning in beginnings {
            let end = format!("{beginning}\u{10ffff}");
            let values = (user.as_str(), beginning, end);
            let rows = query_readable(self.0, &sql, values, "finding a word", |row| Ok((row.get(0)?, row.get(1)?)))?;
            found.extend(rows);
        }
        Ok(found)
    }

    /// Returns titles that have a word like one of the query.
    fn titles_with_similar_words(
        self,
        user: &UserId,
        query: &str,
        status: ListedStatus,
    ) -> Result<BTreeSet<(String, String)>> {
        let condition = state_condition(status);
        let is_similar = |one: &str, other: &str| similarity_above(one, other, LEAST_WORD_SIMILARITY).is_some();
        let mut found = BTreeSet::new();
        for word in query_words(query).iter().take(MOST_LOOKED_UP_WORDS) {
            // Another number is another thing, not a typing mistake.
            for form in lookup_forms(word).into_iter().filter(|form| !form.chars().all(char::is_numeric)) {
                let beginning: String = form.chars().take(SHARED_LETTERS).collect();
                let sql = format!(
                    "SELECT DISTINCT word FROM task_word WHERE user_id = ?1 AND word >= ?2 AND word < ?3 LIMIT {MOST_SIMILAR_WORDS}"
                );
                let end = format!("{beginning}\u{10ffff}");
                let values = (user.as_str(), &beginning, end);
                let words: Vec<String> = query_readable(self.0, &sql, values, "finding words", |row| row.get(0))?;
                let similar: Vec<String> =
                    words.into_iter().filter(|known| is_similar(&form, known)).take(RARE_TITLES).collect();
                found.extend(self.titles_with_prefix(user, &similar, condition)?);
                if found.len() >= RARE_TITLES {
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }
}

/// Returns the forms under which a word of a query is looked up: the word, and a Hebrew word without its prefixes.
fn lookup_forms(word: &str) -> Vec<String> {
    title_words(word)
}
