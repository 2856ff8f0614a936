CREATE TABLE ndcg_tracker_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT ndcg_tracker_version_pkc PRIMARY KEY (version_num)
)
;
CREATE TABLE datasets (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	created_at_utc TEXT NOT NULL, word TEXT, 
	CONSTRAINT pk_datasets PRIMARY KEY (id), 
	CONSTRAINT uq_datasets_name UNIQUE (name)
)
;
CREATE TABLE groups (
	id INTEGER NOT NULL, 
	dataset_id INTEGER NOT NULL, 
	"key" TEXT NOT NULL, 
	weight DOUBLE, 
	attributes TEXT, 
	CONSTRAINT pk_groups PRIMARY KEY (id), 
	CONSTRAINT ck_groups_weight_finite CHECK (weight >= 0 AND weight <= 1.7e308), 
	CONSTRAINT fk_groups_dataset_id FOREIGN KEY(dataset_id) REFERENCES datasets (id), 
	CONSTRAINT uq_groups_dataset_id_key UNIQUE (dataset_id, "key")
)
;
CREATE TABLE label_lists (
	label_set_id INTEGER NOT NULL, 
	group_id INTEGER NOT NULL, 
	item_keys TEXT NOT NULL, 
	grades TEXT NOT NULL, 
	CONSTRAINT pk_label_lists PRIMARY KEY (label_set_id, group_id)
)
;
CREATE TABLE runs (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	dataset_id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	created_at_utc TEXT NOT NULL, 
	source TEXT, 
	git_commit TEXT, 
	parameters TEXT NOT NULL, 
	tags TEXT NOT NULL, 
	n_groups INTEGER NOT NULL, 
	n_items INTEGER NOT NULL, dataset TEXT DEFAULT '' NOT NULL, sampled TEXT, sample_digest TEXT, collapsed TEXT, documents_in_ten DOUBLE, tie_order TEXT, stored_by TEXT, groups_share TEXT, 
	CONSTRAINT ck_runs_counts CHECK (n_groups >= 0 AND n_items >= 0), 
	CONSTRAINT fk_runs_dataset_id FOREIGN KEY(dataset_id) REFERENCES datasets (id), 
	CONSTRAINT uq_runs_dataset_id_name UNIQUE (dataset_id, name)
)
;
CREATE INDEX ix_runs_dataset_id_digest ON runs (dataset_id, digest)
;
CREATE INDEX ix_runs_name ON runs (name)
;
CREATE TABLE ranked_lists (
	run_id INTEGER NOT NULL, 
	group_id INTEGER NOT NULL, 
	item_keys TEXT NOT NULL, 
	scores TEXT NOT NULL, 
	CONSTRAINT pk_ranked_lists PRIMARY KEY (run_id, group_id)
)
;
CREATE TABLE metrics (
	id INTEGER NOT NULL, 
	text TEXT NOT NULL, 
	CONSTRAINT pk_metrics PRIMARY KEY (id), 
	CONSTRAINT uq_metrics_text UNIQUE (text)
)
;
CREATE TABLE group_results (
	evaluation_id INTEGER NOT NULL, 
	group_id INTEGER NOT NULL, 
	value DOUBLE, 
	dcg DOUBLE, 
	ideal_dcg DOUBLE, 
	undefined_reason TEXT, 
	CONSTRAINT pk_group_results PRIMARY KEY (evaluation_id, group_id), 
	CONSTRAINT ck_group_results_undefined_has_reason CHECK ((value IS NULL) = (undefined_reason IS NOT NULL)), 
	CONSTRAINT ck_group_results_value_finite CHECK (abs(value) <= 1.7e308)
)
 WITHOUT ROWID


