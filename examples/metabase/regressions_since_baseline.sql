-- Regressions since the baseline, run by run
SELECT created_at, run, baseline, avg(delta) AS delta, count(CASE WHEN delta < 0 THEN 1 END) AS n_worse,
    count(CASE WHEN delta > 0 THEN 1 END) AS n_better, count(delta) AS n_groups, label_set_version
FROM run_regressions
WHERE dataset = {{dataset}} AND metric = {{metric}} AND is_newest_labels AND against = {{against}} [[AND created_at >= {{since}}]] [[AND created_at < {{until}}]]
GROUP BY created_at, run_id, run, baseline, label_set_version
ORDER BY created_at DESC, run_id DESC
