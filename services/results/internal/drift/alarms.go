package drift

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Alarm is an alarm of a question, or of an option of a tags question, of a version.
type Alarm struct {
	Version          int32
	Question, Option string
}

// Alarms are the alarms of a watched prism that were told and have not ended. Latest is its latest version; 0 if it is archived.
type Alarms struct {
	Latest int32
	Open   []Alarm
}

// alarms are those of the last hour and day of a version (spec: drift-events).
func (l Last) alarms(version int32, questions []prism.Question) (all []Alarm) {
	first := 0 // target of the question
	for _, q := range questions {
		targets := q.Targets()
		for _, number := range compared(q, first, l.Reference.Counts) {
			if alarmAt(l.Hour, number) || alarmAt(l.Day, number) {
				all = append(all, Alarm{version, q.Key, targets[number-first].Option})
			}
		}
		first += len(targets)
	}
	return all
}

func alarmAt(w Window, target int) bool { return target < len(w.Targets) && w.Targets[target].Alarm() }

// tell tells which alarms have begun and which have ended since the last time. Without an open one, nothing can begin before a result is
// counted.
func (t *counting) tell(ctx context.Context, now time.Time) error {
	s, w := t.deps.Store, t.watch
	told, err := s.DriftAlarms(ctx, w.Account, w.Prism)
	if err != nil || t.results == 0 && len(told.Open) == 0 {
		return err
	}
	var alarms []Alarm
	if told.Latest > 0 {
		v, err := s.Version(ctx, w.Account, w.Prism, told.Latest)
		if err != nil {
			return err
		}
		last, err := Read(ctx, s, w, told.Latest, v.Questions)
		if err != nil {
			return err
		}
		alarms = last.alarms(told.Latest, v.Questions)
	}
	if len(alarms) == 0 && len(told.Open) == 0 {
		return nil
	}
	return s.SetDriftAlarms(ctx, w, alarms, now)
}

const (
	selectLatest = `-- name: LatestOfWatch :one
SELECT CASE WHEN archived_at IS NULL THEN latest_version ELSE 0 END FROM prisms WHERE account_id = $1 AND id = $2`
	alarmColumns = `version, question, "option"`
	selectAlarms = `-- name: DriftAlarms :many
SELECT ` + alarmColumns + ` FROM drift_alarms WHERE account_id = $1 AND prism_id = $2 ORDER BY ` + alarmColumns
	insertAlarm = `INSERT INTO drift_alarms (account_id, prism_id, ` + alarmColumns + `) VALUES ($1, $2, $3, $4, $5)`
	deleteAlarm = `DELETE FROM drift_alarms WHERE account_id = $1 AND prism_id = $2 AND version = $3 AND question = $4 AND "option" = $5`
	// lockWatch locks a watch that is as it was.
	lockWatch = `UPDATE drift_watches SET reached = reached
WHERE account_id = $1 AND prism_id = $2 AND watched_at = $3 AND reached = $4 RETURNING prism_id`
)

// DriftAlarms implements Store.
func (s SQL) DriftAlarms(ctx context.Context, account prism.AccountID, id prism.PrismID) (told Alarms, err error) {
	key := []any{account.UUID, id.UUID}
	err = s.Run(ctx, sqldb.Query("drift_alarms", selectLatest, key...), sqldb.ReadRow(&told.Latest, (*sqldb.Row).Int32))
	if err != nil {
		return told, err
	}
	err = s.Run(ctx, sqldb.Query("drift_alarms", selectAlarms, key...), sqldb.ReadRows(&told.Open, readAlarm))
	return told, err
}

func readAlarm(r *sqldb.Row) Alarm {
	return Alarm{Version: r.Int32(), Question: r.Text(), Option: r.Text()}
}

// SetDriftAlarms implements Store.
func (s SQL) SetDriftAlarms(ctx context.Context, was Watch, alarms []Alarm, at time.Time) error {
	return s.Transaction(ctx, "set_drift_alarms", func(run sqldb.Run) error {
		lock := sqldb.Statement{Text: lockWatch, Args: []any{was.Account.UUID, was.Prism.UUID, was.WatchedAt, was.Reached}}
		if err := run(ctx, lock, sqldb.SomeRow); err != nil {
			return err
		}
		return changeAlarms(ctx, run, was.Account, was.Prism, alarms, at)
	})
}

// changeAlarms makes the alarms of a prism those, and tells which begin and which end, in a transaction that has locked the watch.
func changeAlarms(
	ctx context.Context, run sqldb.Run, account prism.AccountID, id prism.PrismID, alarms []Alarm, at time.Time,
) error {
	var (
		key  = []any{account.UUID, id.UUID}
		open []Alarm
	)
	if err := run(ctx, sqldb.Statement{Text: selectAlarms, Args: key}, sqldb.ReadRows(&open, readAlarm)); err != nil {
		return err
	}
	for _, change := range []struct {
		text        string
		event       api.EventType
		these, than []Alarm
	}{{deleteAlarm, api.DriftEnded, open, alarms}, {insertAlarm, api.DriftAlarm, alarms, open}} {
		for _, a := range change.these {
			if slices.Contains(change.than, a) {
				continue
			}
			args := slices.Concat(key, []any{a.Version, a.Question, a.Option})
			told := store.NewEvent{
				Type: change.event, At: at, Prism: id, Detail: store.EventDetail{Version: a.Version, Question: a.Question, Option: a.Option},
			}
			if err := errors.Join(
				run(ctx, sqldb.Statement{Text: change.text, Args: args}, sqldb.NoRow), sqldb.Tell(ctx, run, account, told),
			); err != nil {
				return err
			}
		}
	}
	return nil
}
