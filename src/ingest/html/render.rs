//! Renders HTML as the text that a person would see: blocks as lines, cited quotes as `> ` lines, and links with their
//! targets.
//!
//! Written for hostile input: one pass, no recursion, a bounded stack. Text that a person cannot see is not in the
//! result.

use super::{
    entity::push_decoded,
    token::{HtmlToken, HtmlTokeniser, TagName, attributes},
    visibility::Visibility,
};
use crate::{
    ingest::limits::{LINKS, SHORT_CHARS, TEXT_CHARS, truncate_chars},
    model::mail::Link,
};

/// Depth of open elements. Deeper ones are treated as one element; real pages stay far below.
const MAX_OPEN_ELEMENTS: usize = 256;
/// How far up the stack an end tag looks for its start tag.
const MAX_END_TAG_SEARCH: usize = 64;
/// A page with pictures and at most this many words says its message in its pictures.
const IMAGE_ONLY_WORDS: usize = 12;
/// How much of what a person does not see is kept. An order to a program stands at its beginning.
const HIDDEN_BYTES: usize = 4096;
/// How many levels of quotes are rendered.
const MAX_QUOTE_DEPTH: usize = 8;

/// The visible text of a page, and its links.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HtmlText {
    pub text: String,
    pub links: Vec<Link>,
    /// The beginning of what a person does not see.
    pub hidden_text: String,
}

/// Renders a page. Stops once the text is longer than any that is kept.
pub fn html_to_text(html: &str) -> HtmlText {
    let mut tokens = HtmlTokeniser::new(html);
    let mut drawn = HtmlRenderer::default();
    while let Some(token) = tokens.next() {
        match token {
            HtmlToken::Text(text) => drawn.push_text(text),
            HtmlToken::Start(name, _) if name.bytes() == b"title" => drawn.title = tokens.skip_raw(name),
            HtmlToken::Start(name, _) if is_raw(name) => drop(tokens.skip_raw(name)),
            HtmlToken::Start(name, rest) => drawn.start_element(name, rest),
            HtmlToken::End(name) => drawn.end_element(name),
        }
        if drawn.output.text.len() > TEXT_CHARS * 4 {
            break;
        }
    }
    drawn.close_link();
    drawn.prepend_title_if_image_only();
    drawn.output
}

/// An open element, as far as it affects the text inside it.
struct Element {
    name: TagName,
    visibility: Visibility,
    is_quote: bool,
}

/// The state of one rendering.
#[derive(Default)]
struct HtmlRenderer<'a> {
    output: HtmlText,
    title: &'a str,
    has_images: bool,
    open_elements: Vec<Element>,
    /// Line breaks to be written before the next word.
    pending_breaks: usize,
    pending_space: bool,
    pending_bullet: bool,
    /// Whether the last visible character is a colon. Needed at every quote, so it is tracked rather than searched for.
    ends_with_colon: bool,
    quote_depth: usize,
    pre_depth: usize,
    /// The target of the open link, and where its text starts in the output.
    link: Option<(String, usize)>,
    /// Buffer for decoded text, reused to save allocations.
    scratch: String,
}

