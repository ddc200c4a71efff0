//! References to files in a request: `@notes.txt`, `@"my notes.txt"`, `@reports/2026/may.csv`. Only found here; whether a
//! file may be read, and reading it, is up to the caller.

/// The most files of one request.
pub const MOST_FILES: usize = 10;

/// A reference to a file, with where it stands in the text in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileReference {
    pub path: String,
    pub start: usize,
    pub end: usize,
}

/// Returns the references to files in a text. An address such as `dana@work.example` is none: a reference begins a word.
pub fn find_file_references(text: &str) -> Vec<FileReference> {
    let mut found = Vec::new();
    for (start, _) in text.match_indices('@') {
        let begins_word = text.get(..start).is_none_or(|before| {
            before
                .chars()
                .next_back()
                .is_none_or(|c| c.is_whitespace() || matches!(c, '(' | '[' | ',' | ';' | ':' | '"' | '\''))
        });
        let Some(rest) = text.get(start + 1..).filter(|_| begins_word) else { continue };
        if let Some((path, length)) = read_path(rest) {
            found.push(FileReference { path, start, end: start + 1 + length });
        }
    }
    found
}

/// Returns the path at the beginning of a text, in quotes or to the end of the word, and its length with the quotes.
fn read_path(rest: &str) -> Option<(String, usize)> {
    for quote in ['"', '\''] {
        if let Some(inside) = rest.strip_prefix(quote) {
            let path = inside.get(..inside.find(quote)?)?;
            return (!path.trim().is_empty()).then(|| (path.to_owned(), path.len() + 2));
        }
    }
    let end = rest
        .find(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ')' | ']' | '"' | '?' | '!'))
        .unwrap_or(rest.len());
    let path = rest.get(..end)?.trim_end_matches(['.', ':', '\'']);
    let is_path = path.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '~'));
    is_path.then(|| (path.to_owned(), path.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_found_and_addresses_are_not() {
        for (text, paths) in [
            ("refactor @src/file.cs to use interfaces", &["src/file.cs"][..]),
            ("read @notes.txt, @\"my notes.txt\" and @a/b.", &["notes.txt", "my notes.txt", "a/b"]),
            ("write to dana@work.example", &[]),
            ("meet @ 5", &[]),
            ("סכם את @דוח.txt", &["דוח.txt"]),
            ("see (@a.txt)?", &["a.txt"]),
            ("@../../etc/passwd", &["../../etc/passwd"]),
            ("@\"", &[]),
        ] {
            let references = find_file_references(text);
            let found: Vec<&str> = references.iter().map(|reference| reference.path.as_str()).collect();
            assert_eq!(found, paths, "{text}");
            for reference in &references {
                assert!(text.get(reference.start..reference.end).unwrap().starts_with('@'));
            }
        }
    }
}
