//! Tests that documents are found in other words, with reasons, and never in another account.

use std::{collections::HashMap, fs, path::Path, sync::Arc};

use adjutant::{
    app::App,
    memory::{HybridResults, MatchKind, MemoryQuery, Scope},
    model::{Account, AccountId, Address, Arrival, ArrivalContent, ArrivalFile, Arrivals, Direction, Mail},
    store::{SearchDepth, Write},
};

use crate::support::test_home::{NOW, TestHome, WORK};

/// Looked at of each list.
const FIRST: usize = 10;

/// Keeps texts as mails of an account; the documents they became, in order.
async fn keep(app: &App, account: &str, texts: &[String]) -> Vec<String> {
    let at = app.clock.now();
    let arrival = |(nth, text): (usize, &String)| {
        let from = Address { name: None, addr: "someone@elsewhere.example".into() };
        let mail = Mail { from, text: text.clone(), thread: format!("<{account}-{nth}>"), ..Mail::default() };
        Arrival {
            source_key: format!("{account}/{nth}"),
            folder: "INBOX".into(),
            direction: Direction::In,
            arrived_at: at,
            size: 1,
            content: ArrivalContent::StoreOnly { mail: Arc::new(mail), reason: "kept".into() },
            file: ArrivalFile::default(),
        }
    };
    let arrivals = texts.iter().enumerate().map(arrival).collect();
    let (account, user) = (AccountId::from(account), app.user.clone());
    let batch = Arrivals {
        account: account.clone(),
        user,
        cursor: None,
        arrivals,
        gone_keys: Vec::new(),
        unchanged_files: Vec::new(),
        at,
    };
    app.store.write(Write::RecordArrivals(Box::new(batch))).await.unwrap();
    let keys = app.store.read(|reader| reader.ledger().list(None, 100_000)).await.unwrap();
    let docs: HashMap<String, String> = keys
        .into_iter()
        .filter(|row| row.account == account)
        .map(|row| (row.source_key, format!("mail:{}", row.mail_id)))
        .collect();
    (0..texts.len()).map(|nth| docs[&format!("{account}/{nth}")].clone()).collect()
}

fn question<'a>(account: &'a AccountId, text: &'a str) -> MemoryQuery<'a> {
    let now = NOW.parse().unwrap();
    let scope = Scope::person(FIRST);
    MemoryQuery { account, text, thread: "", person: "", invoice: "", leave_out: &[], now, scope }
}

fn pairs(name: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/paraphrases/{name}.psv"));
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split_once('|').unwrap()).map(|(query, text)| (query.into(), text.into())).collect()
}

