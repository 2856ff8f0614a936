SELECT pg_catalog.set_config('search_path', '', false);
CREATE FUNCTION public.ndcg_tracker_analyze() RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
DECLARE found regclass; BEGIN FOR found IN
        SELECT c.oid FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname = ANY ('{datasets,metrics,label_sets,aliases,runs,evaluations,groups,group_results,ranked_lists,label_lists}')
        AND (c.reltuples < 0 OR pg_relation_size(c.oid) / current_setting('block_size')::int
            NOT BETWEEN 11 AND 1.2 * c.relpages)
    LOOP EXECUTE format('ANALYZE (SKIP_LOCKED) %s', found); END LOOP; END $$;
CREATE FUNCTION public.ndcg_tracker_pinned() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN IF NOT has_table_privilege(current_user, 'public.policies', 'INSERT') AND EXISTS (
        SELECT 1 FROM policies WHERE (dataset_id, alias) IN ((OLD.dataset_id, OLD.name), (NEW.dataset_id, NEW.name))
    ) THEN RAISE insufficient_privilege USING MESSAGE =
        'permission denied for table aliases: the alias has a policy, which only its owner moves'
    ; END IF
    ; RETURN coalesce(NEW, OLD); END $$;
CREATE FUNCTION public.ndcg_tracker_redo(redone bigint) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
BEGIN PERFORM 1 FROM runs WHERE id = redone AND stored_by = session_user::text FOR UPDATE
    ; IF NOT FOUND OR EXISTS (SELECT 1 FROM aliases WHERE run_id = redone)
        OR EXISTS (SELECT 1 FROM decisions WHERE redone IN (baseline_run_id, candidate_run_id))
        OR EXISTS (
            SELECT 1 FROM suite_decisions s, jsonb_each(s.runs::jsonb) AS of
            WHERE to_jsonb(redone) IN (of.value -> 'baseline_run_id', of.value -> 'candidate_run_id')
        )
        OR EXISTS (SELECT 1 FROM design_runs WHERE run_id = redone)
    THEN RETURN false; END IF
    ; DELETE FROM group_results WHERE evaluation_id IN (SELECT id FROM evaluations WHERE run_id = redone)
    ; DELETE FROM paired_sums WHERE baseline_run_id = redone
        OR evaluation_id IN (SELECT id FROM evaluations WHERE run_id = redone)
    ; DELETE FROM evaluations WHERE run_id = redone
    ; DELETE FROM coverages WHERE run_id = redone
    ; DELETE FROM ranked_lists WHERE run_id = redone
    ; DELETE FROM prunings WHERE run_id = redone
    ; UPDATE alias_moves SET run_id = NULL WHERE run_id = redone
    ; DELETE FROM runs WHERE id = redone
    ; RETURN true; END $$;
CREATE TABLE public.alias_moves (
    id bigint NOT NULL,
    dataset_id bigint NOT NULL,
    alias text NOT NULL COLLATE pg_catalog."C",
    run_id bigint,
    run text COLLATE pg_catalog."C",
    created_at_utc text NOT NULL COLLATE pg_catalog."C"
);
COMMENT ON TABLE public.alias_moves IS 'One row per move of an alias: the run that it was pointed at, or that it was deleted.';
COMMENT ON COLUMN public.alias_moves.id IS 'Number of the move.';
COMMENT ON COLUMN public.alias_moves.dataset_id IS 'Dataset of the alias.';
COMMENT ON COLUMN public.alias_moves.alias IS 'Name of the alias, without the @.';
COMMENT ON COLUMN public.alias_moves.run_id IS 'Run it was pointed at; NULL once that run or the alias is deleted.';
COMMENT ON COLUMN public.alias_moves.run IS 'Name of the run at that time; NULL where the alias was deleted.';
COMMENT ON COLUMN public.alias_moves.created_at_utc IS 'When the alias was moved, ISO 8601 in UTC.';
CREATE TABLE public.datasets (
    id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    created_at_utc text NOT NULL COLLATE pg_catalog."C"
)
WITH (autovacuum_analyze_threshold='0', autovacuum_analyze_scale_factor='0');
COMMENT ON TABLE public.datasets IS 'One row per dataset: a named set of groups with their labels.';
COMMENT ON COLUMN public.datasets.id IS 'Number of the dataset.';
COMMENT ON COLUMN public.datasets.name IS 'Name of the dataset, unique.';
COMMENT ON COLUMN public.datasets.created_at_utc IS 'When the dataset was first written to, ISO 8601 in UTC.';
CREATE TABLE public.seals (
    dataset_id bigint NOT NULL,
    is_sealed boolean NOT NULL,
    budget double precision,
    looks bigint,
    split jsonb,
    created_at_utc text NOT NULL COLLATE pg_catalog."C"
);
COMMENT ON TABLE public.seals IS 'One row per sealed dataset, and per open part of a dataset that was split.';
COMMENT ON COLUMN public.seals.dataset_id IS 'Dataset.';
COMMENT ON COLUMN public.seals.is_sealed IS 'Whether only gates read it; else it is an open part.';
COMMENT ON COLUMN public.seals.budget IS 'Chance of any false PASS over all looks; NULL of an open part.';
COMMENT ON COLUMN public.seals.looks IS 'How many looks share the budget; NULL where there is no end.';
COMMENT ON COLUMN public.seals.split IS 'JSON object: other part, share, cluster, key; NULL where nothing was split.';
COMMENT ON COLUMN public.seals.created_at_utc IS 'When it was sealed or split, ISO 8601 in UTC.';
CREATE VIEW public.alias_history AS
 SELECT dataset,
    alias,
    run,
    run_id,
    since_utc,
    until_utc,
    (since_utc)::timestamp with time zone AS since,
    (until_utc)::timestamp with time zone AS until
   FROM ( SELECT d.name AS dataset,
            m.alias,
            m.run,
            m.run_id,
            m.created_at_utc AS since_utc,
            lead(m.created_at_utc) OVER (PARTITION BY m.dataset_id, m.alias ORDER BY m.id) AS until_utc
           FROM (public.alias_moves m
             JOIN public.datasets d ON ((d.id = m.dataset_id)))
          WHERE (NOT (m.dataset_id IN ( SELECT z.dataset_id
                   FROM public.seals z
                  WHERE z.is_sealed)))) h
  WHERE (run IS NOT NULL);
ALTER TABLE public.alias_moves ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.alias_moves_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.aliases (
    dataset_id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    run_id bigint NOT NULL,
    created_at_utc text NOT NULL COLLATE pg_catalog."C",
    updated_at_utc text NOT NULL COLLATE pg_catalog."C"
)
WITH (autovacuum_analyze_threshold='0', autovacuum_analyze_scale_factor='0');
COMMENT ON TABLE public.aliases IS 'One row per alias of a dataset: a name such as baseline that may move from run to run.';
COMMENT ON COLUMN public.aliases.dataset_id IS 'Dataset of the alias.';
COMMENT ON COLUMN public.aliases.name IS 'Name of the alias, without the @ that references put before it.';
COMMENT ON COLUMN public.aliases.run_id IS 'Run that the alias stands for.';
COMMENT ON COLUMN public.aliases.created_at_utc IS 'When the alias was made, ISO 8601 in UTC.';
COMMENT ON COLUMN public.aliases.updated_at_utc IS 'When the alias was last pointed at a run.';
CREATE TABLE public.budget_resets (
    id bigint NOT NULL,
    dataset_id bigint NOT NULL,
    baseline_run text NOT NULL COLLATE pg_catalog."C",
    baseline_lists jsonb NOT NULL,
    reason text NOT NULL COLLATE pg_catalog."C",
    reset_by text NOT NULL COLLATE pg_catalog."C",
    after_decision_id bigint NOT NULL,
    created_at_utc text NOT NULL COLLATE pg_catalog."C",
    alias text COLLATE pg_catalog."C"
);
COMMENT ON TABLE public.budget_resets IS 'One row per time that somebody began a budget anew: looks at an alias that no longer count.';
COMMENT ON COLUMN public.budget_resets.id IS 'Number of the reset.';
COMMENT ON COLUMN public.budget_resets.dataset_id IS 'Dataset of the baseline.';
COMMENT ON COLUMN public.budget_resets.baseline_run IS 'Name of the baseline at that time.';
COMMENT ON COLUMN public.budget_resets.baseline_lists IS 'JSON object that knows the baseline''s lists; {} since budgets belong to aliases.';
COMMENT ON COLUMN public.budget_resets.reason IS 'Why they no longer count.';
COMMENT ON COLUMN public.budget_resets.reset_by IS 'Who said so.';
COMMENT ON COLUMN public.budget_resets.after_decision_id IS 'Last decision that no longer counts.';
COMMENT ON COLUMN public.budget_resets.created_at_utc IS 'When that was, ISO 8601 in UTC.';
COMMENT ON COLUMN public.budget_resets.alias IS 'Alias of the budget; NULL of older resets.';
ALTER TABLE public.budget_resets ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.budget_resets_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.coverages (
    run_id bigint NOT NULL,
    label_set_id bigint NOT NULL,
    cutoff bigint NOT NULL,
    judged_share double precision NOT NULL,
    CONSTRAINT ck_coverages_cutoff CHECK ((cutoff >= 0)),
    CONSTRAINT ck_coverages_judged_share CHECK (((judged_share >= (0)::double precision) AND (judged_share <= (1)::double precision)))
);
COMMENT ON TABLE public.coverages IS 'One row per run, label set and cutoff: how much of what the run ranks has a label.';
COMMENT ON COLUMN public.coverages.run_id IS 'Run.';
COMMENT ON COLUMN public.coverages.label_set_id IS 'Labels.';
COMMENT ON COLUMN public.coverages.cutoff IS 'How many items from the top of each list; 0 for the whole list.';
COMMENT ON COLUMN public.coverages.judged_share IS 'Which share of those items has a label, from 0 to 1.';
CREATE TABLE public.groups (
    id bigint NOT NULL,
    dataset_id bigint NOT NULL,
    key text NOT NULL COLLATE pg_catalog."C",
    weight double precision,
    attributes jsonb,
    CONSTRAINT ck_groups_weight_finite CHECK (((weight >= (0)::double precision) AND (weight <= ('170000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'::numeric)::double precision)))
)
WITH (autovacuum_analyze_threshold='10', autovacuum_analyze_scale_factor='0.05');
COMMENT ON TABLE public.groups IS 'One row per group of a dataset: a query, user, session or playlist.';
COMMENT ON COLUMN public.groups.id IS 'Number of the group, in all datasets.';
COMMENT ON COLUMN public.groups.dataset_id IS 'Dataset of the group.';
COMMENT ON COLUMN public.groups.key IS 'The group''s own id, as the files have it; unique in its dataset.';
COMMENT ON COLUMN public.groups.weight IS 'Weight of the group in weighted means; NULL where none was given.';
COMMENT ON COLUMN public.groups.attributes IS 'JSON object of the group''s attributes, for slices; NULL where none.';
CREATE TABLE public.label_sets (
    id bigint NOT NULL,
    dataset_id bigint NOT NULL,
    version bigint NOT NULL,
    digest text NOT NULL COLLATE pg_catalog."C",
    n_groups bigint NOT NULL,
    n_labels bigint NOT NULL,
    source text COLLATE pg_catalog."C",
    created_at_utc text NOT NULL COLLATE pg_catalog."C",
    by_row_number boolean,
    judge text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    extends bigint,
    added_by text COLLATE pg_catalog."C",
    from_runs jsonb,
    CONSTRAINT ck_label_sets_counts CHECK (((n_groups >= 0) AND (n_labels >= 0))),
    CONSTRAINT ck_label_sets_version_from_1 CHECK ((version >= 1))
)
WITH (autovacuum_analyze_threshold='0', autovacuum_analyze_scale_factor='0');
COMMENT ON TABLE public.label_sets IS 'One row per version of a dataset''s labels; a version never changes.';
COMMENT ON COLUMN public.label_sets.id IS 'Number of the label set.';
COMMENT ON COLUMN public.label_sets.dataset_id IS 'Dataset of the labels.';
COMMENT ON COLUMN public.label_sets.version IS '1 for the dataset''s first labels, 2 for the next, and so on.';
COMMENT ON COLUMN public.label_sets.digest IS 'Digest of all (group, item, grade), independent of their order.';
COMMENT ON COLUMN public.label_sets.n_groups IS 'How many groups have labels.';
COMMENT ON COLUMN public.label_sets.n_labels IS 'How many labels there are.';
COMMENT ON COLUMN public.label_sets.source IS 'Where the labels came from, such as a file name.';
COMMENT ON COLUMN public.label_sets.created_at_utc IS 'When the labels were stored, ISO 8601 in UTC.';
COMMENT ON COLUMN public.label_sets.by_row_number IS 'Whether items are known by row numbers, for want of ids; NULL where older programs did not say.';
COMMENT ON COLUMN public.label_sets.judge IS 'Who gave the labels: a person, a pool, a model; empty for the judge that counts unless another is named.';
COMMENT ON COLUMN public.label_sets.extends IS 'Version whose labels it has, and further ones; NULL where it has none of another.';
COMMENT ON COLUMN public.label_sets.added_by IS 'Who gave the labels that it adds; NULL where that is the judge.';
COMMENT ON COLUMN public.label_sets.from_runs IS 'JSON object: names of the runs whose logs gave the labels; NULL where not said.';
CREATE TABLE public.runs (
    id bigint NOT NULL,
    dataset_id bigint NOT NULL,
    name text NOT NULL COLLATE pg_catalog."C",
    digest text NOT NULL COLLATE pg_catalog."C",
    created_at_utc text NOT NULL COLLATE pg_catalog."C",
    source text COLLATE pg_catalog."C",
    git_commit text COLLATE pg_catalog."C",
    parameters jsonb NOT NULL,
    tags jsonb NOT NULL,
    n_groups bigint NOT NULL,
    n_items bigint NOT NULL,
    dataset text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    sampled text COLLATE pg_catalog."C",
    sample_digest text COLLATE pg_catalog."C",
    collapsed text COLLATE pg_catalog."C",
    documents_in_ten double precision,
    tie_order text COLLATE pg_catalog."C",
    stored_by text COLLATE pg_catalog."C",
    groups_share text COLLATE pg_catalog."C",
    CONSTRAINT ck_runs_counts CHECK (((n_groups >= 0) AND (n_items >= 0)))
)
WITH (autovacuum_analyze_threshold='10', autovacuum_analyze_scale_factor='0.05');
COMMENT ON TABLE public.runs IS 'One row per run: one system''s ranked items for the groups of a dataset.';
COMMENT ON COLUMN public.runs.id IS 'Number of the run, never used twice.';
COMMENT ON COLUMN public.runs.dataset_id IS 'Dataset of the run.';
COMMENT ON COLUMN public.runs.name IS 'Name of the run, unique in its dataset.';
COMMENT ON COLUMN public.runs.digest IS 'Digest of all (group, item, score), independent of their order.';
COMMENT ON COLUMN public.runs.created_at_utc IS 'When the run was made or stored, ISO 8601 in UTC; orders runs.';
COMMENT ON COLUMN public.runs.source IS 'Where the run came from, such as a file name.';
COMMENT ON COLUMN public.runs.git_commit IS 'Commit of the code that made the run.';
COMMENT ON COLUMN public.runs.parameters IS 'JSON object of the parameters given with the run.';
COMMENT ON COLUMN public.runs.tags IS 'JSON object of the tags of the run; tags may change.';
COMMENT ON COLUMN public.runs.n_groups IS 'How many groups the run ranks items for.';
COMMENT ON COLUMN public.runs.n_items IS 'How many items the run ranks, over all groups.';
COMMENT ON COLUMN public.runs.dataset IS 'Name of the dataset, as datasets has it.';
COMMENT ON COLUMN public.runs.sampled IS 'Sampled negatives that its items are among, as 100/50000; NULL where all were ranked.';
COMMENT ON COLUMN public.runs.sample_digest IS 'Digest of all (group, item) of a sampled run; NULL of others.';
COMMENT ON COLUMN public.runs.collapsed IS 'How chunks became documents: max, first or sum; NULL where its items are its own.';
COMMENT ON COLUMN public.runs.documents_in_ten IS 'Mean of the documents among a group''s first ten chunks; NULL without chunks.';
COMMENT ON COLUMN public.runs.tie_order IS 'input if its order breaks ties in scores; NULL where item ids do, descending.';
COMMENT ON COLUMN public.runs.stored_by IS 'Role of Postgres that stored it; NULL in SQLite, and where that is unknown.';
COMMENT ON COLUMN public.runs.groups_share IS 'Share of the groups that it keeps, chosen by a hash of their ids; NULL for all.';
CREATE VIEW public.dataset_list AS
 SELECT name AS dataset,
    ( SELECT count(*) AS count
           FROM public.runs r
          WHERE (r.dataset_id = d.id)) AS n_runs,
    ( SELECT count(*) AS count
           FROM public.groups g
          WHERE ((g.key <> ''::text) AND (g.dataset_id = d.id))) AS n_groups,
    ( SELECT max(s.version) AS max
           FROM public.label_sets s
          WHERE ((s.dataset_id = d.id) AND (s.judge = ''::text))) AS label_set_version
   FROM public.datasets d
  WHERE (NOT (id IN ( SELECT z.dataset_id
           FROM public.seals z
          WHERE z.is_sealed)));
