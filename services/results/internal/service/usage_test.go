package service_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/prism"
)

// The clock of a world begins on 2027-01-15 at 08:00.
const today = prism.Day(1_800_000_000_000 / 86_400_000)

func (w *world) used(t *testing.T, q api.ReadUsageRequest, want string) {
	t.Helper()
	response, err := w.Usage(t.Context(), w.key, q)
	if err != nil || string(response.Body) != want {
		t.Errorf("got  %s, %v\nwant %s", response.Body, err, want)
	}
}

// spec: usage-query, usage-members, usage-currencies, usage-order
func TestUsageHasASumForEachGroupAndCurrency(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	archived, other := w.prism(t, "archived"), w.prism(t, "other")
	failed := w.called(other, "fast", 3, "USD")
	failed.Outcome.Answers, failed.Outcome.Error = nil, "It failed."
	w.saved(t, w.called(archived, "fast", 1_500_000_000_000, "USD"), w.called(other, "strong", 7, "EUR"), failed, w.save(other))
	if _, err := w.SetArchived(t.Context(), w.key, prism.Ref{ID: archived}, true); err != nil {
		t.Fatal(err)
	}
	const period = `],"more":false,"from":"2026-12-17","to":"2027-01-16"}`
	w.used(t, api.ReadUsageRequest{By: api.ByDay}, `{"data":[`+
		`{"day":"2027-01-15","results":2,"failed":0,"input_tokens":612,"output_tokens":3,"cost":0.000000000007,"currency":"EUR"},`+
		`{"day":"2027-01-15","results":2,"failed":1,"input_tokens":1224,"output_tokens":6,"cost":1.500000000003,"currency":"USD"}`+period)
	w.used(t, api.ReadUsageRequest{By: api.ByPrism}, `{"data":[`+
		`{"prism":"other","results":2,"failed":0,"input_tokens":612,"output_tokens":3,"cost":0.000000000007,"currency":"EUR"},`+
		`{"prism":"other","results":1,"failed":1,"input_tokens":612,"output_tokens":3,"cost":0.000000000003,"currency":"USD"},`+
		`{"prism":"archived","results":1,"failed":0,"input_tokens":612,"output_tokens":3,"cost":1.5,"currency":"USD"}`+period)
	w.used(t, api.ReadUsageRequest{By: api.ByModel}, `{"data":[`+
		`{"model":"fast","results":2,"failed":1,"input_tokens":1224,"output_tokens":6,"cost":1.500000000003,"currency":"USD"},`+
		`{"model":null,"results":1,"failed":0,"input_tokens":0,"output_tokens":0,"cost":null,"currency":null},`+
		`{"model":"strong","results":1,"failed":0,"input_tokens":612,"output_tokens":3,"cost":0.000000000007,"currency":"EUR"}`+period)
	w.used(t, api.ReadUsageRequest{By: api.ByKey}, `{"data":[`+
		`{"key_id":"ab000000-0000-0000-0000-000000000000","results":1,"failed":0,"input_tokens":612,"output_tokens":3,`+
		`"cost":0.000000000007,"currency":"EUR"},`+
		`{"key_id":"ab000000-0000-0000-0000-000000000000","results":2,"failed":1,"input_tokens":1224,"output_tokens":6,`+
		`"cost":1.500000000003,"currency":"USD"},`+
		`{"key_id":null,"results":1,"failed":0,"input_tokens":0,"output_tokens":0,"cost":null,"currency":null}`+period)
	w.used(t, api.ReadUsageRequest{By: api.ByDay, Prism: &prism.Ref{Slug: "archived"}, Model: "fast", Key: &prism.KeyID{UUID: prism.UUID{0xab}}},
		`{"data":[{"day":"2027-01-15","results":1,"failed":0,"input_tokens":612,"output_tokens":3,"cost":1.5,"currency":"USD"}`+period)
	w.used(t, api.ReadUsageRequest{By: api.ByDay, Model: "none"}, `{"data":[`+period)
	_, err := w.Usage(t.Context(), w.key, api.ReadUsageRequest{By: api.ByDay, Prism: &prism.Ref{Slug: "none"}})
	if !errors.Is(err, apierr.PrismNotFound()) {
		t.Errorf("a prism that is not there: %v", err)
	}
}

// spec: usage-days
func TestThePeriodOfUsageEndsToday(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.prism(t, "a")
	for _, day := range []prism.Day{today - 30, today - 29, today - 1, today} {
		w.clock.Store(day.Start().UnixMilli())
		w.saved(t, w.save(p))
	}
	w.clock.Store((today + 1).Start().Add(-time.Minute).UnixMilli())
	at := func(days prism.Day) *prism.Day { day := today + days; return &day }
	for _, c := range []struct {
		from, to        *prism.Day
		wantFrom, wants prism.Day
		results         int
	}{
		{nil, nil, -29, 1, 3},
		{at(-30), nil, -30, 1, 4},
		{at(0), nil, 0, 1, 1},
		{nil, at(0), -30, 0, 3},
		{at(-1), at(0), -1, 0, 1},
		{at(-365), nil, -365, 1, 4},
		{at(5), at(371), 5, 371, 0},
	} {
		q := api.ReadUsageRequest{By: api.ByModel, From: c.from, To: c.to}
		data := ""
		if c.results > 0 {
			data = fmt.Sprintf(`{"model":null,"results":%d,"failed":0,"input_tokens":0,"output_tokens":0,"cost":null,"currency":null}`, c.results)
		}
		w.used(t, q, fmt.Sprintf(`{"data":[%s],"more":false,"from":"%s","to":"%s"}`, data, today+c.wantFrom, today+c.wants))
	}
	for _, c := range []struct {
		from, to *prism.Day
		want     string
	}{
		{at(1), nil, "must be before to"},
		{at(0), at(0), "must be before to"},
		{at(-366), nil, "must be at most 366 days before to"},
		{at(-367), at(0), "must be at most 366 days before to"},
	} {
		_, err := w.Usage(t.Context(), w.key, api.ReadUsageRequest{By: api.ByDay, From: c.from, To: c.to})
		if want := apierr.Invalid(apierr.Problem{Path: "from", Text: c.want}); !errors.Is(err, want) || err.Error() != want.Error() {
			t.Errorf("got %v, want %v", err, want)
		}
	}
}