;
CREATE TABLE coverages (
	run_id INTEGER NOT NULL, 
	label_set_id INTEGER NOT NULL, 
	cutoff INTEGER NOT NULL, 
	judged_share DOUBLE NOT NULL, 
	CONSTRAINT pk_coverages PRIMARY KEY (run_id, label_set_id, cutoff), 
	CONSTRAINT ck_coverages_cutoff CHECK (cutoff >= 0), 
	CONSTRAINT ck_coverages_judged_share CHECK (judged_share >= 0 AND judged_share <= 1), 
	CONSTRAINT fk_coverages_label_set_id FOREIGN KEY(label_set_id) REFERENCES label_sets (id), 
	CONSTRAINT fk_coverages_run_id FOREIGN KEY(run_id) REFERENCES runs (id)
)
;
CREATE TABLE aliases (
	dataset_id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	run_id INTEGER NOT NULL, 
	created_at_utc TEXT NOT NULL, 
	updated_at_utc TEXT NOT NULL, 
	CONSTRAINT pk_aliases PRIMARY KEY (dataset_id, name), 
	CONSTRAINT fk_aliases_dataset_id FOREIGN KEY(dataset_id) REFERENCES datasets (id), 
	CONSTRAINT fk_aliases_run_id FOREIGN KEY(run_id) REFERENCES runs (id)
)
;
CREATE TABLE decisions (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	dataset_id INTEGER NOT NULL, 
	baseline_run_id INTEGER, 
	candidate_run_id INTEGER, 
	baseline_run TEXT NOT NULL, 
	candidate_run TEXT NOT NULL, 
	baseline_alias TEXT, 
	metric TEXT NOT NULL, 
	label_set_id INTEGER NOT NULL, 
	scope TEXT NOT NULL, 
	margin DOUBLE, 
	delta DOUBLE, 
	ci_low DOUBLE, 
	ci_high DOUBLE, 
	alpha DOUBLE, 
	decision TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	acknowledged_reason TEXT, 
	acknowledged_by TEXT, 
	created_at_utc TEXT NOT NULL, repeats TEXT, unjudged TEXT, delta_low DOUBLE, delta_high DOUBLE, checked_by TEXT, budget DOUBLE, looks INTEGER, look INTEGER, baseline_lists TEXT, question TEXT, 
	CONSTRAINT ck_decisions_decision CHECK (decision IN ('pass', 'fail', 'inconclusive')), 
	CONSTRAINT fk_decisions_baseline_run_id FOREIGN KEY(baseline_run_id) REFERENCES runs (id), 
	CONSTRAINT fk_decisions_candidate_run_id FOREIGN KEY(candidate_run_id) REFERENCES runs (id), 
	CONSTRAINT fk_decisions_dataset_id FOREIGN KEY(dataset_id) REFERENCES datasets (id), 
	CONSTRAINT fk_decisions_label_set_id FOREIGN KEY(label_set_id) REFERENCES label_sets (id)
)
;
CREATE TABLE texts (
	dataset_id INTEGER NOT NULL, 
	group_id INTEGER NOT NULL, 
	item_key TEXT NOT NULL, 
	text TEXT, 
	title TEXT, 
	url TEXT, 
	CONSTRAINT pk_texts PRIMARY KEY (dataset_id, group_id, item_key), 
	CONSTRAINT ck_texts_of_something CHECK (group_id > 0 OR item_key <> ''), 
	CONSTRAINT fk_texts_dataset_id FOREIGN KEY(dataset_id) REFERENCES datasets (id)
)
;
CREATE TABLE label_sets (
	id INTEGER NOT NULL, 
	dataset_id INTEGER NOT NULL, 
	version INTEGER NOT NULL, 
	digest TEXT NOT NULL, 
	n_groups INTEGER NOT NULL, 
	n_labels INTEGER NOT NULL, 
	source TEXT, 
	created_at_utc TEXT NOT NULL, 
	by_row_number BOOLEAN, 
	judge TEXT DEFAULT '' NOT NULL, extends INTEGER, added_by TEXT, from_runs TEXT, same_items TEXT, 
	CONSTRAINT pk_label_sets PRIMARY KEY (id), 
	CONSTRAINT ck_label_sets_counts CHECK (n_groups >= 0 AND n_labels >= 0), 
	CONSTRAINT ck_label_sets_version_from_1 CHECK (version >= 1), 
	CONSTRAINT fk_label_sets_dataset_id FOREIGN KEY(dataset_id) REFERENCES datasets (id), 
	CONSTRAINT uq_label_sets_dataset_id_version UNIQUE (dataset_id, version)
)
;
CREATE TABLE evaluations (
	id INTEGER NOT NULL, 
	run_id INTEGER NOT NULL, 
	label_set_id INTEGER NOT NULL, 
	metric_id INTEGER NOT NULL, 
	mean DOUBLE, 
	worst_mean DOUBLE, 
	best_mean DOUBLE, 
	std_dev DOUBLE, 
	n_groups INTEGER NOT NULL, 
	n_missing INTEGER NOT NULL, 
	n_undefined INTEGER NOT NULL, 
	created_at_utc TEXT NOT NULL, 
	requested_as TEXT, 
	run TEXT NOT NULL, 
	dataset TEXT NOT NULL, 
	metric TEXT NOT NULL, 
	judge TEXT NOT NULL, 
	run_created_at_utc TEXT NOT NULL, 
	dataset_id INTEGER NOT NULL, 
	label_set_version INTEGER NOT NULL, 
	packed_group_ids BLOB, 
	packed_values BLOB, 
	CONSTRAINT pk_evaluations PRIMARY KEY (id), 
	CONSTRAINT ck_evaluations_mean_finite CHECK (abs(mean) <= 1.7e308), 
	CONSTRAINT ck_evaluations_counts CHECK (n_groups >= 0 AND n_missing >= 0 AND n_undefined >= 0), 
	CONSTRAINT fk_evaluations_label_set_id FOREIGN KEY(label_set_id) REFERENCES label_sets (id), 
	CONSTRAINT fk_evaluations_metric_id FOREIGN KEY(metric_id) REFERENCES metrics (id), 
	CONSTRAINT fk_evaluations_run_id FOREIGN KEY(run_id) REFERENCES runs (id), 
	CONSTRAINT uq_evaluations_run_id_label_set_id_metric_id UNIQUE (run_id, label_set_id, metric_id)
)
;
CREATE INDEX ix_evaluations_run_metric ON evaluations (run, metric)
;
CREATE INDEX ix_groups_key ON groups ("key")
;
CREATE TABLE alias_moves (
	id INTEGER NOT NULL, 
	dataset_id INTEGER NOT NULL, 
	alias TEXT NOT NULL, 
	run_id INTEGER, 
	run TEXT, 
	created_at_utc TEXT NOT NULL, 
	CONSTRAINT pk_alias_moves PRIMARY KEY (id), 
	CONSTRAINT fk_alias_moves_dataset_id FOREIGN KEY(dataset_id) REFERENCES datasets (id), 
	CONSTRAINT fk_alias_moves_run_id FOREIGN KEY(run_id) REFERENCES runs (id)
)
;
ANALYZE sqlite_master
;
CREATE TABLE prunings (
	run_id INTEGER NOT NULL, 
	created_at_utc TEXT NOT NULL, 
	summaries_only BOOLEAN NOT NULL, 
	packed_group_ids BLOB NOT NULL, 
	kept_share DOUBLE, 
	CONSTRAINT pk_prunings PRIMARY KEY (run_id), 
	CONSTRAINT fk_prunings_run_id FOREIGN KEY(run_id) REFERENCES runs (id)
)
;
CREATE TABLE paired_sums (
	evaluation_id INTEGER NOT NULL, 
	baseline_run_id INTEGER NOT NULL, 
	n_groups INTEGER NOT NULL, 
	baseline_mean DOUBLE NOT NULL, 
	delta DOUBLE NOT NULL, 
	m2 DOUBLE NOT NULL, 
	m3 DOUBLE NOT NULL, 
	wins INTEGER NOT NULL, 
	losses INTEGER NOT NULL, 
	only_in_baseline INTEGER NOT NULL, 
	only_in_candidate INTEGER NOT NULL, 
	n_undefined INTEGER NOT NULL, 
	details TEXT NOT NULL, 
	created_at_utc TEXT NOT NULL, 
	CONSTRAINT pk_paired_sums PRIMARY KEY (evaluation_id, baseline_run_id), 
	CONSTRAINT ck_paired_sums_counts CHECK (n_groups >= 0 AND wins >= 0 AND losses >= 0 AND wins + losses <= n_groups), 
	CONSTRAINT ck_paired_sums_finite CHECK (m2 >= 0 AND m2 <= 1.7e308 AND abs(delta) <= 1.7e308), 
	CONSTRAINT fk_paired_sums_evaluation_id FOREIGN KEY(evaluation_id) REFERENCES evaluations (id), 
	CONSTRAINT fk_paired_sums_baseline_run_id FOREIGN KEY(baseline_run_id) REFERENCES runs (id)
)
;
CREATE INDEX ix_paired_sums_baseline_run_id ON paired_sums (baseline_run_id)
;
CREATE TABLE suite_datasets (
	suite TEXT NOT NULL, 
	dataset_id INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	created_at_utc TEXT NOT NULL, 
	CONSTRAINT pk_suite_datasets PRIMARY KEY (suite, dataset_id), 
	CONSTRAINT fk_suite_datasets_dataset_id FOREIGN KEY(dataset_id) REFERENCES datasets (id)
)
;
CREATE TABLE suite_decisions (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	suite TEXT NOT NULL, 
	baseline TEXT NOT NULL, 
	candidate TEXT NOT NULL, 
	by_tag TEXT, 
	runs TEXT NOT NULL, 
	metric TEXT NOT NULL, 
	margin DOUBLE NOT NULL, 
	dataset_margin DOUBLE, 
	delta DOUBLE, 
	ci_low DOUBLE, 
	ci_high DOUBLE, 
	alpha DOUBLE, 
	decision TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	acknowledged_reason TEXT, 
	acknowledged_by TEXT, 
	created_at_utc TEXT NOT NULL, unjudged TEXT, delta_low DOUBLE, delta_high DOUBLE, judge TEXT DEFAULT '' NOT NULL, question TEXT, 
	CONSTRAINT ck_suite_decisions_decision CHECK (decision IN ('pass', 'fail', 'inconclusive'))
)
;
CREATE VIEW suite_gate_decisions AS SELECT id AS decision_id, suite AS suite, created_at_utc AS created_at_utc, baseline AS baseline,
               candidate AS candidate, by_tag AS by_tag, metric AS metric, margin AS margin,
               dataset_margin AS dataset_margin, delta AS delta, ci_low AS ci_low, ci_high AS ci_high, alpha AS alpha,
               decision AS decision, reason AS reason, acknowledged_reason AS acknowledged_reason,
               acknowledged_by AS acknowledged_by, created_at_utc AS created_at,
               row_number() OVER (PARTITION BY suite, metric, baseline, judge ORDER BY id) AS decision_number,
               judge AS judge,
               unjudged AS unjudged,
               delta_low AS delta_low,
               delta_high AS delta_high
        FROM suite_decisions
