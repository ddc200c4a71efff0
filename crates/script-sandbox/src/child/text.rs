//! Text that crosses the border: valid, and cut to size.

/// Replaces what stands for half a character in JSON as the interpreter writes it, because no other parser takes it.
///
/// The interpreter writes whole characters as they are, so an escape in that range is always half of one.
pub(super) fn replace_lone_surrogates(json: &str) -> String {
    let mut whole = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((before, after)) = rest.split_once('\\') {
        whole.push_str(before);
        let mut chars = after.chars();
        let escaped = chars.next();
        let code = after.get(1..5).filter(|_| escaped == Some('u')).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        rest = if code.is_some_and(|code| (0xd800..0xe000).contains(&code)) {
            whole.push_str("\\ufffd");
            after.get(5..).unwrap_or_default()
        } else {
            whole.push('\\');
            whole.extend(escaped);
            chars.as_str()
        };
    }
    whole.push_str(rest);
    whole
}

/// Cuts a text to at most so many bytes, between characters.
pub(super) fn cut(text: &mut String, bytes: usize) {
    text.truncate(text.floor_char_boundary(bytes));
}

#[cfg(test)]
mod tests {
    use super::{cut, replace_lone_surrogates};

    #[test]
    fn half_characters_become_the_replacement_and_nothing_else_changes() {
        let whole = |json: &str| replace_lone_surrogates(json);
        assert_eq!(whole(r#""\ud83d" and "\udfff""#), r#""\ufffd" and "\ufffd""#);
        for same in [r#""\\ud83d""#, r#""\u0041\n\"😀""#, r#""\u12"#, r#"\"#, ""] {
            assert_eq!(whole(same), same);
        }
        serde_json::from_str::<String>(&whole(r#""a\ud83d\\\ud800""#)).unwrap();
    }

    #[test]
    fn a_cut_leaves_whole_characters() {
        let mut text = "aש".to_owned();
        cut(&mut text, 2);
        assert_eq!(text, "a");
    }
}
