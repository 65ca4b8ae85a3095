package route

import (
	"encoding/json"
	"sort"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/services/gateway/internal/apidoc"
)

// spec: api-version-prefix
func TestEveryRouteIsDescribedAndEveryDescribedRouteExists(t *testing.T) {
	t.Parallel()
	app := fiber.New()
	Register(app, Deps{Results: noResults{}})
	var routes, described []string
	for _, r := range app.GetRoutes(true) {
		if strings.HasPrefix(r.Path, "/v1/") && r.Method != fiber.MethodHead {
			routes = append(routes, r.Method+" "+r.Path)
		}
	}
	var document struct {
		Paths map[string]map[string]struct{}
	}
	if err := json.Unmarshal(apidoc.Document(), &document); err != nil {
		t.Fatal(err)
	}
	for path, methods := range document.Paths {
		path = strings.NewReplacer("{", ":", "}", "").Replace(path)
		for method := range methods {
			described = append(described, strings.ToUpper(method)+" "+path)
		}
	}
	sort.Strings(routes)
	sort.Strings(described)
	if got, want := strings.Join(described, "\n"), strings.Join(routes, "\n"); got != want {
		t.Errorf("described:\n%s\nroutes:\n%s", got, want)
	}
}

// noResults answers nothing: routes are registered, not called.
type noResults struct{ contract.Results }