;
CREATE TABLE design_runs (
	design_id INTEGER NOT NULL, 
	place INTEGER NOT NULL, 
	run_id INTEGER, 
	run TEXT NOT NULL, 
	CONSTRAINT pk_design_runs PRIMARY KEY (design_id, place), 
	CONSTRAINT ck_design_runs_place_from_0 CHECK (place >= 0), 
	CONSTRAINT fk_design_runs_design_id FOREIGN KEY(design_id) REFERENCES designs (id), 
	CONSTRAINT fk_design_runs_run_id FOREIGN KEY(run_id) REFERENCES runs (id)
)
;
CREATE TABLE designs (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	dataset_id INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	label_set_id INTEGER NOT NULL, 
	checked_by TEXT, 
	metric TEXT NOT NULL, 
	n_looks INTEGER NOT NULL, 
	look INTEGER NOT NULL, 
	planned_budget INTEGER NOT NULL, 
	budget INTEGER NOT NULL, 
	seed TEXT NOT NULL, 
	not_tuned BOOLEAN NOT NULL, 
	greatest_grade DOUBLE, 
	created_at_utc TEXT NOT NULL, 
	answered_after_run_id INTEGER, 
	answered_after_label_set_id INTEGER, kind TEXT DEFAULT 'items' NOT NULL, 
	CONSTRAINT ck_designs_counts CHECK (number >= 1 AND budget >= 1 AND planned_budget >= budget), 
	CONSTRAINT ck_designs_looks CHECK (look >= 1 AND look <= n_looks), 
	CONSTRAINT ck_designs_greatest_grade_finite CHECK (abs(greatest_grade) <= 1.7e308), 
	CONSTRAINT fk_designs_dataset_id FOREIGN KEY(dataset_id) REFERENCES datasets (id), 
	CONSTRAINT fk_designs_label_set_id FOREIGN KEY(label_set_id) REFERENCES label_sets (id), 
	CONSTRAINT uq_designs_dataset_id_number UNIQUE (dataset_id, number)
)
;
CREATE TABLE drawn_items (
	design_id INTEGER NOT NULL, 
	group_id INTEGER NOT NULL, 
	item_key TEXT NOT NULL, 
	probability DOUBLE, 
	grade DOUBLE, 
	answered_at_utc TEXT, answered_after_run_id INTEGER, 
	CONSTRAINT pk_drawn_items PRIMARY KEY (design_id, group_id, item_key), 
	CONSTRAINT ck_drawn_items_probability CHECK (probability > 0 AND probability <= 1), 
	CONSTRAINT ck_drawn_items_grade_finite CHECK (abs(grade) <= 1.7e308), 
	CONSTRAINT ck_drawn_items_answered CHECK ((grade IS NULL) = (answered_at_utc IS NULL)), 
	CONSTRAINT ck_drawn_items_kept_apart CHECK (probability IS NOT NULL OR grade IS NOT NULL), 
	CONSTRAINT fk_drawn_items_design_id FOREIGN KEY(design_id) REFERENCES designs (id), 
	CONSTRAINT fk_drawn_items_group_id FOREIGN KEY(group_id) REFERENCES groups (id)
)
;
CREATE TABLE budget_resets (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	dataset_id INTEGER NOT NULL, 
	baseline_run TEXT NOT NULL, 
	baseline_lists TEXT NOT NULL, 
	reason TEXT NOT NULL, 
	reset_by TEXT NOT NULL, 
	after_decision_id INTEGER NOT NULL, 
	created_at_utc TEXT NOT NULL, alias TEXT, 
	CONSTRAINT fk_budget_resets_dataset_id FOREIGN KEY(dataset_id) REFERENCES datasets (id)
)
;
CREATE TABLE seals (
	dataset_id INTEGER NOT NULL, 
	is_sealed BOOLEAN NOT NULL, 
	budget DOUBLE, 
	looks INTEGER, 
	split TEXT, 
	created_at_utc TEXT NOT NULL, metric TEXT, margin DOUBLE, baseline_run TEXT, 
	CONSTRAINT pk_seals PRIMARY KEY (dataset_id), 
	CONSTRAINT fk_seals_dataset_id FOREIGN KEY(dataset_id) REFERENCES datasets (id)
)
;
CREATE TABLE policies (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	dataset_id INTEGER NOT NULL, 
	alias TEXT NOT NULL, 
	rules TEXT NOT NULL, 
	set_by TEXT NOT NULL, 
	set_at_utc TEXT NOT NULL, 
	CONSTRAINT fk_policies_dataset_id FOREIGN KEY(dataset_id) REFERENCES datasets (id)
)
;
CREATE VIEW metric_list AS SELECT e.dataset AS dataset, e.metric AS metric, max(coalesce(e.requested_as, e.metric)) AS requested_as,
               count(DISTINCT e.run_id) AS n_runs
        FROM evaluations e
        GROUP BY e.dataset, e.metric
