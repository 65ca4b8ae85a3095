package e2e

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"
)

// distributed is a distribution.
type distributed struct {
	Question, Type, By, Zone, From, To string
	Exact                              bool
	CountedFrom                        *string `json:"counted_from"`
	CountedTo                          *string `json:"counted_to"`
	Data                               []struct {
		At              time.Time
		Answers         int64
		Values          []struct{ Value, Count any }
		Probability     float64
		Labelled, Right int64
		Bins            []int64
	}
}

// distribution reads a distribution until it is exact, which it is a moment after the first result of an account.
func (c *client) distribution(t *testing.T, slug, query string) (d distributed) {
	t.Helper()
	for end := time.Now().Add(patience); !d.Exact; {
		r := c.get(t, "/v1/prisms/"+slug+"/distribution?"+query)
		r.wantStatus(t, 200)
		d = distributed{} // an element of a slice that is filled again keeps what the new text does not have
		if err := json.Unmarshal(r.body, &d); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(end) {
			t.Fatalf("the distribution does not become exact: %s", r.body)
		}
	}
	return d
}

// TestDistributions holds that answers are counted by time, with their labels, also after they were deleted.
func TestDistributions(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: distribution, distribution-row, distribution-bins, distribution-labels, distribution-deleted
		t.Run("answers, their labels and what was deleted are counted", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			slug := own.prism(t, oneField, yesNo)
			question := own.question(t, slug)
			var ids []string
			for i := range 3 {
				ids = append(ids, own.create(t, slug, text(fmt.Sprintf("text %d", i))).ok(t).ID)
			}
			query := "question=" + question + "&zone=Asia/Kolkata&version=1"
			first := own.distribution(t, slug, query)
			if len(first.Data) != 1 || first.Data[0].Answers != 3 || first.Data[0].Labelled != 0 || len(first.Data[0].Bins) != 101 {
				t.Fatalf("got %+v", first)
			}
			if at := first.Data[0].At; at.Hour() != 18 || at.Minute() != 30 || first.By != "day" || first.Type != "yes_no" || first.CountedFrom != nil || first.CountedTo != nil {
				t.Errorf("got %+v", first)
			}
			sum := int64(0)
			for _, n := range first.Data[0].Bins {
				sum += n
			}
			wantEqual(t, "the answers in bins", sum, int64(3))
			own.put(t, "/v1/results/"+ids[0]+"/labels", `{"labels":{"`+question+`":true}}`).wantStatus(t, 200)
			own.put(t, "/v1/results/"+ids[1]+"/labels", `{"labels":{"`+question+`":false}}`).wantStatus(t, 200)
			own.delete(t, "/v1/results/"+ids[0]).wantStatus(t, 204)
			own.delete(t, "/v1/results/"+ids[2]).wantStatus(t, 204)
			last := own.distribution(t, slug, query+"&by=week")
			if len(last.Data) != 1 || last.Data[0].Answers != 3 || last.Data[0].Labelled != 2 || last.Data[0].Right > 2 {
				t.Errorf("got %+v", last)
			}
			// spec: distribution-searched
			for filter, answers := range map[string]int64{
				"where=" + question + ":labelled": 1, "where=" + question + ":unlabelled": 0, "q=text": 1, "q=text+-1": 0, "q=text&where=@version:is:1": 1,
			} {
				got := int64(0)
				for _, row := range own.distribution(t, slug, query+"&"+filter).Data {
					got += row.Answers
				}
				wantEqual(t, filter, got, answers)
			}
			s.other.get(t, "/v1/prisms/"+slug+"/distribution?question="+question).wantFail(t, noPrism)
		})
		// spec: distribution, distribution-time, distribution-searched
		t.Run("what is wrong is told", func(t *testing.T) {
			t.Parallel()
			slug := s.main.prism(t, oneField, yesNo)
			question := s.main.question(t, slug)
			read := func(query string) reply { return s.main.get(t, "/v1/prisms/"+slug+"/distribution"+query) }
			read("").wantFail(t, invalid("question: Required"))
			read("?question=none").wantFail(t, invalid("question: Unknown question"))
			read("?question="+question+"&zone=Europe/Atlantis").wantFail(t, invalid("zone: Unknown time zone"))
			read("?question="+question+"&zone=Local").wantFail(t, invalid("zone: Unknown time zone"))
			read("?question="+question+"&from=2026-01-02&to=2026-01-02").wantFail(t, invalid("from: must be before to"))
			read("?question="+question+"&by=hour&from=2025-01-01&to=2026-02-22").wantFail(t, invalid("from: must be at most 416 days before to"))
			read("?question="+question+"&q=%22&where=none:is:a").wantFail(t, invalid("q: Expected a closing quotation mark; where.0: Unknown question"))
			read("?question="+question+"&version=2").wantFail(t, noVersion)
			wantEqual(t, "the rows of a prism without results", len(s.main.distribution(t, slug, "question="+question).Data), 0)
		})
	})
}
