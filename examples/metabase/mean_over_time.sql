-- Mean over time, with its 95% interval
WITH newest AS (
    SELECT run_id, max(label_set_version) AS label_set_version FROM run_summary
    WHERE dataset = {{dataset}} AND metric = {{metric}} AND judge IN ('', 'external results') [[AND created_at >= {{since}}]] [[AND created_at < {{until}}]]
    GROUP BY run_id
), means AS (
    SELECT h.created_at, h.run_id, h.run, avg(h.value) AS mean, nullif(stddev_samp(h.value), 0) / sqrt(count(h.value)) AS error,
        nullif(count(h.value) - 1, 0) AS df
    FROM group_history h
    JOIN newest n ON n.run_id = h.run_id AND n.label_set_version = h.label_set_version
    WHERE h.dataset = {{dataset}} AND h.metric = {{metric}} AND h.judge IN ('', 'external results')
    GROUP BY h.created_at, h.run_id, h.run
)
SELECT created_at, run, mean,
    mean - error * (1.959964 + 2.37227 / df + 2.8225 / df ^ 2 + 2.5559 / df ^ 3 + 1.5896 / df ^ 4) AS low,
    mean + error * (1.959964 + 2.37227 / df + 2.8225 / df ^ 2 + 2.5559 / df ^ 3 + 1.5896 / df ^ 4) AS high
FROM means ORDER BY created_at, run_id