ALTER TABLE public.datasets ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.datasets_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.decisions (
    id bigint NOT NULL,
    dataset_id bigint NOT NULL,
    baseline_run_id bigint,
    candidate_run_id bigint,
    baseline_run text NOT NULL COLLATE pg_catalog."C",
    candidate_run text NOT NULL COLLATE pg_catalog."C",
    baseline_alias text COLLATE pg_catalog."C",
    metric text NOT NULL COLLATE pg_catalog."C",
    label_set_id bigint NOT NULL,
    scope text NOT NULL COLLATE pg_catalog."C",
    margin double precision,
    delta double precision,
    ci_low double precision,
    ci_high double precision,
    alpha double precision,
    decision text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    acknowledged_reason text COLLATE pg_catalog."C",
    acknowledged_by text COLLATE pg_catalog."C",
    created_at_utc text NOT NULL COLLATE pg_catalog."C",
    repeats jsonb,
    unjudged text COLLATE pg_catalog."C",
    delta_low double precision,
    delta_high double precision,
    checked_by text COLLATE pg_catalog."C",
    budget double precision,
    looks bigint,
    look bigint,
    baseline_lists jsonb,
    question text COLLATE pg_catalog."C",
    CONSTRAINT ck_decisions_decision CHECK ((decision = ANY (ARRAY['pass'::text, 'fail'::text, 'inconclusive'::text])))
);
COMMENT ON TABLE public.decisions IS 'One row per decision of a gate, and who overrode it with which reason.';
COMMENT ON COLUMN public.decisions.id IS 'Number of the decision.';
COMMENT ON COLUMN public.decisions.dataset_id IS 'Dataset of both runs.';
COMMENT ON COLUMN public.decisions.baseline_run_id IS 'Baseline; NULL of several runs, and once it is deleted.';
COMMENT ON COLUMN public.decisions.candidate_run_id IS 'Candidate; NULL of several runs, and once it is deleted.';
COMMENT ON COLUMN public.decisions.baseline_run IS 'Name of the baseline at that time.';
COMMENT ON COLUMN public.decisions.candidate_run IS 'Name of the candidate at that time.';
COMMENT ON COLUMN public.decisions.baseline_alias IS 'Alias that the baseline was given by; NULL where by another reference.';
COMMENT ON COLUMN public.decisions.metric IS 'The metric''s canonical text form.';
COMMENT ON COLUMN public.decisions.label_set_id IS 'Labels of both runs.';
COMMENT ON COLUMN public.decisions.scope IS 'What the decision speaks about, such as the population of groups.';
COMMENT ON COLUMN public.decisions.margin IS 'Loss that was allowed; NULL where the scope needs none.';
COMMENT ON COLUMN public.decisions.delta IS 'Candidate minus baseline; NULL where undefined.';
COMMENT ON COLUMN public.decisions.ci_low IS 'Lower end of the confidence interval of delta.';
COMMENT ON COLUMN public.decisions.ci_high IS 'Upper end of the confidence interval of delta.';
COMMENT ON COLUMN public.decisions.alpha IS 'Error probability that the interval allows.';
COMMENT ON COLUMN public.decisions.decision IS 'pass, fail or inconclusive.';
COMMENT ON COLUMN public.decisions.reason IS 'Why, in one sentence.';
COMMENT ON COLUMN public.decisions.acknowledged_reason IS 'Why someone overrode the decision; NULL where nobody did.';
COMMENT ON COLUMN public.decisions.acknowledged_by IS 'Who overrode the decision; NULL where nobody did.';
COMMENT ON COLUMN public.decisions.created_at_utc IS 'When the decision was made, ISO 8601 in UTC.';
COMMENT ON COLUMN public.decisions.repeats IS 'JSON object: ids of the runs of baseline and candidate where one has several; NULL of two runs.';
COMMENT ON COLUMN public.decisions.unjudged IS 'What an unjudged item was worth: range, zero or bounds; NULL of older decisions.';
COMMENT ON COLUMN public.decisions.delta_low IS 'Least delta that unjudged items left open; NULL where that is not known.';
COMMENT ON COLUMN public.decisions.delta_high IS 'Greatest delta that unjudged items left open; NULL where that is not known.';
COMMENT ON COLUMN public.decisions.checked_by IS 'Who answered the sample that checks the judge; NULL where nobody did.';
COMMENT ON COLUMN public.decisions.budget IS 'Chance of any false PASS, or FAIL, that its looks share; NULL without a budget.';
COMMENT ON COLUMN public.decisions.looks IS 'How many looks share the budget; NULL where there is no end, or no budget.';
COMMENT ON COLUMN public.decisions.look IS 'Which look it is at the baseline''s lists, from 1; NULL without a budget.';
COMMENT ON COLUMN public.decisions.baseline_lists IS 'JSON object that knows the baseline''s lists; NULL without a budget.';
COMMENT ON COLUMN public.decisions.question IS 'Digest of the question: runs, labels and rules; NULL of older decisions.';
ALTER TABLE public.decisions ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.decisions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.design_runs (
    design_id bigint NOT NULL,
    place bigint NOT NULL,
    run_id bigint,
    run text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT ck_design_runs_place_from_0 CHECK ((place >= 0))
);
COMMENT ON TABLE public.design_runs IS 'One row per run of a design: the baseline, and each candidate.';
COMMENT ON COLUMN public.design_runs.design_id IS 'Design of the run.';
COMMENT ON COLUMN public.design_runs.place IS '0 for the baseline, 1 for the first candidate, and so on.';
COMMENT ON COLUMN public.design_runs.run_id IS 'The run; NULL once it is deleted.';
COMMENT ON COLUMN public.design_runs.run IS 'Name of the run at that time.';
CREATE TABLE public.designs (
    id bigint NOT NULL,
    dataset_id bigint NOT NULL,
    number bigint NOT NULL,
    label_set_id bigint NOT NULL,
    checked_by text COLLATE pg_catalog."C",
    metric text NOT NULL COLLATE pg_catalog."C",
    budget bigint NOT NULL,
    seed text NOT NULL COLLATE pg_catalog."C",
    created_at_utc text NOT NULL COLLATE pg_catalog."C",
    answered_after_run_id bigint,
    answered_after_label_set_id bigint,
    n_looks bigint NOT NULL,
    look bigint NOT NULL,
    planned_budget bigint NOT NULL,
    not_tuned boolean NOT NULL,
    greatest_grade double precision,
    CONSTRAINT ck_designs_counts CHECK (((number >= 1) AND (budget >= 1) AND (planned_budget >= budget))),
    CONSTRAINT ck_designs_greatest_grade_finite CHECK ((abs(greatest_grade) <= ('170000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'::numeric)::double precision)),
    CONSTRAINT ck_designs_looks CHECK (((look >= 1) AND (look <= n_looks)))
);
COMMENT ON TABLE public.designs IS 'One row per design: a sample of items, drawn to check a judge on the differences of runs.';
COMMENT ON COLUMN public.designs.id IS 'Number of the design, in all datasets.';
COMMENT ON COLUMN public.designs.dataset_id IS 'Dataset of the items.';
COMMENT ON COLUMN public.designs.number IS '1 for the dataset''s first design, 2 for the next, and so on.';
COMMENT ON COLUMN public.designs.label_set_id IS 'Labels of the judge that is to be checked; their ideal is frozen.';
COMMENT ON COLUMN public.designs.checked_by IS 'Who graded the drawn items; NULL before the first answer.';
COMMENT ON COLUMN public.designs.metric IS 'The metric''s canonical text form.';
COMMENT ON COLUMN public.designs.budget IS 'How many items were to be drawn up to this look, on average.';
COMMENT ON COLUMN public.designs.seed IS 'Key of the hash that gives each item its random number for good.';
COMMENT ON COLUMN public.designs.created_at_utc IS 'When it was drawn first, ISO 8601 in UTC.';
COMMENT ON COLUMN public.designs.answered_after_run_id IS 'Newest run before the first answer; NULL without an answer.';
COMMENT ON COLUMN public.designs.answered_after_label_set_id IS 'Newest label set before the first answer; NULL without an answer.';
COMMENT ON COLUMN public.designs.n_looks IS 'How many looks are planned; they share the level of a verdict.';
COMMENT ON COLUMN public.designs.look IS 'The look that is drawn now, from 1.';
COMMENT ON COLUMN public.designs.planned_budget IS 'How many items all looks are to draw, on average.';
COMMENT ON COLUMN public.designs.not_tuned IS 'Whether what is newer was said not to depend on answers.';
COMMENT ON COLUMN public.designs.greatest_grade IS 'Greatest grade that people may give; NULL where it is the judge''s.';
ALTER TABLE public.designs ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.designs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.drawn_items (
    design_id bigint NOT NULL,
    group_id bigint NOT NULL,
    item_key text NOT NULL COLLATE pg_catalog."C",
    probability double precision,
    grade double precision,
    answered_at_utc text COLLATE pg_catalog."C",
    CONSTRAINT ck_drawn_items_answered CHECK (((grade IS NULL) = (answered_at_utc IS NULL))),
    CONSTRAINT ck_drawn_items_grade_finite CHECK ((abs(grade) <= ('170000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'::numeric)::double precision)),
    CONSTRAINT ck_drawn_items_kept_apart CHECK (((probability IS NOT NULL) OR (grade IS NOT NULL))),
    CONSTRAINT ck_drawn_items_probability CHECK (((probability > (0)::double precision) AND (probability <= (1)::double precision)))
);
COMMENT ON TABLE public.drawn_items IS 'One row per item that a design drew or that is kept apart, with the grade that people gave it.';
COMMENT ON COLUMN public.drawn_items.design_id IS 'Design that drew the item.';
COMMENT ON COLUMN public.drawn_items.group_id IS 'Group of the item.';
COMMENT ON COLUMN public.drawn_items.item_key IS 'The item.';
COMMENT ON COLUMN public.drawn_items.probability IS 'With which probability it was drawn; NULL of an item that was not drawn, whose grade is kept apart.';
COMMENT ON COLUMN public.drawn_items.grade IS 'What people graded it; NULL before they did.';
COMMENT ON COLUMN public.drawn_items.answered_at_utc IS 'When the grade was stored, ISO 8601 in UTC; NULL before that.';
CREATE VIEW public.drawn_labels AS
 SELECT d.name AS dataset,
    e.number AS design,
    s.judge,
    s.version AS label_set_version,
    e.metric,
    e.checked_by,
    g.key AS group_key,
    i.item_key,
    i.probability,
    i.grade,
    i.answered_at_utc
   FROM ((((public.drawn_items i
     JOIN public.designs e ON ((e.id = i.design_id)))
     JOIN public.datasets d ON ((d.id = e.dataset_id)))
     JOIN public.label_sets s ON ((s.id = e.label_set_id)))
     JOIN public.groups g ON ((g.id = i.group_id)))
  WHERE (NOT (s.dataset_id IN ( SELECT z.dataset_id
           FROM public.seals z
          WHERE z.is_sealed)));
