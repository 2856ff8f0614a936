-- Mean over time, with its 95% interval
WITH means AS (
    SELECT h.created_at, h.run_id, h.run, h.label_set_version, avg(h.value) AS mean,
        nullif(stddev_samp(h.value), 0) / sqrt(count(h.value)) AS error, nullif(count(h.value) - 1, 0) AS df,
        lag(h.label_set_version) OVER (ORDER BY h.created_at, h.run_id) AS labels_before
    FROM group_history h
    WHERE h.dataset = {{dataset}} AND h.metric = {{metric}} AND h.is_newest_labels [[AND h.created_at >= {{since}}]] [[AND h.created_at < {{until}}]]
    GROUP BY h.created_at, h.run_id, h.run, h.label_set_version
), broken AS (
    SELECT created_at, run_id, run, mean, error, df FROM means
    UNION ALL
    SELECT created_at - interval '1 millisecond', run_id, NULL, NULL, NULL, NULL FROM means
    WHERE labels_before <> label_set_version
)
SELECT created_at, run, mean,
    mean - error * (1.959964 + 2.37227 / df + 2.8225 / df ^ 2 + 2.5559 / df ^ 3 + 1.5896 / df ^ 4) AS low,
    mean + error * (1.959964 + 2.37227 / df + 2.8225 / df ^ 2 + 2.5559 / df ^ 3 + 1.5896 / df ^ 4) AS high
FROM broken ORDER BY created_at, run_id