;
CREATE VIEW items AS SELECT r.name AS run, r.id AS run_id, r.dataset AS dataset, g.key AS group_key, i.key + 1 AS rank,
               i.value AS item_key, CAST(json_extract(l.scores, '$[' || i.key || ']') AS REAL) AS score
        FROM runs r
        JOIN groups g ON g.dataset_id = r.dataset_id
        JOIN ranked_lists l ON l.run_id = r.id AND l.group_id = g.id
        JOIN json_each(l.item_keys) i
;
CREATE VIEW run_list AS SELECT r.dataset AS dataset, r.name AS run, r.id AS run_id,
               row_number() OVER (PARTITION BY r.dataset ORDER BY r.created_at_utc DESC, r.id DESC) AS place,
               (SELECT group_concat('@' || a.name, ' ') FROM aliases a WHERE a.run_id = r.id AND a.dataset_id = r.dataset_id) AS aliases,
               r.created_at_utc AS created_at_utc, r.created_at_utc AS created_at
        FROM runs r
;
CREATE VIEW run_parameters AS SELECT r.name AS run, r.id AS run_id, r.dataset AS dataset, e.key AS name,
               CASE WHEN e.type IN ('true', 'false') THEN e.type ELSE CAST(e.value AS TEXT) END AS value
        FROM runs r
        JOIN json_each(r.parameters) e
