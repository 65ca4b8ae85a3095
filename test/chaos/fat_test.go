package chaos

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/test/internal/load"
)

const (
	fatSlug   = "fat"   // a prism whose results are as large as they can be
	largeSlug = "large" // a prism whose definition is, and which has many versions
	wideSlug  = "wide"  // a prism with as many fields as can be
	smallSlug = "small" // a prism whose results are small, and which has calibrations

	fatRows    = 100 // of each list: its largest page
	unlabelled = "question_63"
)

// fat is what an account has whose rows are as large as the API takes them.
type fat struct {
	reader      string // an API key
	run, file   string // ids
	result      string
	calibration string
	webhook     string
	fields      int
	questions   []client.Question
	prism       *client.Client
	ctx         context.Context
	t           *testing.T
}

// fatten fills the first account.
func (c *confined) fatten(t *testing.T) fat {
	t.Helper()
	prism, err := client.New(client.Config{URL: c.front().URL(), Key: c.keys[0]})
	if err != nil {
		t.Fatal(err)
	}
	f := fat{prism: prism, ctx: t.Context(), t: t}
	for _, step := range []func(){f.definitions, f.results, f.labels, f.calibrations, f.files, f.keys, f.webhooks} {
		begun := time.Now()
		step()
		t.Logf("filled in %s", time.Since(begun).Round(time.Second))
	}
	return f
}

