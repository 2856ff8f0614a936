"""The full sizes of the reliability table: ``python -m tests.torture``, from the repository's root.

The normal suite holds a quick form of every row; what is promised and what came out is told in docs/reliability.md.
"""

import sys
from pathlib import Path

_TESTS = Path(__file__).resolve().parents[1]
for _folder in (
    _TESTS,
    *(_TESTS / name for name in ("cli", "storage", "storage/guard")),
):  # pytest puts them there by itself
    if str(_folder) not in sys.path:
        sys.path.append(str(_folder))
