package wire

import (
	"context"
	"crypto/sha256"
	"errors"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// A definition travels once. Services name it by its hash (prism.DefinitionHash):
//
//	gateway ── create-facts, Known: the hash that the last such look-up returned ──▶ results
//	gateway ◀── facts; the definition only when its hash is another ───────────────── results
//
//	gateway ── ask-by-hash ──▶ model-proxy
//	gateway ◀── outcome ────── model-proxy, when it has the definition
//	gateway ◀── 404 ────────── model-proxy, when it does not: nothing was called
//	gateway ── ask, with hash and definition ──▶ model-proxy
//
// A service of the previous release ignores Known, returns definitions without a hash, and has no ask-by-hash, so its 404
// has the same meaning. For a realistic definition of 18 KB this saves two thirds of the processor time of both calls
// (BenchmarkCreateCalls).

// Messages with the hashes of definitions.
type (
	createQuery struct {
		contract.CreateQuery
		Known prism.DefinitionHash `json:",omitzero"`
	}
	createFacts struct {
		contract.CreateFacts
		VersionHash prism.DefinitionHash `json:",omitzero"` // of Version
		StoredHash  prism.DefinitionHash `json:",omitzero"` // of Stored.Input.Version
	}
	retryQuery struct {
		Key   contract.KeyDigest
		ID    prism.ResultID
		Known prism.DefinitionHash `json:",omitzero"`
	}
	retryFacts struct {
		contract.RetryFacts
		StoredHash prism.DefinitionHash `json:",omitzero"` // of Stored.Input.Version
	}
	// ask is contract.Ask with the bytes of the definition.
	ask struct {
		Definition strictjson.Value     `json:",omitzero"`
		Hash       prism.DefinitionHash `json:",omitzero"`
		Fields     []prism.FieldValue
		Context    string
	}
)

// errUnknownDefinition is a call by a hash that the service does not have. No model was called.
var errUnknownDefinition = errors.New("unknown definition")

// Bounds of the definitions that one client or server keeps. A usual definition takes 2 KiB, a large one a MiB.
const (
	keptDefinitions = 4096
	keptBytes       = 64 << 20
)

// kept is a definition in memory.
type kept struct {
	hash       prism.DefinitionHash
	definition prism.Definition
	size       int // of its JSON, in bytes
}

// definitions are the definitions that were used last, within both bounds.
type definitions[K comparable] struct {
	mu    sync.Mutex
	lru   *simplelru.LRU[K, kept]
	bytes int
}

func newDefinitions[K comparable]() *definitions[K] {
	d := &definitions[K]{}
	lru, err := simplelru.NewLRU(keptDefinitions, func(_ K, k kept) { d.bytes -= k.size })
	if err != nil {
		panic(err) // the size is positive
	}
	d.lru = lru
	return d
}

func (d *definitions[K]) get(key K) (kept, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lru.Get(key)
}

func (d *definitions[K]) add(key K, k kept) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lru.Remove(key) // Add would replace the value without counting the bytes
	d.lru.Add(key, k)
	for d.bytes += k.size; d.bytes > keptBytes; {
		d.lru.RemoveOldest()
	}
}

// lookUpKey is a look-up whose definition is likely to be that of the last such look-up. All retries of an API key are one.
type lookUpKey struct {
	key     contract.KeyDigest
	prism   prism.Ref
	version int32
}

// restore completes a version that arrived with its hash: the response omits a definition whose hash is the known one.
func restore(d *definitions[lookUpKey], at lookUpKey, known kept, v *prism.Version, hash prism.DefinitionHash) {
	switch hash {
	case prism.DefinitionHash{}: // a service of the previous release, or no definition
	case known.hash:
		v.Definition, v.Hash = known.definition, hash
	default:
		// A service of another release may know a member that is unknown here: then the definition has no name here.
		if here, size := contract.HashDefinition(v.Definition); here == hash {
			v.Hash = hash
			d.add(at, kept{hash, v.Definition, size})
		}
	}
}

// omitKnown is a version as it travels: without its definition when the caller has it.
func omitKnown(v prism.Version, known prism.DefinitionHash) prism.Version {
	if v.Hash != (prism.DefinitionHash{}) && v.Hash == known {
		v.Definition = prism.Definition{}
	}
	return v
}

func omitStored(s *contract.Stored, known prism.DefinitionHash) (*contract.Stored, prism.DefinitionHash) {
	if s == nil {
		return nil, prism.DefinitionHash{}
	}
	omitted := *s
	omitted.Input.Version = omitKnown(s.Input.Version, known)
	return &omitted, s.Input.Version.Hash
}

// serveCreateFacts is the server's end of Results.CreateFacts.
func serveCreateFacts(r contract.Results) func(context.Context, createQuery) (createFacts, error) {
	return func(ctx context.Context, q createQuery) (createFacts, error) {
		found, err := r.CreateFacts(ctx, q.CreateQuery)
		facts := createFacts{CreateFacts: found}
		if v := found.Version; v != nil {
			omitted := omitKnown(*v, q.Known)
			facts.Version, facts.VersionHash = &omitted, v.Hash
		}
		facts.Stored, facts.StoredHash = omitStored(found.Stored, q.Known)
		return facts, err
	}
}

// serveRetryFacts is the server's end of Results.RetryFacts.
func serveRetryFacts(r contract.Results) func(context.Context, retryQuery) (retryFacts, error) {
	return func(ctx context.Context, q retryQuery) (retryFacts, error) {
		found, err := r.RetryFacts(ctx, q.Key, q.ID)
		facts := retryFacts{RetryFacts: found}
		facts.Stored, facts.StoredHash = omitStored(found.Stored, q.Known)
		return facts, err
	}
}

// askServer is the server's end of Models.Ask.
type askServer struct {
	models contract.Models
	kept   *definitions[prism.DefinitionHash]
}

// full takes the definition with the call, and keeps it when the call names it.
func (s askServer) full(ctx context.Context, a ask) (contract.Outcome, error) {
	var d prism.Definition
	if len(a.Definition) > 0 {
		if err := strictjson.Unmarshal(a.Definition, &d); err != nil {
			return contract.Outcome{}, apierr.Malformed()
		}
	}
	if a.Hash != (prism.DefinitionHash{}) && a.Hash == sha256.Sum256(a.Definition) {
		s.kept.add(a.Hash, kept{a.Hash, d, len(a.Definition)})
	}
	return s.models.Ask(ctx, contract.Ask{Definition: d, Hash: a.Hash, Fields: a.Fields, Context: a.Context})
}

// byHash takes a call that only names the definition.
func (s askServer) byHash(ctx context.Context, a ask) (contract.Outcome, error) {
	k, ok := s.kept.get(a.Hash)
	if !ok {
		return contract.Outcome{}, errUnknownDefinition
	}
	return s.models.Ask(ctx, contract.Ask{Definition: k.definition, Hash: a.Hash, Fields: a.Fields, Context: a.Context})
}
