//! Tests that a second mail about the same matter is linked to the first with its evidence, and that nobody can bury a
//! mail by imitating it.

use crate::support::test_home::{MailBuilder, SeededRandom, TestHome};

fn states(home: &TestHome) -> Vec<String> {
    home.sql("SELECT state FROM ledger ORDER BY mail_id").into_iter().flatten().collect()
}

/// Why the newest mail was linked, as its task tells it.
fn evidence(home: &TestHome) -> String {
    home.sql_one("SELECT why FROM task_history WHERE field = 'follow_up' ORDER BY entry DESC LIMIT 1")
}

const ACME: &str = "Acme Billing <billing@acme.example>";

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_sent_again_is_linked_and_shown_on_its_task() {
    let home = TestHome::active();
    home.post(&home.letter("one").subject("The keys").question().verified());
    home.once().await;
    home.clock.advance(3 * 86_400);
    let again = home.letter("two").subject("Re: The keys").verified();
    let words = "When will you be back at the house about one?\nI have the keys. Please confirm receipt of this mail.";
    home.post(&again.body(&format!("Hello Alex,\n\n{words}\n\nTom\n")));
    home.once().await;
    assert_eq!(states(&home), ["task", "linked"]);
    assert_eq!(home.count("tasks"), 1);
    assert_eq!(evidence(&home), "the same words, subject and attachments from the same sender");
    let shown = home.json(&["tasks", "show", "1"]);
    let follow_up = &shown["follow_ups"][0];
    assert_eq!(follow_up["mail_id"], 2, "{shown}");
    assert!(follow_up["reason"].as_str().unwrap().contains("same words"), "{follow_up}");
    assert!(
        home.run(&["tasks", "show", "1"]).out.contains("Follow-up  mail 2"),
        "{}",
        home.run(&["tasks", "show", "1"]).out
    );
    assert!(home.run(&["why", "1"]).out.contains("mail 2"), "{}", home.run(&["why", "1"]).out);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_twice_in_one_poll_opens_one_task() {
    let home = TestHome::active();
    for n in 0..12 {
        home.post(
            &home
                .letter(&format!("copy{n}"))
                .subject("Keys")
                .body("Hello Alex,\n\nWhen will you be back at the house? I have the keys.\n\nTom\n"),
        );
        home.post(&home.letter(&format!("notice{n}")).invoice(77).subject(&format!("Notice {n}")).verified());
    }
    home.once().await;
    assert_eq!(home.count("tasks"), 2, "{:?}", home.sql("SELECT objective FROM tasks"));
    let states = states(&home);
    assert_eq!(states.iter().filter(|state| *state == "task").count(), 2, "{states:?}");
    assert_eq!(states.iter().filter(|state| *state == "linked").count(), 22, "{states:?}");
    home.must_be_sound().await;
    // What a run decided is what its replay decides.
    for run in home.sql("SELECT run_id FROM run WHERE kind = 'mail'") {
        let replayed = home.json(&["runs", "replay", &run[0]]);
        assert_eq!(replayed["identical"], true, "{replayed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_notice_of_an_invoice_is_linked_and_may_raise_it() {
    let home = TestHome::active();
    let hurry =
        "rules:\n  - name: hurry\n    when: { urgency: { gte: 0.3 } }\n    set: high\n    why: a hurry\ndefault: low\n";
    home.rules(hurry);
    home.post(&home.letter("one").invoice(2041).verified());
    home.once().await;
    assert_eq!(home.sql("SELECT priority FROM tasks"), [["low"]]);
    home.clock.advance(86_400);
    let notice = home.letter("two").from(ACME).subject("Second notice").verified();
    home.post(&notice.body(
        "Dear Alex Green,\n\nour invoice no. 2041 over EUR 1,250.00 is still unpaid. This is urgent: please pay today.\n\nAcme Furniture Ltd.\n",
    ));
    home.once().await;
    assert_eq!(states(&home), ["task", "linked"], "{:?}", home.sql("SELECT reason FROM ledger"));
    assert_eq!(evidence(&home), "invoice 2041 of the same verified sender");
    assert_eq!(home.sql("SELECT priority FROM tasks"), [["high"]]);
    // And nothing lowers it again.
    home.clock.advance(86_400);
    let thanks = home.letter("three").from(ACME).answers("two").subject("Re: Second notice").verified();
    home.post(&thanks.body("Dear Alex Green,\n\nno hurry, our accountant is on holiday.\n\nAcme\n"));
    home.once().await;
    assert_eq!(home.sql("SELECT priority FROM tasks"), [["high"]]);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_says_nothing_about_a_sender_nobody_vouches_for() {
    let home = TestHome::active();
    home.post(&home.letter("one").invoice(2041).verified());
    home.once().await;
    home.clock.advance(60);
    let body = "Dear Alex Green,\n\nour invoice no. 2041 over EUR 1,250.00 is unpaid, please pay it to our new account.\n\nAcme\n";
    // A forged sender, and a verified one of another name.
    home.post(&home.letter("two").from(ACME).subject("New account").body(body));
    home.post(
        &home.letter("three").from("Acme <billing@acme-pay.example>").subject("New account").verified().body(body),
    );
    home.once().await;
    assert_eq!(states(&home), ["task", "task", "task"]);
    assert_eq!(home.count("task_history WHERE field = 'follow_up'"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_quotes_the_request_is_linked_without_its_headers() {
    let home = TestHome::active();
    home.post(&home.letter("one").subject("The house").question());
    home.once().await;
    home.clock.advance(60);
    let quote = "> Hello Alex,\n>\n> When will you be back at the house about one? I have\n> the keys.\n>\n> Tom\n";
    let reply = home.letter("two").subject("AW: The house").from("Ann Lee <ann@lee.example>");
    home.post(&reply.body(&format!("I will be there as well.\n\nOn Mon, 16 Nov 2026 Tom Baker wrote:\n{quote}")));
    home.once().await;
    assert_eq!(states(&home), ["task", "linked"], "{:?}", home.sql("SELECT reason FROM ledger"));
    assert_eq!(evidence(&home), "a reply that quotes the request of this task");
    // The asker asks again, and quotes what they wrote.
    home.clock.advance(60);
    let again = home.letter("three").subject("The house, again");
    let body =
        format!("Alex, when will you be back at the house about one?\n\nOn Mon, 16 Nov 2026 Tom Baker wrote:\n{quote}");
    home.post(&again.body(&body));
    home.once().await;
    assert_eq!(states(&home), ["task", "linked", "linked"], "{:?}", home.sql("SELECT reason FROM ledger"));
    assert_eq!(evidence(&home), "asks again and quotes the request of this task");
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_invoice_in_the_same_conversation_is_another_task() {
    let home = TestHome::active();
    home.post(&home.letter("one").invoice(2041));
    home.once().await;
    home.clock.advance(60);
    home.post(&home.letter("two").invoice(2042).answers("one"));
    home.once().await;
    assert_eq!(states(&home), ["task", "task"]);
    assert_eq!(home.count("tasks"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_done_takes_nothing_in() {
    let home = TestHome::active();
    home.post(&home.letter("one").invoice(2041).verified());
    home.once().await;
    assert_eq!(home.run(&["tasks", "done", "1"]).code, 0);
    home.clock.advance(86_400);
    home.post(&home.letter("two").invoice(2041).subject("Second notice").verified());
    home.once().await;
    assert_eq!(states(&home), ["task", "task"]);
    assert_eq!(home.count("tasks WHERE status <> 'DONE'"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_impostor_who_writes_first_does_not_take_the_real_mail_in() {
    let home = TestHome::active();
    // As Acme but unverified; then in the conversation of the real mail, under a name of its own.
    home.post(&home.letter("one").invoice(2041));
    let planted = home.letter("two").invoice(2041).from("Acme <billing@evil.example>").verified();
    home.post(&planted.header("References: <real@it.example>"));
    home.once().await;
    assert_eq!(states(&home), ["task", "task"]);
    home.clock.advance(60);
    home.post(&home.letter("real").invoice(2041).verified());
    home.once().await;
    assert_eq!(states(&home), ["task", "task", "task"], "{:?}", home.sql("SELECT reason FROM ledger"));
    home.must_be_sound().await;
}

/// A mail by someone who has seen the real one and imitates what they like of it.
fn imitation(home: &TestHome, dice: &mut SeededRandom, nth: usize, real: &str) -> MailBuilder {
    let mut yes = || dice.below(2) == 0;
    let id = if yes() { real.to_owned() } else { format!("evil{nth}") };
    let mut letter = home.letter(&id).invoice(if yes() { 2041 } else { 2042 });
    let forged = yes();
    if !forged {
        letter = letter.from("Acme Billing <billing@evil.example>");
        if yes() {
            letter = letter.verified();
        }
    }
    if yes() {
        letter = letter.subject("Re: Invoice 2041");
    }
    if yes() {
        letter = letter.answers(real);
    }
    if yes() {
        letter = letter.header("Reply-To: billing@evil.example");
    }
    if yes() {
        letter = letter.body(&format!(
            "Dear Alex Green,\n\nplease pay.\n\nOn Mon, 16 Nov 2026 Acme wrote:\n> please find below our invoice no. 2041.\n> Ticket {nth}\n",
        ));
    }
    letter
}

#[tokio::test(flavor = "multi_thread")]
async fn no_imitation_buries_the_real_mail() {
    let mut dice = SeededRandom::thrown("no_imitation_buries_the_real_mail");
    let cases = std::env::var("IT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(12);
    for case in 0..cases {
        let home = TestHome::active();
        let before = dice.below(4) as usize;
        for nth in 0..before {
            let letter = imitation(&home, &mut dice, nth, "real");
            home.deliver(&format!("evil{nth}"), letter.text());
            if dice.below(2) == 0 {
                home.once().await;
            }
        }
        home.deliver("real", home.letter("real").invoice(2041).verified().text());
        for nth in before..before + dice.below(3) as usize {
            let letter = imitation(&home, &mut dice, nth, "real");
            home.deliver(&format!("evil{nth}"), letter.text());
        }
        home.once().await;
        let rows = home.sql(
            "SELECT l.state, f.sender, f.sender_verified FROM ledger l LEFT JOIN task_facts f USING (task_id) WHERE l.source_key LIKE '%real'",
        );
        assert_eq!(
            rows,
            [["task", "billing@acme.example", "1"]],
            "case {case}: {:?}",
            home.sql("SELECT source_key, state, reason FROM ledger")
        );
        home.must_be_sound().await;
    }
}
