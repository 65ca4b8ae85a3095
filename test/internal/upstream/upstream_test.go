package upstream_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/test/internal/upstream"
)

func ask(t *testing.T, m *upstream.Model, tag upstream.Tag) (status int, probability float64) {
	t.Helper()
	resp, err := http.Post(m.BaseURL()+"/systemone", "application/json",
		strings.NewReader(`{"state":{"message":"`+tag.String()+`"},"questions":{"urgent":{"type":"noul"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var body struct {
		Answers struct{ Urgent struct{ Noul float64 } }
	}
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, body.Answers.Urgent.Noul
}

func TestAnAnswerTellsItsNumberAndItsRace(t *testing.T) {
	t.Parallel()
	m := upstream.New(upstream.Config{MaxPause: time.Millisecond})
	t.Cleanup(m.Close)
	for want, race := range []int{7, 9, 7} {
		_, p := ask(t, m, upstream.Tag{Race: race})
		n, err := upstream.Number(p)
		if err != nil || n != want {
			t.Fatalf("answer %d is read as %d, %v", want, n, err)
		}
		if got, err := m.Race(n); err != nil || got != race {
			t.Errorf("answer %d is of race %d, %v", n, got, err)
		}
	}
	if got := m.Count(7); got != (upstream.Count{Asked: 2, Answered: 2}) {
		t.Errorf("counted %+v", got)
	}
	if _, err := upstream.Number(0.123); err == nil {
		t.Error("a probability that the model never sends has a number")
	}
}

func TestAModelFailsAsItsTagSaysUntilItIsHealed(t *testing.T) {
	t.Parallel()
	m := upstream.New(upstream.Config{MaxPause: time.Millisecond})
	t.Cleanup(m.Close)
	for range 20 {
		if status, p := ask(t, m, upstream.Tag{Race: 1, FailPercent: 100}); status == http.StatusOK && p != 0 {
			t.Fatal("it answered")
		}
	}
	m.Heal()
	if status, p := ask(t, m, upstream.Tag{Race: 1, FailPercent: 100}); status != http.StatusOK || p == 0 {
		t.Errorf("a healed model answered %d", status)
	}
	if got := m.Count(1); got != (upstream.Count{Asked: 21, Answered: 1, Failed: 20}) {
		t.Errorf("counted %+v", got)
	}
}
