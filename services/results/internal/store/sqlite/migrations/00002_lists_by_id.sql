-- Lists and exports are ordered by id, which begins with its time of creation. The primary keys serve the lists of all
-- results and of all prisms.

-- +goose Up
DROP INDEX results_newest;
DROP INDEX results_failed;
DROP INDEX results_of_prism;
DROP INDEX results_of_ref;
DROP INDEX prisms_newest;
CREATE INDEX results_by_prism ON results (account_id, prism_id, id);
CREATE INDEX results_by_ref ON results (account_id, ref, id) WHERE ref IS NOT NULL;
CREATE INDEX results_by_failure ON results (account_id, id) WHERE status = 'failed';

-- +goose Down
DROP INDEX results_by_prism;
DROP INDEX results_by_ref;
DROP INDEX results_by_failure;
CREATE INDEX results_newest ON results (account_id, created_at, id);
CREATE INDEX results_failed ON results (account_id, created_at, id) WHERE status = 'failed';
CREATE INDEX results_of_prism ON results (account_id, prism_id, created_at, id);
CREATE INDEX results_of_ref ON results (account_id, ref, created_at, id) WHERE ref IS NOT NULL;
CREATE INDEX prisms_newest ON prisms (account_id, created_at, id);
