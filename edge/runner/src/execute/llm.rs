//! Jobs for a language model: any server with OpenAI's interface.
//!
//! Fields: `prompt` (or `messages`, each `{role, content}` with text), and maybe `system_prompt`, `model`, `temperature` (from 0 to 2, or in thousandths), `max_tokens`, `seed`, `json`
//! and `response_model` (a JSON schema, also as text). With `task: "embedding"` the answer is the JSON list of the prompt's embedding.
//!
//! What is asked for as JSON is checked, asked again with the reason where it is none, and answered without anything between its parts, so
//! that models which say the same write the same.

use super::{
    Executor, Fault, Limits, NotReady, Task, Usage, documents,
    http::{body, unanswered},
    schema::Schema,
};
use crate::{
    config::{Config, Llm},
    request::{Malformed, Request},
};
use cowboy_system::offchain::similarity::{Embedded, MAX_DIMENSIONS};
use cowboy_types::{Hash, job::JobKind};
use futures::future::BoxFuture;
use reqwest::{StatusCode, header::RETRY_AFTER};
use serde::Deserialize;
use serde_json::{Value as Json, json};
use std::{collections::BTreeMap, time::Duration};

/// The longest prompt with its system prompt, in bytes.
const MAX_PROMPT_BYTES: usize = 256 * 1024;

/// The most bytes that are read of a server's answer.
const MAX_ANSWER_BYTES: usize = 2 * 1024 * 1024;

/// The first pause before a failed question is asked again; each is twice as long as the one before.
const PAUSE: Duration = Duration::from_millis(200);

/// The longest pause that a server may ask for.
const MAX_PAUSE: Duration = Duration::from_secs(10);

/// Bytes of a token, roughly: where a server does not count, and before it is asked.
const TOKEN_BYTES: u64 = 4;

/// Does jobs for a language model.
pub struct LlmExecutor {
    client: reqwest::Client,
    settings: Llm,
    key: Option<String>,
    /// What the server calls the models that jobs name by their id.
    models: BTreeMap<Hash, String>,
    embedding_id: Hash,
}

impl LlmExecutor {
    /// One that asks the configured server.
    pub fn new(settings: &Llm, config: &Config) -> Result<Self, NotReady> {
        let wrong = |reason: String| NotReady { kind: "llm", reason };
        let key = match &settings.key_env {
            Some(name) => Some(std::env::var(name).map_err(|_| wrong(format!("the environment has no {name}")))?),
            None => None,
        };
        let id = |text: &str| cowboy_types::hash::parse_hex(text).map(Hash).map_err(|error| wrong(format!("{text:?}: {error}")));
        let models = config.runner.models.iter().map(|(text, name)| Ok((id(text)?, name.clone()))).collect::<Result<_, NotReady>>()?;
        let embedding_id = settings.embedding_model_id.as_deref().map_or(Ok(Hash::ZERO), id)?;
        // It follows no redirection: the key and the prompt are for the server that is configured.
        let client = cowboy_api::client::builder(&settings.url).build().map_err(|error| wrong(error.to_string()))?;
        Ok(Self { client, settings: settings.clone(), key, models, embedding_id })
    }

    fn url(&self, path: &str) -> String {
        format!("{}/{path}", self.settings.url.trim_end_matches('/'))
    }

    /// What the server calls the model of a job.
    fn model(&self, task: &Task) -> Result<String, Fault> {
        if task.model != Hash::ZERO {
            let name = self.models.get(&task.model);
            return name.cloned().ok_or_else(|| Fault::External(format!("this runner has no model {}", task.model)));
        }
        match task.request.text_or_none("model")? {
            None => Ok(self.settings.model.clone()),
            Some(name) if name == self.settings.model || self.models.values().any(|known| known == name) => Ok(name.to_owned()),
            Some(name) => Err(Fault::External(format!("this runner has no model {name:?}"))),
        }
    }

