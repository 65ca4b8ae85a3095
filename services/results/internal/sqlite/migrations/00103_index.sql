-- The index of results (spec: result-index): hashes of their words and of what is known of them, and the numbers of their answers, each in
-- four bytes that sort as it does. A result that is deleted is taken out in the same transaction.
--
-- index_cursors has for each account the last change that is indexed, and the id from which on older results are; null: all of them. An
-- account without a row was made later, so that all of its results have changes.

-- +goose Up
CREATE TABLE result_index (
    id         INTEGER PRIMARY KEY,
    account_id BLOB    NOT NULL,
    result_id  BLOB    NOT NULL,
    version    INTEGER NOT NULL,
    terms      TEXT    NOT NULL,
    numbers    BLOB    NOT NULL,
    UNIQUE (account_id, result_id),
    FOREIGN KEY (account_id, result_id) REFERENCES results (account_id, id) ON DELETE CASCADE
) STRICT;

-- Without secure-delete, what is deleted would stay in the file.
CREATE VIRTUAL TABLE term_index USING fts5(
    terms, content='result_index', content_rowid='id', detail='none', columnsize=0, tokenize='ascii'
);
INSERT INTO term_index (term_index, rank) VALUES ('secure-delete', 1);
-- +goose StatementBegin
CREATE TRIGGER result_indexed AFTER INSERT ON result_index BEGIN
    INSERT INTO term_index (rowid, terms) VALUES (NEW.id, NEW.terms);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER result_index_removed AFTER DELETE ON result_index BEGIN
    INSERT INTO term_index (term_index, rowid, terms) VALUES ('delete', OLD.id, OLD.terms);
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER result_index_changed AFTER UPDATE ON result_index BEGIN
    INSERT INTO term_index (term_index, rowid, terms) VALUES ('delete', OLD.id, OLD.terms);
    INSERT INTO term_index (rowid, terms) VALUES (NEW.id, NEW.terms);
END;
-- +goose StatementEnd

CREATE TABLE index_cursors (
    account_id BLOB    NOT NULL PRIMARY KEY,
    seq        INTEGER NOT NULL,
    old        BLOB
) STRICT, WITHOUT ROWID;
INSERT INTO index_cursors (account_id, seq, old) SELECT account_id, seq, x'ffffffffffffffffffffffffffffffff' FROM change_counts;
