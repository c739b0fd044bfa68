class Problem(Exception):
    def __str__(self):
        return "a problem with " + repr(self.args[0])


def cause():
    raise Problem({"k": 1})


try:
    cause()
finally:
    print("finally runs")
