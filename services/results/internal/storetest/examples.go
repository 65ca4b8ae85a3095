package storetest

import (
	"math"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/deletion"
	"github.com/prism-results/prism/services/results/internal/store"
)

// exampleOf is an example that was taken from results; zero: from none.
func exampleOf(result prism.ResultID, value string) prism.Example {
	q := version(1).Questions[0]
	return prism.Example{
		Fields:  prism.ExampleFields{{Key: "zulu", Value: value}, {Key: "alpha", Value: "<a>"}},
		Answers: prism.ExampleAnswers{prism.NewExampleAnswer(q, "true")}, Result: result,
	}
}

func emptied() prism.Example {
	return prism.Example{Fields: prism.ExampleFields{}, Answers: prism.ExampleAnswers{}}
}

// spec: version-examples, emptied-examples
func exampleTests() []test {
	return []test{
		{"examples are stored in their order", func(t *testing.T, f *fixture) {
			r := f.save(t, f.ok(f.mine.prism)).Result.ID
			examples := []prism.Example{exampleOf(prism.ResultID{}, "b"), exampleOf(r, "a")}
			f.addExamples(t, 2, examples...)
			same(t, f.examples(t, 2), examples)
		}},
		{"a version with an example of a result that is not there is stale, and names it before", func(t *testing.T, f *fixture) {
			theirs := f.ok(f.theirs.prism)
			_, err := f.SaveResult(t.Context(), f.theirs.account, theirs)
			succeeds(t, err)
			r := f.save(t, f.ok(f.mine.prism)).Result.ID
			examples := []prism.Example{exampleOf(r, "a"), exampleOf(theirs.ID, "b"), exampleOf(prism.ResultID{}, "c")}
			missing, err := f.MissingResults(t.Context(), f.mine.account, []prism.UUID{r.UUID, theirs.ID.UUID})
			succeeds(t, err)
			same(t, missing, []prism.UUID{theirs.ID.UUID})
			failsWith(t, f.AddVersion(t.Context(), f.mine.account, f.withExamples(2, examples...)), store.ErrStale)
			p := f.newPrism("other")
			p.Latest.Examples = examples
			failsWith(t, f.CreatePrism(t.Context(), f.mine.account, p), store.ErrStale)
			f.unchanged(t)
		}},
		{"a deletion empties the examples of the result in all versions of all prisms, and changes their hash", func(t *testing.T, f *fixture) {
			r, example := f.save(t, f.ok(f.mine.prism)).Result.ID, f.save(t, f.ok(f.mine.prism)).Result.ID
			mine := []prism.Example{exampleOf(example, "a"), exampleOf(r, "b"), exampleOf(prism.ResultID{}, "c"), exampleOf(r, "d")}
			f.addExamples(t, 2, mine...)
			f.addExamples(t, 3, exampleOf(r, "e"))
			other := f.newPrism("other")
			other.Latest.Examples = []prism.Example{exampleOf(r, "f")}
			succeeds(t, f.CreatePrism(t.Context(), f.mine.account, other))
			before := f.hash(t, f.mine.prism.ID)
			succeeds(t, f.delete(t, r))
			same(t, f.examples(t, 2), []prism.Example{mine[0], emptied(), mine[2], emptied()})
			same(t, f.examples(t, 3), []prism.Example{emptied()})
			found, err := f.Prism(t.Context(), f.mine.account, prism.Ref{ID: other.ID})
			succeeds(t, err)
			same(t, found.Latest.Examples, []prism.Example{emptied()})
			same(t, found.Latest.Questions, other.Latest.Questions)
			if f.hash(t, f.mine.prism.ID) == before || found.VersionsHash == other.VersionsHash {
				t.Error("the hash of the versions is as before")
			}
			before = f.hash(t, f.mine.prism.ID)
			entries := f.entriesOf(t, store.VersionEmpty)
			same(t, len(entries), 3)
			details := map[string]int{}
			for _, e := range entries {
				details[e.Object.Name+string(e.Detail)]++
			}
			same(t, details, map[string]int{
				`triage{"version":2,"emptied":2}`: 1, `triage{"version":3,"emptied":1}`: 1, `other{"version":1,"emptied":1}`: 1,
			})
			succeeds(t, f.delete(t, example))
			same(t, f.examples(t, 2), []prism.Example{emptied(), emptied(), mine[2], emptied()})
			if f.hash(t, f.mine.prism.ID) == before {
				t.Error("the hash of the versions is as before the second deletion")
			}
		}},
		{"a deletion of many, and retention, empty examples too", func(t *testing.T, f *fixture) {
			a, b := f.save(t, f.ok(f.mine.prism)).Result.ID, f.save(t, f.failed(f.mine.prism)).Result.ID
			f.addExamples(t, 2, exampleOf(a, "a"), exampleOf(b, "b"))
			f.add(t, deletion.Job{Status: prism.OK})
			now := moment(0).Add(time.Hour)
			job, _ := f.take(t, now)
			f.finish(t, job, now)
			same(t, f.examples(t, 2), []prism.Example{emptied(), exampleOf(b, "b")})
			now = moment(0).Add(72 * time.Hour)
			f.retain(t, 1, now)
			job, _ = f.take(t, now)
			f.finish(t, job, now)
			same(t, f.examples(t, 2), []prism.Example{emptied(), emptied()})
		}},
		{"another account's result of the same id empties nothing", func(t *testing.T, f *fixture) {
			r := f.save(t, f.ok(f.mine.prism)).Result
			f.addExamples(t, 2, exampleOf(r.ID, "a"))
			theirs := f.ok(f.theirs.prism)
			theirs.ID = r.ID
			_, err := f.SaveResult(t.Context(), f.theirs.account, theirs)
			succeeds(t, err)
			succeeds(t, f.DeleteResult(t.Context(), f.theirs.account, r.ID, f.by(moment(0))))
			same(t, f.examples(t, 2), []prism.Example{exampleOf(r.ID, "a")})
		}},
		{"of a version and a deletion at once, the version is refused or its example emptied", func(t *testing.T, f *fixture) {
			number := int32(1)
			for range 8 {
				r := f.save(t, f.ok(f.mine.prism)).Result.ID
				errs := together(2, func(i int) error {
					if i == 0 {
						return f.delete(t, r)
					}
					return f.AddVersion(t.Context(), f.mine.account, f.withExamples(number+1, exampleOf(r, "a")))
				})
				succeeds(t, errs[0])
				if errs[1] != nil {
					failsWith(t, errs[1], store.ErrStale)
					continue
				}
				number++
				same(t, f.examples(t, number), []prism.Example{emptied()})
			}
		}},
	}
}

// withExamples is mine's prism with a version of examples, for AddVersion.
func (f *fixture) withExamples(number int32, examples ...prism.Example) prism.Prism {
	p := changed(f.mine.prism.ID, number, lens("l"))
	p.Latest.Examples, p.VersionsHash = examples, math.MinInt64+int64(number)
	return p
}

func (f *fixture) addExamples(t *testing.T, number int32, examples ...prism.Example) {
	t.Helper()
	succeeds(t, f.AddVersion(t.Context(), f.mine.account, f.withExamples(number, examples...)))
}

func (f *fixture) examples(t *testing.T, number int32) []prism.Example {
	t.Helper()
	v, err := f.Version(t.Context(), f.mine.account, f.mine.prism.ID, number)
	succeeds(t, err)
	return v.Examples
}

func (f *fixture) hash(t *testing.T, id prism.PrismID) int64 {
	t.Helper()
	p, err := f.Prism(t.Context(), f.mine.account, prism.Ref{ID: id})
	succeeds(t, err)
	return p.VersionsHash
}
