package quality

import (
	"context"
	"errors"
	"slices"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/prisms"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// SQL is a Store and a LabelStore in a database.
type SQL struct{ sqldb.Database }

// The column question of calibrations and pins has the names of targets.
//
// The pins of a prism are rows that share an id, which is stored in the row of the prism. A change copies all of them to another
// id. So a reader that has found an id finds the pins of that time, whatever has changed since, and may cache them.
const (
	insertCalibration = `INSERT INTO calibrations (account_id, prism_id, version, id, question, fit, measures, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`

	calibrationColumns = `c.id, c.prism_id, c.version, c.question, c.fit, c.measures, c.created_at`
	selectCalibration  = `SELECT ` + calibrationColumns + ` FROM calibrations c
WHERE c.account_id = $1 AND c.prism_id = $2 AND c.version = $3 AND c.id = $4`
	listCalibrations = `-- name: ListCalibrations :many
SELECT ` + calibrationColumns + ` FROM calibrations c WHERE c.account_id = `

	selectPinned = `-- name: Pinned :many
SELECT ` + calibrationColumns + ` FROM calibration_pins n
JOIN calibrations c ON c.account_id = n.account_id AND c.prism_id = n.prism_id AND c.version = n.version AND c.id = n.calibration_id
WHERE n.account_id = $1 AND n.prism_id = $2 AND n.pins_id = $3 AND n.version = $4
ORDER BY n.question`

	prismPins = `SELECT pins FROM prisms WHERE account_id = $1 AND id = $2`
	setPins   = `UPDATE prisms SET pins = $3 WHERE account_id = $1 AND id = $2`
	copyPins  = `INSERT INTO calibration_pins (account_id, prism_id, pins_id, version, question, calibration_id)
SELECT account_id, prism_id, $4, version, question, calibration_id FROM calibration_pins
WHERE account_id = $1 AND prism_id = $2 AND pins_id = $3`
	removePin = `DELETE FROM calibration_pins
WHERE account_id = $1 AND prism_id = $2 AND pins_id = $3 AND version = $4 AND question = $5`
	insertPin = `INSERT INTO calibration_pins (account_id, prism_id, pins_id, version, question, calibration_id)
VALUES ($1, $2, $3, $4, $5, $6)`
	hasPins = `SELECT EXISTS (SELECT 1 FROM calibration_pins WHERE account_id = $1 AND prism_id = $2 AND pins_id = $3)`
)

// The details of entries about calibrations.
type (
	calibrationDetail struct {
		Version     int32               `json:"version"`
		Calibration prism.CalibrationID `json:"calibration"`
	}
	pinDetail struct {
		Version  int32                 `json:"version"`
		Pinned   []prism.CalibrationID `json:"pinned"`
		Unpinned int                   `json:"unpinned"`
	}
)

// AddCalibration implements Store.
func (s SQL) AddCalibration(ctx context.Context, account prism.AccountID, c Calibration, by store.By) error {
	return s.Transaction(ctx, "add_calibration", func(run sqldb.Run) error {
		slug, err := prisms.LockLive(ctx, run, account, c.Prism)
		if err != nil {
			return err
		}
		args := []any{account.UUID, c.Prism.UUID, c.Version, c.ID.UUID, c.Target, c.Fit, c.Measures, c.CreatedAt}
		if err := run(ctx, sqldb.Statement{Text: insertCalibration, Args: args}, sqldb.NoRow); err != nil {
			return err
		}
		return prisms.Record(ctx, run, account, by, store.CalibrationCreate, c.Prism, slug, calibrationDetail{c.Version, c.ID})
	})
}

// ListCalibrations implements Store.
func (s SQL) ListCalibrations(
	ctx context.Context, account prism.AccountID, id prism.PrismID, version int32, targets []string, page store.Page,
) (found []Calibration, more bool, err error) {
	l := sqldb.NewList("list_calibrations")
	l.Add(listCalibrations, account.UUID)
	l.Add(" AND c.prism_id = ", id.UUID)
	l.Add(" AND c.version = ", version)
	l.Add(" AND c.id < ", page.Before())
	if len(targets) > 0 {
		names := make([]any, len(targets))
		for i, target := range targets {
			names[i] = target
		}
		l.In(" AND c.question IN (", names)
	}
	l.Add(" ORDER BY c.id DESC LIMIT ", int64(page.Limit)+1)
	return sqldb.ReadPage(ctx, s.Database, l.Complete(), page.Limit, readCalibration, "fit", "measures")
}

// Calibration implements Store.
func (s SQL) Calibration(
	ctx context.Context, account prism.AccountID, id prism.PrismID, version int32, calibration prism.CalibrationID,
) (c Calibration, err error) {
	args := []any{account.UUID, id.UUID, version, calibration.UUID}
	err = s.Run(ctx, sqldb.Query("calibration", selectCalibration, args...), sqldb.ReadRow(&c, readCalibration))
	return c, err
}

// PinCalibrations implements Store.
func (s SQL) PinCalibrations(
	ctx context.Context, account prism.AccountID, id prism.PrismID, version int32, changes []Pin, pins prism.PinsID,
	by store.By,
) error {
	return s.Transaction(ctx, "pin_calibrations", func(run sqldb.Run) error {
		slug, err := prisms.LockLive(ctx, run, account, id)
		if err != nil {
			return err
		}
		key := []any{account.UUID, id.UUID}
		var was prism.PinsID
		err = run(ctx, sqldb.Statement{Text: prismPins, Args: key}, sqldb.ReadRow(&was, (*sqldb.Row).PinsID))
		if err != nil {
			return err
		}
		detail, err := changedPins(ctx, run, account, id, version, was, changes)
		if err != nil || len(detail.Pinned) == 0 && detail.Unpinned == 0 {
			return err
		}
		if err := replacePins(ctx, run, key, version, was, pins, changes); err != nil {
			return err
		}
		return prisms.Record(ctx, run, account, by, store.CalibrationPin, id, slug, detail)
	})
}

// changedPins returns what changes would change: *store.PinError.
func changedPins(
	ctx context.Context, run sqldb.Run, account prism.AccountID, id prism.PrismID, version int32, was prism.PinsID, changes []Pin,
) (detail pinDetail, err error) {
	var before []Calibration
	args := []any{account.UUID, id.UUID, was.UUID, version}
	if err := run(ctx, sqldb.Statement{Text: selectPinned, Args: args}, sqldb.ReadRows(&before, readCalibration)); err != nil {
		return pinDetail{}, err
	}
	pinned := map[string]prism.CalibrationID{}
	for _, c := range before {
		pinned[c.Target] = c.ID
	}
	detail = pinDetail{Version: version, Pinned: []prism.CalibrationID{}}
	for _, change := range changes {
		switch {
		case change.Calibration == pinned[change.Target]:
			continue
		case change.Calibration.IsZero():
			detail.Unpinned++
			continue
		}
		var c Calibration
		args := []any{account.UUID, id.UUID, version, change.Calibration.UUID}
		err := run(ctx, sqldb.Statement{Text: selectCalibration, Args: args}, sqldb.ReadRow(&c, readCalibration))
		switch {
		case errors.Is(err, store.ErrNotFound), err == nil && c.Target != change.Target:
			return pinDetail{}, &store.PinError{Target: change.Target}
		case err != nil:
			return pinDetail{}, err
		}
		detail.Pinned = append(detail.Pinned, change.Calibration)
	}
	return detail, nil
}

// replacePins copies the pins of a prism to another id, and makes changes to those of a version.
func replacePins(
	ctx context.Context, run sqldb.Run, key []any, version int32, was, pins prism.PinsID, changes []Pin,
) error {
	if err := run(ctx, sqldb.Statement{Text: copyPins, Args: append(key[:2:2], was.UUID, pins.UUID)}, sqldb.NoRow); err != nil {
		return err
	}
	for _, change := range changes {
		args := slices.Concat(key[:2], []any{pins.UUID, version, change.Target})
		if err := run(ctx, sqldb.Statement{Text: removePin, Args: args}, sqldb.NoRow); err != nil {
			return err
		}
		if change.Calibration.IsZero() {
			continue
		}
		if err := run(ctx, sqldb.Statement{Text: insertPin, Args: append(args, change.Calibration.UUID)}, sqldb.NoRow); err != nil {
			return err
		}
	}
	var some bool
	if err := run(ctx, sqldb.Statement{Text: hasPins, Args: append(key[:2:2], pins.UUID)}, sqldb.ReadRow(&some, (*sqldb.Row).Bool)); err != nil {
		return err
	}
	var text *string
	if some {
		text = sqldb.Nullable(pins.String())
	}
	return run(ctx, sqldb.Statement{Text: setPins, Args: append(key[:2:2], text)}, sqldb.NoRow)
}

// Pinned implements Store.
func (s SQL) Pinned(
	ctx context.Context, account prism.AccountID, id prism.PrismID, pins prism.PinsID, version int32,
) (found []Calibration, err error) {
	args := []any{account.UUID, id.UUID, pins.UUID, version}
	err = s.Run(ctx, sqldb.Query("pinned", selectPinned, args...), sqldb.ReadRows(&found, readCalibration))
	return found, err
}

func readCalibration(r *sqldb.Row) Calibration {
	return Calibration{
		ID: prism.CalibrationID{UUID: r.UUID()}, Prism: prism.PrismID{UUID: r.UUID()}, Version: r.Int32(), Target: r.Text(),
		Fit: r.Bytes(), Measures: r.Bytes(), CreatedAt: r.Time(),
	}
}