    /// Asks the server, again where it is worth it.
    async fn ask<T: for<'de> Deserialize<'de>>(&self, path: &str, question: &Json, usage: &mut Usage) -> Result<T, Fault> {
        let mut pause = PAUSE;
        let mut failed = Fault::External("the model server was not asked".into());
        for left in (0..=self.settings.retries).rev() {
            usage.requests += 1;
            let mut request = self.client.post(self.url(path)).json(question);
            if let Some(key) = &self.key {
                request = request.bearer_auth(key);
            }
            let wait = match request.send().await {
                Ok(response) if response.status().is_success() => {
                    let bytes = body(response, MAX_ANSWER_BYTES).await?;
                    return serde_json::from_slice(&bytes).map_err(|error| Fault::External(format!("the model server's answer: {error}")));
                }
                Ok(response) => {
                    let status = response.status();
                    let wait =
                        response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok()).map(Duration::from_secs);
                    let said = body(response, 4_096).await.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
                    failed = Fault::External(format!("the model server says {status}: {said}"));
                    let is_worth_it = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
                    if !is_worth_it {
                        return Err(failed);
                    }
                    wait
                }
                Err(error) => {
                    failed = unanswered(&error);
                    None
                }
            };
            if left > 0 {
                tokio::time::sleep(wait.unwrap_or(pause).min(MAX_PAUSE)).await;
                pause = pause.saturating_mul(2);
            }
        }
        Err(failed)
    }

    /// One answer of the model.
    async fn chat(&self, model: &str, wanted: &Wanted, usage: &mut Usage) -> Result<String, Fault> {
        let answer: ChatAnswer = self.ask("chat/completions", &wanted.question(model), usage).await?;
        let text = answer.choices.into_iter().next().and_then(|choice| choice.message.content).unwrap_or_default();
        let counted = answer.usage.unwrap_or_default();
        let (asked, said) = (wanted.bytes() as u64 / TOKEN_BYTES, text.len() as u64 / TOKEN_BYTES);
        usage.input_tokens = usage.input_tokens.saturating_add(counted.prompt_tokens.unwrap_or(asked));
        usage.output_tokens = usage.output_tokens.saturating_add(counted.completion_tokens.unwrap_or(said));
        Ok(text)
    }

    /// An answer in the form that was asked for.
    async fn answer(&self, model: &str, mut wanted: Wanted, limits: &Limits, usage: &mut Usage) -> Result<Vec<u8>, Fault> {
        let mut reason = String::new();
        for _ in 0..=self.settings.retries {
            let text = self.chat(model, &wanted, usage).await?;
            let Some(form) = &wanted.form else { return Ok(text.into_bytes()) };
            match form.check(&text) {
                Ok(bytes) => return Ok(bytes),
                Err(wrong) => {
                    // What is asked again costs again, and the job pays once.
                    require_used(usage, limits)?;
                    wanted.max_tokens = wanted.max_tokens.min(limits.output_tokens.saturating_sub(usage.output_tokens));
                    if wanted.max_tokens == 0 {
                        return Err(Fault::Impossible(format!(
                            "all tokens of the job are used, and the answer is not in its form: {wrong}"
                        )));
                    }
                    wanted.messages.push(json!({ "role": "assistant", "content": text }));
                    wanted.messages.push(json!({ "role": "user", "content": format!("That is not what was asked for: {wrong}. Answer with the JSON alone.") }));
                    reason = wrong;
                }
            }
        }
        Err(Fault::External(format!("the model does not answer in the form that was asked for: {reason}")))
    }

    /// The embedding of a text.
    async fn embed(&self, text: &str, usage: &mut Usage) -> Result<Vec<f64>, Fault> {
        let model =
            self.settings.embedding_model.as_deref().ok_or_else(|| Fault::External("this runner has no model of embeddings".into()))?;
        let answer: EmbeddingAnswer = self.ask("embeddings", &json!({ "model": model, "input": text }), usage).await?;
        let counted = answer.usage.unwrap_or_default().prompt_tokens.unwrap_or(text.len() as u64 / TOKEN_BYTES);
        usage.input_tokens = usage.input_tokens.saturating_add(counted);
        let embedding = answer.data.into_iter().next().map(|data| data.embedding).unwrap_or_default();
        let is_one = (1..=MAX_DIMENSIONS).contains(&embedding.len()) && embedding.iter().all(|number| number.is_finite());
        if is_one { Ok(embedding) } else { Err(Fault::External("the model server answers no embedding".into())) }
    }
}

impl Executor for LlmExecutor {
    fn kind(&self) -> JobKind {
        JobKind::Llm
    }

