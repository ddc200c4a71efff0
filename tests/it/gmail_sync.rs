//! Tests following a Gmail account: one full listing, then what changed. Nothing is lost and nothing is worked twice.

use std::collections::BTreeSet;

use adjutant::model::{AccountMode, Action};

use crate::support::{
    gmail_home::{account, ledger, once_in_pages, paged, sign_in, signed_in, signed_out, state_of, stopped, turn_on},
    google::{Fault, Google, Trouble, YOU},
    test_home::{TestHome, WORK, once},
};

fn set<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    items.into_iter().collect()
}

fn keys(home: &TestHome) -> BTreeSet<String> {
    set(ledger(home).into_iter().map(|(key, _)| key))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_first_look_takes_in_what_is_watched_and_nothing_else() {
    let google = Google::start();
    let you = google.person(YOU);
    let home = signed_in(&google, YOU, "since = \"7d\"");
    let question = you.receives(home.letter("one").question().text());
    let to_tom =
        |text: String| text.replace("To: Alex Green <you@home.example>", "To: Tom Baker <tom@bakerand.example>");
    let sent = you.stores(to_tom(home.letter("two").from("Alex Green <you@home.example>").text()), &["SENT"]);
    let promise = home
        .letter("three")
        .from("Alex Green <you@home.example>")
        .body("Hi Tom,\n\nI will send you the signed contract by Friday.\n\nAlex\n");
    let promise = you.stores(to_tom(promise.text()), &["SENT"]);
    you.stores(home.letter("four").question().text(), &["DRAFT"]);
    you.stores(home.letter("five").question().text(), &["SPAM"]);
    you.stores(home.letter("six").question().text(), &["TRASH", "INBOX"]);
    you.stores(home.letter("seven").question().text(), &["CATEGORY_SOCIAL"]);
    you.receives(home.letter("eight").date("Mon, 2 Nov 2026 09:00:00 +0000").question().text());
    let report = home.once().await;
    assert_eq!(report.troubles, [""; 0]);
    assert_eq!(keys(&home), set([question.clone(), sent.clone(), promise.clone()]));
    assert_eq!(state_of(&home, &question), "task");
    assert_eq!(home.count(&format!("tasks WHERE source = 'email:{question}'")), 1, "named by Gmail's own id");
    assert_eq!(state_of(&home, &sent), "no_task");
    assert_eq!(state_of(&home, &promise), "task", "the person's own promise");
    assert_eq!(home.count("ledger WHERE direction = 'out'"), 2);
    // What the server says about a mail counts, not when we looked.
    let arrived = home.sql_one(&format!("SELECT arrived_at FROM ledger WHERE source_key = '{question}'"));
    assert_eq!(arrived, "2026-11-16T07:00:00Z");
    home.must_be_sound().await;
    let before = home.dump();
    assert_eq!(home.once().await.entered, 0);
    let lines = |dump: &str| set(dump.lines().filter(|line| !line.starts_with("account")).map(str::to_owned));
    assert_eq!(lines(&home.dump()), lines(&before), "a second look changes nothing");
}

#[tokio::test(flavor = "multi_thread")]
async fn afterwards_only_what_changed_is_asked_for() {
    let google = Google::start();
    let you = google.person(YOU);
    let home = signed_in(&google, YOU, "");
    let first = you.receives(home.letter("one").question().text());
    home.once().await;
    let listed = google.calls("GET", "/messages?");
    let reads = google.calls("GET", &format!("/messages/{first}"));
    let second = you.receives(home.letter("two").question().text());
    // Not ours when it came; ours when it got the label.
    let later = you.stores(home.letter("three").question().text(), &["CATEGORY_UPDATES"]);
    home.once().await;
    assert_eq!(keys(&home), set([first.clone(), second.clone()]));
    you.changes_labels(&later, &["INBOX"], &[]);
    // Labels on a known mail are no news.
    you.changes_labels(&first, &["STARRED"], &["UNREAD"]);
    you.changes_labels(&second, &[], &["INBOX"]);
    home.once().await;
    assert_eq!(keys(&home), set([first.clone(), second.clone(), later]));
    assert_eq!(google.calls("GET", "/messages?"), listed, "nothing is listed again");
    assert_eq!(google.calls("GET", &format!("/messages/{first}")), reads, "nothing is read twice");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn several_pages_are_read_to_the_end() {
    let google = Google::start();
    let you = google.person(YOU);
    let home = signed_in(&google, YOU, "");
    let mut there = BTreeSet::new();
    for nth in 0..11 {
        there.insert(you.receives(home.letter(&format!("a{nth}")).text()));
    }
    once_in_pages(&home, &google, 3).await;
    assert_eq!(keys(&home), there);
    assert!(google.calls("GET", "/messages?") >= 4, "pages of three");
    for nth in 0..11 {
        there.insert(you.receives(home.letter(&format!("b{nth}")).text()));
    }
    once_in_pages(&home, &google, 3).await;
    assert_eq!(keys(&home), there);
    assert!(google.calls("GET", "pageToken") >= 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_much_to_be_read_is_part_of_the_gap() {
    let google = Google::start();
    let you = google.person(YOU);
    let home = signed_in(&google, YOU, "");
    // Two of the oldest are in the ledger when the cursor expires; three beside them are not.
    for nth in 0..2 {
        you.receives(home.letter(&format!("known{nth}")).text());
    }
    home.once().await;
    for nth in 0..7 {
        you.receives(home.letter(&format!("n{nth}")).text());
    }
    google.breaks(Fault::on("GET", "/history?", Trouble::HistoryGone));
    once(paged(&home, &google, 3, 4).await).await;
    let health = home.app().await.health().check().await.unwrap();
    let condition = health.accounts.iter().find_map(|account| account.condition.clone()).unwrap();
    // Some of the seven were read, some were not; all are the gap.
    assert_eq!((condition.missed, condition.backlog), (7, 0));
    assert!(keys(&home).len() < 9);
    // They are counted once.
    home.once().await;
    let again = home.app().await.health().check().await.unwrap();
    let condition = again.accounts.iter().find_map(|account| account.condition.clone()).unwrap();
    assert_eq!(condition.missed, 7);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_cursor_is_mended_and_the_gap_is_a_number() {
    let google = Google::start();
    let you = google.person(YOU);
    let home = signed_in(&google, YOU, "");
    let known = you.receives(home.letter("one").question().text());
    home.once().await;
    let missed = [you.receives(home.letter("two").question().text()), you.receives(home.letter("three").text())];
    google.breaks(Fault::on("GET", "/history?", Trouble::HistoryGone));
    home.once().await;
    assert_eq!(keys(&home), set([known].into_iter().chain(missed)));
    let health = home.app().await.health().check().await.unwrap();
    let condition = health.accounts.iter().find_map(|account| account.condition.clone()).unwrap();
    assert_eq!((condition.missed, condition.backlog, health.unaccounted), (2, 0, 0));
    assert_eq!(home.count("run WHERE kind = 'mail'"), 3, "each is worked once");
    // From here on the history counts again.
    let next = you.receives(home.letter("four").text());
    let listed = google.calls("GET", "/messages?");
    home.once().await;
    assert_eq!(state_of(&home, &next), "no_task");
    assert_eq!(google.calls("GET", "/messages?"), listed);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_gone_before_it_was_read_is_accounted_for() {
    let google = Google::start();
    let you = google.person(YOU);
    let home = signed_in(&google, YOU, "");
    home.once().await;
    let deleted = you.receives(home.letter("one").question().text());
    let binned = you.receives(home.letter("two").question().text());
    let read = you.receives(home.letter("three").question().text());
    // Between the listing and the reading.
    google.breaks(Fault::on("GET", &format!("/messages/{deleted}"), Trouble::HistoryGone));
    home.once().await;
    assert_eq!(state_of(&home, &deleted), "gone");
    assert_eq!(state_of(&home, &binned), "task");
    assert_eq!(state_of(&home, &read), "task");
    you.deletes(&read);
    home.once().await;
    assert_eq!(state_of(&home, &read), "task", "a deleted mail keeps its answer");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn trouble_with_one_message_is_its_own_and_passes() {
    let google = Google::start();
    let you = google.person(YOU);
    let home = signed_in(&google, YOU, "");
    let bad = you.receives(home.letter("one").question().text());
    let good = you.receives(home.letter("two").question().text());
    // The call and its repetitions.
    google.breaks(Fault::on("GET", &format!("/messages/{bad}"), Trouble::ErrorBefore(500)).times(3));
    home.once().await;
    assert_eq!((state_of(&home, &bad).as_str(), state_of(&home, &good).as_str()), ("failed", "task"));
    home.clock.advance(15);
    home.once().await;
    assert_eq!(state_of(&home, &bad), "task");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_is_trouble_and_nothing_is_given_up() {
    let google = Google::start();
    let you = google.person(YOU);
    let home = signed_in(&google, YOU, "");
    let first = you.receives(home.letter("one").question().text());
    for trouble in [Trouble::ErrorBefore(503), Trouble::ResetBefore, Trouble::ResetAfter] {
        google.breaks(Fault::on("GET", "/gmail/", trouble).times(100));
        let worker = home.worker().await;
        let report = worker.run_once().await.unwrap();
        worker.stop().await;
        assert_eq!(report.troubles.len(), 1, "{trouble:?}");
        assert!(report.troubles[0].contains("Google cannot be reached"), "{:?}", report.troubles);
        assert_eq!(ledger(&home), []);
        google.mends();
    }
    // A token that is refused in the middle is renewed, and nobody notices.
    google.breaks(Fault::on("GET", "/messages/", Trouble::Unauthorized));
    assert_eq!(home.once().await.troubles, [""; 0]);
    assert_eq!(state_of(&home, &first), "task");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn labels_and_senders_bound_what_is_worked() {
    let google = Google::start();
    let you = google.person(YOU);
    let home =
        signed_in(&google, YOU, "labels = [\"starred\"]\nnever_touch = [\"boss@work.example\", \"@bank.example\"]");
    let other = you.receives(home.letter("one").question().text());
    let ours = you.stores(home.letter("two").question().text(), &["STARRED"]);
    let boss = you.stores(home.letter("three").from("The Boss <Boss@work.example>").question().text(), &["STARRED"]);
    let bank = you.stores(home.letter("four").from("x@mail.bank.example").question().text(), &["STARRED"]);
    let near = you.stores(home.letter("five").from("x@notbank.example").question().text(), &["STARRED"]);
    home.once().await;
    assert_eq!(state_of(&home, &other), "not there");
    assert_eq!(state_of(&home, &ours), "task");
    assert_eq!(state_of(&home, &near), "task");
    for never in [boss, bank] {
        assert_eq!(state_of(&home, &never), "no_task");
        let reason = home.sql_one(&format!("SELECT reason FROM ledger WHERE source_key = '{never}'"));
        assert!(reason.starts_with("its sender is in never_touch"), "{reason}");
    }
    // A label nobody has would miss mail in silence.
    let wrong = signed_in(&google, YOU, "labels = [\"no such\"]");
    let worker = wrong.worker().await;
    let report = worker.run_once().await.unwrap();
    worker.stop().await;
    assert!(report.troubles[0].contains("there is no label 'no such'"), "{:?}", report.troubles);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_mail_becomes_new_only_by_coming_before_us() {
    let google = Google::start();
    let you = google.person(YOU);
    let home = signed_in(&google, YOU, "since = \"7d\"");
    let old = |id: &str| home.letter(id).date("Mon, 2 Nov 2026 09:00:00 +0000").question().text();
    let starred = you.receives(old("starred"));
    let binned = you.stores(old("binned"), &["INBOX", "TRASH"]);
    let archived = you.stores(old("archived"), &["CATEGORY_FORUMS"]);
    home.once().await;
    you.changes_labels(&starred, &["STARRED"], &["UNREAD"]);
    home.once().await;
    assert_eq!(keys(&home), set([]), "a star is no arrival");
    you.changes_labels(&binned, &[], &["TRASH"]);
    you.changes_labels(&archived, &["INBOX"], &[]);
    home.once().await;
    assert_eq!(keys(&home), set([binned, archived]));
    home.must_be_sound().await;
}

/// What one account cannot account for is said of that account, and in the sum.
fn assert_each_answers_for_itself(home: &TestHome) {
    let database = home.database();
    database.pragma_update(None, "foreign_keys", false).unwrap();
    let refer = |to: &str| {
        database.execute(&format!("UPDATE ledger SET task_id = {to} WHERE account = 'files'"), []).unwrap();
    };
    refer("'no' || task_id");
    let health: serde_json::Value = serde_json::from_str(&home.run(&["doctor", "--json"]).out).unwrap();
    assert_eq!(health["unaccounted"], 1);
    for account in health["accounts"].as_array().unwrap() {
        assert_eq!(account["unaccounted"], u64::from(account["account"] == "files"), "{account}");
    }
    let shown = home.run(&["doctor"]).out;
    let second = shown.lines().find(|line| line.contains("second signed in")).unwrap();
    assert!(second.contains(", 0 unaccounted"), "{shown}");
    refer("substr(task_id, 3)");
}

#[tokio::test(flavor = "multi_thread")]
async fn accounts_stand_side_by_side_and_one_in_trouble_stops_no_other() {
    let people = ["a@home.example", "b@home.example"].map(str::to_owned);
    let google = Google::with_people(&people);
    let home = signed_out(&google, "", stopped());
    home.configure(&account(&google, "second", ""));
    home.configure("[[account]]\nname = \"files\"\npath = \"mail\"\n");
    for folder in ["mail/new", "mail/cur", "mail/tmp"] {
        std::fs::create_dir_all(home.root().join(folder)).unwrap();
    }
    sign_in(&home, &google, "second", &people[1]);
    let mine = google.person(&people[1]).receives(home.letter("one").question().text());
    home.deliver("two", home.letter("two").question().text());
    let worker = home.worker().await;
    let report = worker.run_once().await.unwrap();
    worker.stop().await;
    assert_eq!(report.troubles.len(), 1, "{:?}", report.troubles);
    assert!(
        report.troubles[0].contains(&format!("account {WORK}"))
            && report.troubles[0].contains("adjutant auth gmail --account work"),
        "{:?}",
        report.troubles
    );
    let rows = home.sql("SELECT account, source_key, state FROM ledger ORDER BY account");
    assert_eq!(rows, [["files", "INBOX/two", "task"], ["second", &mine, "task"]]);
    let health = home.app().await.health().check().await.unwrap();
    let signed_in: Vec<(String, bool)> = health
        .accounts
        .iter()
        .filter_map(|account| Some((account.account.clone(), account.condition.as_ref()?.signed_in)))
        .collect();
    assert_eq!(set(signed_in), set([("second".to_owned(), true), (WORK.to_owned(), false)]));
    assert_each_answers_for_itself(&home);
    // The person signs in: it is worked without anything else being done.
    sign_in(&home, &google, WORK, &people[0]);
    google.person(&people[0]).receives(home.letter("three").question().text());
    assert_eq!(home.once().await.troubles, [""; 0]);
    assert_eq!(home.count("ledger"), 3);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_account_writes_as_its_own_address() {
    let people = ["a@home.example", "b@office.example"].map(str::to_owned);
    let google = Google::with_people(&people);
    let more = "trusted_servers = [\"mx.home.example\"]";
    let home = signed_out(&google, more, stopped());
    home.configure(&account(&google, "second", &format!("{more}\naddress = \"{}\"", people[1])));
    home.configure(&format!("[me]\naddresses = [\"{}\"]\n", people[0]));
    let app = home.app().await;
    for (name, address) in [WORK, "second"].iter().zip(&people) {
        sign_in(&home, &google, name, address);
        app.accounts().set_mode(name, AccountMode::Active).await.unwrap();
        let meeting = "Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n";
        let letter = home.letter(name).verified().body(meeting).text();
        google.person(address).receives(letter.replace("you@home.example", address).replace('\n', "\r\n"));
    }
    home.once().await;
    for (name, address) in [WORK, "second"].iter().zip(&people) {
        let drafts = google.person(address).drafts();
        assert_eq!(drafts.len(), 1, "{name}");
        assert!(drafts[0].1.header("From").unwrap().contains(&format!("<{address}>")), "{}", drafts[0].1.text());
        let sql = format!("SELECT action FROM outbox WHERE account = '{name}' AND step = 'send_calendar_invite'");
        let invitation: Action = serde_json::from_str(&home.sql_one(&sql)).unwrap();
        let text = invitation.effect.message().unwrap().mime.replace("\r\n ", "");
        assert!(text.contains(&format!("<{address}>")), "{text}");
        let other = people.iter().find(|other| *other != address).unwrap();
        assert!(!text.contains(other.as_str()) && text.contains("ORGANIZER"), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_account_observes_and_a_preview_touches_nothing() {
    let google = Google::start();
    let you = google.person(YOU);
    let home = signed_in(&google, YOU, "since = \"30d\"");
    for nth in 0..3 {
        you.receives(home.letter(&format!("q{nth}")).question().text());
    }
    you.receives(home.letter("old").date("Mon, 2 Nov 2026 09:00:00 +0000").question().text());
    let app = home.app().await;
    let preview = app.preview().read_place(WORK, None).await.unwrap();
    assert_eq!((preview.mails, preview.tasks, preview.sent, preview.unreadable), (4, 4, 0, 0));
    assert_eq!(preview.span, "of the last 30 days");
    assert_eq!(app.preview().read_place(WORK, Some(7)).await.unwrap().mails, 3);
    assert_eq!(home.count("ledger"), 0);
    home.once().await;
    assert_eq!(
        home.sql_one(&format!("SELECT kind || ' ' || mode FROM account WHERE account = '{WORK}'")),
        "gmail observe"
    );
    assert_eq!(home.count("ledger WHERE state IN ('task', 'linked')"), 4);
    let touched: Vec<String> = google
        .seen()
        .into_iter()
        .filter(|seen| seen.method != "GET" && !seen.path.starts_with("/token"))
        .map(|seen| format!("{} {}", seen.method, seen.path))
        .collect();
    assert_eq!(touched, [""; 0], "nothing is touched");
    assert!(home.count("outbox WHERE state = 'withheld'") >= 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_active_account_drafts_in_gmail() {
    let google = Google::start();
    let you = google.person(YOU);
    let home = signed_in(&google, YOU, "");
    home.app().await;
    turn_on(&home).await;
    you.receives(home.letter("one").question().text());
    home.once().await;
    assert_eq!(you.drafts().len(), 1);
    // Its own draft is no mail to be worked.
    home.once().await;
    assert_eq!((home.count("ledger"), home.count("tasks")), (1, 1));
    home.must_be_sound().await;
}