CREATE TABLE public.evaluations (
    id bigint NOT NULL,
    run_id bigint NOT NULL,
    label_set_id bigint NOT NULL,
    metric_id bigint NOT NULL,
    mean double precision,
    worst_mean double precision,
    best_mean double precision,
    std_dev double precision,
    n_groups bigint NOT NULL,
    n_missing bigint NOT NULL,
    n_undefined bigint NOT NULL,
    created_at_utc text NOT NULL COLLATE pg_catalog."C",
    packed_group_ids bytea,
    packed_values bytea,
    requested_as text COLLATE pg_catalog."C",
    run text NOT NULL COLLATE pg_catalog."C",
    dataset text NOT NULL COLLATE pg_catalog."C",
    metric text NOT NULL COLLATE pg_catalog."C",
    judge text NOT NULL COLLATE pg_catalog."C",
    run_created_at_utc text NOT NULL COLLATE pg_catalog."C",
    dataset_id bigint NOT NULL,
    label_set_version bigint NOT NULL,
    CONSTRAINT ck_evaluations_counts CHECK (((n_groups >= 0) AND (n_missing >= 0) AND (n_undefined >= 0))),
    CONSTRAINT ck_evaluations_mean_finite CHECK ((abs(mean) <= ('170000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'::numeric)::double precision))
)
WITH (autovacuum_analyze_threshold='10', autovacuum_analyze_scale_factor='0.05');
ALTER TABLE ONLY public.evaluations ALTER COLUMN packed_group_ids SET STATISTICS 0;
ALTER TABLE ONLY public.evaluations ALTER COLUMN packed_group_ids SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.evaluations ALTER COLUMN packed_values SET STATISTICS 0;
ALTER TABLE ONLY public.evaluations ALTER COLUMN packed_values SET STORAGE EXTERNAL;
COMMENT ON TABLE public.evaluations IS 'One row per run, label set and metric: the metric''s mean and what it rests on.';
COMMENT ON COLUMN public.evaluations.id IS 'Number of the evaluation.';
COMMENT ON COLUMN public.evaluations.run_id IS 'Run that was evaluated.';
COMMENT ON COLUMN public.evaluations.label_set_id IS 'Labels it was held to.';
COMMENT ON COLUMN public.evaluations.metric_id IS 'Metric that was computed.';
COMMENT ON COLUMN public.evaluations.mean IS 'The metric over all its groups; NULL where no group has a value.';
COMMENT ON COLUMN public.evaluations.worst_mean IS 'The mean if all ties in scores fell for the worst; NULL where there is no mean.';
COMMENT ON COLUMN public.evaluations.best_mean IS 'The mean if all ties in scores fell for the best; NULL where there is no mean.';
COMMENT ON COLUMN public.evaluations.std_dev IS 'Sample standard deviation of the groups'' values; NULL below two values.';
COMMENT ON COLUMN public.evaluations.n_groups IS 'How many groups are in the mean.';
COMMENT ON COLUMN public.evaluations.n_missing IS 'How many groups have labels that the run has no items for.';
COMMENT ON COLUMN public.evaluations.n_undefined IS 'How many groups the metric is undefined for.';
COMMENT ON COLUMN public.evaluations.created_at_utc IS 'When the evaluation was stored, ISO 8601 in UTC.';
COMMENT ON COLUMN public.evaluations.packed_group_ids IS 'The groups of packed_values, int64; the first if each is one more.';
COMMENT ON COLUMN public.evaluations.packed_values IS 'All group results again, by group id, float64, to be read at once.';
COMMENT ON COLUMN public.evaluations.requested_as IS 'The text that the metric was asked for by; NULL where that is its canonical one.';
COMMENT ON COLUMN public.evaluations.run IS 'Name of the run, as runs has it.';
COMMENT ON COLUMN public.evaluations.dataset IS 'Name of the dataset of the run.';
COMMENT ON COLUMN public.evaluations.metric IS 'The metric''s canonical text form.';
COMMENT ON COLUMN public.evaluations.judge IS 'Who gave the labels, as label_sets has it.';
COMMENT ON COLUMN public.evaluations.run_created_at_utc IS 'When the run was made, as runs has it.';
COMMENT ON COLUMN public.evaluations.dataset_id IS 'Dataset of the run.';
COMMENT ON COLUMN public.evaluations.label_set_version IS 'Version of the labels.';
ALTER TABLE public.evaluations ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.evaluations_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW public.gate_decisions AS
 SELECT c.id AS decision_id,
    d.name AS dataset,
    c.created_at_utc,
    c.baseline_run AS baseline,
    c.candidate_run AS candidate,
    c.baseline_alias,
    c.metric,
    s.version AS label_set_version,
    c.scope,
    c.margin,
    c.delta,
    c.ci_low,
    c.ci_high,
    c.alpha,
    c.decision,
    c.reason,
    c.acknowledged_reason,
    c.acknowledged_by,
    (c.created_at_utc)::timestamp with time zone AS created_at,
    row_number() OVER (PARTITION BY c.dataset_id, c.metric, c.baseline_alias, c.scope, s.judge, c.checked_by ORDER BY c.id) AS decision_number,
    s.judge,
    c.unjudged,
    c.delta_low,
    c.delta_high,
    c.checked_by,
    c.budget,
    c.looks,
    c.look
   FROM ((public.decisions c
     JOIN public.datasets d ON ((d.id = c.dataset_id)))
     JOIN public.label_sets s ON ((s.id = c.label_set_id)))
  WHERE (NOT (c.dataset_id IN ( SELECT z.dataset_id
           FROM public.seals z
          WHERE z.is_sealed)));
CREATE VIEW public.gate_resets AS
 SELECT d.name AS dataset,
    r.baseline_run AS baseline,
    r.reason,
    r.reset_by,
    r.created_at_utc
   FROM (public.budget_resets r
     JOIN public.datasets d ON ((d.id = r.dataset_id)))
  WHERE (NOT (r.dataset_id IN ( SELECT z.dataset_id
           FROM public.seals z
          WHERE z.is_sealed)));
