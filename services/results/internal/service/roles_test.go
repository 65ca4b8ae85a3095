package service_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/service"
	"github.com/prism-results/prism/services/results/internal/storetest"
)

// calls are all operations of the API. Each names things that do not exist, so that a check after the role's would fail.
func (w *world) calls(t *testing.T) map[string]func(contract.KeyDigest) error {
	t.Helper()
	ctx, none, id := t.Context(), prism.Ref{Slug: "none"}, prism.ResultID{UUID: prism.UUID{9}}
	query := contract.CreateQuery{Prism: none}
	all := map[string]func(contract.KeyDigest) error{
		"createResult":  func(k contract.KeyDigest) error { query.Key = k; _, err := w.CreateFacts(ctx, query); return err },
		"retryResult":   func(k contract.KeyDigest) error { _, err := w.RetryFacts(ctx, k, id); return err },
		"tryDefinition": func(k contract.KeyDigest) error { _, err := w.TryFacts(ctx, k); return err },
		"putPart":       func(k contract.KeyDigest) error { _, err := w.PutPart(ctx, k, contract.FilePart{}); return err },
		"planRun":       func(k contract.KeyDigest) error { _, err := w.PlanRun(ctx, k, none, api.NewRun{}); return err },
		"planRows": func(k contract.KeyDigest) error {
			_, err := w.PlanRows(ctx, k, contract.PlanRows{Prism: none})
			return err
		},
		"labelsRun": func(k contract.KeyDigest) error {
			_, err := w.LabelsRun(ctx, k, none, api.NewRun{FromLabelsOf: 1})
			return err
		},
	}
	for _, op := range api.Operations() {
		switch name := op.Declared().Name; {
		case !op.Declared().ByGateway:
			all[name] = func(k contract.KeyDigest) error { return ask(ctx, w, k, op) }
		case all[name] == nil:
			all[name] = func(k contract.KeyDigest) error { return w.Authorize(ctx, k, contract.Operation(name)) }
		}
	}
	return all
}

// newKey creates a key and returns its digest.
func (w *world) newKey(t *testing.T, n api.NewKey) contract.KeyDigest {
	t.Helper()
	_, text, err := w.MakeKey(t.Context(), w.account, n, storetest.By())
	if err != nil {
		t.Fatal(err)
	}
	return w.digests[text]
}

// Every endpoint times every role is a row.
// spec: roles, order-of-checks-role, error-role-not-allowed
func TestARoleAllowsTheseOperations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.prism(t, "taken")
	calls := w.calls(t)
	type row struct {
		operation                     string
		owner, editor, caller, reader bool // a labeller may do what a reader may, and label
	}
	rows := []row{ // those whose role follows from a rule of their own; the others have that of their declaration
		{"createResult", true, true, true, false},
		{"retryResult", true, true, true, false},
		{"putPart", true, true, true, false},
		{"readResult", true, true, true, true},
		{"listResults", true, true, true, true},
		{"exportResults", true, true, true, true},
		{"createPrism", true, true, false, false},
		{"createVersion", true, true, false, false},
		{"replaceLens", true, true, false, false},
		{"previewLens", true, true, true, true},         // spec: lens-preview
		{"tryDefinition", true, true, false, false},     // spec: try
		{"createCalibration", true, true, false, false}, // spec: calibration-roles
		{"readQuality", true, true, true, true},         // spec: quality, compare
		{"listAudit", true, false, false, false},        // spec: audit-list
		{"createRun", true, true, true, false},          // spec: run-requests
		{"planRun", true, true, true, false},            // spec: run-dry-run
		{"planRows", true, true, true, false},
		{"labelsRun", true, true, false, false}, // spec: run-from-labels
		{"listRuns", true, true, true, true},
		{"readRun", true, true, true, true},
		{"followRun", true, true, true, true},
		{"pauseRun", true, true, true, false},
		{"resumeRun", true, true, true, false},
		{"cancelRun", true, true, true, false},
		{"retryRun", true, true, true, false},
		{"setRunLimits", true, true, true, false},
		{"listRunRows", true, true, true, true},
		{"listModels", true, true, true, true},       // spec: models-list
		{"readRecord", true, true, true, true},       // spec: record-read
		{"readDistribution", true, true, true, true}, // spec: distribution
		{"readUsage", true, true, true, true},        // spec: usage-query
		{"listChanges", true, true, true, true},      // spec: changes-list
		{"putLabels", true, true, false, false},      // spec: label-roles
		{"addLabels", true, true, false, false},
		{"createComment", true, true, false, false}, // spec: comment-roles
		{"deleteComment", true, true, false, false},
		{"assignResult", true, true, false, false},
		{"assignResults", true, true, false, false},
		{"listAssignees", true, true, false, false}, // spec: assignee-list
		{"createView", true, true, false, false},    // spec: view-roles
		{"replaceView", true, true, false, false},
		{"deleteView", true, true, false, false},
	}
	for _, op := range api.Operations() {
		name, role := op.Declared().Name, op.Declared().Role
		if !slices.ContainsFunc(rows, func(r row) bool { return r.operation == name }) {
			rows = append(rows, row{name, true, role != prism.Owner, role == prism.Caller || role == prism.Reader, role == prism.Reader})
		}
	}
	if len(rows) != len(calls) {
		t.Errorf("%d rows for %d operations", len(rows), len(calls))
	}
	for operation := range service.Needs {
		if calls[string(operation)] == nil {
			t.Errorf("%s has no row", operation)
		}
	}
	labels := map[string]bool{"putLabels": true, "addLabels": true, "createComment": true, "deleteComment": true, "assignResult": true, "assignResults": true, "listAssignees": true, "createView": true, "replaceView": true, "deleteView": true}
	keys := map[prism.Role]contract.KeyDigest{}
	for _, role := range append(prism.Roles(), "of a later release") {
		keys[role] = w.newKey(t, api.NewKey{Name: string(role), Role: role})
	}
	for _, row := range rows {
		for role, allowed := range map[prism.Role]bool{
			prism.Owner: row.owner, prism.Editor: row.editor, prism.Caller: row.caller,
			prism.Labeller: row.reader || labels[row.operation],
			prism.Reader:   row.reader, "of a later release": false,
		} {
			err := calls[row.operation](keys[role])
			if errors.Is(err, apierr.InvalidAPIKey()) || errors.Is(err, apierr.RoleNotAllowed()) == allowed {
				t.Errorf("%s as %s: %v, want it allowed: %v", row.operation, role, err, allowed)
			}
		}
	}
}

