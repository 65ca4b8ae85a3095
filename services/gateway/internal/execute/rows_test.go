package execute_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/fair"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/checks"
	"github.com/prism-results/prism/services/gateway/internal/execute"
)

// rows answers rows by what the bench answers calls with, and counts rows in flight.
func (b *bench) rows(inFlight *int, refuse error) *execute.Rows {
	return &execute.Rows{
		Asking: b.asking,
		Enter: func(context.Context, prism.AccountID) (func(), error) {
			if refuse != nil {
				return nil, refuse
			}
			*inFlight++
			return func() { *inFlight-- }, nil
		},
	}
}

var (
	rowKey   = prism.KeyID{UUID: prism.UUID{4}}
	rowFacts = contract.RowFacts{
		Account: prism.AccountID{UUID: prism.UUID{1}}, Key: rowKey, Prism: prism.PrismID{UUID: prism.UUID{2}}, Version: version,
	}
)

func rowOf(fields ...prism.FieldValue) contract.ChunkRow {
	return contract.ChunkRow{Row: 7, ID: prism.ResultID{UUID: prism.UUID{0xab}}, Fields: fields, Context: "c", Ref: new("r")}
}

// spec: rows-are-calls
func TestARowIsAskedAndSavedAsTheCallThatSendsItsValues(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		var asked []contract.Ask
		model := b.model
		b.model = func(ctx context.Context, a contract.Ask) (contract.Outcome, error) {
			asked = append(asked, a)
			if a.Background && fair.Account(ctx) != rowFacts.Account.String() {
				t.Errorf("the row counts for %q", fair.Account(ctx))
			}
			return model(ctx, a)
		}
		fields := []prism.FieldValue{{Key: "text", Value: "hello"}}
		sent := api.CreateResultRequest{PrismRequest: api.PrismRequest{Prism: prism.Ref{Slug: "a"}}}
		sent.NewResult = api.NewResult{Fields: fields, Ref: new("r"), Context: "c"}
		response, err := b.Create(t.Context(), b.done, contract.KeyDigest{}, sent)
		if err != nil {
			t.Fatal(err)
		}
		call := *b.results.results[resultID(t, response)]
		inFlight, row := 0, rowOf(fields...)
		got, err := b.rows(&inFlight, nil).AnswerRow(t.Context(), rowFacts, row)
		if err != nil || got.Row != 7 || got.Invalid != "" || got.Save == nil || inFlight != 0 {
			t.Fatalf("got %+v, %v", got, err)
		}
		call.ID, call.Key = row.ID, rowKey
		if !reflect.DeepEqual(*got.Save, call) {
			t.Errorf("a row saves %+v, a call %+v", *got.Save, call)
		}
		asked[0].Background = true
		if !reflect.DeepEqual(asked[1], asked[0]) {
			t.Errorf("a row asks %+v, a call %+v", asked[1], asked[0])
		}
		old := prism.ResultID{UUID: prism.UUID{9}}
		row.RetryOf = &old
		if got, err = b.rows(&inFlight, nil).AnswerRow(t.Context(), rowFacts, row); err != nil || *got.Save.RetryOf != old {
			t.Errorf("a retry: %+v, %v", got, err)
		}
		if n, saves := b.results.count(); n != 1 || saves != 1 {
			t.Errorf("rows were saved: %d results of %d saves", n, saves)
		}
	})
}

