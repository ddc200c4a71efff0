//! Counts the letters and the small words of a text, and decides from the counts.

use std::sync::LazyLock;

use hashbrown::HashMap;

use super::Language;
use crate::plain_text::word_hash::tokenise_by;
use crate::reading::{
    lexicon::{Lexicon, WordList},
    sentence::text::normalise,
};

/// What a text shows of each language. The counts of sentences add up to those of their mail.
#[derive(Debug, Clone, Default)]
pub(in crate::reading) struct LanguageScores {
    /// By the number of the language: words of its own count one, shared ones less.
    by_language: [f32; Language::ALL.len()],
    letters: u32,
    latin_letters: u32,
    words: u32,
}

/// What a word of several languages counts for all of them together.
const SHARED_WORD: f32 = 1.0;
/// Under this count nothing is known.
const LEAST_EVIDENCE: f32 = 0.9;
/// A language that is not read has to be plain: what is taken for it is not understood.
const LEAST_EVIDENCE_UNREAD: f32 = 2.0;
/// So much more of it than of a language that is read.
const MARGIN_UNREAD: f32 = 1.5;
/// So much of both languages a sentence shows that is in two.
const LEAST_EVIDENCE_MIXED: f32 = 2.0;
/// What the other sentences of a mail say about one of them.
const CONTEXT: f32 = 0.75;
/// So many words without a known one are no English that is merely short of small words.
const FEWEST_UNDETERMINED_WORDS: u32 = 20;
/// A language that is not read has at least one of its own small words among so many.
const WORDS_PER_UNREAD_WORD: f32 = 8.0;
/// Words shorter than these are pieces of something else.
const LETTERS_PER_WORD: f32 = 3.5;
/// In every language that is known, one word in three or four is a small one.
const WORDS_PER_SMALL_WORD: f32 = 12.0;

impl LanguageScores {
    /// Whether a word is one of the small words, or verbs, by which languages are told apart.
    pub(in crate::reading) fn is_function_word(plain: &str) -> bool {
        TABLE.words.contains_key(plain)
    }

    /// The scores of a text in plain letters.
    pub(in crate::reading) fn of(plain: &str) -> Self {
        let mut scores = Self::default();
        if plain.is_ascii() {
            scores.letters = plain.bytes().filter(u8::is_ascii_alphabetic).count() as u32;
            scores.latin_letters = scores.letters;
        } else {
            plain.chars().filter(|c| c.is_alphabetic()).for_each(|letter| scores.count_letter(letter));
        }
        let table = &*TABLE;
        for token in tokenise_by(plain, |byte| byte.is_ascii_alphabetic() || *byte == b'\'' || *byte >= 0x80) {
            scores.words += 1;
            if let Some(languages) = table.words.get(plain.get(token.start..token.end).unwrap_or_default()) {
                scores.count_word(*languages);
            }
        }
        scores
    }

    pub(in crate::reading) fn add(&mut self, other: &Self) {
        for (sum, score) in self.by_language.iter_mut().zip(other.by_language) {
            *sum += score;
        }
        self.letters += other.letters;
        self.latin_letters += other.latin_letters;
        self.words += other.words;
    }

    fn count_letter(&mut self, letter: char) {
        self.letters += 1;
        match language_of_letter(letter) {
            Some(language) => self.add_to(language, 1.0),
            None => self.latin_letters += 1,
        }
        TABLE
            .letters
            .iter()
            .filter(|(known, _)| *known == letter)
            .for_each(|(_, language)| self.add_to(*language, 0.5));
    }

    fn count_word(&mut self, languages: u32) {
        let weight = match languages.count_ones() {
            1 => 1.0,
            several => SHARED_WORD / several as f32,
        };
        for language in Language::ALL.iter().copied().filter(|language| languages & bit(*language) != 0) {
            self.add_to(language, weight);
        }
    }

    fn add_to(&mut self, language: Language, weight: f32) {
        if let Some(score) = self.by_language.get_mut(language as usize) {
            *score += weight;
        }
    }

    fn get(&self, language: Language) -> f32 {
        self.by_language.get(language as usize).copied().unwrap_or(0.0)
    }

    /// The language of a whole text. Where nothing speaks for any, it is taken for English, as most of what is short is.
    pub(in crate::reading) fn decide(&self) -> Language {
        if let Some(language) = self.decide_by_letters() {
            return language;
        }
        let (german, english) = (self.get(Language::German), self.get(Language::English));
        let read = if german >= LEAST_EVIDENCE && german > english { Language::German } else { Language::English };
        let unread = Language::ALL.iter().copied().filter(|language| !language.is_read());
        let unread = unread.max_by(|a, b| self.get(*a).total_cmp(&self.get(*b))).unwrap_or(read);
        let (score, words) = (self.get(unread), self.words as f32);
        let is_dense = score * WORDS_PER_UNREAD_WORD >= words;
        if score >= LEAST_EVIDENCE_UNREAD && is_dense && score > self.get(read) * MARGIN_UNREAD {
            return unread;
        }
        let best = self.by_language.iter().copied().fold(0.0, f32::max);
        if self.words >= FEWEST_UNDETERMINED_WORDS
            && best * WORDS_PER_SMALL_WORD < words
            && self.letters as f32 >= words * LETTERS_PER_WORD
        {
            return Language::Undetermined;
        }
        read
    }

