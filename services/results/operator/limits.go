package operator

import (
	"cmp"
	"context"
	"errors"
	"strconv"

	"github.com/prism-results/prism/pkg/config"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/keys"
)

// none stands for a limit that an account does not have.
const none = "none"

// limit is a flag of a limit: a whole number, or none or 0 to remove the limit.
type limit struct{ to **int32 }

// String implements flag.Value.
func (limit) String() string { return "" }

// Set implements flag.Value.
func (l limit) Set(text string) error {
	var n int64
	if text != none {
		var err error
		if n, err = strconv.ParseInt(text, 10, 32); err != nil || n < 0 {
			return errors.New("a limit is a whole number or none")
		}
	}
	value := int32(n)
	*l.to = &value
	return nil
}

// sizeLimit is a flag of a limit of bytes: a size, none for no limit, or default.
type sizeLimit struct{ to **int64 }

// String implements flag.Value.
func (sizeLimit) String() string { return "" }

// Set implements flag.Value.
func (l sizeLimit) Set(text string) error {
	var value int64 // the default
	switch text {
	case "default":
	case none:
		value = prism.AnyStoredBytes
	default:
		var size config.Bytes
		if err := size.UnmarshalText([]byte(text)); err != nil {
			return err
		}
		if value = int64(size); value == 0 {
			return errors.New("must be more than 0")
		}
	}
	*l.to = &value
	return nil
}

// shownSize is a limit of bytes as the flag takes it.
func shownSize(limit int64) string {
	if limit == prism.AnyStoredBytes {
		return none
	}
	unit := 0
	for unit < len(units) && limit%1024 == 0 {
		limit /= 1024
		unit++
	}
	if unit == 0 {
		return strconv.FormatInt(limit, 10)
	}
	return strconv.FormatInt(limit, 10) + units[unit-1]
}

var units = []string{"KiB", "MiB", "GiB"}

// SetLimits changes limits of an account and returns all of its limits. The zero change only reads them.
func (o *Operator) SetLimits(ctx context.Context, account prism.AccountID, c keys.LimitsChange) (prism.Limits, error) {
	if c != (keys.LimitsChange{}) {
		by, err := o.by()
		if err != nil {
			return prism.Limits{}, err
		}
		return o.service.Store.SetLimits(ctx, account, c, by)
	}
	all, err := o.service.Store.ListLimits(ctx)
	for _, l := range all {
		if l.Account == account {
			return l.Limits, err
		}
	}
	return prism.Limits{}, err
}

func (o *Operator) accountLimits(ctx context.Context, in arguments) ([][]string, error) {
	id, err := o.Account(ctx, in.subject)
	if err != nil {
		return nil, err
	}
	l, err := o.SetLimits(ctx, id, in.limits)
	return [][]string{
		{"requests-per-second", shown(l.RequestsPerSecond)},
		{"concurrency", shown(l.Concurrency)},
		{"results-per-day", shown(l.ResultsPerDay)},
		{"stored-bytes", shownSize(cmp.Or(l.StoredBytes, prism.DefaultStoredBytes))},
	}, err
}

func shown(limit int32) string {
	if limit == 0 {
		return none
	}
	return strconv.Itoa(int(limit))
}
