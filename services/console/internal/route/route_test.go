package route

import (
	"maps"
	"os"
	"regexp"
	"testing"

	"github.com/gofiber/fiber/v2"
)

// Each route of the console has a row in SECURITY.md, which says what it takes.
func TestEveryRouteIsInSecurity(t *testing.T) {
	t.Parallel()
	app := fiber.New()
	if err := Register(app, Deps{}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	routes, rows := map[string]bool{}, map[string]bool{}
	for _, r := range app.GetRoutes(true) {
		if r.Method != fiber.MethodHead { // which every GET answers
			routes[r.Method+" "+r.Path] = true
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Z]+ /console\\S*)` \\|").FindAllSubmatch(text, -1) {
		rows[string(m[1])] = true
	}
	if !maps.Equal(routes, rows) {
		t.Errorf("the routes are %v, and the rows %v", routes, rows)
	}
}
