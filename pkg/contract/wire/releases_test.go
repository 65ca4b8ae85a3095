package wire_test

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/contract/wire"
	"github.com/prism-results/prism/pkg/prism"
)

// The previous release asks for shared connections first, and makes plain requests when it gets a 4xx.
func TestThePreviousReleaseIsToldToMakePlainRequests(t *testing.T) {
	t.Parallel()
	url := serve(t, func(app *fiber.App, log *slog.Logger) { wire.MountResults(app, calm{}, tokens(token), log) })
	headers := "Connection: Upgrade\r\nUpgrade: prism-calls\r\nAuthorization: Bearer " + token + "\r\n"
	if status, _ := exchange(t, strings.TrimPrefix(url, "http://"), "GET", "/internal/calls", headers); status != http.StatusNotFound {
		t.Errorf("status %d", status)
	}
}

// The previous release ignores dry_run, so a dry run must not reach the paths of that release.
// spec: dry-run
func TestThePreviousReleaseStoresNoDryRun(t *testing.T) {
	t.Parallel()
	var stored atomic.Int64
	url := serve(t, func(app *fiber.App, _ *slog.Logger) {
		for _, path := range []string{"/internal/create-prism", "/internal/add-version", "/internal/put-lens"} {
			app.Post(path, func(c *fiber.Ctx) error {
				stored.Add(1)
				return c.SendString("{}")
			})
		}
	})
	c := resultsAt(t, url)
	var key contract.KeyDigest
	for _, dryRun := range []bool{true, false} {
		_, create := c.CreatePrism(t.Context(), key, contract.NewPrism{NewVersion: contract.NewVersion{DryRun: dryRun}})
		_, add := c.AddVersion(t.Context(), key, prism.Ref{}, contract.NewVersion{DryRun: dryRun})
		_, put := c.PutLens(t.Context(), key, prism.Ref{}, contract.NewLens{DryRun: dryRun})
		for _, err := range []error{create, add, put} {
			if errors.Is(err, contract.ErrUnavailable) != dryRun {
				t.Errorf("dry run %v: %v", dryRun, err)
			}
		}
	}
	if stored.Load() != 3 {
		t.Errorf("%d changes reached the paths of the previous release, want 3", stored.Load())
	}
}

// The previous release ignores a key's role and expiry, so a key with less than all rights must not reach its path.
// spec: roles
func TestThePreviousReleaseMakesNoKeyWithMoreRights(t *testing.T) {
	t.Parallel()
	var made atomic.Int64
	url := serve(t, func(app *fiber.App, _ *slog.Logger) {
		app.Post("/internal/create-key", func(c *fiber.Ctx) error {
			made.Add(1)
			return c.SendString("{}")
		})
	})
	c := resultsAt(t, url)
	var expires time.Time
	for _, n := range []contract.NewKey{{Role: prism.Editor}, {Role: prism.Caller}, {Role: prism.Reader}, {Role: prism.Owner, ExpiresAt: &expires}} {
		if _, err := c.CreateKey(t.Context(), contract.KeyDigest{}, n); !errors.Is(err, contract.ErrUnavailable) {
			t.Errorf("%+v: %v", n, err)
		}
	}
	if made.Load() != 0 {
		t.Errorf("%d keys were made with all rights", made.Load())
	}
	for _, role := range []prism.Role{"", prism.Owner} {
		if _, err := c.CreateKey(t.Context(), contract.KeyDigest{}, contract.NewKey{Role: role}); err != nil {
			t.Error(err)
		}
	}
}

// The previous release has no limits, and tells no account.
// spec: account-limits
func TestThePreviousReleaseHasNoLimits(t *testing.T) {
	t.Parallel()
	url := serve(t, func(*fiber.App, *slog.Logger) {})
	c := resultsAt(t, url)
	if limits, err := c.Limits(t.Context()); err != nil || len(limits) != 0 {
		t.Errorf("limits: %v, %v", limits, err)
	}
	if account, err := c.Account(t.Context(), contract.KeyDigest{}); err != nil || !account.IsZero() {
		t.Errorf("account: %v, %v", account, err)
	}
}

