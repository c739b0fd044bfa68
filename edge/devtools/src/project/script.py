"""Any Python for the VM: `cowboy vm run script.py --stats` prints what CPython 3.11 prints, and the cycles it took."""

print(sum(range(10)))
