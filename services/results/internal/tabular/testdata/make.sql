create table t (id int, text text, tag text, n numeric, at timestamptz);
set timezone = 'UTC';
insert into t values (1, E'Where, "is"\nmy card?', 'a', 1.50, '2026-02-28 13:05:59Z'), (2, E'tab\there', null, null, null), (3, '', '\N', 0, null);
\copy t to 'postgres-copy.csv' with (format csv, header)
\copy t to 'postgres-copy-text.tsv' with (format text, header)
\copy (select row_to_json(t) from t) to 'postgres-copy-json.csv' with (format csv, header)
\a \t \o postgres-row-to-json.jsonl
select row_to_json(t) from t;