func (f *fat) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// each calls fn for each row of a list, a few at a time.
func (f *fat) each(n int, fn func(i int) error) {
	f.t.Helper()
	var all sync.WaitGroup
	next := make(chan int)
	for range 4 {
		all.Go(func() {
			for i := range next {
				if err := fn(i); err != nil {
					f.t.Error(err)
				}
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
	if f.t.Failed() {
		f.t.FailNow()
	}
}

// long is a text of so many characters, each of which has four bytes.
func long(characters int) string { return strings.Repeat("🙂", characters) }

// key is a key of 64 characters.
func key(name string, n int) string {
	prefix := fmt.Sprintf("%s_%02d_", name, n)
	return prefix + strings.Repeat("x", 64-len(prefix))
}

// definitions makes the prisms.
func (f *fat) definitions() {
	for i := range 64 {
		q := client.Question{Key: fmt.Sprintf("question_%02d", i), Type: client.Choice, Text: "Which?"}
		for o := range 26 {
			q.Options = append(q.Options, client.Option{Key: key("option", o), Label: "Option"})
		}
		f.questions = append(f.questions, q)
	}
	var lens client.Lens
	for i := range 200 {
		q := f.questions[i%64]
		lens.Columns = append(lens.Columns, client.Column{
			Name: key("column", i), Question: q.Key, Show: client.ShowProbability, Option: q.Options[i%26].Key,
		})
	}
	fields := func(n int) (all []client.Field) {
		for i := range n {
			all = append(all, client.Field{Key: fmt.Sprintf("field_%02d", i)})
		}
		return all
	}
	f.fields = 9
	_, err := f.prism.CreatePrism(f.ctx, client.NewPrism{
		Slug: fatSlug, NewVersion: client.NewVersion{Definition: client.Definition{Fields: fields(f.fields), Questions: f.questions}, Lens: &lens},
	})
	f.must(err)
	yes := []client.Question{{Key: "urgent", Type: client.YesNo, Text: "Is it urgent?"}}
	_, err = f.prism.CreatePrism(f.ctx, client.NewPrism{Slug: wideSlug, NewVersion: client.NewVersion{Definition: client.Definition{Fields: fields(50), Questions: yes}}})
	f.must(err)
	small := client.Question{Key: "topic", Type: client.Choice, Text: "Which?"}
	for o := range 2 {
		small.Options = append(small.Options, client.Option{Key: key("option", o), Label: "Option"})
	}
	_, err = f.prism.CreatePrism(f.ctx, client.NewPrism{Slug: smallSlug, NewVersion: client.NewVersion{Definition: client.Definition{
		Fields: fields(1), Questions: []client.Question{small},
	}}})
	f.must(err)
	large := client.NewVersion{Definition: client.Definition{Instructions: long(100_000), Fields: fields(1)}}
	q := client.Question{Key: "topic", Type: client.Choice, Text: long(10_000)}
	for o := range 14 {
		q.Options = append(q.Options, client.Option{Key: key("option", o), Label: "Option", Description: long(10_000)})
	}
	large.Questions = []client.Question{q}
	_, err = f.prism.CreatePrism(f.ctx, client.NewPrism{Slug: largeSlug, NewVersion: large})
	f.must(err)
	f.each(fatRows, func(i int) error {
		_, err := f.prism.CreatePrism(f.ctx, client.NewPrism{Slug: fmt.Sprintf("large-%02d", i), Name: long(200), NewVersion: large})
		return err
	})
	for range fatRows {
		_, err := f.prism.CreateVersion(f.ctx, largeSlug, large)
		f.must(err)
	}
}

// results makes results with many answers by a run: of large texts, and of as many short ones as a chunk of a file has.
func (f *fat) results() {
	var content bytes.Buffer
	fields, header := map[string]string{}, []string{}
	for i := range f.fields {
		name := fmt.Sprintf("field_%02d", i)
		header, fields[name] = append(header, name), name
	}
	content.WriteString(strings.Join(header, ",") + "\n")
	rows := fatRows + 200
	for row := range rows {
		text := fmt.Sprint(row)
		if row < fatRows {
			text += strings.Repeat(" ", 99_000) // few tokens
		}
		content.WriteString(text + strings.Repeat(","+text, f.fields-1) + "\n")
	}
	run, err := f.prism.RunFile(f.ctx, fatSlug, uploadOf("fat.csv", content.Bytes()), client.NewRun{Fields: fields}, nil)
	f.must(err)
	if run.OK != int64(rows) {
		f.t.Fatalf("the run is %+v", run)
	}
	f.run = run.ID
}

func uploadOf(name string, content []byte) client.Upload {
	return client.Upload{Name: name, Format: client.FileCSV, Content: bytes.NewReader(content), Bytes: int64(len(content))}
}

// labels puts labels on every question but the last one of the results of large texts.
func (f *fat) labels() {
	var results []client.Result
	for r, err := range f.prism.Results(f.ctx, client.ResultFilter{Run: f.run}) {
		f.must(err)
		if results = append(results, r); len(results) == fatRows {
			break
		}
	}
	f.result = results[0].ID
	f.each(len(results), func(i int) error {
		labels := client.NewLabels{Labels: map[string]client.LabelValue{}, Sample: client.RandomSample, Annotator: long(200)}
		for _, q := range f.questions[:63] {
			right, _ := results[i].Answers.Choice(q.Key)
			labels.Labels[q.Key] = client.LabelValue(right.Value)
			if i%3 == 0 { // the answer is wrong
				labels.Labels[q.Key] = client.LabelValue(q.Options[i%26].Key)
			}
		}
		_, err := f.prism.PutLabels(f.ctx, results[i].ID, labels)
		return err
	})
	_, err := f.prism.SetDrift(f.ctx, fatSlug, client.DriftChange{Watched: true})
	f.must(err)
}

// calibrations makes calibrations from small results, which are read once for each.
func (f *fat) calibrations() {
	for i := range calibration.MinTemperature {
		r, err := f.prism.CreateResult(f.ctx, smallSlug, client.NewResult{Fields: map[string]string{"field_00": fmt.Sprint(i)}})
		f.must(err)
		answer, _ := r.Answers.Choice("topic")
		label := client.LabelValue(answer.Value)
		if i%3 == 0 { // half of these answers are wrong
			label = client.LabelValue(key("option", i%2))
		}
		_, err = f.prism.PutLabels(f.ctx, r.ID, client.NewLabels{
			Sample: client.RandomSample, Labels: map[string]client.LabelValue{"topic": label},
		})
		f.must(err)
	}
	for range fatRows {
		c, err := f.prism.CreateCalibration(f.ctx, smallSlug, 1, client.NewCalibration{Question: "topic", Method: client.TemperatureCalibration})
		f.must(err)
		f.calibration = c.ID
	}
}

// webhooks makes webhooks with the longest URLs.
func (f *fat) webhooks() {
	for range api.MaxWebhooks {
		w, err := f.prism.CreateWebhook(f.ctx, client.NewWebhook{
			URL: "https://hooks.example/" + strings.Repeat("x", 1_900), Events: []client.EventType{client.EventResultCreated}, Enabled: new(false),
		})
		f.must(err)
		f.webhook = w.ID
	}
}

// files makes files with many columns that have long names, and runs that name them.
func (f *fat) files() {
	header, names := make([]string, 1000), make([]string, 50)
	for i := range header {
		header[i] = fmt.Sprintf("%04d%s", i, strings.Repeat("x", 1_040))
	}
	fields := map[string]string{}
	for i := range names {
		names[i] = fmt.Sprintf("%02d%s", i, strings.Repeat("x", 19_900))
		fields[fmt.Sprintf("field_%02d", i)] = names[i]
	}
	content := []byte(strings.Join(header, ",") + "\n" + strings.Repeat("x"+strings.Repeat(",", 999)+"\n", fatRows))
	f.each(fatRows, func(i int) error {
		file, err := f.upload(fmt.Sprintf("%d%s", i, long(190)), content)
		if i == 0 {
			f.file = file.ID
		}
		return err
	})
	file, err := f.upload("runs.csv", []byte(strings.Join(names, ",")+"\nx"+strings.Repeat(",", 49)+"\n"))
	f.must(err)
	f.each(fatRows, func(int) error {
		_, err := f.prism.CreateRun(f.ctx, wideSlug, client.NewRun{FileID: file.ID, Fields: fields, Name: long(200)})
		return err
	})
}

// upload is UploadFile without a look at all files of the account, whose columns take a megabyte each.
func (f *fat) upload(name string, content []byte) (client.File, error) {
	file, err := f.prism.CreateFile(f.ctx, client.NewFile{Name: name, Format: client.FileCSV, Bytes: int64(len(content))})
	n := 0
	for part := range slices.Chunk(content, 1<<20) {
		if n++; err == nil {
			_, err = f.prism.PutPart(f.ctx, file.ID, n, part)
		}
	}
	if err == nil {
		file, err = f.prism.CompleteFile(f.ctx, file.ID)
	}
	for err == nil && file.Status == client.FileReading && load.Wait(f.ctx, 100*time.Millisecond) {
		file, err = f.prism.ReadFile(f.ctx, file.ID)
	}
	if err == nil && file.Status != client.FileReady {
		err = fmt.Errorf("%s is %s", file.ID, file.Status)
	}
	return file, err
}

// keys makes keys and members with long names, and with them entries of the audit.
func (f *fat) keys() {
	f.each(fatRows, func(i int) error {
		if _, err := f.prism.CreateKey(f.ctx, client.NewKey{Name: long(200), Role: client.Reader}); err != nil {
			return err
		}
		_, err := f.prism.AddMember(f.ctx, client.NewMember{Name: long(200), Email: fmt.Sprintf("%d@example.com", i), Role: client.Reader})
		return err
	})
	reader, err := f.prism.CreateKey(f.ctx, client.NewKey{Name: "reader", Role: client.Reader})
	f.must(err)
	f.reader = reader.Key.Reveal()
}
