-- Slices over time
WITH newest AS (
    SELECT run_id, max(label_set_version) AS label_set_version FROM run_summary
    WHERE dataset = {{dataset}} AND metric = {{metric}} AND judge IN ('', 'external results') [[AND created_at >= {{since}}]] [[AND created_at < {{until}}]]
    GROUP BY run_id
)
SELECT h.created_at, a.value AS slice, avg(h.value) AS mean
FROM group_history h
JOIN newest n ON n.run_id = h.run_id AND n.label_set_version = h.label_set_version
JOIN group_attributes a ON a.dataset = h.dataset AND a.group_key = h.group_key AND a.attribute = {{attribute}}
WHERE h.dataset = {{dataset}} AND h.metric = {{metric}} AND h.judge IN ('', 'external results') AND a.value IS NOT NULL
GROUP BY h.created_at, h.run_id, a.value ORDER BY h.created_at, h.run_id, a.value
