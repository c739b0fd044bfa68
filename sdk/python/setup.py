"""Builds the package of both halves: the modules of core/sdk, which also run on chain, and those of this folder."""

import pathlib
import shutil

import setuptools
from setuptools.command.build_py import build_py

ON_CHAIN = pathlib.Path(__file__).resolve().parents[2] / "core/sdk/cowboy_sdk"


class Build(build_py):
    """An installed package has the modules of core/sdk too. An editable one finds them where they are."""

    def run(self):
        super().run()
        if not self.editable_mode:
            for path in sorted(ON_CHAIN.glob("*.py")):
                shutil.copyfile(path, pathlib.Path(self.build_lib) / "cowboy_sdk" / path.name)


setuptools.setup(cmdclass={"build_py": Build})