// spec: no-key-above-its-maker
func TestNobodyMakesAKeyWithMoreRightsThanTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, maker := range prism.Roles() {
		key := w.newKey(t, api.NewKey{Name: "maker", Role: maker})
		for _, made := range append(prism.Roles(), "") {
			before := len(w.digests)
			_, err := w.CreateKey(t.Context(), key, api.NewKey{Name: "made", Role: made})
			if allowed := maker == prism.Owner; (err == nil) != allowed || (len(w.digests) > before) != allowed {
				t.Errorf("%s makes %q: %v", maker, made, err)
			}
		}
	}
}

// spec: key-expiry
func TestAnExpiredKeyIsAnUnknownOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := w.clock.Load()
	expires := time.UnixMilli(now + 1000)
	key := w.newKey(t, api.NewKey{Name: "short", Role: prism.Owner, ExpiresAt: &expires})
	w.clock.Store(now + 998) // the next reading is a millisecond before the expiry
	if err := w.calls(t)["listPrisms"](key); err != nil {
		t.Errorf("before the expiry: %v", err)
	}
	if err := w.calls(t)["listPrisms"](key); !errors.Is(err, apierr.InvalidAPIKey()) {
		t.Errorf("at the expiry: %v", err)
	}
	for operation, call := range w.calls(t) {
		if err := call(key); !errors.Is(err, apierr.InvalidAPIKey()) {
			t.Errorf("%s after the expiry: %v", operation, err)
		}
	}
}

// spec: key-list, active-keys-limit, error-too-many-keys
func TestKeysAreListedAPageAtATimeAndAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.store.most = 12 // of which the world has one; a thousand would take long
	for range w.store.most - 1 {
		w.newKey(t, api.NewKey{Name: "n"})
	}
	if w.store.asked != 1000 {
		t.Errorf("an account may have %d keys", w.store.asked)
	}
	if _, err := w.CreateKey(t.Context(), w.key, api.NewKey{Name: "n"}); !errors.Is(err, apierr.TooManyKeys()) {
		t.Errorf("a key more: %v", err)
	}
	seen := map[string]bool{}
	for cursor, more := "", true; more; {
		doc, err := w.ListKeys(t.Context(), w.key, contract.Page{Limit: 4, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		var page struct {
			Data []struct {
				ID string `json:"id"`
			} `json:"data"`
			NextCursor *string `json:"next_cursor"`
		}
		decode(t, doc, &page)
		if len(page.Data) != 4 {
			t.Fatalf("a page has %d keys", len(page.Data))
		}
		for _, k := range page.Data {
			seen[k.ID] = true
		}
		if more = page.NextCursor != nil; more {
			cursor = *page.NextCursor
		}
	}
	if len(seen) != 12 {
		t.Errorf("listed %d keys", len(seen))
	}
}
