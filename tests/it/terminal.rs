//! Tests what a person sees at a terminal: lists fit the screen and say how much they leave out, times are local, names
//! that one command prints are taken by the next.

use adjutant::{app::NewTask, model::TaskEditKind};
use unicode_width::UnicodeWidthStr as _;

use crate::support::test_home::{Answered, Kind, TestHome, WORK, finish};

/// Runs a command on a screen of this width.
fn on_screen(home: &TestHome, columns: usize, arguments: &[&str]) -> Answered {
    let mut command = home.command(arguments);
    command.env("COLUMNS", columns.to_string());
    finish(command)
}

/// A home in which every list has something, for a person in Berlin.
fn busy_home() -> TestHome {
    let home = TestHome::real_time(Kind::Samples);
    home.write("adjutant.toml", "[me]\ntime_zone = \"Europe/Berlin\"\n");
    assert_eq!(home.run(&["once"]).code, 0);
    home.run(&["tasks", "set", "6", "--priority", "high"]);
    home.run(&["mail", "mute", "8"]);
    home
}

/// Returns the number of the task with these words; the order of the samples differs from run to run.
fn number_of(home: &TestHome, words: &str) -> String {
    let tasks = home.json(&["tasks"]);
    let found = tasks.as_array().unwrap().iter().find(|task| task["objective"].as_str().unwrap().contains(words));
    found.unwrap_or_else(|| panic!("{words}: {tasks}"))["number"].to_string()
}

/// Every command that prints a list or a page.
const COMMANDS: [&[&str]; 27] = [
    &["tasks"],
    &["tasks", "list", "--all"],
    &["tasks", "show", "2"],
    &["tasks", "show", "16"],
    &["tasks", "invoices"],
    &["tasks", "reminders"],
    &["mail"],
    &["mail", "show", "3"],
    &["mail", "accounts"],
    &["mail", "muted"],
    &["why", "2"],
    &["search", "invoice"],
    &["hitl", "list"],
    &["hitl", "show", "1"],
    &["hitl", "journal"],
    &["runs"],
    &["rules", "history"],
    &["digest"],
    &["doctor"],
    &["preview", "samples", "--days", "400"],
    &["memory"],
    &["cost"],
    &["audit", "verify"],
    &["rules", "check"],
    &["runs", "list", "--limit", "5"],
    &["hitl", "respond", "1", "tell him I am on holiday until the end of the month", "--dry-run"],
    &["once"],
];

#[test]
fn every_list_fits_the_screen() {
    let home = busy_home();
    for columns in [60, 80, 160] {
        for command in COMMANDS {
            let answered = on_screen(&home, columns, command);
            assert!([0, 4].contains(&answered.code), "{command:?}: {}", answered.err);
            let wide: Vec<&str> = answered.out.lines().filter(|line| line.width() > columns).collect();
            assert!(wide.is_empty(), "{columns} columns, {command:?}:\n{}", wide.join("\n"));
        }
    }
    let tasks = on_screen(&home, 60, &["tasks"]).out;
    assert!(tasks.contains("Watchtower") && tasks.contains("IN_PROGRESS"), "no word is cut:\n{tasks}");
}

#[test]
fn a_script_reads_lines_whole() {
    let home = busy_home();
    let plain = home.run(&["tasks", "show", &number_of(&home, "travel grant")]).out;
    assert!(plain.lines().any(|line| line.starts_with("  because") && line.len() > 60), "{plain}");
}

#[test]
fn times_are_those_of_the_persons_clock() {
    let home = busy_home();
    let stored = regex::Regex::new(r"\d{4}-\d{2}-\d{2}T\d{2}:").unwrap();
    for command in COMMANDS {
        let answered = home.run(command);
        let utc: Vec<&str> = answered.out.lines().filter(|line| stored.is_match(line)).collect();
        assert!(utc.is_empty(), "{command:?}:\n{}", utc.join("\n"));
    }
    let mail = home.json(&["mail"])[0].clone();
    let arrived: chrono::DateTime<chrono::Utc> = mail["arrived_at"].as_str().unwrap().parse().unwrap();
    let local = arrived.with_timezone(&chrono_tz::Europe::Berlin).format("%Y-%m-%d %H:%M").to_string();
    let shown = home.run(&["mail", "show", &mail["mail_id"].to_string()]).out;
    assert!(shown.lines().next().unwrap().ends_with(&local), "{shown}");
}

