"""Dates and spans, as members of an enum."""


class date:
    def __new__(cls, year, month, day):
        self = object.__new__(cls)
        self.year, self.month, self.day = year, month, day
        return self

    def _parts(self):
        return self.year, self.month, self.day

    def __eq__(self, other):
        return self._parts() == other._parts() if isinstance(other, date) else NotImplemented

    def __lt__(self, other):
        return self._parts() < other._parts() if isinstance(other, date) else NotImplemented

    def __le__(self, other):
        return self._parts() <= other._parts() if isinstance(other, date) else NotImplemented

    def __hash__(self):
        return hash(self._parts())

    def __repr__(self):
        return f"datetime.date({self.year}, {self.month}, {self.day})"

    def __str__(self):
        return f"{self.year:04d}-{self.month:02d}-{self.day:02d}"

    def __format__(self, spec):
        return str(self)


class timedelta:
    def __new__(cls, days=0, seconds=0):
        self = object.__new__(cls)
        self.days, self.seconds = days, seconds
        return self

    def __eq__(self, other):
        return (self.days, self.seconds) == (other.days, other.seconds) if isinstance(other, timedelta) else NotImplemented

    def __hash__(self):
        return hash((self.days, self.seconds))
