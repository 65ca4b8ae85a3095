package e2e

import (
	"fmt"
	"math"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestQualityOfTags holds what labels of questions of whose options any number can be right are worth.
func TestQualityOfTags(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		// spec: run-labels, label-value, quality-several, quality-target, thresholds, show-answer, search-where, result-counts, distribution-row
		t.Run("a column of a file labels them, and they are measured, priced, shown and found by option", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			prism := own.prism(t, oneField, aboutQuestions, "lens", raw(`{"columns":[{"name":"about","question":"about","show":"answer","yes_at":0.7}]}`))
			var file strings.Builder
			file.WriteString("text,right\r\n")
			for i := range 120 { // an empty cell is no label
				_, _ = fmt.Fprintf(&file, "text %d,%s\r\n", i, []string{"VIP; staff", `"Price, or a fee"`, "none", ""}[i%4])
			}
			file.WriteString("text,gone; vip\r\n")
			f := own.upload(t, "csv", file.String())
			dry := own.runFile(t, prism, f.ID, `,"labels":{"about":"right"},"dry_run":true`)
			if !strings.Contains(string(dry.body), `labels.about.0: Expected 'price' | 'staff' | 'vip'`) {
				t.Errorf("the dry run says %s", dry.body)
			}
			if done := own.follow(t, own.runFile(t, prism, f.ID, `,"labels":{"about":"right"}`).run(t, 201).ID); done.OK != 121 {
				t.Fatalf("got %+v", done)
			}
			of := "/v1/prisms/" + prism

			// The model says 0.75 of each option.
			type figure struct{ Value, Low, High float64 }
			var measured struct {
				Questions []struct {
					Question, Option, Type string
					Labels, Counted        int
					Accuracy, Brier        *figure
					Tags                   *struct {
						Exact   figure `json:"exact_match"`
						Hamming figure `json:"hamming_loss"`
						Micro   struct{ Precision, Recall, F1 *figure }
						Macro   struct{ Precision, Recall, F1 *figure }
					}
				}
			}
			own.get(t, of+"/versions/1/quality?question=about").decode(t, &measured)
			near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
			if n := len(measured.Questions); n != 4 {
				t.Fatalf("%d things are measured", n)
			}
			if whole := measured.Questions[0]; whole.Option != "" || whole.Type != "tags" || whole.Counted != 90 || whole.Tags == nil || whole.Accuracy != nil ||
				whole.Tags.Exact.Value != 0 || !near(whole.Tags.Hamming.Value, 2./3) || !near(whole.Tags.Micro.Precision.Value, 1./3) ||
				whole.Tags.Micro.Recall.Value != 1 || !near(whole.Tags.Macro.F1.Value, 0.5) {
				t.Errorf("as a whole %+v, %+v", whole, whole.Tags)
			}
			for i, option := range []string{"price", "staff", "vip"} {
				if q := measured.Questions[i+1]; q.Option != option || q.Counted != 90 || !near(q.Accuracy.Value, 1./3) || !near(q.Brier.Value, (0.0625+2*0.5625)/3) || q.Tags != nil {
					t.Errorf("%s: %+v", option, q)
				}
			}
			costs := of + "/versions/1/quality/thresholds?question=about&false_yes=3&false_no=1&unsure=1"
			own.get(t, costs).wantFail(t, invalid("option: Required"))
			own.get(t, costs+"&option=gone").wantFail(t, invalid("option: Unknown option"))
			if got := string(own.get(t, costs+"&option=vip").body); !strings.HasPrefix(got, `{"question":"about","option":"vip","type":"tags","labels":90,"counted":90,`) ||
				!strings.Contains(got, `"yes_at":0.75,"no_at":0.75,`) {
				t.Errorf("got %.300s", got)
			}
			own.post(t, of+"/versions/1/calibrations", `{"question":"about","option":"vip","method":"auto"}`).wantFail(t,
				fail{409, "conflict", "Too few labels: 90 of 200."})
			own.get(t, of+"/versions/1/calibration").wantBody(t, `{"version":1,"questions":{"about.price":null,"about.staff":null,"about.vip":null,"urgent":null}}`)

			wantEqual(t, "the column", string(own.create(t, prism, text("another")).ok(t).Answers), `{"about":"price; staff; vip"}`)

			total := func(where string) (found struct {
				Total int
				By    map[string][]struct {
					Value, Label string
					Count        int
				}
			},
			) {
				own.get(t, "/v1/results/counts?prism="+prism+"&by=about&where="+url.QueryEscape(where)).decode(t, &found)
				return found
			}
			for where, want := range map[string]int{
				"about:is:vip": 122, "about:not:vip": 0, "about.vip:from:0.7": 122, "about.vip:to:0.3": 0, "about:labelled": 90, "about:wrong": 90, "about@count:from:3": 122,
			} {
				if got := total(where); got.Total != want {
					t.Errorf("%s finds %d, want %d", where, got.Total, want)
				}
			}
			if by := total("about:labelled").By["about"]; fmt.Sprint(by) != "[{price Price, or a fee 90} {staff Staff 90} {vip VIP 90}]" {
				t.Errorf("counted %v", by)
			}
			own.get(t, "/v1/results?prism="+prism+"&sort=-about.vip&limit=1").wantStatus(t, 200)
			var distribution struct {
				Data []struct {
					Answers, Labelled, Right int
					Values                   []struct {
						Value string
						Count int
					}
				}
			}
			own.get(t, of+"/distribution?question=about&by=week").decode(t, &distribution)
			if rows := distribution.Data; len(rows) != 1 || rows[0].Answers != 122 || rows[0].Labelled != 90 || rows[0].Right != 0 ||
				fmt.Sprint(rows[0].Values) != "[{price 122} {staff 122} {vip 122}]" {
				t.Errorf("got %+v", rows)
			}
		})
		// spec: drift-options, drift-read
		t.Run("drift is of each option", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			prism := own.prism(t, oneField, aboutQuestions)
			own.create(t, prism, text("x", "ref", "drift-"+prism)).ok(t)
			answers := func(p float64) string {
				return fmt.Sprintf(`{"about":{"type":"tags","values":[],"probabilities":{"price":0.9,"staff":%.6f,"vip":0.1}},"urgent":{"type":"yes_no","probability":0.75}}`, p)
			}
			hourAgo := time.Now().Add(-time.Hour)
			s.copiesOf(t, "drift-"+prism, 2000, hourAgo.Add(-20*time.Hour), 0.8, answers)
			s.copiesOf(t, "drift-"+prism, 400, hourAgo.Add(30*time.Minute), 0.4, answers)
			own.put(t, "/v1/prisms/"+prism+"/drift", `{"watched":true}`).wantStatus(t, 200)
			d := own.awaitDrift(t, prism, func(d driftOf) bool { return len(d.Questions) == 4 && d.Questions[1].Day.Results == 400 })
			for i, want := range []string{"about.price false", "about.staff true", "about.vip false", "urgent. false"} {
				q := d.Questions[i]
				if got := fmt.Sprintf("%s.%s %v", q.Question, q.Option, q.Day.Alarm); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
		})
	})
}
