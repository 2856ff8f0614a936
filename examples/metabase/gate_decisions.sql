-- Gate decisions
SELECT created_at, decision, baseline, candidate, metric, scope, margin, delta, ci_low, ci_high, reason,
    acknowledged_by, acknowledged_reason
FROM gate_decisions
WHERE dataset = {{dataset}} [[AND created_at >= {{since}}]] [[AND created_at < {{until}}]]
ORDER BY decision_id DESC
