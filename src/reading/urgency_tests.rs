//! How much a mail presses, and which of its tasks.

use super::read_tests::{mail, read_of};
use crate::model::{Address, Facts, Mail};
use crate::reading::task::facts::{Relation, collect_facts};

const YOU: &str = "you@home.example";

fn facts_of(mail: &Mail) -> Vec<Facts> {
    let reading = read_of(mail);
    let about = collect_facts(mail, &reading, "mail", &Relation::default());
    reading.tasks.iter().map(|task| about.for_task(task)).collect()
}

#[test]
fn urgent_words_press_what_is_due_first() {
    let text = "This is urgent! Could you pick up Lotte from school today at 15:30? And please take the parcel for Aunt \
                Gesche to the post office by Thursday.";
    let facts = facts_of(&mail("maren@home.example", YOU, "today", text));
    let urgencies: Vec<f64> = facts.iter().map(|facts| facts.urgency).collect();
    assert!(matches!(urgencies[..], [first, second] if first >= 0.5 && second < 0.5), "{urgencies:?}");
}

#[test]
fn a_service_has_no_day_to_save() {
    let text = "Hallo Alex,\n\nwir haben dich leider nicht angetroffen. Deine Sendung 0043 liegt dringend für dich bereit.\n\n\
                Bitte hole sie bis Donnerstag ab. Danach geht das Paket zurück an den Absender.";
    let parcel = mail("sendung@paketreh.example", YOU, "Deine Sendung liegt im Paketshop", text);
    let from = Address { name: Some("Paketreh".into()), addr: "sendung@paketreh.example".into() };
    let facts = facts_of(&Mail { from, ..parcel });
    assert!(facts.iter().all(|facts| facts.urgency < 0.5) && !facts.is_empty(), "{facts:?}");
}

#[test]
fn what_holds_from_now_on_is_in_no_hurry() {
    let urgency = |text: &str| read_of(&mail("dana@acme.example", YOU, "Process update", text)).urgency;
    let asks = "Please pass it on to your leads.";
    let (stated, wanted) =
        (format!("Effective immediately, cases go to tier two. {asks}"), format!("We need this immediately. {asks}"));
    assert!(urgency(&stated) < urgency(&wanted), "{} {}", urgency(&stated), urgency(&wanted));
}

#[test]
fn a_limit_may_point_at_the_day_before_it() {
    for (text, expected) in [
        ("We're getting married on July 9. Is that even possible until then? What would it cost?", "2026-07-09"),
        ("Das Fest ist am 9. Juli. Schaffst du das bis dahin? Was würde es kosten?", "2026-07-09"),
        ("האירוע ביום חמישי, 9.7. אפשר לקבל את זה עד אז? כמה זה עולה?", "2026-07-09"),
    ] {
        let reading = read_of(&mail("dana@acme.example", YOU, "Bowls", text));
        let deadlines: Vec<_> = reading.tasks.iter().map(|task| task.deadline.as_deref()).collect();
        assert!(!deadlines.is_empty() && deadlines.iter().all(|it| *it == Some(expected)), "{text} {deadlines:?}");
    }
}

#[test]
fn what_happens_otherwise_is_no_task_of_its_own() {
    let text = "Your training must be completed no later than June 30. Failure to complete it by the deadline will \
                restrict your system access.";
    let reading = read_of(&mail("learning@acme.example", YOU, "Training", text));
    assert_eq!(reading.tasks.len(), 1, "{:?}", reading.tasks);
    assert_eq!(reading.tasks[0].deadline.as_deref(), Some("2026-06-30"));
}

#[test]
fn a_loss_presses_and_a_courtesy_does_not() {
    for (text, presses) in [
        ("Please send the form by Friday, otherwise the grant has to be repaid.", true),
        ("Bitte den Nachweis bis Freitag schicken, sonst müssen wir den Betrieb untersagen.", true),
        ("נא להחזיר את הטופס עד יום חמישי, אחרת הפוליסה תבוטל.", true),
        ("Please send the form by Friday, otherwise all is well here.", false),
        ("Bitte den Nachweis bis Freitag schicken, sonst ist alles gut.", false),
    ] {
        let urgency = read_of(&mail("dana@acme.example", YOU, "The form", text)).urgency;
        assert_eq!(urgency >= 0.9, presses, "{text} {urgency}");
    }
}

#[test]
fn work_for_the_same_day_presses_on_its_day() {
    let urgency = |text: &str| read_of(&mail("dana@acme.example", YOU, "The list", text)).urgency;
    assert!(urgency("Please send me the list today by 16:00.") >= 0.5);
    assert!(urgency("Please send me the list by 10 July.") < 0.5);
}