impl HtmlRenderer<'_> {
    /// Puts the title in front of a page that consists of pictures: nothing else says what the page is about.
    fn prepend_title_if_image_only(&mut self) {
        if self.has_images && self.output.text.split_whitespace().nth(IMAGE_ONLY_WORDS).is_none() {
            let said = std::mem::take(&mut self.output.text);
            (self.pending_breaks, self.pending_space, self.pending_bullet, self.quote_depth, self.open_elements) =
                (0, false, false, 0, Vec::new());
            self.push_text(self.title);
            if !said.is_empty() && !self.output.text.is_empty() {
                self.output.text.push_str("\n\n");
            }
            self.output.text.push_str(&said);
        }
    }

    /// Returns the visibility of text at this point.
    fn visibility(&self) -> Visibility {
        self.open_elements.last().map_or_else(Visibility::default, |element| element.visibility)
    }

    /// Appends text if a person would see it, and keeps it apart otherwise.
    fn push_text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if !self.visibility().is_visible() {
            return self.keep_hidden_text(text);
        }
        if text.contains('&') {
            let mut decoded = std::mem::take(&mut self.scratch);
            decoded.clear();
            push_decoded(&mut decoded, text);
            self.push_words(&decoded);
            self.scratch = decoded;
        } else {
            self.push_words(text);
        }
    }

    /// Keeps the first words that a person does not see.
    fn keep_hidden_text(&mut self, text: &str) {
        let hidden = &mut self.output.hidden_text;
        if hidden.len() >= HIDDEN_BYTES || text.trim().is_empty() {
            return;
        }
        if !hidden.is_empty() {
            hidden.push('\n');
        }
        push_decoded(hidden, text.trim());
        hidden.truncate(hidden.floor_char_boundary(HIDDEN_BYTES));
    }

    /// Appends decoded text, with white space collapsed as a browser does.
    fn push_words(&mut self, text: &str) {
        if self.pre_depth > 0 {
            return self.push_preformatted(text);
        }
        self.pending_space |= text.starts_with(char::is_whitespace);
        let mut first = true;
        for word in text.split_whitespace() {
            self.pending_space |= !first;
            first = false;
            self.push_word(word);
        }
        self.pending_space |= !first && text.ends_with(char::is_whitespace);
    }

    /// Appends text of a `<pre>` element, which keeps its lines and spaces.
    fn push_preformatted(&mut self, text: &str) {
        let mut lines = text.split('\n');
        self.push_word(lines.next().unwrap_or_default().trim_end_matches('\r'));
        for line in lines {
            self.pending_breaks = (self.pending_breaks + 1).min(2);
            self.push_word(line.trim_end_matches('\r'));
        }
    }

    /// Appends a word after whatever is due before it: line breaks, quote marks, a space, a bullet.
    fn push_word(&mut self, word: &str) {
        if word.is_empty() {
            return;
        }
        let text = &mut self.output.text;
        if text.is_empty() || self.pending_breaks > 0 {
            for _ in 0..if text.is_empty() { 0 } else { self.pending_breaks } {
                text.push('\n');
            }
            text.extend(std::iter::repeat_n("> ", self.quote_depth));
            self.ends_with_colon &= self.quote_depth == 0;
        } else if self.pending_space {
            text.push(' ');
        }
        if std::mem::take(&mut self.pending_bullet) {
            text.push_str("- ");
            self.ends_with_colon = false;
        }
        (self.pending_breaks, self.pending_space) = (0, false);
        text.push_str(word);
        // A word that is only white space, as in `<pre>`, does not change what was last visible.
        let seen = word.trim_end();
        if !seen.is_empty() {
            self.ends_with_colon = seen.ends_with(':');
        }
    }

    /// Opens an element: records breaks, links and quotes, and what it hides.
    fn start_element(&mut self, name: TagName, rest: &str) {
        self.close_implied_element(name);
        let marks = TagAttributes::parse(rest);
        match name.bytes() {
            b"br" => self.pending_breaks = (self.pending_breaks + 1).min(2),
            b"li" => {
                self.pending_breaks = self.pending_breaks.max(1);
                self.pending_bullet = true;
            }
            b"td" | b"th" => self.pending_space = true,
            b"pre" => self.pre_depth += 1,
            b"a" => self.open_link(&marks),
            b"img" => self.has_images = true,
            _ => {}
        }
        self.pending_breaks = self.pending_breaks.max(line_breaks_around(name));
        if is_void(name) || self.open_elements.len() >= MAX_OPEN_ELEMENTS {
            return;
        }
        let mut sight = self.visibility();
        if !marks.style.is_empty() {
            sight = sight.with_style(marks.style);
        }
        if marks.hidden {
            sight = sight.hide();
        }
        let quote = name.bytes() == b"blockquote"
            && self.quote_depth < MAX_QUOTE_DEPTH
            && (marks.is_citation || self.ends_with_colon);
        self.quote_depth += usize::from(quote);
        self.open_elements.push(Element { name, visibility: sight, is_quote: quote });
    }

    /// Closes an element and everything that is still open inside it.
    fn end_element(&mut self, name: TagName) {
        if name.bytes() == b"a" {
            self.close_link();
        }
        // An end tag without a start still breaks the line, as `</p>` does in a browser.
        self.pending_breaks = self.pending_breaks.max(line_breaks_around(name));
        let Some(from_top) =
            self.open_elements.iter().rev().take(MAX_END_TAG_SEARCH).position(|element| element.name == name)
        else {
            return;
        };
        self.pop(from_top + 1);
    }

    /// Closes the innermost `count` elements.
    fn pop(&mut self, count: usize) {
        for _ in 0..count {
            if let Some(element) = self.open_elements.pop() {
                self.quote_depth -= usize::from(element.is_quote).min(self.quote_depth);
                self.pre_depth -= usize::from(element.name.bytes() == b"pre").min(self.pre_depth);
            }
        }
    }

    /// Closes the element that a new one ends without an end tag: a block ends a paragraph, an item the item before it.
    /// Otherwise a hidden one would hide everything that follows.
    fn close_implied_element(&mut self, name: TagName) {
        let Some(top) = self.open_elements.last().map(|element| element.name) else { return };
        let ends = match top.bytes() {
            b"p" => line_breaks_around(name) > 0,
            b"li" | b"td" | b"th" | b"tr" | b"option" => top == name,
            _ => false,
        };
        if ends {
            self.pop(1);
        }
    }

    /// Begins a link, unless it is invisible or there are too many.
    fn open_link(&mut self, marks: &TagAttributes<'_>) {
        self.close_link();
        if !marks.href.is_empty() && self.visibility().is_visible() && self.output.links.len() < LINKS {
            let mut href = String::new();
            push_decoded(&mut href, marks.href.trim());
            self.link = Some((truncate_chars(href, SHORT_CHARS).0, self.output.text.len()));
        }
    }

    /// Ends the open link and records it with its text.
    fn close_link(&mut self) {
        let Some((href, start)) = self.link.take() else { return };
        let text = self.output.text.get(start..).unwrap_or_default().trim().to_owned();
        self.output.links.push(Link { text: truncate_chars(text, SHORT_CHARS).0, href });
    }
}

