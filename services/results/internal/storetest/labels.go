package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/deletion"
	"github.com/prism-results/prism/services/results/internal/labels"
	"github.com/prism-results/prism/services/results/internal/quality"
	"github.com/prism-results/prism/services/results/internal/store"
)

// label is a label of a result, as put by a call.
func (f *fixture) label(r prism.Result, question, value string) labels.Label {
	return labels.Label{
		Result: r.ID, Version: r.Version, Question: question, Value: value, Origin: store.LabelOfCall, Key: f.mine.keyID, At: moment(20),
	}
}

func (f *fixture) putLabels(t *testing.T, labels ...labels.Label) {
	t.Helper()
	gone, err := f.PutLabels(t.Context(), f.mine.account, f.mine.prism.ID, labels)
	succeeds(t, err)
	same(t, gone, nil)
}

// labelsOf are the labels of a result of mine, each as question=value.
func (f *fixture) labelsOf(t *testing.T, id prism.ResultID) string {
	t.Helper()
	labels, err := f.LabelsOf(t.Context(), f.mine.account, f.mine.prism.ID, []prism.ResultID{id})
	succeeds(t, err)
	return texts(labels)
}

func texts(labels []labels.Label) string {
	var all []string
	for _, l := range labels {
		all = append(all, l.Question+"="+l.Value)
	}
	return strings.Join(all, " ")
}

func (f *fixture) labelsState(t *testing.T, version int32) quality.LabelsState {
	t.Helper()
	state, err := f.LabelsState(t.Context(), f.mine.account, f.mine.prism.ID, version)
	succeeds(t, err)
	return state
}

