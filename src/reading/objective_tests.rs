//! The objectives of whole mails: what is chosen as the main request, and whether the line says what it is about.

use super::read_tests::{check, mail, read_of};
use crate::model::{Address, Mail};

const DANA: &str = "dana@acme.example";
const YOU: &str = "you@home.example";

#[test]
fn a_mail_without_a_subject_names_its_matter_by_the_sentence_before() {
    for (text, expected) in [
        (
            "Attached is a draft of the northern budget. I would appreciate it if you could read it by Friday.",
            &["request: Read it by Friday (a draft of the northern budget)"] as &[_],
        ),
        (
            "The printer on the second floor is down. They installed it, but the driver is missing. Please look into this.",
            &["request: Look into this (The printer on the second floor is down)"],
        ),
        (
            "Geoffrey proposed to move the audit to March. Let me know tonight, they print the cards in the morning.",
            &["question: Reply to Dana tonight (Geoffrey proposed to move the audit to March)"],
        ),
        ("Please call 502-212-4908.", &["request: Call Dana at 502-212-4908"]),
        ("We need to get the answer in quick - MK", &["request: Get the answer in quick"]),
        ("Do you have the keys?", &["question: Answer Dana: “Do you have the keys?”"]),
    ] {
        check(&mail(DANA, YOU, "", text), expected);
    }
}

#[test]
fn a_line_that_points_has_the_subject_even_if_it_shares_a_word_with_it() {
    for (subject, text, expected) in [
        (
            "2 items due soon",
            "Dear Alex, please return them to any branch on or before the due date.",
            &["request: Return them to any branch on or before the due date (2 items due soon)"] as &[_],
        ),
        (
            "Schlüssel",
            "Kannst du ihn bitte bis Montag zurückbringen?",
            &["request: Ihn bis Montag zurückbringen (Schlüssel)"],
        ),
    ] {
        check(&mail(DANA, YOU, subject, text), expected);
    }
}

#[test]
fn the_main_request_is_told_from_what_stands_beside_it() {
    for (text, expected) in [
        // What the writer does is no request.
        ("All is clear. I've put the 5th in the calendar and I'll take the early train.", &["fyi"] as &[_]),
        // A statement stands back behind a request in so many words.
        (
            "Tracy recommended that we review the plan before the deadline. Could you please confirm the hall with Rod?",
            &["request: Confirm the hall with Rod (Fair)"],
        ),
        // What happens otherwise, and what is only added.
        (
            "Please send the form by Friday. If we do not have it by then we cannot keep your place.",
            &["request: Send the form by Friday (Fair)"],
        ),
        // An order behind a reason.
        (
            "The board meets tomorrow, so send me a half page with the open points.",
            &["request: Send a half page with the open points to Dana (Fair)"],
        ),
        // What follows the comma of a condition is a thing, and no order.
        (
            "If the builder is late I want a letter out today, under your name, copy to the owner.",
            &["request: “If the builder is late I want a letter out today, under your name, copy to the owner” (Fair)"],
        ),
        // The reader sent the invoice.
        (
            "We've got your September invoice for EUR 218.00, payment due Friday. Please send your hourly data first.",
            &["request: Send your hourly data first (Fair)"],
        ),
        // Several questions are one answer.
        (
            "Which colour shall we take for the cover? And do you have the logo as a file? What does the paper cost?",
            &["question: Answer Dana: “Which colour shall we take for the cover?” (Fair), and 2 more questions"],
        ),
    ] {
        check(&mail(DANA, YOU, "Fair", text), expected);
    }
}

#[test]
fn whole_sentences_in_german_and_hebrew() {
    for (subject, text, expected) in [
        (
            "Beitrag",
            "Ginge es, dass ich den Beitrag in drei Raten zahle?",
            &["question: Dana antworten: „Ginge es, dass ich den Beitrag in drei Raten zahle?“"] as &[_],
        ),
        (
            "Kasse",
            "Für die Vorlage benötige ich den Entwurf bis Donnerstag, den 30. April.",
            &["request: Dana für die Vorlage den Entwurf bis Donnerstag, den 30. April geben (Kasse)"],
        ),
        (
            "Spende",
            "Es wäre hilfreich, wenn Sie uns mitteilen könnten, ob Sie eine Bescheinigung ausstellen.",
            &["request: Dana mitteilen, ob Sie eine Bescheinigung ausstellen (Spende)"],
        ),
        ("", "יש לאסוף את החבילה עד יום רביעי.", &["request: לאסוף את החבילה עד יום רביעי"]),
        ("", "אנא הביאי איתך את ההסכם החתום.", &["request: להביא את ההסכם החתום"]),
    ] {
        check(&mail(DANA, YOU, subject, text), expected);
    }
}

#[test]
fn others_are_called_with_a_dash_and_in_hebrew_too() {
    let to_both = |text: &str| Mail {
        to: ["you@home.example", "tali@home.example"].map(|addr| Address { name: None, addr: addr.into() }).to_vec(),
        ..mail(DANA, YOU, "Show", text)
    };
    check(&to_both("Tali - please prepare the slides."), &["fyi"]);
    check(
        &to_both("Tali - please prepare the slides. Alex - please book the hall."),
        &["request: Book the hall (Show)"],
    );
    check(&to_both("טלי, תכיני את השקופיות עד יום ראשון."), &["fyi"]);
}

#[test]
fn what_a_note_keeps_is_nothing_to_do() {
    for (text, expected) in [
        (
            "call the garage\nPIN of the gate: 2207\nbuy paint",
            &["reminder: Call the garage", "reminder: Buy paint"] as &[_],
        ),
        ("boiler man: 01632 960 121\npaint was \"Oyster Shell 3\"\nlocker: 7719b", &["sent"]),
        (
            "Kündigung per Einschreiben zur Post\nGeschenk für Hannes – Gutschein?\nReifen wechseln",
            &[
                "reminder: Kündigung per Einschreiben zur Post",
                "reminder: Geschenk für Hannes – Gutschein",
                "reminder: Reifen wechseln",
            ],
        ),
    ] {
        check(&mail(YOU, YOU, "note", text), expected);
    }
}

#[test]
fn no_objective_is_cut_within_a_list_of_things() {
    let text = "Log on to the site with your number and confirm your medical, dental and flexible spending choices for the \
                next year, together with the names and birthdays of everybody whom you would like to have insured with you.";
    let reading = read_of(&mail(DANA, YOU, "Election", text));
    let objective = reading.tasks.first().map(|task| task.objective.clone()).unwrap_or_default();
    assert!(!objective.contains("medical (") && !objective.ends_with("medical"), "{objective}");
}
