package postgres

import (
	"fmt"
	"io"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/results/internal/store"
)

func TestNoSaveIsReportedBeforeItsBatchIsCommitted(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		a, b := s.save(t.Context(), "a", ""), s.save(t.Context(), "b", "")
		commit := s.hold("commit")
		release()
		if len(a) != 0 || len(b) != 0 {
			t.Error("a save is reported that may be rolled back")
		}
		commit()
		succeeds(t, a, "a")
		succeeds(t, b, "b")
		s.sent(t, "[[a b]]", "[]")
	})
}

func TestSavesAreSentInTheOrderOfAccountsKeysAndIDs(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		var outcomes []<-chan outcome
		saves := []struct{ arg, key string }{{"d", "k"}, {"c", "k"}, {"a", ""}, {"b", "j"}}
		for _, c := range saves {
			outcomes = append(outcomes, s.save(t.Context(), c.arg, c.key))
		}
		theirs := s.call("e", &call{ctx: t.Context(), statement: "save", account: prism.UUID{1}, idempotencyKey: "a"})
		release()
		for i, c := range saves {
			succeeds(t, outcomes[i], c.arg)
		}
		succeeds(t, theirs, "e")
		s.sent(t, "[[a b c d e]]", "[]")
	})
}

func TestABatchOfSavesEndsWithTheSaveThatMakesItLarge(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		a := s.save(t.Context(), "a", "")
		b := s.call("b", &call{ctx: t.Context(), statement: "save", id: prism.UUID{1}, bytes: batchBytes})
		c := s.save(t.Context(), "c", "")
		release()
		succeeds(t, a, "a")
		succeeds(t, b, "b")
		succeeds(t, c, "c")
		if got := fmt.Sprint(s.batched); got != "[[b a] [c]]" {
			t.Errorf("sent %s", got)
		}
	})
}

func TestIfOneSaveFailsTheOthersAreSentAgain(t *testing.T) {
	for _, where := range []string{"b", "commit"} {
		t.Run(where, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *server) {
				release := s.busy(t)
				a, b, c := s.save(t.Context(), "a", ""), s.save(t.Context(), "b", ""), s.save(t.Context(), "c", "")
				s.failing[where] = &pgconn.PgError{Code: serializationFailure}
				release()
				succeeds(t, a, "a")
				if got := <-b; (got.err != nil) != (where == "b") {
					t.Errorf("got %+v", got)
				}
				succeeds(t, c, "c")
				s.sent(t, "[[a b c]]", "[a b c]")
			})
		})
	}
}

func TestSavesWhoseOutcomeIsUnknownSaySo(t *testing.T) {
	for _, where := range []string{"b", "commit"} {
		t.Run(where, func(t *testing.T) {
			inBubble(t, func(t *testing.T, s *server) {
				release := s.busy(t)
				a, b := s.save(t.Context(), "a", ""), s.save(t.Context(), "b", "")
				s.failing[where] = io.ErrUnexpectedEOF
				release()
				fails(t, a, io.ErrUnexpectedEOF, false)
				fails(t, b, io.ErrUnexpectedEOF, false)
				s.sent(t, "[[a b]]", "[]")
			})
		})
	}
}

func TestASaveThatFindsNoRowIsReportedAfterTheCommit(t *testing.T) {
	inBubble(t, func(t *testing.T, s *server) {
		release := s.busy(t)
		a := s.save(t.Context(), "a", "j")
		s.failing["a"] = pgx.ErrNoRows
		commit := s.hold("commit")
		release()
		if len(a) != 0 {
			t.Error("a save is reported before the commit")
		}
		commit()
		fails(t, a, store.ErrNotFound, false)
		s.sent(t, "[[a]]", "[]")
	})
}
