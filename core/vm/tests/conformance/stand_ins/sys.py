"""The numbers of sys that a test compares with."""


class _Numbers:
    def __init__(self, **numbers):
        for name, number in numbers.items():
            setattr(self, name, number)


maxsize = 2**63 - 1
maxunicode = 0x10FFFF
byteorder = "little"
platform = "linux"
version_info = (3, 11, 8, "final", 0)
float_repr_style = "short"
float_info = _Numbers(
    max=float.fromhex("0x1.fffffffffffffp+1023"), max_exp=1024, max_10_exp=308, min=float.fromhex("0x1p-1022"), min_exp=-1021,
    min_10_exp=-307, dig=15, mant_dig=53, epsilon=float.fromhex("0x1p-52"), radix=2, rounds=1,
)
hash_info = _Numbers(width=64, modulus=2**61 - 1, inf=314159, nan=0, imag=1000003, algorithm="siphash13", hash_bits=64, seed_bits=128, cutoff=0)
int_info = _Numbers(bits_per_digit=30, sizeof_digit=4, default_max_str_digits=4300, str_digits_check_threshold=640)
flags = _Numbers(optimize=0, bytes_warning=0, dev_mode=False, utf8_mode=1, no_docstrings=0)
implementation = _Numbers(name="cpython")


def get_int_max_str_digits():
    return 4300


def intern(text):
    return text


def getdefaultencoding():
    return "utf-8"