    /// The language of a sentence of a mail in that language.
    pub(in crate::reading) fn decide_in(&self, mail: Language) -> Language {
        if let Some(language) = self.decide_by_letters() {
            return language;
        }
        let (german, english) = (self.get(Language::German), self.get(Language::English));
        let (by_german, by_english) = (german - english, english - german);
        match mail {
            Language::German if by_english > CONTEXT && english >= LEAST_EVIDENCE => Language::English,
            Language::German => Language::German,
            Language::English | Language::Hebrew if by_german > CONTEXT && german >= LEAST_EVIDENCE => Language::German,
            Language::English | Language::Hebrew => Language::English,
            other => {
                let (read, score) =
                    if by_german > 0.0 { (Language::German, german) } else { (Language::English, english) };
                let plain = score >= LEAST_EVIDENCE_UNREAD && score > self.get(other) * MARGIN_UNREAD;
                if plain { read } else { other }
            }
        }
    }

    /// Whether a sentence may be in English and in German.
    pub(in crate::reading) fn is_mixed(&self) -> bool {
        self.get(Language::English) >= LEAST_EVIDENCE_MIXED && self.get(Language::German) >= LEAST_EVIDENCE_MIXED
    }

    /// Which of English and German a part of a sentence plainly is.
    pub(in crate::reading) fn decide_plainly(&self) -> Option<Language> {
        let (german, english) = (self.get(Language::German), self.get(Language::English));
        let is_plain = |one: f32, other: f32| one >= LEAST_EVIDENCE_MIXED && one >= other * 2.0 + 1.0;
        match (is_plain(german, english), is_plain(english, german)) {
            (true, _) => Some(Language::German),
            (_, true) => Some(Language::English),
            _ => None,
        }
    }

    /// The language whose letters most of the letters are, when they are not Latin.
    fn decide_by_letters(&self) -> Option<Language> {
        let by_letters = [
            Language::Hebrew,
            Language::Russian,
            Language::Ukrainian,
            Language::Arabic,
            Language::Japanese,
            Language::Chinese,
            Language::Korean,
            Language::Greek,
        ];
        let foreign = self.letters - self.latin_letters;
        if foreign <= self.latin_letters {
            return None;
        }
        // Japanese is written with Chinese letters too, Ukrainian with nearly all Russian ones.
        let (mostly, few) = (self.get(Language::Chinese), self.get(Language::Japanese));
        if few > 0.0 && few * 8.0 > mostly {
            return Some(Language::Japanese).filter(|_| few + mostly > self.get(Language::Hebrew));
        }
        if self.get(Language::Ukrainian) * 40.0 > self.get(Language::Russian) && self.get(Language::Ukrainian) > 0.0 {
            return Some(Language::Ukrainian);
        }
        by_letters.into_iter().max_by(|a, b| self.get(*a).total_cmp(&self.get(*b)))
    }
}

/// The language that a letter of another script than Latin is counted for.
fn language_of_letter(letter: char) -> Option<Language> {
    match letter {
        'א'..='ת' => Some(Language::Hebrew),
        'і' | 'ї' | 'є' | 'ґ' | 'І' | 'Ї' | 'Є' | 'Ґ' => Some(Language::Ukrainian),
        '\u{400}'..='\u{4ff}' => Some(Language::Russian),
        '\u{600}'..='\u{6ff}' | '\u{750}'..='\u{77f}' => Some(Language::Arabic),
        '\u{3040}'..='\u{30ff}' => Some(Language::Japanese),
        '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' => Some(Language::Chinese),
        '\u{ac00}'..='\u{d7a3}' => Some(Language::Korean),
        '\u{370}'..='\u{3ff}' => Some(Language::Greek),
        _ => None,
    }
}

fn bit(language: Language) -> u32 {
    1 << language as u32
}

pub(in crate::reading) const FUNCTION_WORDS: &str = include_str!("function_words.txt");

struct WordTable {
    /// Each word with the languages that have it.
    words: HashMap<String, u32>,
    letters: Vec<(char, Language)>,
}

impl WordTable {
    fn add_word(&mut self, word: String, language: Language) {
        *self.words.entry(word).or_default() |= bit(language);
    }
}

