"""A guest book with a page: reads by GET, writes by a form, the answer fetched when its block is final."""

from typing import Any

from cowboy_sdk import Actor, actor, http

SHOWN = 20

STYLE = (
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:3rem auto;padding:0 1rem;color:#222}"
    "form{display:flex;gap:.5rem}input{flex:1;padding:.5rem;font:inherit}button{padding:.5rem 1rem;font:inherit}"
    "li{margin:.3rem 0}#said{min-height:1.5rem;color:#666}"
)

# Sends the form, asks for the result until it is there, and shows it.
SCRIPT = """
const form = document.querySelector('form'), said = document.querySelector('#said');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  said.textContent = 'sending\\u2026';
  const sent = await fetch('/sign', { method: 'POST', body: new URLSearchParams(new FormData(form)) });
  const accepted = await sent.json();
  if (sent.status !== 202) { said.textContent = accepted.what; return; }
  said.textContent = 'waiting for a block\\u2026';
  for (;;) {
    const result = await fetch(accepted.result);
    if (result.status === 202) { await new Promise((wake) => setTimeout(wake, 300)); continue; }
    const body = await result.json();
    said.textContent = result.status === 201 ? 'You are number ' + body.number + '.' : body.what || body.error;
    if (result.status === 201) {
      const line = document.createElement('li');
      line.textContent = body.text;
      document.querySelector('ol').prepend(line);
      document.querySelector('#count').textContent = body.number + ' entries';
      form.reset();
    }
    return;
  }
});
"""


@actor
class Site(Actor):
    @http.get("/")
    def index(self, request: http.Request) -> http.Response:
        """The page: the newest entries, and a form."""
        count = self.storage.get("count", 0)
        first = max(0, count - SHOWN)
        lines = [f"<li>{http.escape(self.storage[f'entry/{number}'])}</li>" for number in range(count, first, -1)]
        return http.html(
            f"<!doctype html><html lang='en'><meta charset='utf-8'><title>Guest book</title><style>{STYLE}</style>"
            f"<h1>Guest book</h1><p id='count'>{count} entries</p>"
            "<form method='post' action='/sign'><input name='text' maxlength='200' required aria-label='Your line'>"
            "<button>Sign</button></form><p id='said' role='status'></p>"
            f"<ol reversed>{''.join(lines)}</ol><script>{SCRIPT}</script></html>",
            etag=True,
        )

    @http.get("/entries/{number}")
    def entry(self, request: http.Request, number: int) -> dict[str, Any]:
        """One entry."""
        text = self.storage.get(f"entry/{number}")
        if text is None:
            raise http.HTTPError(404, "no such entry")
        return {"number": number, "text": text}

    @http.post("/sign")
    @http.describes(body={"text": str})
    def sign(self, request: http.Request) -> http.Response:
        """Adds an entry: a form's field `text`, or JSON."""
        is_json = (request.header("content-type") or "").startswith("application/json")
        fields = request.json() if is_json else {name: values[0] for name, values in request.form().items()}
        text = str(fields.get("text", "")).strip()
        if not 1 <= len(text) <= 200:
            return http.json_response({"error": "say something, in at most 200 letters"}, 422)
        number = self.storage.get("count", 0) + 1
        self.storage["count"] = number
        self.storage[f"entry/{number}"] = text
        return http.json_response({"number": number, "text": text}, 201)