CREATE VIEW public.group_attributes AS
 SELECT d.name AS dataset,
    g.key AS group_key,
    (e.key COLLATE "C") AS attribute,
        CASE
            WHEN (jsonb_typeof(e.value) = 'string'::text) THEN ((e.value #>> '{}'::text[]) COLLATE "C")
            ELSE NULL::text
        END AS value,
        CASE
            WHEN (jsonb_typeof(e.value) = 'number'::text) THEN ((e.value #>> '{}'::text[]))::double precision
            ELSE NULL::double precision
        END AS number
   FROM ((public.groups g
     JOIN public.datasets d ON ((d.id = g.dataset_id)))
     CROSS JOIN LATERAL jsonb_each(g.attributes) e(key, value))
  WHERE (NOT (g.dataset_id IN ( SELECT z.dataset_id
           FROM public.seals z
          WHERE z.is_sealed)));
CREATE TABLE public.group_results (
    evaluation_id bigint NOT NULL,
    group_id bigint NOT NULL,
    value double precision,
    dcg double precision,
    ideal_dcg double precision,
    undefined_reason text COLLATE pg_catalog."C",
    CONSTRAINT ck_group_results_undefined_has_reason CHECK (((value IS NULL) = (undefined_reason IS NOT NULL))),
    CONSTRAINT ck_group_results_value_finite CHECK ((abs(value) <= ('170000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'::numeric)::double precision))
)
WITH (autovacuum_analyze_threshold='10', autovacuum_analyze_scale_factor='0.05');
COMMENT ON TABLE public.group_results IS 'One row per group of an evaluation: the metric''s value for this group.';
COMMENT ON COLUMN public.group_results.evaluation_id IS 'Evaluation of the result.';
COMMENT ON COLUMN public.group_results.group_id IS 'Group of the result.';
COMMENT ON COLUMN public.group_results.value IS 'The metric''s value for the group; NULL where it is undefined.';
COMMENT ON COLUMN public.group_results.dcg IS 'Discounted cumulative gain of the group, where the metric has one.';
COMMENT ON COLUMN public.group_results.ideal_dcg IS 'The best discounted cumulative gain possible, where the metric has one.';
COMMENT ON COLUMN public.group_results.undefined_reason IS 'Why the value is undefined; NULL where it is defined.';
CREATE VIEW public.group_diff AS
 SELECT eb.dataset,
    eb.run AS baseline,
    ec.run AS candidate,
    eb.metric,
    eb.label_set_version,
    g.key AS group_key,
    vb.value AS baseline_value,
    vc.value AS candidate_value,
    (vc.value - vb.value) AS delta,
    COALESCE(ec.requested_as, eb.requested_as, eb.metric) AS requested_as,
    eb.judge,
    ((eb.judge = ANY (ARRAY[''::text, 'external results'::text, 'sums of other engines'::text])) AND (NOT (EXISTS ( SELECT 1
           FROM (public.evaluations n
             JOIN public.evaluations m ON (((m.label_set_id = n.label_set_id) AND (m.metric_id = n.metric_id))))
          WHERE ((n.run_id = eb.run_id) AND (m.run_id = ec.run_id) AND (n.metric_id = eb.metric_id) AND (n.judge = ANY (ARRAY[''::text, 'external results'::text, 'sums of other engines'::text])) AND (n.label_set_version > eb.label_set_version)))))) AS is_newest_labels
   FROM ((((public.evaluations eb
     JOIN public.evaluations ec ON (((ec.label_set_id = eb.label_set_id) AND (ec.metric_id = eb.metric_id) AND (ec.run_id <> eb.run_id))))
     JOIN public.group_results vc ON ((vc.evaluation_id = ec.id)))
     CROSS JOIN LATERAL ( SELECT vb_1.value
           FROM public.group_results vb_1
          WHERE ((vb_1.evaluation_id = eb.id) AND (vb_1.group_id = vc.group_id))
         OFFSET 0) vb)
     JOIN public.groups g ON (((g.id = vc.group_id) AND (g.dataset_id = eb.dataset_id))))
  WHERE (NOT (eb.dataset_id IN ( SELECT z.dataset_id
           FROM public.seals z
          WHERE z.is_sealed)));
CREATE TABLE public.prunings (
    run_id bigint NOT NULL,
    created_at_utc text NOT NULL COLLATE pg_catalog."C",
    summaries_only boolean NOT NULL,
    packed_group_ids bytea NOT NULL,
    kept_share double precision
);
COMMENT ON TABLE public.prunings IS 'One row per pruned run: its items are gone, its means are kept.';
COMMENT ON COLUMN public.prunings.run_id IS 'Run without its items.';
COMMENT ON COLUMN public.prunings.created_at_utc IS 'When it was pruned last, ISO 8601 in UTC.';
COMMENT ON COLUMN public.prunings.summaries_only IS 'Whether the results of its groups are gone, too.';
COMMENT ON COLUMN public.prunings.packed_group_ids IS 'The groups it has, int64; see evaluations.';
COMMENT ON COLUMN public.prunings.kept_share IS 'Share of the groups whose items were stored, by a hash of their keys: 0 for none; NULL where all were, and are gone.';
CREATE TABLE public.ranked_lists (
    run_id bigint NOT NULL,
    group_id bigint NOT NULL,
    item_keys text[] NOT NULL COLLATE pg_catalog."C",
    scores double precision[] NOT NULL
)
WITH (autovacuum_analyze_threshold='10', autovacuum_analyze_scale_factor='0.05');
ALTER TABLE ONLY public.ranked_lists ALTER COLUMN item_keys SET STATISTICS 0;
ALTER TABLE ONLY public.ranked_lists ALTER COLUMN item_keys SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.ranked_lists ALTER COLUMN scores SET STATISTICS 0;
ALTER TABLE ONLY public.ranked_lists ALTER COLUMN scores SET STORAGE EXTERNAL;
COMMENT ON TABLE public.ranked_lists IS 'One row per group of a run: all its items and scores in rank order.';
COMMENT ON COLUMN public.ranked_lists.run_id IS 'Run of the list.';
COMMENT ON COLUMN public.ranked_lists.group_id IS 'Group of the list.';
COMMENT ON COLUMN public.ranked_lists.item_keys IS 'The items, best first: an array, on SQLite as JSON text.';
COMMENT ON COLUMN public.ranked_lists.scores IS 'The score of each item, in the same order.';
CREATE VIEW public.group_history AS
 SELECT e.run,
    e.run_id,
    e.dataset,
    g.key AS group_key,
    e.metric,
    e.label_set_version,
    v.value,
    e.run_created_at_utc AS created_at_utc,
    COALESCE(e.requested_as, e.metric) AS requested_as,
    e.judge,
    (e.run_created_at_utc)::timestamp with time zone AS created_at,
    ((e.judge = ANY (ARRAY[''::text, 'external results'::text, 'sums of other engines'::text])) AND (NOT (EXISTS ( SELECT 1
           FROM public.evaluations n
          WHERE ((n.run_id = e.run_id) AND (n.metric_id = e.metric_id) AND (n.judge = ANY (ARRAY[''::text, 'external results'::text, 'sums of other engines'::text])) AND (n.label_set_version > e.label_set_version)))))) AS is_newest_labels,
    g.weight,
        CASE
            WHEN (e.judge = ANY (ARRAY['external results'::text, 'sums of other engines'::text])) THEN NULL::boolean
            WHEN (v.undefined_reason = 'missing from the run'::text) THEN true
            WHEN ((e.n_missing = 0) OR (v.dcg <> (0)::double precision)) THEN false
            WHEN (EXISTS ( SELECT 1
               FROM public.ranked_lists l
              WHERE ((l.run_id = e.run_id) AND (l.group_id = v.group_id)))) THEN false
            WHEN (EXISTS ( SELECT 1
               FROM public.prunings p
              WHERE (p.run_id = e.run_id))) THEN NULL::boolean
            ELSE true
        END AS is_missing
   FROM ((public.evaluations e
     JOIN public.group_results v ON ((v.evaluation_id = e.id)))
     JOIN public.groups g ON (((g.id = v.group_id) AND (g.dataset_id = e.dataset_id))))
  WHERE (NOT (e.dataset_id IN ( SELECT z.dataset_id
           FROM public.seals z
          WHERE z.is_sealed)));
CREATE VIEW public.group_list AS
 SELECT d.name AS dataset,
    g.key AS group_key,
    g.weight
   FROM (public.groups g
     JOIN public.datasets d ON ((d.id = g.dataset_id)))
  WHERE ((g.key <> ''::text) AND (NOT (g.dataset_id IN ( SELECT z.dataset_id
           FROM public.seals z
          WHERE z.is_sealed))));
CREATE VIEW public.items AS
 SELECT r.name AS run,
    r.id AS run_id,
    r.dataset,
    g.key AS group_key,
    i.rank,
    i.item_key,
    i.score
   FROM (((public.runs r
     JOIN public.ranked_lists l ON ((l.run_id = r.id)))
     JOIN public.groups g ON (((g.id = l.group_id) AND (g.dataset_id = r.dataset_id))))
     CROSS JOIN LATERAL ( SELECT generate_series((1)::bigint, (cardinality(l.item_keys))::bigint) AS rank,
            unnest(l.item_keys) AS item_key,
            unnest(l.scores) AS score) i)
  WHERE (NOT (r.dataset_id IN ( SELECT z.dataset_id
           FROM public.seals z
          WHERE z.is_sealed)));
CREATE VIEW public.label_coverage AS
 SELECT r.name AS run,
    d.name AS dataset,
    s.version AS label_set_version,
    NULLIF(c.cutoff, 0) AS cutoff,
    c.judged_share,
    s.judge,
    c.run_id,
    ((s.judge = ANY (ARRAY[''::text, 'external results'::text, 'sums of other engines'::text])) AND (NOT (EXISTS ( SELECT 1
           FROM (public.coverages n
             JOIN public.label_sets t ON ((t.id = n.label_set_id)))
          WHERE ((n.run_id = c.run_id) AND (n.cutoff = c.cutoff) AND (t.judge = ANY (ARRAY[''::text, 'external results'::text, 'sums of other engines'::text])) AND (t.version > s.version)))))) AS is_newest_labels,
    r.created_at_utc,
    (r.created_at_utc)::timestamp with time zone AS created_at
   FROM (((public.coverages c
     JOIN public.runs r ON ((r.id = c.run_id)))
     JOIN public.datasets d ON ((d.id = r.dataset_id)))
     JOIN public.label_sets s ON ((s.id = c.label_set_id)))
  WHERE (NOT (r.dataset_id IN ( SELECT z.dataset_id
           FROM public.seals z
          WHERE z.is_sealed)));
CREATE TABLE public.label_lists (
    label_set_id bigint NOT NULL,
    group_id bigint NOT NULL,
    item_keys text[] NOT NULL COLLATE pg_catalog."C",
    grades double precision[] NOT NULL
)
WITH (autovacuum_analyze_threshold='10', autovacuum_analyze_scale_factor='0.05');
ALTER TABLE ONLY public.label_lists ALTER COLUMN item_keys SET STATISTICS 0;
ALTER TABLE ONLY public.label_lists ALTER COLUMN item_keys SET STORAGE EXTERNAL;
ALTER TABLE ONLY public.label_lists ALTER COLUMN grades SET STATISTICS 0;
ALTER TABLE ONLY public.label_lists ALTER COLUMN grades SET STORAGE EXTERNAL;
COMMENT ON TABLE public.label_lists IS 'One row per group of a label set: all its judged items and their grades.';
COMMENT ON COLUMN public.label_lists.label_set_id IS 'Label set of the list.';
COMMENT ON COLUMN public.label_lists.group_id IS 'Group of the list.';
COMMENT ON COLUMN public.label_lists.item_keys IS 'The judged items: an array, on SQLite as JSON text.';
COMMENT ON COLUMN public.label_lists.grades IS 'The grade of each judged item, in the same order.';
ALTER TABLE public.label_sets ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.label_sets_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW public.labels AS
 SELECT s.dataset,
    s.version AS label_set_version,
    g.key AS group_key,
    i.item_key,
    i.grade,
    s.judge,
    s.is_newest_labels
   FROM (((( SELECT d.name AS dataset,
            l_1.dataset_id,
            l_1.id,
            l_1.version,
            l_1.judge,
            ((l_1.judge = ''::text) AND (NOT (EXISTS ( SELECT 1
                   FROM public.label_sets n
                  WHERE ((n.dataset_id = l_1.dataset_id) AND (n.judge = ''::text) AND (n.version > l_1.version)))))) AS is_newest_labels
           FROM (public.label_sets l_1
             JOIN public.datasets d ON ((d.id = l_1.dataset_id)))
         OFFSET 0) s
     JOIN public.label_lists l ON ((l.label_set_id = s.id)))
     JOIN public.groups g ON (((g.id = l.group_id) AND (g.dataset_id = s.dataset_id))))
     CROSS JOIN LATERAL UNNEST(l.item_keys, l.grades) i(item_key, grade))
  WHERE (NOT (s.dataset_id IN ( SELECT z.dataset_id
           FROM public.seals z
          WHERE z.is_sealed)));
CREATE VIEW public.metric_list AS
 SELECT dataset,
    metric,
    max(COALESCE(requested_as, metric)) AS requested_as,
    count(DISTINCT run_id) AS n_runs
   FROM public.evaluations e
  WHERE (NOT (dataset_id IN ( SELECT z.dataset_id
           FROM public.seals z
          WHERE z.is_sealed)))
  GROUP BY dataset, metric;
CREATE TABLE public.metrics (
    id bigint NOT NULL,
    text text NOT NULL COLLATE pg_catalog."C"
)
WITH (autovacuum_analyze_threshold='0', autovacuum_analyze_scale_factor='0');
COMMENT ON TABLE public.metrics IS 'One row per metric definition that some run was evaluated under.';
COMMENT ON COLUMN public.metrics.id IS 'Number of the metric.';
COMMENT ON COLUMN public.metrics.text IS 'The metric''s canonical text form, unique.';
ALTER TABLE public.metrics ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.metrics_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.ndcg_tracker_version (
    version_num character varying(32) NOT NULL
);
CREATE TABLE public.paired_sums (
    evaluation_id bigint NOT NULL,
    baseline_run_id bigint NOT NULL,
    n_groups bigint NOT NULL,
    baseline_mean double precision NOT NULL,
    delta double precision NOT NULL,
    m2 double precision NOT NULL,
    m3 double precision NOT NULL,
    wins bigint NOT NULL,
    losses bigint NOT NULL,
    only_in_baseline bigint NOT NULL,
    only_in_candidate bigint NOT NULL,
    n_undefined bigint NOT NULL,
    details jsonb NOT NULL,
    created_at_utc text NOT NULL COLLATE pg_catalog."C",
    CONSTRAINT ck_paired_sums_counts CHECK (((n_groups >= 0) AND (wins >= 0) AND (losses >= 0) AND ((wins + losses) <= n_groups))),
    CONSTRAINT ck_paired_sums_finite CHECK (((m2 >= (0)::double precision) AND (m2 <= ('170000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'::numeric)::double precision) AND (abs(delta) <= ('170000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000'::numeric)::double precision)))
);
COMMENT ON TABLE public.paired_sums IS 'One row per evaluation of a run stored as sums and its baseline: the sums of the groups'' differences.';
COMMENT ON COLUMN public.paired_sums.evaluation_id IS 'Evaluation of the candidate.';
COMMENT ON COLUMN public.paired_sums.baseline_run_id IS 'Run it was compared with.';
COMMENT ON COLUMN public.paired_sums.n_groups IS 'How many groups have a value in both runs.';
COMMENT ON COLUMN public.paired_sums.baseline_mean IS 'Mean of the baseline over these groups; 0 without any.';
COMMENT ON COLUMN public.paired_sums.delta IS 'Mean of candidate minus baseline over them; 0 without any.';
COMMENT ON COLUMN public.paired_sums.m2 IS 'Sum of the squared distances of the differences from delta.';
COMMENT ON COLUMN public.paired_sums.m3 IS 'Sum of the cubes of these distances.';
COMMENT ON COLUMN public.paired_sums.wins IS 'How many groups have a greater value in the candidate.';
COMMENT ON COLUMN public.paired_sums.losses IS 'How many groups have a smaller value in the candidate.';
COMMENT ON COLUMN public.paired_sums.only_in_baseline IS 'How many groups have a value in the baseline only.';
COMMENT ON COLUMN public.paired_sums.only_in_candidate IS 'How many groups have a value in the candidate only.';
COMMENT ON COLUMN public.paired_sums.n_undefined IS 'How many groups have a value in neither.';
COMMENT ON COLUMN public.paired_sums.details IS 'JSON object of the same sums by slice, and of clusters.';
COMMENT ON COLUMN public.paired_sums.created_at_utc IS 'When they were stored, ISO 8601 in UTC.';
CREATE TABLE public.policies (
    id bigint NOT NULL,
    dataset_id bigint NOT NULL,
    alias text NOT NULL COLLATE pg_catalog."C",
    rules jsonb NOT NULL,
    set_by text NOT NULL COLLATE pg_catalog."C",
    set_at_utc text NOT NULL COLLATE pg_catalog."C"
);
COMMENT ON TABLE public.policies IS 'One row per time that somebody set the rules of the gates against an alias; the latest is in force.';
COMMENT ON COLUMN public.policies.id IS 'Number of the policy.';
COMMENT ON COLUMN public.policies.dataset_id IS 'Dataset of the alias.';
COMMENT ON COLUMN public.policies.alias IS 'Name of the alias, without the @.';
COMMENT ON COLUMN public.policies.rules IS 'JSON object: the rules of a gate, by option.';
COMMENT ON COLUMN public.policies.set_by IS 'Who set them.';
COMMENT ON COLUMN public.policies.set_at_utc IS 'When that was, ISO 8601 in UTC.';
ALTER TABLE public.policies ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.policies_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW public.run_aliases AS
 SELECT r.dataset,
    a.name AS alias,
    r.name AS run,
    r.id AS run_id,
    a.updated_at_utc,
    (a.updated_at_utc)::timestamp with time zone AS updated_at
   FROM (public.aliases a
     JOIN public.runs r ON ((r.id = a.run_id)))
  WHERE (NOT (r.dataset_id IN ( SELECT z.dataset_id
           FROM public.seals z
          WHERE z.is_sealed)));
CREATE VIEW public.run_details AS
 SELECT name AS run,
    id AS run_id,
    dataset,
    created_at_utc,
    git_commit,
    source,
    n_groups,
    n_items,
    (created_at_utc)::timestamp with time zone AS created_at,
    ( SELECT p.created_at_utc
           FROM public.prunings p
          WHERE (p.run_id = r.id)) AS pruned_at_utc,
    sampled,
    collapsed,
    documents_in_ten,
    tie_order
   FROM public.runs r
  WHERE (NOT (dataset_id IN ( SELECT z.dataset_id
           FROM public.seals z
          WHERE z.is_sealed)));
CREATE VIEW public.run_list AS
 SELECT dataset,
    name AS run,
    id AS run_id,
    (row_number() OVER (PARTITION BY dataset ORDER BY created_at_utc DESC, id DESC) + 0) AS place,
    ( SELECT string_agg(('@'::text || a.name), ' '::text ORDER BY a.name) AS string_agg
           FROM public.aliases a
          WHERE ((a.run_id = r.id) AND (a.dataset_id = r.dataset_id))) AS aliases,
    created_at_utc,
    (created_at_utc)::timestamp with time zone AS created_at
   FROM public.runs r
  WHERE (NOT (dataset_id IN ( SELECT z.dataset_id
           FROM public.seals z
          WHERE z.is_sealed)));
CREATE VIEW public.run_parameters AS
 SELECT r.name AS run,
    r.id AS run_id,
    r.dataset,
    (e.key COLLATE "C") AS name,
    (e.value COLLATE "C") AS value
   FROM (public.runs r
     CROSS JOIN LATERAL jsonb_each_text(r.parameters) e(key, value))
  WHERE (NOT (r.dataset_id IN ( SELECT z.dataset_id
           FROM public.seals z
          WHERE z.is_sealed)));
CREATE VIEW public.run_regressions AS
 SELECT p.dataset,
    p.run,
    p.run_id,
    p.created_at_utc,
    p.against,
    p.baseline,
    p.baseline_run_id,
    p.metric,
    p.label_set_version,
    p.judge,
    g.key AS group_key,
    vb.value AS baseline_value,
    vc.value,
    (vc.value - vb.value) AS delta,
    (p.created_at_utc)::timestamp with time zone AS created_at,
    p.is_newest_labels
   FROM (((( SELECT w.dataset_id,
            w.dataset,
            w.run,
            w.run_id,
            w.created_at_utc,
            'previous'::text AS against,
            w.baseline,
            w.baseline_run_id,
            w.metric,
            w.label_set_version,
            w.judge,
            w.evaluation_id,
            w.baseline_id,
            w.is_newest_labels
           FROM ( SELECT x.dataset_id,
                    x.dataset,
                    x.run,
                    x.run_id,
                    x.created_at_utc,
                    x.baseline,
                    x.baseline_run_id,
                    x.metric,
                    x.label_set_version,
                    x.judge,
                    x.evaluation_id,
                    x.baseline_id,
                    x.baseline_created_at_utc,
                    x.is_unnamed,
                    (x.is_unnamed AND (row_number() OVER (PARTITION BY x.dataset, x.run_id, x.metric, x.is_unnamed ORDER BY x.baseline_created_at_utc DESC, x.baseline_run_id DESC, x.label_set_version DESC) = 1)) AS is_newest_labels
                   FROM ( SELECT e.dataset_id,
                            e.dataset,
                            e.run,
                            e.run_id,
                            e.run_created_at_utc AS created_at_utc,
                            lag(e.run) OVER earlier AS baseline,
                            lag(e.run_id) OVER earlier AS baseline_run_id,
                            e.metric,
                            e.label_set_version,
                            e.judge,
                            e.id AS evaluation_id,
                            lag(e.id) OVER earlier AS baseline_id,
                            lag(e.run_created_at_utc) OVER earlier AS baseline_created_at_utc,
                            (e.judge = ANY (ARRAY[''::text, 'external results'::text, 'sums of other engines'::text])) AS is_unnamed
                           FROM public.evaluations e
                          WINDOW earlier AS (PARTITION BY e.label_set_id, e.metric_id, e.dataset, e.metric, e.label_set_version, e.judge ORDER BY e.run_created_at_utc, e.run_id)) x
                  WHERE (x.baseline_id IS NOT NULL)) w
        UNION ALL
         SELECT e.dataset_id,
            e.dataset,
            e.run,
            e.run_id,
            e.run_created_at_utc,
            ('@'::text || a.name),
            b.run,
            b.run_id,
            e.metric,
            e.label_set_version,
            e.judge,
            e.id,
            b.id,
            ((b.judge = ANY (ARRAY[''::text, 'external results'::text, 'sums of other engines'::text])) AND (NOT (EXISTS ( SELECT 1
                   FROM (public.evaluations n
                     JOIN public.evaluations m ON (((m.label_set_id = n.label_set_id) AND (m.metric_id = n.metric_id))))
                  WHERE ((n.run_id = b.run_id) AND (m.run_id = e.run_id) AND (n.metric_id = b.metric_id) AND (n.judge = ANY (ARRAY[''::text, 'external results'::text, 'sums of other engines'::text])) AND (n.label_set_version > b.label_set_version))))))
           FROM ((public.aliases a
             JOIN public.evaluations b ON ((b.run_id = a.run_id)))
             JOIN public.evaluations e ON (((e.label_set_id = b.label_set_id) AND (e.metric_id = b.metric_id) AND (e.run_id <> b.run_id))))) p
     JOIN public.group_results vc ON ((vc.evaluation_id = p.evaluation_id)))
     CROSS JOIN LATERAL ( SELECT vb_1.value
           FROM public.group_results vb_1
          WHERE ((vb_1.evaluation_id = p.baseline_id) AND (vb_1.group_id = vc.group_id))
         OFFSET 0) vb)
     JOIN public.groups g ON ((g.id = vc.group_id)))
  WHERE (NOT (p.dataset_id IN ( SELECT z.dataset_id
           FROM public.seals z
          WHERE z.is_sealed)));
CREATE VIEW public.run_summary AS
 SELECT run,
    run_id,
    dataset,
    run_created_at_utc AS created_at_utc,
    metric,
    label_set_version,
    mean,
    n_groups,
    n_missing,
    n_undefined,
    COALESCE(requested_as, metric) AS requested_as,
    judge,
    (run_created_at_utc)::timestamp with time zone AS created_at,
    ((judge = ANY (ARRAY[''::text, 'external results'::text, 'sums of other engines'::text])) AND (NOT (EXISTS ( SELECT 1
           FROM public.evaluations n
          WHERE ((n.run_id = e.run_id) AND (n.metric_id = e.metric_id) AND (n.judge = ANY (ARRAY[''::text, 'external results'::text, 'sums of other engines'::text])) AND (n.label_set_version > e.label_set_version)))))) AS is_newest_labels,
    ( SELECT r.sampled
           FROM public.runs r
          WHERE (r.id = e.run_id)) AS sampled
   FROM public.evaluations e
  WHERE (NOT (dataset_id IN ( SELECT z.dataset_id
           FROM public.seals z
          WHERE z.is_sealed)));
CREATE VIEW public.run_tags AS
 SELECT r.name AS run,
    r.id AS run_id,
    r.dataset,
    (e.key COLLATE "C") AS name,
    (e.value COLLATE "C") AS value
   FROM (public.runs r
     CROSS JOIN LATERAL jsonb_each_text(r.tags) e(key, value))
  WHERE (NOT (r.dataset_id IN ( SELECT z.dataset_id
           FROM public.seals z
          WHERE z.is_sealed)));
ALTER TABLE public.runs ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.runs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE TABLE public.suite_datasets (
    suite text NOT NULL COLLATE pg_catalog."C",
    dataset_id bigint NOT NULL,
    place bigint NOT NULL,
    created_at_utc text NOT NULL COLLATE pg_catalog."C"
);
COMMENT ON TABLE public.suite_datasets IS 'One row per dataset of a suite: named datasets that are looked at together.';
COMMENT ON COLUMN public.suite_datasets.suite IS 'Name of the suite.';
COMMENT ON COLUMN public.suite_datasets.dataset_id IS 'Dataset that belongs to it.';
COMMENT ON COLUMN public.suite_datasets.place IS 'Place of the dataset in the suite, from 0.';
COMMENT ON COLUMN public.suite_datasets.created_at_utc IS 'When the suite was made, ISO 8601 in UTC.';
CREATE TABLE public.suite_decisions (
    id bigint NOT NULL,
    suite text NOT NULL COLLATE pg_catalog."C",
    baseline text NOT NULL COLLATE pg_catalog."C",
    candidate text NOT NULL COLLATE pg_catalog."C",
    by_tag text COLLATE pg_catalog."C",
    runs jsonb NOT NULL,
    metric text NOT NULL COLLATE pg_catalog."C",
    margin double precision NOT NULL,
    dataset_margin double precision,
    delta double precision,
    ci_low double precision,
    ci_high double precision,
    alpha double precision,
    decision text NOT NULL COLLATE pg_catalog."C",
    reason text NOT NULL COLLATE pg_catalog."C",
    acknowledged_reason text COLLATE pg_catalog."C",
    acknowledged_by text COLLATE pg_catalog."C",
    created_at_utc text NOT NULL COLLATE pg_catalog."C",
    unjudged text COLLATE pg_catalog."C",
    delta_low double precision,
    delta_high double precision,
    judge text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    question text COLLATE pg_catalog."C",
    CONSTRAINT ck_suite_decisions_decision CHECK ((decision = ANY (ARRAY['pass'::text, 'fail'::text, 'inconclusive'::text])))
);
COMMENT ON TABLE public.suite_decisions IS 'One row per decision of a gate on a suite, and who overrode it with which reason.';
COMMENT ON COLUMN public.suite_decisions.id IS 'Number of the decision.';
COMMENT ON COLUMN public.suite_decisions.suite IS 'Name of the suite at that time.';
COMMENT ON COLUMN public.suite_decisions.baseline IS 'System to be replaced: the name of its runs, or a tag.';
COMMENT ON COLUMN public.suite_decisions.candidate IS 'System to replace it.';
COMMENT ON COLUMN public.suite_decisions.by_tag IS 'Tag whose value is the system; NULL where it is the name of its runs.';
COMMENT ON COLUMN public.suite_decisions.runs IS 'JSON object by dataset: version of the labels, ids of the runs of baseline and candidate.';
COMMENT ON COLUMN public.suite_decisions.metric IS 'The metric''s canonical text form.';
COMMENT ON COLUMN public.suite_decisions.margin IS 'Loss that the macro mean was allowed.';
COMMENT ON COLUMN public.suite_decisions.dataset_margin IS 'Loss that each dataset was allowed; NULL where nobody asked.';
COMMENT ON COLUMN public.suite_decisions.delta IS 'Candidate minus baseline, the macro mean; NULL where undefined.';
COMMENT ON COLUMN public.suite_decisions.ci_low IS 'Lower bound of delta that decided.';
COMMENT ON COLUMN public.suite_decisions.ci_high IS 'Upper bound of delta that decided.';
COMMENT ON COLUMN public.suite_decisions.alpha IS 'Error probability that FAIL allows.';
COMMENT ON COLUMN public.suite_decisions.decision IS 'pass, fail or inconclusive.';
COMMENT ON COLUMN public.suite_decisions.reason IS 'Why, in one sentence.';
COMMENT ON COLUMN public.suite_decisions.acknowledged_reason IS 'Why someone overrode the decision; NULL where nobody did.';
COMMENT ON COLUMN public.suite_decisions.acknowledged_by IS 'Who overrode the decision; NULL where nobody did.';
COMMENT ON COLUMN public.suite_decisions.created_at_utc IS 'When the decision was made, ISO 8601 in UTC.';
COMMENT ON COLUMN public.suite_decisions.unjudged IS 'What an unjudged item was worth: range, zero or bounds; NULL of older decisions.';
COMMENT ON COLUMN public.suite_decisions.delta_low IS 'Least delta that unjudged items left open; NULL where that is not known.';
COMMENT ON COLUMN public.suite_decisions.delta_high IS 'Greatest delta that unjudged items left open; NULL where that is not known.';
COMMENT ON COLUMN public.suite_decisions.judge IS 'Who gave the labels; empty for the judge that counts unless another is named.';
COMMENT ON COLUMN public.suite_decisions.question IS 'Digest of the question: runs, labels and rules; NULL of older decisions.';
ALTER TABLE public.suite_decisions ALTER COLUMN id ADD GENERATED BY DEFAULT AS IDENTITY (
    SEQUENCE NAME public.suite_decisions_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);
CREATE VIEW public.suite_gate_decisions AS
 SELECT id AS decision_id,
    suite,
    created_at_utc,
    baseline,
    candidate,
    by_tag,
    metric,
    margin,
    dataset_margin,
    delta,
    ci_low,
    ci_high,
    alpha,
    decision,
    reason,
    acknowledged_reason,
    acknowledged_by,
    (created_at_utc)::timestamp with time zone AS created_at,
    row_number() OVER (PARTITION BY suite, metric, baseline, judge ORDER BY id) AS decision_number,
    judge,
    unjudged,
    delta_low,
    delta_high
   FROM public.suite_decisions;
CREATE TABLE public.texts (
    dataset_id bigint NOT NULL,
    group_id bigint NOT NULL,
    item_key text NOT NULL COLLATE pg_catalog."C",
    text text COLLATE pg_catalog."C",
    title text COLLATE pg_catalog."C",
    url text COLLATE pg_catalog."C",
    CONSTRAINT ck_texts_of_something CHECK (((group_id > 0) OR (item_key <> ''::text)))
);
COMMENT ON TABLE public.texts IS 'One row per text: of a group, of an item in every group, or of an item in one group.';
COMMENT ON COLUMN public.texts.dataset_id IS 'Dataset of the text.';
COMMENT ON COLUMN public.texts.group_id IS 'Group of the text; 0 for an item in every group.';
COMMENT ON COLUMN public.texts.item_key IS 'Item of the text; empty for the group itself.';
COMMENT ON COLUMN public.texts.text IS 'Text of the query, or of the item; NULL where none was given.';
COMMENT ON COLUMN public.texts.title IS 'Title; NULL where none was given.';
COMMENT ON COLUMN public.texts.url IS 'Where to find it, as it was given; NULL where nothing was given.';
INSERT INTO public.alias_moves VALUES
	(1, 1, 'baseline', 1, 'bm25', '2026-11-28T15:11:04.916691Z'),
	(2, 1, 'prod', 1, 'bm25', '2026-11-28T15:11:05.417681Z');
INSERT INTO public.aliases VALUES
	(1, 'baseline', 1, '2026-11-28T15:11:04.908924Z', '2026-11-28T15:11:04.908924Z'),
	(1, 'prod', 1, '2026-11-28T15:11:05.413982Z', '2026-11-28T15:11:05.413982Z');
INSERT INTO public.budget_resets VALUES
	(1, 1, 'bm25', '{}', 'é', 'ada', 3, '2026-11-28T15:11:05.558987Z', 'prod');
INSERT INTO public.coverages VALUES
	(1, 1, 10, 0.5625),
	(1, 1, 0, 0.5625),
	(1, 1, 2, 0.625),
	(2, 1, 10, 0.6388888888888888),
	(2, 1, 0, 0.6388888888888888),
	(2, 1, 2, 0.6666666666666666),
	(4, 2, 10, 0.5625),
	(5, 3, 10, 1),
	(6, 4, 10, 0.7291666666666666),
	(6, 4, 0, 0.7291666666666666),
	(6, 4, 2, 0.75),
	(2, 5, 10, 0.6388888888888888),
	(9, 8, 10, 0.5),
	(10, 9, 10, 0.5);
INSERT INTO public.datasets VALUES
	(1, 'shop', '2026-11-28T15:11:04.336093Z'),
	(2, 'books', '2026-11-28T15:11:04.522565Z'),
	(3, 'rows', '2026-11-28T15:11:04.602375Z'),
	(4, 'clicks', '2026-11-28T15:11:05.268497Z'),
	(5, 'sealed', '2026-11-28T15:11:05.687515Z'),
	(6, 'chunks', '2026-11-28T15:11:05.745111Z'),
	(7, 'lists', '2026-11-28T15:11:05.822523Z');
INSERT INTO public.decisions VALUES
	(1, 1, 1, 2, 'bm25', 'dense', NULL, 'ndcg@10', 1, 'population', 0.5, -0.15497655832101642, -0.9207483448072183, 1, 0.01, 'inconclusive', 'delta is not shown to be above -0.5: its 95% bound is -0.9207 (one-sided betting bound, as information is low, unjudged items at their worst), nor below 0: its 99% bound is 1 (unjudged items at their best); to decide: at most about 300 groups like these (PASS)', NULL, NULL, '2026-11-28T15:11:04.799578Z', NULL, 'range', -0.15497655832101642, 0.05970038570274072, NULL, NULL, NULL, NULL, NULL, 'a0029a300a2e0db0bbd4ed1b966052c4'),
	(2, 1, 1, NULL, 'bm25', 'deleted', NULL, 'ndcg@10', 1, 'set', 0, 0, NULL, NULL, NULL, 'pass', 'identical on all 4 groups', NULL, NULL, '2026-11-28T15:11:04.851073Z', NULL, 'range', 0, 0, NULL, NULL, NULL, NULL, NULL, '24c8b5029efeb11478b44bea3ab8a086'),
	(3, 1, 1, 2, 'bm25', 'dense', 'prod', 'ndcg@10', 1, 'population', 0.5, -0.15497655832101642, -1, 1, 0.00125, 'inconclusive', 'delta is not shown to be above -0.5: its 99.875% bound is -1 (one-sided betting bound, as information is low), nor below 0: its 99.875% bound is 1; to decide: at most about 1,336 groups like these (PASS) (policy of @prod)', NULL, NULL, '2026-11-28T15:11:05.539050Z', NULL, 'zero', NULL, NULL, NULL, 0.05, 40, 1, NULL, '7f2f72bf03c257746f30b152c47bf4a7'),
	(4, 1, 1, 2, 'bm25', 'dense', 'prod', 'ndcg@10', 1, 'population', 0.25, -0.15497655832101642, -1, 1, 0.00125, 'inconclusive', 'delta is not shown to be above -0.25: its 99.875% bound is -1 (one-sided betting bound, as information is low), nor below 0: its 99.875% bound is 1; to decide: at most about 1,336 groups like these (PASS) (policy of @prod)', NULL, NULL, '2026-11-28T15:11:05.674449Z', NULL, 'zero', NULL, NULL, NULL, 0.05, 40, 1, NULL, '9964192eb252f49f0adef41665ad78cd');
INSERT INTO public.design_runs VALUES
	(1, 0, 1, 'bm25'),
	(1, 1, 2, 'dense'),
	(2, 0, 1, 'bm25'),
	(2, 1, 2, 'dense'),
	(2, 2, NULL, 'deleted');
INSERT INTO public.designs VALUES
	(1, 1, 1, 5, 'zoë', 'ndcg@10', 4, 'é', '2026-11-28T15:11:05.334608Z', 8, 6, 1, 1, 4, false, NULL),
	(2, 1, 2, 5, 'zoë', 'dcg@10', 8, 'é', '2026-11-28T15:11:05.334608Z', 8, 6, 5, 2, 20, true, 4);
INSERT INTO public.drawn_items VALUES
	(1, 2, '''; DROP TABLE runs; --', 0.2224712944651696, NULL, NULL),
	(1, 3, 'NULL', 1, NULL, NULL),
	(1, 3, '\N', 0.7385743797189627, NULL, NULL),
	(1, 4, 'z', 0.432038316128981, NULL, NULL),
	(1, 2, '日本語', 0.2224712944651696, 1, '2026-11-28T15:11:05.384688Z'),
	(2, 2, 'b', 1, NULL, NULL),
	(2, 2, 'a', 0.30000000000000004, 4, '2026-11-28T15:11:05.404188Z'),
	(2, 2, '日本語', NULL, 1, '2026-11-28T15:11:05.404188Z');
INSERT INTO public.evaluations VALUES
	(1, 1, 1, 1, 0.5516972261799464, 0.5516972261799464, 0.5697270095216198, 0.41280975868527214, 4, 0, 1, '2026-11-28T15:11:04.386047Z', '\x0100000000000000', '\x1cfa0c2bbec7e23fdc54d19845d6e33f000000000000f03f0000000000000000000000000000f87f', NULL, 'bm25', 'shop', 'ndcg@10', '', '2026-11-28T15:11:04.358357Z', 1, 1),
	(2, 1, 1, 2, 0.5416666666666666, 0.5416666666666666, 0.5416666666666666, 0.4110735718596873, 4, 0, 1, '2026-11-28T15:11:04.397060Z', '\x0100000000000000', '\xaaaaaaaaaaaae23faaaaaaaaaaaae23f000000000000f03f0000000000000000000000000000f87f', 'map', 'bm25', 'shop', 'AP', '', '2026-11-28T15:11:04.358357Z', 1, 1),
	(3, 1, 1, 3, 0.375, 0.375, 0.375, 0.25, 4, 0, 1, '2026-11-28T15:11:04.400653Z', '\x0100000000000000', '\x000000000000e03f000000000000e03f000000000000e03f0000000000000000000000000000f87f', 'P_2', 'bm25', 'shop', 'P@2', '', '2026-11-28T15:11:04.358357Z', 1, 1),
	(4, 2, 1, 1, 0.39672066785893, 0.39672066785893, 0.41475045120060333, 0.4881537042113496, 4, 1, 1, '2026-11-28T15:11:04.459720Z', '\x0100000000000000', '\x1cfa0c2bbec7e23f000000000000f03f00000000000000000000000000000000000000000000f87f', NULL, 'dense', 'shop', 'ndcg@10', '', '2026-11-28T15:11:04.442831Z', 1, 1),
	(5, 2, 1, 2, 0.3958333333333333, 0.3958333333333333, 0.3958333333333333, 0.48769582961331776, 4, 1, 1, '2026-11-28T15:11:04.462145Z', '\x0100000000000000', '\xaaaaaaaaaaaae23f000000000000f03f00000000000000000000000000000000000000000000f87f', 'map', 'dense', 'shop', 'AP', '', '2026-11-28T15:11:04.442831Z', 1, 1),
	(6, 2, 1, 3, 0.375, 0.375, 0.375, 0.47871355387816905, 4, 1, 1, '2026-11-28T15:11:04.463891Z', '\x0100000000000000', '\x000000000000e03f000000000000f03f00000000000000000000000000000000000000000000f87f', 'P_2', 'dense', 'shop', 'P@2', '', '2026-11-28T15:11:04.442831Z', 1, 1),
	(16, 7, 6, 1, 0.375, NULL, NULL, 0.25, 4, 0, 1, '2026-11-28T15:11:05.280276Z', '\x', '\x', NULL, 'week 1', 'clicks', 'ndcg@10', 'sums of other engines', '2026-11-28T15:11:05.276818Z', 4, 1),
	(17, 8, 6, 1, 0.375, NULL, NULL, 0.25, 4, 0, 1, '2026-11-28T15:11:05.290844Z', '\x', '\x', NULL, 'week 2', 'clicks', 'ndcg@10', 'sums of other engines', '2026-11-28T15:11:05.287641Z', 4, 1),
	(10, 4, 2, 1, 0.5516972261799464, 0.5516972261799464, 0.5697270095216198, 0.41280975868527214, 4, 0, 1, '2026-11-28T15:11:04.570688Z', '\x0600000000000000', '\x1cfa0c2bbec7e23fdc54d19845d6e33f000000000000f03f0000000000000000000000000000f87f', NULL, 'bm25', 'books', 'ndcg@10', '', '2026-11-28T15:11:04.533169Z', 2, 1),
	(11, 5, 3, 1, 0.6309297535714575, 0.6309297535714575, 0.6309297535714575, NULL, 1, 0, 0, '2026-11-28T15:11:04.634611Z', '\x0b00000000000000', '\x3e3535989330e43f', NULL, 'bm25', 'rows', 'ndcg@10', '', '2026-11-28T15:11:04.626951Z', 3, 1),
	(12, 6, 4, 1, 0.517376534287144, 0.517376534287144, 0.5318003609604827, 0.5015074473217337, 5, 1, 0, '2026-11-28T15:11:05.052174Z', '\x0100000000000000', '\x1cfa0c2bbec7e23f000000000000f03f00000000000000000000000000000000000000000000f03f', NULL, 'newest', 'shop', 'ndcg@10', '', '2026-11-28T15:11:05.032657Z', 1, 2),
	(13, 6, 4, 2, 0.5166666666666666, 0.5166666666666666, 0.5166666666666666, 0.5013869652163775, 5, 1, 0, '2026-11-28T15:11:05.055227Z', '\x0100000000000000', '\xaaaaaaaaaaaae23f000000000000f03f00000000000000000000000000000000000000000000f03f', 'map', 'newest', 'shop', 'AP', '', '2026-11-28T15:11:05.032657Z', 1, 2),
	(14, 6, 4, 3, 0.4, 0.4, 0.4, 0.4183300132670378, 5, 1, 0, '2026-11-28T15:11:05.056982Z', '\x0100000000000000', '\x000000000000e03f000000000000f03f00000000000000000000000000000000000000000000e03f', 'P_2', 'newest', 'shop', 'P@2', '', '2026-11-28T15:11:05.032657Z', 1, 2),
	(15, 2, 5, 1, 0.39672066785893, 0.39672066785893, 0.41475045120060333, 0.4881537042113496, 4, 1, 1, '2026-11-28T15:11:05.259500Z', '\x0100000000000000', '\x1cfa0c2bbec7e23f000000000000f03f00000000000000000000000000000000000000000000f87f', NULL, 'dense', 'shop', 'ndcg@10', 'modèle 7b', '2026-11-28T15:11:04.442831Z', 1, 3),
	(18, 9, 8, 1, 0.6309297535714575, 0.6309297535714575, 0.6309297535714575, NULL, 1, 0, 0, '2026-11-28T15:11:05.780570Z', '\x1000000000000000', '\x3e3535989330e43f', NULL, 'sampled', 'chunks', 'ndcg@10', '', '2026-11-28T15:11:05.767983Z', 6, 1),
	(19, 10, 9, 1, 1, 0.6309297535714575, 1, NULL, 1, 0, 0, '2026-11-28T15:11:05.866563Z', '\x1100000000000000', '\x000000000000f03f', NULL, 'listed', 'lists', 'ndcg@10', '', '2026-11-28T15:11:05.849192Z', 7, 1);
INSERT INTO public.group_results VALUES
	(1, 1, 0.58688267143572, 2.1309297535714578, 3.6309297535714578, NULL),
	(1, 2, 0.6199062332840657, 1.6309297535714575, 2.6309297535714578, NULL),
	(1, 3, 1, 1, 1, NULL),
	(1, 4, 0, 0, 0, NULL),
	(1, 5, NULL, 0, 0, 'no label'),
	(2, 1, 0.5833333333333333, NULL, NULL, NULL),
	(2, 2, 0.5833333333333333, NULL, NULL, NULL),
	(2, 3, 1, NULL, NULL, NULL),
	(2, 4, 0, NULL, NULL, NULL),
	(2, 5, NULL, NULL, NULL, 'no label'),
	(3, 1, 0.5, NULL, NULL, NULL),
	(3, 2, 0.5, NULL, NULL, NULL),
	(3, 3, 0.5, NULL, NULL, NULL),
	(3, 4, 0, NULL, NULL, NULL),
	(3, 5, NULL, NULL, NULL, 'no label'),
	(4, 1, 0.58688267143572, 2.1309297535714578, 3.6309297535714578, NULL),
	(4, 2, 1, 2.6309297535714578, 2.6309297535714578, NULL),
	(4, 3, 0, 0, 1, NULL),
	(4, 4, 0, 0, 0, NULL),
	(4, 5, NULL, 0, 0, 'no label'),
	(5, 1, 0.5833333333333333, NULL, NULL, NULL),
	(5, 2, 1, NULL, NULL, NULL),
	(5, 3, 0, NULL, NULL, NULL),
	(5, 4, 0, NULL, NULL, NULL),
	(5, 5, NULL, NULL, NULL, 'no label'),
	(6, 1, 0.5, NULL, NULL, NULL),
	(6, 2, 1, NULL, NULL, NULL),
	(6, 3, 0, NULL, NULL, NULL),
	(6, 4, 0, NULL, NULL, NULL),
	(6, 5, NULL, NULL, NULL, 'no label'),
	(10, 6, 0.58688267143572, 2.1309297535714578, 3.6309297535714578, NULL),
	(10, 7, 0.6199062332840657, 1.6309297535714575, 2.6309297535714578, NULL),
	(10, 8, 1, 1, 1, NULL),
	(10, 9, 0, 0, 0, NULL),
	(10, 10, NULL, 0, 0, 'no label'),
	(11, 11, 0.6309297535714575, 0.6309297535714575, 1, NULL),
	(12, 1, 0.58688267143572, 2.1309297535714578, 3.6309297535714578, NULL),
	(12, 2, 1, 2.6309297535714578, 2.6309297535714578, NULL),
	(12, 3, 0, 0, 1, NULL),
	(12, 4, 0, 0, 0, NULL),
	(12, 5, 1, 1, 1, NULL),
	(13, 1, 0.5833333333333333, NULL, NULL, NULL),
	(13, 2, 1, NULL, NULL, NULL),
	(13, 3, 0, NULL, NULL, NULL),
	(13, 4, 0, NULL, NULL, NULL),
	(13, 5, 1, NULL, NULL, NULL),
	(14, 1, 0.5, NULL, NULL, NULL),
	(14, 2, 1, NULL, NULL, NULL),
	(14, 3, 0, NULL, NULL, NULL),
	(14, 4, 0, NULL, NULL, NULL),
	(14, 5, 0.5, NULL, NULL, NULL),
	(15, 1, 0.58688267143572, 2.1309297535714578, 3.6309297535714578, NULL),
	(15, 2, 1, 2.6309297535714578, 2.6309297535714578, NULL),
	(15, 3, 0, 0, 1, NULL),
	(15, 4, 0, 0, 0, NULL),
	(15, 5, NULL, 0, 0, 'no label'),
	(18, 16, 0.6309297535714575, 0.6309297535714575, 1, NULL),
	(19, 17, 1, 1, 1, NULL);
INSERT INTO public.groups VALUES
	(2, 1, 'röd tröja', NULL, NULL),
	(3, 1, '{x,y}', NULL, NULL),
	(4, 1, 'nothing relevant', NULL, NULL),
	(5, 1, 'unjudged', NULL, NULL),
	(6, 2, 'shoes', NULL, NULL),
	(7, 2, 'röd tröja', NULL, NULL),
	(8, 2, '{x,y}', NULL, NULL),
	(9, 2, 'nothing relevant', NULL, NULL),
	(10, 2, 'unjudged', NULL, NULL),
	(11, 3, 'q', NULL, NULL),
	(1, 1, 'shoes', NULL, '{"length": 4.5, "locale": "de"}'),
	(12, 5, 'shoes', NULL, NULL),
	(13, 5, 'röd tröja', NULL, NULL),
	(14, 5, '{x,y}', NULL, NULL),
	(15, 5, 'nothing relevant', NULL, NULL),
	(16, 6, 'q', NULL, NULL),
	(17, 7, 'q', NULL, NULL);
INSERT INTO public.label_lists VALUES
	(1, 1, '{a,b,c}', '{0,3,1}'),
	(1, 2, '{日本語,"a\\b\"c"}', '{2,1}'),
	(1, 3, '{"NULL"}', '{1}'),
	(1, 4, '{y}', '{0}'),
	(2, 6, '{a,b,c}', '{0,3,1}'),
	(2, 7, '{日本語,"a\\b\"c"}', '{2,1}'),
	(2, 8, '{"NULL"}', '{1}'),
	(2, 9, '{y}', '{0}'),
	(3, 11, '{1,2}', '{0,1}'),
	(4, 1, '{a,b,c}', '{0,3,1}'),
	(4, 2, '{日本語,"a\\b\"c"}', '{2,1}'),
	(4, 3, '{"NULL"}', '{1}'),
	(4, 4, '{y}', '{0}'),
	(4, 5, '{x}', '{1}'),
	(5, 1, '{a,b,c}', '{0,3,1}'),
	(5, 2, '{日本語,"a\\b\"c"}', '{2,1}'),
	(5, 3, '{"NULL"}', '{1}'),
	(5, 4, '{y}', '{0}'),
	(7, 12, '{a,b,c}', '{0,3,1}'),
	(7, 13, '{日本語,"a\\b\"c"}', '{2,1}'),
	(7, 14, '{"NULL"}', '{1}'),
	(7, 15, '{y}', '{0}'),
	(8, 16, '{b}', '{1}'),
	(9, 17, '{b}', '{1}');
INSERT INTO public.label_sets VALUES
	(1, 1, 1, '975c520a4f5e657a75ee48251f4a8924', 4, 7, NULL, '2026-11-28T15:11:04.339326Z', false, '', NULL, NULL, NULL),
	(2, 2, 1, '975c520a4f5e657a75ee48251f4a8924', 4, 7, NULL, '2026-11-28T15:11:04.524205Z', false, '', NULL, NULL, NULL),
	(3, 3, 1, 'd423432464299f072ca75631a6a52f0c', 1, 2, NULL, '2026-11-28T15:11:04.610065Z', true, '', NULL, NULL, NULL),
	(4, 1, 2, 'c8f87edb7817b6feec6eeddb34910898', 5, 8, NULL, '2026-11-28T15:11:05.000813Z', false, '', NULL, NULL, NULL),
	(5, 1, 3, '975c520a4f5e657a75ee48251f4a8924', 4, 7, 'answers.jsonl', '2026-11-28T15:11:05.191838Z', false, 'modèle 7b', NULL, NULL, NULL),
	(6, 4, 1, '0000000000000000000000000000000f', 0, 0, NULL, '2026-11-28T15:11:05.270623Z', NULL, 'sums of other engines', NULL, NULL, NULL),
	(7, 5, 1, '975c520a4f5e657a75ee48251f4a8924', 4, 7, NULL, '2026-11-28T15:11:05.688931Z', false, '', NULL, NULL, NULL),
	(8, 6, 1, '36555188958af619c3fbe3367a66195d', 1, 1, NULL, '2026-11-28T15:11:05.746768Z', false, '', NULL, NULL, NULL),
	(9, 7, 1, '36555188958af619c3fbe3367a66195d', 1, 1, NULL, '2026-11-28T15:11:05.824807Z', false, '', NULL, NULL, NULL);
INSERT INTO public.metrics VALUES
	(1, 'ndcg@10'),
	(2, 'AP'),
	(3, 'P@2');
INSERT INTO public.ndcg_tracker_version VALUES
	('0026');
INSERT INTO public.paired_sums VALUES
	(17, 7, 4, 0.25, 0.30000000000000004, 0.5, -0.25, 2, 1, 0, 0, 1, '{"slices": [], "cluster": null, "clusters": null, "attribute": "länd"}', '2026-11-20T02:00:00.000000Z');
INSERT INTO public.policies VALUES
	(1, 1, 'prod', '{"looks": 40, "budget": 0.05, "margin": 0.5, "metric": "ndcg@10", "unjudged": "zero"}', 'zoë', '2026-11-28T15:11:05.439305Z');
INSERT INTO public.prunings VALUES
	(4, '2026-11-28T15:11:04.869819Z', false, '\x0600000000000000', NULL),
	(7, '2026-11-28T15:11:05.276264Z', true, '\x', 0),
	(8, '2026-11-28T15:11:05.286992Z', true, '\x', 0);
INSERT INTO public.ranked_lists VALUES
	(1, 1, '{a,b,c,d}', '{3.5,2.25,2.25,-1}'),
	(1, 2, '{"''; DROP TABLE runs; --","a\\b\"c",日本語}', '{5,0.30000000000000004,1e-300}'),
	(1, 3, '{"NULL","\\N","line
break"}', '{1,0.5,0.25}'),
	(1, 5, '{x}', '{1}'),
	(1, 4, '{y,z}', '{2,1}'),
	(2, 1, '{d,b,c,a}', '{1,-2.25,-2.25,-3.5}'),
	(2, 2, '{日本語,"a\\b\"c","''; DROP TABLE runs; --"}', '{-1e-300,-0.30000000000000004,-5}'),
	(2, 5, '{x}', '{-1}'),
	(2, 4, '{z,y}', '{-1,-2}'),
	(5, 11, '{1,2}', '{2,1}'),
	(6, 1, '{d,b,c,a}', '{1,-2.25,-2.25,-3.5}'),
	(6, 2, '{日本語,"a\\b\"c","''; DROP TABLE runs; --"}', '{-1e-300,-0.30000000000000004,-5}'),
	(6, 5, '{x}', '{-1}'),
	(6, 4, '{z,y}', '{-1,-2}'),
	(9, 16, '{a,b}', '{3,0.30000000000000004}'),
	(10, 17, '{b,ä}', '{1,1}');
INSERT INTO public.runs VALUES
	(1, 1, 'bm25', 'c85dc080e9053d4b2a8f82bc34d862a6', '2026-11-28T15:11:04.358357Z', NULL, 'abc123', '{"lr": "0.1"}', '{"why": "é", "branch": "main"}', 5, 13, 'shop', NULL, NULL, NULL, NULL, NULL, 'ndcg', NULL),
	(2, 1, 'dense', '86a0b2807af2b64123184b9236bfb170', '2026-11-28T15:11:04.442831Z', NULL, NULL, '{}', '{}', 4, 10, 'shop', NULL, NULL, NULL, NULL, NULL, 'ndcg', NULL),
	(4, 2, 'bm25', 'c85dc080e9053d4b2a8f82bc34d862a6', '2026-11-28T15:11:04.533169Z', NULL, NULL, '{}', '{}', 5, 13, 'books', NULL, NULL, NULL, NULL, NULL, 'ndcg', NULL),
	(5, 3, 'bm25', '28727da92765238697166e46bda7bb5d', '2026-11-28T15:11:04.626951Z', NULL, NULL, '{}', '{}', 1, 2, 'rows', NULL, NULL, NULL, NULL, NULL, 'ndcg', NULL),
	(6, 1, 'newest', '86a0b2807af2b64123184b9236bfb170', '2026-11-28T15:11:05.032657Z', NULL, NULL, '{}', '{}', 4, 10, 'shop', NULL, NULL, NULL, NULL, NULL, 'ndcg', NULL),
	(7, 4, 'week 1', '00000000000000000000000000000000', '2026-11-28T15:11:05.276818Z', NULL, NULL, '{}', '{}', 4, 0, 'clicks', NULL, NULL, NULL, NULL, NULL, 'ndcg', NULL),
	(8, 4, 'week 2', '00000000000000000000000000000000', '2026-11-28T15:11:05.287641Z', NULL, NULL, '{}', '{}', 4, 0, 'clicks', NULL, NULL, NULL, NULL, NULL, 'ndcg', NULL),
	(9, 6, 'sampled', '6143b1172022daa888cbf504f2e88a2e', '2026-11-28T15:11:05.767983Z', NULL, NULL, '{}', '{}', 1, 2, 'chunks', '100/50000', 'e87b60e7bb85aa6941c5ea9d0b3a28be', 'sum', 2, NULL, 'ndcg', NULL),
	(10, 7, 'listed', 'f1a1a5443d9999647bd295cf4005ced3', '2026-11-28T15:11:05.849192Z', NULL, NULL, '{}', '{}', 1, 2, 'lists', NULL, NULL, NULL, NULL, 'input', 'ndcg', NULL);
INSERT INTO public.seals VALUES
	(5, true, 0.05, 40, NULL, '2026-11-28T15:11:05.724481Z');
INSERT INTO public.suite_datasets VALUES
	('löcal', 1, 0, '2026-11-28T15:11:05.072292Z'),
	('löcal', 2, 1, '2026-11-28T15:11:05.072292Z'),
	('shöp', 1, 0, '2026-11-28T15:11:05.076471Z');
INSERT INTO public.suite_decisions VALUES
	(1, 'shöp', 'bm25', 'dense', NULL, '{"shop": {"baseline_run_id": 1, "candidate_run_id": 2, "label_set_version": 1}}', 'ndcg@10', 0.5, 0.25, -0.15497655832101642, -0.9207483448072183, 1, 0.01, 'inconclusive', 'delta is not shown to be above -0.5: its 95% bound is -0.9207 (one-sided betting bound, as information is low, unjudged items at their worst), nor below 0: its 99% bound is 1 (unjudged items at their best); no dataset has 25 groups, so none was judged', NULL, NULL, '2026-11-28T15:11:05.167103Z', 'range', -0.15497655832101642, 0.05970038570274072, '', '4b8559581b25d8009eb84bcda018f761');
INSERT INTO public.texts VALUES
	(1, 1, '', 'light ''shoes''
[2J', NULL, NULL),
	(1, 0, '日本語', NULL, '<script>', 'javascript:alert(1)'),
	(1, 1, 'a', NULL, 'ü‮', 'https://shop.example/?a=1&b=2');
SELECT pg_catalog.setval('public.alias_moves_id_seq', 2, true);
SELECT pg_catalog.setval('public.budget_resets_id_seq', 1, true);
SELECT pg_catalog.setval('public.datasets_id_seq', 7, true);
SELECT pg_catalog.setval('public.decisions_id_seq', 4, true);
SELECT pg_catalog.setval('public.designs_id_seq', 2, true);
SELECT pg_catalog.setval('public.evaluations_id_seq', 19, true);
SELECT pg_catalog.setval('public.label_sets_id_seq', 9, true);
SELECT pg_catalog.setval('public.metrics_id_seq', 3, true);
SELECT pg_catalog.setval('public.policies_id_seq', 1, true);
SELECT pg_catalog.setval('public.runs_id_seq', 10, true);
SELECT pg_catalog.setval('public.suite_decisions_id_seq', 1, true);
ALTER TABLE ONLY public.ndcg_tracker_version
    ADD CONSTRAINT ndcg_tracker_version_pkc PRIMARY KEY (version_num);
ALTER TABLE ONLY public.alias_moves
    ADD CONSTRAINT pk_alias_moves PRIMARY KEY (id);
ALTER TABLE ONLY public.aliases
    ADD CONSTRAINT pk_aliases PRIMARY KEY (dataset_id, name);
ALTER TABLE ONLY public.budget_resets
    ADD CONSTRAINT pk_budget_resets PRIMARY KEY (id);
ALTER TABLE ONLY public.coverages
    ADD CONSTRAINT pk_coverages PRIMARY KEY (run_id, label_set_id, cutoff);
ALTER TABLE ONLY public.datasets
    ADD CONSTRAINT pk_datasets PRIMARY KEY (id);
ALTER TABLE ONLY public.decisions
    ADD CONSTRAINT pk_decisions PRIMARY KEY (id);
ALTER TABLE ONLY public.design_runs
    ADD CONSTRAINT pk_design_runs PRIMARY KEY (design_id, place);
ALTER TABLE ONLY public.designs
    ADD CONSTRAINT pk_designs PRIMARY KEY (id);
ALTER TABLE ONLY public.drawn_items
    ADD CONSTRAINT pk_drawn_items PRIMARY KEY (design_id, group_id, item_key);
ALTER TABLE ONLY public.evaluations
    ADD CONSTRAINT pk_evaluations PRIMARY KEY (id);
ALTER TABLE ONLY public.group_results
    ADD CONSTRAINT pk_group_results PRIMARY KEY (evaluation_id, group_id);
ALTER TABLE ONLY public.groups
    ADD CONSTRAINT pk_groups PRIMARY KEY (id);
ALTER TABLE ONLY public.label_lists
    ADD CONSTRAINT pk_label_lists PRIMARY KEY (label_set_id, group_id);
ALTER TABLE ONLY public.label_sets
    ADD CONSTRAINT pk_label_sets PRIMARY KEY (id);
ALTER TABLE ONLY public.metrics
    ADD CONSTRAINT pk_metrics PRIMARY KEY (id);
ALTER TABLE ONLY public.paired_sums
    ADD CONSTRAINT pk_paired_sums PRIMARY KEY (evaluation_id, baseline_run_id);
ALTER TABLE ONLY public.policies
    ADD CONSTRAINT pk_policies PRIMARY KEY (id);
ALTER TABLE ONLY public.prunings
    ADD CONSTRAINT pk_prunings PRIMARY KEY (run_id);
ALTER TABLE ONLY public.ranked_lists
    ADD CONSTRAINT pk_ranked_lists PRIMARY KEY (run_id, group_id);
ALTER TABLE ONLY public.runs
    ADD CONSTRAINT pk_runs PRIMARY KEY (id);
ALTER TABLE ONLY public.seals
    ADD CONSTRAINT pk_seals PRIMARY KEY (dataset_id);
ALTER TABLE ONLY public.suite_datasets
    ADD CONSTRAINT pk_suite_datasets PRIMARY KEY (suite, dataset_id);
ALTER TABLE ONLY public.suite_decisions
    ADD CONSTRAINT pk_suite_decisions PRIMARY KEY (id);
ALTER TABLE ONLY public.texts
    ADD CONSTRAINT pk_texts PRIMARY KEY (dataset_id, group_id, item_key);
ALTER TABLE ONLY public.datasets
    ADD CONSTRAINT uq_datasets_name UNIQUE (name);
ALTER TABLE ONLY public.designs
    ADD CONSTRAINT uq_designs_dataset_id_number UNIQUE (dataset_id, number);
ALTER TABLE ONLY public.evaluations
    ADD CONSTRAINT uq_evaluations_run_id_label_set_id_metric_id UNIQUE (run_id, label_set_id, metric_id);
ALTER TABLE ONLY public.groups
    ADD CONSTRAINT uq_groups_dataset_id_key UNIQUE (dataset_id, key);
ALTER TABLE ONLY public.label_sets
    ADD CONSTRAINT uq_label_sets_dataset_id_version UNIQUE (dataset_id, version);
ALTER TABLE ONLY public.metrics
    ADD CONSTRAINT uq_metrics_text UNIQUE (text);
ALTER TABLE ONLY public.runs
    ADD CONSTRAINT uq_runs_dataset_id_name UNIQUE (dataset_id, name);
CREATE INDEX ix_evaluations_run_metric ON public.evaluations USING btree (run, metric);
CREATE INDEX ix_groups_key ON public.groups USING btree (key);
CREATE INDEX ix_paired_sums_baseline_run_id ON public.paired_sums USING btree (baseline_run_id);
CREATE INDEX ix_runs_dataset_id_digest ON public.runs USING btree (dataset_id, digest);
CREATE INDEX ix_runs_name ON public.runs USING btree (name);
CREATE TRIGGER ndcg_tracker_pinned BEFORE INSERT OR DELETE OR UPDATE ON public.aliases FOR EACH ROW EXECUTE FUNCTION public.ndcg_tracker_pinned();
ALTER TABLE ONLY public.alias_moves
    ADD CONSTRAINT fk_alias_moves_dataset_id FOREIGN KEY (dataset_id) REFERENCES public.datasets(id);
ALTER TABLE ONLY public.alias_moves
    ADD CONSTRAINT fk_alias_moves_run_id FOREIGN KEY (run_id) REFERENCES public.runs(id);
ALTER TABLE ONLY public.aliases
    ADD CONSTRAINT fk_aliases_dataset_id FOREIGN KEY (dataset_id) REFERENCES public.datasets(id);
ALTER TABLE ONLY public.aliases
    ADD CONSTRAINT fk_aliases_run_id FOREIGN KEY (run_id) REFERENCES public.runs(id);
ALTER TABLE ONLY public.budget_resets
    ADD CONSTRAINT fk_budget_resets_dataset_id FOREIGN KEY (dataset_id) REFERENCES public.datasets(id);
ALTER TABLE ONLY public.coverages
    ADD CONSTRAINT fk_coverages_label_set_id FOREIGN KEY (label_set_id) REFERENCES public.label_sets(id);
ALTER TABLE ONLY public.coverages
    ADD CONSTRAINT fk_coverages_run_id FOREIGN KEY (run_id) REFERENCES public.runs(id);
ALTER TABLE ONLY public.decisions
    ADD CONSTRAINT fk_decisions_baseline_run_id FOREIGN KEY (baseline_run_id) REFERENCES public.runs(id);
ALTER TABLE ONLY public.decisions
    ADD CONSTRAINT fk_decisions_candidate_run_id FOREIGN KEY (candidate_run_id) REFERENCES public.runs(id);
ALTER TABLE ONLY public.decisions
    ADD CONSTRAINT fk_decisions_dataset_id FOREIGN KEY (dataset_id) REFERENCES public.datasets(id);
ALTER TABLE ONLY public.decisions
    ADD CONSTRAINT fk_decisions_label_set_id FOREIGN KEY (label_set_id) REFERENCES public.label_sets(id);
ALTER TABLE ONLY public.design_runs
    ADD CONSTRAINT fk_design_runs_design_id FOREIGN KEY (design_id) REFERENCES public.designs(id);
ALTER TABLE ONLY public.design_runs
    ADD CONSTRAINT fk_design_runs_run_id FOREIGN KEY (run_id) REFERENCES public.runs(id);
ALTER TABLE ONLY public.designs
    ADD CONSTRAINT fk_designs_dataset_id FOREIGN KEY (dataset_id) REFERENCES public.datasets(id);
ALTER TABLE ONLY public.designs
    ADD CONSTRAINT fk_designs_label_set_id FOREIGN KEY (label_set_id) REFERENCES public.label_sets(id);
ALTER TABLE ONLY public.drawn_items
    ADD CONSTRAINT fk_drawn_items_design_id FOREIGN KEY (design_id) REFERENCES public.designs(id);
ALTER TABLE ONLY public.drawn_items
    ADD CONSTRAINT fk_drawn_items_group_id FOREIGN KEY (group_id) REFERENCES public.groups(id);
ALTER TABLE ONLY public.evaluations
    ADD CONSTRAINT fk_evaluations_label_set_id FOREIGN KEY (label_set_id) REFERENCES public.label_sets(id);
ALTER TABLE ONLY public.evaluations
    ADD CONSTRAINT fk_evaluations_metric_id FOREIGN KEY (metric_id) REFERENCES public.metrics(id);
ALTER TABLE ONLY public.evaluations
    ADD CONSTRAINT fk_evaluations_run_id FOREIGN KEY (run_id) REFERENCES public.runs(id);
ALTER TABLE ONLY public.groups
    ADD CONSTRAINT fk_groups_dataset_id FOREIGN KEY (dataset_id) REFERENCES public.datasets(id);
ALTER TABLE ONLY public.label_sets
    ADD CONSTRAINT fk_label_sets_dataset_id FOREIGN KEY (dataset_id) REFERENCES public.datasets(id);
ALTER TABLE ONLY public.paired_sums
    ADD CONSTRAINT fk_paired_sums_baseline_run_id FOREIGN KEY (baseline_run_id) REFERENCES public.runs(id);
ALTER TABLE ONLY public.paired_sums
    ADD CONSTRAINT fk_paired_sums_evaluation_id FOREIGN KEY (evaluation_id) REFERENCES public.evaluations(id);
ALTER TABLE ONLY public.policies
    ADD CONSTRAINT fk_policies_dataset_id FOREIGN KEY (dataset_id) REFERENCES public.datasets(id);
ALTER TABLE ONLY public.prunings
    ADD CONSTRAINT fk_prunings_run_id FOREIGN KEY (run_id) REFERENCES public.runs(id);
ALTER TABLE ONLY public.runs
    ADD CONSTRAINT fk_runs_dataset_id FOREIGN KEY (dataset_id) REFERENCES public.datasets(id);
ALTER TABLE ONLY public.seals
    ADD CONSTRAINT fk_seals_dataset_id FOREIGN KEY (dataset_id) REFERENCES public.datasets(id);
ALTER TABLE ONLY public.suite_datasets
    ADD CONSTRAINT fk_suite_datasets_dataset_id FOREIGN KEY (dataset_id) REFERENCES public.datasets(id);
ALTER TABLE ONLY public.texts
    ADD CONSTRAINT fk_texts_dataset_id FOREIGN KEY (dataset_id) REFERENCES public.datasets(id);
