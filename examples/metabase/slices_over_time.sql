-- Slices over time
SELECT h.created_at, a.value AS slice, avg(h.value) AS mean
FROM group_history h
JOIN group_attributes a ON a.dataset = h.dataset AND a.group_key = h.group_key AND a.attribute = {{attribute}}
WHERE h.dataset = {{dataset}} AND h.metric = {{metric}} AND h.is_newest_labels AND a.value IS NOT NULL [[AND h.created_at >= {{since}}]] [[AND h.created_at < {{until}}]]
GROUP BY h.created_at, h.run_id, a.value ORDER BY h.created_at, h.run_id, a.value
