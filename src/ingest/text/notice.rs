//! What stands in a mail and is not for reading: legal notices, taglines, footers of lists and newsletters, warnings of
//! the receiving server. It is found by how a sentence begins and by what it says besides; when in doubt it is kept.
//!
//! A sentence in which the writer speaks of themselves, asks a question or names a day is never taken for one.

use std::borrow::Cow;

use super::{
    client_words::{Kind, WORDS},
    phrase_set::{Languages, PhraseIds, fold},
    segment::{Segments, starts_item},
};

/// A footer is looked for in so many of the last lines that hold something, a warning in so many of the first.
const FOOTER_LINES: usize = 40;
const BANNER_LINES: usize = 8;
/// Sentences of a legal notice that say nothing legal, in a row and with more of it behind them.
const MAX_SILENT_SENTENCES: usize = 2;
const MAX_FOOTER_WORDS: usize = 60;
const MAX_DEVICE_WORDS: usize = 14;
const MAX_ADDRESS_WORDS: usize = 15;
/// Enough of a sentence to see its first letters.
const HEAD_BYTES: usize = 20;
/// A list server's footer has at most so many lines, and an advertisement under a rule so many.
const MAX_LIST_FOOTER_LINES: usize = 8;
const MAX_ADVERT_LINES: usize = 3;
const MIN_RULE_CHARS: usize = 20;

/// Where footers are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoticePlace {
    /// At the end, as under a sender's own words.
    End,
    /// Anywhere, as in a forwarded mail that may hold several.
    Anywhere,
}

/// Returns the lines without notices and footers, and what was cut.
pub(super) fn cut_notices<'a>(lines: &[&'a str], place: NoticePlace) -> (Vec<Cow<'a, str>>, Vec<&'a str>) {
    let mut sweep = Sweep::new(lines, place);
    sweep.cut_list_footer(lines);
    sweep.cut_legal_notices();
    sweep.cut_banners();
    sweep.cut_footers();
    sweep.cut_rest_of_footer();
    sweep.segments.part(lines, &sweep.cut)
}

struct Sweep<'a> {
    segments: Segments<'a>,
    /// For each sentence, whether it begins as a notice may.
    may_start: Vec<bool>,
    /// For each sentence.
    cut: Vec<bool>,
    place: NoticePlace,
}

