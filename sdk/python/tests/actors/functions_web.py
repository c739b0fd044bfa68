import json

from cowboy_sdk import actor, http, storage


@actor.handler("http.request")
def handle_http(ctx, envelope):
    if ctx.sender is not None and ctx.sender != http.GATEWAY_REGISTRY:
        return {"status": 403, "body": "unauthorized: not dispatched via GatewayRegistry"}
    if envelope["path"] == "/api/profile" and envelope["method"] == "GET":
        return {
            "status": 200,
            "headers": {"content-type": ["application/json"]},
            "body": json.dumps(storage.get("profile")),
        }
    if envelope["path"] == "/api/profile" and envelope["method"] == "POST":
        storage.set("profile", json.loads(envelope["body"]))
        return {"status": 200, "body": json.dumps({"updated": True})}
    return {"status": 404, "body": "not found"}
