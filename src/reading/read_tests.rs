//! Whole mails through `read`.

use chrono::{NaiveTime, Weekday};

use super::read::{ReadContext, read};
use crate::model::{Address, Mail, Me, Reading};
use crate::reading::sentence::score::THRESHOLD;

pub(super) fn me() -> Me {
    let time = |hour| NaiveTime::from_hms_opt(hour, 0, 0).unwrap();
    Me {
        names: vec!["Alex Green".into()],
        addresses: vec!["you@home.example".into()],
        time_zone: chrono_tz::Tz::Europe__Berlin,
        work_start: time(9),
        work_end: time(18),
        work_days: vec![Weekday::Mon, Weekday::Tue, Weekday::Wed, Weekday::Thu, Weekday::Fri],
        signature: String::new(),
        decline: String::new(),
        senders: std::collections::HashMap::new(),
        languages: vec!["en".into()],
    }
}

fn address(addr: &str) -> Address {
    let name = if addr == DANA { "Dana" } else { addr.split('@').next().unwrap() };
    Address { name: Some(name.into()), addr: addr.into() }
}

/// Written on Tuesday 16 June 2026.
pub(super) fn mail(from: &str, to: &str, subject: &str, text: &str) -> Mail {
    Mail {
        from: address(from),
        to: vec![address(to)],
        subject: subject.into(),
        text: text.into(),
        date: Some("2026-06-16T08:30:00Z".parse().unwrap()),
        ..Mail::default()
    }
}

pub(super) fn check(mail: &Mail, expected: &[&str]) {
    let reading = read_of(mail);
    let tasks = reading.tasks.iter().map(|task| format!("{}: {}", task.kind, task.objective));
    let got: Vec<_> = tasks.chain(reading.no_task.map(|no_task| no_task.to_string())).collect();
    assert_eq!(got, expected, "{} {}", reading.reason, mail.text);
    assert_eq!(reading.tasks.is_empty(), reading.no_task.is_some());
    assert_eq!(reading.score >= THRESHOLD, reading.no_task.is_none());
}

/// What is read in a mail by somebody who knows nobody.
pub(super) fn read_of(mail: &Mail) -> Reading {
    let (me, now) = (me(), "2026-06-16T09:00:00Z".parse().unwrap());
    let context =
        ReadContext { me: &me, now, known_contact: false, thread_mine: false, second_reading: &[], is_genuine: false };
    read(mail, &context)
}

const DANA: &str = "dana@acme.example";
const YOU: &str = "you@home.example";

#[test]
fn letters() {
    for (subject, text, expected) in [
        ("", "", &["empty"] as &[_]),
        ("Report", "The report went out yesterday. Thanks for your help!", &["fyi"]),
        (
            "Report",
            "Could you send me the report? Please send me the report by Friday.",
            &["request: Send the report to Dana by Friday"],
        ),
        (
            "Fair",
            "Please book the van for Monday. Could you also print the price list?",
            &["request: Book the van for Monday (Fair)", "request: Print the price list (Fair)"],
        ),
        ("Lunch", "Do you want to get together for lunch on Thursday?", &["meeting: Schedule lunch with Dana"]),
        ("Alarm", "URGENT! Lose weight with herbal pills, no prescription. Order now!", &["spam"]),
        ("Offer", "Save up to 40% off. Shop now, limited time. Please don't miss it.", &["bulk"]),
        ("Automatic reply: Keys", "I am out of the office until Monday. Please contact Tom.", &["notification"]),
        (
            "Bill",
            "Could you send me the invoice 2041 for the EUR 90.00?",
            &["request: Send the invoice 2041 for the EUR 90.00 to Dana (Bill)"],
        ),
    ] {
        check(&mail(DANA, YOU, subject, text), expected);
    }
}

#[test]
fn each_thing_asked_is_one_task() {
    for (text, expected) in [
        (
            "Next steps:\n- Send the budget to Paul by Friday\n- Book a room for the kick-off",
            &["request: Send the budget to Paul by Friday", "request: Book a room for the kick-off"] as &[_],
        ),
        (
            "Action items:\n1. Alex: update the roadmap slide\n2. Tom: circulate the minutes\n3. Alex to confirm the venue",
            &["request: Update the roadmap slide", "request: Confirm the venue"],
        ),
        (
            "Can you (1) send Paul the metrics, and (2) draft a blog post?",
            &["request: Send Paul the metrics", "request: Draft a blog post"],
        ),
        (
            "The contact page lacks the address - can you get that from Julia?",
            &["request: Get that from Julia (The contact page lacks the address)"],
        ),
        ("We need everyone to rotate their keys.", &["request: Rotate their keys"]),
        ("Don't forget to invite Susan.", &["request: Invite Susan"]),
        ("Please schedule a call with the client.", &["meeting: Schedule a call with the client"]),
        ("He wrote to Tom: \"please send me everything again\" and Tom did.", &["fyi"]),
        ("The report is attached. Happy to discuss. Let me know if you have any questions.", &["fyi"]),
        ("שלחתי ללקוח את הקובץ, אני אטפל בהמשך.", &["fyi"]),
        ("תעברי על החוזה ותשלחי לי הערות.", &["request: לעבור על החוזה ולשלוח לDana הערות"]),
        ("הוא כתב לתום: \"אנא שלח לי הכול שוב\" ותום שלח.", &["fyi"]),
    ] {
        check(&mail(DANA, YOU, "News", text), expected);
    }
}