// The previous release ignores the model of a definition, so a definition with one must not reach the paths of that release: it
// would be stored without the name, or asked of another model.
// spec: version-is-immutable, model-of-a-version
func TestThePreviousReleaseStoresAndAsksNothingOfAModel(t *testing.T) {
	t.Parallel()
	var taken atomic.Int64
	url := serve(t, func(app *fiber.App, _ *slog.Logger) {
		for _, path := range []string{"create-prism", "create-prism-dry-run", "add-version", "add-version-dry-run", "ask"} {
			app.Post("/internal/"+path, func(c *fiber.Ctx) error {
				taken.Add(1)
				return c.SendString("{}")
			})
		}
	})
	c := resultsAt(t, url)
	m := dialModels(t, url)
	var key contract.KeyDigest
	for _, model := range []string{"fast", ""} {
		d := prism.Definition{Model: model}
		hash, _ := contract.HashDefinition(d)
		_, named := m.Ask(t.Context(), contract.Ask{Definition: d, Hash: hash})
		_, ask := m.Ask(t.Context(), contract.Ask{Definition: d})
		errs := []error{named, ask}
		for _, dryRun := range []bool{true, false} {
			v := contract.NewVersion{Definition: d, DryRun: dryRun}
			_, create := c.CreatePrism(t.Context(), key, contract.NewPrism{NewVersion: v})
			_, add := c.AddVersion(t.Context(), key, prism.Ref{}, v)
			errs = append(errs, create, add)
		}
		for i, err := range errs {
			if errors.Is(err, contract.ErrUnavailable) != (model != "") || model == "" && err != nil {
				t.Errorf("model %q, call %d: %v", model, i, err)
			}
		}
	}
	if taken.Load() != 6 {
		t.Errorf("%d calls reached the paths of the previous release, want 6", taken.Load())
	}
}

// The previous release ignores the escalation of a definition, so a definition with one must not reach the paths of that release,
// nor the paths for definitions that name a model.
// spec: version-is-immutable, escalate-of-a-version
func TestThePreviousReleaseStoresAndAsksNothingOfAnEscalation(t *testing.T) {
	t.Parallel()
	var taken atomic.Int64
	url := serve(t, func(app *fiber.App, _ *slog.Logger) {
		for _, path := range []string{"create-prism", "add-version", "ask"} {
			for _, known := range []string{"", "-with-model"} {
				for _, change := range []string{"", "-dry-run", "-conditional"} {
					app.Post("/internal/"+path+known+change, func(c *fiber.Ctx) error {
						taken.Add(1)
						return c.SendString("{}")
					})
				}
			}
		}
	})
	c := resultsAt(t, url)
	m := dialModels(t, url)
	var key contract.KeyDigest
	for _, model := range []string{"fast", ""} {
		d := prism.Definition{Model: model, Escalate: &prism.Escalate{To: "strong", Below: 0.6}}
		hash, _ := contract.HashDefinition(d)
		_, named := m.Ask(t.Context(), contract.Ask{Definition: d, Hash: hash})
		_, ask := m.Ask(t.Context(), contract.Ask{Definition: d})
		errs := []error{named, ask}
		for _, v := range []contract.NewVersion{{Definition: d}, {Definition: d, DryRun: true}, {Definition: d, IfLatest: 1}} {
			_, create := c.CreatePrism(t.Context(), key, contract.NewPrism{NewVersion: v})
			_, add := c.AddVersion(t.Context(), key, prism.Ref{}, v)
			errs = append(errs, create, add)
		}
		for i, err := range errs {
			if !errors.Is(err, contract.ErrUnavailable) {
				t.Errorf("model %q, call %d: %v", model, i, err)
			}
		}
	}
	if taken.Load() != 0 {
		t.Errorf("%d calls reached the paths of the previous release", taken.Load())
	}
}

// The previous release ignores calibrated columns, so a Lens with one must not reach its paths: it would be stored without, or shown
// without calibration.
// spec: calibrated-and-the-previous-release
func TestThePreviousReleaseStoresAndShowsNoCalibratedLens(t *testing.T) {
	t.Parallel()
	var taken atomic.Int64
	url := serve(t, func(app *fiber.App, _ *slog.Logger) {
		for _, path := range []string{
			"create-prism", "create-prism-dry-run", "create-prism-with-model", "add-version", "add-version-dry-run", "add-version-conditional",
			"put-lens", "put-lens-dry-run", "put-lens-conditional", "preview-lens", "finish-try",
		} {
			app.Post("/internal/"+path, func(c *fiber.Ctx) error {
				taken.Add(1)
				return c.SendString("{}")
			})
		}
	})
	c := resultsAt(t, url)
	var key contract.KeyDigest
	for _, calibrated := range []bool{true, false} {
		l := prism.Lens{Columns: []prism.Column{{Name: "a"}, {Name: "b", Calibrated: calibrated}}}
		var errs []error
		for _, v := range []contract.NewVersion{{Lens: &l}, {Lens: &l, DryRun: true}} {
			_, create := c.CreatePrism(t.Context(), key, contract.NewPrism{NewVersion: v})
			_, add := c.AddVersion(t.Context(), key, prism.Ref{}, v)
			_, put := c.PutLens(t.Context(), key, prism.Ref{}, contract.NewLens{Lens: l, DryRun: v.DryRun})
			errs = append(errs, create, add, put)
		}
		_, model := c.CreatePrism(t.Context(), key, contract.NewPrism{NewVersion: contract.NewVersion{
			Lens: &l, Definition: prism.Definition{Model: "fast"},
		}})
		_, add := c.AddVersion(t.Context(), key, prism.Ref{}, contract.NewVersion{Lens: &l, IfLatest: 1})
		_, put := c.PutLens(t.Context(), key, prism.Ref{}, contract.NewLens{Lens: l, IfMatch: contract.IfMatch{contract.AnyTag}})
		_, preview := c.PreviewLens(t.Context(), key, prism.Ref{}, contract.LensPreview{Lens: l})
		_, try := c.FinishTry(t.Context(), contract.Try{Lens: &l})
		for i, err := range append(errs, model, add, put, preview, try) {
			if errors.Is(err, contract.ErrUnavailable) != calibrated || !calibrated && err != nil {
				t.Errorf("calibrated %v, call %d: %v", calibrated, i, err)
			}
		}
	}
	if taken.Load() != 11 {
		t.Errorf("%d calls reached the previous release, want 11", taken.Load())
	}
}