static TABLE: LazyLock<WordTable> = LazyLock::new(|| {
    let mut table = WordTable { words: HashMap::new(), letters: Vec::new() };
    for line in FUNCTION_WORDS.lines().filter(|line| !line.starts_with('#')) {
        if let Some((language, words)) = parse_words(line) {
            words.split(' ').for_each(|word| table.add_word(normalise(word), language));
        } else if let Some((language, letters)) = parse_letters(line) {
            table.letters.extend(letters.split(' ').filter_map(|one| one.chars().next()).map(|one| (one, language)));
        }
    }
    // A short order has no small words, but its verb.
    let english = Lexicon::of(Language::English).words(WordList::Verbs).iter().filter(|verb| verb.is_ascii());
    english.for_each(|verb| table.add_word(verb.clone(), Language::English));
    let german = Lexicon::of(Language::German).german_verbs().forms();
    german.for_each(|form| table.add_word(form.to_owned(), Language::German));
    table
});

fn parse_words(line: &str) -> Option<(Language, &str)> {
    let (code, words) = line.split_once(": ")?;
    Some((code.parse().ok()?, words))
}

fn parse_letters(line: &str) -> Option<(Language, &str)> {
    let (code, letters) = line.strip_prefix('[')?.split_once("] ")?;
    Some((code.parse().ok()?, letters))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::language::detect_language;

    #[test]
    fn every_line_of_the_file_is_understood() {
        let lines = FUNCTION_WORDS.lines().filter(|line| !line.starts_with('#'));
        for line in lines {
            assert!(parse_words(line).is_some() || parse_letters(line).is_some(), "{line}");
        }
    }

    #[test]
    fn a_language_is_known_by_its_small_words_and_letters() {
        for (text, language) in [
            ("Could you send me the report?", "en"),
            ("Ok", "en"),
            ("", "en"),
            ("Koenntest du mir bitte den Bericht schicken?", "de"),
            ("Danke!", "de"),
            ("Bitte um Rückruf", "de"),
            ("תוכלי לשלוח לי את הדוח?", "he"),
            ("Bonjour, pouvez-vous m'envoyer le rapport avant vendredi ? Merci", "fr"),
            ("Hola, ¿puedes enviarme el informe antes del viernes? Gracias", "es"),
            ("Buongiorno, può inviarmi la relazione entro venerdì? Grazie", "it"),
            ("Olá, você pode me enviar o relatório até sexta-feira? Obrigado", "pt"),
            ("Hallo, kun je mij het rapport voor vrijdag sturen? Alvast bedankt", "nl"),
            ("Dzień dobry, czy może mi pani przesłać raport do piątku?", "pl"),
            ("Здравствуйте, не могли бы вы прислать отчёт до пятницы?", "ru"),
            ("Добрий день, чи можете ви надіслати звіт до п'ятниці?", "uk"),
            ("Hej, kan du skicka rapporten till mig innan fredag? Tack", "sv"),
            ("Merhaba, raporu cuma gününe kadar bana gönderebilir misiniz? Teşekkürler", "tr"),
            ("مرحبا، هل يمكنك إرسال التقرير قبل يوم الجمعة؟", "ar"),
            ("こんにちは、金曜日までに報告書を送っていただけますか。", "ja"),
            ("您好，请在星期五之前把报告发给我。", "zh"),
            ("안녕하세요, 금요일까지 보고서를 보내 주시겠어요?", "ko"),
        ] {
            assert_eq!(detect_language(text).as_str(), language, "{text}");
        }
        let finnish = "Hei Jonas, voisitko lähettää minulle raportin ennen perjantaita, koska tarvitsen sitä \
                       kokousta varten ja haluaisin lukea sen rauhassa viikonloppuna kotona ennen matkaa.";
        assert_eq!(detect_language(finnish), Language::Undetermined);
    }

    /// The sentences were written for training, none of them with a detector in mind.
    #[test]
    fn sentences_of_the_training_data_are_told_apart() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("training/sentences");
        let (mut count, mut wrong) = ([0_u32; 3], [0_u32; 3]);
        for entry in std::fs::read_dir(folder).unwrap() {
            for line in std::fs::read_to_string(entry.unwrap().path()).unwrap().lines() {
                let row: serde_json::Value = serde_json::from_str(line).unwrap();
                let at = ["en", "de", "he"].iter().position(|code| row["lang"] == *code).unwrap();
                count[at] += 1;
                if detect_language(row["text"].as_str().unwrap()).as_str() != row["lang"] {
                    wrong[at] += 1;
                }
            }
        }
        assert!(count.iter().zip(wrong).all(|(all, wrong)| wrong * 50 <= *all), "{wrong:?} of {count:?}");
    }
}
