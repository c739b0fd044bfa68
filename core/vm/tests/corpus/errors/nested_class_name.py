class Outer:
    class Inner(Exception):
        pass


raise Outer.Inner("nested")
