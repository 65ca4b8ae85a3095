package service_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// fattest are questions with as many options as a version may have, each in as few questions as possible and with the longest keys.
func fattest() (questions []prism.Question) {
	for left := prism.MaxMembers; left > 0; left -= prism.MaxOptions {
		q := prism.Question{Key: fmt.Sprint("q", len(questions)), Type: prism.Choice, Text: "?"}
		for i := range min(left, prism.MaxOptions) {
			key := fmt.Sprintf("o%03d_", i)
			q.Options = append(q.Options, prism.Option{Key: key + strings.Repeat("x", 64-len(key)), Label: "O"})
		}
		questions = append(questions, q)
	}
	return questions
}

// spec: question-choice, version-questions, page-bytes, quality-members, label-queue
func TestThePrismWithTheMostOptionsIsListedMeasuredAndLabelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	questions := fattest()
	of := w.questions(t, "fattest", questions...)
	const results = 40
	values := map[string]func(int) string{}
	for _, q := range questions {
		values[q.Key] = func(n int) string { return q.Options[n%len(q.Options)].Key }
	}
	w.saveLabelled(t, of, 1, results, func(n int) string {
		var answers prism.Answers
		for _, q := range questions {
			a := prism.Answer{Question: q.Key, Type: prism.Choice, Chosen: q.Options[(n+n%2)%len(q.Options)].Key, Confidence: 0.25}
			ps := make([]float64, len(q.Options))
			for i, o := range q.Options {
				ps[i] = 1 / float64(3+i)
				if o.Key == a.Chosen {
					ps[i] = 2
				}
			}
			prism.Normalize(ps)
			for i, o := range q.Options {
				a.Probabilities = append(a.Probabilities, prism.KeyProbability{Key: o.Key, Probability: ps[i]})
			}
			answers = append(answers, a)
		}
		return string(answerjson.Append(nil, answers))
	}, values)

	ref, found := prism.Ref{Slug: "fattest"}, 0
	in := api.ListResultsRequest{Format: api.Raw, PageRequest: api.PageRequest{Limit: 100}}
	for more := true; more; {
		response, err := w.ListResults(t.Context(), w.key, in)
		if err != nil {
			t.Fatal(err)
		}
		var page struct {
			Data []struct{} `json:"data"`
			Next *string    `json:"next_cursor"`
		}
		if decode(t, response, &page); len(response.Body) > 4<<20 {
			t.Errorf("a page of %d results has %d bytes", len(page.Data), len(response.Body))
		}
		if found += len(page.Data); page.Next != nil {
			in.Cursor = *page.Next
		}
		more = page.Next != nil
	}
	if found != results {
		t.Errorf("%d of %d results are listed", found, results)
	}

	response, err := facade{w.Service}.Quality(t.Context(), w.key, versionOf("fattest"), "")
	if err != nil {
		t.Fatal(err)
	}
	var measured struct {
		Questions []struct {
			Counted   int           `json:"counted"`
			Confusion api.Confusion `json:"confusion"`
		} `json:"questions"`
	}
	decode(t, response, &measured)
	if len(response.Body) > 4<<20 || len(measured.Questions) != len(questions) {
		t.Errorf("%d questions in %d bytes", len(measured.Questions), len(response.Body))
	}
	for i, m := range measured.Questions {
		n, right := 0, 0
		for label, row := range m.Confusion.Counts {
			for answer, count := range row {
				if n += count; label == answer {
					right += count
				}
			}
		}
		if m.Counted != results || n != results || right != results/2 || len(m.Confusion.Values) != len(questions[i].Options) {
			t.Errorf("question %d: %d counted, %d in the matrix of %d, %d of them right", i, m.Counted, n, len(m.Confusion.Values), right)
		}
	}

	unlabelled := w.save(of)
	unlabelled.Outcome.Answers = []byte(`{}`)
	w.saved(t, unlabelled)
	response, err = w.LabelQueue(t.Context(), w.key, ref, api.ListLabelQueueRequest{
		Question: "q0", Order: prism.RandomSample, PageRequest: api.PageRequest{Limit: 100},
	})
	if err != nil || !strings.Contains(string(response.Body), unlabelled.ID.String()) || len(response.Body) > 4<<20 {
		t.Errorf("the queue has %d bytes, %v", len(response.Body), err)
	}
}
