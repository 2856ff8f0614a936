-- Worst groups of last night
WITH night AS (
    SELECT run_id, max(label_set_version) AS label_set_version FROM run_summary
    WHERE dataset = {{dataset}} AND metric = {{metric}} AND judge IN ('', 'external results') [[AND created_at >= {{since}}]] [[AND created_at < {{until}}]]
    GROUP BY created_at, run_id ORDER BY created_at DESC, run_id DESC LIMIT 1
)
SELECT r.group_key, r.run, r.baseline, r.baseline_value, r.value, r.delta
FROM run_regressions r
JOIN night n ON n.run_id = r.run_id AND n.label_set_version = r.label_set_version
WHERE r.dataset = {{dataset}} AND r.metric = {{metric}} AND r.judge IN ('', 'external results') AND r.against = {{against}} AND r.delta IS NOT NULL
ORDER BY r.delta, r.group_key LIMIT 20