/// How many of a hundred questions find their text among the first ten: by words, by meaning, by both.
async fn recalls(app: &App, account: &AccountId, asked: &[(String, String)]) -> [f64; 3] {
    let mut found = [0.0; 3];
    for (text, doc) in asked {
        let words = app
            .store
            .read_blocking(|reader| reader.documents().find(text, account, SearchDepth::PERSON, FIRST))
            .unwrap();
        // Each half as a person would be shown it alone: without the limits of the search by meaning, words that are none
        // at all would find something too.
        let Scope { least_cosine, least_cosine_alone, .. } = Scope::person(FIRST);
        let least = if words.is_empty() { least_cosine_alone } else { least_cosine };
        let mut near = app.memory.search_dense(account, text, FIRST).await.unwrap();
        near.retain(|near| near.score >= least);
        let both = app.memory.search(&question(account, text)).await.unwrap().found;
        for (sum, hit) in found.iter_mut().zip([
            words.iter().any(|hit| hit.document.doc == *doc),
            near.iter().any(|near| near.doc == *doc),
            both.iter().any(|found| found.doc == *doc),
        ]) {
            *sum += f64::from(u8::from(hit)) * 100.0 / asked.len() as f64;
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_in_other_words_is_found_and_both_halves_find_more_than_either() {
    let home = TestHome::active();
    let app = home.app().await;
    let account = AccountId::from(WORK);
    let sets = ["2026-11-16-english", "2026-11-16-everyday", "2026-11-16-hebrew"];
    let texts: Vec<String> = sets.iter().flat_map(|set| pairs(set)).map(|(_, text)| text).collect();
    let mut docs = keep(&app, WORK, &texts).await.into_iter();
    // Measured on 2026-11-16 (65.8, 100, 68.6), less two of a hundred.
    for (set, floor) in sets.into_iter().zip([63.8, 98.0, 66.6]) {
        let asked: Vec<(String, String)> =
            pairs(set).into_iter().map(|(query, _)| (query, docs.next().unwrap())).collect();
        let [words, meaning, both] = recalls(&app, &account, &asked).await;
        println!("{set}: by words {words:.1}, by meaning {meaning:.1}, by both {both:.1}");
        assert!(both >= words.max(meaning), "{set}: by words {words:.1}, by meaning {meaning:.1}, by both {both:.1}");
        assert!(both >= floor, "{set}: {both:.1}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_found_in_another_account() {
    let home = TestHome::active();
    let app = home.app().await;
    let other = Account {
        account: AccountId::from("other"),
        user: app.user.clone(),
        kind: adjutant::model::MailboxKind::Import,
        mode: adjutant::model::AccountMode::Observe,
        cursor: None,
        created_at: app.clock.now(),
        polled_at: None,
    };
    app.store.write(Write::OpenAccount(other)).await.unwrap();
    let text = "The plumber comes on Monday about the leaking pipe, invoice 4471.".to_owned();
    let own = keep(&app, WORK, std::slice::from_ref(&text)).await;
    let theirs = keep(&app, "other", &vec![text; 20]).await;
    for (account, expected) in [(WORK, own), ("other", theirs)] {
        let account = AccountId::from(account);
        let question = MemoryQuery { scope: Scope::person(50), ..question(&account, "plumber and pipe, invoice 4471") };
        let HybridResults { found, trouble } = app.memory.search(&question).await.unwrap();
        assert_eq!(trouble, None);
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().all(|found| expected.contains(&found.doc)), "{found:?}");
        let grounds: Vec<MatchKind> = found[0].reasons.iter().map(|reason| reason.by).collect();
        assert!(grounds.contains(&MatchKind::Words) && grounds.contains(&MatchKind::Meaning), "{found:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_its_vectors_a_search_goes_on_by_words_and_says_so() {
    let home = TestHome::samples();
    home.once().await;
    let app = home.app().await;
    let before = app.search().find("invoice 2041", 5).await.unwrap();
    assert_eq!(before.trouble, None);
    app.store.write(Write::StoreSetting { name: "memory_place".into(), value: "elsewhere".into() }).await.unwrap();
    let after = app.search().find("invoice 2041", 5).await.unwrap();
    assert!(after.trouble.is_some());
    assert_eq!(after.found[0].doc, before.found[0].doc);
    assert!(after.found.iter().flat_map(|found| &found.reasons).all(|reason| reason.by != MatchKind::Meaning));
}

/// What the newest task was handed.
fn documents(home: &TestHome) -> Vec<serde_json::Value> {
    let rows = home.sql(
        "SELECT changes FROM checkpoint JOIN run USING (run_id) WHERE checkpoint.node = 'retrieve_context' ORDER BY task_id DESC LIMIT 1",
    );
    let changes: serde_json::Value = serde_json::from_str(&rows[0][0]).unwrap();
    let documents = changes.as_array().unwrap().iter().find_map(|change| change.get("documents"));
    documents.map(|documents| documents.as_array().unwrap().clone()).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_is_handed_what_was_asked_before_in_other_words_with_the_reasons() {
    let home = TestHome::active();
    let first = home.letter("one").subject("The lease").from("Ann Lee <ann@lee.example>");
    home.post(&first.body("Hello Alex,\n\ncould you send me the signed lease for the apartment in Denver?\n\nAnn\n"));
    home.post(
        &home.letter("noise").subject("Lunch").body("Hello Alex,\n\nshall we have lunch at noon tomorrow?\n\nTom\n"),
    );
    home.once().await;
    home.clock.advance(60);
    let second = home.letter("two").subject("Rental contract").from("Bob Ray <bob@ray.example>");
    home.post(&second.body("Hello Alex,\n\nplease mail me the signed rental contract of the Denver flat.\n\nBob\n"));
    home.once().await;
    assert_eq!(home.count("tasks"), 3);
    let handed = documents(&home);
    let first = handed.first().unwrap_or_else(|| panic!("nothing was handed on"));
    assert!(first["title"].as_str().unwrap().to_lowercase().contains("lease"), "{handed:?}");
    assert!(first["score"].as_f64().unwrap() > 0.0);
    let reasons: Vec<&str> =
        first["reasons"].as_array().unwrap().iter().map(|reason| reason.as_str().unwrap()).collect();
    assert!(reasons.iter().any(|reason| reason.starts_with("meaning")), "{reasons:?}");
    assert!(!handed.iter().any(|one| one["title"] == "Rental contract"), "its own mail: {handed:?}");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_index_of_an_older_program_is_built_anew_by_the_worker() {
    let home = TestHome::samples();
    home.once().await;
    home.database()
        .execute_batch("DELETE FROM search; UPDATE setting SET value = '1' WHERE name = 'search_edition'")
        .unwrap();
    assert!(
        home.app()
            .await
            .store
            .read_blocking(|reader| reader.documents().find(
                "furniture",
                &AccountId::from("samples"),
                SearchDepth::RUN,
                5
            ))
            .unwrap()
            .is_empty()
    );
    home.once().await;
    let found = home.app().await.search().find("furniture", 5).await.unwrap().found;
    assert!(found.iter().any(|found| found.title.contains("Invoice 2041")), "{found:?}");
}
