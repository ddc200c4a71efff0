//! Tests the first start on the page: the answers are entered without losing what a person wrote, wrong ones are refused
//! in the words of the configuration's check, and a new mailbox is only observed.

use crate::support::{
    page_client::{PageAnswer, PageClient},
    test_home::{Kind, TestHome},
};

const OWN: &str = "# My own words.\n[me]\nsignature = \"D.\" # short\n# names = []\n\n[mail]\npoll_seconds = 5\n";

/// A home with the sample mails, a configuration of the person, and a Maildir elsewhere.
fn home() -> TestHome {
    let home = TestHome::real_time(Kind::Samples);
    home.write("adjutant.toml", OWN);
    home.write("box/new/1.eml", &home.letter("one").question().text());
    std::fs::create_dir_all(home.root().join("box/cur")).unwrap();
    home
}

fn answer(page: &PageClient, fields: &[(&str, &str)]) -> PageAnswer {
    page.submit(&page.page("/start"), "/start/check", fields)
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_previewed_and_then_entered_beside_what_was_written() {
    let home = home();
    let page = PageClient::open(&home).await;
    let mailbox = home.root().join("box").display().to_string();
    let fields = [
        ("name", "Dana Levi"),
        ("addresses", "dana@work.example, d@home.example"),
        ("time_zone", "Asia/Jerusalem"),
        ("working_hours", "08:30-16:00"),
        ("mailbox", &mailbox),
        ("account", "work"),
    ];
    let shown = answer(&page, &fields);
    shown.must_say("Of the 1 mails of the last 7 days: 1 tasks");
    shown.must_say("+ name = \"work\"");
    assert_eq!(home.read("adjutant.toml"), OWN, "nothing is written yet");
    let written = page.submit(&shown, &format!("{}/write", shown.path), &[]);
    written.must_say("a new mailbox is only observed");
    let text = home.read("adjutant.toml");
    for kept in ["# My own words.\n", "signature = \"D.\" # short\n", "poll_seconds = 5\n", "names = [\"Dana Levi\"]\n"]
    {
        assert!(text.contains(kept), "{kept}: {text}");
    }
    let config = home.config();
    assert_eq!(config.me.addresses, ["dana@work.example", "d@home.example"]);
    let app = home.app().await;
    let work = app.accounts().list().await.unwrap().into_iter().find(|account| account.account.as_str() == "work");
    assert_eq!(work.unwrap().mode, adjutant::model::AccountMode::Observe);
    // The same mailbox again adds no second account.
    drop(app);
    let again = answer(&page, &fields);
    assert!(!again.body.contains("[[account]]"), "{}", again.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_answers_are_refused_in_the_words_of_the_check_and_kept_for_correction() {
    let home = home();
    let page = PageClient::open(&home).await;
    for (field, value, expected) in [
        ("time_zone", "Mars", "me.time_zone is 'Mars'; expected a name such as \"Europe/Berlin\" or \"UTC\""),
        ("working_hours", "9 to 5", "me.working_hours is '9 to 5'; expected such as \"09:00-17:00\""),
        ("addresses", "dana", "me.addresses is 'dana'; expected such as \"you@work.example\""),
        ("mailbox", "/nowhere", "there is no Maildir at /nowhere"),
    ] {
        let refused = answer(&page, &[(field, value)]);
        refused.must_say(expected);
        assert!(refused.body.contains(&format!("value=\"{value}\"")), "{field} is lost: {}", refused.body);
    }
    let mailbox = home.root().join("box").display().to_string();
    answer(&page, &[("mailbox", &mailbox), ("account", "samples")])
        .must_say("account name 'samples': expected letters");
    assert_eq!(home.read("adjutant.toml"), OWN);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_was_changed_meanwhile_is_not_overwritten() {
    let home = home();
    let page = PageClient::open(&home).await;
    let shown = answer(&page, &[("name", "Dana Levi")]);
    let changed = format!("{OWN}# one more line\n");
    home.write("adjutant.toml", &changed);
    page.submit(&shown, &format!("{}/write", shown.path), &[]).must_say("changed meanwhile; nothing was written");
    assert_eq!(home.read("adjutant.toml"), changed);
}
