"""Starting our own code in a child Python, safe from the folder it starts in."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_BOOTSTRAP = (
    "import sys; sys.path += sys.argv.pop(1).split({separator!r}); "
    "from importlib import import_module; import_module({module!r}).main()"
)


def python_child(module: str, *arguments: str) -> list[str]:
    """Return the command that runs ``module``'s ``main()`` in a Python child.

    The child finds the packages that this process finds. It is isolated: neither the folder it
    starts in nor a ``PYTHON…`` variable can put other code in their place. ``arguments`` become
    its ``sys.argv[1:]``.
    """
    bootstrap = _BOOTSTRAP.format(separator=os.pathsep, module=module)
    path = os.pathsep.join(str(Path(entry).absolute()) for entry in sys.path if entry)
    return [sys.executable, "-I", "-X", "utf8", "-c", bootstrap, path, *arguments]