/// The attributes of a tag that matter here.
#[derive(Default)]
struct TagAttributes<'a> {
    style: &'a str,
    href: &'a str,
    hidden: bool,
    /// Whether a mail program marked the element as a quote of an earlier mail.
    is_citation: bool,
}

impl<'a> TagAttributes<'a> {
    fn parse(rest: &'a str) -> TagAttributes<'a> {
        let mut marks = TagAttributes::default();
        if rest.is_empty() {
            return marks;
        }
        for (name, value) in attributes(rest) {
            match name.as_bytes().first().map_or(0, u8::to_ascii_lowercase) {
                b's' if name.eq_ignore_ascii_case("style") => marks.style = value,
                b'h' if name.eq_ignore_ascii_case("href") => marks.href = value,
                b'h' if name.eq_ignore_ascii_case("hidden") => marks.hidden = true,
                b't' if name.eq_ignore_ascii_case("type") => marks.is_citation |= value.eq_ignore_ascii_case("cite"),
                b'c' if name.eq_ignore_ascii_case("class") => {
                    marks.is_citation |= value.contains("quote") || value.contains("cite")
                }
                _ => {}
            }
        }
        marks
    }
}

/// Returns the number of line breaks around an element. Two make an empty line.
fn line_breaks_around(name: TagName) -> usize {
    match name.bytes() {
        b"p" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" | b"ul" | b"ol" | b"table" | b"blockquote" | b"pre"
        | b"dl" | b"hr" => 2,
        b"div" | b"tr" | b"li" | b"center" | b"section" | b"article" | b"header" | b"footer" | b"form"
        | b"fieldset" | b"address" | b"dt" | b"dd" | b"caption" | b"body" | b"main" | b"nav" | b"aside" | b"figure"
        | b"legend" => 1,
        _ => 0,
    }
}

/// Returns whether the content of an element is not text for a reader.
fn is_raw(name: TagName) -> bool {
    matches!(name.bytes(), b"script" | b"style" | b"template" | b"xml" | b"svg")
}

/// Returns whether an element has no end tag.
fn is_void(name: TagName) -> bool {
    matches!(
        name.bytes(),
        b"br"
            | b"img"
            | b"hr"
            | b"input"
            | b"meta"
            | b"link"
            | b"area"
            | b"base"
            | b"col"
            | b"wbr"
            | b"source"
            | b"embed"
            | b"param"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(html: &str, expected: &str) {
        assert_eq!(html_to_text(html).text, expected, "{html}");
    }

    #[test]
    fn blocks_become_lines() {
        check("<p>Dear  Dana,</p><p>see\nyou</p>", "Dear Dana,\n\nsee you");
        check("<div>a</div><div><br></div><div>b</div>", "a\n\nb");
        check("a<br>b<br><br>c", "a\nb\n\nc");
        check("<ul><li>one<li>two</ul>end", "- one\n- two\n\nend");
        check("<table><tr><td>Total</td><td>5&nbsp;&euro;</td></tr><tr><td>x</table>", "Total 5 €\nx");
        check("<b>bo</b>ld <i>it</i>", "bold it");
        check("<pre>a  b\n c</pre>", "a  b\n c");
        check("x &lt;b&gt; 1 < 2", "x <b> 1 < 2");
        check("", "");
    }

    #[test]
    fn what_nobody_sees_is_left_out() {
        check("<html><head><title>t</title><style>p{}</style></head><body>a<script>b</script>", "a");
        check("<div style='display:none'>pre<div>x</div>header</div>a", "a");
        check("<span style=\"font-size:0\">x</span>a<!-- c -->", "a");
        check("<td style='font-size:0px'><div style='font-size:13px'>shown</div></td>", "shown");
        check("<div hidden>x</div>a<p style=display:none>b<p>c", "a\n\nc");
        check("<td><span style='visibility:hidden'>x</td><td>y</td>", "y");
        check("<a style='display:none' href=h>x</a>y", "y");
    }

    #[test]
    fn a_page_of_pictures_is_named_by_its_title() {
        check("<title>Summer &amp; sale</title><img src=a><img src=b>", "Summer & sale");
        check("<title>Offers</title><img src=a><p>Unsubscribe", "Offers\n\nUnsubscribe");
        check("<title>t</title>no picture", "no picture");
        check(&format!("<title>t</title><img>{}", "word ".repeat(20)), "word ".repeat(20).trim());
    }

    #[test]
    fn cited_quotes_are_marked_and_layout_is_not() {
        check("a<blockquote type=cite>b<br>c</blockquote>d", "a\n\n> b\n> c\n\nd");
        check("On 1/1 X wrote:<br><blockquote>b</blockquote>", "On 1/1 X wrote:\n\n> b");
        check("<blockquote>layout</blockquote>", "layout");
        check(
            "<blockquote class=gmail_quote>a<blockquote class=gmail_quote>b</blockquote></blockquote>",
            "> a\n\n> > b",
        );
    }

    #[test]
    fn links_with_their_text() {
        let page =
            html_to_text("<a href=' http://a/?x=1&amp;y '>The <b>bank</b></a> <a name=n>no</a> <A HREF=u><img></A>");
        let found: Vec<_> = page.links.iter().map(|link| (link.text.as_str(), link.href.as_str())).collect();
        assert_eq!(found, [("The bank", "http://a/?x=1&y"), ("", "u")]);
    }

    #[test]
    fn hostile_pages_end_soon() {
        let start = std::time::Instant::now();
        for piece in
            ["<", "<\"", "<a href=\"", "<div>", "</div>", "<!--", "&", "<style", "<a b='<", "<blockquote type=cite>x"]
        {
            html_to_text(&piece.repeat(200_000));
        }
        assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    }
}