;
CREATE VIEW run_tags AS SELECT r.name AS run, r.id AS run_id, r.dataset AS dataset, e.key AS name,
               CASE WHEN e.type IN ('true', 'false') THEN e.type ELSE CAST(e.value AS TEXT) END AS value
        FROM runs r
        JOIN json_each(r.tags) e
;
CREATE VIEW run_aliases AS SELECT r.dataset AS dataset, a.name AS alias, r.name AS run, r.id AS run_id,
               a.updated_at_utc AS updated_at_utc, a.updated_at_utc AS updated_at
        FROM aliases a
        JOIN runs r ON r.id = a.run_id
;
CREATE VIEW gate_resets AS SELECT d.name AS dataset, r.baseline_run AS baseline, r.reason AS reason, r.reset_by AS reset_by,
               r.created_at_utc AS created_at_utc
        FROM budget_resets r
        JOIN datasets d ON d.id = r.dataset_id
;
CREATE VIEW group_diff AS SELECT eb.dataset AS dataset, eb.run AS baseline, ec.run AS candidate, eb.metric AS metric,
               eb.label_set_version AS label_set_version, g.key AS group_key, vb.value AS baseline_value,
               vc.value AS candidate_value, vc.value - vb.value AS delta,
               coalesce(ec.requested_as, eb.requested_as, eb.metric) AS requested_as,
               eb.judge AS judge,
               (eb.judge IN ('', 'external results', 'sums of other engines') AND NOT EXISTS (
                   SELECT 1 FROM evaluations n
                   JOIN evaluations m ON m.label_set_id = n.label_set_id AND m.metric_id = n.metric_id
                   WHERE n.run_id = eb.run_id AND m.run_id = ec.run_id AND n.metric_id = eb.metric_id
                         AND n.judge IN ('', 'external results', 'sums of other engines') AND n.label_set_version > eb.label_set_version
               )) AS is_newest_labels
        FROM evaluations eb
        JOIN evaluations ec ON ec.label_set_id = eb.label_set_id AND ec.metric_id = eb.metric_id
             AND ec.run_id <> eb.run_id
        JOIN group_results vc ON vc.evaluation_id = ec.id
        JOIN group_results vb ON vb.evaluation_id = eb.id AND vb.group_id = vc.group_id
        JOIN groups g ON g.id = vc.group_id AND g.dataset_id = eb.dataset_id
