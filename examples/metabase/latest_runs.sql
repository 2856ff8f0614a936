-- Latest runs
SELECT r.created_at, r.run, r.aliases, s.mean, s.n_groups, s.n_missing, s.label_set_version, d.git_commit
FROM run_list r
JOIN run_details d ON d.run_id = r.run_id
LEFT JOIN run_summary s ON s.run_id = r.run_id AND s.metric = {{metric}} AND s.is_newest_labels
WHERE r.dataset = {{dataset}} AND r.place <= 20 [[AND r.created_at >= {{since}}]] [[AND r.created_at < {{until}}]]
ORDER BY r.place
