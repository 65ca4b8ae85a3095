-- Calibrations of questions, and which of them are pinned (spec: calibration-pins). The pins of a prism are rows under an id, which
-- prisms has as text, as it is read beside the slug. Nothing of both tables is ever changed.

-- +goose Up
ALTER TABLE prisms ADD COLUMN pins TEXT;
CREATE TABLE calibrations (
    account_id BLOB    NOT NULL,
    prism_id   BLOB    NOT NULL,
    version    INTEGER NOT NULL,
    id         BLOB    NOT NULL,
    question   TEXT    NOT NULL,
    fit        BLOB    NOT NULL,
    measures   BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (account_id, prism_id, version, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE calibration_pins (
    account_id     BLOB    NOT NULL,
    prism_id       BLOB    NOT NULL,
    pins_id        BLOB    NOT NULL,
    version        INTEGER NOT NULL,
    question       TEXT    NOT NULL,
    calibration_id BLOB    NOT NULL,
    PRIMARY KEY (account_id, prism_id, pins_id, version, question)
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE calibration_pins;
DROP TABLE calibrations;
ALTER TABLE prisms DROP COLUMN pins;
