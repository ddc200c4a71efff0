//! Tests what a person answers in words to an action that waits: it does what it says and nothing else, no instruction is
//! ever the text of a message, and what is not understood changes nothing.

use adjutant::{
    app::{App, ItemDetail},
    model::{DecisionKind, ItemState},
};

use chrono::Datelike as _;

use crate::support::test_home::{TestHome, approve_first, first};

const RESPONSES: &str = include_str!("../responses/responses.psv");

/// A home in which one action of this kind waits. The person has written to Marc before.
async fn waiting(kind: &str) -> TestHome {
    let home = TestHome::active();
    let sent = "From: Alex Green <you@home.example>\nTo: Marc Weber <marc@vale.example>\nSubject: Plans\nDate: Tue, 10 Nov 2026 08:00:00 +0000\nMessage-ID: <sent@home.example>\n\nDear Marc,\n\nhere they are.\n\nAlex\n";
    home.deliver_into(".Sent/cur", "sent:2,S", sent);
    let letter = home.letter("ask").subject("The visit");
    match kind {
        "invite" => {
            home.post(&letter.body("Hello Alex,\n\nCould we find time for a 30-min catch-up next week?\n\nTom\n"));
        }
        "reply" => {
            home.post(
                &letter.body("Hello Alex,\n\nattached is the order. Please confirm receipt of this mail.\n\nTom\n"),
            );
        }
        _ => {
            home.deliver("ask", "From: Tom Baker <tom@bakerand.example>\nTo: you@home.example\nSubject: Invitation: Lunch\nDate: Mon, 16 Nov 2026 07:00:00 +0000\nMessage-ID: <m1@b.example>\nMIME-Version: 1.0\nContent-Type: multipart/alternative; boundary=q\n\n--q\nContent-Type: text/plain\n\nYou are invited to Lunch.\n--q\nContent-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\nMETHOD:REQUEST\nBEGIN:VEVENT\nUID:u1\nSUMMARY:Lunch\nORGANIZER:mailto:tom@bakerand.example\nDTSTART:20261201T100000Z\nDURATION:PT1H\nEND:VEVENT\nEND:VCALENDAR\n--q--\n");
        }
    }
    home.once().await;
    assert_eq!(home.count("item WHERE state = 'open'"), 1, "{kind}");
    home
}

/// What waits after an answer in words; none if nothing does.
async fn answer(home: &TestHome, words: &str) -> anyhow::Result<Option<ItemDetail>> {
    let app = home.app().await;
    let number = first(&app).await.item.number.to_string();
    app.approvals().answer(&number, DecisionKind::Respond, words).await?;
    drop(app);
    home.clock.advance(1);
    home.once().await;
    let app = home.app().await;
    let items = app.approvals().list().await?;
    match items.first() {
        Some(item) => Ok(Some(app.approvals().detail(&item.item_id.to_string()).await?)),
        None => Ok(None),
    }
}

/// The message of an item, as a person reads it: to whom, what, and its calendar part.
fn message(detail: &ItemDetail) -> (Vec<String>, String, String) {
    let message = detail.action.as_ref().unwrap().action.effect.message().unwrap();
    let to = message.recipients().map(|to| to.addr.clone()).collect();
    // The calendar part as a mail program decodes it, with its long lines joined.
    let parsed = mail_parser::MessageParser::default().parse(message.mime.as_bytes()).unwrap();
    let calendar = parsed.attachments().next().map_or("", |part| std::str::from_utf8(part.contents()).unwrap());
    (to, message.body.clone(), calendar.replace("\r\n ", ""))
}

/// Returns the day of the meeting in a calendar part.
fn start_day(calendar: &str) -> chrono::NaiveDate {
    let start = calendar.lines().find_map(|line| line.strip_prefix("DTSTART:")).unwrap();
    chrono::NaiveDate::parse_from_str(&start[..8], "%Y%m%d").unwrap()
}