// spec: row-invalid, rows-are-calls
func TestARowThatACallRefusesIsInvalidWithTheTextOfTheCall(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_001)
	text := func(s string) []prism.FieldValue { return []prism.FieldValue{{Key: "text", Value: s}} }
	for name, c := range map[string]struct {
		fields []prism.FieldValue
		want   string
	}{
		"a long field":    {text(long), "Invalid request: fields.text: String must contain at most 100000 character(s)"},
		"NUL":             {text("\x00"), "Invalid request: fields.text: must not contain NUL or unpaired surrogate characters"},
		"a missing field": {nil, apierr.MissingFields([]string{"text"}).Message},
		"another field":   {append(text("x"), prism.FieldValue{Key: "more"}), apierr.UnknownFields([]string{"more"}).Message},
		"too much":        {text("large"), apierr.TooLarge(9_000_000).Message},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.asking.Estimator = sizeOf("large")
			inFlight := 0
			got, err := b.rows(&inFlight, nil).AnswerRow(t.Context(), rowFacts, rowOf(c.fields...))
			if err != nil || got.Invalid != c.want || got.Save != nil || b.asked.Load() != 0 || b.quota.taken.Load() != 0 || inFlight != 0 {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// sizeOf is a size estimate that refuses one text.
type sizeOf string

func (s sizeOf) SizerForCall(context.Context) checks.Sizer { return s }

func (s sizeOf) Check(_ prism.Definition, fields []prism.FieldValue, _ string) error {
	if len(fields) > 0 && fields[0].Value == string(s) {
		return apierr.TooLarge(9_000_000)
	}
	return nil
}

// spec: row-waits, rows-are-calls
func TestARowThatIsNotTakenHasNoOutcome(t *testing.T) {
	t.Parallel()
	good := rowOf(prism.FieldValue{Key: "text", Value: "x"})
	var over *apierr.RetryAfterError
	for name, c := range map[string]struct {
		set  func(b *bench)
		over error // the account's requests
		row  contract.ChunkRow
		want func(error) bool
	}{
		"the account is over its requests": {
			func(*bench) {}, apierr.UnavailableFor(time.Second), good,
			func(err error) bool { return errors.As(err, &over) && over.Seconds == 1 },
		},
		"the account is over its results of the day": {
			func(b *bench) { b.quota.limit.Store(0) }, nil, good, func(err error) bool { return errors.As(err, &over) },
		},
		"the account is full": {
			func(b *bench) { b.quota.full.Store(true) }, nil, good, func(err error) bool { return errors.As(err, &over) && over.Seconds == 60 },
		},
		"model-proxy took nothing": {
			func(b *bench) {
				b.model = func(context.Context, contract.Ask) (contract.Outcome, error) {
					return contract.Outcome{}, contract.ErrUnavailable
				}
			}, nil, good,
			func(err error) bool { return errors.Is(err, apierr.Unavailable()) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			c.set(b)
			inFlight := 0
			got, err := b.rows(&inFlight, c.over).AnswerRow(t.Context(), rowFacts, c.row)
			if !c.want(err) || got.Save != nil || got.Invalid != "" || inFlight != 0 || b.quota.taken.Load() != 0 {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	b, inFlight, archived := newBench(t), 0, rowFacts
	archived.Archived = true
	got, err := b.rows(&inFlight, nil).AnswerRow(t.Context(), archived, good)
	if !errors.Is(err, apierr.PrismNotFound()) || got.Invalid != "" {
		t.Errorf("an archived prism: %+v, %v", got, err) // its run pauses
	}
	// What is invalid counts for no limit, as a request that is invalid does.
	long := rowOf(prism.FieldValue{Key: "text", Value: "\x00"})
	if got, err := b.rows(&inFlight, apierr.UnavailableFor(0)).AnswerRow(t.Context(), rowFacts, long); err != nil || got.Invalid == "" {
		t.Errorf("over a limit: %+v, %v", got, err)
	}
}

// spec: client-disconnect, worker-stop
func TestARowAtTheModelIsAnsweredWhenItsWorkerStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Millisecond, stop)
		b.model = func(ctx context.Context, _ contract.Ask) (contract.Outcome, error) {
			select {
			case <-ctx.Done():
				return contract.Outcome{}, ctx.Err()
			case <-time.After(time.Second):
				return okOutcome, nil
			}
		}
		inFlight := 0
		got, err := b.rows(&inFlight, nil).AnswerRow(ctx, rowFacts, rowOf(prism.FieldValue{Key: "text", Value: "x"}))
		if err != nil || got.Save.Outcome.Failed() {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}
