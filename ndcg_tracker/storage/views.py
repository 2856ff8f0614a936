"""The public views and their columns, in order; `docs/schema.md` describes them, and migrations alone create them."""

from __future__ import annotations

_COLUMNS = {
    "run_summary": "run run_id dataset created_at_utc metric label_set_version mean n_groups n_missing n_undefined "
    "requested_as judge created_at is_newest_labels sampled",
    "group_history": "run run_id dataset group_key metric label_set_version value created_at_utc requested_as judge "
    "created_at is_newest_labels weight is_missing",
    "group_diff": "dataset baseline candidate metric label_set_version group_key baseline_value candidate_value "
    "delta requested_as judge is_newest_labels",
    "items": "run run_id dataset group_key rank item_key score",
    "labels": "dataset label_set_version group_key item_key grade judge is_newest_labels",
    "label_coverage": "run dataset label_set_version cutoff judged_share judge run_id is_newest_labels "
    "created_at_utc created_at",
    "run_details": "run run_id dataset created_at_utc git_commit source n_groups n_items created_at pruned_at_utc "
    "sampled collapsed documents_in_ten tie_order",
    "run_parameters": "run run_id dataset name value",
    "run_tags": "run run_id dataset name value",
    "run_aliases": "dataset alias run run_id updated_at_utc updated_at",
    "group_attributes": "dataset group_key attribute value number",
    "gate_decisions": "decision_id dataset created_at_utc baseline candidate baseline_alias metric label_set_version "
    "scope margin delta ci_low ci_high alpha decision reason acknowledged_reason acknowledged_by created_at "
    "decision_number judge unjudged delta_low delta_high checked_by budget looks look",
    "gate_resets": "dataset baseline reason reset_by created_at_utc",
    "drawn_labels": "dataset design judge label_set_version metric checked_by group_key item_key probability grade "
    "answered_at_utc",
    "suite_gate_decisions": "decision_id suite created_at_utc baseline candidate by_tag metric margin dataset_margin "
    "delta ci_low ci_high alpha decision reason acknowledged_reason acknowledged_by created_at decision_number judge "
    "unjudged delta_low delta_high",
    "run_regressions": "dataset run run_id created_at_utc against baseline baseline_run_id metric label_set_version "
    "judge group_key baseline_value value delta created_at is_newest_labels",
    "alias_history": "dataset alias run run_id since_utc until_utc since until",
    "dataset_list": "dataset n_runs n_groups label_set_version",
    "group_list": "dataset group_key weight",
    "run_list": "dataset run run_id place aliases created_at_utc created_at",
    "metric_list": "dataset metric requested_as n_runs",
    "labels_or_ranking": "dataset baseline candidate metric baseline_label_set_version candidate_label_set_version "
    "delta labels_change ranking_change interaction requested_as judge",
    "label_details": "dataset label_set_version judge given_by group_key item_key reason n_given std_dev model prompt",
}
VIEWS = {name: tuple(columns.split()) for name, columns in _COLUMNS.items()}
"""The columns of each view by its name."""
