"""Instead of `io`: text that is written into memory."""


class StringIO:
    def __init__(self):
        self.parts = []

    def write(self, text):
        self.parts.append(text)

    def getvalue(self):
        return "".join(self.parts)
