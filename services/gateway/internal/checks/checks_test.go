package checks

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

var (
	someone  = prism.AccountID{UUID: prism.UUID{1}}
	thePrism = prism.PrismID{UUID: prism.UUID{2}}
	another  = prism.PrismID{UUID: prism.UUID{3}}
	old      = prism.ResultID{UUID: prism.UUID{4}}
	newer    = prism.ResultID{UUID: prism.UUID{5}}
)

// sizes is a size estimate of a fixed number of tokens.
type sizes int

func (s sizes) Check(prism.Definition, []prism.FieldValue, string) error {
	if s > apierr.TokenLimit {
		return apierr.TooLarge(int(s))
	}
	return nil
}

func versionOf(fields ...string) *prism.Version {
	v := &prism.Version{Number: 2}
	for _, f := range fields {
		v.Fields = append(v.Fields, prism.Field{Key: f})
	}
	return v
}

func storedOf(p prism.PrismID, status prism.Status) *contract.Stored {
	return &contract.Stored{
		ID: old, Prism: p, Status: status, IdempotencyKey: "k", Answered: 3,
		Input: contract.Input{Version: *versionOf("old"), Context: "old", Fields: []prism.FieldValue{{Key: "old", Value: "v"}}},
	}
}

// createState and retryState are what the checks read.
type (
	createState struct {
		sent  api.NewResult
		facts contract.CreateFacts
		sizer Sizer
	}
	retryState struct {
		facts contract.RetryFacts
		sizer Sizer
	}
)

func (s createState) decide() (Decision, error) { return Create(s.sent, s.facts, s.sizer) }

func (s retryState) decide() (Decision, error) { return Retry(s.facts, s.sizer) }

func goodCreate() createState {
	return createState{
		sent: api.NewResult{
			Fields:         []prism.FieldValue{{Key: "b", Value: "2"}, {Key: "a", Value: "1"}},
			IdempotencyKey: "k",
		},
		facts: contract.CreateFacts{Account: someone, Prism: thePrism, Version: versionOf("a", "b")},
		sizer: sizes(0),
	}
}

// breaker makes a check fail.
type breaker[S any] struct {
	check string
	apply func(*S)
	want  error
}

// In the order of the checks. A broken idempotency key decides before version and fields are checked.
var createBreakers = []breaker[createState]{
	{"key known", func(s *createState) { s.facts.Account = prism.AccountID{} }, apierr.InvalidAPIKey()},
	{"prism found", func(s *createState) { s.facts.Prism = prism.PrismID{} }, apierr.PrismNotFound()},
	{"prism live", func(s *createState) { s.facts.Archived = true }, apierr.PrismNotFound()},
	{"key of this prism", func(s *createState) { s.facts.Stored = storedOf(another, prism.OK) }, apierr.KeyOfAnotherPrism()},
	{"version exists", func(s *createState) { s.facts.Version = nil }, apierr.VersionNotFound()},
	{"no field missing", func(s *createState) { s.sent.Fields = s.sent.Fields[1:] }, apierr.MissingFields([]string{"b"})},
	{"no field unknown", func(s *createState) {
		s.sent.Fields = append(s.sent.Fields[:len(s.sent.Fields):len(s.sent.Fields)], prism.FieldValue{Key: "z"}, prism.FieldValue{Key: "y"})
	}, apierr.UnknownFields([]string{"z", "y"})},
	{"size", func(s *createState) { s.sizer = sizes(30_000) }, apierr.TooLarge(30_000)},
	{"can be saved", func(s *createState) { s.facts.Unwritable = true }, apierr.Unavailable()},
}

// adHocState is what the checks of an ad-hoc call read.
type adHocState struct {
	createState
	may error
}

func (s adHocState) decide() (Decision, error) {
	asked := Asked{AdHoc: versionOf("a", "b"), MayMake: func() error { return s.may }}
	return CreateAsking(asked, s.sent, s.facts, s.sizer)
}

func goodAdHoc() adHocState {
	s := goodCreate()
	s.facts.Prism, s.facts.Version, s.facts.AdHoc = prism.PrismID{}, nil, contract.NewAdHoc
	return adHocState{createState: s}
}

