CREATE TABLE ndcg_tracker_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT ndcg_tracker_version_pkc PRIMARY KEY (version_num)
)
;
CREATE TABLE datasets (
	id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	created_at_utc TEXT NOT NULL, 
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
	n_items INTEGER NOT NULL, 
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
	created_at_utc TEXT NOT NULL, 
	CONSTRAINT ck_decisions_decision CHECK (decision IN ('pass', 'fail', 'inconclusive')), 
	CONSTRAINT fk_decisions_baseline_run_id FOREIGN KEY(baseline_run_id) REFERENCES runs (id), 
	CONSTRAINT fk_decisions_candidate_run_id FOREIGN KEY(candidate_run_id) REFERENCES runs (id), 
	CONSTRAINT fk_decisions_dataset_id FOREIGN KEY(dataset_id) REFERENCES datasets (id), 
	CONSTRAINT fk_decisions_label_set_id FOREIGN KEY(label_set_id) REFERENCES label_sets (id)
)
;
CREATE VIEW items AS SELECT r.name AS run, r.id AS run_id, d.name AS dataset, g.key AS group_key, i.key + 1 AS rank,
                   i.value AS item_key, CAST(json_extract(l.scores, '$[' || i.key || ']') AS REAL) AS score
            FROM runs r
            JOIN datasets d ON d.id = r.dataset_id
            JOIN groups g ON g.dataset_id = r.dataset_id
            JOIN ranked_lists l ON l.run_id = r.id AND l.group_id = g.id
            JOIN json_each(l.item_keys) i
;
CREATE VIEW run_details AS SELECT r.name AS run, r.id AS run_id, d.name AS dataset, r.created_at_utc AS created_at_utc,
               r.git_commit AS git_commit, r.source AS source, r.n_groups AS n_groups, r.n_items AS n_items
        FROM runs r
        JOIN datasets d ON d.id = r.dataset_id
;
CREATE VIEW run_aliases AS SELECT d.name AS dataset, a.name AS alias, r.name AS run, r.id AS run_id, a.updated_at_utc AS updated_at_utc
        FROM aliases a
        JOIN datasets d ON d.id = a.dataset_id
        JOIN runs r ON r.id = a.run_id
;
CREATE VIEW gate_decisions AS SELECT c.id AS decision_id, d.name AS dataset, c.created_at_utc AS created_at_utc, c.baseline_run AS baseline,
               c.candidate_run AS candidate, c.baseline_alias AS baseline_alias, c.metric AS metric,
               s.version AS label_set_version, c.scope AS scope, c.margin AS margin, c.delta AS delta,
               c.ci_low AS ci_low, c.ci_high AS ci_high, c.alpha AS alpha, c.decision AS decision,
               c.reason AS reason, c.acknowledged_reason AS acknowledged_reason, c.acknowledged_by AS acknowledged_by
        FROM decisions c
        JOIN datasets d ON d.id = c.dataset_id
        JOIN label_sets s ON s.id = c.label_set_id
;
CREATE VIEW run_parameters AS SELECT r.name AS run, r.id AS run_id, d.name AS dataset, e.key AS name,
                   CASE WHEN e.type IN ('true', 'false') THEN e.type ELSE CAST(e.value AS TEXT) END AS value
            FROM runs r
            JOIN datasets d ON d.id = r.dataset_id
            JOIN json_each(r.parameters) e
;
CREATE VIEW run_tags AS SELECT r.name AS run, r.id AS run_id, d.name AS dataset, e.key AS name,
                   CASE WHEN e.type IN ('true', 'false') THEN e.type ELSE CAST(e.value AS TEXT) END AS value
            FROM runs r
            JOIN datasets d ON d.id = r.dataset_id
            JOIN json_each(r.tags) e