#[test]
fn a_list_says_how_much_it_leaves_out() {
    let home = busy_home();
    for (command, total) in [("tasks", 16), ("mail", 22)] {
        let said = home.run(&[command, "list", "--limit", "3"]).out;
        assert!(said.contains(&format!("showing 3 of {total}; --limit N shows more")), "{said}");
        let all = home.run(&[command, "list", "--limit", "100"]).out;
        assert!(!all.contains("showing"), "{all}");
    }
    let runs = home.run(&["runs", "list", "--limit", "2"]).out;
    assert!(runs.contains("showing 2 of "), "{runs}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_snoozed_takes_no_place_in_a_list() {
    let home = TestHome::active();
    let app = home.app().await;
    for nth in 0..4 {
        app.tasks().add(NewTask { objective: format!("task {nth}"), ..NewTask::default() }).await.unwrap();
    }
    let until = Some(home.clock.now().plus(chrono::Duration::days(1)));
    for number in ["1", "2"] {
        app.tasks().edit(number, TaskEditKind::Snooze(until), "").await.unwrap();
    }
    assert_eq!(app.tasks().list(false, 2).await.unwrap().len(), 2);
    assert_eq!((app.tasks().count(false).await.unwrap(), app.tasks().count(true).await.unwrap()), (2, 4));
}

#[test]
fn the_first_report_says_that_it_shows_the_last_mails_only() {
    let home = TestHome::real_time(Kind::Active);
    for nth in 0..65 {
        home.post(&home.letter(&format!("l{nth}")));
    }
    let said = home.run(&["once"]).out;
    assert!(said.contains("showing the last 60 of 65 mails"), "{said}");
}

#[test]
fn reminders_are_counted_not_listed_and_silent_while_their_task_sleeps() {
    let home = TestHome::real_time(Kind::Active);
    let day = (chrono::Utc::now() + chrono::Duration::days(4)).format("%d %B %Y").to_string();
    for topic in ["apples", "bread", "candles", "doors", "eggs", "flour", "grapes", "honey"] {
        let body = format!("Hello Alex,\n\nPlease send me the price list of the {topic} by {day}.\n\nTom\n");
        home.post(&home.letter(topic).body(&body));
    }
    home.run(&["once"]);
    assert_eq!(home.count("reminder"), 8);
    home.database().execute("UPDATE reminder SET due_at = '2020-01-01T09:00:00Z'", []).unwrap();
    assert_eq!(home.json(&["tasks"])[0]["reminder"]["due_at"], "2020-01-01T09:00:00Z");
    let first = home.run(&["tasks"]);
    assert_eq!(first.err.lines().filter(|line| line.starts_with("Due now: ")).count(), 5, "{}", first.err);
    assert!(first.err.contains("… and 3 more reminders: adjutant tasks reminders"), "{}", first.err);
    let listed = home.run(&["tasks", "reminders"]).out;
    assert_eq!(listed.lines().filter(|line| line.contains("price list")).count(), 8, "{listed}");
    for number in 1..=8 {
        assert_eq!(home.run(&["tasks", "snooze", &number.to_string(), "3d"]).code, 0);
    }
    let silent = home.run(&["tasks"]);
    assert!(!silent.err.contains("Reminded"), "{}", silent.err);
}

#[test]
fn what_search_prints_is_taken_by_show() {
    let home = busy_home();
    let found = home.run(&["search", "invoice"]).out;
    let number = number_of(&home, "Pay invoice 2041");
    assert!(found.contains(&format!("task {number}")) && found.contains("mail 3"), "{found}");
    assert!(home.run(&["tasks", "show", &number]).out.contains("Pay invoice 2041"));
    assert_eq!(home.run(&["mail", "show", "3"]).code, 0);
    // The names in the JSON output are taken too.
    for hit in home.json(&["search", "invoice"]).as_array().unwrap() {
        let doc = hit["doc"].as_str().unwrap();
        let command = if doc.starts_with("task:") { "tasks" } else { "mail" };
        assert_eq!(home.run(&[command, "show", doc]).code, 0, "{doc}");
    }
    for nonsense in ["xyzzy frobnicate", "qwrtpsd", "blorf snurgle wibblesnatch", "zzzz"] {
        let found = home.run(&["search", nonsense]).out;
        assert!(found.contains("Nothing found."), "{nonsense}: {found}");
    }
}

#[test]
fn the_digest_names_person_subject_and_number() {
    let home = busy_home();
    let digest = home.run(&["digest"]).out;
    let waits: Vec<&str> =
        digest.lines().skip_while(|line| !line.starts_with("Waiting for you")).skip(1).take(3).collect();
    for (person, subject) in
        [("anna.smith@clinic.example", "Catch-up before the summer"), ("lena@studio.example", "Website kick-off")]
    {
        let line = waits.iter().find(|line| line.contains(person)).unwrap_or_else(|| panic!("{digest}"));
        assert!(line.contains(subject), "{digest}");
        let number = line.trim().split('.').next().unwrap();
        assert!(home.run(&["hitl", "show", number]).out.contains(person), "{digest}");
    }
}

#[test]
fn several_accounts_are_told_apart() {
    let home = TestHome::real_time(Kind::Active);
    home.post(&home.letter("one").question());
    home.run(&["once"]);
    assert!(!home.run(&["tasks"]).out.contains("ACCOUNT"), "one account needs no column");
    home.write("archive/two.eml", &home.letter("two").question().text());
    let place = home.root().join("archive").to_string_lossy().into_owned();
    assert_eq!(home.run(&["import", &place, "--account", "old"]).code, 0);
    for command in ["tasks", "mail"] {
        let list = home.run(&[command]).out;
        assert!(list.contains("ACCOUNT") && list.contains(WORK) && list.contains("old"), "{list}");
    }
}

#[test]
fn an_import_of_mail_that_another_account_has_opens_no_second_task() {
    let home = TestHome::real_time(Kind::Active);
    let letters = [home.letter("one").question(), home.letter("two").invoice(7)];
    letters.iter().for_each(|letter| drop(home.post(letter)));
    home.run(&["once"]);
    let before = home.json(&["tasks"]).as_array().unwrap().len();
    for letter in &letters {
        home.write(&format!("archive/{}.eml", letter.id), &letter.text());
    }
    home.write("archive/three.eml", &home.letter("three").question().text());
    let place = home.root().join("archive").to_string_lossy().into_owned();
    let report = home.json(&["import", &place]);
    assert_eq!((report["duplicates"].as_u64(), report["to_work"].as_u64()), (Some(2), Some(1)), "{report}");
    assert_eq!(home.json(&["tasks"]).as_array().unwrap().len(), before + 1);
    let reasons = home.run(&["mail", "list", "--state", "duplicate"]).out;
    assert!(reasons.contains("in account work"), "{reasons}");
}

#[test]
fn a_mute_is_said_and_listed() {
    let home = busy_home();
    assert!(home.run(&["mail", "mute", "7"]).out.contains("news@gardenweekly.example is muted"));
    let listed = home.run(&["mail", "muted"]).out;
    assert!(listed.contains("news@gardenweekly.example") && listed.contains("orders@bookcorner.example"), "{listed}");
    assert_eq!(home.json(&["mail", "muted"]).as_array().unwrap().len(), 2);
    home.run(&["mail", "mute", "7", "--off"]);
    assert!(!home.run(&["mail", "muted"]).out.contains("gardenweekly"));
}

#[test]
fn a_task_made_of_a_mail_keeps_kind_date_and_amount() {
    let home = TestHome::real_time(Kind::Active);
    let body =
        "Hello Alex,\n\ninvoice 4711 over EUR 480.00 will be debited from your account on 20 November 2027.\n\nAcme\n";
    home.post(&home.letter("bill").from("Acme <billing@acme.example>").subject("Invoice 4711").body(body));
    home.run(&["once"]);
    assert_eq!(home.json(&["mail"])[0]["state"], "no_task", "it pays itself");
    assert_eq!(home.run(&["mail", "make-task", "1"]).code, 0);
    let task = home.json(&["tasks", "show", "1"]);
    assert_eq!((&task["facts"]["kind"], &task["facts"]["amount"]), (&"invoice".into(), &480.0.into()), "{task}");
    assert_eq!(task["context"]["deadline"], "2027-11-20", "{task}");
}

#[test]
fn a_changed_date_is_said_in_local_time() {
    let home = TestHome::real_time(Kind::Active);
    home.configure(
        "[me]\nnames = [\"Alex Green\"]\naddresses = [\"you@home.example\"]\ntime_zone = \"Asia/Jerusalem\"\n",
    );
    let added = home.run(&["tasks", "add", "call Peter tomorrow at 10"]).out;
    assert!(added.contains("added, due ") && added.contains(", 10:00"), "{added}");
    let plain = home.run(&["tasks", "add", "buy 3 apples"]).out;
    assert!(plain.contains("added, without a date"), "{plain}");
    let set = home.run(&["tasks", "set", "2", "--due", "2027-03-05 17:00"]).out;
    assert!(set.contains("changed, due Fri 05 Mar 2027, 17:00"), "{set}");
    let snoozed = home.run(&["tasks", "snooze", "2", "2027-03-04 09:00"]).out;
    assert!(snoozed.contains("snoozed until Thu 04 Mar 2027, 09:00"), "{snoozed}");
    assert!(home.run(&["tasks", "show", "2"]).out.contains("hidden     until Thu 04 Mar 2027, 09:00"));
    assert!(home.run(&["tasks", "snooze", "2", "none"]).out.contains("shown again"));
}

#[test]
fn a_task_shows_what_its_tools_found_and_what_is_related() {
    let home = busy_home();
    let meeting = home.run(&["tasks", "show", &number_of(&home, "Schedule 30-min")]).out;
    assert!(meeting.contains("  Found") && meeting.contains("propose_time_slots, slots: "), "{meeting}");
    let invoice = home.run(&["tasks", "show", &number_of(&home, "Pay invoice 2041")]).out;
    assert!(invoice.contains("record_invoice, amount: 1250"), "{invoice}");
    let shown: Vec<String> = (1..=16).map(|number| home.run(&["tasks", "show", &number.to_string()]).out).collect();
    assert!(shown.iter().any(|text| text.contains("  Related\n")), "some task has related documents");
}

#[test]
fn json_says_what_the_text_says() {
    let home = TestHome::real_time(Kind::Active);
    home.post(&home.letter("when").body("Hello Alex,\n\nCan we meet tomorrow at 3pm for half an hour?\n\nTom\n"));
    home.run(&["once"]);
    home.run(&["pause"]);
    let items = home.json(&["hitl", "list"]);
    assert_eq!(items[0]["paused"], true, "{items}");
    let number = items[0]["number"].to_string();
    let rejected = home.json(&["hitl", "reject", &number, "--reason", "no time"]);
    assert!(rejected[0]["teaches"].is_string(), "{rejected}");
}

#[test]
fn redirected_logs_have_no_colour_codes() {
    let home = TestHome::real_time(Kind::Samples);
    let logged = home.run(&["-vv", "once"]).err;
    assert!(logged.contains("INFO") || logged.contains("DEBUG"), "{logged}");
    assert!(!logged.contains('\u{1b}'), "{logged}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_on_which_nothing_ran_is_made_up_for() {
    let home = TestHome::active();
    home.rules(
        "rules:\n  - name: near\n    when: { due_in: { lte: 72h } }\n    set: high\n    why: near\ndefault: low\n",
    );
    home.post(&home.letter("bill").invoice(5));
    home.once().await;
    assert_eq!(home.sql_one("SELECT priority FROM tasks"), "low");
    // The invoice is due on the 25th.
    home.clock.advance(8 * 24 * 3600);
    home.once().await;
    assert_eq!(home.sql_one("SELECT priority FROM tasks"), "high");
    assert_eq!(home.count("task_history WHERE why = 'a new day'"), 1);
    home.once().await;
    assert_eq!(home.count("task_history WHERE why = 'a new day'"), 1, "once a day");
}

#[test]
fn a_preview_counts_as_the_first_sync_would() {
    let home = TestHome::real_time(Kind::Active);
    let body = "Hello Alex,\n\nCan you send me the floor plan of the house?\n\nTom\n";
    home.post(&home.letter("a-ask").body(body));
    let later = (chrono::Utc::now() - chrono::Duration::minutes(10)).to_rfc2822();
    let again = body.replace("Can you", "Could you please");
    home.post(&home.letter("b-again").body(&again).date(&later).answers("a-ask"));
    let preview = home.json(&["preview", WORK]);
    home.run(&["once"]);
    let tasks = home.json(&["tasks"]).as_array().unwrap().len();
    assert_eq!((preview["tasks"].as_u64(), tasks), (Some(1), 1), "{preview}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_of_the_guidelines_is_a_difference() {
    let home = TestHome::active();
    let app = home.app().await;
    app.nightly().run_unless_done_today().await.unwrap();
    home.rules("default: med\n");
    home.clock.advance(24 * 3600);
    app.nightly().run_unless_done_today().await.unwrap();
    let Some(version) = app.rules().history().await.unwrap().first().map(|version| version.row.version) else { return };
    home.write("guidelines.txt", &format!("{}Be brief with the bank.\n", home.read("guidelines.txt")));
    let lines: Vec<String> = app.rules().diff(Some(version)).await.unwrap().iter().map(ToString::to_string).collect();
    assert!(lines.contains(&"guidelines.txt".to_owned()), "{lines:?}");
    assert!(lines.contains(&"+ Be brief with the bank.".to_owned()), "{lines:?}");
}
