//! Tests the approvals of the page in a real browser: with keys alone, without JavaScript, on a phone, and with items
//! that arrive or change while they are looked at.

use adjutant::model::{DecisionKind, OutboxState};

use crate::support::{
    browser::{Browser, DESKTOP, PHONE, Window},
    served_page::ServedPage,
    test_home::TestHome,
};

const MEETING: &str = "Hi Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n";

/// A window that shows a whole item.
const TALL: Window = Window { height: 1500, ..DESKTOP };

/// A home with so many invitations that wait for approval, each from somebody else.
async fn with_invitations(count: usize) -> TestHome {
    let home = TestHome::active();
    home.policy("approvals: { grace_seconds: 600 }");
    for nth in 1..=count {
        post_invitation(&home, nth);
    }
    home.once().await;
    home
}

fn post_invitation(home: &TestHome, nth: usize) {
    let from = format!("Tom Baker <tom{nth}@bakerand{nth}.example>");
    home.post(&home.letter(&format!("meeting-{nth}")).from(&from).body(MEETING));
}

fn states(home: &TestHome) -> Vec<String> {
    let rows = home.sql("SELECT state FROM outbox WHERE step = 'send_calendar_invite' ORDER BY action_id");
    rows.into_iter().map(|row| row[0].clone()).collect()
}

fn held(home: &TestHome) -> usize {
    states(home).iter().filter(|state| *state == "held").count()
}

