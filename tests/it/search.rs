//! Found by words, in English and Hebrew.

use adjutant::store::Write;

use crate::house::House;

async fn found(house: &House, words: &str) -> Vec<String> {
    house.app().await.search(words, 20).await.unwrap().found.into_iter().map(|found| found.title).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn words_find_mails_and_tasks_in_both_languages() {
    let house = House::samples();
    house.once().await;
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
        let titles = found(&house, words).await;
        assert!(titles.iter().any(|found| found.contains(title)), "{words}: {titles:?}");
    }
    for nothing in ["xyzzyquux", "", "\"", "* OR NEAR(", "כלוםכלום"] {
        assert!(found(&house, nothing).await.is_empty(), "{nothing}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_index_can_be_built_anew() {
    let house = House::samples();
    house.once().await;
    let questions = ["invoice", "catch-up", "דוח", "house keys"];
    let mut before = Vec::new();
    for words in questions {
        before.push(found(&house, words).await);
    }
    house.app().await.store.write(Write::Reindex).await.unwrap();
    for (words, before) in questions.iter().zip(before) {
        assert!(!before.is_empty(), "{words}");
        assert_eq!(found(&house, words).await, before, "{words}");
    }
}
