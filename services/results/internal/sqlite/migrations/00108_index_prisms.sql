-- The prisms whose results searches leave out (spec: prism-searchable), and those whose results they left out before. The results from old
-- on are in the index, or taken out of it, as searchable says; null: all of them.

-- +goose Up
CREATE TABLE index_prisms (
    account_id BLOB    NOT NULL,
    prism_id   BLOB    NOT NULL,
    searchable INTEGER NOT NULL,
    old        BLOB,
    PRIMARY KEY (account_id, prism_id)
) STRICT, WITHOUT ROWID;
