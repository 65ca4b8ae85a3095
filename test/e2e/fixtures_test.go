package e2e

import (
	"crypto/rand"
	"strings"
	"sync"
	"testing"

	"github.com/prism-results/prism/pkg/testkit/model"
)

// The questions that most prisms of the cases have: one of each type.
const triageQuestions = `[
	{"key":"intent","type":"choice","text":"What is it about?","options":[
		{"key":"card","label":"Card, lost or stolen","description":"The card is gone"},
		{"key":"transfer","label":"Transfer"}],"insufficient_information":true},
	{"key":"urgent","type":"yes_no","text":"Is it urgent?"},
	{"key":"mood","type":"scale","text":"How does the customer feel?","levels":[
		{"key":"calm","label":"Calm"},{"key":"upset","label":"Upset"},{"key":"angry","label":"Angry","value":10}]}]`

const (
	oneField  = `[{"key":"message","label":"Message"}]`
	twoFields = `[{"key":"subject"},{"key":"message"}]`
	yesNo     = `[{"key":"urgent","type":"yes_no","text":"Is it urgent?"}]`
)

// newSlug is an unused slug.
func newSlug() string { return "p-" + strings.ToLower(rand.Text()) }

// newKey is an unused idempotency key. Keys are values of callers, so the key has the mark of values.
func newKey() string { return model.Mark + "-key-" + rand.Text() }

// absentID is an unknown id.
const absentID = "0198c000-0000-7000-8000-000000000000"

// definition is the body that makes a prism.
func definition(slug, fields, questions string, more ...any) string {
	return object(append([]any{"slug", slug, "fields", raw(fields), "questions", raw(questions)}, more...)...)
}

// prism makes a prism and returns its slug.
func (c *client) prism(t *testing.T, fields, questions string, more ...any) string {
	t.Helper()
	for {
		slug := newSlug()
		if r := c.post(t, "/v1/prisms", definition(slug, fields, questions, more...)); !r.late() {
			r.wantStatus(t, 201)
			return slug
		}
	}
}

// triage makes a prism with one field and one question of each type.
func (c *client) triage(t *testing.T) string {
	t.Helper()
	return c.prism(t, oneField, triageQuestions)
}

// archive archives a prism.
func (c *client) archive(t *testing.T, prism string) {
	t.Helper()
	c.post(t, "/v1/prisms/"+prism+"/archive", "").wantStatus(t, 200)
}

// refused makes a failed result of a prism with one field. Retries of it fail too until the script says otherwise.
func (c *client) refused(t *testing.T, prism string, more ...any) (result, *model.Script) {
	t.Helper()
	script := c.stack.model.Script(model.Status(400))
	return c.create(t, prism, text(script.Tag, more...)).failed(t), script
}

// fixtures are prisms and results that no case changes, created once for a stack.
type fixtures struct {
	sync.Mutex
	replacer *strings.Replacer
	scripts  map[string]*model.Script // of the failed results, by placeholder
	slugs    []string
}

// fill replaces placeholders such as {one} in paths and bodies by the ids, slugs and keys of fixtures. Only calls that fail
// or read use placeholders, so the fixtures do not change.
func (s *stack) fill(t *testing.T, text string) string {
	t.Helper()
	s.once.Lock()
	defer s.once.Unlock()
	if s.once.replacer == nil {
		s.makeFixtures(t)
	}
	return s.once.replacer.Replace(text)
}

func (s *stack) makeFixtures(t *testing.T) {
	t.Helper()
	f := &s.once
	f.scripts = map[string]*model.Script{}
	pairs := []string{"{absent}", absentID}
	add := func(name, value string) { pairs = append(pairs, "{"+name+"}", value) }
	for _, owner := range []struct {
		prefix string
		*client
	}{{"", s.main}, {"other_", s.other}} {
		c, prefix := owner.client, owner.prefix
		for _, prism := range []string{"one", "archived"} {
			slug := c.triage(t)
			f.slugs = append(f.slugs, slug)
			add(prefix+prism, slug)
			var created struct{ ID string }
			c.get(t, "/v1/prisms/"+slug).decode(t, &created)
			add(prefix+prism+"_id", created.ID)

			key := newKey()
			script := s.model.Script()
			ok := c.create(t, slug, text(script.Tag, "idempotency_key", key)).ok(t)
			script.Then(model.Status(400))
			f.scripts[prefix+prism+"_ok"] = script
			add(prefix+prism+"_ok", ok.ID)
			add(prefix+prism+"_key", key)
			failed, script := c.refused(t, slug)
			add(prefix+prism+"_failed", failed.ID)
			f.scripts[prefix+prism+"_failed"] = script
			retried, script := c.refused(t, slug)
			f.scripts[prefix+prism+"_retried"] = script
			add(prefix+prism+"_retried", retried.ID)
			add(prefix+prism+"_retry", c.retry(t, retried.ID).failed(t).ID)
			if prism == "archived" {
				c.archive(t, slug)
			}
		}
	}
	two := s.main.prism(t, twoFields, triageQuestions)
	f.slugs = append(f.slugs, two)
	add("two", two)
	f.replacer = strings.NewReplacer(pairs...)
}

// failing is a call that must fail, as a row of a table. Its path and body may hold placeholders.
type failing struct {
	name string
	call
	want fail
}

// runFailing runs rows as subtests.
func (s *stack) runFailing(t *testing.T, rows []failing) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			in := row.call
			in.path, in.body = s.fill(t, in.path), s.fill(t, in.body)
			if in.auth != "" {
				in.auth = s.fill(t, in.auth)
			}
			want := row.want
			want.message = s.fill(t, want.message)
			r := s.main.do(t, in)
			r.wantFail(t, want)
			if t.Failed() {
				s.showRequest(t, r.request)
			}
		})
	}
}
