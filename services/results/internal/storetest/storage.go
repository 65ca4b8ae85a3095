package storetest

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/files"
	"github.com/prism-results/prism/services/results/internal/keys"
	"github.com/prism-results/prism/services/results/internal/store"
)

// bytesOf is what a result without a call of a model counts.
func bytesOf(t *testing.T, r prism.Result) int64 {
	t.Helper()
	fields, err := strictjson.Marshal(r.Fields)
	succeeds(t, err)
	size := 256 + len(r.Context) + len(fields) + len(r.Answers) + len(r.Error)
	if r.Ref != nil {
		size += len(*r.Ref)
	}
	return int64(size)
}

// bytesAre fails the test unless an account of mine stores so many bytes, before and after they are folded.
func (f *fixture) bytesAre(t *testing.T, want int64) {
	t.Helper()
	for range 2 {
		got, err := f.Storage(t.Context(), f.mine.account)
		succeeds(t, err)
		same(t, got.Bytes, want)
		succeeds(t, f.Fold(t.Context()))
	}
}

// limitBytes limits what my account may store.
func (f *fixture) limitBytes(t *testing.T, bytes int64) {
	t.Helper()
	_, err := f.SetLimits(t.Context(), f.mine.account, keys.LimitsChange{StoredBytes: &bytes})
	succeeds(t, err)
}

