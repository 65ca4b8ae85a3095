package checks

import (
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// createState is the input of the checks of a create call, and the decision so far.
type createState struct {
	sent     request.Create
	facts    contract.CreateFacts
	sizer    Sizer
	decision Decision
}

// createChecks is the order of POST /v1/prisms/{prism}/results, from the API key on (spec: order-of-checks-create).
func createChecks() []check[createState] {
	return []check[createState]{
		createKeyKnown,       // 401
		createPrismLive,      // 404
		createKeyOfThisPrism, // 409, or the stored result
		createVersionExists,  // 404
		createFieldKeys,      // 400
		createSize,           // 400, of a repeat too
	}
}

// Create decides a parsed create call.
func Create(sent request.Create, facts contract.CreateFacts, sizer Sizer) (Decision, error) {
	s := createState{sent: sent, facts: facts, sizer: sizer}
	if err := first(&s, createChecks()); err != nil {
		return Decision{}, err
	}
	return s.decision, nil
}

func createKeyKnown(s *createState) error {
	if s.facts.Account.IsZero() {
		return apierr.InvalidAPIKey()
	}
	return nil
}

func createPrismLive(s *createState) error {
	if s.facts.Prism.IsZero() || s.facts.Archived {
		return apierr.PrismNotFound()
	}
	return nil
}

// createKeyOfThisPrism: a stored ok result is returned; a failed one is retried as it was stored, so the version and fields
// of the repeat do not matter (spec: repeat-of-an-ok-result, repeat-of-a-failed-result).
func createKeyOfThisPrism(s *createState) error {
	stored := s.facts.Stored
	switch {
	case stored == nil:
		return nil
	case stored.Prism != s.facts.Prism:
		return apierr.KeyOfAnotherPrism()
	case stored.Status == prism.OK:
		s.decision.Response = s.facts.Response
	default:
		s.decision.Attempt = retryOf(s.facts.Account, stored)
	}
	return nil
}

// decided tells whether the idempotency key has decided already, so that the checks of a first call are skipped.
func (s *createState) decided() bool { return s.decision != Decision{} }

func createVersionExists(s *createState) error {
	if !s.decided() && s.facts.Version == nil {
		return apierr.VersionNotFound()
	}
	return nil
}

func createFieldKeys(s *createState) error {
	if s.decided() {
		return nil
	}
	fields, err := bind(s.facts.Version.Definition, s.sent)
	if err != nil {
		return err
	}
	s.decision.Attempt = &Attempt{
		Account: s.facts.Account,
		Prism:   s.facts.Prism,
		Input: contract.Input{
			Version: *s.facts.Version,
			Ref:     s.sent.Ref,
			Context: s.sent.Context,
			Fields:  fields,
		},
		IdempotencyKey: s.sent.IdempotencyKey,
		Lock:           KeyLock(s.facts.Account, s.sent.IdempotencyKey),
	}
	return nil
}

func createSize(s *createState) error {
	if s.decision.Attempt == nil {
		return nil
	}
	return sized(s.sizer, s.decision.Attempt.Input)
}

// bind gives each field of the version its value, in the version's order. Every key is required and no other is accepted.
// Text is the value of the only field (spec: text-fills-the-only-field).
func bind(d prism.Definition, sent request.Create) ([]prism.FieldValue, error) {
	if sent.Text != nil {
		if len(d.Fields) != 1 {
			return nil, apierr.MissingFields(fieldKeys(d))
		}
		return []prism.FieldValue{{Key: d.Fields[0].Key, Value: *sent.Text}}, nil
	}
	values := make(map[string]string, len(sent.Fields))
	for _, f := range sent.Fields {
		values[f.Key] = f.Value
	}
	bound := make([]prism.FieldValue, 0, len(d.Fields))
	var missing []string
	for _, f := range d.Fields {
		value, ok := values[f.Key]
		if !ok {
			missing = append(missing, f.Key)
			continue
		}
		bound = append(bound, prism.FieldValue{Key: f.Key, Value: value})
		delete(values, f.Key)
	}
	if len(missing) > 0 {
		return nil, apierr.MissingFields(missing)
	}
	if len(values) > 0 {
		return nil, apierr.UnknownFields(unknownKeys(sent.Fields, values))
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

// unknownKeys are the keys in left, in the order sent.
func unknownKeys(sent []prism.FieldValue, left map[string]string) []string {
	var keys []string
	for _, f := range sent {
		if _, ok := left[f.Key]; ok {
			keys = append(keys, f.Key)
		}
	}
	return keys
}
