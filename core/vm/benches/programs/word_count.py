"""Dicts and strings: words made, split, cleaned and counted."""


def make_text(count):
    seed, words = 42, []
    syllables = ["ka", "lo", "mi", "ru", "te", "so", "na", "vi"]
    for _ in range(count):
        seed = (seed * 1103515245 + 12345) % 2147483648
        words.append(syllables[seed % 8] + syllables[seed // 64 % 8] + (syllables[seed // 4096 % 8] if seed & 1024 else "") + (", " if seed % 11 == 0 else ""))
    return " ".join(words)


def count(text):
    counts = {}
    for word in text.split():
        word = word.strip(",.").lower()
        if word in counts:
            counts[word] += 1
        else:
            counts[word] = 1
    return counts


text = make_text(40000)
for _ in range(20):
    counts = count(text)
top = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
print(len(counts), top[:3], sum(counts.values()))
