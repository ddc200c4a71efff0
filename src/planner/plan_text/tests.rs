use proptest::prelude::*;

use super::*;

fn check(text: &str, wanted: &[(&str, &str, &[u32])]) {
    let steps = parse_plan(text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let found: Vec<(&str, &str, &[u32])> =
        steps.iter().map(|step| (&*step.description, &*step.instruction, &*step.after)).collect();
    assert_eq!(found, wanted, "{text}");
}

#[test]
fn the_four_formats_are_read_in_their_order() {
    check(
        "Sure, here is the plan.\n---PLAN-START---\nSTEP 1: Collect\nDO: Collect the invoices\nof last month\n\nSTEP 2: Send\nDO: Send them after step 1\n---PLAN-END---\nSTEP 3: no more",
        &[("Collect", "Collect the invoices\nof last month", &[]), ("Send", "Send them after step 1", &[1])],
    );
    check(
        "```json\n[{\"description\": \"Collect\", \"instruction\": \"Collect the invoices\"}, {'description': 'Send',}]\n```",
        &[("Collect", "Collect the invoices", &[]), ("Send", "Send", &[])],
    );
    check(
        "{\"steps\": [{\"step\": 4, \"description\": \"A\"}, {\"step\": 7, \"description\": \"B\", \"depends_on\": [4]}]}",
        &[("A", "A", &[]), ("B", "B", &[1])],
    );
    check(
        "STEP 1: Collect\nINSTRUCTION: Collect the invoices\nSTEP 2: Send",
        &[("Collect", "Collect the invoices", &[]), ("Send", "Send", &[])],
    );
    check(
        "1. Collect - all the invoices\n2. Send them",
        &[("Collect", "all the invoices", &[]), ("Send them", "Send them", &[])],
    );
}

#[test]
fn noise_of_models_is_tolerated() {
    check(
        "**--- Plan Start ---**\n### **Step 1:** Collect\n**DO:** all\n\n---\n- Step 3 - Send\n  AFTER: step 1\n  do: them\n",
        &[("Collect", "all", &[]), ("Send", "them", &[1])],
    );
    check(
        "1) צור תיקייה – בשם חשבונות\n2) שלח לדנה",
        &[("צור תיקייה", "בשם חשבונות", &[]), ("שלח לדנה", "שלח לדנה", &[])],
    );
}

#[test]
fn what_has_no_clear_meaning_is_no_plan() {
    for (text, error) in [
        ("", PlanTextError::NoSteps),
        ("I would first collect, then send.", PlanTextError::NoSteps),
        ("STEP 1: A\nSTEP 1: B", PlanTextError::RepeatedNumber(1)),
        ("STEP 1: A\nAFTER: 5\nSTEP 2: B", PlanTextError::UnknownStep { step: 1, after: 5 }),
        ("STEP 1: A\nAFTER: 2\nSTEP 2: B\nAFTER: 1", PlanTextError::Circular),
        ("STEP 1: A\nAFTER: 1", PlanTextError::Circular),
        ("STEP 1: ---", PlanTextError::EmptyStep(1)),
        ("[{\"description\": \"A\"}, {\"description\": \"B", PlanTextError::CutOff),
    ] {
        assert_eq!(parse_plan(text), Err(error), "{text}");
    }
    let many: String = (1..=TaskPlan::MOST_STEPS + 1).map(|n| format!("STEP {n}: do it\n")).collect();
    assert_eq!(parse_plan(&many), Err(PlanTextError::TooManySteps));
}

proptest! {
    #[test]
    fn reading_printing_and_reading_again_is_stable(
        steps in proptest::collection::vec(("[A-Za-zא-ת0-9 :.*-]{1,40}", "[A-Za-z \n:.#*\\\\0-9-]{0,80}"), 1..6),
        noise in "[a-z .\n]{0,40}",
    ) {
        let mut text = format!("{noise}\n---PLAN-START---\n");
        for ((description, instruction), number) in steps.iter().zip(1..) {
            text.push_str(&format!("STEP {number}: {description}\nDO: {instruction}\n"));
        }
        if let Ok(read) = parse_plan(&text) {
            prop_assert_eq!(parse_plan(&print_plan(&read)), Ok(read));
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "[SsTtEePp 1-3:.,\\-\n{}\\[\\]\"aDOdo]{0,120}") {
        if let Ok(read) = parse_plan(&text) {
            prop_assert_eq!(parse_plan(&print_plan(&read)), Ok(read));
        }
    }
}
