package storetest

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/comments"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/store"
)

func commentTests() []test {
	return []test{
		// spec: comment-list, comment-members
		{"comments are listed newest first with the names of their authors, a page at a time", func(t *testing.T, f *fixture) {
			r, other := f.saved(t), f.saved(t)
			ada := f.member(t, f.mine, prism.Labeller)
			want := []comments.Comment{f.comment(t, r, store.Actor{Kind: store.MemberActor, Key: prism.KeyID(ada.ID)})}
			want = append([]comments.Comment{f.comment(t, r, f.keyActor())}, want...)
			f.comment(t, other, f.keyActor())
			same(t, []string{want[0].Author.Name, want[1].Author.Name}, []string{f.firstKey().Name, ada.Name})
			succeeds(t, f.remove(t, ada.ID)) // the name stays
			for limit := 1; limit <= len(want)+1; limit++ {
				same(t, f.comments(t, r, limit), want)
			}
			_, _, err := f.ListComments(t.Context(), f.theirs.account, r, store.Page{Limit: 1})
			failsWith(t, err, store.ErrNotFound)
			_, err = f.CreateComment(t.Context(), f.theirs.account, r, f.newComment(f.keyActor()), 9)
			failsWith(t, err, store.ErrNotFound)
		}},
		// spec: comments-limit
		{"of concurrent comments as many are stored as there is room for", func(t *testing.T, f *fixture) {
			r := f.saved(t)
			var group sync.WaitGroup
			errs := make([]error, 5)
			for i := range errs {
				c := f.newComment(f.keyActor())
				group.Go(func() { _, errs[i] = f.CreateComment(t.Context(), f.mine.account, r, c, 3) })
			}
			group.Wait()
			refused := slices.DeleteFunc(errs, func(err error) bool { return err == nil })
			if len(refused) != 2 || !errors.Is(refused[0], store.ErrTooManyComments) || !errors.Is(refused[1], store.ErrTooManyComments) {
				t.Errorf("got %v", refused)
			}
			same(t, len(f.comments(t, r, 10)), 3)
		}},
		// spec: comment-delete
		{"an author deletes a comment, an owner any", func(t *testing.T, f *fixture) {
			r := f.saved(t)
			mine, theirs := f.comment(t, r, f.keyActor()), f.comment(t, r, store.Actor{Kind: store.KeyActor, Key: prism.KeyID{UUID: f.id()}})
			remove := func(c comments.Comment, anybodys bool) error {
				by := f.by(moment(5))
				by.Actor = f.keyActor()
				return f.DeleteComment(t.Context(), f.mine.account, r, c.ID, anybodys, by)
			}
			failsWith(t, remove(theirs, false), store.ErrNotAuthor)
			succeeds(t, remove(mine, false))
			failsWith(t, remove(mine, false), store.ErrNotFound)
			same(t, f.comments(t, r, 10), []comments.Comment{theirs})
			succeeds(t, remove(theirs, true))
			same(t, len(f.entriesOf(t, store.CommentDelete)), 2)
		}},
		// spec: comment-deleted, comment-bytes
		{"comments count in the stored bytes, and go with their result", func(t *testing.T, f *fixture) {
			bytes := func() int64 {
				stored, err := f.Storage(t.Context(), f.mine.account)
				succeeds(t, err)
				return stored.Bytes
			}
			r := f.saved(t)
			before := bytes()
			c := f.comment(t, r, f.keyActor())
			f.assign(t, r, f.member(t, f.mine, prism.Reader).ID)
			same(t, bytes(), before+int64(len(c.Text))+256)
			_, err := f.SetLimits(t.Context(), f.mine.account, keys.LimitsChange{StoredBytes: new(bytes())})
			succeeds(t, err)
			_, err = f.CreateComment(t.Context(), f.mine.account, r, f.newComment(f.keyActor()), 9)
			var wait *store.WaitError
			if !errors.As(err, &wait) {
				t.Errorf("a full account: %v", err)
			}
			succeeds(t, f.Fold(t.Context()))
			same(t, bytes(), before+int64(len(c.Text))+256)
			succeeds(t, f.delete(t, r))
			same(t, bytes(), int64(0))
			_, _, err = f.ListComments(t.Context(), f.mine.account, r, store.Page{Limit: 1})
			failsWith(t, err, store.ErrNotFound)
			same(t, f.assigned(t, &prism.MemberID{}), nil)
		}},
		// spec: assignee-put, assignee-read, assignee-filter
		{"a result is assigned to one member of its account, or to nobody", func(t *testing.T, f *fixture) {
			r, free := f.saved(t), f.saved(t)
			ada, bob := f.member(t, f.mine, prism.Reader), f.member(t, f.mine, prism.Owner)
			rule := f.rule(t, f.mine, prism.Reader, "groups", "all")
			gone := f.member(t, f.mine, prism.Reader)
			succeeds(t, f.remove(t, gone.ID))
			for _, id := range []prism.MemberID{f.member(t, f.theirs, prism.Reader).ID, rule.ID, gone.ID, {UUID: f.id()}} {
				_, err := f.Assign(t.Context(), f.mine.account, r, &id)
				failsWith(t, err, store.ErrNoMember)
			}
			_, err := f.Assign(t.Context(), f.theirs.account, r, nil)
			failsWith(t, err, store.ErrNotFound)
			_, err = f.Assignee(t.Context(), f.theirs.account, r)
			failsWith(t, err, store.ErrNotFound)
			for _, m := range []prism.MemberID{ada.ID, ada.ID, bob.ID} {
				f.assign(t, r, m)
				got, err := f.Assignee(t.Context(), f.mine.account, r)
				succeeds(t, err)
				same(t, got.ID, m)
				same(t, f.assigned(t, &m), []prism.ResultID{r})
				same(t, f.assigned(t, &prism.MemberID{}), []prism.ResultID{free})
			}
			same(t, f.assigned(t, &ada.ID), nil)
			_, err = f.Assign(t.Context(), f.mine.account, r, nil)
			succeeds(t, err)
			got, err := f.Assignee(t.Context(), f.mine.account, r)
			succeeds(t, err)
			same(t, got, nil)
			same(t, f.assigned(t, &prism.MemberID{}), []prism.ResultID{free, r})
		}},
		// spec: assignees-put
		{"results are assigned together, and told whom they were assigned to", func(t *testing.T, f *fixture) {
			all := make([]prism.ResultID, 120) // more than a statement names
			for i := range all {
				all[i] = f.saved(t)
			}
			ada, bob := f.member(t, f.mine, prism.Reader).ID, f.member(t, f.mine, prism.Owner).ID
			f.assign(t, all[7], ada)
			f.assign(t, all[99], bob)
			together := func(to *prism.MemberID, ids ...prism.ResultID) ([]comments.Assignment, error) {
				by := f.by(moment(5))
				by.Actor = f.keyActor()
				return f.AssignMany(t.Context(), comments.Assigning{Account: f.mine.account, Prism: f.mine.prism.ID, Slug: "p", Results: ids, To: to}, by)
			}
			_, err := together(&prism.MemberID{UUID: f.id()}, all...)
			failsWith(t, err, store.ErrNoMember)
			_, err = together(&ada, append([]prism.ResultID{{UUID: f.id()}}, all...)...)
			if match, ok := errors.AsType[*store.MatchError](err); !ok || match.Matches != int64(len(all)) {
				t.Errorf("one is missing: %v", err)
			}
			same(t, f.assigned(t, &bob), []prism.ResultID{all[99]})
			same(t, len(f.entriesOf(t, store.ResultsAssign)), 0)

			changed, err := together(&ada, all...)
			succeeds(t, err)
			same(t, len(changed), 119)
			same(t, []comments.Assignment{changed[0], changed[7], changed[98]}, []comments.Assignment{{Result: all[0]}, {Result: all[8]}, {Result: all[99], Member: bob}})
			same(t, f.assigned(t, &bob), nil)
			same(t, f.assigned(t, &prism.MemberID{}), nil)
			changed, err = together(&ada, all[:3]...)
			succeeds(t, err)
			same(t, len(changed), 0)
			changed, err = together(nil, all[3:60]...)
			succeeds(t, err)
			same(t, len(changed), 57)
			got, err := f.Assignee(t.Context(), f.mine.account, all[3])
			succeeds(t, err)
			same(t, got, nil)
			entries := f.entriesOf(t, store.ResultsAssign)
			same(t, []string{string(entries[0].Detail), string(entries[1].Detail)}, []string{
				`{"assigned":57,"member_id":null}`, `{"assigned":119,"member_id":"` + ada.String() + `"}`,
			})
		}},
		// spec: assignee-list
		{"results can be assigned to the members of the account, without rules and those who have left", func(t *testing.T, f *fixture) {
			ada, bob, gone := f.member(t, f.mine, prism.Reader), f.member(t, f.mine, prism.Owner), f.member(t, f.mine, prism.Reader)
			f.rule(t, f.mine, prism.Reader, "groups", "all")
			f.member(t, f.theirs, prism.Reader)
			succeeds(t, f.remove(t, gone.ID))
			got := pages(t, 1, func(p store.Page) ([]comments.Member, bool, error) {
				return f.ListAssignees(t.Context(), f.mine.account, p)
			}, func(m comments.Member) prism.UUID { return m.ID.UUID })
			same(t, got, []comments.Member{{ID: bob.ID, Name: bob.Name}, {ID: ada.ID, Name: ada.Name}})
		}},
		// spec: member-leaves-unassigned
		{"the results of a member who is removed are assigned to nobody", func(t *testing.T, f *fixture) {
			r, ada := f.saved(t), f.member(t, f.mine, prism.Reader)
			f.assign(t, r, ada.ID)
			succeeds(t, f.remove(t, ada.ID))
			got, err := f.Assignee(t.Context(), f.mine.account, r)
			succeeds(t, err)
			same(t, got, nil)
			same(t, f.assigned(t, &prism.MemberID{}), []prism.ResultID{r})
		}},
	}
}