;
CREATE VIEW run_regressions AS SELECT p.dataset AS dataset, p.run AS run, p.run_id AS run_id, p.created_at_utc AS created_at_utc,
               p.against AS against, p.baseline AS baseline, p.baseline_run_id AS baseline_run_id, p.metric AS metric,
               p.label_set_version AS label_set_version, p.judge AS judge, g.key AS group_key,
               vb.value AS baseline_value, vc.value AS value, vc.value - vb.value AS delta,
               p.created_at_utc AS created_at, p.is_newest_labels AS is_newest_labels
        FROM (
            SELECT w.dataset_id, w.dataset, w.run, w.run_id, w.created_at_utc, 'previous' AS against, w.baseline,
                   w.baseline_run_id, w.metric, w.label_set_version, w.judge, w.evaluation_id, w.baseline_id,
                   w.is_newest_labels
            FROM (
                SELECT x.*, x.is_unnamed AND row_number() OVER (
                           PARTITION BY x.dataset, x.run_id, x.metric, x.is_unnamed
                           ORDER BY x.baseline_created_at_utc DESC, x.baseline_run_id DESC, x.label_set_version DESC
                       ) = 1 AS is_newest_labels
                FROM (
                    SELECT e.dataset_id, e.dataset, e.run, e.run_id, e.run_created_at_utc AS created_at_utc,
                           lag(e.run) OVER earlier AS baseline, lag(e.run_id) OVER earlier AS baseline_run_id, e.metric,
                           e.label_set_version, e.judge, e.id AS evaluation_id, lag(e.id) OVER earlier AS baseline_id,
                           lag(e.run_created_at_utc) OVER earlier AS baseline_created_at_utc,
                           e.judge IN ('', 'external results', 'sums of other engines') AS is_unnamed
                    FROM evaluations e
                    WINDOW earlier AS (
                        PARTITION BY e.label_set_id, e.metric_id, e.dataset, e.metric, e.label_set_version, e.judge
                        ORDER BY e.run_created_at_utc, e.run_id
                    )
                ) x
                WHERE x.baseline_id IS NOT NULL
            ) w
            UNION ALL
            SELECT e.dataset_id, e.dataset, e.run, e.run_id, e.run_created_at_utc,
                   '@' || a.name, b.run, b.run_id, e.metric,
                   e.label_set_version, e.judge, e.id, b.id,
                   (b.judge IN ('', 'external results', 'sums of other engines') AND NOT EXISTS (
                   SELECT 1 FROM evaluations n
                   JOIN evaluations m ON m.label_set_id = n.label_set_id AND m.metric_id = n.metric_id
                   WHERE n.run_id = b.run_id AND m.run_id = e.run_id AND n.metric_id = b.metric_id
                         AND n.judge IN ('', 'external results', 'sums of other engines') AND n.label_set_version > b.label_set_version
               ))
            FROM aliases a
            JOIN evaluations b ON b.run_id = a.run_id
            JOIN evaluations e ON e.label_set_id = b.label_set_id AND e.metric_id = b.metric_id
                 AND e.run_id <> b.run_id
        ) p
        JOIN group_results vc ON vc.evaluation_id = p.evaluation_id
        JOIN group_results vb ON vb.evaluation_id = p.baseline_id AND vb.group_id = vc.group_id
        JOIN groups g ON g.id = vc.group_id
;
CREATE VIEW alias_history AS SELECT h.dataset AS dataset, h.alias AS alias, h.run AS run, h.run_id AS run_id,
               h.since_utc AS since_utc, h.until_utc AS until_utc, h.since_utc AS since, h.until_utc AS until
        FROM (
            SELECT d.name AS dataset, m.alias, m.run, m.run_id, m.created_at_utc AS since_utc,
                   lead(m.created_at_utc) OVER (PARTITION BY m.dataset_id, m.alias ORDER BY m.id) AS until_utc
            FROM alias_moves m
            JOIN datasets d ON d.id = m.dataset_id
        ) h
        WHERE h.run IS NOT NULL
;
CREATE VIEW labels AS SELECT d.name AS dataset, s.version AS label_set_version, g.key AS group_key, i.value AS item_key,
                   CAST(json_extract(l.grades, '$[' || i.key || ']') AS REAL) AS grade, s.judge AS judge,
               (s.judge = '' AND NOT EXISTS (
                   SELECT 1 FROM label_sets n
                   WHERE n.dataset_id = s.dataset_id AND n.judge = '' AND n.version > s.version
               )) AS is_newest_labels
            FROM label_sets s
            JOIN datasets d ON d.id = s.dataset_id
            JOIN groups g ON g.dataset_id = s.dataset_id
            JOIN label_lists l ON l.label_set_id = s.id AND l.group_id = g.id
            JOIN json_each(l.item_keys) i
;
CREATE VIEW drawn_labels AS SELECT d.name AS dataset, e.number AS design, s.judge AS judge, s.version AS label_set_version,
               e.metric AS metric, e.checked_by AS checked_by, g.key AS group_key, i.item_key AS item_key,
               i.probability AS probability, i.grade AS grade, i.answered_at_utc AS answered_at_utc
        FROM drawn_items i
        JOIN designs e ON e.id = i.design_id
        JOIN datasets d ON d.id = e.dataset_id
        JOIN label_sets s ON s.id = e.label_set_id
        JOIN groups g ON g.id = i.group_id
;
CREATE VIEW gate_decisions AS SELECT c.id AS decision_id, d.name AS dataset, c.created_at_utc AS created_at_utc, c.baseline_run AS baseline,
               c.candidate_run AS candidate, c.baseline_alias AS baseline_alias, c.metric AS metric,
               s.version AS label_set_version, c.scope AS scope, c.margin AS margin, c.delta AS delta,
               c.ci_low AS ci_low, c.ci_high AS ci_high, c.alpha AS alpha, c.decision AS decision,
               c.reason AS reason, c.acknowledged_reason AS acknowledged_reason, c.acknowledged_by AS acknowledged_by,
               c.created_at_utc AS created_at,
               row_number() OVER (PARTITION BY c.dataset_id, c.metric, c.baseline_alias, c.scope, s.judge, c.checked_by ORDER BY c.id) AS decision_number,
               s.judge AS judge,
               c.unjudged AS unjudged,
               c.delta_low AS delta_low,
               c.delta_high AS delta_high,
               c.checked_by AS checked_by,
               c.budget AS budget,
               c.looks AS looks,
               c.look AS look
        FROM decisions c
        JOIN datasets d ON d.id = c.dataset_id
        JOIN label_sets s ON s.id = c.label_set_id
