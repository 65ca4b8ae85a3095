package checks

import (
	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
)

// Create decides a parsed create call (spec: order-of-checks-create). The stored result of an idempotency key decides before
// version and fields are checked: an ok result is returned, and a failed one is retried as it was stored
// (spec: repeat-of-an-ok-result, repeat-of-a-failed-result).
func Create(sent api.NewResult, facts contract.CreateFacts, sizer Sizer) (Decision, error) {
	return CreateAsking(Asked{}, sent, facts, sizer)
}

// Asked is which questions a call says to ask.
type Asked struct {
	// Own reports whether a definition has those that the call sends (spec: own-questions). Nil: the call sends none.
	Own func(prism.Definition) bool
	// AdHoc is the version to ask if facts has none: a call of an ad-hoc prism that is not there (spec: adhoc-call). MayMake is the check
	// whether the caller may make the prism.
	AdHoc   *prism.Version
	MayMake func() error
}

// CreateAsking is Create for a call that says which questions to ask.
func CreateAsking(asked Asked, sent api.NewResult, facts contract.CreateFacts, sizer Sizer) (Decision, error) {
	stored := facts.Stored
	makes := false
	if asked.AdHoc != nil && !facts.Account.IsZero() {
		var err error
		if makes, err = asked.makes(facts); err != nil {
			return Decision{}, err
		}
	}
	switch {
	case facts.Account.IsZero():
		return Decision{}, apierr.InvalidAPIKey()
	case !makes && (facts.Prism.IsZero() || facts.Archived):
		return Decision{}, apierr.PrismNotFound()
	case stored != nil && stored.Prism != facts.Prism:
		return Decision{}, apierr.KeyOfAnotherPrism()
	case stored != nil && stored.Status == prism.OK:
		replayed := *facts.Response
		replayed.Replayed, replayed.Result, replayed.Version = true, stored.ID, stored.Answered
		return Decision{Response: &replayed}, nil
	case stored != nil:
		a := retryOf(facts.Account, facts.Key, stored, facts.At)
		a.IdempotencyKey, a.AdHoc = sent.IdempotencyKey, facts.AdHoc != contract.NotAdHoc
		return attempt(a, sizer, facts.Unwritable)
	case makes:
		facts.Version = asked.AdHoc
	case facts.Version == nil:
		return Decision{}, apierr.VersionNotFound()
	case asked.Own != nil && !asked.Own(facts.Version.Definition):
		return Decision{}, apierr.OtherQuestions()
	}
	fields, err := bind(facts.Version.Definition, sent.Fields, sent.Text)
	if err != nil {
		return Decision{}, err
	}
	return attempt(&Attempt{
		Account:        facts.Account,
		Key:            facts.Key,
		Prism:          facts.Prism,
		Input:          contract.Input{Version: *facts.Version, Ref: sent.Ref, Context: sent.Context, Fields: fields},
		IdempotencyKey: sent.IdempotencyKey,
		At:             facts.At,
		AdHoc:          facts.AdHoc != contract.NotAdHoc,
		Lock:           KeyLock(facts.Account, sent.IdempotencyKey),
	}, sizer, facts.Unwritable)
}

// makes reports whether the first result of the call makes its ad-hoc prism, as the caller may (spec: adhoc-order).
func (a Asked) makes(facts contract.CreateFacts) (bool, error) {
	switch facts.AdHoc {
	case contract.KeptAdHoc:
		return false, nil
	case contract.NotAdHoc: // results of the release before
		return false, apierr.Unavailable()
	case contract.NewAdHoc, contract.FullAdHoc:
	}
	if err := a.MayMake(); err != nil {
		return false, err
	}
	if facts.AdHoc == contract.FullAdHoc {
		return false, apierr.TooManyAdHoc()
	}
	return true, nil
}

// Retry decides a retry (spec: order-of-checks-retry).
func Retry(facts contract.RetryFacts, sizer Sizer) (Decision, error) {
	stored := facts.Stored
	switch {
	case facts.Account.IsZero():
		return Decision{}, apierr.InvalidAPIKey()
	case stored == nil:
		return Decision{}, apierr.ResultNotFound()
	case stored.Status != prism.Failed:
		return Decision{}, apierr.OnlyFailedRetried()
	case stored.RetriedBy != nil:
		return Decision{}, apierr.AlreadyRetried(*stored.RetriedBy)
	case stored.Archived:
		return Decision{}, apierr.PrismArchived()
	}
	return attempt(retryOf(facts.Account, facts.Key, stored, facts.At), sizer, facts.Unwritable)
}

// Try decides a try (spec: order-of-checks-try).
func Try(sent api.NewTry, facts contract.TryFacts, sizer Sizer) (*Attempt, error) {
	fields, err := bind(sent.Definition, sent.Fields, sent.Text)
	if err != nil {
		return nil, err
	}
	decision, err := attempt(&Attempt{
		Account: facts.Account,
		Key:     facts.Key,
		Input:   contract.Input{Version: prism.Version{Definition: sent.Definition}, Context: sent.Context, Fields: fields},
	}, sizer, facts.Unwritable)
	return decision.Attempt, err
}

// attempt makes the last checks: it estimates the size of what the model gets (spec: size-estimate-on-retries), and refuses a
// call whose answer could not be saved (spec: unwritable-store).
func attempt(at *Attempt, sizer Sizer, unwritable bool) (Decision, error) {
	if err := sizer.Check(at.Input.Version.Definition, at.Input.Fields, at.Input.Context); err != nil {
		return Decision{}, err
	}
	if unwritable {
		return Decision{}, apierr.Unavailable()
	}
	return Decision{Attempt: at}, nil
}

// bind returns the values of the version's fields, in the version's order. Every key is required and no other is accepted.
// Text is the value of the only field (spec: text-fills-the-only-field).
func bind(d prism.Definition, sent api.FieldValues, text *string) ([]prism.FieldValue, error) {
	if text != nil {
		if len(d.Fields) != 1 {
			return nil, apierr.MissingFields(fieldKeys(d))
		}
		return []prism.FieldValue{{Key: d.Fields[0].Key, Value: *text}}, nil
	}
	// A version has few fields, but a hostile call can have any number: so the map holds the version's.
	places := make(map[string]int, len(d.Fields))
	for i, f := range d.Fields {
		places[f.Key] = i
	}
	bound := make([]prism.FieldValue, len(d.Fields))
	var missing, unknown []string
	for _, f := range sent {
		if i, known := places[f.Key]; known {
			bound[i] = f
		} else {
			unknown = append(unknown, f.Key)
		}
	}
	for i, f := range d.Fields {
		if bound[i].Key == "" {
			missing = append(missing, f.Key)
		}
	}
	switch {
	case len(missing) > 0:
		return nil, apierr.MissingFields(missing)
	case len(unknown) > 0:
		return nil, apierr.UnknownFields(unknown)
	}
	return bound, nil
}

func fieldKeys(d prism.Definition) []string {
	keys := make([]string, len(d.Fields))
	for i, f := range d.Fields {
		keys[i] = f.Key
	}
	return keys
}