func labelTests() []test {
	return []test{
		// spec: label-one
		{"a question of a result has one label: a new one takes its place, and none removes it", func(t *testing.T, f *fixture) {
			r := f.save(t, f.ok(f.mine.prism)).Result
			first := f.label(r, "urgent", "true")
			f.putLabels(t, first, f.label(r, "topic", "b"))
			second := labels.Label{
				Result: r.ID, Version: 1, Question: "urgent", Value: "false", Sample: prism.RandomSample, Annotator: "Zoë “🙂”",
				Origin: store.LabelOfFile, Key: prism.KeyID{UUID: f.id()}, At: moment(21),
			}
			f.putLabels(t, second)
			found, err := f.LabelsOf(t.Context(), f.mine.account, f.mine.prism.ID, []prism.ResultID{r.ID})
			succeeds(t, err)
			same(t, found, []labels.Label{f.label(r, "topic", "b"), second})
			f.putLabels(t, f.label(r, "topic", ""), f.label(r, "mood", ""))
			same(t, f.labelsOf(t, r.ID), "urgent=false")
			f.putLabels(t, f.label(r, "urgent", "true"), f.label(r, "mood", "up"), f.label(r, "urgent", "false"))
			same(t, f.labelsOf(t, r.ID), "mood=up urgent=false")
			next, without := f.save(t, f.ok(f.mine.prism)).Result, f.save(t, f.ok(f.mine.prism)).Result
			f.putLabels(t, f.label(next, "topic", "a"))
			many, err := f.LabelsOf(t.Context(), f.mine.account, f.mine.prism.ID, []prism.ResultID{next.ID, without.ID, r.ID})
			succeeds(t, err)
			same(t, texts(many), "mood=up urgent=false topic=a")
		}},
		// spec: labels-add
		{"many labels are stored at once, and results that are gone are told", func(t *testing.T, f *fixture) {
			var labels []labels.Label
			var ids []prism.ResultID
			for range 130 {
				r := f.save(t, f.ok(f.mine.prism)).Result
				labels, ids = append(labels, f.label(r, "urgent", "true")), append(ids, r.ID)
			}
			succeeds(t, f.delete(t, ids[7]))
			failed := f.save(t, f.failed(f.mine.prism)).Result
			labels = append(labels, f.label(failed, "urgent", "true"))
			other := f.save(t, f.ok(f.addPrism(t, f.mine, "other"))).Result
			labels = append(labels, f.label(other, "urgent", "true"))
			theirs := f.ok(f.theirs.prism)
			_, err := f.SaveResult(t.Context(), f.theirs.account, theirs)
			succeeds(t, err)
			labels = append(labels, f.label(theirs, "urgent", "true"))
			gone, err := f.PutLabels(t.Context(), f.mine.account, f.mine.prism.ID, labels)
			succeeds(t, err)
			same(t, gone, []prism.ResultID{ids[7], failed.ID, other.ID, theirs.ID})
			same(t, f.labelsState(t, 1).Labels, 129)
		}},
		{"results to label are found by their ids, whatever their status", func(t *testing.T, f *fixture) {
			ok, failed := f.save(t, f.ok(f.mine.prism)).Result, f.save(t, f.failed(f.mine.prism)).Result
			other := f.save(t, f.ok(f.addPrism(t, f.mine, "other"))).Result
			ids := []prism.ResultID{ok.ID, failed.ID, other.ID, {UUID: f.id()}}
			for range 60 {
				ids = append(ids, ok.ID)
			}
			targets, err := f.LabelTargets(t.Context(), f.mine.account, f.mine.prism.ID, ids[:4])
			succeeds(t, err)
			slices.SortFunc(targets, func(a, b labels.Target) int { return cmp.Compare(b.Status, a.Status) })
			same(t, targets, []labels.Target{
				{Result: ok.ID, Version: 1, Status: prism.OK}, {Result: failed.ID, Version: 1, Status: prism.Failed},
			})
			targets, err = f.LabelTargets(t.Context(), f.theirs.account, f.mine.prism.ID, ids)
			succeeds(t, err)
			same(t, len(targets), 0)
		}},
		// spec: label-by-ref
		{"a ref is its newest result that is ok, of any version or of one", func(t *testing.T, f *fixture) {
			succeeds(t, f.AddVersion(t.Context(), f.mine.account, changed(f.mine.prism.ID, 2, lens("urgent"))))
			save := func(r prism.Result, version int32, ref string) prism.ResultID {
				r.Ref, r.Version = &ref, version
				return f.save(t, r).Result.ID
			}
			save(f.ok(f.mine.prism), 1, "a")
			first := save(f.ok(f.mine.prism), 1, "a")
			second := save(f.ok(f.mine.prism), 2, "a")
			save(f.failed(f.mine.prism), 1, "a")
			empty := save(f.ok(f.mine.prism), 1, "")
			save(f.ok(f.addPrism(t, f.mine, "other")), 1, "a")
			save(f.failed(f.mine.prism), 1, "failed")
			for version, want := range map[int32][]labels.Target{
				0: {{Result: empty, Version: 1, Status: prism.OK}, {Result: second, Version: 2, Status: prism.OK, Ref: "a"}},
				1: {{Result: empty, Version: 1, Status: prism.OK}, {Result: first, Version: 1, Status: prism.OK, Ref: "a"}},
			} {
				found, err := f.RefTargets(t.Context(), f.mine.account, f.mine.prism.ID, version, []string{"a", "none", "failed", "", "a"})
				succeeds(t, err)
				slices.SortFunc(found, func(a, b labels.Target) int { return strings.Compare(a.Ref, b.Ref) })
				same(t, found, want)
			}
		}},
		// spec: label-deleted
		{"the labels of a result are deleted with it, by its id and by a job", func(t *testing.T, f *fixture) {
			labelled, unlabelled := f.save(t, f.ok(f.mine.prism)).Result, f.save(t, f.failed(f.mine.prism)).Result
			f.putLabels(t, f.label(labelled, "urgent", "true"), f.label(labelled, "topic", "a"))
			succeeds(t, f.delete(t, labelled.ID))
			same(t, f.labelsState(t, 1), quality.LabelsState{})
			other := f.addPrism(t, f.mine, "other")
			for range deletion.DeletePart + 1 {
				f.putLabels(t, f.label(f.save(t, f.ok(f.mine.prism)).Result, "urgent", "true"))
				f.save(t, f.ok(other))
			}
			stays := f.save(t, f.ok(other)).Result
			_, err := f.PutLabels(t.Context(), f.mine.account, other.ID, []labels.Label{f.label(stays, "urgent", "true")})
			succeeds(t, err)
			now := moment(0).Add(time.Hour)
			f.add(t, deletion.Job{Status: prism.OK, DueAt: now, SavedBefore: moment(0).Add(time.Minute)})
			job, _ := f.take(t, now)
			same(t, f.finish(t, job, now), deletion.DeletePart+1)
			same(t, f.labelsState(t, 1), quality.LabelsState{})
			same(t, f.stored(t, unlabelled.ID) != nil, true)
			left, err := f.LabelsOf(t.Context(), f.mine.account, other.ID, []prism.ResultID{stays.ID})
			succeeds(t, err)
			same(t, texts(left), "urgent=true")
		}},
		// spec: label-deleted
		{"a label that is put while its result is deleted stays with no result", func(t *testing.T, f *fixture) {
			for range racers {
				r := f.save(t, f.ok(f.mine.prism)).Result
				for _, err := range together(2, func(i int) error {
					if i == 0 {
						return f.delete(t, r.ID)
					}
					_, err := f.PutLabels(t.Context(), f.mine.account, f.mine.prism.ID, []labels.Label{f.label(r, "urgent", "true")})
					return err
				}) {
					succeeds(t, err)
				}
			}
			same(t, f.labelsState(t, 1), quality.LabelsState{})
		}},
		// spec: labels-list
		{"labels are listed by result, newest first, with a filter and in pages", func(t *testing.T, f *fixture) {
			f.listedLabels(t)
		}},
		{"the labels of a question come with what decides whether they count, newest first", func(t *testing.T, f *fixture) {
			f.labelled(t)
		}},
		{"the answers of any number of results come with a hash of what they were asked", func(t *testing.T, f *fixture) {
			f.answers(t)
		}},
		{"results are counted up to a limit if they are ok and pass a filter", func(t *testing.T, f *fixture) {
			for range 5 {
				f.save(t, f.ok(f.mine.prism))
			}
			f.save(t, f.failed(f.mine.prism))
			f.save(t, f.ok(f.addPrism(t, f.mine, "other")))
			late := f.ok(f.mine.prism)
			late.CreatedAt, late.Call = moment(50), &prism.ModelCall{Name: "fast"}
			f.save(t, late)
			for _, c := range []struct {
				filter      store.Filter
				limit, want int
			}{
				{store.Filter{}, 9, 6},
				{store.Filter{}, 6, 6},
				{store.Filter{}, 3, 3},
				{store.Filter{Version: 1, Status: prism.Failed}, 9, 6}, // the status is always ok
				{store.Filter{Version: 2}, 9, 0},
				{store.Filter{To: moment(50)}, 9, 5},
				{store.Filter{From: moment(50)}, 9, 1},
				{store.Filter{Model: "fast"}, 9, 1},
			} {
				c.filter.Prism = f.mine.prism.ID
				n, err := f.CountAnswered(t.Context(), f.mine.account, c.filter, c.limit)
				succeeds(t, err)
				same(t, n, c.want)
			}
		}},
		{"the state of a version's labels changes with what a measure is computed from, and with nothing else", func(t *testing.T, f *fixture) {
			r := f.save(t, f.ok(f.mine.prism)).Result
			before := []quality.LabelsState{f.labelsState(t, 1)}
			l := f.label(r, "urgent", "true")
			for _, change := range []func(){
				func() {}, func() { l.Value = "false" }, func() { l.Sample = prism.RandomSample }, func() { l.Origin = store.LabelOfFile },
			} {
				change()
				f.putLabels(t, l)
				state := f.labelsState(t, 1)
				if slices.Contains(before, state) {
					t.Errorf("the state %+v was there before", state)
				}
				before = append(before, state)
			}
			l.Annotator, l.At, l.Key = "another", moment(99), prism.KeyID{UUID: f.id()}
			f.putLabels(t, l)
			same(t, f.labelsState(t, 1), before[len(before)-1])
			same(t, f.labelsState(t, 2), quality.LabelsState{})
		}},
		// spec: label-queue-random
		{"the random queue is the results without a label by the hash of their ids, however it is paged", func(t *testing.T, f *fixture) {
			f.randomQueue(t)
		}},
		// spec: label-queue
		{"results wait for a label of a question if they are ok and have none", func(t *testing.T, f *fixture) {
			f.waitingForLabels(t)
		}},
		// spec: run-labels
		{"the labels of a run's rows are stored with their ok results, and counted", func(t *testing.T, f *fixture) {
			f.runLabels(t)
		}},
	}
}

