//! The demo model: OpenAI's interface over a few rules. It understands nothing, answers at once, and says the same to the same question.
//!
//! A JSON schema is filled in from the prompt: an enumeration gets the value that the prompt names most often, a number the first number of
//! the prompt, a text its first sentence. Other questions get the sentence of the prompt that shares most words with its last question.
//! An embedding counts words.

use axum::{
    Json, Router,
    routing::{get, post},
};
use cowboy_types::keccak256;
use serde_json::{Map, Value, json};

/// The model of answers.
pub(super) const CHAT: &str = "demo";

/// The model of embeddings.
pub(super) const EMBEDDING: &str = "demo-words";

/// Numbers of an embedding.
const WIDTH: usize = 64;

/// How deep a schema is filled in; what is deeper is null.
const MAX_DEPTH: usize = 16;

/// The longest text that is given for a schema's string, in characters.
const MAX_TEXT: usize = 120;

/// The model's API, below `/v1`.
pub(super) fn router() -> Router {
    let models = [CHAT, EMBEDDING].map(|name| json!({ "id": name, "object": "model" }));
    Router::new()
        .route("/v1/models", get(|| async move { Json(json!({ "object": "list", "data": models })) }))
        .route("/v1/chat/completions", post(|Json(asked): Json<Value>| async move { Json(chat(&asked)) }))
        .route(
            "/v1/embeddings",
            post(|Json(asked): Json<Value>| async move {
                let text = asked["input"].as_str().unwrap_or_default();
                Json(json!({ "data": [{ "index": 0, "embedding": embedding(text) }], "usage": { "prompt_tokens": words(text).count() } }))
            }),
        )
}

fn chat(asked: &Value) -> Value {
    let messages = asked["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let content = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    let prompt = messages.iter().rev().find(|message| message["role"] == "user").map(content).unwrap_or_default();
    let text = match asked["response_format"]["type"].as_str() {
        Some("json_schema") => {
            let schema = &asked["response_format"]["json_schema"]["schema"];
            fill(schema, schema, &prompt, MAX_DEPTH).to_string()
        }
        Some("json_object") => json!({ "answer": answer(&prompt) }).to_string(),
        _ => answer(&prompt),
    };
    let limit = asked["max_tokens"].as_u64().and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
    let text: Vec<&str> = text.split(' ').take(limit).collect();
    let read: usize = messages.iter().map(|message| words(&content(message)).count()).sum();
    json!({
        "object": "chat.completion",
        "model": CHAT,
        "choices": [{ "index": 0, "finish_reason": "stop", "message": { "role": "assistant", "content": text.join(" ") } }],
        "usage": { "prompt_tokens": read, "completion_tokens": text.len() },
    })
}

/// The sentence of a prompt that shares most words with its last one, or a sentence that says what this model is.
fn answer(prompt: &str) -> String {
    let sentences: Vec<&str> = sentences(prompt).collect();
    let Some((question, context)) = sentences.split_last() else { return "There is no question.".to_owned() };
    let asked: Vec<String> = words(question).collect();
    let shared = |sentence: &str| words(sentence).filter(|word| word.len() > 3 && asked.contains(word)).count();
    // The first one wins among equals.
    let best = context.iter().rev().max_by_key(|sentence| shared(sentence)).filter(|sentence| shared(sentence) > 0);
    best.map_or_else(|| format!("The demo model of this devnet cannot know: {question}"), |sentence| (*sentence).to_owned())
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['.', '?', '!', '\n']).map(str::trim).filter(|sentence| sentence.chars().any(char::is_alphanumeric))
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Something that a schema allows, made of the prompt.
fn fill(schema: &Value, root: &Value, prompt: &str, depth: usize) -> Value {
    let Some(depth) = depth.checked_sub(1) else { return Value::Null };
    if let Some(reference) = schema["$ref"].as_str() {
        return fill(root.pointer(reference.trim_start_matches('#')).unwrap_or(&Value::Null), root, prompt, depth);
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if let Some(values) = schema["enum"].as_array() {
        let named = |value: &&Value| value.as_str().map_or(0, |name| words(prompt).filter(|word| *word == name.to_lowercase()).count());
        return values.iter().rev().max_by_key(named).cloned().unwrap_or_default();
    }
    if let Some(first) = schema["anyOf"].as_array().and_then(|ways| ways.first()) {
        return fill(first, root, prompt, depth);
    }
    let bound = |name: &str| schema[name].as_i64();
    match schema["type"].as_str().unwrap_or("object") {
        "integer" | "number" => {
            let first = words(prompt).find_map(|word| word.parse::<i64>().ok());
            let (least, most) = (bound("minimum").unwrap_or(i64::MIN), bound("maximum").unwrap_or(i64::MAX));
            json!(first.unwrap_or(1).min(most).max(least))
        }
        "boolean" => json!(words(prompt).any(|word| word == "yes")),
        "null" => Value::Null,
        "string" => {
            let most = bound("maxLength").and_then(|most| usize::try_from(most).ok()).unwrap_or(MAX_TEXT).min(MAX_TEXT);
            json!(sentences(prompt).next().unwrap_or("nothing").chars().take(most).collect::<String>())
        }
        "array" => {
            let items = bound("minItems").unwrap_or(1).clamp(1, 16);
            (0..items).map(|_| fill(&schema["items"], root, prompt, depth)).collect()
        }
        _ => {
            let none = Map::new();
            let parts = schema["properties"].as_object().unwrap_or(&none);
            Value::Object(parts.iter().map(|(name, part)| (name.clone(), fill(part, root, prompt, depth))).collect())
        }
    }
}

/// Which words stand in a text, and how often: texts of the same words are near.
fn embedding(text: &str) -> Vec<f64> {
    let mut counts = vec![0.0; WIDTH];
    for word in words(text) {
        counts[usize::from(keccak256(&[word.as_bytes()]).0[0]) % WIDTH] += 1.0;
    }
    if text.is_empty() {
        counts[0] = 1.0;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemas_are_filled_from_the_prompt() {
        let schema = json!({
            "type": "object",
            "properties": {
                "action": { "enum": ["buy", "hold", "sell"] },
                "confidence": { "type": "integer", "maximum": 50 },
                "reason": { "type": "string", "maxLength": 9 },
                "list": { "type": "array", "items": { "$ref": "#/$defs/flag" }, "minItems": 2 },
                "loop": { "$ref": "#/properties/loop" },
            },
            "$defs": { "flag": { "type": "boolean" } },
        });
        let prompt = "Sell? 85 of 100 say sell. Yes.";
        let expected = json!({ "action": "sell", "confidence": 50, "reason": "Sell?", "list": [true, true], "loop": null });
        assert_eq!(fill(&schema, &schema, prompt, MAX_DEPTH), expected);
    }

    #[test]
    fn questions_are_answered_out_of_the_prompt() {
        let rows = [
            ("The herd is in Texas. Horses sleep. Where is the herd, in Texas or Utah?", "The herd is in Texas."),
            ("Is it late?", "The demo model of this devnet cannot know: Is it late?"),
            ("", "There is no question."),
        ];
        for (prompt, expected) in rows {
            assert_eq!(answer(prompt), expected);
        }
    }
}
