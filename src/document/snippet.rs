//! Snippets: the pieces of a task or a mail of which vectors are computed.

use crate::model::{Mail, Task};

/// The longest snippet. The vector of a text is the mean of its words, so in a long text no word counts any more.
const MAX_CHARS: usize = 800;

/// Returns the snippets of a task: what is to be done, and what is known about it.
pub fn of_task(task: &Task) -> Vec<String> {
    let known = [task.context.person.as_deref(), task.context.description.as_deref()];
    let known = known.into_iter().flatten().filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("\n");
    [task.objective.as_str(), &known]
        .map(truncate_snippet)
        .into_iter()
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Returns the one snippet of a mail: its subject and the beginning of its text.
pub fn of_mail(mail: &Mail) -> Vec<String> {
    let whole = format!("{}\n{}", mail.subject.trim(), truncate_snippet(&mail.text));
    vec![truncate_snippet(&whole).to_owned()]
}

fn truncate_snippet(text: &str) -> &str {
    truncate_chars(text.trim(), MAX_CHARS)
}

/// Returns the first `most` characters of a text.
pub fn truncate_chars(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    // In ASCII, bytes are characters.
    if let Some((first, _)) = text.split_at_checked(most).filter(|(first, _)| first.is_ascii()) {
        return first;
    }
    let end = text.char_indices().nth(most).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or_default()
}