// spec: stored-bytes
func storageTests() []test {
	return []test{
		{"an account stores nothing at first, and may store the same as others", func(t *testing.T, f *fixture) {
			got, err := f.Storage(t.Context(), f.mine.account)
			succeeds(t, err)
			same(t, got, store.Storage{Limit: 50 << 30})
		}},
		{"a result counts its texts and its row, once", func(t *testing.T, f *fixture) {
			r := f.ok(f.mine.prism)
			r.Ref, r.Context = new("März"), strings.Repeat("é", 10_000)
			r.Fields = []prism.FieldValue{{Key: "text", Value: strings.Repeat("“long”", 20_000)}}
			for range 2 {
				f.save(t, r)
			}
			failed := f.failed(f.mine.prism)
			f.save(t, failed)
			f.bytesAre(t, bytesOf(t, r)+bytesOf(t, failed))
			got, err := f.Storage(t.Context(), f.theirs.account)
			succeeds(t, err)
			same(t, got.Bytes, 0)
		}},
		{"what is known of the call of a model counts too, and is taken back", func(t *testing.T, f *fixture) {
			r := called(f.ok(f.mine.prism), f.mine.keyID, "fast", 1, 1, "USD")
			f.save(t, r)
			got, err := f.Storage(t.Context(), f.mine.account)
			succeeds(t, err)
			if got.Bytes <= bytesOf(t, r) {
				t.Errorf("%d bytes, without the call %d", got.Bytes, bytesOf(t, r))
			}
			succeeds(t, f.delete(t, r.ID))
			f.bytesAre(t, 0)
		}},
		{"results that are saved and deleted at once all count", func(t *testing.T, f *fixture) {
			var first, second [40]prism.Result
			want := int64(0)
			for i := range first {
				first[i], second[i] = f.ok(f.mine.prism), f.ok(f.mine.prism)
				second[i].Context = strings.Repeat("x", 100*i)
				want += bytesOf(t, second[i])
			}
			save := func(r prism.Result) error {
				_, err := f.SaveResult(t.Context(), f.mine.account, r)
				return err
			}
			for _, err := range together(len(first), func(i int) error { return save(first[i]) }) {
				succeeds(t, err)
			}
			for _, err := range together(3*len(first), func(i int) error {
				switch at := i / 3; i % 3 {
				case 0:
					return save(second[at])
				case 1:
					return f.DeleteResult(t.Context(), f.mine.account, first[at].ID, f.by(moment(5)))
				default:
					return f.Fold(t.Context())
				}
			}) {
				succeeds(t, err)
			}
			f.bytesAre(t, want)
		}},
		{"retries, rows and the retries of rows count, and what retention deletes counts no more", func(t *testing.T, f *fixture) {
			old := keyed(f.failed(f.mine.prism), "a key")
			f.save(t, old)
			f.retry(t, f.ok(f.mine.prism), old)
			f.run(t, f.mine, moment(5), 3)
			succeeds(t, f.SaveRows(t.Context(), outcomes(f.leased(t, moment(10)), "off"), moment(11)))
			f.failures(t, 3)
			before, err := f.Storage(t.Context(), f.mine.account)
			succeeds(t, err)
			f.retrying(t, 5)
			f.ends(t, f.leased(t, moment(20)), "ooooo", moment(21))
			after, err := f.Storage(t.Context(), f.mine.account)
			succeeds(t, err)
			if after.Bytes <= before.Bytes {
				t.Errorf("%d bytes after retries, %d before", after.Bytes, before.Bytes)
			}
			now := moment(0).Add(10 * 24 * time.Hour)
			f.retain(t, 1, now)
			job, _ := f.take(t, now)
			f.finish(t, job, now)
			same(t, f.count(t), 0)
			f.bytesAre(t, 1) // of the file of the run
		}},
		{"a file counts from its creation to its deletion, with its copy while it is ready", func(t *testing.T, f *fixture) {
			large := f.upload(t)
			f.bytesAre(t, large.Bytes)
			ready := f.read(t, 1)
			f.bytesAre(t, large.Bytes+ready.Bytes+ready.Copy.Bytes)
			unusable := f.reading(t)
			unusable.File.Status = prism.FileUnusable
			succeeds(t, f.EndReading(t.Context(), unusable, unusable.File))
			f.bytesAre(t, large.Bytes+ready.Bytes+ready.Copy.Bytes+unusable.File.Bytes)
			for _, id := range []prism.FileID{large.ID, ready.ID, unusable.File.ID} {
				succeeds(t, f.DeleteFile(t.Context(), f.mine.account, id, f.by(moment(5))))
			}
			f.bytesAre(t, 0)
			for _, id := range []prism.FileID{large.ID, ready.ID, unusable.File.ID} {
				succeeds(t, f.ForgetFile(t.Context(), f.ownedFile(id)))
			}
			f.bytesAre(t, 0)
		}},
		{"an account whose files would be more than it may store gets no further one, whoever asks at the same time", func(t *testing.T, f *fixture) {
			f.save(t, f.ok(f.mine.prism))
			stored, err := f.Storage(t.Context(), f.mine.account)
			succeeds(t, err)
			limit := stored.Bytes + 1000
			f.limitBytes(t, limit)
			create := func(account prism.AccountID, bytes int64) error {
				return f.CreateFile(t.Context(), account, files.File{
					ID: prism.FileID{UUID: f.id()}, Name: "a", Format: prism.FileCSV, Bytes: bytes, CreatedAt: moment(1), ExpiresAt: moment(9),
				})
			}
			refused := func(err error) {
				t.Helper()
				noRoom, ok := errors.AsType[*store.NoRoomError](err)
				if !ok || noRoom.Limit != limit {
					t.Errorf("got %v", err)
				}
			}
			created := 0
			for _, err := range together(8, func(int) error { return create(f.mine.account, 200) }) {
				if err == nil {
					created++
				} else {
					refused(err)
				}
			}
			same(t, created, 5)
			refused(create(f.mine.account, 1))
			succeeds(t, create(f.theirs.account, 1<<30))
			f.limitBytes(t, prism.AnyStoredBytes)
			succeeds(t, create(f.mine.account, prism.MaxFileBytes))
		}},
		// spec: full-account
		{"an account is full with as many bytes as it may store, until something is deleted or it may store more", func(t *testing.T, f *fixture) {
			r := f.save(t, f.ok(f.mine.prism)).Result
			limit := bytesOf(t, r)
			full := func(want bool) {
				t.Helper()
				succeeds(t, f.Fold(t.Context()))
				limits, err := f.ListLimits(t.Context())
				succeeds(t, err)
				got := false
				for _, l := range limits {
					same(t, l.Account, f.mine.account)
					got = got || l.Full
				}
				same(t, got, want)
			}
			full(false)
			f.limitBytes(t, limit+1)
			full(false)
			f.limitBytes(t, limit)
			full(true)
			f.limitBytes(t, 0)
			full(false)
			f.limitBytes(t, 1)
			succeeds(t, f.delete(t, r.ID))
			full(false)
			f.limitBytes(t, 0)
			f.upload(t) // 5 GiB
			full(false)
			for range 9 {
				f.upload(t)
			}
			full(true) // without a limit of its own
		}},
		{"a run of an account that is full pauses, also when it is resumed", func(t *testing.T, f *fixture) {
			r := f.run(t, f.mine, moment(5), 3)
			f.limitBytes(t, 1)
			succeeds(t, f.Fold(t.Context()))
			f.tend(t, moment(6))
			same(t, f.found(t, r.ID).Status, prism.RunPaused)
			same(t, f.found(t, r.ID).Reason, "This account stores as much as it may.")
			resume := func() prism.RunStatus {
				_, err := f.ActOnRun(t.Context(), f.mine.account, r.ID, store.RunResume, f.by(moment(7)))
				succeeds(t, err)
				f.tend(t, moment(8))
				return f.found(t, r.ID).Status
			}
			same(t, resume(), prism.RunPaused)
			f.limitBytes(t, 0)
			same(t, resume(), prism.RunQueued)
		}},
		{"accounts are listed with what they store and may store", func(t *testing.T, f *fixture) {
			r := f.save(t, f.ok(f.mine.prism)).Result
			f.limitBytes(t, 1<<20)
			accounts, err := f.ListAccounts(t.Context())
			succeeds(t, err)
			var got []string
			for _, a := range accounts {
				got = append(got, fmt.Sprint(a.Name, " ", a.Bytes, " ", a.Limit))
			}
			same(t, got, []string{fmt.Sprintf("mine %d 1048576", bytesOf(t, r)), "theirs 0 53687091200"})
		}},
		{"a limit of bytes is any number, and in the audit", func(t *testing.T, f *fixture) {
			for _, c := range []struct {
				bytes  int64
				detail string
			}{{1, `{"stored_bytes":1}`}, {math.MaxInt64, `{"stored_bytes":"none"}`}, {1 << 40, `{"stored_bytes":1099511627776}`}, {0, `{}`}} {
				f.limitBytes(t, c.bytes)
				same(t, string(f.entriesOf(t, store.AccountLimits)[0].Detail), c.detail)
			}
		}},
	}
}