/// Carries out what was approved, once the grace has passed.
async fn wait_out_grace(home: &TestHome) {
    home.clock.advance(601);
    home.once().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_alone_are_enough_to_approve_and_to_undo() {
    let home = with_invitations(2).await;
    let served = ServedPage::start(&home).await;
    let mut browser = Browser::start();
    browser.open(TALL);
    assert_eq!(browser.goto(&served.sign_in_link()), 200);
    assert_eq!(browser.count("ol.queue li"), 2);
    browser.screenshot("approvals");
    browser.press(&["j", "Enter"]);
    browser.until("h1", "invite");
    assert!(browser.text(".action").contains("catch-up"), "{}", browser.text(".action"));
    browser.screenshot("approval");
    browser.must_be_accessible();
    browser.press(&["a"]);
    browser.until(".note", "leaves");
    assert_eq!(held(&home), 1);
    browser.press(&["u"]);
    browser.until(".note", "Taken back");
    assert_eq!(held(&home), 0);
    browser.press(&["a"]);
    browser.until(".note", "leaves");
    browser.press(&["q"]);
    browser.until("h1", "Approvals");
    // What can still be taken back is shown, too.
    assert!(browser.text("#queue").contains("leaves"), "{}", browser.text("#queue"));
    browser.must_be_quiet(&served.url("/"));
    drop(served);
    wait_out_grace(&home).await;
    assert_eq!(home.sent().len(), 1);
    let channel = home.sql_one("SELECT door FROM approval WHERE used_at IS NOT NULL");
    assert_eq!(channel, "web");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edited_text_is_shown_again_and_then_sent() {
    let home = with_invitations(1).await;
    let served = ServedPage::start(&home).await;
    let mut browser = Browser::start();
    browser.open(Window { height: 500, ..DESKTOP });
    browser.goto(&served.sign_in_link());
    browser.press(&["j", "Enter"]);
    browser.until("h1", "invite");
    let old = browser.text(".crumbs");
    browser.press(&["e"]);
    let text = browser.evaluate("document.querySelector('textarea').value").as_str().unwrap().to_owned();
    browser.fill("textarea", "");
    browser.click("details[open] button[type=submit]");
    browser.until(".note.refusal", "empty text changes nothing");
    browser.fill("textarea", &text.replace("Best regards", "Warmly from the page"));
    browser.click("details[open] button[type=submit]");
    browser.until(".note", "Nothing is approved yet");
    assert_ne!(browser.text(".crumbs"), old);
    assert!(browser.text(".action").contains("Warmly from the page"));
    assert_eq!(states(&home), ["void", "parked"]);
    // A button that is not on the screen is shown first: nobody approves what they have not seen to its end.
    browser.evaluate("window.scrollTo(0, 0)");
    browser.press(&["a"]);
    assert_eq!(states(&home), ["void", "parked"]);
    browser.press(&["a"]);
    browser.until(".note", "leaves");
    drop(served);
    wait_out_grace(&home).await;
    let sent = home.sent();
    assert_eq!(sent.len(), 1);
    assert!(sent[0].contains("Warmly from the page"), "{}", sent[0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rejection_sends_nothing_and_a_snooze_hides() {
    let home = with_invitations(2).await;
    let served = ServedPage::start(&home).await;
    let mut browser = Browser::start();
    browser.open(TALL);
    browser.goto(&served.sign_in_link());
    browser.press(&["j", "Enter"]);
    browser.until("h1", "invite");
    browser.press(&["r"]);
    browser.type_text("not with him");
    browser.press(&["Enter"]);
    browser.until(".note", "Rejected");
    // The next item is shown at once.
    browser.until("h1", "invite");
    browser.press(&["s"]);
    browser.type_text("2h");
    browser.press(&["Enter"]);
    browser.until(".note", "Hidden until");
    browser.until(".empty", "Nothing waits for you");
    assert_eq!(home.sql("SELECT state, reason FROM item ORDER BY number")[0], ["decided", "not with him"]);
    assert_eq!(home.count("item WHERE snooze_until IS NOT NULL"), 1);
    drop(served);
    wait_out_grace(&home).await;
    assert_eq!(home.sent(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_is_shown_whole_and_approved_as_shown() {
    let home = with_invitations(3).await;
    let served = ServedPage::start(&home).await;
    let mut browser = Browser::start();
    browser.open(TALL);
    browser.goto(&served.sign_in_link());
    browser.press(&["j", "x", "j", "x", "b"]);
    browser.until("h1", "Approve several");
    assert_eq!(browser.count("section.card"), 2);
    browser.must_be_accessible();
    browser.screenshot("batch");
    // One of the two changes while the person reads.
    let items = served.app.approvals().list().await.unwrap();
    served.app.approvals().edit_action(items[0].item_id, "Another subject", "Another text.\n").await.unwrap();
    browser.press(&["a"]);
    browser.until(".note", "1 approved");
    assert!(browser.text(".note").contains("Not approved"), "{}", browser.text(".note"));
    assert_eq!(held(&home), 1);
    browser.press(&["u"]);
    browser.until(".note", "Taken back");
    assert_eq!(held(&home), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_changed_meanwhile_is_shown_again_and_not_approved() {
    let home = with_invitations(1).await;
    let served = ServedPage::start(&home).await;
    let mut browser = Browser::start();
    // Without JavaScript nothing warns, so the page in the window is certainly the old one.
    browser.open(Window { has_javascript: false, ..DESKTOP });
    browser.goto(&served.sign_in_link());
    browser.click("a.row");
    let items = served.app.approvals().list().await.unwrap();
    home.policy("approvals: { grace_seconds: 601 }");
    served.app.approvals().reevaluate_parked_actions().await.unwrap();
    browser.click("button.primary");
    browser.until(".note.refusal", "it has changed since you saw it");
    assert_eq!(states(&home), ["parked"]);
    // What is shown now can be approved.
    browser.click("button.primary");
    browser.until(".note", "leaves");
    let detail = served.app.approvals().detail(&items[0].item_id.to_string()).await.unwrap();
    assert_eq!(detail.action.unwrap().state, OutboxState::Held);
    assert_eq!(detail.item.decision, Some(DecisionKind::Approve));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_javascript_everything_works_by_forms() {
    let home = with_invitations(2).await;
    let served = ServedPage::start(&home).await;
    let mut browser = Browser::start();
    browser.open(Window { has_javascript: false, ..DESKTOP });
    browser.goto(&served.sign_in_link());
    browser.click("a.row");
    browser.click("summary:has-text('Tell it what to do')");
    browser.fill("input[name=words]", "shorter");
    browser.click("button:has-text('Show what that means')");
    browser.until("h1", "What that means");
    browser.click("a.button:has-text('Back')");
    browser.click("button.primary");
    browser.until(".note", "leaves");
    browser.click(".note button");
    browser.until(".note", "Taken back");
    browser.click("summary:has-text('Reject')");
    browser.fill("details[open] input[name=reason]", "no");
    browser.click("details[open] button");
    browser.until(".note", "Rejected");
    assert_eq!((held(&home), states(&home).len()), (0, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_item_appears_by_itself_and_the_focus_stays() {
    let home = with_invitations(1).await;
    let served = ServedPage::start(&home).await;
    let mut browser = Browser::start();
    browser.open(TALL);
    browser.goto(&served.sign_in_link());
    browser.press(&["j"]);
    let focus = "document.activeElement.getAttribute('href')";
    let focused = browser.evaluate(focus);
    post_invitation(&home, 2);
    home.once().await;
    browser.until("ol.queue li:nth-child(2)", "");
    assert_eq!(browser.evaluate(focus), focused);
    browser.until("#waiting", "2");
    // An item that is decided elsewhere says so on its own page.
    browser.press(&["Enter"]);
    browser.until("h1", "invite");
    let id = served.app.approvals().list().await.unwrap()[0].item_id.to_string();
    served.app.approvals().answer(&id, DecisionKind::Reject, "").await.unwrap();
    browser.until("#freshness", "decided meanwhile");
    browser.must_be_quiet(&served.url("/"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_phone_and_the_dark_show_everything_without_faults() {
    let home = TestHome::samples();
    home.once().await;
    let served = ServedPage::start(&home).await;
    let mut browser = Browser::start();
    let mut mirrored = 0;
    for (window, name) in [
        (DESKTOP, "desktop"),
        (PHONE, "phone"),
        (Window { is_dark: true, ..DESKTOP }, "dark"),
        (Window { is_dark: true, ..PHONE }, "phone-dark"),
    ] {
        browser.open(window);
        browser.goto(&served.sign_in_link());
        browser.must_be_accessible();
        browser.screenshot(&format!("samples-queue-{name}"));
        for item in served.app.approvals().list().await.unwrap() {
            assert_eq!(browser.goto(&served.url(&format!("/approvals/{}", item.number))), 200);
            browser.must_be_accessible();
            browser.screenshot(&format!("samples-item-{}-{name}", item.number));
            mirrored += browser.count(".beside[dir=rtl]");
        }
        assert_eq!(browser.goto(&served.url("/nothing-here")), 404);
        browser.must_be_accessible();
    }
    // The Hebrew message is shown from right to left, in each of the four windows.
    assert_eq!(mirrored, 4);
}