// The previous release authorizes nothing and lists no models: nobody is let through.
// spec: models-list
func TestThePreviousReleaseListsNoModels(t *testing.T) {
	t.Parallel()
	url := serve(t, func(*fiber.App, *slog.Logger) {})
	c := resultsAt(t, url)
	if err := c.Authorize(t.Context(), contract.KeyDigest{}, contract.ListModels); !errors.Is(err, contract.ErrUnavailable) {
		t.Errorf("authorized: %v", err)
	}
	if _, err := dialModels(t, url).List(t.Context()); !errors.Is(err, contract.ErrUnavailable) {
		t.Errorf("listed: %v", err)
	}
}

// The previous release ignores the newer filters, and would list and export what the caller did not ask for.
// spec: result-list, export
func TestThePreviousReleaseIsNotAskedForWhatItWouldNotFilter(t *testing.T) {
	t.Parallel()
	url := serve(t, func(app *fiber.App, _ *slog.Logger) {
		for _, path := range []string{"/internal/list-results", "/internal/export", "/internal/list-prisms"} {
			app.Post(path, func(c *fiber.Ctx) error { return c.SendString("{}") })
		}
	})
	c := resultsAt(t, url)
	var key contract.KeyDigest
	list := func(q contract.ResultList) error { _, err := c.ListResults(t.Context(), key, q); return err }
	export := func(q contract.Export) error {
		s, err := c.Export(t.Context(), key, q)
		if err == nil {
			err = s.Body.Close()
		}
		return err
	}
	prisms := func(q contract.PrismList) error { _, err := c.ListPrisms(t.Context(), key, q); return err }
	id := prism.UUID{1}
	byModel, byKey := contract.ResultFilter{Model: "m"}, contract.ResultFilter{Key: &prism.KeyID{UUID: id}}
	from, to := contract.ResultFilter{From: time.Unix(1, 0)}, contract.ResultFilter{To: time.Unix(1, 0)}
	for i, err := range []error{
		list(contract.ResultList{Version: 1}), list(contract.ResultList{Format: contract.Raw}), list(contract.ResultList{ResultFilter: byModel}),
		list(contract.ResultList{ResultFilter: byKey}), list(contract.ResultList{ResultFilter: from}),
		list(contract.ResultList{ResultFilter: to}),
		export(contract.Export{ResultFilter: byModel}), export(contract.Export{ResultFilter: byKey}),
		export(contract.Export{After: prism.ResultID{UUID: id}}), prisms(contract.PrismList{All: true}),
	} {
		if !errors.Is(err, contract.ErrUnavailable) {
			t.Errorf("%d: %v", i, err)
		}
	}
	for i, err := range []error{
		list(contract.ResultList{Ref: new(string), Format: contract.JSON}), prisms(contract.PrismList{Archived: true}),
		export(contract.Export{ResultFilter: from}),
	} {
		if err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// The previous release ignores conditions, and would make the change whether or not they hold.
// spec: if-latest, if-match
func TestThePreviousReleaseMakesNoChangeWithACondition(t *testing.T) {
	t.Parallel()
	var stored atomic.Int64
	url := serve(t, func(app *fiber.App, _ *slog.Logger) {
		for _, path := range []string{"add-version", "add-version-dry-run", "put-lens", "put-lens-dry-run"} {
			app.Post("/internal/"+path, func(c *fiber.Ctx) error {
				stored.Add(1)
				return c.SendString("{}")
			})
		}
	})
	c := resultsAt(t, url)
	var key contract.KeyDigest
	tags := contract.IfMatch{contract.AnyTag}
	for _, dryRun := range []bool{true, false} {
		_, latest := c.AddVersion(t.Context(), key, prism.Ref{}, contract.NewVersion{DryRun: dryRun, IfLatest: 1})
		_, add := c.AddVersion(t.Context(), key, prism.Ref{}, contract.NewVersion{DryRun: dryRun, IfMatch: tags})
		_, put := c.PutLens(t.Context(), key, prism.Ref{}, contract.NewLens{DryRun: dryRun, IfMatch: tags})
		for _, err := range []error{latest, add, put} {
			if !errors.Is(err, contract.ErrUnavailable) {
				t.Errorf("dry run %v: %v", dryRun, err)
			}
		}
	}
	if stored.Load() != 0 {
		t.Errorf("%d changes reached the previous release", stored.Load())
	}
}
