# needs: tensorflow-cpu<2.16 tensorflow_ranking==0.5.5
"""Print what TensorFlow Ranking's metrics return for each list of every case, where no ties matter."""

from __future__ import annotations

import tensorflow_ranking
from cases import CASES, line

NAMES = ("NDCGMetric", "DCGMetric", "MRRMetric", "MeanAveragePrecisionMetric", "PrecisionMetric", "RecallMetric",
         "HitsMetric")  # fmt: skip
TEXTS = (
    *(f"{name}(topn={k})" for name in NAMES for k in (1, 3, 10)),
    *(f"{name}()" for name in NAMES if name != "RecallMetric"),
)
WHOLE = ("PrecisionMetric()", "HitsMetric()")


def main() -> None:
    """Print the values of every case."""
    for case in CASES:
        for text in WHOLE if case.ties else TEXTS:
            values = {}
            for group, items in case.run.items():
                if group in case.labels:
                    metric = eval(text, vars(tensorflow_ranking.keras.metrics).copy())
                    labels = [float(case.labels[group].get(item, 0)) for item in items]
                    values[group] = float(metric([labels], [[float(score) for score in items.values()]]))
            print(line(case, f"tf_ranking:{text}", None, values))


if __name__ == "__main__":
    main()