/// Returns what is wrong with the outcome of a response; empty if it is what was expected.
async fn check(kind: &str, words: &str, expected: &str) -> String {
    let home = waiting(kind).await;
    let app = home.app().await;
    let before = first(&app).await;
    drop(app);
    let (to_before, body_before, mime_before) = message(&before);
    let answered = answer(&home, words).await;
    assert_eq!(home.sent().len(), 1, "{words}: nothing is sent but what was there before");
    for row in home.sql("SELECT action FROM outbox WHERE step <> 'label'") {
        let action: adjutant::model::Action = serde_json::from_str(&row[0]).unwrap();
        let body = action.effect.message().map_or("", |message| message.body.as_str());
        // A single word such as "decline" may well stand in a sentence.
        let is_sentence = words.split_whitespace().count() > 2;
        let is_told = body.to_lowercase().contains(&words.to_lowercase());
        assert!(!is_sentence || !is_told, "{words} is the text of a message:\n{body}");
    }
    let mut wrong = Vec::new();
    let mut must = |holds: bool, what: &str| {
        if !holds {
            wrong.push(format!("{words}: {expected}: {what}"));
        }
    };
    let unchanged = home.count("item") == 1 && home.count("item WHERE state = 'open'") == 1;
    let now = match answered {
        Ok(now) => now,
        Err(why) => {
            let why = format!("{why:#}");
            let is_expected = match expected {
                "editor" => why.contains("is not understood") && why.contains("adjutant hitl edit"),
                "to מרק" => why.contains("you have written to nobody called “מרק”"),
                _ => false,
            };
            must(is_expected && unchanged, &why);
            return wrong.join("\n");
        }
    };
    for part in expected.split("; ") {
        let (verb, object) = part.split_once(' ').unwrap_or((part, ""));
        let Some(detail) = now.as_ref() else {
            must(verb == "nothing" || verb == "later", "nothing waits");
            let decided = home.sql_one("SELECT decision FROM item");
            must(verb != "nothing" || decided == "reject", "it was not rejected");
            must(
                verb != "later" || home.count("item WHERE state = 'open' AND snooze_until IS NOT NULL") == 1,
                "not hidden",
            );
            continue;
        };
        let (to, body, mime) = message(detail);
        must(
            detail.item.state == ItemState::Open
                && detail.action.as_ref().unwrap().sha256 != before.action.as_ref().unwrap().sha256,
            "another action waits",
        );
        match verb {
            "declined" if kind == "answer" => {
                must(mime.contains("PARTSTAT=DECLINED") && body.contains("Declined: Lunch"), &body)
            }
            "tentative" => must(mime.contains("PARTSTAT=TENTATIVE"), &body),
            "accepted" => must(mime.contains("PARTSTAT=ACCEPTED"), &body),
            "declined" if object.is_empty() => {
                must(body.contains("Unfortunately I have to decline.") && mime.is_empty(), &body)
            }
            "declined" => must(body.contains("not possible for me this month.") && mime.is_empty(), &body),
            "say" => must(body.contains(object) && !mime.contains("METHOD:REQUEST"), &body),
            "append" => {
                must(body.contains(object) && body.starts_with(body_before.split("\n\nBest").next().unwrap()), &body)
            }
            "shorten" => must(body.len() < body_before.len() && body.contains("It has arrived."), &body),
            "place" if kind == "reply" => must(body.contains(&format!("Place: {object}\n")), &body),
            "place" => must(
                body.contains(&format!("Place: {object}\n")) && mime.contains(&format!("LOCATION:{object}")),
                &body,
            ),
            "to" => must(
                to == ["marc@vale.example"] && (body.starts_with("Hello,") || body.starts_with("Hi Marc,")),
                &format!("{to:?} {body}"),
            ),
            "also" => {
                must(to == [to_before[0].as_str(), "marc@vale.example"] && body == body_before, &format!("{to:?}"));
                let guests = mime.matches("ATTENDEE").count();
                must(guests == if mime_before.contains("ATTENDEE") { 2 } else { 0 }, "each recipient is a guest");
            }
            // What is no invitation of one's own says that the time suits; somebody else's invitation is declined for it.
            "move" if kind != "invite" => {
                let day = chrono::NaiveDate::parse_from_str(object.split(' ').next().unwrap(), "%Y-%m-%d").unwrap();
                let told = format!("{}, 15:00 would suit me.", day.format("%A %-d %B %Y"));
                must(body.contains(&told) && (kind != "answer" || mime.contains("PARTSTAT=DECLINED")), &body);
            }
            "move" => {
                let (day, time) = object.split_once(' ').unwrap();
                let is_named = |text: &str| time == "-" || text.contains(time);
                must(is_named(&body), &body);
                let start = mime.lines().find(|line| line.starts_with("DTSTART:")).unwrap_or_default().to_owned();
                // A day said by its name is that of the week for which the mail asked.
                let found = start_day(&mime);
                let asked = start_day(&mime_before);
                let is_meant = chrono::NaiveDate::parse_from_str(day, "%Y-%m-%d").map_or(found == asked, |day| {
                    found == day || found.weekday() == day.weekday() && found.iso_week() == asked.iso_week()
                });
                must(is_meant && (time == "-" || start.contains(&format!("T{}00Z", time.replace(':', "")))), &start);
            }
            _ => must(false, "nothing should wait"),
        }
    }
    wrong.join("\n")
}

