//! Tests a person who configured no name: the name of the sample person is used for the sample account only.

use adjutant::clock::Clock;

use crate::support::test_home::{TestHome, files_in};

const FOREIGN: [&str; 3] = ["Alex", "Green", "home.example"];

fn must_not_name(what: &str, text: &str) {
    for word in FOREIGN {
        assert!(!text.contains(word), "{what} names {word}:\n{text}");
    }
}

fn letter(id: &str, body: &str) -> String {
    let date = (chrono::Utc::now() - chrono::Duration::hours(1)).to_rfc2822();
    format!(
        "From: Tom Baker <tom@bakerand.example>\nTo: Dana <dana@levi.example>\nSubject: About {id}\nDate: {date}\nMessage-ID: <{id}@it.example>\n\n{body}"
    )
}

/// Straight from `init`, with a mailbox and not a word about the person.
fn unnamed(account: &str) -> TestHome {
    let home = TestHome::with("[me]\n", Clock::System);
    let config = format!("{}\n[[account]]\nname = \"work\"\npath = \"mail\"\n{account}", adjutant::config::TEMPLATE);
    home.write("adjutant.toml", &config);
    for folder in ["mail/new", "mail/cur", "mail/tmp"] {
        std::fs::create_dir_all(home.root().join(folder)).unwrap();
    }
    assert_eq!(home.run(&["mail", "mode", "work", "active"]).code, 0);
    home.deliver(
        "question",
        letter("question", "Hello,\n\nWhen will you be back at the house? I have the keys.\n\nTom\n"),
    );
    home.deliver("meeting", letter("meeting", "Hi,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n"));
    home
}

#[test]
fn no_draft_and_no_answer_names_the_sample_person() {
    for (account, from) in [("", "dana@levi.example"), ("address = \"dana@own.example\"\n", "dana@own.example")] {
        let home = unnamed(account);
        for command in [
            &["once"][..],
            &["tasks", "list", "--all"],
            &["tasks", "show", "1"],
            &["tasks", "show", "2"],
            &["hitl", "list"],
            &["hitl", "list", "--all"],
            &["mail", "list"],
            &["mail", "show", "1"],
            &["why", "1"],
            &["doctor"],
            &["preview", "work"],
            &["digest"],
            &["tasks", "add", "Buy milk"],
            &["runs", "list"],
        ] {
            for json in [false, true] {
                let mut line = if json { vec!["--json"] } else { Vec::new() };
                line.extend(command);
                let answered = home.run(&line);
                assert!([0, 4].contains(&answered.code), "{line:?}: {}", answered.err);
                must_not_name(&format!("{line:?}"), &format!("{}{}", answered.out, answered.err));
            }
        }
        let drafts = home.maildir().join(".Drafts");
        let mut seen = 0;
        for folder in ["new", "cur"].map(|state| drafts.join(state)) {
            for name in files_in(&folder) {
                let text = std::fs::read_to_string(folder.join(name)).unwrap();
                must_not_name("a draft", &text);
                assert!(text.contains(&format!("From: <{from}>")) || text.contains(&format!("From: {from}")), "{text}");
                assert!(text.trim_end().ends_with(from), "signed with the address:\n{text}");
                seen += 1;
            }
        }
        assert!(seen >= 1, "a draft was written");
        for table in ["tasks", "outbox", "task_facts", "item", "reply", "run_input"] {
            let rows = home.sql(&format!("SELECT * FROM {table}"));
            must_not_name(table, &format!("{rows:?}"));
        }
        let doctor = home.diagnosis().to_string();
        assert!(doctor.contains("does not know your name"), "{doctor}");
        assert_eq!(doctor.contains("does not know your address"), account.is_empty(), "{doctor}");
        assert_eq!(home.count("outbox WHERE state = 'sent'"), 0);
    }
}

/// Written to two: nobody knows which of them the person is, so nobody writes in their name, and nothing fails over it.
#[test]
fn a_mail_to_several_leaves_the_answer_to_the_person() {
    let home = unnamed("");
    let both = letter("both", "Hello,\n\nWhen will the two of you be back at the cabin? I have the parcel.\n\nTom\n");
    home.deliver("both", both.replace("To: Dana", "To: Erez <erez@levi.example>, Dana"));
    let once = home.run(&["once"]);
    assert_eq!(once.code, 0, "{}", once.err);
    let task = home.sql_one("SELECT task_id FROM ledger JOIN mail USING (mail_id) WHERE subject = 'About both'");
    assert_eq!(home.count(&format!("outbox WHERE task_id = '{task}'")), 0);
    assert_eq!(home.count("item WHERE kind = 'failed_step'"), 0);
    let shown = home.run(&["--json", "tasks", "show", &task]).out;
    assert!(shown.contains("your address is not known"), "{shown}");
}

#[test]
fn the_samples_keep_their_person() {
    let home = TestHome::with("[mail]\n", Clock::System);
    home.write("adjutant.toml", "");
    assert_eq!(home.run(&["once"]).code, 0);
    let drafts = home.root().join("data/mail/.Drafts/cur");
    let texts: Vec<String> =
        files_in(&drafts).iter().map(|name| std::fs::read_to_string(drafts.join(name)).unwrap()).collect();
    assert!(texts.iter().any(|text| text.contains("Alex Green")), "{} drafts", texts.len());
}
