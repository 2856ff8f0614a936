"""Rankings and labels as columns, the only form in which data passes between the layers, and their array types."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
"""UTF-8 text, one id after the other."""

Index = NDArray[np.int64]
"""Rows, places, counts and offsets."""

Hash = NDArray[np.uint64]
"""Hashes of ids."""

Numbers = NDArray[np.int64] | NDArray[np.int32]
"""Ids that are whole numbers."""

Mask = NDArray[np.bool_]
"""A selection of rows."""

Floats = NDArray[np.float64]
"""Scores, labels, values of metrics, and numbers computed from them."""