async fn check_all(kind: &str, least: usize) {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in RESPONSES.lines() {
        let [of, words, expected] = line.split(" | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
        if of == kind {
            count += 1;
            wrong.push(check(kind, words, expected).await);
        }
    }
    wrong.retain(|words| !words.is_empty());
    assert!(count >= least, "{count}");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invitation_of_ones_own() {
    check_all("invite", 22).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply() {
    check_all("reply", 30).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_to_an_invitation() {
    check_all("answer", 7).await;
}

async fn waits(app: &App) -> ItemDetail {
    first(app).await
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_changed_in_words_is_sent_as_it_is_shown() {
    let home = waiting("reply").await;
    let shown = answer(&home, "tell him I am on holiday until Monday").await.unwrap().unwrap();
    let (_, body, _) = message(&shown);
    assert_eq!(body, "Hi Tom,\n\nI am on holiday until Monday.\n\nBest regards,\nAlex Green\n");
    let shown = answer(&home, "also to Marc").await.unwrap().unwrap();
    assert_eq!(shown.item.body["response"]["understood"][0], "it also goes to marc@vale.example");
    let app = home.app().await;
    assert_eq!(waits(&app).await.action.unwrap().class.as_str(), "R3", "a new recipient is always asked about");
    approve_first(&app).await.unwrap();
    drop(app);
    home.clock.advance(1);
    home.once().await;
    let sent = home.sent();
    assert_eq!(sent.len(), 2);
    let sent = sent.iter().find(|mail| mail.contains("I am on holiday until Monday.")).expect("the reply was sent");
    assert!(sent.contains("marc@vale.example") && sent.contains("tom@bakerand.example"), "{sent}");
    assert_eq!(home.count("correction WHERE kind = 'respond'"), 2);
    home.must_be_sound().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_script_sees_what_is_understood_before_it_counts() {
    let home = TestHome::real_time(crate::support::test_home::Kind::Active);
    home.post(
        &home.letter("ask").body("Hello Alex,\n\nattached is the order. Please confirm receipt of this mail.\n\nTom\n"),
    );
    assert_eq!(home.run(&["once"]).code, 0);
    let number = home.json(&["hitl", "list"])[0]["number"].to_string();
    let planned = home.json(&["hitl", "respond", &number, "tell him I am ill", "--dry-run"]);
    assert_eq!(planned["understood"][0], "the message says something else: “I am ill.”", "{planned}");
    assert_eq!((planned["done"].as_bool(), home.count("item")), (Some(false), 1));
    let odd = home.run(&["hitl", "respond", &number, "make it nicer"]);
    assert_eq!(odd.code, 2, "{odd:?}");
    assert!(odd.err.contains("“make it nicer” is not understood, and nothing was changed"), "{}", odd.err);
    assert_eq!(home.count("item WHERE state = 'open'"), 1);
    let done = home.run(&["hitl", "respond", &number, "tell him I am ill"]);
    assert_eq!(done.code, 0, "{done:?}");
    let understood = done.out.find("Understood: the message says something else: “I am ill.”.");
    let shown = done.out.find("Hi Tom,");
    assert!(understood.is_some() && understood < shown, "what was understood comes first:\n{}", done.out);
    let number = home.json(&["hitl", "list"])[0]["number"].to_string();
    let done = home.json(&["hitl", "respond", &number, "also", "to", "marc@vale.example"]);
    assert_eq!(done[0]["understood"][0], "it also goes to marc@vale.example", "{done}");
    assert_ne!(done[0]["next"]["number"].to_string(), number, "{done}");
    let nothing = home.run(&["hitl", "respond", &done[0]["next"]["number"].to_string(), "send nothing"]);
    assert!(nothing.out.contains("Understood: nothing is sent"), "{nothing:?}");
    assert!(home.json(&["hitl", "list"]).as_array().unwrap().is_empty());
    assert_eq!(home.sent(), [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decision_file_is_understood_or_put_aside() {
    for (words, is_understood) in [("tell him I am ill", true), ("make it nicer", false)] {
        let home = waiting("reply").await;
        let app = home.app().await;
        let id = first(&app).await.item.item_id;
        drop(app);
        let path = home.home().queue().join(format!("{id}.decision.json"));
        std::fs::write(&path, format!(r#"{{ "action_sha256": "", "decision": "respond", "reason": "{words}" }}"#))
            .unwrap();
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        home.once().await;
        home.clock.advance(1);
        home.once().await;
        let told = home.count("outbox WHERE json_extract(action, '$.effect.message.body') LIKE '%I am ill.%'");
        let aside = crate::support::test_home::files_in(&home.home().queue().join("quarantine"));
        assert_eq!((told, aside.is_empty()), (u64::from(is_understood), is_understood), "{words}: {aside:?}");
        assert_eq!(home.sent().len(), 1);
    }
}
