//! The second mail about the same thing is linked to the first with the evidence; nobody can bury a mail by imitation.

use crate::house::{Dice, House, Letter};

fn states(house: &House) -> Vec<String> {
    house.sql("SELECT state FROM ledger ORDER BY mail_id").into_iter().flatten().collect()
}

/// Why the newest mail was linked, as its task tells it.
fn evidence(house: &House) -> String {
    house.sql_one("SELECT why FROM task_history WHERE field = 'follow_up' ORDER BY entry DESC LIMIT 1")
}

const ACME: &str = "Acme Billing <billing@acme.example>";

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_sent_again_is_linked_and_shown_on_its_task() {
    let house = House::active();
    house.post(&house.letter("one").subject("The keys").question().verified());
    house.once().await;
    house.clock.advance(3 * 86_400);
    let again = house.letter("two").subject("Re: The keys").verified();
    house.post(&again.body("Hello Alex,\n\nWhen will you be back at the house about one?\nI have the keys.\n\nTom\n"));
    house.once().await;
    assert_eq!(states(&house), ["task", "linked"]);
    assert_eq!(house.count("tasks"), 1);
    assert_eq!(evidence(&house), "the same words, subject and attachments from the same sender");
    let shown = house.json(&["tasks", "show", "1"]);
    let follow_up = &shown["follow_ups"][0];
    assert_eq!(follow_up["mail_id"], 2, "{shown}");
    assert!(follow_up["reason"].as_str().unwrap().contains("same words"), "{follow_up}");
    assert!(
        house.run(&["tasks", "show", "1"]).out.contains("Follow-up  mail 2"),
        "{}",
        house.run(&["tasks", "show", "1"]).out
    );
    assert!(house.run(&["why", "1"]).out.contains("mail 2"), "{}", house.run(&["why", "1"]).out);
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_twice_in_one_poll_opens_one_task() {
    let house = House::active();
    for n in 0..12 {
        house.post(
            &house
                .letter(&format!("copy{n}"))
                .subject("Keys")
                .body("Hello Alex,\n\nWhen will you be back at the house? I have the keys.\n\nTom\n"),
        );
        house.post(&house.letter(&format!("notice{n}")).invoice(77).subject(&format!("Notice {n}")).verified());
    }
    house.once().await;
    assert_eq!(house.count("tasks"), 2, "{:?}", house.sql("SELECT objective FROM tasks"));
    let states = states(&house);
    assert_eq!(states.iter().filter(|state| *state == "task").count(), 2, "{states:?}");
    assert_eq!(states.iter().filter(|state| *state == "linked").count(), 22, "{states:?}");
    house.must_be_sound().await;
    // What a run decided is what its replay decides.
    for run in house.sql("SELECT run_id FROM run WHERE kind = 'mail'") {
        let replayed = house.json(&["runs", "replay", &run[0]]);
        assert_eq!(replayed["identical"], true, "{replayed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_notice_of_an_invoice_is_linked_and_may_raise_it() {
    let house = House::active();
    let hurry =
        "rules:\n  - name: hurry\n    when: { urgency: { gte: 0.3 } }\n    set: high\n    why: a hurry\ndefault: low\n";
    house.rules(hurry);
    house.post(&house.letter("one").invoice(2041).verified());
    house.once().await;
    assert_eq!(house.sql("SELECT priority FROM tasks"), [["low"]]);
    house.clock.advance(86_400);
    let notice = house.letter("two").from(ACME).subject("Second notice").verified();
    house.post(&notice.body(
        "Dear Alex Green,\n\nour invoice no. 2041 over EUR 1,250.00 is still unpaid. This is urgent: please pay today.\n\nAcme Furniture Ltd.\n",
    ));
    house.once().await;
    assert_eq!(states(&house), ["task", "linked"], "{:?}", house.sql("SELECT reason FROM ledger"));
    assert_eq!(evidence(&house), "invoice 2041 of the same verified sender");
    assert_eq!(house.sql("SELECT priority FROM tasks"), [["high"]]);
    // And nothing lowers it again.
    house.clock.advance(86_400);
    let thanks = house.letter("three").from(ACME).answers("two").subject("Re: Second notice").verified();
    house.post(&thanks.body("Dear Alex Green,\n\nno hurry, our accountant is on holiday.\n\nAcme\n"));
    house.once().await;
    assert_eq!(house.sql("SELECT priority FROM tasks"), [["high"]]);
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_says_nothing_about_a_sender_nobody_vouches_for() {
    let house = House::active();
    house.post(&house.letter("one").invoice(2041).verified());
    house.once().await;
    house.clock.advance(60);
    let body = "Dear Alex Green,\n\nour invoice no. 2041 over EUR 1,250.00 is unpaid, please pay it to our new account.\n\nAcme\n";
    // A forged sender, and a verified one of another name.
    house.post(&house.letter("two").from(ACME).subject("New account").body(body));
    house.post(
        &house.letter("three").from("Acme <billing@acme-pay.example>").subject("New account").verified().body(body),
    );
    house.once().await;
    assert_eq!(states(&house), ["task", "task", "task"]);
    assert_eq!(house.count("task_history WHERE field = 'follow_up'"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_quotes_the_request_is_linked_without_its_headers() {
    let house = House::active();
    house.post(&house.letter("one").subject("The house").question());
    house.once().await;
    house.clock.advance(60);
    let quote = "> Hello Alex,\n>\n> When will you be back at the house about one? I have\n> the keys.\n>\n> Tom\n";
    let reply = house.letter("two").subject("AW: The house").from("Ann Lee <ann@lee.example>");
    house.post(&reply.body(&format!("I will be there as well.\n\nOn Mon, 16 Nov 2026 Tom Baker wrote:\n{quote}")));
    house.once().await;
    assert_eq!(states(&house), ["task", "linked"], "{:?}", house.sql("SELECT reason FROM ledger"));
    assert_eq!(evidence(&house), "a reply that quotes the request of this task");
    // The asker asks again, and quotes what they wrote.
    house.clock.advance(60);
    let again = house.letter("three").subject("The house, again");
    let body =
        format!("Alex, when will you be back at the house about one?\n\nOn Mon, 16 Nov 2026 Tom Baker wrote:\n{quote}");
    house.post(&again.body(&body));
    house.once().await;
    assert_eq!(states(&house), ["task", "linked", "linked"], "{:?}", house.sql("SELECT reason FROM ledger"));
    assert_eq!(evidence(&house), "asks again and quotes the request of this task");
    house.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_invoice_in_the_same_conversation_is_another_task() {
    let house = House::active();
    house.post(&house.letter("one").invoice(2041));
    house.once().await;
    house.clock.advance(60);
    house.post(&house.letter("two").invoice(2042).answers("one"));
    house.once().await;
    assert_eq!(states(&house), ["task", "task"]);
    assert_eq!(house.count("tasks"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_done_takes_nothing_in() {
    let house = House::active();
    house.post(&house.letter("one").invoice(2041).verified());
    house.once().await;
    assert_eq!(house.run(&["tasks", "done", "1"]).code, 0);
    house.clock.advance(86_400);
    house.post(&house.letter("two").invoice(2041).subject("Second notice").verified());
    house.once().await;
    assert_eq!(states(&house), ["task", "task"]);
    assert_eq!(house.count("tasks WHERE status <> 'DONE'"), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_impostor_who_writes_first_does_not_take_the_real_mail_in() {
    let house = House::active();
    // As Acme but unverified; then in the conversation of the real mail, under a name of its own.
    house.post(&house.letter("one").invoice(2041));
    let planted = house.letter("two").invoice(2041).from("Acme <billing@evil.example>").verified();
    house.post(&planted.header("References: <real@it.example>"));
    house.once().await;
    assert_eq!(states(&house), ["task", "task"]);
    house.clock.advance(60);
    house.post(&house.letter("real").invoice(2041).verified());
    house.once().await;
    assert_eq!(states(&house), ["task", "task", "task"], "{:?}", house.sql("SELECT reason FROM ledger"));
    house.must_be_sound().await;
}

/// A mail by someone who has seen the real one and imitates what they like of it.
fn imitation(house: &House, dice: &mut Dice, nth: usize, real: &str) -> Letter {
    let mut yes = || dice.below(2) == 0;
    let id = if yes() { real.to_owned() } else { format!("evil{nth}") };
    let mut letter = house.letter(&id).invoice(if yes() { 2041 } else { 2042 });
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
    let mut dice = Dice::thrown("no_imitation_buries_the_real_mail");
    let cases = std::env::var("IT_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(12);
    for case in 0..cases {
        let house = House::active();
        let before = dice.below(4) as usize;
        for nth in 0..before {
            let letter = imitation(&house, &mut dice, nth, "real");
            house.deliver(&format!("evil{nth}"), letter.text());
            if dice.below(2) == 0 {
                house.once().await;
            }
        }
        house.deliver("real", house.letter("real").invoice(2041).verified().text());
        for nth in before..before + dice.below(3) as usize {
            let letter = imitation(&house, &mut dice, nth, "real");
            house.deliver(&format!("evil{nth}"), letter.text());
        }
        house.once().await;
        let rows = house.sql(
            "SELECT l.state, f.sender, f.sender_verified FROM ledger l LEFT JOIN task_facts f USING (task_id) WHERE l.source_key LIKE '%real'",
        );
        assert_eq!(
            rows,
            [["task", "billing@acme.example", "1"]],
            "case {case}: {:?}",
            house.sql("SELECT source_key, state, reason FROM ledger")
        );
        house.must_be_sound().await;
    }
}
