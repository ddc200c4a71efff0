//! Generates the JSON schema of an answer, in the subset that every provider accepts.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// Keywords of JSON Schema that some provider rejects. What they would demand is checked when the answer is parsed.
const UNSUPPORTED_KEYWORDS: &[&str] = &["$schema", "title", "format", "default", "minimum", "maximum", "description"];

/// Returns the schema of a type, inlined and strict.
pub(super) fn schema_for<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    make_strict(&mut schema);
    schema
}

/// Makes every field required and forbids all others, at every depth.
fn make_strict(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.retain(|keyword, _| !UNSUPPORTED_KEYWORDS.contains(&keyword.as_str()));
            if let Some(Value::Object(properties)) = fields.get_mut("properties") {
                properties.values_mut().for_each(make_strict);
                let names = properties.keys().cloned().map(Value::from).collect();
                fields.insert("required".into(), Value::Array(names));
                fields.insert("additionalProperties".into(), Value::Bool(false));
            }
            make_nested_strict(fields);
        }
        Value::Array(items) => items.iter_mut().for_each(make_strict),
        _ => {}
    }
}

/// Applies [`make_strict`] to what other keywords contain. Properties were done already, and their names are no
/// keywords.
fn make_nested_strict(fields: &mut Map<String, Value>) {
    for (keyword, inner) in fields.iter_mut() {
        if keyword != "properties" {
            make_strict(inner);
        }
    }
}
