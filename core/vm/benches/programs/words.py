def count(text, rounds):
    totals = {}
    for _ in range(rounds):
        for word in text.split():
            word = word.strip(".,").lower()
            totals[word] = totals.get(word, 0) + 1
    return totals


text = "The quick brown fox jumps over the lazy dog, and the dog sleeps. " * 20
totals = count(text, 200)
print(sorted(totals.items(), key=lambda pair: (-pair[1], pair[0]))[:5])
