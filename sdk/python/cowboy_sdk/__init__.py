"""cowboy_sdk from a clone: the modules that also run on chain are in core/sdk, those for a developer's computer are here.

An installed package has both in one folder, and the `__init__.py` of core/sdk in the place of this one.
"""

import pathlib

_on_chain = pathlib.Path(__file__).resolve().parents[3] / "core/sdk/cowboy_sdk"
__path__.append(str(_on_chain))
exec(compile((_on_chain / "__init__.py").read_text(), str(_on_chain / "__init__.py"), "exec"))
