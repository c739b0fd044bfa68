//! What a runner executes: web requests, language models, servers of tools and registered tools.

mod http;
mod local;
mod mcp;
mod models;
mod tools;
