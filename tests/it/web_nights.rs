//! Tests the nights on the page: the agreement, what was learned with its evidence, and the digest.

use adjutant::model::{Priority, TaskEditKind};

use crate::support::{
    page_client::PageClient,
    test_home::{TestHome, once},
};

#[tokio::test(flavor = "multi_thread")]
async fn the_agreement_counts_the_persons_last_word() {
    let home = TestHome::active();
    for nth in 0..4 {
        home.post(&home.letter(&format!("q{nth}")).from(&format!("Ann <ann{nth}@shop.example>")).question().verified());
    }
    home.once().await;
    let page = PageClient::open(&home).await;
    let tasks = home.count("tasks");
    assert_eq!(tasks, 4);
    page.page("/nights").must_say("Of 4 tasks in 30 days you let the first priority of 4 stand: 100 %.");
    let set = async |task: &str, level| page.app.tasks().edit(task, TaskEditKind::Priority(level), "").await.unwrap();
    set("1", Priority::Critical).await;
    home.clock.advance(60);
    set("2", Priority::Critical).await;
    page.page("/nights").must_say("first priority of 2 stand: 50 %");
    // Taken back: the first priority is the last word again.
    let first = home.sql_one("SELECT from_value FROM correction ORDER BY correction LIMIT 1");
    home.clock.advance(60);
    set("1", first.parse().unwrap()).await;
    let shown = page.page("/nights");
    shown.must_say("first priority of 3 stand: 75 %");
    shown.must_say("2026-11-16 4 3 75 %");
    shown.must_say("Nothing yet.");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_night_shows_what_it_learned_from_what_and_the_way_back() {
    let home = TestHome::active();
    let page = PageClient::open(&home).await;
    // Three corrections on two days teach a rule.
    for day in 0..3 {
        home.post(
            &home
                .letter(&format!("q{day}"))
                .from("Ann <ann@shop.example>")
                .subject(&format!("Order {day}"))
                .question()
                .verified(),
        );
        once(home.worker().await).await;
        let number = home.sql_one("SELECT max(number) FROM task_owner");
        page.app.tasks().edit(&number, TaskEditKind::Priority(Priority::Critical), "").await.unwrap();
        home.clock.advance(86_400);
    }
    let worker = home.worker().await;
    worker.app.nightly().run_unless_done_today().await.unwrap();
    worker.stop().await;
    let date = home.sql_one("SELECT date FROM nightly");
    let shown = page.page("/nights");
    shown.must_say("mail from ann@shop.example is at least critical");
    shown.must_say("you set critical instead of");
    let night = page.page(&format!("/nights/{date}"));
    night.must_say("Learned");
    night.must_say("From 3 corrections of yours");
    let version = page.page(&night.link("/rules/versions/"));
    version.must_say("by the nightly job");
    page.page("/nights/digest?hours=48").must_say("Learned: 1");
    assert_eq!(page.get("/nights/1999-01-01").status, 404);
}