impl<'a> Sweep<'a> {
    fn new(lines: &[&'a str], place: NoticePlace) -> Self {
        let segments = Segments::new(lines);
        let may_start = segments.all.iter().map(|segment| may_start_notice(segments.head(segment))).collect();
        let cut = vec![false; segments.all.len()];
        Self { segments, may_start, cut, place }
    }

    fn may_start(&self, nth: usize) -> bool {
        self.may_start.get(nth).copied().unwrap_or_default()
    }

    fn mark(&mut self, nth: usize) {
        if let Some(cut) = self.cut.get_mut(nth) {
            *cut = true;
        }
    }

    fn is_cut(&self, nth: usize) -> bool {
        self.cut.get(nth).copied().unwrap_or_default()
    }

    /// A ruled line and what a list server or a mail service writes under it, at the end.
    fn cut_list_footer(&mut self, lines: &[&str]) {
        let filled =
            lines.iter().enumerate().rev().map(|(at, line)| (at, line.trim())).filter(|(_, line)| !line.is_empty());
        let Some((at, _)) = filled.take(MAX_LIST_FOOTER_LINES).find(|(_, line)| is_rule(line)) else { return };
        let under =
            lines.get(at + 1..).unwrap_or_default().iter().map(|line| fold(line)).filter(|line| !line.is_empty());
        let under: Vec<String> = under.collect();
        let of_list = under.iter().any(|line| WORDS.of(Kind::ListSign).is_inside(line, Languages::ALL));
        let advert = || {
            under.len() <= MAX_ADVERT_LINES
                && under.iter().any(|line| line.contains("http"))
                && !under.iter().any(|line| WORDS.of(Kind::Asks).is_inside(line, Languages::ALL))
        };
        if under.iter().any(|line| speaks(line, Languages::ALL)) || !(of_list || advert()) {
            return;
        }
        let first = self.segments.all.partition_point(|segment| segment.line < at);
        self.cut.get_mut(first..).unwrap_or_default().fill(true);
    }

    fn cut_legal_notices(&mut self) {
        let mut nth = 0;
        while let Some(segment) = self.segments.all.get(nth) {
            let head = || fold(trim_marks(&self.segments.text(segment)));
            let start = self.may_start(nth).then(|| WORDS.of(Kind::LegalStart).find_start(&head())).flatten();
            let Some(run) = start.and_then(|start| self.legal_run(nth, start.languages)) else {
                nth += 1;
                continue;
            };
            if run.is_legal {
                (nth..run.end).for_each(|nth| self.mark(nth));
            }
            // No later start within the run would see more of it.
            nth = run.end;
        }
    }

    /// Returns the sentences that belong to a notice which starts here; none if its first sentence is not legal.
    fn legal_run(&self, first: usize, languages: Languages) -> Option<LegalRun> {
        let mut signs = PhraseIds::default();
        let mut words = PhraseIds::default();
        let mut end = first;
        let mut paragraph = self.segments.all.get(first)?.paragraph;
        for (nth, segment) in self.segments.all.iter().enumerate().skip(first) {
            let text = fold(&self.segments.text(segment));
            let is_new = segment.paragraph != paragraph;
            let starts = WORDS.of(Kind::LegalStart).is_start(trim_marks(&text));
            if speaks(&text, languages) || (is_new && !starts) || nth - end > MAX_SILENT_SENTENCES {
                break;
            }
            let says = WORDS.of(Kind::LegalSign).collect_inside(&text, &mut signs)
                | WORDS.of(Kind::LegalWord).collect_inside(&text, &mut words);
            if says {
                end = nth + 1;
                paragraph = segment.paragraph;
            } else if nth == first || is_new || WORDS.of(Kind::Asks).is_inside(&text, languages) {
                break;
            }
        }
        (end > first).then(|| LegalRun { end, is_legal: !signs.is_empty() && signs.len() + words.len() >= 2 })
    }

    /// A server's warning above the words.
    fn cut_banners(&mut self) {
        let mut inside = None;
        for nth in 0..self.segments.all.len() {
            let Some(segment) = self.segments.all.get(nth).filter(|segment| segment.filled_above < BANNER_LINES) else {
                return;
            };
            let paragraph = segment.paragraph;
            if !self.may_start(nth) && inside.is_none_or(|(above, _)| above != paragraph) {
                continue;
            }
            let text = fold(trim_marks(&self.segments.text(segment)));
            let start = WORDS.of(Kind::Banner).find_start(&text);
            let languages = start.map(|start| start.languages).or_else(|| {
                let goes_on = |languages: &Languages| WORDS.of(Kind::BannerWord).is_inside(&text, *languages);
                inside.filter(|(above, _)| *above == paragraph).map(|(_, languages)| languages).filter(goes_on)
            });
            if let Some(languages) = languages.filter(|languages| !speaks(&text, *languages)) {
                inside = Some((paragraph, languages));
                self.mark(nth);
            }
        }
    }

    fn cut_footers(&mut self) {
        for nth in self.footer_start()..self.segments.all.len() {
            let Some(segment) = self.segments.all.get(nth) else { return };
            if self.may_start(nth) && !self.is_cut(nth) && is_footer(&self.segments.text(segment)) {
                self.mark(nth);
            }
        }
    }

    /// The first sentence of the lines in which footers are looked for.
    fn footer_start(&self) -> usize {
        let above = match self.place {
            NoticePlace::Anywhere => 0,
            NoticePlace::End => self.segments.filled_lines.saturating_sub(FOOTER_LINES),
        };
        self.segments.all.partition_point(|segment| segment.filled_above < above)
    }

    /// Links, postal addresses and rules that stand among the last lines of a footer, and a rule above it.
    fn cut_rest_of_footer(&mut self) {
        let start = self.footer_start();
        let Some(first) = (start..self.cut.len()).find(|nth| self.is_cut(*nth)) else { return };
        for nth in (start..self.cut.len()).rev() {
            let Some(segment) = self.segments.all.get(nth) else { return };
            if self.is_cut(nth) {
                continue;
            }
            let text = self.segments.text(segment);
            let is_end = nth > first && (is_footer_link(&text) || is_address(&text));
            if !(is_end || is_separator(&text)) {
                return;
            }
            self.mark(nth);
        }
    }
}

/// Returns whether a sentence begins with the letters that a notice begins with.
fn may_start_notice(text: &str) -> bool {
    let head = trim_marks(text);
    let head = head.get(..head.floor_char_boundary(HEAD_BYTES)).unwrap_or_default();
    head.starts_with(['[', '【']) || WORDS.may_start_notice(&fold(head))
}

/// Returns a sentence without marks before its first word.
fn trim_marks(text: &str) -> &str {
    text.trim_start_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '©' | '[' | '【'))
}

