-- Counter history. A row is what one instance of `type` (site, pool, ...) counted on one node in the step that begins at `at` (seconds
-- since 1970): c1, c2, ... in the order of proto/contract/counters.h, the growth of a counter or the highest value of a gauge, null for 0.
-- uid -F: the sum over all instances in farm F; the one of type 1 is there for every node heard from, whatever it counted.
-- The steps of ten seconds are written, each batch with a number of its own (`flush`), so that writing it again changes nothing;
-- those of a minute and an hour are made of them. Control makes the partitions ahead and drops them by age.
CREATE TABLE counter_10s (
    uid bigint NOT NULL, node_uid bigint NOT NULL, at bigint NOT NULL, flush bigint NOT NULL, type smallint NOT NULL,
    c1 bigint, c2 bigint, c3 bigint, c4 bigint, c5 bigint, c6 bigint, c7 bigint, c8 bigint, c9 bigint, c10 bigint, c11
    bigint, c12 bigint, c13 bigint, c14 bigint, c15 bigint, c16 bigint, c17 bigint, c18 bigint, c19 bigint, c20
    bigint, c21 bigint, c22 bigint, c23 bigint, c24 bigint,
    PRIMARY KEY (type, uid, at, node_uid, flush)
) PARTITION BY RANGE (at);
CREATE INDEX counter_10s_at ON counter_10s USING brin (at) WITH (pages_per_range = 16);
CREATE TABLE counter_1m (
    uid bigint NOT NULL, node_uid bigint NOT NULL, at bigint NOT NULL, type smallint NOT NULL,
    c1 bigint, c2 bigint, c3 bigint, c4 bigint, c5 bigint, c6 bigint, c7 bigint, c8 bigint, c9 bigint, c10 bigint, c11
    bigint, c12 bigint, c13 bigint, c14 bigint, c15 bigint, c16 bigint, c17 bigint, c18 bigint, c19 bigint, c20
    bigint, c21 bigint, c22 bigint, c23 bigint, c24 bigint,
    PRIMARY KEY (type, uid, at, node_uid)
) PARTITION BY RANGE (at);
CREATE INDEX counter_1m_at ON counter_1m USING brin (at) WITH (pages_per_range = 16);
CREATE TABLE counter_1h (
    uid bigint NOT NULL, node_uid bigint NOT NULL, at bigint NOT NULL, type smallint NOT NULL,
    c1 bigint, c2 bigint, c3 bigint, c4 bigint, c5 bigint, c6 bigint, c7 bigint, c8 bigint, c9 bigint, c10 bigint, c11
    bigint, c12 bigint, c13 bigint, c14 bigint, c15 bigint, c16 bigint, c17 bigint, c18 bigint, c19 bigint, c20
    bigint, c21 bigint, c22 bigint, c23 bigint, c24 bigint,
    PRIMARY KEY (type, uid, at, node_uid)
) PARTITION BY RANGE (at);
CREATE INDEX counter_1h_at ON counter_1h USING brin (at) WITH (pages_per_range = 16);

-- How far the steps of a minute and an hour are made: all that begin before `until`, and of the one at `until` what comes before
-- (type, uid, node_uid). A batch that is written late sets it back.
CREATE TABLE counter_rollup (
    step bigint PRIMARY KEY, until bigint NOT NULL, type smallint NOT NULL, uid bigint NOT NULL, node_uid bigint NOT NULL
);
INSERT INTO counter_rollup VALUES (60, 0, 0, 0, 0), (3600, 0, 0, 0, 0);
