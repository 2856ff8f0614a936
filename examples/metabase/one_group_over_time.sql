-- One group over time
WITH nights AS (
    SELECT h.created_at, h.run_id, h.label_set_version, h.value, h.is_missing,
        lag(h.label_set_version) OVER (ORDER BY h.created_at, h.run_id) AS labels_before
    FROM group_history h
    WHERE h.dataset = {{dataset}} AND h.metric = {{metric}} AND h.is_newest_labels AND h.group_key = {{group}} [[AND h.created_at >= {{since}}]] [[AND h.created_at < {{until}}]]
), broken AS (
    SELECT created_at, run_id, CASE WHEN is_missing THEN NULL ELSE value END AS value FROM nights
    UNION ALL
    SELECT created_at - interval '1 millisecond', run_id, NULL FROM nights
    WHERE labels_before <> label_set_version
)
SELECT created_at, value FROM broken ORDER BY created_at, run_id
