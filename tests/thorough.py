"""How many examples a slow property tries: a part of them in the suite, all of them in the nightly."""

import os

LONG = os.environ.get("NDCG_TEST_LONG") == "1"


def examples(thorough: int) -> int:
    """Return ``thorough`` where NDCG_TEST_LONG=1 is set, a tenth of it in the suite: each run draws others."""
    return thorough if LONG else -(-thorough // 10)
