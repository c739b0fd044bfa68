from cowboy_sdk import Actor, actor, deferred, public, CowboyModel
from cowboy_sdk.models import LlmFailure


class Opinion(CowboyModel):
    action: str
    confidence: int


@actor
class Example(Actor):
    @public
    @deferred
    def run(self) -> None:
        opinion = Opinion(action="buy", confidence=90)
        assert opinion.to_dict() == {"action": "buy", "confidence": 90}
        assert Opinion.from_dict({"action": "buy", "confidence": 90}) == opinion
        assert Opinion.from_cbor(opinion.to_cbor()) == opinion
        assert '"action"' in Opinion.response_schema()
        assert isinstance(LlmFailure.PROVIDER_REFUSAL, str)
