package postgres

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"math"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/sqldb"
)

// columns are the values of a row as Postgres sent them. pgx's own scan looks, by reflection, for a way to convert each
// column of each row anew, which takes an eighth of the processor time of a read.
//
// The driver asks for binary values of every type but text and JSON, unless default_query_exec_mode is exec or
// simple_protocol, which can't store JSON either.
type columns struct {
	values [][]byte
	fields []pgconn.FieldDescription
}

func newRow(rows pgx.Rows) *sqldb.Row {
	return sqldb.NewRow(columns{rows.RawValues(), rows.FieldDescriptions()})
}

func (c columns) Null(column int) bool { return c.values[column] == nil }

func (c columns) UUID(column int) (id prism.UUID, err error) {
	if copy(id[:], c.values[column]) != len(c.values[column]) || c.fields[column].Format != pgx.BinaryFormatCode {
		return id, sqldb.ErrUnreadable
	}
	return id, nil
}

func (c columns) Text(column int) string { return string(c.values[column]) }

func (c columns) Bytes(column int) []byte { return bytes.Clone(c.values[column]) }

func (c columns) Int(column int) (int64, error) {
	b := c.values[column]
	if c.fields[column].Format == pgx.BinaryFormatCode {
		switch len(b) {
		case 1: // a boolean
			return int64(b[0]), nil
		case 4:
			return int64(int32(binary.BigEndian.Uint32(b))), nil //nolint:gosec // two's complement
		case 8:
			return int64(binary.BigEndian.Uint64(b)), nil //nolint:gosec // two's complement
		}
	}
	return 0, sqldb.ErrUnreadable
}

func (c columns) Float(column int) (float64, error) {
	b := c.values[column]
	if c.fields[column].Format != pgx.BinaryFormatCode || len(b) != 8 {
		return 0, sqldb.ErrUnreadable
	}
	return math.Float64frombits(binary.BigEndian.Uint64(b)), nil
}

// year2000 is the begin of the year 2000 in Unix microseconds.
const year2000 = 946_684_800_000_000

// Time reads the microseconds since 2000.
func (c columns) Time(column int) (time.Time, error) {
	n, err := c.Int(column)
	if err != nil || n == math.MinInt64 || n == math.MaxInt64 { // infinite
		return time.Time{}, sqldb.ErrUnreadable
	}
	return time.UnixMicro(year2000 + n).UTC(), nil
}

// first reads one row for pgx's Scan.
type first func(*sqldb.Row)

// ScanRow implements pgx.RowScanner.
func (read first) ScanRow(rows pgx.Rows) error {
	row := newRow(rows)
	read(row)
	return row.Err()
}

// found is first for a look-up, which finds nothing if the row is one of nulls (lookUps).
type found func(*sqldb.Row)

// ScanRow implements pgx.RowScanner.
func (read found) ScanRow(rows pgx.Rows) error {
	if rows.RawValues()[0] == nil {
		return nil
	}
	return first(read).ScanRow(rows)
}

// querier is a connection or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// query executes a statement and reads its rows.
func query(ctx context.Context, on querier, s sqldb.Statement, read sqldb.Reader) error {
	args := s.Args
	if s.PlanByArgs { // Postgres plans an unnamed statement when it gets the arguments
		args = append([]any{pgx.QueryExecModeCacheDescribe}, args...)
	}
	rows, err := on.Query(ctx, s.Text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var unreadable error
	var work fair.Work
	err = read(func(yield func(*sqldb.Row) bool) {
		for unreadable == nil && rows.Next() {
			work.Begin()
			row := newRow(rows)
			more := yield(row)
			work.End()
			if unreadable = row.Err(); !more {
				return
			}
		}
	})
	rows.Close()
	return cmp.Or(rows.Err(), unreadable, err)
}
