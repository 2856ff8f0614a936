-- 0027
;
CREATE VIEW alias_history AS
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
           FROM (alias_moves m
             JOIN datasets d ON ((d.id = m.dataset_id)))
          WHERE (NOT (m.dataset_id IN ( SELECT z.dataset_id
                   FROM seals z
                  WHERE z.is_sealed)))) h
  WHERE (run IS NOT NULL);
;
CREATE VIEW dataset_list AS
 SELECT name AS dataset,
    ( SELECT count(*) AS count
           FROM runs r
          WHERE (r.dataset_id = d.id)) AS n_runs,
    ( SELECT count(*) AS count
           FROM groups g
          WHERE ((g.key <> ''::text) AND (g.dataset_id = d.id))) AS n_groups,
    ( SELECT max(s.version) AS max
           FROM label_sets s
          WHERE ((s.dataset_id = d.id) AND (s.judge = ''::text))) AS label_set_version
   FROM datasets d
  WHERE (NOT (id IN ( SELECT z.dataset_id
           FROM seals z
          WHERE z.is_sealed)));
;
CREATE VIEW drawn_labels AS
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
   FROM ((((drawn_items i
     JOIN designs e ON ((e.id = i.design_id)))
     JOIN datasets d ON ((d.id = e.dataset_id)))
     JOIN label_sets s ON ((s.id = e.label_set_id)))
     JOIN groups g ON ((g.id = i.group_id)))
  WHERE (NOT (s.dataset_id IN ( SELECT z.dataset_id
           FROM seals z
          WHERE z.is_sealed)));
;
CREATE VIEW gate_decisions AS
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
   FROM ((decisions c
     JOIN datasets d ON ((d.id = c.dataset_id)))
     JOIN label_sets s ON ((s.id = c.label_set_id)))
  WHERE (NOT (c.dataset_id IN ( SELECT z.dataset_id
           FROM seals z
          WHERE z.is_sealed)));
;
CREATE VIEW gate_resets AS
 SELECT d.name AS dataset,
    r.baseline_run AS baseline,
    r.reason,
    r.reset_by,
    r.created_at_utc
   FROM (budget_resets r
     JOIN datasets d ON ((d.id = r.dataset_id)))
  WHERE (NOT (r.dataset_id IN ( SELECT z.dataset_id
           FROM seals z
          WHERE z.is_sealed)));
;
CREATE VIEW group_attributes AS
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
   FROM ((groups g
     JOIN datasets d ON ((d.id = g.dataset_id)))
     CROSS JOIN LATERAL jsonb_each(g.attributes) e(key, value))
  WHERE (NOT (g.dataset_id IN ( SELECT z.dataset_id
           FROM seals z
          WHERE z.is_sealed)));
;
CREATE VIEW group_diff AS
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
           FROM (evaluations n
             JOIN evaluations m ON (((m.label_set_id = n.label_set_id) AND (m.metric_id = n.metric_id))))
          WHERE ((n.run_id = eb.run_id) AND (m.run_id = ec.run_id) AND (n.metric_id = eb.metric_id) AND (n.judge = ANY (ARRAY[''::text, 'external results'::text, 'sums of other engines'::text])) AND (n.label_set_version > eb.label_set_version)))))) AS is_newest_labels
   FROM ((((evaluations eb
     JOIN evaluations ec ON (((ec.label_set_id = eb.label_set_id) AND (ec.metric_id = eb.metric_id) AND (ec.run_id <> eb.run_id))))
     JOIN group_results vc ON ((vc.evaluation_id = ec.id)))
     CROSS JOIN LATERAL ( SELECT vb_1.value
           FROM group_results vb_1
          WHERE ((vb_1.evaluation_id = eb.id) AND (vb_1.group_id = vc.group_id))
         OFFSET 0) vb)
     JOIN groups g ON (((g.id = vc.group_id) AND (g.dataset_id = eb.dataset_id))))
  WHERE (NOT (eb.dataset_id IN ( SELECT z.dataset_id
           FROM seals z
          WHERE z.is_sealed)));
