package postgres

import (
	"context"
	"database/sql"
)

// addCalibrations is migration 15: calibrations of questions, and which of them are pinned (spec: calibration-pins). The pins of a
// prism are rows under an id, which prisms has as text, as it is read beside the slug. Rows of an earlier id stay for readers that
// have found it. Nothing of both tables is ever changed.
//
// Calls go on meanwhile: the column does not make Postgres write the rows. The previous release works without all of it, and shows
// what is stored in calibrated columns (spec: calibrated-and-the-previous-release).
func addCalibrations(ctx context.Context, db *sql.DB) error {
	if err := alter(ctx, db, `ALTER TABLE prisms ADD COLUMN IF NOT EXISTS pins text COLLATE "C"`); err != nil {
		return err
	}
	return alter(ctx, db, `CREATE TABLE IF NOT EXISTS calibrations (
    account_id uuid           NOT NULL,
    prism_id   uuid           NOT NULL,
    version    integer        NOT NULL,
    id         uuid           NOT NULL,
    question   text           NOT NULL COLLATE "C",
    fit        json           NOT NULL,
    measures   json           NOT NULL,
    created_at timestamptz(3) NOT NULL,
    CONSTRAINT calibrations_pkey PRIMARY KEY (account_id, prism_id, version, id)
);
CREATE TABLE IF NOT EXISTS calibration_pins (
    account_id     uuid    NOT NULL,
    prism_id       uuid    NOT NULL,
    pins_id        uuid    NOT NULL,
    version        integer NOT NULL,
    question       text    NOT NULL COLLATE "C",
    calibration_id uuid    NOT NULL,
    CONSTRAINT calibration_pins_pkey PRIMARY KEY (account_id, prism_id, pins_id, version, question)
)`)
}

// dropCalibrations undoes addCalibrations.
func dropCalibrations(ctx context.Context, db *sql.DB) error {
	if err := alter(ctx, db, "DROP TABLE IF EXISTS calibration_pins, calibrations"); err != nil {
		return err
	}
	return alter(ctx, db, "ALTER TABLE prisms DROP COLUMN IF EXISTS pins")
}
