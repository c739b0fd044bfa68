"""What an await of a job gives: views of what the runner sent."""

from ._keep import MAKERS
from .errors import RunnerValidationError
from .models import find_model, model_name

_TEXT_KEYS = ("content", "text", "response", "data", "answer")
_MOST_NESTING = 8
_STRUCTURED = "llm_structured"


def extract_text(result):
    """The text in a result: of a map, what stands under `content`, `text`, `response`, `data` or `answer`; bytes as UTF-8."""
    for _ in range(_MOST_NESTING):
        if not isinstance(result, dict):
            break
        found = [key for key in _TEXT_KEYS if key in result]
        if not found:
            break
        result = result[found[0]]
    if result is None:
        return ""
    if isinstance(result, (bytes, bytearray)):
        return bytes(result).decode("utf-8", "replace")
    return result if isinstance(result, str) else str(result)


class RunnerResult:
    """A runner's answer: `.text`, `.json()`, `.data`, `.raw`. Stored or returned, it is its raw value."""

    def __init__(self, raw):
        self.raw = raw

    @property
    def data(self):
        return self.raw

    @property
    def text(self):
        return extract_text(self.raw)

    def json(self):
        import json

        return json.loads(self.text)

    def __cbor_reduce__(self):
        return self.raw

    def __keep__(self):
        return "result", self.raw

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"RunnerResult({self.raw!r})"

    def __eq__(self, other):
        return isinstance(other, RunnerResult) and other.raw == self.raw

    __hash__ = None

    # Answers in the shape of a model

    def parse(self, model):
        """An instance of `model` with the answer's fields; None where the runner failed. RunnerValidationError for others."""
        body = self._body()
        return model.build(body["value"]) if body["status"] == "ok" else None

    @property
    def value(self):
        """The structured answer as plain data, None where the runner failed."""
        body = self._body()
        return body["value"] if body["status"] == "ok" else None

    @property
    def failure(self):
        """Why the model gave no structured answer, one of `runner.LlmFailure`; None for a value."""
        body = self._body()
        return body["code"] if body["status"] == "non_success" else None

    @property
    def model(self):
        """The name of the model that answered, where the runner tells it."""
        return self._body()["model"]

    def _body(self):
        """The structured answer: the published envelope, or a bare JSON value."""
        body = self.raw
        if isinstance(body, (str, bytes)):
            import json

            try:
                body = json.loads(body)
            except ValueError as problem:
                raise RunnerValidationError(f"not a structured LLM result: {problem}") from problem
        if not isinstance(body, dict) or body.get("kind") != _STRUCTURED:
            return {"status": "ok", "value": body, "model": None}
        wanted = ("value", "ok") if body.get("status") == "ok" else ("code", "non_success")
        if set(body) != {"kind", "model", "status", "v", wanted[0]} or body["status"] != wanted[1] or body["v"] != 1:
            raise RunnerValidationError("not a structured LLM result: its fields are not those of its status")
        return body


class StructuredResult(RunnerResult):
    """The answer to `runner.llm(..., response_model=M)`: `.value` is an M."""

    def __init__(self, raw, model):
        super().__init__(raw)
        self._model = model

    def __keep__(self):
        return "structured", [self.raw, model_name(self._model)]

    @property
    def value(self):
        return self.parse(self._model)


MAKERS["result"] = RunnerResult
MAKERS["structured"] = lambda kept: StructuredResult(kept[0], find_model(kept[1]))
