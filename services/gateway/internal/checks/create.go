package checks

import (
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/services/gateway/internal/request"
)

// createState is what the checks of a create call look at, and what they find out.
type createState struct {
	sent     request.Create
	facts    contract.CreateFacts
	sizer    Sizer
	decision Decision
}

// createChecks is contract 7's order for POST /v1/prisms/{prism}/results, from the API key on. Parsing and validating
// came before, the model comes after.
func createChecks() []check[createState] {
	return []check[createState]{
		createKeyKnown,       // 2: 401
		createPrismLive,      // 3: 404
		createKeyOfThisPrism, // 4: 409, or the stored result
		createVersionExists,  // 5: 404
		createFieldKeys,      // 6: 400
		createSize,           // 6: 400, of a repeat too
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

// createKeyOfThisPrism: a stored result that succeeded is the answer; one that failed is retried as it was stored, so
// the version and fields of the repeat do not matter.
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
		s.decision.Attempt = again(s.facts.Account, stored)
	}
	return nil
}

// decided tells whether the idempotency key has settled what a first call would still have to check.
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
	}
	if s.sent.IdempotencyKey != "" {
		s.decision.Attempt.Lock = keyLock(s.facts.Account, s.sent.IdempotencyKey)
	}
	return nil
}

func createSize(s *createState) error {
	if s.decision.Attempt == nil {
		return nil
	}
	return sized(s.sizer, s.decision.Attempt.Input)
}

// bind gives each field of the version its value, in the version's order: every key is required and no other is known.
// Text fills the only field of a version that has one (decisions 2).
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

// unknownKeys are the keys left over, in the order sent.
func unknownKeys(sent []prism.FieldValue, left map[string]string) []string {
	var keys []string
	for _, f := range sent {
		if _, ok := left[f.Key]; ok {
			keys = append(keys, f.Key)
		}
	}
	return keys
}
