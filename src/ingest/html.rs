//! HTML to the text a person would see, with its blocks as lines, its cited quotes as `> ` lines, and its links.
//!
//! Written for hostile input: one pass, no recursion, bounded stack. Text a person cannot see is not in the result.

use super::{
    entity::push_decoded,
    limits::{LINKS, SHORT_CHARS, TEXT_CHARS, truncate_chars},
    style::Sight,
    tag::{Name, Token, Tokens, attributes},
};
use crate::model::mail::Link;

/// Deeper elements are read as if they were one; real pages stay far below.
const OPEN: usize = 256;
/// How far up an end tag looks for its start.
const REACH: usize = 64;
/// A page with pictures and no more words than these is made of its pictures.
const FEW_WORDS: usize = 12;
/// Levels of quotes that are drawn.
const QUOTES: usize = 8;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    pub text: String,
    pub links: Vec<Link>,
}

pub fn html_to_text(html: &str) -> Page {
    let mut tokens = Tokens::new(html);
    let mut drawn = Drawing::default();
    while let Some(token) = tokens.next() {
        match token {
            Token::Text(text) => drawn.text(text),
            Token::Start(name, _) if name.bytes() == b"title" => drawn.title = tokens.skip_raw(name),
            Token::Start(name, _) if is_raw(name) => drop(tokens.skip_raw(name)),
            Token::Start(name, rest) => drawn.start(name, rest),
            Token::End(name) => drawn.end(name),
        }
        if drawn.page.text.len() > TEXT_CHARS * 4 {
            break;
        }
    }
    drawn.close_link();
    drawn.name_the_pictures();
    drawn.page
}

struct Element {
    name: Name,
    sight: Sight,
    quote: bool,
}

#[derive(Default)]
struct Drawing<'a> {
    page: Page,
    title: &'a str,
    pictures: bool,
    open: Vec<Element>,
    /// Line breaks owed before the next word.
    breaks: usize,
    space: bool,
    bullet: bool,
    /// The last character that can be seen is a colon: asked at every quote, so kept and not looked for.
    colon: bool,
    quotes: usize,
    pre: usize,
    /// The target, and where its text starts.
    link: Option<(String, usize)>,
    scratch: String,
}

