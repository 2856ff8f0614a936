"""Write a dbt macro that computes a metric per group.

``python examples/dbt_macro.py ndcg@10 duckdb > macros/ndcg.sql``

In a model: ``{{ ndcg_at_10(ref('nightly_run'), ref('judgements')) }}`` gives one row per group, ``group_key`` and
``value``. The tables have the columns that ``ndcg-track metrics sql`` expects.
"""

import re
import sys

from ndcg_tracker.integrations.metric_sql import Tables, query
from ndcg_tracker.metrics.language.text import parse_metric

metric, dialect = sys.argv[1:]
text = query(parse_metric(metric), dialect, Tables(run="the_run", labels="the_labels")).rstrip(";\n")
text = text.replace("the_run", "{{ run }}").replace("the_labels", "{{ labels }}")
name = re.sub(r"\W+", "_", metric.replace("@", "_at_")).strip("_").lower()
print(f"{{# {metric}, written by ndcg-track for {dialect} #}}")
print(f"{{% macro {name}(run, labels) %}}\n{text}\n{{% endmacro %}}")
