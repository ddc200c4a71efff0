//! The plain form of a text, in which words are compared: lower case, single spaces, straight quotes, umlauts as two
//! letters; words told apart by a hash each; text broken to a width.

pub mod word_hash;
pub mod wrapping;

/// Lower case, single spaces, straight quotes, and umlauts as two letters, so that every spelling of a German word is one.
/// No letter gets longer or shorter: byte positions are those of [`normalise_spaces_and_quotes`].
pub fn normalise(raw: &str) -> String {
    let mut plain = normalise_spaces_and_quotes(raw);
    plain.make_ascii_lowercase();
    if plain.is_ascii() || !plain.contains(has_plain_form) {
        plain
    } else {
        plain.chars().fold(String::with_capacity(plain.len()), push_plain_form)
    }
}

fn has_plain_form(c: char) -> bool {
    c > '\u{bf}' && c < '\u{180}'
}

fn push_plain_form(mut plain: String, c: char) -> String {
    match c {
        'ä' | 'Ä' => plain.push_str("ae"),
        'ö' | 'Ö' => plain.push_str("oe"),
        'ü' | 'Ü' => plain.push_str("ue"),
        'ß' => plain.push_str("ss"),
        // The lower case of Latin letters with marks has their length, but for "İ", which is left as it is.
        c if has_plain_form(c) && c != 'İ' => plain.extend(c.to_lowercase()),
        c => plain.push(c),
    }
    plain
}

/// Single spaces and straight quotes. Byte positions in the plain form hold here too.
pub fn normalise_spaces_and_quotes(raw: &str) -> String {
    // Most sentences are one line of ASCII and need no change.
    if raw.is_ascii() && !raw.bytes().any(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b'`')) && !raw.contains("  ") {
        return raw.to_owned();
    }
    let mut tidy = String::with_capacity(raw.len());
    for c in raw.chars() {
        match c {
            '’' | '‘' | '`' | '׳' => tidy.push('\''),
            '“' | '”' | '״' | '„' | '«' | '»' => tidy.push('"'),
            c if c.is_whitespace() => {
                if !tidy.ends_with(' ') {
                    tidy.push(' ');
                }
            }
            c => tidy.push(c),
        }
    }
    tidy
}
