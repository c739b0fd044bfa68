//! The demo shop: a server of tools with the Model Context Protocol's streamable HTTP transport, answering each request with JSON.

use axum::{
    Json, Router,
    http::StatusCode,
    response::{IntoResponse as _, Response},
    routing::post,
};
use cowboy_types::Address;
use serde_json::{Value, json};

/// Goods and their prices in base units.
const GOODS: [(&str, u64); 3] = [("boots", 4_000), ("hat", 900), ("saddle", 45_000)];

/// JSON-RPC's codes for a method and for arguments that a server does not know.
const NO_METHOD: i64 = -32_601;
const BAD_ARGUMENTS: i64 = -32_602;

/// The server at `/mcp`. Quotes name `seller`.
pub(super) fn router(seller: Address) -> Router {
    Router::new().route("/mcp", post(move |Json(message): Json<Value>| async move { answer(&message, seller) }))
}

fn answer(message: &Value, seller: Address) -> Response {
    // A notification has no id, and gets no answer.
    let Some(id) = message.get("id") else { return StatusCode::ACCEPTED.into_response() };
    let body = match call(message["method"].as_str().unwrap_or_default(), &message["params"], seller) {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err((code, text)) => json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": text } }),
    };
    Json(body).into_response()
}

fn call(method: &str, params: &Value, seller: Address) -> Result<Value, (i64, String)> {
    match method {
        "initialize" => Ok(json!({
            "protocolVersion": params["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "shop", "version": env!("CARGO_PKG_VERSION") },
        })),
        "ping" => Ok(json!({})),
        "tools/list" => Ok(json!({ "tools": [tool("quote", "Who sells something, and for how many base units", &["item"]),
            tool("order", "Takes an order that was paid", &["item", "payment"])] })),
        "tools/call" => tools(params, seller),
        _ => Err((NO_METHOD, format!("there is no method {method:?}"))),
    }
}

fn tool(name: &str, description: &str, arguments: &[&str]) -> Value {
    let properties: serde_json::Map<String, Value> =
        arguments.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" }))).collect();
    json!({
        "name": name,
        "description": description,
        "inputSchema": { "type": "object", "properties": properties, "required": arguments },
    })
}

fn tools(params: &Value, seller: Address) -> Result<Value, (i64, String)> {
    let item = params["arguments"]["item"].as_str().unwrap_or_default();
    let Some((_, price)) = GOODS.iter().find(|(name, _)| *name == item) else {
        let goods = GOODS.map(|(name, _)| name).join(", ");
        return Ok(json!({ "content": [text(&format!("the shop has no {item:?}, only {goods}"))], "isError": true }));
    };
    match params["name"].as_str().unwrap_or_default() {
        "quote" => {
            let quote = json!({ "seller": seller.to_string(), "price": price });
            Ok(json!({ "content": [text(&quote.to_string())], "structuredContent": quote }))
        }
        "order" => {
            let payment = params["arguments"]["payment"].as_str().unwrap_or_default();
            Ok(json!({ "content": [text(&format!("order of 1 {item}, paid by {payment}"))] }))
        }
        name => Err((BAD_ARGUMENTS, format!("there is no tool {name:?}"))),
    }
}

fn text(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}