#[test]
fn what_is_handed_on_asks_others() {
    let below = "---------- Forwarded message ---------\nFrom: Orna\n\nTom, please send me a new key by noon.";
    check(&mail(DANA, YOU, "Fwd: Key", &format!("FYI, Tom is already handling this.\n\n{below}")), &["fyi"]);
}

#[test]
fn machines_and_lists() {
    let notice = "Your weekly summary is ready. Please log in to view it.";
    check(&mail("no-reply@app.example", YOU, "Summary", notice), &["notification"]);
    let failed = "Your payment failed. Please update the card in your account.";
    check(
        &mail("no-reply@app.example", YOU, "Plan", failed),
        &["alert: Check the alert from no-reply: Your payment failed"],
    );
    let listed = |text: &str| Mail { list_id: Some("dev".into()), ..mail(DANA, "dev@lists.example", "Release", text) };
    check(&listed("Please test the release candidate."), &["bulk"]);
    check(&listed("Alex, could you test the release candidate?"), &["request: Test the release candidate"]);
    let direct = Mail { references: vec!["<1@x>".into()], ..listed("Could you test it on the old machine?") };
    let direct = Mail { to: vec![address(YOU)], ..direct };
    check(&direct, &["request: Test it on the old machine (Release)"]);
    let cancelled = crate::model::mail::Invite { method: "CANCEL".into(), ..Default::default() };
    check(&Mail { invite: Some(cancelled), ..mail(DANA, YOU, "Gone", "Cancelled") }, &["notification"]);
}

#[test]
fn own_mail_holds_notes_and_promises_only() {
    for (to, text, expected) in [
        (YOU, "Remind me to call the bank tomorrow.", &["reminder: Call the bank tomorrow"] as &[_]),
        (YOU, "Create a folder for the taxes.", &["folder: Create a folder for the taxes"]),
        (YOU, "Summarise this thread, please.", &["summary: Summarise this thread, please"]),
        (YOU, "Buy milk on Friday.", &["reminder: Buy milk on Friday"]),
        (DANA, "I'll send you the plan by Friday.", &["commitment: Send Dana the plan by Friday"]),
        (YOU, "Erinnere mich morgen an die Bank.", &["reminder: Morgen an die Bank"]),
        (YOU, "passport", &["reminder: Passport"]),
        (YOU, "milk\neggs\nbread\n", &["reminder: Milk", "reminder: Eggs", "reminder: Bread"]),
        (
            YOU,
            "- Fahrradlicht besorgen\n- Opa anrufen\n",
            &["reminder: Fahrradlicht besorgen", "reminder: Opa anrufen"],
        ),
        (YOU, "לקנות:\nנורות לחלון\nמתנה למיכל", &["reminder: נורות לחלון", "reminder: מתנה למיכל"]),
        (YOU, "[ ] ring the bank\n[x] pay rent", &["reminder: Ring the bank"]),
        (YOU, "", &["sent"]),
        (DANA, "Ich schicke dir morgen die Liste.", &["commitment: Dana morgen die Liste schicken"]),
        (DANA, "אשלח לך את הדוח מחר.", &["commitment: לשלוח לDana את הדוח מחר"]),
        (DANA, "Create a folder for the taxes, please.", &["sent"]),
        (DANA, "Could you send me the plan?", &["sent"]),
    ] {
        check(&mail(YOU, to, "", text), expected);
    }
}

#[test]
fn the_subject_of_a_note_is_enough() {
    for (subject, text, expected) in [
        ("Milch kaufen", "", &["reminder: Milch kaufen"] as &[_]),
        ("alarm panel", "Fault 7 again, the number is on the sticker.", &["reminder: Alarm panel"]),
        ("לשלם ארנונה", "", &["reminder: לשלם ארנונה"]),
        ("Fwd: Boarding pass", "", &["sent"]),
    ] {
        check(&mail(YOU, YOU, subject, text), expected);
    }
    let hidden = Mail { to: Vec::new(), ..mail(YOU, YOU, "News of the club", "") };
    check(&hidden, &["sent"]);
    let file = crate::model::Attachment {
        name: "scan.pdf".into(),
        content_type: String::new(),
        size: 0,
        sha256: String::new(),
    };
    check(&Mail { attachments: vec![file], ..mail(YOU, YOU, "scan", "") }, &["sent"]);
}

