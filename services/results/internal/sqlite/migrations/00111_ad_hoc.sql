-- Ad-hoc prisms (spec: adhoc-kept). One without results is archived and has no version; the next result makes it anew.

-- +goose Up
ALTER TABLE prisms ADD COLUMN ad_hoc INTEGER NOT NULL DEFAULT 0;
CREATE INDEX prisms_ad_hoc ON prisms (account_id, id) WHERE ad_hoc AND archived_at IS NULL;
