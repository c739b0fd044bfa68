from cowboy_sdk import actor, public


@actor
class JsonInit:
    @public(decode="json")
    def init(self, payload):
        self.storage["init"] = payload

    @public
    def get(self):
        return self.storage["init"]