;
CREATE VIEW group_attributes AS SELECT d.name AS dataset, g.key AS group_key, e.key AS attribute,
                   CASE WHEN e.type = 'text' THEN e.value END AS value,
                   CASE WHEN e.type IN ('integer', 'real') THEN CAST(e.value AS REAL) END AS number
            FROM groups g
            JOIN datasets d ON d.id = g.dataset_id
            JOIN json_each(g.attributes) e
;
CREATE VIEW run_summary AS SELECT e.run AS run, e.run_id AS run_id, e.dataset AS dataset, e.run_created_at_utc AS created_at_utc,
               e.metric AS metric, e.label_set_version AS label_set_version, e.mean AS mean, e.n_groups AS n_groups,
               e.n_missing AS n_missing, e.n_undefined AS n_undefined,
               coalesce(e.requested_as, e.metric) AS requested_as, e.judge AS judge, e.run_created_at_utc AS created_at,
               (e.judge IN ('', 'external results', 'sums of other engines') AND NOT EXISTS (
                   SELECT 1 FROM evaluations n
                   WHERE n.run_id = e.run_id AND n.metric_id = e.metric_id AND n.judge IN ('', 'external results', 'sums of other engines')
                         AND n.label_set_version > e.label_set_version
               )) AS is_newest_labels,
               (SELECT r.sampled FROM runs r WHERE r.id = e.run_id) AS sampled
        FROM evaluations e
;
CREATE VIEW run_details AS SELECT r.name AS run, r.id AS run_id, r.dataset AS dataset, r.created_at_utc AS created_at_utc,
               r.git_commit AS git_commit, r.source AS source, r.n_groups AS n_groups, r.n_items AS n_items,
               r.created_at_utc AS created_at,
               (SELECT p.created_at_utc FROM prunings p WHERE p.run_id = r.id) AS pruned_at_utc,
               r.sampled AS sampled, r.collapsed AS collapsed, r.documents_in_ten AS documents_in_ten,
               r.tie_order AS tie_order
        FROM runs r
;
CREATE VIEW group_history AS SELECT e.run AS run, e.run_id AS run_id, e.dataset AS dataset, g.key AS group_key, e.metric AS metric,
               e.label_set_version AS label_set_version, v.value AS value, e.run_created_at_utc AS created_at_utc,
               coalesce(e.requested_as, e.metric) AS requested_as, e.judge AS judge, e.run_created_at_utc AS created_at,
               (e.judge IN ('', 'external results', 'sums of other engines') AND NOT EXISTS (
                   SELECT 1 FROM evaluations n
                   WHERE n.run_id = e.run_id AND n.metric_id = e.metric_id AND n.judge IN ('', 'external results', 'sums of other engines')
                         AND n.label_set_version > e.label_set_version
               )) AS is_newest_labels,
               g.weight AS weight,
               CASE WHEN e.judge IN ('external results', 'sums of other engines') THEN NULL
                    WHEN v.undefined_reason = 'missing from the run' THEN true
                    WHEN e.n_missing = 0 OR v.dcg <> 0 THEN false
                    WHEN EXISTS (SELECT 1 FROM ranked_lists l WHERE l.run_id = e.run_id AND l.group_id = v.group_id)
                    THEN false
                    WHEN EXISTS (SELECT 1 FROM prunings p WHERE p.run_id = e.run_id) THEN NULL
                    ELSE true END AS is_missing
        FROM evaluations e
        JOIN group_results v ON v.evaluation_id = e.id
        JOIN groups g ON g.id = v.group_id AND g.dataset_id = e.dataset_id
;
CREATE VIEW label_coverage AS SELECT r.name AS run, d.name AS dataset, s.version AS label_set_version,
               nullif(c.cutoff, 0) AS cutoff, c.judged_share AS judged_share, s.judge AS judge,
               c.run_id AS run_id,
               (s.judge IN ('', 'external results', 'sums of other engines') AND NOT EXISTS (
                   SELECT 1 FROM coverages n
                   JOIN label_sets t ON t.id = n.label_set_id
                   WHERE n.run_id = c.run_id AND n.cutoff = c.cutoff AND t.judge IN ('', 'external results', 'sums of other engines') AND t.version > s.version
               )) AS is_newest_labels,
               r.created_at_utc AS created_at_utc,
               r.created_at_utc AS created_at
        FROM coverages c
        JOIN runs r ON r.id = c.run_id
        JOIN datasets d ON d.id = r.dataset_id
        JOIN label_sets s ON s.id = c.label_set_id