// spec: labels-list
func (f *fixture) listedLabels(t *testing.T) {
	t.Helper()
	succeeds(t, f.AddVersion(t.Context(), f.mine.account, changed(f.mine.prism.ID, 2, lens("urgent"))))
	var all []labels.Labelled
	for i := range 7 {
		r := f.ok(f.mine.prism)
		ref := fmt.Sprint("ref ", i)
		r.Ref, r.Version = &ref, int32(1+i%2)
		f.save(t, r)
		put := []labels.Label{f.label(r, "mood", "up"), f.label(r, "topic", "a"), f.label(r, "urgent", "true")}[i%3:]
		f.putLabels(t, put...)
		all = append([]labels.Labelled{{Result: r.ID, Version: r.Version, Ref: r.Ref, Labels: put}}, all...)
		f.save(t, f.ok(f.mine.prism))
	}
	for _, filter := range []labels.Filter{{}, {Version: 1}, {Question: "topic"}, {Version: 2, Question: "mood"}, {Question: "none"}} {
		var want []labels.Labelled
		for _, r := range all {
			r.Labels = slices.DeleteFunc(slices.Clone(r.Labels), func(l labels.Label) bool {
				return filter.Question != "" && l.Question != filter.Question
			})
			if len(r.Labels) > 0 && (filter.Version == 0 || r.Version == filter.Version) {
				want = append(want, r)
			}
		}
		filter.Prism = f.mine.prism.ID
		for limit := 1; limit <= 8; limit++ {
			list := func(p store.Page) ([]labels.Labelled, bool, error) {
				return f.ListLabels(t.Context(), f.mine.account, filter, p)
			}
			same(t, pages(t, limit, list, func(r labels.Labelled) prism.UUID { return r.Result.UUID }), want)
		}
	}
	none, _, err := f.ListLabels(t.Context(), f.theirs.account, labels.Filter{Prism: f.mine.prism.ID}, store.Page{Limit: 9})
	succeeds(t, err)
	same(t, len(none), 0)
}

