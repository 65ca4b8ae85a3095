package prisms

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/lens"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
	"github.com/prism-results/prism/services/results/internal/format"
	"github.com/prism-results/prism/services/results/internal/store"
)

// Cached definitions are bounded by number and by the length of their JSON: a usual one has 2 KiB, a large one 1 MiB.
const (
	cachedVersions = 1024
	cachedBytes    = 64 << 20
	// leastVersions and leastBytes are for each of many databases: a few large ones.
	leastVersions = 16
	leastBytes    = 4 << 20
)

// VersionID identifies a version. A version never changes, so it can be cached. A database that was restored to an earlier
// time may give the number of a lost version to another one, so the id includes what versions the prism has
// (spec: cached-definition).
type VersionID struct {
	prism        prism.PrismID
	versionsHash int64
	number       int32
}

// VersionIn is a version of a prism.
func VersionIn(p prism.Prism, number int32) VersionID {
	return VersionID{p.ID, p.VersionsHash, number}
}

// VersionOf is a version of a prism that was looked up with a result.
func VersionOf(p store.PrismState, number int32) VersionID {
	return VersionID{p.ID, p.VersionsHash, number}
}

// HashVersions is the prism.Prism.VersionsHash of a prism after a version was added: a chain over all versions.
func HashVersions(before int64, added prism.Version) int64 {
	definition, _ := contract.HashDefinition(added.Definition)
	chain := binary.BigEndian.AppendUint64(definition[:], uint64(before)) //nolint:gosec // its bits
	hash := sha256.Sum256(binary.BigEndian.AppendUint64(chain, uint64(added.CreatedAt.UnixMilli())))
	return int64(binary.BigEndian.Uint64(hash[:])) //nolint:gosec // its bits
}

// Cached is a cached version, with the Lens that was last applied to its results: a prism has one Lens at a time. Reading
// and preparing the Lens for each result takes a seventh of the processor time of a read of two questions, and a fifth of twelve.
type Cached struct {
	prism.Version
	size    int // length of the definition's JSON in bytes
	applied atomic.Pointer[Applied]
}

// Applied is a Lens that is prepared for the results of one version.
type Applied struct {
	json string       // the Lens as it is stored
	pins prism.PinsID // of a calibrated Lens; other Lenses do without
	Lens prism.Lens
	Plan *format.Plan
}

func newVersion(v prism.Version) *Cached {
	c := &Cached{Version: v}
	c.Hash, c.size = contract.HashDefinition(v.Definition)
	return c
}

// errLens drops the error of the JSON library, which may quote the content.
var errLens = errors.New("a stored Lens is not readable")

// Apply prepares the Lens of a prism for the results of the version. pinned looks up what a calibrated one needs.
func (v *Cached) Apply(p store.PrismState, pinned func() (lens.Pinned, error)) (*Applied, error) {
	if a := v.applied.Load(); a != nil && a.json == p.Lens && (a.pins == p.Pins || !a.Plan.Calibrated()) {
		return a, nil
	}
	a := &Applied{json: p.Lens, pins: p.Pins}
	if strictjson.Unmarshal([]byte(p.Lens), &a.Lens) != nil {
		return nil, errLens
	}
	var calibrations lens.Pinned
	if a.Lens.Calibrated() {
		var err error
		if calibrations, err = pinned(); err != nil {
			return nil, err
		}
	}
	a.Plan = format.NewPlan(a.Lens, v.Definition, calibrations)
	v.applied.Store(a)
	return a, nil
}

// versions caches the versions that were used last.
type versions struct {
	mu    sync.Mutex
	lru   *simplelru.LRU[VersionID, *Cached]
	bytes int
	limit int // bytes
}

// newVersions caches what a process may for one of so many databases.
func newVersions(databases int) *versions {
	c := &versions{limit: max(leastBytes, cachedBytes/databases)}
	lru, err := simplelru.NewLRU(max(leastVersions, cachedVersions/databases), func(_ VersionID, v *Cached) { c.bytes -= v.size })
	if err != nil {
		panic(err) // the size above is positive
	}
	c.lru = lru
	return c
}

func (c *versions) get(id VersionID) (*Cached, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lru.Get(id)
}

func (c *versions) add(id VersionID, v *Cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lru.Contains(id) {
		return // a concurrent call added it
	}
	c.bytes += v.size
	c.lru.Add(id, v)
	for c.bytes > c.limit {
		c.lru.RemoveOldest()
	}
}

// Version is one version of a prism, from memory if possible.
func (s *Handlers) Version(ctx context.Context, account prism.AccountID, id VersionID) (*Cached, error) {
	if v, ok := s.versions.get(id); ok {
		return v, nil
	}
	found, err := s.store.Version(ctx, account, id.prism, id.number)
	if err != nil {
		return nil, err
	}
	v := newVersion(found)
	s.versions.add(id, v)
	return v, nil
}

// UnknownQuestion is the problem with a question that the version does not have.
const UnknownQuestion = "Unknown question"

// FindQuestion is the question of a version with a key.
func FindQuestion(v *Cached, key string) (prism.Question, error) {
	q, known := v.Question(key)
	if !known {
		return q, apierr.Invalid(apierr.Problem{Path: "question", Text: UnknownQuestion})
	}
	return q, nil
}