// saved is the id of a new result of mine.
func (f *fixture) saved(t *testing.T) prism.ResultID {
	t.Helper()
	r := f.ok(f.mine.prism)
	f.save(t, r)
	return r.ID
}

func (f *fixture) keyActor() store.Actor { return store.Actor{Kind: store.KeyActor, Key: f.mine.keyID} }

func (f *fixture) newComment(by store.Actor) comments.Comment {
	return comments.Comment{ID: prism.CommentID{UUID: f.id()}, Author: by, Text: strings.Repeat("“é” 🙂", 9), CreatedAt: moment(1)}
}

// comment adds a comment to a result of mine.
func (f *fixture) comment(t *testing.T, of prism.ResultID, by store.Actor) comments.Comment {
	t.Helper()
	c, err := f.CreateComment(t.Context(), f.mine.account, of, f.newComment(by), api.MaxComments)
	succeeds(t, err)
	return c
}

func (f *fixture) comments(t *testing.T, of prism.ResultID, limit int) []comments.Comment {
	t.Helper()
	return pages(t, limit, func(p store.Page) ([]comments.Comment, bool, error) {
		return f.ListComments(t.Context(), f.mine.account, of, p)
	}, func(c comments.Comment) prism.UUID { return c.ID.UUID })
}

func (f *fixture) assign(t *testing.T, of prism.ResultID, to prism.MemberID) {
	t.Helper()
	_, err := f.Assign(t.Context(), f.mine.account, of, &to)
	succeeds(t, err)
}

// assigned are the results of mine of a member, or of nobody.
func (f *fixture) assigned(t *testing.T, to *prism.MemberID) (ids []prism.ResultID) {
	t.Helper()
	found, _, err := f.ListResults(t.Context(), f.mine.account, store.Filter{Assignee: to}, store.WithoutInput, store.Page{Limit: 10})
	succeeds(t, err)
	for _, saved := range found {
		ids = append(ids, saved.Result.ID)
	}
	return ids
}
