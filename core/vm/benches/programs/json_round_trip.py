"""json: records out to text and back."""
import json

records = [{"id": number, "name": f"user {number}", "email": f"user{number}@example.org", "scores": [number % 7, number * 3 % 11, number / 4], "active": number % 2 == 0, "parent": None, "nested": {"key": "välue \n" + str(number), "list": [[], {}, [1, [2]]]}}
           for number in range(700)]
checksum = 0
for turn in range(28):
    text = json.dumps(records, sort_keys=True, separators=(",", ":"))
    checksum += len(text)
    again = json.loads(text)
    checksum += sum(record["scores"][1] for record in again) + len(again[turn]["nested"]["key"])
print(checksum, again == records)