;
CREATE VIEW group_attributes AS SELECT d.name AS dataset, g.key AS group_key, e.key AS attribute,
                   CASE WHEN e.type = 'text' THEN e.value END AS value,
                   CASE WHEN e.type IN ('integer', 'real') THEN CAST(e.value AS REAL) END AS number
            FROM groups g
            JOIN datasets d ON d.id = g.dataset_id
            JOIN json_each(g.attributes) e
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
CREATE VIEW group_diff AS SELECT d.name AS dataset, rb.name AS baseline, rc.name AS candidate, m.text AS metric,
               s.version AS label_set_version, g.key AS group_key, vb.value AS baseline_value,
               vc.value AS candidate_value, vc.value - vb.value AS delta, coalesce(ec.requested_as, eb.requested_as, m.text) AS requested_as
        FROM evaluations eb
        JOIN evaluations ec ON ec.label_set_id = eb.label_set_id AND ec.metric_id = eb.metric_id
             AND ec.run_id <> eb.run_id
        JOIN runs rb ON rb.id = eb.run_id
        JOIN runs rc ON rc.id = ec.run_id
        JOIN datasets d ON d.id = rb.dataset_id
        JOIN metrics m ON m.id = eb.metric_id
        JOIN label_sets s ON s.id = eb.label_set_id
        JOIN group_results vb ON vb.evaluation_id = eb.id
        JOIN group_results vc ON vc.evaluation_id = ec.id AND vc.group_id = vb.group_id
        JOIN groups g ON g.id = vb.group_id AND g.dataset_id = rb.dataset_id
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
	judge TEXT DEFAULT '' NOT NULL, 
	CONSTRAINT pk_label_sets PRIMARY KEY (id), 
	CONSTRAINT ck_label_sets_counts CHECK (n_groups >= 0 AND n_labels >= 0), 
	CONSTRAINT ck_label_sets_version_from_1 CHECK (version >= 1), 
	CONSTRAINT fk_label_sets_dataset_id FOREIGN KEY(dataset_id) REFERENCES datasets (id), 
	CONSTRAINT uq_label_sets_dataset_id_version UNIQUE (dataset_id, version)
)
;
CREATE VIEW run_summary AS SELECT r.name AS run, r.id AS run_id, d.name AS dataset, r.created_at_utc AS created_at_utc,
           m.text AS metric, s.version AS label_set_version, e.mean AS mean, e.n_groups AS n_groups,
           e.n_missing AS n_missing, e.n_undefined AS n_undefined, coalesce(e.requested_as, m.text) AS requested_as, s.judge AS judge
    FROM evaluations e
    JOIN runs r ON r.id = e.run_id
    JOIN datasets d ON d.id = r.dataset_id
    JOIN metrics m ON m.id = e.metric_id
    JOIN label_sets s ON s.id = e.label_set_id
;
CREATE VIEW group_history AS SELECT r.name AS run, r.id AS run_id, d.name AS dataset, g.key AS group_key, m.text AS metric,
           s.version AS label_set_version, v.value AS value, r.created_at_utc AS created_at_utc, coalesce(e.requested_as, m.text) AS requested_as, s.judge AS judge
    FROM evaluations e
    JOIN runs r ON r.id = e.run_id
    JOIN datasets d ON d.id = r.dataset_id
    JOIN metrics m ON m.id = e.metric_id
    JOIN label_sets s ON s.id = e.label_set_id
    JOIN group_results v ON v.evaluation_id = e.id
    JOIN groups g ON g.id = v.group_id AND g.dataset_id = r.dataset_id
;
CREATE VIEW label_coverage AS SELECT r.name AS run, d.name AS dataset, s.version AS label_set_version,
               nullif(c.cutoff, 0) AS cutoff, c.judged_share AS judged_share, s.judge AS judge
        FROM coverages c
        JOIN runs r ON r.id = c.run_id
        JOIN datasets d ON d.id = r.dataset_id
        JOIN label_sets s ON s.id = c.label_set_id
;
CREATE VIEW labels AS SELECT d.name AS dataset, s.version AS label_set_version, g.key AS group_key, i.value AS item_key,
                   CAST(json_extract(l.grades, '$[' || i.key || ']') AS REAL) AS grade, s.judge AS judge
            FROM label_sets s
            JOIN datasets d ON d.id = s.dataset_id
            JOIN groups g ON g.dataset_id = s.dataset_id
            JOIN label_lists l ON l.label_set_id = s.id AND l.group_id = g.id
            JOIN json_each(l.item_keys) i
;
INSERT INTO ndcg_tracker_version (version_num) VALUES ('0006')
