//! Tests search by words and by meaning, in English and Hebrew, with its reasons.

use adjutant::{memory::MatchKind, store::Write};

use crate::support::test_home::{Kind, SeededRandom, TestHome};

async fn found(home: &TestHome, words: &str) -> Vec<String> {
    home.app().await.search().find(words, 20).await.unwrap().found.into_iter().map(|found| found.title).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn words_find_mails_and_tasks_in_both_languages() {
    let home = TestHome::samples();
    home.once().await;
    for (words, title) in [
        ("invoice", "Invoice 2041"),
        ("INVOICE 2041", "Pay invoice 2041"),
        ("furniture", "Invoice 2041"),
        ("catch-up", "Schedule 30-min catch-up with Dr. Anna Smith"),
        ("הדוח", "הדוח הרבעוני"),
        ("דוח", "הדוח הרבעוני"),
        ("ההוצאות", "לשלוח לדנה לוי"),
        ("פגישה", "לקבוע פגישה"),
    ] {
        let titles = found(&home, words).await;
        assert!(titles.iter().any(|found| found.contains(title)), "{words}: {titles:?}");
    }
    for nothing in ["xyzzyquux", "", "\"", "* OR NEAR(", "כלוםכלום"] {
        assert!(found(&home, nothing).await.is_empty(), "{nothing}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_index_can_be_built_anew() {
    let home = TestHome::samples();
    home.once().await;
    let questions = ["invoice", "catch-up", "דוח", "house keys"];
    let mut before = Vec::new();
    for words in questions {
        before.push(found(&home, words).await);
    }
    home.app().await.store.write(Write::RebuildSearchIndex).await.unwrap();
    for (words, before) in questions.iter().zip(before) {
        assert!(!before.is_empty(), "{words}");
        assert_eq!(found(&home, words).await, before, "{words}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_meant_is_found_without_a_word_of_it() {
    let home = TestHome::samples();
    home.once().await;
    let app = home.app().await;
    for (text, title) in [("bill for the chairs", "Invoice 2041"), ("suspicious bank transaction", "Unusual activity")]
    {
        let found = app.search().find(text, 5).await.unwrap().found;
        let hit = found.iter().find(|found| found.title.to_lowercase().contains(&title.to_lowercase()));
        let hit = hit.unwrap_or_else(|| panic!("{text}: {found:?}"));
        assert!(hit.reasons.iter().any(|reason| reason.by == MatchKind::Meaning), "{hit:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hebrew_is_found_in_every_form_of_its_words() {
    let home = TestHome::samples();
    let body = "שלום אלכס,\n\nבבקשה לשלוח את החשבוניות של הספקים עד יום חמישי.\n\nדנה\n";
    home.post(&home.letter("he").subject("חשבוניות").body(body));
    home.once().await;
    for words in ["חשבונית", "לחשבוניות", "שבחשבונית", "הספק", "לספקים", "לשלוח"]
    {
        let titles = found(&home, words).await;
        assert!(titles.iter().any(|title| title.contains("חשבוניות")), "{words}: {titles:?}");
    }
}

#[test]
fn the_command_says_why_each_was_found() {
    let home = TestHome::real_time(Kind::Samples);
    assert_eq!(home.run(&["once"]).code, 0);
    let found = home.json(&["search", "invoice", "2041"]);
    let first = &found[0];
    let doc = first["doc"].as_str().unwrap();
    assert!(doc.starts_with("task:") || doc.starts_with("mail:"), "{first}");
    let reasons = first["reasons"].as_array().unwrap();
    let words = reasons.iter().find(|reason| reason["by"] == "words").unwrap_or_else(|| panic!("{first}"));
    assert_eq!(words["detail"], "invoice, 2041");
    let sum: f64 = reasons.iter().map(|reason| reason["weight"].as_f64().unwrap()).sum();
    assert!((sum - first["score"].as_f64().unwrap()).abs() < 0.01, "{first}");
    let table = home.run(&["search", "invoice", "2041"]);
    assert!(table.out.contains("words (invoice, 2041)"), "{}", table.out);
    assert!(home.run(&["search", "xyzzyquux"]).out.contains("Nothing found."));
}

#[tokio::test(flavor = "multi_thread")]
async fn no_question_is_an_error() {
    let home = TestHome::samples();
    home.once().await;
    let app = home.app().await;
    let mut dice = SeededRandom::thrown("no_question_is_an_error");
    let pieces = [
        "\"", "*", "NEAR(", "a AND", "^", "invoice", "״", "·", "\u{0}", "🦀", "ﬁ", "שלום", "{x}:", "-", "'", "\n",
        "\u{202e}",
    ];
    for _ in 0..200 {
        let text: String = (0..dice.below(12)).map(|_| pieces[dice.below(pieces.len() as u64) as usize]).collect();
        app.search().find(&text, 5).await.unwrap_or_else(|error| panic!("{text:?}: {error:#}"));
    }
    let long = "invoice word ".repeat(100_000);
    assert!(!app.search().find(&long, 5).await.unwrap().found.is_empty());
}
