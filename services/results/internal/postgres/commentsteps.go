package postgres

import (
	"context"
	"database/sql"
)

// Comments of results, and whom results are assigned to (spec: comment-create, assignee-put). Triggers count the bytes of comments, and
// delete both with their result.
const (
	createComments = `CREATE TABLE IF NOT EXISTS comments (
    account_id  uuid           NOT NULL,
    result_id   uuid           NOT NULL,
    id          uuid           NOT NULL,
    author_kind text           NOT NULL COLLATE "C",
    author_id   uuid           NOT NULL,
    "text"      text           NOT NULL,
    created_at  timestamptz(3) NOT NULL,
    CONSTRAINT comments_pkey PRIMARY KEY (account_id, result_id, id)
);
CREATE TABLE IF NOT EXISTS assignments (
    account_id uuid NOT NULL,
    result_id  uuid NOT NULL,
    member_id  uuid NOT NULL,
    CONSTRAINT assignments_pkey PRIMARY KEY (account_id, result_id)
);
CREATE INDEX IF NOT EXISTS assignments_by_member ON assignments (account_id, member_id, result_id)`

	countComments = `EXECUTE format($f$CREATE OR REPLACE FUNCTION store_comment() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $t$
BEGIN
    IF TG_OP = 'INSERT' THEN
        INSERT INTO %I.stored_bytes_tail VALUES (NEW.account_id, octet_length(NEW.text) + 256);
    ELSE
        INSERT INTO %I.stored_bytes_tail VALUES (OLD.account_id, -octet_length(OLD.text) - 256);
    END IF;
    RETURN NULL;
END $t$
$f$, current_schema(), current_schema());
DROP TRIGGER IF EXISTS store_comment ON comments;
CREATE TRIGGER store_comment AFTER INSERT OR DELETE ON comments FOR EACH ROW EXECUTE FUNCTION store_comment()`

	removeComments = `EXECUTE format($f$CREATE OR REPLACE FUNCTION remove_comments() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $t$
BEGIN
    DELETE FROM %I.comments c USING removed r WHERE c.account_id = r.account_id AND c.result_id = r.id;
    DELETE FROM %I.assignments a USING removed r WHERE a.account_id = r.account_id AND a.result_id = r.id;
    RETURN NULL;
END $t$
$f$, current_schema(), current_schema());
DROP TRIGGER IF EXISTS remove_comments ON results;
CREATE TRIGGER remove_comments AFTER DELETE ON results REFERENCING OLD TABLE AS removed FOR EACH STATEMENT
	EXECUTE FUNCTION remove_comments()`
)

func makeComments(ctx context.Context, db *sql.DB) error {
	if _, err := db.ExecContext(ctx, createComments); err != nil {
		return err
	}
	return changeTables(ctx, db, countComments+"; "+removeComments)
}
