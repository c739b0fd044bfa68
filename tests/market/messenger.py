"""Asks the Dispatcher with the published SDK's message itself, sent as a message, and keeps what comes back."""

from cowboy_sdk import Address, actor, callable_by, codec, deferred, pure, public, runner

import pvm_host


@actor
class Messenger:
    @public
    @deferred
    def ask(self, job_type, args, kwargs):
        """Sends `{kind, job_type, payload, cid, reply_handler}` to 0x02, as older actors do."""
        number = self.storage.get("asked", 0) + 1
        self.storage["asked"] = number
        message = {
            "kind": "runner_job",
            "job_type": job_type,
            "payload": {"args": args, "kwargs": kwargs},
            "cid": number.to_bytes(32, "big"),
            "reply_handler": "answered",
        }
        pvm_host.send_message(bytes(Address.JOB_DISPATCHER), codec.encode(message))
        return number

    @callable_by(Address.RESULT_VERIFIER)
    def answered(self, answer):
        """Keeps an answer under the number of its question."""
        self.storage[f"answer:{int(answer['cid'], 16)}"] = answer.get("result", answer.get("reason"))

    @public
    @runner.continuation
    async def look(self, query):
        """The same by the SDK, a tool's arguments by name."""
        found = await runner.mcp("shop", "find", query=query)
        self.storage["found"] = found.json()["result"]

    @pure
    @public
    def kept(self, name: str):
        return self.storage.get(name)
