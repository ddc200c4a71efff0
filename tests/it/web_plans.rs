//! Tests plans on the page: nothing is stored before the person agrees, what was shown is what is executed, once, and a
//! failed step is decided on.

use crate::support::{
    page_client::{PageAnswer, PageClient},
    test_home::TestHome,
};

const REQUEST: &str = "1. create folder Taxes 2. create folder Bills after step 1";

fn prepare(page: &PageClient, request: &str) -> PageAnswer {
    page.submit(&page.page("/plans"), "/plans/prepare", &[("text", request)])
}

fn act(page: &PageClient, shown: &PageAnswer, act: &str, fields: &[(&str, &str)]) -> PageAnswer {
    let draft = shown.path.split('?').next().unwrap();
    page.submit(shown, &format!("{draft}/{act}"), fields)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_is_executed_once_and_only_after_it_was_agreed_on() {
    let home = TestHome::observing();
    let page = PageClient::open(&home).await;
    let before = home.dump();
    let shown = prepare(&page, REQUEST);
    shown.must_say("Complexity");
    shown.must_say("create folder: Taxes");
    assert_eq!(home.dump(), before);
    let opened = act(&page, &shown, "execute", &[]);
    opened.must_say("0 of 2 steps");
    assert_eq!(act(&page, &shown, "execute", &[]).status, 403);
    assert_eq!(home.count("plan"), 1);
    page.app.worker().finish_runs().await.unwrap();
    let done = page.page(&opened.path);
    done.must_say("2 of 2 steps");
    done.must_say("completed");
    assert!(home.root().join("data/files/Bills").is_dir());
    page.page("/plans").must_say("Taxes");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_are_edited_a_plan_is_cancelled_and_a_request_executed_directly() {
    let home = TestHome::observing();
    let page = PageClient::open(&home).await;
    let shown = prepare(&page, REQUEST);
    let text = page.app.plans().prepare(REQUEST, None).await.unwrap();
    let text = page.app.plans().print_steps(&text.plan).replace("Taxes", "Letters");
    let edited = act(&page, &shown, "steps", &[("steps", &text)]);
    edited.must_say("create folder: Letters");
    act(&page, &shown, "steps", &[("steps", "nothing of a plan")]);
    let broken = act(&page, &page.page(shown.path.split('?').next().unwrap()), "steps", &[("steps", "no plan")]);
    broken.must_say("these steps are no plan");
    act(&page, &edited, "cancel", &[]).must_say("Cancelled; nothing was stored.");
    assert_eq!((page.get(&edited.path).status, home.count("plan")), (404, 0));
    let shown = page.page(shown.path.split('?').next().unwrap());
    act(&page, &shown, "direct", &[]).must_say("of 1 steps");
    prepare(&page, "what is due this week?").must_say("That is a question");
    prepare(&page, " ").must_say("say what is to be done");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_step_is_decided_on_as_it_was_shown() {
    for (decision, expected, said) in
        [("skip", "completed", "The step is skipped"), ("cancel", "cancelled", "The plan is cancelled")]
    {
        let home = TestHome::observing();
        let page = PageClient::open(&home).await;
        // A folder name with a slash is refused by the policy.
        let shown = prepare(&page, "1. create folder a/b 2. create folder Good 3. create folder Later after step 1");
        let opened = act(&page, &shown, "execute", &[]);
        page.app.worker().finish_runs().await.unwrap();
        let failed = page.page(&opened.path);
        failed.must_say("failed");
        home.clock.advance(60);
        let action = format!("{}/decide", opened.path);
        page.submit(&failed, &action, &[("decision", decision)]).must_say(said);
        page.app.worker().finish_runs().await.unwrap();
        assert_eq!(home.sql("SELECT status FROM plan"), [[expected]], "{decision}");
        assert_eq!(page.submit(&failed, &action, &[("decision", decision)]).status, 403, "the button counts once");
        home.must_be_sound().await;
    }
}
