//! The beginning of a flow, by keywords only, and what the guided profile answers without one.

use crate::assistant::{
    command::{ChatStatus, Command, CommandIntent},
    direct::read_list_status,
    intent::{Evidence, Intent},
    phrase::trim_punctuation,
    reply::Sentence,
    tool::TaskTools,
    turn::{Step, Turn},
    vocabulary::WordList,
};

/// The keywords of each flow. They are read at the beginning of a message, where its verb stands.
const FLOWS: [(WordList, Intent); 4] = [
    (WordList("flow_create"), Intent::Create),
    (WordList("flow_delete"), Intent::Delete),
    (WordList("flow_update"), Intent::Update),
    (WordList("flow_complete"), Intent::Complete),
];

impl<T: TaskTools> Turn<'_, T> {
    /// Answers a message while no flow is active.
    pub(super) async fn begin_flow(&mut self) -> Step {
        if WordList("cancel").is(&self.message) {
            self.say(Sentence("nothing_to_cancel"), &[]);
            return Ok(());
        }
        if self.answer_common_phrase().await? {
            return Ok(());
        }
        let reading = self.classify();
        let evident = reading.clauses.iter().find(|clause| clause.evidence == Evidence::Keyword);
        let evident =
            evident.map(|clause| (clause.intent, self.message.get(clause.rest.clone()).unwrap_or_default().to_owned()));
        let is_question = matches!(reading.intent, Intent::Help | Intent::List | Intent::Greeting);
        let keyword = if is_question { None } else { find_keyword(&self.message) };
        let (intent, rest) = keyword.or(evident).unwrap_or((reading.intent, String::new()));
        self.reply.intent = intent;
        match intent {
            Intent::Create if self.is_keyword_evident(&reading) => self.begin_create(),
            Intent::Delete => {
                return self.identify(Command::asking(CommandIntent::DeleteTask, "task_selection"), &rest).await;
            }
            Intent::Update => {
                return self.identify(Command::asking(CommandIntent::UpdateTask, "task_selection"), &rest).await;
            }
            Intent::Complete => {
                let mut command = Command::asking(CommandIntent::UpdateTask, "task_selection");
                command.fields.status = Some(ChatStatus::Done);
                return self.identify(command, &rest).await;
            }
            Intent::List => return self.show_list(read_list_status(&self.message), 0).await,
            Intent::Help => self.say(Sentence("help"), &[]),
            Intent::Greeting => self.say(Sentence("greeting"), &[]),
            Intent::Create | Intent::Unclear => return Err(self.say_unclear()),
        }
        Ok(())
    }

    /// Returns whether a keyword asks for a new task. A bare imperative such as "Buy milk" does not begin a flow.
    fn is_keyword_evident(&self, reading: &crate::assistant::intent::IntentReading) -> bool {
        let is_evident = reading
            .clauses
            .iter()
            .any(|clause| clause.intent == Intent::Create && clause.evidence == Evidence::Keyword);
        is_evident || find_keyword(&self.message).is_some_and(|(intent, _)| intent == Intent::Create)
    }
}

/// Returns the flow whose keyword stands at the beginning of the message, apart from courtesies, with what follows it.
fn find_keyword(message: &str) -> Option<(Intent, String)> {
    let mut rest = trim_punctuation(message);
    loop {
        let found = FLOWS.iter().find_map(|(list, intent)| Some((*intent, list.strip_start(rest)?.to_owned())));
        if found.is_some() {
            return found;
        }
        rest = WordList("flow_lead").strip_start(rest)?;
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
