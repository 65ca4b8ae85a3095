-- Deletions of what a search finds (spec: results-delete): its words and conditions, and when the job is due. For the release before,
-- which would delete what they leave out, such a job is never due.

-- +goose Up
ALTER TABLE deletions ADD COLUMN search TEXT;
ALTER TABLE deletions ADD COLUMN search_due_at INTEGER;
CREATE INDEX deletions_search_due ON deletions (search_due_at) WHERE search_due_at IS NOT NULL;