var adHocBreakers = []breaker[adHocState]{
	{"key known", func(s *adHocState) { s.facts.Account = prism.AccountID{} }, apierr.InvalidAPIKey()},
	{"results know ad-hoc prisms", func(s *adHocState) { s.facts.AdHoc = contract.NotAdHoc }, apierr.Unavailable()},
	{"may make it", func(s *adHocState) { s.may = apierr.RoleNotAllowed() }, apierr.RoleNotAllowed()},
	{"room", func(s *adHocState) { s.facts.AdHoc = contract.FullAdHoc }, apierr.TooManyAdHoc()},
	{"key of this prism", func(s *adHocState) { s.facts.Stored = storedOf(another, prism.OK) }, apierr.KeyOfAnotherPrism()},
	{"no field missing", func(s *adHocState) { s.sent.Fields = s.sent.Fields[1:] }, apierr.MissingFields([]string{"b"})},
	{"size", func(s *adHocState) { s.sizer = sizes(30_000) }, apierr.TooLarge(30_000)},
	{"can be saved", func(s *adHocState) { s.facts.Unwritable = true }, apierr.Unavailable()},
}

// spec: adhoc-order
func TestTheEarlierCheckOfAnAdHocCallDecides(t *testing.T) {
	t.Parallel()
	// With facts of the release before, the ad-hoc prism is not full.
	pairs(t, goodAdHoc, slices.Delete(slices.Clone(adHocBreakers), 1, 2))
	s := goodAdHoc()
	adHocBreakers[1].apply(&s)
	if _, err := s.decide(); !errors.Is(err, adHocBreakers[1].want) {
		t.Errorf("got %v", err)
	}
}

// spec: adhoc-call, adhoc-kept
func TestAnAdHocCallAsksWhatIsThereOrMakesIt(t *testing.T) {
	t.Parallel()
	s := goodAdHoc()
	made, err := s.decide()
	if err != nil || !made.Attempt.AdHoc || !reflect.DeepEqual(made.Attempt.Input.Version, *versionOf("a", "b")) {
		t.Errorf("got %+v, %v", made.Attempt, err)
	}
	s.may = apierr.RoleNotAllowed() // which a prism that is there needs not
	s.facts.AdHoc, s.facts.Prism, s.facts.Version = contract.KeptAdHoc, thePrism, versionOf("b", "a")
	kept, err := s.decide()
	if err != nil || !kept.Attempt.AdHoc || kept.Attempt.Prism != thePrism || kept.Attempt.Input.Fields[0].Key != "b" {
		t.Errorf("got %+v, %v", kept.Attempt, err)
	}
	s.facts.Stored = storedOf(thePrism, prism.Failed)
	retried, err := s.decide()
	if err != nil || !retried.Attempt.AdHoc || retried.Attempt.RetryOf == nil {
		t.Errorf("got %+v, %v", retried.Attempt, err)
	}
}

func goodRetry() retryState {
	return retryState{facts: contract.RetryFacts{Account: someone, Stored: storedOf(thePrism, prism.Failed)}, sizer: sizes(0)}
}

var retryBreakers = []breaker[retryState]{
	{"key known", func(s *retryState) { s.facts.Account = prism.AccountID{} }, apierr.InvalidAPIKey()},
	{"result exists", func(s *retryState) { s.facts.Stored = nil }, apierr.ResultNotFound()},
	{"failed", func(s *retryState) { change(s, func(r *contract.Stored) { r.Status = prism.OK }) }, apierr.OnlyFailedRetried()},
	{"not retried", func(s *retryState) { change(s, func(r *contract.Stored) { r.RetriedBy = &newer }) }, apierr.AlreadyRetried(newer)},
	{"prism live", func(s *retryState) { change(s, func(r *contract.Stored) { r.Archived = true }) }, apierr.PrismArchived()},
	{"size", func(s *retryState) { s.sizer = sizes(30_000) }, apierr.TooLarge(30_000)},
	{"can be saved", func(s *retryState) { s.facts.Unwritable = true }, apierr.Unavailable()},
}

func change(s *retryState, fn func(*contract.Stored)) {
	if s.facts.Stored != nil {
		fn(s.facts.Stored)
	}
}

// pairs breaks each check alone and each two together, and expects the error of the earlier one.
func pairs[S interface{ decide() (Decision, error) }](t *testing.T, good func() S, breakers []breaker[S]) {
	t.Helper()
	for i, early := range breakers {
		t.Run(early.check+" alone", func(t *testing.T) {
			t.Parallel()
			s := good()
			early.apply(&s)
			if _, err := s.decide(); !errors.Is(err, early.want) {
				t.Errorf("got %v, want %v", err, early.want)
			}
		})
		for _, late := range breakers[i+1:] {
			t.Run(fmt.Sprintf("%s before %s", early.check, late.check), func(t *testing.T) {
				t.Parallel()
				s := good()
				late.apply(&s)
				early.apply(&s)
				if _, err := s.decide(); !errors.Is(err, early.want) {
					t.Errorf("got %v, want %v", err, early.want)
				}
			})
		}
	}
}

