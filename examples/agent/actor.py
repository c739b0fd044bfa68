"""Answers questions by a language model: POST asks, the answer is fetched when runners have found it (004 §8.5)."""

import json
from typing import Any

from cowboy_sdk import actor, http, storage
from cowboy_sdk.actor import Context

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Ask</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:3rem auto;padding:0 1rem;color:#222}
form{display:flex;gap:.5rem}input{flex:1;padding:.5rem;font:inherit}button{padding:.5rem 1rem;font:inherit}
#said{min-height:1.5rem;color:#555;white-space:pre-wrap}</style>
<h1>Ask the chain</h1><form><input name="question" required maxlength="500" aria-label="Question"><button>Ask</button></form>
<p id="said" role="status"></p>
<script>
const form = document.querySelector('form'), said = document.querySelector('#said');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  said.textContent = 'asking\\u2026';
  const question = new FormData(form).get('question');
  const sent = await fetch('/api/ask', { method: 'POST', body: JSON.stringify({ question }) });
  const accepted = await sent.json();
  if (sent.status !== 202) { said.textContent = accepted.what; return; }
  said.textContent = 'runners are thinking\\u2026';
  for (;;) {
    const result = await fetch(accepted.result);
    if (result.status === 202) { await new Promise((wake) => setTimeout(wake, 300)); continue; }
    const body = await result.json();
    said.textContent = body.answer || body.error || body.what;
    return;
  }
});
</script></html>"""

KIND = {"content-type": ["application/json"]}


def _json(status: int, body: dict[str, Any]) -> dict[str, Any]:
    return {"status": status, "headers": KIND, "body": json.dumps(body)}


@actor.handler("http.request")
def handle_http(ctx: Context, envelope: dict[str, Any]) -> dict[str, Any]:
    # A command counts only where the registry delivers it; a query has no sender.
    if ctx.sender is not None and ctx.sender != http.GATEWAY_REGISTRY:
        return _json(403, {"error": "not dispatched by the Gateway Registry"})
    path, method = envelope["path"], envelope["method"]
    if path == "/" and method in ("GET", "HEAD"):
        return {"status": 200, "headers": {"content-type": ["text/html; charset=utf-8"]}, "body": PAGE}
    if path == "/api/asked" and method in ("GET", "HEAD"):
        return _json(200, {"asked": storage.get("asked", 0), "answered": storage.get("answered", 0)})
    if path == "/api/ask" and method == "POST":
        try:
            question = json.loads(envelope["body"])["question"]
        except (ValueError, KeyError, TypeError):
            return _json(400, {"error": 'send {"question": "..."}'})
        ctx.submit_task(
            task_type="llm_inference",
            request={"prompt": question, "max_tokens": 300},
            callback="on_llm_result",
            callback_context={"request_id": envelope["request_id"]},
            max_price=400_000,
        )
        storage.set("asked", storage.get("asked", 0) + 1)
        # The answer follows: gateways say 202 until it is stored.
        return _json(202, {"request_id": envelope["request_id"]})
    return _json(404, {"error": "not found"})


@actor.handler("on_llm_result")
def handle_llm_result(ctx: Context, result: dict[str, Any]) -> None:
    # Nobody but the market can bring an answer: without one there is no context.
    if ctx.callback_context is None:
        return None
    if result["status"] == "ok":
        response = _json(200, {"answer": result["output"]})
        storage.set("answered", storage.get("answered", 0) + 1)
    else:
        response = _json(502, {"error": f"the market gave up: {result['error']}"})
    storage.set("_http/results/" + ctx.callback_context["request_id"], json.dumps(response))
    return None
