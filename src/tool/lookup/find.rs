//! `find`: the mails and tasks that a search finds, the best first.

use serde_json::{Map, Value, json};

use crate::tool::{Tool, ToolAccess, ToolError, ToolInput, ToolOutcome, ToolParameter};

/// Lists what the search found.
pub(in crate::tool) struct Find;

impl Tool for Find {
    fn name(&self) -> &'static str {
        "find"
    }

    fn purpose(&self) -> &'static str {
        "search the mails and tasks of the account by words and by meaning"
    }

    fn parameters(&self) -> &'static [ToolParameter] {
        const { &[ToolParameter::target("words", "what to search for")] }
    }

    fn access(&self) -> ToolAccess {
        ToolAccess::Read
    }

    fn needs_account(&self) -> bool {
        true
    }

    fn search_words<'a>(&self, arguments: Option<&'a Map<String, Value>>) -> Option<&'a str> {
        arguments?.get("words")?.as_str()
    }

    fn run(&self, input: &ToolInput<'_>) -> Result<ToolOutcome, ToolError> {
        if self.search_words(input.arguments).is_none() {
            return Err(ToolError("the step does not say what to search for".into()));
        }
        let found: Vec<Value> = input
            .documents
            .iter()
            .map(|document| json!({ "document": document.doc, "title": document.title }))
            .collect();
        let summary: Vec<&str> = input.documents.iter().map(|document| document.title.as_str()).collect();
        Ok(ToolOutcome::Output(json!({ "found": found, "summary": summary })))
    }
}
