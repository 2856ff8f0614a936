-- Slices over time
WITH means AS (
    SELECT h.created_at, h.run_id, h.label_set_version, a.value AS slice, avg(h.value) AS mean,
        lag(h.label_set_version) OVER (PARTITION BY a.value ORDER BY h.created_at, h.run_id) AS labels_before
    FROM group_history h
    JOIN group_attributes a ON a.dataset = h.dataset AND a.group_key = h.group_key AND a.attribute = {{attribute}}
    WHERE h.dataset = {{dataset}} AND h.metric = {{metric}} AND h.is_newest_labels AND a.value IS NOT NULL [[AND h.created_at >= {{since}}]] [[AND h.created_at < {{until}}]]
    GROUP BY h.created_at, h.run_id, h.label_set_version, a.value
), broken AS (
    SELECT created_at, run_id, slice, mean FROM means
    UNION ALL
    SELECT created_at - interval '1 millisecond', run_id, slice, NULL FROM means
    WHERE labels_before <> label_set_version
)
SELECT created_at, slice, mean FROM broken ORDER BY created_at, run_id, slice