;
CREATE VIEW group_history AS
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
           FROM evaluations n
          WHERE ((n.run_id = e.run_id) AND (n.metric_id = e.metric_id) AND (n.judge = ANY (ARRAY[''::text, 'external results'::text, 'sums of other engines'::text])) AND (n.label_set_version > e.label_set_version)))))) AS is_newest_labels,
    g.weight,
        CASE
            WHEN (e.judge = ANY (ARRAY['external results'::text, 'sums of other engines'::text])) THEN NULL::boolean
            WHEN (v.undefined_reason = 'missing from the run'::text) THEN true
            WHEN ((e.n_missing = 0) OR (v.dcg <> (0)::double precision)) THEN false
            WHEN (EXISTS ( SELECT 1
               FROM ranked_lists l
              WHERE ((l.run_id = e.run_id) AND (l.group_id = v.group_id)))) THEN false
            WHEN (EXISTS ( SELECT 1
               FROM prunings p
              WHERE (p.run_id = e.run_id))) THEN NULL::boolean
            ELSE true
        END AS is_missing
   FROM ((evaluations e
     JOIN group_results v ON ((v.evaluation_id = e.id)))
     JOIN groups g ON (((g.id = v.group_id) AND (g.dataset_id = e.dataset_id))))
  WHERE (NOT (e.dataset_id IN ( SELECT z.dataset_id
           FROM seals z
          WHERE z.is_sealed)));
;
CREATE VIEW group_list AS
 SELECT d.name AS dataset,
    g.key AS group_key,
    g.weight
   FROM (groups g
     JOIN datasets d ON ((d.id = g.dataset_id)))
  WHERE ((g.key <> ''::text) AND (NOT (g.dataset_id IN ( SELECT z.dataset_id
           FROM seals z
          WHERE z.is_sealed))));
;
CREATE VIEW items AS
 SELECT r.name AS run,
    r.id AS run_id,
    r.dataset,
    g.key AS group_key,
    i.rank,
    i.item_key,
    i.score
   FROM (((runs r
     JOIN ranked_lists l ON ((l.run_id = r.id)))
     JOIN groups g ON (((g.id = l.group_id) AND (g.dataset_id = r.dataset_id))))
     CROSS JOIN LATERAL ( SELECT generate_series((1)::bigint, (cardinality(l.item_keys))::bigint) AS rank,
            unnest(l.item_keys) AS item_key,
            unnest(l.scores) AS score) i)
  WHERE (NOT (r.dataset_id IN ( SELECT z.dataset_id
           FROM seals z
          WHERE z.is_sealed)));
;
CREATE VIEW label_coverage AS
 SELECT r.name AS run,
    d.name AS dataset,
    s.version AS label_set_version,
    NULLIF(c.cutoff, 0) AS cutoff,
    c.judged_share,
    s.judge,
    c.run_id,
    ((s.judge = ANY (ARRAY[''::text, 'external results'::text, 'sums of other engines'::text])) AND (NOT (EXISTS ( SELECT 1
           FROM (coverages n
             JOIN label_sets t ON ((t.id = n.label_set_id)))
          WHERE ((n.run_id = c.run_id) AND (n.cutoff = c.cutoff) AND (t.judge = ANY (ARRAY[''::text, 'external results'::text, 'sums of other engines'::text])) AND (t.version > s.version)))))) AS is_newest_labels,
    r.created_at_utc,
    (r.created_at_utc)::timestamp with time zone AS created_at
   FROM (((coverages c
     JOIN runs r ON ((r.id = c.run_id)))
     JOIN datasets d ON ((d.id = r.dataset_id)))
     JOIN label_sets s ON ((s.id = c.label_set_id)))
  WHERE (NOT (r.dataset_id IN ( SELECT z.dataset_id
           FROM seals z
          WHERE z.is_sealed)));
;
CREATE VIEW labels AS
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
                   FROM label_sets n
                  WHERE ((n.dataset_id = l_1.dataset_id) AND (n.judge = ''::text) AND (n.version > l_1.version)))))) AS is_newest_labels
           FROM (label_sets l_1
             JOIN datasets d ON ((d.id = l_1.dataset_id)))
         OFFSET 0) s
     JOIN label_lists l ON ((l.label_set_id = s.id)))
     JOIN groups g ON (((g.id = l.group_id) AND (g.dataset_id = s.dataset_id))))
     CROSS JOIN LATERAL UNNEST(l.item_keys, l.grades) i(item_key, grade))
  WHERE (NOT (s.dataset_id IN ( SELECT z.dataset_id
           FROM seals z
          WHERE z.is_sealed)));
;
CREATE VIEW metric_list AS
 SELECT dataset,
    metric,
    max(COALESCE(requested_as, metric)) AS requested_as,
    count(DISTINCT run_id) AS n_runs
   FROM evaluations e
  WHERE (NOT (dataset_id IN ( SELECT z.dataset_id
           FROM seals z
          WHERE z.is_sealed)))
  GROUP BY dataset, metric;
