//! What a runner executes: web requests, language models and registered tools.

mod http;
mod local;
mod models;
mod tools;
