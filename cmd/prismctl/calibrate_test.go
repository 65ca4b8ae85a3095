package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
)

// fakeCalibrations is a Prism with a prism "tickets", whose latest version is 2, and calibrations of it.
func fakeCalibrations(t *testing.T) *user {
	t.Helper()
	const (
		id     = "0199f5d0-21b4-7e90-8c3d-6f1a2b3c4d5e"
		shared = `,"version":2,"labels":412,"log_loss_before":0.73,"log_loss_after":0.64,"gain":{"value":0.09,"low":0.06,"high":0.12},` +
			`"created_at":"2026-11-23T09:30:12.418Z"}`
		cold  = `{"id":"` + id + `","question":"topic","method":"temperature","temperature":1.62` + shared
		platt = `{"id":"p","question":"urgent","method":"platt","a":0.71,"b":-0.34` + shared
		steps = `{"id":"i","question":"urgent","method":"isotonic","points":[[0,0.1],[1,0.9]]` + shared
	)
	pins := map[string]any{"topic": nil, "urgent": nil}
	mux := http.NewServeMux()
	for pattern, body := range map[string]string{
		"GET /v1/prisms/tickets":                                whole[client.Prism](`{"slug":"tickets","latest_version":2}`),
		"POST /v1/prisms/tickets/versions/2/calibrations":       cold,
		"GET /v1/prisms/tickets/versions/2/calibrations":        `{"data":[` + steps + `,` + platt + `,` + cold + `],"next_cursor":null}`,
		"GET /v1/prisms/tickets/versions/2/calibrations/" + id:  cold,
		"GET /v1/prisms/tickets/versions/2/calibrations/{more}": platt,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			if r.Method == http.MethodPost {
				w.WriteHeader(http.StatusCreated)
			}
			_, _ = fmt.Fprint(w, body)
		})
	}
	mux.HandleFunc("/v1/prisms/tickets/versions/2/calibration", func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			var sent struct{ Questions map[string]any }
			if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
				t.Error(err)
			}
			for question, id := range sent.Questions {
				pins[question] = id
			}
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_ = json.NewEncoder(w).Encode(map[string]any{"version": 2, "questions": pins})
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return &user{t: t, dir: t.TempDir(), env: map[string]string{"PRISM_URL": s.URL, "PRISM_API_KEY": "k", "HOME": t.TempDir()}}
}

func TestCalibrationsAreMadePinnedAndListed(t *testing.T) {
	t.Parallel()
	u := fakeCalibrations(t)
	const id = "0199f5d0-21b4-7e90-8c3d-6f1a2b3c4d5e"
	made := u.run("calibrate", "fit", "tickets", "--question", "topic").
		want(exitOK, "temperature 1.62, fitted to 412 labels: log loss 0.7300 before and 0.6400 after, 0.0900 less (0.0600 to 0.1200).")
	if made.out != id+"\n" || strings.Contains(made.stderr, "pinned") {
		t.Errorf("got %s%s", made.out, made.stderr)
	}
	u.run("calibrate", "fit", "tickets", "--question", "topic", "--version", "2", "--method", "temperature", "--pin").
		want(exitOK, "It is pinned to version 2.")
	u.run("calibrate", "pin", "tickets", "p").want(exitOK, "topic: "+id+"\nurgent: p\n")
	rows := u.ok("calibrate", "list", "tickets", "-o", "csv")
	const want = "id,question,method,labels,log_loss_before,log_loss_after,gain_low,gain_high,pinned,created_at\n" +
		"i,urgent,isotonic with 2 points,412,0.7300,0.6400,0.0600,0.1200,no,2026-11-23T09:30:12.418Z\n" +
		"p,urgent,\"platt a 0.71, b -0.34\",412,0.7300,0.6400,0.0600,0.1200,yes,2026-11-23T09:30:12.418Z\n" +
		id + ",topic,temperature 1.62,412,0.7300,0.6400,0.0600,0.1200,yes,2026-11-23T09:30:12.418Z\n"
	if rows != want {
		t.Errorf("got  %s\nwant %s", rows, want)
	}
	u.run("calibrate", "unpin", "tickets", "urgent").want(exitOK, "topic: "+id+"\nurgent: nothing\n")
	u.run("calibrate", "pin", "tickets", "p", "i").want(exitUsage, "two of the calibrations are of the question urgent")
	u.run("calibrate", "fit", "tickets").want(exitUsage, "--question is missing")
}

// The real Prism refuses what cannot be calibrated.
func TestACalibrationWithoutLabelsIsRefused(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	u.makePrism()
	u.run("calibrate", "fit", "tickets", "--question", "urgent").want(exitConflict, "Too few labels: 0 of 200.")
	u.run("calibrate", "fit", "tickets", "--question", "urgent", "--method", "temperature").
		want(exitInvalid, "method: Expected 'auto' | 'platt' | 'isotonic'")
	u.run("calibrate", "fit", "tickets", "--question", "urgent", "--version", "2").want(exitNotFound, "Prism version not found")
	u.run("calibrate", "pin", "tickets", "0199f5d0-21b4-7e90-8c3d-6f1a2b3c4d5e").want(exitNotFound, "Calibration not found")
	u.run("calibrate", "unpin", "tickets", "none").want(exitInvalid, "questions.none: Unknown question")
	u.run("calibrate", "unpin", "tickets", "urgent").want(exitOK, "urgent: nothing\n")
	if rows := u.ok("calibrate", "list", "tickets", "-o", "jsonl"); rows != "" {
		t.Errorf("got %s", rows)
	}
}
