-- Worst groups of last night
WITH night AS (
    SELECT run_id FROM run_summary
    WHERE dataset = {{dataset}} AND metric = {{metric}} AND is_newest_labels [[AND created_at >= {{since}}]] [[AND created_at < {{until}}]]
    ORDER BY created_at DESC, run_id DESC LIMIT 1
)
SELECT r.group_key, r.run, r.baseline, r.baseline_value, r.value, r.delta
FROM run_regressions r
JOIN night n ON n.run_id = r.run_id
WHERE r.dataset = {{dataset}} AND r.metric = {{metric}} AND r.is_newest_labels AND r.against = {{against}} AND r.delta IS NOT NULL
ORDER BY r.delta, r.group_key LIMIT 20
