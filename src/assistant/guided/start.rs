//! The beginning of a flow, by keywords only, and what the guided profile answers without one.

use crate::assistant::{
    command::{ChatCommand, ChatStatus, CommandIntent},
    direct::{classify, list::show_list, phrases::answer_common_phrase, read_list_status, say_unclear},
    guided::{create::begin_create, identify::identify},
    intent::{Evidence, Intent},
    phrase::trim_punctuation,
    reply::ReplySentence,
    tool::TaskTools,
    turn::{ChatTurn, Step},
    vocabulary::PhraseList,
};

/// The keywords of each flow. They are read at the beginning of a message, where its verb stands.
const FLOWS: [(PhraseList, Intent); 4] = [
    (PhraseList("flow_create"), Intent::Create),
    (PhraseList("flow_delete"), Intent::Delete),
    (PhraseList("flow_update"), Intent::Update),
    (PhraseList("flow_complete"), Intent::Complete),
];

/// Answers a message while no flow is active.
pub(in crate::assistant) async fn begin_flow<T: TaskTools>(turn: &mut ChatTurn<'_, T>) -> Step {
    if PhraseList("cancel").is(&turn.message) {
        turn.say(ReplySentence("nothing_to_cancel"), &[]);
        return Ok(());
    }
    if answer_common_phrase(turn).await? {
        return Ok(());
    }
    let reading = classify(turn);
    let evident = reading.clauses.iter().find(|clause| clause.evidence == Evidence::Keyword);
    let evident =
        evident.map(|clause| (clause.intent, turn.message.get(clause.rest.clone()).unwrap_or_default().to_owned()));
    let is_question = matches!(reading.intent, Intent::Help | Intent::List | Intent::Greeting);
    let keyword = if is_question { None } else { find_keyword(&turn.message) };
    let (intent, rest) = keyword.or(evident).unwrap_or((reading.intent, String::new()));
    turn.reply.intent = intent;
    match intent {
        Intent::Create if is_keyword_evident(turn, &reading) => begin_create(turn),
        Intent::Delete => {
            return identify(turn, ChatCommand::asking(CommandIntent::DeleteTask, "task_selection"), &rest).await;
        }
        Intent::Update => {
            return identify(turn, ChatCommand::asking(CommandIntent::UpdateTask, "task_selection"), &rest).await;
        }
        Intent::Complete => {
            let mut command = ChatCommand::asking(CommandIntent::UpdateTask, "task_selection");
            command.fields.status = Some(ChatStatus::Done);
            return identify(turn, command, &rest).await;
        }
        Intent::List => return show_list(turn, read_list_status(&turn.message), 0).await,
        Intent::Help => turn.say(ReplySentence("help"), &[]),
        Intent::Greeting => turn.say(ReplySentence("greeting"), &[]),
        Intent::Create | Intent::Unclear => return Err(say_unclear(turn)),
    }
    Ok(())
}

/// Returns whether a keyword asks for a new task. A bare imperative such as "Buy milk" does not begin a flow.
fn is_keyword_evident<T: TaskTools>(turn: &ChatTurn<'_, T>, reading: &crate::assistant::intent::IntentReading) -> bool {
    let is_evident =
        reading.clauses.iter().any(|clause| clause.intent == Intent::Create && clause.evidence == Evidence::Keyword);
    is_evident || find_keyword(&turn.message).is_some_and(|(intent, _)| intent == Intent::Create)
}

/// Returns the flow whose keyword stands at the beginning of the message, apart from courtesies, with what follows it.
fn find_keyword(message: &str) -> Option<(Intent, String)> {
    let mut rest = trim_punctuation(message);
    loop {
        let found = FLOWS.iter().find_map(|(list, intent)| Some((*intent, list.strip_start(rest)?.to_owned())));
        if found.is_some() {
            return found;
        }
        rest = PhraseList("flow_lead").strip_start(rest)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_keyword_stands_where_the_verb_stands() {
        for (message, expected) in [
            ("add task", Some(Intent::Create)),
            ("Please create something", Some(Intent::Create)),
            ("new task", Some(Intent::Create)),
            ("תוסיף משימה", Some(Intent::Create)),
            ("צור משימה", Some(Intent::Create)),
            ("משימה חדשה", Some(Intent::Create)),
            ("could you delete buy milk", Some(Intent::Delete)),
            ("cancel task buy milk", Some(Intent::Delete)),
            ("מחק את קניות", Some(Intent::Delete)),
            ("בטל משימה קניות", Some(Intent::Delete)),
            ("update the report", Some(Intent::Update)),
            ("modify #3", Some(Intent::Update)),
            ("עדכן את הדוח", Some(Intent::Update)),
            ("complete buy milk", Some(Intent::Complete)),
            ("the addition", None),
            ("Buy milk", None),
            ("address the letter", None),
        ] {
            assert_eq!(find_keyword(message).map(|(intent, _)| intent), expected, "{message}");
        }
    }
}