#[test]
fn what_is_not_read_is_said_to_be_so() {
    let polish = "Dzień dobry, czy może mi pan przesłać raport do piątku? Proszę o odpowiedź.";
    let letter = mail(DANA, YOU, "Raport kwartalny", polish);
    check(&letter, &["request: Read “Raport kwartalny” (in Polish)"]);
    check(
        &mail(DANA, YOU, "", polish),
        &["request: Read “Dzień dobry, czy może mi pan przesłać raport do piątku?” (in Polish)"],
    );
    check(&Mail { list_id: Some("dev".into()), ..letter.clone() }, &["bulk"]);
    check(&Mail { from: address("no-reply@app.example"), ..letter.clone() }, &["notification"]);
    let me = Me { languages: vec!["de".into()], ..me() };
    let context = ReadContext {
        me: &me,
        now: "2026-06-16T09:00:00Z".parse().unwrap(),
        known_contact: false,
        thread_mine: false,
        second_reading: &[],
        is_genuine: false,
    };
    let reading = read(&letter, &context);
    assert_eq!((reading.language.as_str(), reading.reason.as_str()), ("pl", "in Polish, which is not read"));
    assert_eq!(reading.tasks[0].objective, "„Raport kwartalny“ lesen (auf Polnisch)");
}

#[test]
fn reading_twice_reads_the_same() {
    let me = me();
    let context = ReadContext {
        me: &me,
        now: "2026-06-16T09:00:00Z".parse().unwrap(),
        known_contact: true,
        thread_mine: false,
        second_reading: &[],
        is_genuine: false,
    };
    let mail = mail(DANA, YOU, "Report", "Could you send me the report by Friday?");
    assert_eq!(read(&mail, &context), read(&mail, &context));
}

proptest::proptest! {
    /// Hostile mail is normal input.
    #[test]
    fn any_text_is_read(
        subject in "\\PC{0,40}",
        text in "([a-zא-ת0-9 .,:/€₪?!'-]|could you |by friday |invoice |eur |בעוד |עד |in 9999999 |99:99 |\\PC){0,120}",
    ) {
        let me = me();
        let now = "2026-06-16T09:00:00Z".parse().unwrap();
        let reading = read(&mail(DANA, YOU, &subject, &text), &ReadContext { me: &me, now, known_contact: false, thread_mine: false, second_reading: &[], is_genuine: false });
        for task in &reading.tasks {
            assert!(!task.objective.is_empty() && task.objective.chars().count() <= 160, "{}", task.objective);
        }
        assert!((0.0..=1.0).contains(&reading.urgency) && (0.0..=1.0).contains(&reading.score));
    }
}

#[test]
fn what_a_firm_says_to_everybody_is_no_task() {
    let from = |text: &str| Mail {
        from: Address { name: Some("Mill Road Surgery".into()), addr: "desk@millroadsurgery.example".into() },
        ..mail(DANA, YOU, "Your appointment", text)
    };
    for text in [
        "This is a reminder of your appointment on Friday at 8:40. Please call us if you cannot come.",
        "How was your visit? Please take two minutes and rate your visit.",
    ] {
        let mail = from(text);
        let reading = read_of(&mail);
        assert!(reading.tasks.is_empty(), "{text} {:?}", reading.tasks);
    }
    let asked = from("Your appointment has to be moved. Please call us by Thursday to choose another day.");
    assert_eq!(read_of(&asked).tasks.len(), 1);
}

#[test]
fn an_alert_names_what_to_do_and_by_when() {
    let text = "We could not take the payment for your account. Please update your card by 20 June.";
    let reading = read_of(&mail("noreply@cloudcal.example", YOU, "Your payment failed", text));
    let tasks: Vec<_> = reading.tasks.iter().map(|task| (task.objective.as_str(), task.deadline.as_deref())).collect();
    assert!(
        matches!(tasks[..], [(objective, Some("2026-06-20"))] if objective.starts_with("Update your card")),
        "{tasks:?}"
    );
}

#[test]
fn where_the_writer_is_sets_no_limit() {
    let text = "Mum sees the doctor on Friday at 10:15. Could you drive her? I am in Leeds until Saturday.";
    let deadline = read_of(&mail(DANA, YOU, "Mum", text)).tasks.first().and_then(|task| task.deadline.clone());
    assert!(deadline.as_deref().is_some_and(|it| it.starts_with("2026-06-19T")), "{deadline:?}");
}

#[test]
fn another_reader_is_called_without_a_comma() {
    let to = vec![address(YOU), Address { name: Some("Piotr Nowak".into()), addr: "piotr@home.example".into() }];
    for text in ["And Piotr, please give the key back to the caretaker.", "Piotr please give the key back."] {
        let mail =
            Mail { to: to.clone(), ..mail(DANA, YOU, "Keys", &format!("Hi both,\n\nall is done here.\n{text}\n")) };
        assert!(read_of(&mail).tasks.is_empty(), "{text}");
    }
}

#[test]
fn they_are_not_the_reader() {
    let text = "Wenn du bis Ende der Woche bestellst, kommen sie noch in den Oktober rein.";
    let tasks = read_of(&mail(DANA, YOU, "Fenster", text)).tasks;
    assert!(tasks.iter().all(|task| !task.objective.contains("reinkommen")), "{tasks:?}");
}

#[test]
fn a_bare_act_names_what_it_is_about() {
    let text = "The letters to the auditors have been changed. Please look over.";
    let objective = read_of(&mail(DANA, YOU, "", text)).tasks.first().map(|task| task.objective.clone());
    assert!(objective.as_deref().is_some_and(|it| it.contains("letters")), "{objective:?}");
}