    fn check(&self) -> BoxFuture<'_, Result<String, String>> {
        Box::pin(async move {
            let mut request = self.client.get(self.url("models")).timeout(Duration::from_secs(10));
            if let Some(key) = &self.key {
                request = request.bearer_auth(key);
            }
            let reason = match request.send().await {
                Ok(response) if response.status().is_success() => return Ok(format!("{} with {}", self.settings.url, self.settings.model)),
                Ok(response) => response.status().to_string(),
                Err(error) => error.to_string(),
            };
            Err(format!("{} does not answer; start it, or correct llm.url and llm.key_env ({reason})", self.settings.url))
        })
    }

    fn execute<'a>(&'a self, task: &'a Task, usage: &'a mut Usage) -> BoxFuture<'a, Result<Vec<u8>, Fault>> {
        Box::pin(async move {
            if task.request.text_or_none("task")? == Some("embedding") {
                let prompt = task.request.text("prompt")?;
                require_asked(prompt.len(), &task.limits)?;
                let embedding = self.embed(prompt, usage).await?;
                require_used(usage, &task.limits)?;
                return Ok(Json::from(embedding).to_string().into_bytes());
            }
            let model = self.model(task)?;
            let wanted = Wanted::read(task)?;
            let answer = self.answer(&model, wanted, &task.limits, usage).await?;
            require_used(usage, &task.limits)?;
            if !task.is_semantic {
                return Ok(answer);
            }
            let embedding = self.embed(&String::from_utf8_lossy(&answer), usage).await?;
            Ok(Embedded { answer, model: self.embedding_id, embedding: whole(&embedding) }.write())
        })
    }
}

/// An embedding in 16-bit numbers, its largest part at the end of their range: a cosine does not look at lengths.
fn whole(embedding: &[f64]) -> Vec<i16> {
    let largest = embedding.iter().fold(f64::MIN_POSITIVE, |largest, number| largest.max(number.abs()));
    embedding.iter().map(|number| (number / largest * f64::from(i16::MAX)).round() as i16).collect()
}

/// The form of an answer that is to be JSON.
struct Form {
    schema: Option<(Json, Schema)>,
}

impl Form {
    /// The answer's JSON without anything between its parts, or why it is none.
    fn check(&self, text: &str) -> Result<Vec<u8>, String> {
        let text = unfenced(text);
        documents::require_small(text, documents::MAX_RESULT_BYTES).map_err(|fault| fault.to_string())?;
        let mut value: Json = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if let Some((_, schema)) = &self.schema {
            schema.check(&value)?;
        }
        // Members agree on bytes, so the order of a model's fields must not matter.
        value.sort_all_objects();
        Ok(value.to_string().into_bytes())
    }
}

/// What stands between the marks of a block of code, where a model wrote one around its answer.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inside = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    inside.map_or(text, |inside| inside.strip_prefix("json").unwrap_or(inside).trim())
}

/// What a job wants of a model.
struct Wanted {
    messages: Vec<Json>,
    max_tokens: u64,
    temperature: Option<f64>,
    seed: Option<u64>,
    form: Option<Form>,
}

impl Wanted {
    fn read(task: &Task) -> Result<Self, Fault> {
        let request = &task.request;
        let mut messages = Vec::new();
        if let Some(system) = request.text_or_none("system_prompt")? {
            messages.push(json!({ "role": "system", "content": system }));
        }
        match request.get("messages") {
            Some(Json::Array(given)) => {
                given.iter().try_for_each(require_text)?;
                messages.extend(given.iter().cloned());
            }
            Some(_) => return Err(Fault::Actor("messages is not a list".into())),
            None => messages.push(json!({ "role": "user", "content": request.text("prompt")? })),
        }
        let asked = request.number_or_none("max_tokens")?.unwrap_or(task.limits.output_tokens);
        let wanted = Self {
            messages,
            max_tokens: asked.min(task.limits.output_tokens),
            temperature: temperature(request)?,
            seed: request.number_or_none("seed")?,
            form: form(task)?,
        };
        require_asked(wanted.bytes(), &task.limits)?;
        Ok(wanted)
    }

    fn bytes(&self) -> usize {
        self.messages.iter().map(|message| message["content"].as_str().map_or(0, str::len)).sum()
    }

    fn question(&self, model: &str) -> Json {
        let mut question = json!({ "model": model, "messages": self.messages, "max_tokens": self.max_tokens, "stream": false });
        if let Some(temperature) = self.temperature {
            question["temperature"] = temperature.into();
        }
        if let Some(seed) = self.seed {
            question["seed"] = seed.into();
        }
        match &self.form {
            Some(Form { schema: Some((schema, _)) }) => {
                question["response_format"] =
                    json!({ "type": "json_schema", "json_schema": { "name": "answer", "schema": schema, "strict": true } });
            }
            Some(Form { schema: None }) => question["response_format"] = json!({ "type": "json_object" }),
            None => {}
        }
        question
    }
}