impl Drawing<'_> {
    /// A page made of pictures says what it is in its title alone.
    fn name_the_pictures(&mut self) {
        if self.pictures && self.page.text.split_whitespace().nth(FEW_WORDS).is_none() {
            let said = std::mem::take(&mut self.page.text);
            (self.breaks, self.space, self.bullet, self.quotes, self.open) = (0, false, false, 0, Vec::new());
            self.text(self.title);
            if !said.is_empty() && !self.page.text.is_empty() {
                self.page.text.push_str("\n\n");
            }
            self.page.text.push_str(&said);
        }
    }

    fn sight(&self) -> Sight {
        self.open.last().map_or_else(Sight::default, |element| element.sight)
    }

    fn text(&mut self, text: &str) {
        if text.is_empty() || !self.sight().is_visible() {
            return;
        }
        if text.contains('&') {
            let mut decoded = std::mem::take(&mut self.scratch);
            decoded.clear();
            push_decoded(&mut decoded, text);
            self.words(&decoded);
            self.scratch = decoded;
        } else {
            self.words(text);
        }
    }

    fn words(&mut self, text: &str) {
        if self.pre > 0 {
            return self.lines(text);
        }
        self.space |= text.starts_with(char::is_whitespace);
        let mut first = true;
        for word in text.split_whitespace() {
            self.space |= !first;
            first = false;
            self.word(word);
        }
        self.space |= !first && text.ends_with(char::is_whitespace);
    }

    fn lines(&mut self, text: &str) {
        let mut lines = text.split('\n');
        self.word(lines.next().unwrap_or_default().trim_end_matches('\r'));
        for line in lines {
            self.breaks = (self.breaks + 1).min(2);
            self.word(line.trim_end_matches('\r'));
        }
    }

    fn word(&mut self, word: &str) {
        if word.is_empty() {
            return;
        }
        let text = &mut self.page.text;
        if text.is_empty() || self.breaks > 0 {
            for _ in 0..if text.is_empty() { 0 } else { self.breaks } {
                text.push('\n');
            }
            text.extend(std::iter::repeat_n("> ", self.quotes));
            self.colon &= self.quotes == 0;
        } else if self.space {
            text.push(' ');
        }
        if std::mem::take(&mut self.bullet) {
            text.push_str("- ");
            self.colon = false;
        }
        (self.breaks, self.space) = (0, false);
        text.push_str(word);
        // A word of white space alone, in a <pre>, leaves what was seen before it.
        let seen = word.trim_end();
        if !seen.is_empty() {
            self.colon = seen.ends_with(':');
        }
    }

    fn start(&mut self, name: Name, rest: &str) {
        self.imply_end(name);
        let marks = Marks::read(rest);
        match name.bytes() {
            b"br" => self.breaks = (self.breaks + 1).min(2),
            b"li" => {
                self.breaks = self.breaks.max(1);
                self.bullet = true;
            }
            b"td" | b"th" => self.space = true,
            b"pre" => self.pre += 1,
            b"a" => self.open_link(&marks),
            b"img" => self.pictures = true,
            _ => {}
        }
        self.breaks = self.breaks.max(gap(name));
        if is_void(name) || self.open.len() >= OPEN {
            return;
        }
        let mut sight = self.sight();
        if !marks.style.is_empty() {
            sight = sight.under(marks.style);
        }
        if marks.hidden {
            sight = sight.hide();
        }
        let quote = name.bytes() == b"blockquote" && self.quotes < QUOTES && (marks.cited || self.colon);
        self.quotes += usize::from(quote);
        self.open.push(Element { name, sight, quote });
    }

    fn end(&mut self, name: Name) {
        if name.bytes() == b"a" {
            self.close_link();
        }
        // An end tag without a start still breaks the line, as `</p>` does in a browser.
        self.breaks = self.breaks.max(gap(name));
        let Some(from_top) = self.open.iter().rev().take(REACH).position(|element| element.name == name) else {
            return;
        };
        self.pop(from_top + 1);
    }

    fn pop(&mut self, count: usize) {
        for _ in 0..count {
            if let Some(element) = self.open.pop() {
                self.quotes -= usize::from(element.quote).min(self.quotes);
                self.pre -= usize::from(element.name.bytes() == b"pre").min(self.pre);
            }
        }
    }

    /// A block ends an open paragraph, an item the item before: otherwise a hidden one would hide all that follows.
    fn imply_end(&mut self, name: Name) {
        let Some(top) = self.open.last().map(|element| element.name) else { return };
        let ends = match top.bytes() {
            b"p" => gap(name) > 0,
            b"li" | b"td" | b"th" | b"tr" | b"option" => top == name,
            _ => false,
        };
        if ends {
            self.pop(1);
        }
    }

    fn open_link(&mut self, marks: &Marks<'_>) {
        self.close_link();
        if !marks.href.is_empty() && self.sight().is_visible() && self.page.links.len() < LINKS {
            let mut href = String::new();
            push_decoded(&mut href, marks.href.trim());
            self.link = Some((truncate_chars(href, SHORT_CHARS).0, self.page.text.len()));
        }
    }

    fn close_link(&mut self) {
        let Some((href, start)) = self.link.take() else { return };
        let text = self.page.text.get(start..).unwrap_or_default().trim().to_owned();
        self.page.links.push(Link { text: truncate_chars(text, SHORT_CHARS).0, href });
    }
}

/// The attributes that matter here.
#[derive(Default)]
struct Marks<'a> {
    style: &'a str,
    href: &'a str,
    hidden: bool,
    /// A mail program marked it as a quote of an earlier mail.
    cited: bool,
}

impl<'a> Marks<'a> {
    fn read(rest: &'a str) -> Marks<'a> {
        let mut marks = Marks::default();
        if rest.is_empty() {
            return marks;
        }
        for (name, value) in attributes(rest) {
            match name.as_bytes().first().map_or(0, u8::to_ascii_lowercase) {
                b's' if name.eq_ignore_ascii_case("style") => marks.style = value,
                b'h' if name.eq_ignore_ascii_case("href") => marks.href = value,
                b'h' if name.eq_ignore_ascii_case("hidden") => marks.hidden = true,
                b't' if name.eq_ignore_ascii_case("type") => marks.cited |= value.eq_ignore_ascii_case("cite"),
                b'c' if name.eq_ignore_ascii_case("class") => {
                    marks.cited |= value.contains("quote") || value.contains("cite")
                }
                _ => {}
            }
        }
        marks
    }
}

/// Line breaks around an element: two are an empty line.
fn gap(name: Name) -> usize {
    match name.bytes() {
        b"p" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" | b"ul" | b"ol" | b"table" | b"blockquote" | b"pre"
        | b"dl" | b"hr" => 2,
        b"div" | b"tr" | b"li" | b"center" | b"section" | b"article" | b"header" | b"footer" | b"form"
        | b"fieldset" | b"address" | b"dt" | b"dd" | b"caption" | b"body" | b"main" | b"nav" | b"aside" | b"figure"
        | b"legend" => 1,
        _ => 0,
    }
}

fn is_raw(name: Name) -> bool {
    matches!(name.bytes(), b"script" | b"style" | b"template" | b"xml" | b"svg")
}

fn is_void(name: Name) -> bool {
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
