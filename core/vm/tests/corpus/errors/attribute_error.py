class Thing:
    pass


Thing().nothing