// spec: run-labels
func (f *fixture) runLabels(t *testing.T) {
	t.Helper()
	r := f.run(t, f.mine, moment(5), 4, 1)
	l := f.leased(t, moment(10))
	s := outcomes(l, "off-")
	sent := contract.RowLabels{
		Labels:        []contract.RowLabel{{Question: "urgent", Value: "true"}, {Question: "topic", Value: "b"}},
		InvalidLabels: []string{"labels.mood: Expected 'low' | 'up'"},
	}
	for i := range s.Rows {
		s.Rows[i].RowLabels = sent
	}
	for range 2 { // storing a row again changes nothing
		succeeds(t, f.SaveRows(t.Context(), s, moment(11)))
	}
	counted := func(stored, invalid int64) {
		t.Helper()
		found := f.found(t, r.ID)
		same(t, []int64{found.Labels, found.InvalidLabels}, []int64{stored, invalid})
	}
	counted(2, 1)
	id := prism.RowResultID(moment(10), r.ID, 1, 1)
	stored, err := f.LabelsOf(t.Context(), f.mine.account, f.mine.prism.ID, []prism.ResultID{id})
	succeeds(t, err)
	label := labels.Label{
		Result: id, Version: 1, Question: "topic", Value: "b", Origin: store.LabelOfFile, Key: f.mine.keyID, At: moment(11),
	}
	second := label
	second.Question, second.Value = "urgent", "true"
	same(t, stored, []labels.Label{label, second})
	rest := outcomes(l, "---o")
	rest.Rows[0].RowLabels, rest.Done = sent, true
	succeeds(t, f.SaveRows(t.Context(), rest, moment(12)))
	f.saves(t, f.leased(t, moment(12)), "o", moment(12))
	f.tend(t, moment(13)) // which folds the chunks
	counted(4, 2)
	f.act(t, r.ID, store.RunRetry, moment(14))
	counted(4, 2)
	again := outcomes(f.leased(t, moment(15)), "of")
	for i := range again.Rows {
		again.Rows[i].RowLabels = sent
	}
	again.Done = true
	succeeds(t, f.SaveRows(t.Context(), again, moment(16)))
	counted(6, 3)
	f.tend(t, moment(17))
	counted(6, 3)
	same(t, f.labelsState(t, 1).Labels, 6)
}
