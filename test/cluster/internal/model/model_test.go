package model_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/test/cluster/internal/model"
	"github.com/prism-results/prism/test/cluster/internal/script"
)

func ask(t *testing.T, m http.Handler, message string) (status int, urgent *float64) {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/systemone", strings.NewReader(`{"state":{"message":"`+message+`"},"questions":{"urgent":{"type":"noul"}}}`)))
	var body struct {
		Answers struct{ Urgent struct{ Noul *float64 } }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &body); w.Code == http.StatusOK && err != nil {
		t.Fatalf("%v in %s", err, w.Body)
	}
	return w.Code, body.Answers.Urgent.Noul
}

func TestACallFailsAsOftenAsItsScriptSaysAndThenHasItsAnswer(t *testing.T) {
	t.Parallel()
	m := model.New()
	s := script.Script{Call: "x", Fails: 2}
	for range 2 {
		if status, urgent := ask(t, m, s.String()); status != http.StatusOK || urgent != nil {
			t.Fatalf("it answered %d", status)
		}
	}
	if status, urgent := ask(t, m, s.String()); status != http.StatusOK || urgent == nil || *urgent != s.Answer().Urgent {
		t.Errorf("it answered %d, %v", status, urgent)
	}
	if status, _ := ask(t, m, "hello"); status != http.StatusUnprocessableEntity {
		t.Errorf("what is no script got %d", status)
	}
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/count", nil))
	if got := strings.TrimSpace(w.Body.String()); got != `{"asked":3}` {
		t.Errorf("it counted %s", got)
	}
}

func TestACallTakesItsTime(t *testing.T) {
	t.Parallel()
	began := time.Now()
	_, urgent := ask(t, model.New(), script.Script{Call: "x", Pause: 30 * time.Millisecond}.String())
	if took := time.Since(began); urgent == nil || took < 30*time.Millisecond {
		t.Errorf("it took %s", took)
	}
}
