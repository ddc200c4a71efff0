use proptest::prelude::*;

use super::*;
use crate::model::plan::ComplexityReason::{JoinedTasks, LongRequest, NumberedList, ScopedImperative};

fn reasons(text: &str) -> Vec<ComplexityReason> {
    detect_complexity(PlannerRequest::typed(text)).reasons
}

/// The table of the specification, and its lists.
#[test]
fn the_table_of_the_specification() {
    for (text, wanted) in [
        ("What is 2+2?", &[][..]),
        ("What does 'create' mean?", &[]),
        ("Create a tic-tac-toe game", &[ScopedImperative]),
        ("1. Create X, 2. Add Y", &[NumberedList]),
        ("1. Create X\n2. Add Y", &[NumberedList]),
        ("Create folder TestFolder", &[]),
        ("refactor @src/file.cs to use interfaces", &[ScopedImperative]),
        ("refactor @src/MandoCode/Services/AIService.cs to use the strategy pattern", &[ScopedImperative]),
        ("Build an API", &[ScopedImperative]),
        ("Implement a feature", &[ScopedImperative]),
        ("set up the database", &[ScopedImperative]),
        ("SET UP two websites", &[ScopedImperative]),
        ("Add utilities", &[ScopedImperative]),
        ("Design classes", &[ScopedImperative]),
        ("Please build an app", &[ScopedImperative]),
        ("Send the invoices to Dana and remind me on Friday", &[JoinedTasks]),
        ("Write a letter, also call Ann", &[JoinedTasks]),
        ("Write a poem about cats and dogs", &[]),
        ("Buy milk and bread", &[]),
        ("Send me the offer, order and invoice", &[]),
        ("Send the report and list of names", &[]),
        ("The app is nice and I like it", &[]),
        ("describe how to build an app", &[]),
        ("show me the app", &[]),
        ("Tell me about the project and build a page", &[]),
        ("Can you explain the system", &[]),
        ("Create an app?", &[]),
        ("Whatever you do, fix the site", &[]),
        ("Howard asked me to build an app", &[]),
    ] {
        assert_eq!(reasons(text), wanted, "{text}");
    }
}

#[test]
fn hebrew_is_an_equal() {
    for (text, wanted) in [
        ("מה זה אומר ליצור?", &[][..]),
        ("איך בונים אתר", &[]),
        ("צור משחק איקס עיגול", &[ScopedImperative]),
        ("תבני לי את האתר", &[ScopedImperative]),
        ("בבקשה כתוב תוכנית", &[ScopedImperative]),
        ("1. אסוף את החשבוניות\n2. שלח סיכום לדנה", &[NumberedList]),
        ("שלח את הדוח לדנה ותזכיר לי ביום שישי", &[JoinedTasks]),
        ("שלח את הדוח לדנה וגם התקשר לבנק", &[JoinedTasks]),
        ("תראה לי את האתר", &[]),
        ("צור תיקייה בשם חשבונות", &[]),
        ("קנה חלב ולחם", &[]),
    ] {
        assert_eq!(reasons(text), wanted, "{text}");
    }
}

#[test]
fn length_counts_with_what_is_attached_and_questions_without() {
    let long = "a".repeat(251);
    assert_eq!(reasons(&long), [LongRequest]);
    assert_eq!(reasons(&"a".repeat(250)), []);
    let attached = PlannerRequest { attached_chars: 251, ..PlannerRequest::typed("look into @notes.txt") };
    assert_eq!(detect_complexity(attached).reasons, [LongRequest]);
    let question = PlannerRequest { attached_chars: 5_000, ..PlannerRequest::typed("what is in @notes.txt?") };
    assert!(!detect_complexity(question).is_complex());
    assert!(!detect_complexity(PlannerRequest::typed(&format!("why {long}"))).is_complex());
    assert!(!detect_complexity(PlannerRequest::typed(&format!("{}?", "long words ".repeat(500)))).is_complex());
}

#[test]
fn a_polite_question_is_a_request_in_a_mail() {
    let text = "Could you collect the invoices and send them to Dana?";
    assert!(!detect_complexity(PlannerRequest::typed(text)).is_complex());
    assert_eq!(detect_complexity(PlannerRequest::from_mail(text)).reasons, [JoinedTasks]);
    assert!(!detect_complexity(PlannerRequest::from_mail("Where is the report?")).is_complex());
}

#[test]
fn more_reasons_and_more_items_score_higher() {
    let score = |text: &str| detect_complexity(PlannerRequest::typed(text)).score;
    assert_eq!(score("Create folder TestFolder"), 0);
    assert!(score("1. buy milk 2. call Ann 3. sleep") > score("1. buy milk 2. call Ann"));
    assert!(score("Build an app and send it to Ann") > score("Build an app"));
    assert!(score(&"1. build an app 2. ".repeat(500)) <= 100);
}

proptest! {
    #[test]
    fn no_text_makes_detection_panic(text in ".{0,300}", attached in 0_usize..10_000, from_mail: bool) {
        let found = detect_complexity(PlannerRequest { text: &text, attached_chars: attached, from_mail });
        prop_assert!(found.score <= 100);
        prop_assert_eq!(found.score > 0, found.is_complex());
    }
}
