-- One group over time
SELECT created_at, value FROM group_history
WHERE dataset = {{dataset}} AND metric = {{metric}} AND is_newest_labels AND group_key = {{group}} [[AND created_at >= {{since}}]] [[AND created_at < {{until}}]]
ORDER BY created_at, run_id
