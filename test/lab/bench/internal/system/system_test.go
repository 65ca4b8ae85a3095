package system

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

func TestTheLargePrismIsOfARealisticSize(t *testing.T) {
	t.Parallel()
	var definition struct {
		Questions []struct {
			Options []struct{ Description string }
		}
	}
	if err := json.Unmarshal([]byte(Large.Definition), &definition); err != nil {
		t.Fatal(err)
	}
	if n := len(Large.Definition); n < 17_000 || n > 19_000 {
		t.Errorf("the definition has %d bytes, want about 18 KB", n)
	}
	if n := len(definition.Questions); n != 12 {
		t.Errorf("%d questions, want 12", n)
	}
	for i, q := range definition.Questions {
		if len(q.Options) != 8 || q.Options[0].Description == "" {
			t.Errorf("question %d has %d options, the first described as %q", i, len(q.Options), q.Options[0].Description)
		}
	}
}

func TestTheModelAnswersAllOptionsWithProbabilitiesThatSumToAboutOne(t *testing.T) {
	t.Parallel()
	for _, p := range Prisms() {
		var response struct {
			Answers map[string]struct{ Probabilities map[string]float64 }
		}
		if err := json.Unmarshal(p.Script.Response, &response); err != nil {
			t.Fatalf("%s: %v", p.Name, err)
		}
		for key, a := range response.Answers {
			sum := 0.0
			for _, probability := range a.Probabilities {
				sum += probability
			}
			if len(a.Probabilities) > 0 && (sum < 0.99 || sum > 1.01) {
				t.Errorf("%s: the probabilities of %s sum to %v", p.Name, key, sum)
			}
		}
	}
}

func TestProcessorTimeOfEndedChildrenCounts(t *testing.T) {
	t.Parallel()
	before, err := treeCPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	// A child that computes for a while.
	if out, err := exec.CommandContext(t.Context(), "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done").CombinedOutput(); err != nil {
		t.Fatal(fmt.Errorf("%w: %s", err, out))
	}
	after, err := treeCPU(os.Getpid())
	if err != nil || after <= before {
		t.Errorf("%s before the child, %s after, %v", before, after, err)
	}
}