;
CREATE VIEW dataset_list AS SELECT d.name AS dataset, (SELECT count(*) FROM runs r WHERE r.dataset_id = d.id) AS n_runs,
               (SELECT count(*) FROM groups g WHERE g.key <> '' AND g.dataset_id = d.id) AS n_groups,
               (SELECT max(s.version) FROM label_sets s WHERE s.dataset_id = d.id AND s.judge = '')
               AS label_set_version
        FROM datasets d
;
CREATE VIEW group_list AS SELECT d.name AS dataset, g.key AS group_key, g.weight AS weight
        FROM groups g
        JOIN datasets d ON d.id = g.dataset_id
        WHERE g.key <> ''
;
CREATE VIEW labels_or_ranking AS SELECT ba.dataset AS dataset, ba.run AS baseline, cb.run AS candidate, ba.metric AS metric,
               ba.label_set_version AS baseline_label_set_version, cb.label_set_version AS candidate_label_set_version,
               cb.mean - ba.mean AS delta,
               (bb.mean - ba.mean + cb.mean - ca.mean) / 2 AS labels_change,
               (ca.mean - ba.mean + cb.mean - bb.mean) / 2 AS ranking_change,
               (cb.mean - ca.mean) - (bb.mean - ba.mean) AS interaction,
               coalesce(cb.requested_as, ba.requested_as, ba.metric) AS requested_as, ba.judge AS judge
        FROM evaluations ba
        JOIN evaluations bb ON bb.run_id = ba.run_id AND bb.metric_id = ba.metric_id AND bb.judge = ba.judge
             AND bb.label_set_id <> ba.label_set_id
        JOIN evaluations cb ON cb.label_set_id = bb.label_set_id AND cb.metric_id = ba.metric_id
             AND cb.run_id <> ba.run_id
        JOIN evaluations ca ON ca.run_id = cb.run_id AND ca.label_set_id = ba.label_set_id
             AND ca.metric_id = ba.metric_id
        JOIN runs b ON b.id = ba.run_id
        JOIN runs c ON c.id = cb.run_id
        WHERE coalesce(b.sample_digest, '') = coalesce(c.sample_digest, '')
;
CREATE TABLE label_reasons (
	label_set_id INTEGER NOT NULL, 
	group_id INTEGER NOT NULL, 
	item_key TEXT NOT NULL, 
	reason TEXT, 
	n_given INTEGER NOT NULL, 
	std_dev DOUBLE NOT NULL, 
	CONSTRAINT pk_label_reasons PRIMARY KEY (label_set_id, group_id, item_key), 
	CONSTRAINT ck_label_reasons_given CHECK (n_given >= 1), 
	CONSTRAINT ck_label_reasons_std_dev CHECK (std_dev >= 0 AND std_dev <= 1.7e308), 
	CONSTRAINT fk_label_reasons_label_set_id FOREIGN KEY(label_set_id) REFERENCES label_sets (id), 
	CONSTRAINT fk_label_reasons_group_id FOREIGN KEY(group_id) REFERENCES groups (id)
)
;
CREATE VIEW label_details AS SELECT d.name AS dataset, s.version AS label_set_version, s.judge AS judge,
               coalesce(s.added_by, s.judge) AS given_by, g.key AS group_key, t.item_key AS item_key,
               t.reason AS reason, t.n_given AS n_given, t.std_dev AS std_dev, json_extract(s.from_runs, '$.model[0]') AS model, json_extract(s.from_runs, '$.prompt[0]') AS prompt
        FROM label_reasons t
        JOIN label_sets s ON s.id = t.label_set_id
        JOIN datasets d ON d.id = s.dataset_id
        JOIN groups g ON g.id = t.group_id
;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('datasets', 'sqlite_autoindex_datasets_1', '5 1')
;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('metrics', 'sqlite_autoindex_metrics_1', '10 1')
;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('label_sets', 'sqlite_autoindex_label_sets_1', '10 2 1')
;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('aliases', 'sqlite_autoindex_aliases_1', '10 2 1')
;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('groups', 'sqlite_autoindex_groups_1', '1000000 50000 1')
;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('groups', 'ix_groups_key', '1000000 2')
;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('runs', 'sqlite_autoindex_runs_1', '1000 200 1')
;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('runs', 'ix_runs_dataset_id_digest', '1000 200 1')
;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('runs', 'ix_runs_name', '1000 1')
;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('evaluations', 'sqlite_autoindex_evaluations_1', '2000 3 3 1')
;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('evaluations', 'ix_evaluations_run_metric', '2000 3 1')
;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('coverages', 'sqlite_autoindex_coverages_1', '5000 5 4 1')
;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('label_lists', 'sqlite_autoindex_label_lists_1', '5000 500 1')
;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('ranked_lists', 'sqlite_autoindex_ranked_lists_1', '5000000 500 1')
;
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('group_results', 'group_results', '10000000 500 1')
;
INSERT INTO ndcg_tracker_version (version_num) VALUES ('0032')
