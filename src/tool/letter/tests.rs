use crate::{
    model::{Address, Effect, Mail, TaskKind},
    tool::{
        OwnLetter, ToolOutcome,
        tests::{facts, me, run_with, task},
    },
};
use serde_json::{Value, json};

/// What is sent when the person answers this mail in these words.
fn reply(text: &str, language: &str, letters: &[OwnLetter], words: &str) -> String {
    body("send_reply", text, language, letters, ("instruction", json!(words)))
}

fn body(tool: &str, text: &str, language: &str, letters: &[OwnLetter], (key, value): (&str, Value)) -> String {
    let mail = Mail {
        from: Address { name: Some("Beth Lomax".into()), addr: "beth@vale.example".into() },
        subject: "Insurance".into(),
        text: text.into(),
        ..Mail::default()
    };
    let mut task = task("Answer Beth", Value::Null);
    task.context.more.insert(key.into(), value);
    let mut facts = facts(TaskKind::Question, None);
    facts.language = language.into();
    match run_with(tool, &task, &facts, Some(&mail), letters) {
        ToolOutcome::Effect(requested) => match requested.effect {
            Effect::Draft { message } | Effect::Send { message, .. } => message.body,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

fn letter(text: &str, ending: &str) -> OwnLetter {
    OwnLetter { text: text.into(), ending: ending.into() }
}

#[test]
fn what_the_person_wrote_is_not_written_twice() {
    let mail = "Hi Alex,\n\nwhere is it?\n\nBeth";
    for (words, expected) in [
        ("In the office.", "Hi Beth,\n\nIn the office.\n\nBest regards,\nAlex Green\n"),
        ("Dear Beth,\n\nin the office.\n\nKind regards\nAlex", "Dear Beth,\n\nin the office.\n\nKind regards\nAlex\n"),
        ("Hi Beth\n\nIn the office.", "Hi Beth\n\nIn the office.\n\nBest regards,\nAlex Green\n"),
        ("In the office.\n\nCheers,", "Hi Beth,\n\nIn the office.\n\nCheers,\nAlex Green\n"),
        ("In the office.\n\nAlex Green", "Hi Beth,\n\nIn the office.\n\nAlex Green\n"),
        ("שלום בת,\n\nבמשרד.\n\nבברכה,\nאלכס", "שלום בת,\n\nבמשרד.\n\nבברכה,\nאלכס\n"),
        // A sentence that only begins like a greeting or a closing is none.
        ("Thanks", "Hi Beth,\n\nThanks\n\nBest regards,\nAlex Green\n"),
        ("Hello is what the sign says.", "Hi Beth,\n\nHello is what the sign says.\n\nBest regards,\nAlex Green\n"),
    ] {
        assert_eq!(reply(mail, "en", &[], words), expected, "{words}");
    }
}

#[test]
fn a_letter_sounds_like_the_conversation() {
    let du = "Hallo Alex,\n\nhast du den Nachweis? Bestätige mir bitte den Eingang.\n\nBeth";
    let sie = "Guten Tag Herr Green,\n\nhaben Sie den Nachweis?\n\nMit freundlichen Grüßen\nBeth Lomax";
    let shop = "Dear supplier,\n\nplease confirm receipt.\n\nPurchasing Department";
    let wrote = [letter("Liebe Frau Lomax,\n\ndie Unterlagen folgen.", "Herzliche Grüße\nA. Green")];
    for (text, language, letters, begins, ends) in [
        (du, "de", &[][..], "Hallo Beth,\n\ndanke für deine Mail", "\n\nViele Grüße\nAlex Green\n"),
        (
            sie,
            "de",
            &[],
            "Guten Tag Beth Lomax,\n\nvielen Dank für Ihre Mail",
            "\n\nMit freundlichen Grüßen\nAlex Green\n",
        ),
        (sie, "de", &wrote, "Liebe Frau Lomax,\n\nvielen Dank für Ihre Mail", "\n\nHerzliche Grüße\nA. Green\n"),
        (shop, "en", &[], "Hello,\n\nThank you for your mail", "\n\nBest regards,\nAlex Green\n"),
        ("Dear Mr Green,\n\nplease confirm receipt.\n\nBeth Lomax", "en", &[], "Hello Beth Lomax,\n", "Alex Green\n"),
        (
            "שלום אלכס,\n\nנא לאשר קבלה.\n\nתודה",
            "he",
            &[],
            "שלום,\n\nתודה על המייל, הוא התקבל.",
            "בברכה,\nAlex Green\n",
        ),
        // A greeting in another language than the mail's is not taken over.
        (shop, "en", &wrote, "Hello,\n\nThank you", "Best regards,\nAlex Green\n"),
    ] {
        let said = body("draft_reply", text, language, letters, ("asked", json!("receipt")));
        assert!(said.starts_with(begins) && said.ends_with(ends), "{said}");
    }
    assert_eq!(me().names, ["Alex Green"]);
}
