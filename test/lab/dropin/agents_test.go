package dropin

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/model"
	"github.com/prism-results/prism/pkg/testkit/program"
)

// The official clients of Python and of TypeScript list the tools of a new Prism, ask its prism, and are told what is wrong, by the programs of
// docs/agents.md as they stand there.
//
// spec: mcp, mcp-tools, mcp-calls, mcp-errors
func TestTheProgramsOfTheGuideToAgentsAskPrism(t *testing.T) {
	t.Parallel()
	root, err := program.Root()
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		page, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(page)
	}
	var programs []guided
	for _, block := range regexp.MustCompile("(?s)```(python|js)\n(.*?)```").FindAllStringSubmatch(read("docs/agents.md"), -1) {
		if strings.Contains(block[2], "PRISM_URL") { // the others need a model of another's
			programs = append(programs, guided{block[1], "mcp", block[2]})
		}
	}
	if len(programs) != 2 {
		t.Fatalf("the guide has %d programs", len(programs))
	}
	prism := newPrism(t, root, read("docs/drop-in.md"))
	for _, p := range programs {
		t.Run(p.language, func(t *testing.T) {
			script := prism.model.Script(model.Answer(model.Answers{"refund": model.Yes(0.875)}))
			output, err := prism.run(t, p, script.Tag)
			yes := map[string]string{"python": "True", "js": "true"}[p.language]
			if want := yes + " 0.875\n" + yes + " ask: Prism not found"; err != nil || strings.TrimSpace(output) != want {
				t.Errorf("it says %q, %v, want %q", output, err, want)
			}
			if calls := script.Calls(); calls != 1 {
				t.Errorf("%d calls of the model", calls)
			}
		})
	}
}