/// Refuses a message that is more than text: a model's server would fetch what a part of it names from within the operator's network, and nobody
/// could count its tokens before it is asked.
fn require_text(message: &Json) -> Result<(), Malformed> {
    let fields = message.as_object().filter(|fields| fields.len() == 2);
    let text = |name: &str| fields.and_then(|fields| fields.get(name)).and_then(Json::as_str);
    match (text("role"), text("content")) {
        (Some("system" | "user" | "assistant"), Some(_)) => Ok(()),
        _ => Err(Malformed("a message has a role (system, user or assistant), its content as text, and no other field".into())),
    }
}

/// Refuses a prompt that is longer than a model is asked, or surely has more tokens than the job pays for.
fn require_asked(bytes: usize, limits: &Limits) -> Result<(), Fault> {
    if bytes > MAX_PROMPT_BYTES {
        return Err(Fault::Actor(format!("the prompt has {bytes} bytes, and may have {MAX_PROMPT_BYTES}")));
    }
    let least = bytes as u64 / (2 * TOKEN_BYTES);
    if limits.input_tokens > 0 && least > limits.input_tokens {
        return Err(Fault::Impossible(format!("the prompt has more than {} tokens", limits.input_tokens)));
    }
    Ok(())
}

/// Refuses a result for which the model read more tokens than the job pays for.
fn require_used(usage: &Usage, limits: &Limits) -> Result<(), Fault> {
    let (used, most) = (usage.input_tokens, limits.input_tokens);
    if most > 0 && used > most {
        return Err(Fault::Impossible(format!("it took {used} tokens in, and may take {most}")));
    }
    Ok(())
}

/// The tokens that a task asks a model for, where it would ask one.
#[cfg(test)]
pub(super) fn tokens_asked(task: &Task) -> Option<u64> {
    Some(Wanted::read(task).ok()?.max_tokens)
}

fn temperature(request: &Request) -> Result<Option<f64>, Malformed> {
    let temperature = match request.get("temperature") {
        None => return Ok(None),
        // What cannot be meant whole is meant in thousandths.
        Some(Json::Number(number)) => match number.as_u64() {
            Some(thousandths) if thousandths > 2 => thousandths as f64 / 1_000.0,
            _ => number.as_f64().unwrap_or(-1.0),
        },
        Some(_) => -1.0,
    };
    if (0.0..=2.0).contains(&temperature) {
        Ok(Some(temperature))
    } else {
        Err(Malformed("temperature is from 0 to 2, or in thousandths".into()))
    }
}

/// Whether the answer is to be JSON, and of what form: the job's own words, or its result's.
fn form(task: &Task) -> Result<Option<Form>, Fault> {
    let named = match task.request.get("response_model").or_else(|| task.request.get("response_schema")) {
        Some(Json::String(text)) => Some(serde_json::from_str(text).map_err(|error| Fault::Actor(format!("response_model: {error}")))?),
        Some(value) => Some(value.clone()),
        None if task.format.starts_with('{') => serde_json::from_str(&task.format).ok(),
        None => None,
    };
    if let Some(schema) = named {
        let checked = Schema::read(&schema).map_err(|reason| Fault::Actor(format!("response_model: {reason}")))?;
        return Ok(Some(Form { schema: Some((schema, checked)) }));
    }
    let is_json = task.format == "json" || task.request.flag("json")?;
    Ok(is_json.then_some(Form { schema: None }))
}

#[derive(Deserialize)]
struct ChatAnswer {
    choices: Vec<Choice>,
    usage: Option<Counted>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
}

#[derive(Default, Deserialize)]
struct Counted {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct EmbeddingAnswer {
    data: Vec<EmbeddingData>,
    usage: Option<Counted>,
}

#[derive(Deserialize)]
struct EmbeddingData {
    embedding: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_found_in_what_models_write() {
        let form = Form { schema: None };
        let rows: &[(&str, Option<&str>)] = &[
            ("{\"b\": 1, \"a\": 2}", Some(r#"{"a":2,"b":1}"#)),
            ("```json\n{\"a\": 1}\n```", Some(r#"{"a":1}"#)),
            ("```\n[1]\n```", Some("[1]")),
            ("Sure! {\"a\": 1}", None),
            ("", None),
        ];
        let objects = format!("[{}{{}}]", r#"{"a":1},"#.repeat(100_000));
        assert!(form.check(&objects).is_err_and(|reason| reason.contains("too many values")));
        for (text, expected) in rows {
            assert_eq!(form.check(text).ok().as_deref(), expected.map(str::as_bytes), "{text}");
        }
        assert_eq!(whole(&[0.5, -1.0, 0.0]), [16_384, -32_767, 0]);
        assert_eq!(whole(&[0.0]), [0]);
    }
}
