"""Modules that load when they are first used, so that commands on small tables start quickly."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any, cast


class _LazyModule(ModuleType):
    """Stands for a module until one of its names is used. `importlib.util.LazyLoader` loads at the next import."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


def load_lazily(*names: str) -> None:
    """Let these modules load when they are first used instead of when they are imported.

    Examples
    --------
    >>> load_lazily("this")
    >>> import sys, this
    >>> type(sys.modules.pop("this")).__name__
    '_LazyModule'
    """
    for name in names:
        if name not in sys.modules:
            package, _, child = name.rpartition(".")
            sys.modules[name] = _LazyModule(name)
            if package:
                setattr(importlib.import_module(package), child, sys.modules[name])


def skip_slow_imports() -> None:
    """Import scikit-learn without what it and array-api-compat import but golem hardly uses.

    `scipy.stats` takes longer to import than scikit-learn itself. pandas is hidden during the import and not lazy,
    because PyArrow looks into it as soon as it is among the modules.
    """
    load_lazily("scipy.stats", "numpy.f2py")
    modules = cast(dict[str, ModuleType | None], sys.modules)
    modules.setdefault("pandas", None)
    import sklearn.base  # noqa: F401

    if modules["pandas"] is None:
        del modules["pandas"]
