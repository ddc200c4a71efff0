//! The JSON schemas of arguments and answers, in the subset that every client understands: no references, one type for
//! each value, and an optional field instead of `null`.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde_json::{Value, json};

/// The field in the arguments of every tool that names the user.
pub(super) const USER_ID: &str = "user_id";

/// Returns the schema of the arguments of a tool. Every tool also takes the user.
pub(super) fn of_arguments<T: JsonSchema>() -> Arc<JsonObject> {
    let mut schema = generate::<T>(SchemaSettings::draft2020_12());
    let user = json!({ "type": "string", "description": "The user whose tasks these are; can be left out." });
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        properties.insert(USER_ID.to_owned(), user);
    }
    Arc::new(schema)
}

/// Returns the schema of an answer.
pub(super) fn of_answer<T: JsonSchema>() -> Arc<JsonObject> {
    Arc::new(generate::<T>(SchemaSettings::draft2020_12().for_serialize()))
}

fn generate<T: JsonSchema>(settings: SchemaSettings) -> JsonObject {
    let settings = settings
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .with_transform(RecursiveTransform(drop_null));
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut object = schema.as_object().cloned().unwrap_or_default();
    object.remove("title");
    object
}

/// Takes `null` out of what a value may be. A field without a value is left out of every answer, and may be left out of
/// the arguments.
fn drop_null(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    object.remove("format");
    object.remove("default");
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(branches)) = object.get_mut("anyOf") {
        branches.retain(|branch| branch.get("type").is_none_or(|name| name != "null"));
        if let [Value::Object(only)] = branches.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            for (keyword, value) in only {
                object.entry(keyword).or_insert(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::McpTool;

    /// Collects every keyword `type` with what it says.
    fn types(value: &Value, found: &mut Vec<Value>) {
        match value {
            Value::Object(fields) => {
                for (name, inner) in fields {
                    if name == "type" && !inner.is_object() {
                        found.push(inner.clone());
                    }
                    types(inner, found);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| types(item, found)),
            _ => {}
        }
    }

    #[test]
    fn a_schema_has_one_type_for_each_value_and_no_reference() {
        for tool in McpTool::ALL.iter().copied() {
            for schema in [tool.argument_schema(), tool.answer_schema()] {
                let text = serde_json::to_string(&schema).unwrap();
                assert!(!text.contains("$ref") && !text.contains("\"null\""), "{tool}: {text}");
                let mut found = Vec::new();
                types(&Value::Object((*schema).clone()), &mut found);
                assert!(!found.is_empty() && found.iter().all(Value::is_string), "{tool}: {found:?}");
                assert_eq!(schema.get("type"), Some(&Value::from("object")), "{tool}");
            }
            assert_eq!(tool.argument_schema().get("additionalProperties"), Some(&Value::Bool(false)), "{tool}");
        }
    }
}
