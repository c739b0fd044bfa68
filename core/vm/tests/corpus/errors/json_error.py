import json

print(json.loads('{"a": 1}'))
json.loads('{"a": 1,}')
