-- A result has the call of its model and the API key that made the call (spec: record-members). They are null for results that
-- were saved before.

-- +goose Up
ALTER TABLE results ADD COLUMN key_id BLOB;
ALTER TABLE results ADD COLUMN model TEXT;
ALTER TABLE results ADD COLUMN input_tokens INTEGER;
ALTER TABLE results ADD COLUMN output_tokens INTEGER;
ALTER TABLE results ADD COLUMN cost INTEGER;
ALTER TABLE results ADD COLUMN currency TEXT;
ALTER TABLE results ADD COLUMN call BLOB;

-- What results used (spec: usage-is-exact). A day is a number of days since 1970. cost is whole units of the currency, cost_rest
-- is what exceeds them, in 10^-12 of the currency: SQLite has no integers above 64 bits.
CREATE TABLE usage (
    account_id    BLOB    NOT NULL,
    day           INTEGER NOT NULL,
    prism_id      BLOB    NOT NULL,
    model         TEXT    NOT NULL,
    key_id        BLOB    NOT NULL,
    currency      TEXT    NOT NULL,
    results       INTEGER NOT NULL,
    failed        INTEGER NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost          INTEGER NOT NULL,
    cost_rest     INTEGER NOT NULL,
    PRIMARY KEY (account_id, day, prism_id, model, key_id, currency)
) STRICT, WITHOUT ROWID;
INSERT INTO usage
SELECT account_id, created_at / 86400000, prism_id, '', zeroblob(16), '', count(*), sum(status = 'failed'), 0, 0, 0, 0
FROM results GROUP BY 1, 2, 3;

-- The name that the statements share with those of Postgres, whose table is behind.
CREATE VIEW usage_now AS SELECT * FROM usage;

-- The probe of a store that cannot be written saves a result of an account that is none (probe.go).
-- +goose StatementBegin
CREATE TRIGGER count_result AFTER INSERT ON results WHEN NEW.account_id <> x'00' BEGIN
    INSERT INTO usage
    VALUES (NEW.account_id, NEW.created_at / 86400000, NEW.prism_id, coalesce(NEW.model, ''), coalesce(NEW.key_id, zeroblob(16)),
        coalesce(NEW.currency, ''), 1, NEW.status = 'failed', coalesce(NEW.input_tokens, 0), coalesce(NEW.output_tokens, 0),
        coalesce(NEW.cost, 0) / 1000000000000, coalesce(NEW.cost, 0) % 1000000000000)
    ON CONFLICT DO UPDATE SET
        results = results + 1, failed = failed + excluded.failed,
        input_tokens = input_tokens + excluded.input_tokens, output_tokens = output_tokens + excluded.output_tokens,
        cost = cost + excluded.cost + (cost_rest + excluded.cost_rest) / 1000000000000,
        cost_rest = (cost_rest + excluded.cost_rest) % 1000000000000;
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER count_result;
DROP VIEW usage_now;
DROP TABLE usage;
ALTER TABLE results DROP COLUMN call;
ALTER TABLE results DROP COLUMN currency;
ALTER TABLE results DROP COLUMN cost;
ALTER TABLE results DROP COLUMN output_tokens;
ALTER TABLE results DROP COLUMN input_tokens;
ALTER TABLE results DROP COLUMN model;
ALTER TABLE results DROP COLUMN key_id;
