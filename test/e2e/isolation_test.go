package e2e

import (
	"strings"
	"testing"
)

// TestIsolation holds that each operation with another account's ids returns what the operation returns for an unknown id,
// byte for byte.
// spec: key-scope, prism-identity
func TestIsolation(t *testing.T) {
	onEach(t, func(t *testing.T, s *stack) {
		const lens, version = `{"columns":[{"name":"u","question":"urgent","show":"answer"}]}`, `{"fields":` + oneField + `,"questions":` + yesNo + `}`
		for _, row := range []struct {
			name string
			call
			nothing string // what stands for {x} when nothing is there
			theirs  []string
		}{
			// spec: result-of-one-account
			{"reading a result", call{path: "/v1/results/{x}"}, absentID, []string{"{other_one_ok}", "{other_one_failed}", "{other_archived_ok}"}},
			{"reading a result as csv", call{path: "/v1/results/{x}?format=csv"}, absentID, []string{"{other_one_ok}"}},
			{"retrying a result", call{method: "POST", path: "/v1/results/{x}/retry"}, absentID, []string{"{other_one_failed}", "{other_one_ok}", "{other_one_retried}", "{other_archived_failed}"}},
			{"answering through a prism", call{path: "/v1/prisms/{x}/results", body: text("x")}, absentID, []string{"{other_one}", "{other_one_id}", "{other_archived}"}},
			{"reading a prism", call{path: "/v1/prisms/{x}"}, absentID, []string{"{other_one}", "{other_one_id}", "{other_archived_id}"}},
			{"reading a version", call{path: "/v1/prisms/{x}/versions/1"}, absentID, []string{"{other_one}", "{other_one_id}"}},
			{"adding a version", call{path: "/v1/prisms/{x}/versions", body: version}, absentID, []string{"{other_one}", "{other_one_id}", "{other_archived}"}},
			{"editing a Lens", call{method: "PUT", path: "/v1/prisms/{x}/lens", body: lens}, absentID, []string{"{other_one}", "{other_one_id}", "{other_archived}"}},
			{"archiving a prism", call{method: "POST", path: "/v1/prisms/{x}/archive"}, absentID, []string{"{other_one}", "{other_one_id}"}},
			{"unarchiving a prism", call{method: "POST", path: "/v1/prisms/{x}/unarchive"}, absentID, []string{"{other_archived}", "{other_archived_id}"}},
			{"exporting a prism", call{path: "/v1/prisms/{x}/results?format=csv"}, absentID, []string{"{other_one}", "{other_one_id}"}},
			{"listing results of a prism", call{path: "/v1/results?prism={x}"}, absentID, []string{"{other_one}", "{other_one_id}"}},
		} {
			t.Run(row.name+" of another account answers as if nothing were there", func(t *testing.T) {
				t.Parallel()
				in := row.call
				in.path = strings.ReplaceAll(row.path, "{x}", row.nothing)
				want := s.main.do(t, in)
				if want.status != 404 && !strings.Contains(row.path, "?prism=") { // which lists nothing
					t.Errorf("nothing is a %d", want.status)
				}
				for _, theirs := range row.theirs {
					in.path = strings.ReplaceAll(row.path, "{x}", s.fill(t, theirs))
					got := s.main.do(t, in)
					wantEqual(t, theirs+": the status", got.status, want.status)
					got.wantBody(t, string(want.body))
				}
			})
		}
		t.Run("revoking a key of another account answers as if nothing were there", func(t *testing.T) {
			t.Parallel()
			theirs, id := s.other.newAPIKey(t)
			want := s.main.post(t, "/v1/keys/"+absentID+"/revoke", "")
			s.main.post(t, "/v1/keys/"+id+"/revoke", "").wantBody(t, string(want.body))
			theirs.get(t, "/v1/prisms").wantStatus(t, 200)
		})
		t.Run("a cursor of another account shows nothing of it", func(t *testing.T) {
			t.Parallel()
			mine, theirs := s.ownAccount(t), s.ownAccount(t)
			for _, c := range []*client{mine, theirs} {
				prism := c.triage(t)
				c.triage(t)
				c.create(t, prism, text("x")).ok(t)
				c.create(t, prism, text("x")).ok(t)
			}
			for _, list := range []string{"/v1/results", "/v1/prisms"} {
				var p idPage
				theirs.get(t, list+"?limit=1").decode(t, &p)
				r := mine.get(t, list+"?cursor="+*p.NextCursor)
				if r.status == 200 && strings.Contains(string(r.body), p.Data[0].ID) {
					t.Error("their things are listed")
				}
				own := map[string]bool{}
				for _, id := range mine.walk(t, list+"?", 50) {
					own[id] = true
				}
				var got idPage
				if r.status == 200 {
					r.decode(t, &got)
				}
				for _, item := range got.Data {
					if !own[item.ID] {
						t.Errorf("%s lists what is not mine", list)
					}
				}
			}
		})
		t.Run("lists show nothing of other accounts", func(t *testing.T) {
			t.Parallel()
			own := s.ownAccount(t)
			s.fill(t, "{one}") // others have results and prisms by now
			own.get(t, "/v1/results").wantBody(t, `{"data":[],"next_cursor":null}`)
			own.get(t, "/v1/prisms").wantBody(t, `{"data":[],"next_cursor":null}`)
			wantEqual(t, "the number of keys", len(own.keys(t)), 1)
		})
	}, spread)
}
