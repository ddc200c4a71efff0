//! Tests the rules on the page: nothing is saved before it was shown what it changes, what is saved is what was shown,
//! and every version leads back.

use crate::support::{
    page_client::{PageAnswer, PageClient},
    test_home::TestHome,
};

const OWN: &str = "# mine\nrules:\n  - name: everything\n    when: { subject: { exists: true } }\n    set: critical\n    why: a test\ndefault: low\n";
const LEARNED: &str = "  - name: learned-1\n    when: { sender_domain: { is: shop.example } }\n    set: high\n    why: corrected 3 times\n";

/// The rules with this learned part.
fn rules(own: &str, learned: &str) -> String {
    let learned = if learned.is_empty() { "learned: []\n".to_owned() } else { format!("learned:\n{learned}") };
    format!("{own}# >>> learned >>>\n{learned}# <<< learned <<<\n")
}

/// Takes an edited copy to the page that shows what it would change.
fn try_copy(page: &PageClient, text: &str) -> PageAnswer {
    let editor = page.page("/rules/edit");
    page.submit(&editor, "/rules/drafts", &[("text", &text.replace('\n', "\r\n"))])
}

/// Presses the button that saves the copy.
fn save(page: &PageClient, shown: &PageAnswer) -> PageAnswer {
    page.submit(shown, &format!("{}/save", shown.path.split('?').next().unwrap()), &[])
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_saved_before_it_was_shown_what_it_changes() {
    let home = TestHome::samples();
    home.once().await;
    let page = PageClient::open(&home).await;
    let overview = page.page("/rules");
    overview.must_say("no rule decided");
    let before = home.read("rules/priority.yml");
    let dump = home.dump();
    let shown = try_copy(&page, &rules(OWN, ""));
    shown.must_say("Nothing is saved yet");
    shown.must_say("+ - name: everything");
    assert!(!shown.text().contains(" 0 raised"), "{}", shown.text());
    assert_eq!((home.read("rules/priority.yml"), home.dump()), (before, dump));
    save(&page, &shown).must_say("Saved as version 2");
    assert_eq!(home.read("rules/priority.yml"), rules(OWN, ""));
    let critical = home.count("tasks WHERE priority = 'critical' AND status NOT IN ('DONE', 'CANCELLED')");
    assert!(critical > 5, "open tasks are ranked by the new rules: {critical}");
    let hits = page.page("/rules").text();
    assert!(hits.contains("everything line 3 at least critical"), "{hits}");
    // The button that was used is used up.
    assert_eq!(save(&page, &shown).status, 403);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_is_bound_to_the_file_that_it_was_made_from() {
    let home = TestHome::samples();
    let page = PageClient::open(&home).await;
    let shown = try_copy(&page, &rules(OWN, ""));
    let by_hand = rules("rules: []\ndefault: med # by hand\n", "");
    home.write("rules/priority.yml", &by_hand);
    let refused = save(&page, &shown);
    refused.must_say("changed since you made this copy, so nothing was saved");
    refused.must_say("- default: med # by hand");
    assert_eq!(home.read("rules/priority.yml"), by_hand);
    assert_eq!(home.count("rules_version"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_copy_is_shown_with_its_line_and_cannot_be_saved() {
    let home = TestHome::samples();
    let page = PageClient::open(&home).await;
    for (text, line, expected) in [
        ("rules:\n  - name: a\n    when: { colour: { is: red } }\n    set: high\n", "in line 3", "expected"),
        ("rules:\n  - name: a\n    when: { subject: { is: x } }\n    set: soon\n", "in line 4", "expected"),
        ("", "", "expected rules"),
        // The learned part that the file had is missing.
        ("rules: []\ndefault: low\n", "", "looks cut off"),
    ] {
        page.page("/rules");
        let shown = try_copy(&page, text);
        shown.must_say("This copy is broken");
        shown.must_say(line);
        shown.must_say(expected);
        assert!(!shown.body.contains("/save\""), "{text}");
        assert!(shown.body.contains("action=\"/rules/drafts\""), "it can be edited further");
    }
    assert_eq!(home.count("rules_version"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_file_is_said_with_the_rules_in_force() {
    let home = TestHome::samples();
    let page = PageClient::open(&home).await;
    let good = page.page("/rules").text();
    assert!(!good.contains("broken"), "{good}");
    home.write("rules/priority.yml", "rules:\n  - nam: a\n");
    let broken = page.page("/rules");
    broken.must_say("The file is broken and does not count.");
    broken.must_say("The last good rules");
    broken.must_say("priority.yml:2:5");
    broken.must_say("finance-alerts");
    page.page("/health").must_say("The rules file is broken");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_leads_back_to_what_was_learned_and_keeps_what_was_written() {
    let home = TestHome::samples();
    home.write("rules/priority.yml", &rules(OWN, ""));
    let page = PageClient::open(&home).await;
    save(&page, &try_copy(&page, &rules(OWN, LEARNED))).must_say("Saved as version 2");
    let own = OWN.replace("# mine", "# mine, and more");
    save(&page, &try_copy(&page, &rules(&own, LEARNED))).must_say("Saved as version 3");
    let list = page.page("/rules");
    list.must_say("Version 3 in force");
    list.must_say("edited by you");
    page.page("/rules/versions/2").must_say("+ - name: learned-1");
    let first = page.page("/rules/versions/1");
    let done = page.submit(&first, "/rules/versions/1/rollback", &[]);
    done.must_say("version 4 is in force");
    assert_eq!(home.read("rules/priority.yml"), rules(&own, ""), "what was learned is gone, what was written stays");
    // A page from before the change leads nowhere.
    let old = page.page("/rules/versions/2");
    home.write("rules/priority.yml", &rules(OWN, ""));
    page.submit(&old, "/rules/versions/2/rollback", &[]).must_say("changed since this page was shown");
    assert_eq!(home.read("rules/priority.yml"), rules(OWN, ""));
    // The whole text of a version can be taken up again as a copy.
    assert!(page.page("/rules/edit?version=2").body.contains("learned-1"));
    assert_eq!(page.get("/rules/versions/77").status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_in_the_rules_acts_on_the_page() {
    let home = TestHome::samples();
    let page = PageClient::open(&home).await;
    let hostile = OWN.replace("# mine", "# </textarea><script>alert(1)</script>\u{202e}");
    let shown = try_copy(&page, &rules(&hostile.replace("why: a test", "why: '<img src=x>'"), ""));
    let saved = save(&page, &shown);
    let pages = ["/rules", "/rules/edit", "/rules/versions/2"].map(|path| page.page(path));
    for PageAnswer { body, path, .. } in [shown, saved].iter().chain(&pages) {
        assert!(!body.contains("<script>alert") && !body.contains("<img src=x"), "{path}: {body}");
        // The editor holds the text as it is, because it is saved again.
        assert!(!body.contains('\u{202e}') || path == "/rules/edit", "{path}");
    }
}
