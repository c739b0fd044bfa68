class Thing:
    @property
    def value(self):
        return self.hidden["x"]

    hidden = {}


Thing().value
