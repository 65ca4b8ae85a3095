package worked

import (
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/testkit/program"
)

func data(t *testing.T) (dir string, d Data) {
	t.Helper()
	root, err := program.Root()
	if err != nil {
		t.Fatal(err)
	}
	d, err = Read(root)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, "examples", "quality"), d
}

func TestLabelsAreThoseOfTheIntents(t *testing.T) {
	t.Parallel()
	dir, d := data(t)
	raw, err := os.ReadFile(filepath.Join(dir, "intents.csv"))
	if err != nil {
		t.Fatal(err)
	}
	intents, err := csv.NewReader(strings.NewReader(string(raw))).ReadAll()
	if err != nil || len(intents) != 78 {
		t.Fatalf("%d rows, %v", len(intents), err)
	}
	of := map[string][]string{}
	for _, intent := range intents[1:] {
		of[intent[0]] = intent[1:]
	}
	if !slices.Equal(d.header, []string{"text", "category", "topic", "problem"}) || d.Rows() != 3080 {
		t.Fatalf("%d rows of %v", d.Rows(), d.header)
	}
	options := map[string]bool{}
	for _, o := range d.First.Questions[0].Options {
		options[o.Key] = true
	}
	for _, row := range d.rows {
		if !slices.Equal(of[row[1]], row[2:]) || !options[row[2]] || row[3] != "yes" && row[3] != "no" {
			t.Errorf("%q has the labels %v", row[0], row[2:])
		}
	}
}

func TestTheDefinitionsFitEachOther(t *testing.T) {
	t.Parallel()
	dir, d := data(t)
	var calibrated client.NewPrism
	raw, err := os.ReadFile(filepath.Join(dir, "calibrated.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &calibrated); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(calibrated.Questions, d.Reworded.Questions) {
		t.Error("calibrated.json has other questions than reworded.json: it would be a new version")
	}
	for _, c := range calibrated.Lens.Columns {
		if c.Calibrated != (c.Name != "topic") {
			t.Errorf("the column %s: calibrated is %t", c.Name, c.Calibrated)
		}
	}
	for i, q := range d.First.Questions {
		if again := d.Reworded.Questions[i]; q.Key != again.Key || q.Type != again.Type || len(q.Options) != len(again.Options) {
			t.Errorf("the versions cannot be compared by %s", q.Key)
		}
	}
}

func TestPartsHaveEachRowOnceAndFromAllOver(t *testing.T) {
	t.Parallel()
	_, d := data(t)
	seen := map[string]int{}
	for _, bounds := range [][2]int{{0, 200}, {200, d.Rows()}} {
		content, err := d.part(bounds[0], bounds[1])
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(strings.NewReader(string(content))).ReadAll()
		if err != nil || len(rows) != bounds[1]-bounds[0]+1 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		intents := map[string]bool{}
		for _, row := range rows[1:] {
			seen[row[0]]++
			intents[row[1]] = true
		}
		if len(intents) != 77 {
			t.Errorf("the rows from %d to %d have %d intents", bounds[0], bounds[1], len(intents))
		}
	}
	if len(seen) != d.Rows() {
		t.Errorf("%d texts, want %d", len(seen), d.Rows())
	}
}

func TestWhatIsMissingIsADash(t *testing.T) {
	t.Parallel()
	quality := client.Quality{Questions: []client.QuestionQuality{
		{MeasuredQuestion: client.MeasuredQuestion{Question: Topic, Counted: 1234}, Measures: client.Measures{Accuracy: &client.Figure{Value: 0.5, Low: 0.4, High: 0.6}}},
		{MeasuredQuestion: client.MeasuredQuestion{Question: Problem}, Measures: client.Measures{Bins: []client.ReliabilityBin{{N: 9, Mean: 0.5, Rate: 0.5, Low: 0.4, High: 0.6}}}},
	}}
	platt := client.Calibration{Method: client.PlattCalibration, A: new(1.5), B: new(-0.5), LogLossBefore: 1, LogLossAfter: 0.5}
	v := Version{Name: "v", Calibrated: quality, Growth: Growth{
		Labels: 50, Quality: quality, None: map[string]string{Topic: "Too few labels: 50 of 100."},
		Calibrations: map[string]client.Calibration{Problem: platt},
	}}
	l := Live{Offline: v, Real: v, Comparisons: []client.Comparison{{Question: Topic, Counted: 30, McNemar: client.McNemar{P: 0.25}, Verdict: "better", Differences: client.Differences{Accuracy: &client.Figure{Value: 0.5, Low: 0.4, High: 0.6}}}}}
	sections := l.Sections()
	for name, want := range map[string]string{
		"quality: live measures":     "| `topic` | v | 1,234 | 50.0% (40.0 to 60.0) | – | – | – |\n",
		"quality: live comparison":   "| `topic` | 30 | 0 | 0 | 0.2500 | +0.500 (+0.400 to +0.600) | – | better |\n",
		"quality: live calibrations": "| `topic` | Too few labels: 50 of 100. | – | – | – | 50.0% (40.0 to 60.0) | 50.0% (40.0 to 60.0) |\n",
	} {
		if !strings.Contains(sections[name], want) {
			t.Errorf("%s: %s is not in\n%s", name, want, sections[name])
		}
	}
	if want := "| `problem` | `platt`, a = 1.50, b = -0.50 | 1.000 | 0.500 |"; !strings.Contains(sections["quality: live calibrations"], want) {
		t.Errorf("%s is not in\n%s", want, sections["quality: live calibrations"])
	}
	for name, plots := range map[string]int{"live-problem.svg": 2, "live-topic.svg": 1} { // without a calibration, only before
		svg := l.Pictures()[name]
		if got := strings.Count(string(svg), "as it should be"); got != plots {
			t.Errorf("%s has %d diagrams, want %d", name, got, plots)
		}
		for d := xml.NewDecoder(strings.NewReader(string(svg))); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
}
