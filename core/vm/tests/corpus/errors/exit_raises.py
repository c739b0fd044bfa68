class Manager:
    def __enter__(self):
        return self

    def __exit__(self, *details):
        print("exit", details[0].__name__)
        raise RuntimeError("while leaving")


with Manager():
    raise ValueError("inside")
