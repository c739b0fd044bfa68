# The places of matches and groups in text beyond ASCII, where characters take one to four bytes.
import re

TEXT = "aé€😀" * 6 + "zé" + "😀€éa" * 3


def shown(match):
    return f"<{match.start()}-{match.end()} {[match.span(group) for group in range(match.re.groups + 1)]}>"


for pattern in "é", "(é)(€)?", "(?=(.😀))€", "((.)(.))", "(?<=(é))€", "|😀", "(z)|(a)", ".*", "(((.*)))", "(?:(é)|(€)|(😀))+", "(.)(?=(.))(?<=(.)(.))":
    compiled = re.compile(pattern)
    print(pattern, compiled.sub(shown, TEXT), [match.span() for match in compiled.finditer(TEXT, 3)][:5], compiled.subn(lambda match: "", TEXT, 4))
print(re.sub("é", lambda match: str(match.start()), "é" * 40), re.sub("(x)?é", lambda match: str(match.span(1)), "éx" * 5))