// spec: order-of-checks-create, unwritable-store
func TestTheEarlierCheckOfACreateCallDecides(t *testing.T) {
	t.Parallel()
	pairs(t, goodCreate, createBreakers)
}

// spec: order-of-checks-retry
func TestTheEarlierCheckOfARetryDecides(t *testing.T) {
	t.Parallel()
	pairs(t, goodRetry, retryBreakers)
}

// spec: repeat-of-an-ok-result, text-fills-the-only-field
func TestCreateDecisions(t *testing.T) {
	t.Parallel()
	doc := &contract.Response{Body: []byte("stored")}
	text := "hello"
	tests := []struct {
		name  string
		apply func(*createState)
		want  Decision
		err   error
	}{
		{
			name:  "a first call goes to the model with its fields in the version's order",
			apply: func(*createState) {},
			want: Decision{Attempt: &Attempt{
				Account: someone, Prism: thePrism, IdempotencyKey: "k", Lock: "key/" + someone.String() + "/k",
				Input: contract.Input{
					Version: *versionOf("a", "b"), Fields: []prism.FieldValue{{Key: "a", Value: "1"}, {Key: "b", Value: "2"}},
				},
			}},
		},
		{
			name:  "a call without an idempotency key needs no lock",
			apply: func(s *createState) { s.sent.IdempotencyKey = ""; s.facts.Version = versionOf(); s.sent.Fields = nil },
			want: Decision{Attempt: &Attempt{
				Account: someone, Prism: thePrism, Input: contract.Input{Version: *versionOf(), Fields: []prism.FieldValue{}},
			}},
		},
		{
			name: "text fills the only field",
			apply: func(s *createState) {
				s.sent = api.NewResult{Text: &text}
				s.facts.Version = versionOf("a")
			},
			want: Decision{Attempt: &Attempt{
				Account: someone, Prism: thePrism,
				Input: contract.Input{Version: *versionOf("a"), Fields: []prism.FieldValue{{Key: "a", Value: "hello"}}},
			}},
		},
		{
			name:  "text with several fields misses all of them",
			apply: func(s *createState) { s.sent = api.NewResult{Text: &text} },
			err:   apierr.MissingFields([]string{"a", "b"}),
		},
		{
			name: "a single unknown field is refused",
			apply: func(s *createState) {
				s.sent.Fields = append(slices.Clip(s.sent.Fields), prism.FieldValue{Key: "z"})
			},
			err: apierr.UnknownFields([]string{"z"}),
		},
		{
			name: "missing fields are named before unknown ones, in the version's order",
			apply: func(s *createState) {
				s.sent.Fields = []prism.FieldValue{{Key: "x"}}
			},
			err: apierr.MissingFields([]string{"a", "b"}),
		},
		{
			name: "a stored ok result is returned, whatever version and fields the repeat has",
			apply: func(s *createState) {
				s.facts.Stored, s.facts.Response = storedOf(thePrism, prism.OK), doc
				s.facts.Version, s.sent.Fields = nil, nil
				s.sizer = sizes(30_000)
				s.facts.Unwritable = true // nothing is saved
			},
			want: Decision{Response: &contract.Response{Body: doc.Body, Replayed: true, Result: old, Version: 3}},
		},
		{
			name: "a stored result that failed is retried as it was stored",
			apply: func(s *createState) {
				s.facts.Stored = storedOf(thePrism, prism.Failed)
				s.facts.Version, s.sent.Fields = nil, nil
			},
			want: Decision{Attempt: &Attempt{
				Account: someone, Prism: thePrism, IdempotencyKey: "k", RetryOf: &old, Lock: "key/" + someone.String() + "/k",
				Input: storedOf(thePrism, prism.Failed).Input,
			}},
		},
		// spec: size-estimate-on-retries, repeat-of-a-failed-result
		{
			name: "the size estimate runs for a repeat too",
			apply: func(s *createState) {
				s.facts.Stored = storedOf(thePrism, prism.Failed)
				s.sizer = sizes(30_000)
			},
			err: apierr.TooLarge(30_000),
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := goodCreate()
			test.apply(&s)
			got, err := Create(s.sent, s.facts, s.sizer)
			if !errors.Is(err, test.err) || (err == nil) != (test.err == nil) {
				t.Fatalf("got %v, want %v", err, test.err)
			}
			if err == nil && !reflect.DeepEqual(got, test.want) {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

// sizerFunc estimates by itself.
type sizerFunc func(prism.Definition, []prism.FieldValue, string) error

func (f sizerFunc) Check(d prism.Definition, fields []prism.FieldValue, context string) error {
	return f(d, fields, context)
}

// A create call refuses what is too large for its retry, and definitions never change, so over HTTP no stored result is too
// large. spec: size-estimate-on-retries
func TestARetryIsMeasuredByWhatItsResultStored(t *testing.T) {
	t.Parallel()
	stored := storedOf(thePrism, prism.Failed)
	measured := 0
	sizer := sizerFunc(func(d prism.Definition, fields []prism.FieldValue, context string) error {
		measured++
		if !reflect.DeepEqual(d, stored.Input.Version.Definition) || !reflect.DeepEqual(fields, stored.Input.Fields) || context != "old" {
			t.Errorf("measured %+v, %v, %q", d, fields, context)
		}
		return apierr.TooLarge(26_001)
	})
	if v, err := Retry(contract.RetryFacts{Account: someone, Stored: stored}, sizer); !errors.Is(err, apierr.TooLarge(26_001)) || v != (Decision{}) {
		t.Errorf("a retry: %+v, %v", v, err)
	}
	repeat := goodCreate()
	repeat.facts.Stored = stored
	if v, err := Create(repeat.sent, repeat.facts, sizer); !errors.Is(err, apierr.TooLarge(26_001)) || v != (Decision{}) {
		t.Errorf("a repeat: %+v, %v", v, err)
	}
	if measured != 2 {
		t.Errorf("measured %d times", measured)
	}
}

func TestRetryLocksTheResultUnlessItHoldsAKey(t *testing.T) {
	t.Parallel()
	s := goodRetry()
	v, err := Retry(s.facts, s.sizer)
	if err != nil || v.Attempt.Lock != "key/"+someone.String()+"/k" || *v.Attempt.RetryOf != old {
		t.Errorf("%+v, %v", v.Attempt, err)
	}
	s.facts.Stored.IdempotencyKey = ""
	v, err = Retry(s.facts, s.sizer)
	if err != nil || v.Attempt.Lock != "result/"+someone.String()+"/"+old.String() {
		t.Errorf("%+v, %v", v.Attempt, err)
	}
}

// spec: order-of-checks-try, size-estimate, unwritable-store
func TestTheChecksOfATryHaveTheirOrder(t *testing.T) {
	t.Parallel()
	definition := versionOf("a", "b").Definition
	sent := api.NewResult{Fields: []prism.FieldValue{{Key: "b", Value: "2"}, {Key: "a", Value: "1"}}, Context: "c"}
	facts := contract.TryFacts{Account: someone, Key: prism.KeyID{UUID: prism.UUID{7}}}
	at, err := Try(api.NewTry{Definition: definition, Fields: sent.Fields, Text: sent.Text, Context: sent.Context}, facts, sizes(0))
	want := &Attempt{Account: someone, Key: facts.Key, Input: contract.Input{
		Version: prism.Version{Definition: definition}, Context: "c",
		Fields: []prism.FieldValue{{Key: "a", Value: "1"}, {Key: "b", Value: "2"}},
	}}
	if err != nil || !reflect.DeepEqual(at, want) {
		t.Errorf("got %+v, %v", at, err)
	}
	// Each check is the first that fails when those before it pass.
	facts.Unwritable = true
	for _, c := range []struct {
		fields []prism.FieldValue
		size   sizes
		want   error
	}{
		{nil, apierr.TokenLimit + 1, apierr.MissingFields([]string{"a", "b"})},
		{append(sent.Fields, prism.FieldValue{Key: "c"}), apierr.TokenLimit + 1, apierr.UnknownFields([]string{"c"})},
		{sent.Fields, apierr.TokenLimit + 1, apierr.TooLarge(apierr.TokenLimit + 1)},
		{sent.Fields, 0, apierr.Unavailable()},
	} {
		at, err := Try(api.NewTry{Definition: definition, Fields: c.fields}, facts, c.size)
		if at != nil || !errors.Is(err, c.want) || err.Error() != c.want.Error() {
			t.Errorf("got %+v, %v, want %v", at, err, c.want)
		}
	}
}