;
CREATE VIEW run_aliases AS
 SELECT r.dataset,
    a.name AS alias,
    r.name AS run,
    r.id AS run_id,
    a.updated_at_utc,
    (a.updated_at_utc)::timestamp with time zone AS updated_at
   FROM (aliases a
     JOIN runs r ON ((r.id = a.run_id)))
  WHERE (NOT (r.dataset_id IN ( SELECT z.dataset_id
           FROM seals z
          WHERE z.is_sealed)));
;
CREATE VIEW run_details AS
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
           FROM prunings p
          WHERE (p.run_id = r.id)) AS pruned_at_utc,
    sampled,
    collapsed,
    documents_in_ten,
    tie_order
   FROM runs r
  WHERE (NOT (dataset_id IN ( SELECT z.dataset_id
           FROM seals z
          WHERE z.is_sealed)));
;
CREATE VIEW run_list AS
 SELECT dataset,
    name AS run,
    id AS run_id,
    (row_number() OVER (PARTITION BY dataset ORDER BY created_at_utc DESC, id DESC) + 0) AS place,
    ( SELECT string_agg(('@'::text || a.name), ' '::text ORDER BY a.name) AS string_agg
           FROM aliases a
          WHERE ((a.run_id = r.id) AND (a.dataset_id = r.dataset_id))) AS aliases,
    created_at_utc,
    (created_at_utc)::timestamp with time zone AS created_at
   FROM runs r
  WHERE (NOT (dataset_id IN ( SELECT z.dataset_id
           FROM seals z
          WHERE z.is_sealed)));
;
CREATE VIEW run_parameters AS
 SELECT r.name AS run,
    r.id AS run_id,
    r.dataset,
    (e.key COLLATE "C") AS name,
    (e.value COLLATE "C") AS value
   FROM (runs r
     CROSS JOIN LATERAL jsonb_each_text(r.parameters) e(key, value))
  WHERE (NOT (r.dataset_id IN ( SELECT z.dataset_id
           FROM seals z
          WHERE z.is_sealed)));
;
CREATE VIEW run_regressions AS
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
                           FROM evaluations e
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
                   FROM (evaluations n
                     JOIN evaluations m ON (((m.label_set_id = n.label_set_id) AND (m.metric_id = n.metric_id))))
                  WHERE ((n.run_id = b.run_id) AND (m.run_id = e.run_id) AND (n.metric_id = b.metric_id) AND (n.judge = ANY (ARRAY[''::text, 'external results'::text, 'sums of other engines'::text])) AND (n.label_set_version > b.label_set_version))))))
           FROM ((aliases a
             JOIN evaluations b ON ((b.run_id = a.run_id)))
             JOIN evaluations e ON (((e.label_set_id = b.label_set_id) AND (e.metric_id = b.metric_id) AND (e.run_id <> b.run_id))))) p
     JOIN group_results vc ON ((vc.evaluation_id = p.evaluation_id)))
     CROSS JOIN LATERAL ( SELECT vb_1.value
           FROM group_results vb_1
          WHERE ((vb_1.evaluation_id = p.baseline_id) AND (vb_1.group_id = vc.group_id))
         OFFSET 0) vb)
     JOIN groups g ON ((g.id = vc.group_id)))
  WHERE (NOT (p.dataset_id IN ( SELECT z.dataset_id
           FROM seals z
          WHERE z.is_sealed)));
;
CREATE VIEW run_summary AS
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
           FROM evaluations n
          WHERE ((n.run_id = e.run_id) AND (n.metric_id = e.metric_id) AND (n.judge = ANY (ARRAY[''::text, 'external results'::text, 'sums of other engines'::text])) AND (n.label_set_version > e.label_set_version)))))) AS is_newest_labels,
    ( SELECT r.sampled
           FROM runs r
          WHERE (r.id = e.run_id)) AS sampled
   FROM evaluations e
  WHERE (NOT (dataset_id IN ( SELECT z.dataset_id
           FROM seals z
          WHERE z.is_sealed)));
;
CREATE VIEW run_tags AS
 SELECT r.name AS run,
    r.id AS run_id,
    r.dataset,
    (e.key COLLATE "C") AS name,
    (e.value COLLATE "C") AS value
   FROM (runs r
     CROSS JOIN LATERAL jsonb_each_text(r.tags) e(key, value))
  WHERE (NOT (r.dataset_id IN ( SELECT z.dataset_id
           FROM seals z
          WHERE z.is_sealed)));
;
CREATE VIEW suite_gate_decisions AS
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
   FROM suite_decisions;
