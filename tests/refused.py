"""What is said of what is refused."""

from collections.abc import Callable
from typing import Any

import pytest

OR_ALLOW = ", or give allow='duplicates:first' or allow='duplicates:best'"
"""What follows the advice about an item that is in two rows."""
OR_ALLOW_LABELS = OR_ALLOW + " or allow='duplicates:mean'"
"""The same for labels."""


def refusal_of(kind: type[Exception], call: Callable[..., object], *given: Any, **options: Any) -> str:
    """Return the one line that a call is refused with."""
    with pytest.raises(kind) as caught:
        call(*given, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)