/// The sentences up to `end`.
struct LegalRun {
    end: usize,
    is_legal: bool,
}

/// Returns whether somebody speaks here to somebody: what no notice and no footer does.
fn speaks(folded: &str, languages: Languages) -> bool {
    folded.contains(['?', '？']) || names_day_or_writer(folded, languages)
}

fn names_day_or_writer(folded: &str, languages: Languages) -> bool {
    WORDS.of(Kind::FirstPerson).is_inside(folded, languages) || WORDS.of(Kind::When).is_inside(folded, languages)
}

fn is_footer(text: &str) -> bool {
    if starts_item(text) {
        return false;
    }
    let folded = fold(text.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '©'));
    let words = folded.split(' ').count();
    if words > MAX_FOOTER_WORDS {
        return false;
    }
    let starts_with = |kind, needs: &dyn Fn(&str, Languages) -> bool| {
        WORDS.of(kind).find_start(&folded).is_some_and(|start| {
            let (phrase, rest) = folded.split_at_checked(start.bytes).unwrap_or_default();
            // A question is part of a footer only where the list has it with its mark.
            let asks = folded.contains('?') && !phrase.ends_with('?');
            !asks && !names_day_or_writer(&folded, start.languages) && needs(rest, start.languages)
        })
    };
    starts_with(Kind::Footer, &|_, languages| WORDS.of(Kind::FooterWord).is_inside(&folded, languages))
        || starts_with(Kind::Tagline, &|_, _| true)
        || (words <= MAX_DEVICE_WORDS
            && starts_with(Kind::DeviceStart, &|rest, _| WORDS.of(Kind::Device).is_inside(rest, Languages::ALL)))
        || is_footer_line(&folded)
        || is_register_line(&folded)
}

/// Returns whether a line is nothing but links of a footer, of which one can only be that.
fn is_footer_line(folded: &str) -> bool {
    let mut links = footer_parts(folded).peekable();
    let is_link = |part: &str| WORDS.of(Kind::FooterLine).is_whole(part) || WORDS.of(Kind::FooterLink).is_whole(part);
    links.peek().is_some()
        && footer_parts(folded).all(is_link)
        && footer_parts(folded).any(|part| WORDS.of(Kind::FooterLine).is_whole(part))
}

fn is_footer_link(text: &str) -> bool {
    let folded = fold(text);
    footer_parts(&folded).next().is_some()
        && footer_parts(&folded).all(|part| WORDS.of(Kind::FooterLink).is_whole(part))
}

/// The links of a footer's line by their words, addresses left out.
fn footer_parts(folded: &str) -> impl Iterator<Item = &str> {
    let is_mark = |c: char| !c.is_alphanumeric();
    folded
        .split(['|', '•', '·', '<', '>', '[', ']'])
        .map(move |part| part.split("http").next().unwrap_or_default().trim_matches(is_mark))
        .filter(|part| !part.is_empty() && !part.starts_with("www."))
}

/// `Sitz der Gesellschaft: Hamburg, Amtsgericht Hamburg, HRB 12345`.
fn is_register_line(folded: &str) -> bool {
    WORDS.of(Kind::Register).is_start(folded)
        && WORDS.of(Kind::Register).count_inside(folded) >= 2
        && folded.contains(|c: char| c == ':' || c.is_ascii_digit())
        && !speaks(folded, Languages::ALL)
}

/// A sender's postal address, as it stands at the end of a footer.
fn is_address(text: &str) -> bool {
    let folded = fold(text);
    let has_time = folded
        .as_bytes()
        .windows(3)
        .any(|three| matches!(three, [a, b':', b] if a.is_ascii_digit() && b.is_ascii_digit()));
    folded.split(' ').count() <= MAX_ADDRESS_WORDS
        && folded.contains(|c: char| c.is_ascii_digit())
        && folded.contains([',', '|', '•', '·'])
        && !folded.contains(['?', '€', '$', '£', '₪', '%'])
        && !has_time
        && !WORDS.of(Kind::When).is_inside(&folded, Languages::ALL)
        && !WORDS.of(Kind::Asks).is_inside(&folded, Languages::ALL)
}

fn is_separator(text: &str) -> bool {
    text.chars().all(|c| matches!(c, '-' | '_' | '=' | '*' | '~' | '+' | '#' | '|' | '•' | '·' | '—' | ' '))
}

fn is_rule(line: &str) -> bool {
    line.len() >= MIN_RULE_CHARS && line.chars().all(|c| matches!(c, '_' | '-' | '='))
}

#[cfg(test)]
#[path = "notice_tests.rs"]
mod tests;
