"""The description of an actor's routes, from names, hints and docstrings."""

import json

_KINDS = {"int": "integer", "float": "number", "bool": "boolean", "str": "string"}


def describe(title, routes):
    """OpenAPI 3.1 of the routes, as JSON text."""
    paths = {}
    for route in routes:
        variables = [_variable(segment) for segment in route.segments if segment[:1] == "{"]
        path = "/" + "/".join(["{" + _variable(segment) + "}" if segment[:1] == "{" else segment for segment in route.segments])
        paths.setdefault(path, {})[route.method.lower()] = _operation(route, variables)
    document = {"openapi": "3.1.0", "info": {"title": title, "version": "1"}, "paths": paths}
    return json.dumps(document, separators=(",", ":"), sort_keys=True)


def _operation(route, variables):
    words = (getattr(route.function, "__doc__", None) or "").strip()
    operation = {"operationId": f"{route.method.lower()}_{route.function.__name__}"}
    if words:
        operation["summary"] = words.split("\n")[0]
    if variables:
        operation["parameters"] = [_parameter(route, name) for name in variables]
    query = getattr(route.function, "_http_query", {})
    for name, kind in query.items():
        schema = {"type": _KINDS.get(_name(kind), "string")}
        operation.setdefault("parameters", []).append({"name": name, "in": "query", "required": False, "schema": schema})
    body = getattr(route.function, "_http_body", None)
    if body is not None:
        schema = {"type": "object", "properties": {}, "required": list(body)}
        for name, kind in body.items():
            schema["properties"][name] = {"type": _KINDS.get(_name(kind), "string")}
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    if route.method == "GET":
        operation["responses"] = {"default": {"description": "The handler's answer."}}
    else:
        accepted = {"description": "On its way; its result will be at /_cowboy/requests/{request_id}."}
        operation["responses"] = {"202": accepted, "default": {"description": "Refused by the gateway."}}
    return operation


def _parameter(route, name):
    schema = {"type": _KINDS.get(_name(route.kinds.get(name)), "string")}
    return {"name": name, "in": "path", "required": True, "schema": schema}


def _variable(segment):
    return segment[1:-1].partition(":")[0]


def _name(annotation):
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
