package operator

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kube "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/prism-results/prism/client"
	"github.com/prism-results/prism/services/operator/api/v1alpha1"
)

const ticketsYAML = `
kind: Prism
metadata: {name: tickets}
spec:
  account: acme
  slug: support
  name: Support
  fields: [{key: message}]
  questions:
    - {key: upset, type: yes_no, text: "Is the customer upset?"}
    - {key: topic, type: choice, text: "About what?", options: [{key: a, label: A}, {key: b, label: B}]}
`

// sync looks at a prism once, and fails the test on an error.
func (w *world) sync(o *v1alpha1.Prism) {
	w.t.Helper()
	if _, _, err := w.look(o); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) look(o *v1alpha1.Prism) (any, bool, error) {
	w.t.Helper()
	return look(w, o, func() *v1alpha1.Prism { return &v1alpha1.Prism{} }, &prisms{w.base})
}

// tickets is the object of ticketsYAML, with some of it replaced.
func (w *world) tickets(replace ...string) *v1alpha1.Prism {
	w.t.Helper()
	o := &v1alpha1.Prism{}
	w.apply(strings.NewReplacer(replace...).Replace(ticketsYAML), o)
	return o
}

// has checks what Prism has.
func (w *world) has(version int, check func(p client.Prism) bool) {
	w.t.Helper()
	p, err := w.prism.ReadPrism(w.t.Context(), "support")
	if err != nil {
		w.t.Fatal(err)
	}
	if p.LatestVersion != version || check != nil && !check(p) {
		w.t.Errorf("got %+v, want version %d", p, version)
	}
}

func text(of string) func(*v1alpha1.Prism) {
	return func(o *v1alpha1.Prism) {
		o.Spec.Questions[0] = apiextensions.JSON{Raw: []byte(`{"key": "upset", "type": "yes_no", "text": "` + of + `"}`)}
	}
}

// theirs is a version by somebody else.
func (w *world) theirs() {
	w.t.Helper()
	p, err := w.prism.ReadPrism(w.t.Context(), "support")
	if err != nil {
		w.t.Fatal(err)
	}
	d := client.Definition{Fields: p.Version.Fields, Questions: p.Version.Questions, Instructions: "Theirs."}
	if _, err := w.prism.CreateVersion(w.t.Context(), "support", client.NewVersion{Definition: d}); err != nil {
		w.t.Fatal(err)
	}
}

// spec: declared-prisms, declared-drift, declared-deletion, declared-status, declared-namespaces
func TestPrism(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name string
		test func(t *testing.T, w *world)
	}{
		{"a new object makes a prism with version 1", func(t *testing.T, w *world) {
			o := w.tickets()
			w.sync(o)
			w.has(1, func(p client.Prism) bool {
				return *p.Name == "Support" && p.ID == o.Status.ID && len(p.Version.Questions) == 2
			})
			w.want(o, "Ready=True Synced", "")
			w.want(o, "Synced=True Synced", "")
			w.want(o, "Drifted=False InSync", "")
			if o.Status.LatestVersion != 1 || o.Status.VersionHash == "" || o.Status.ObservedGeneration != 1 || len(o.Finalizers) != 0 {
				t.Errorf("got %+v, %v", o.Status, o.Finalizers)
			}
			if told := w.told(); len(told) != 1 || !strings.HasPrefix(told[0], "Normal Synced") {
				t.Errorf("events are %q", told)
			}
		}},
		{"of two objects of one slug the older one counts", func(t *testing.T, w *world) {
			o, second := w.tickets(), w.tickets("name: tickets", "name: zweite", "upset?", "angry?")
			w.sync(o)
			w.sync(second)
			w.want(second, "Ready=False Invalid", "the Prism team/tickets declares the prism support of this account")
			w.sync(o)
			w.has(1, nil)
			w.want(o, "Synced=True Synced", "")
			w.want(o, "Drifted=False InSync", "")
			if err := w.Delete(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			w.sync(second)
			w.has(2, nil)
			w.want(second, "Ready=True Synced", "")
		}},
		{"an object that the account does not allow is in nobody's way", func(_ *testing.T, w *world) {
			w.tickets("name: tickets", "name: a, namespace: other")
			o := w.tickets()
			w.sync(o)
			w.want(o, "Ready=True Synced", "")
		}},
		{"another look changes nothing, of the object or of Prism", func(t *testing.T, w *world) {
			o := w.tickets()
			w.sync(o)
			w.told()
			before := o.ResourceVersion
			w.sync(o)
			w.has(1, nil)
			if told := w.told(); o.ResourceVersion != before || len(told) != 0 {
				t.Errorf("the object was written again; events are %q", told)
			}
		}},
		{"a changed question makes a version and nothing else", func(t *testing.T, w *world) {
			o := w.tickets()
			w.sync(o)
			edit(w, o, text("Upset?"))
			w.sync(o)
			w.sync(o)
			w.has(2, func(p client.Prism) bool { return p.Version.Questions[0].Text == "Upset?" })
			w.want(o, "Synced=True Synced", "")
			if o.Status.LatestVersion != 2 {
				t.Errorf("got %+v", o.Status)
			}
		}},
		{"what means the same makes no version: another order of members, defaults, annotations", func(t *testing.T, w *world) {
			o := w.tickets()
			w.sync(o)
			edit(w, o, func(o *v1alpha1.Prism) {
				o.Spec.Questions[1] = apiextensions.JSON{Raw: []byte(`{"options": [{"label": "A", "key": "a"}, {"key": "b", "label": "B"}], "insufficient_information": false,
					"type": "choice", "text": "About what?", "key": "topic"}`)}
				o.Annotations = map[string]string{"a": "b"}
			})
			w.sync(o)
			w.has(1, nil)
			w.want(o, "Synced=True Synced", "")
		}},
		{"a Lens, a name, retention and drift make no version", func(t *testing.T, w *world) {
			o := w.tickets()
			w.sync(o)
			days, no, name := int32(30), false, "Another"
			edit(w, o, func(o *v1alpha1.Prism) {
				o.Spec.Lens = &apiextensions.JSON{Raw: []byte(`{"columns": [{"name": "mood", "question": "upset", "show": "answer"}]}`)}
				o.Spec.RetentionDays, o.Spec.Name, o.Spec.Searchable = &days, &name, &no
				o.Spec.Drift = &v1alpha1.PrismDrift{Watched: true}
			})
			w.sync(o)
			w.has(1, func(p client.Prism) bool {
				return *p.Name == "Another" && *p.RetentionDays == 30 && p.Lens.Columns[0].Name == "mood" && p.Searchable != nil && !*p.Searchable
			})
			if d, err := w.prism.ReadDrift(t.Context(), "support", 0); err != nil || !d.Watched {
				t.Errorf("got %+v, %v", d, err)
			}
			w.want(o, "Synced=True Synced", "")
			if _, err := w.prism.SetRetention(t.Context(), "support", nil); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				w.sync(o)
				w.want(o, "Drifted=True Changed", "")
			}
			w.has(1, func(p client.Prism) bool { return p.RetentionDays == nil })
			days = 40
			edit(w, o, func(o *v1alpha1.Prism) { o.Spec.RetentionDays = &days })
			w.sync(o)
			w.has(1, func(p client.Prism) bool { return *p.RetentionDays == 40 })
			w.want(o, "Drifted=False InSync", "")
		}},
		{"a prism that was there is taken over, archived or not", func(t *testing.T, w *world) {
			first := w.tickets()
			w.sync(first)
			if _, err := w.prism.ArchivePrism(t.Context(), "support"); err != nil {
				t.Fatal(err)
			}
			second := w.tickets("name: tickets", "name: again", "customer upset", "customer cross")
			w.sync(second)
			w.has(2, func(p client.Prism) bool { return p.ArchivedAt == nil })
			w.want(second, "Synced=True Synced", "")
		}},
		{"somebody else's change is told, and not undone", func(t *testing.T, w *world) {
			o := w.tickets()
			w.sync(o)
			w.told()
			w.theirs()
			w.sync(o)
			w.has(2, func(p client.Prism) bool { return *p.Version.Instructions == "Theirs." })
			w.want(o, "Drifted=True Changed", "its latest version is 2")
			w.want(o, "Synced=False Drifted", "driftPolicy")
			w.want(o, "Ready=True Synced", "")
			if told := w.told(); len(told) != 2 || !strings.HasPrefix(told[0], "Warning") || !strings.HasPrefix(told[1], "Warning") {
				t.Errorf("events are %q", told)
			}
			edit(w, o, text("Upset?"))
			w.sync(o)
			w.has(2, nil)
			w.want(o, "Synced=False Drifted", "")
			counts := func() [2]float64 {
				g := func(state string) float64 {
					return testutil.ToFloat64(w.metrics.objects.WithLabelValues("*v1alpha1.Prism", state))
				}
				return [2]float64{g(v1alpha1.ReasonSynced), g(v1alpha1.Drifted)}
			}
			if got := counts(); got != [2]float64{0, 1} {
				t.Errorf("synced and drifted are %v", got)
			}
			if err := w.Delete(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			w.sync(o)
			if got := counts(); got != [2]float64{} {
				t.Errorf("without the object they are %v", got)
			}
		}},
		{"a change that was taken over into the spec is no drift any more", func(t *testing.T, w *world) {
			o := w.tickets()
			w.sync(o)
			w.theirs()
			w.sync(o)
			theirs := "Theirs."
			edit(w, o, func(o *v1alpha1.Prism) { o.Spec.Instructions = &theirs })
			w.sync(o)
			w.has(2, nil)
			w.want(o, "Drifted=False InSync", "")
			w.want(o, "Synced=True Synced", "")
		}},
		{"with Overwrite somebody else's change is undone, and told", func(t *testing.T, w *world) {
			o := w.tickets("account: acme", "account: acme\n  driftPolicy: Overwrite")
			w.sync(o)
			w.theirs()
			w.sync(o)
			w.has(3, func(p client.Prism) bool { return p.Version.Instructions == nil })
			w.want(o, "Drifted=False Overwritten", "was undone")
			w.want(o, "Synced=True Synced", "")
		}},
		{"a Lens by somebody else is drift too, and undone without a version", func(t *testing.T, w *world) {
			o := w.tickets()
			w.sync(o)
			if _, err := w.prism.ReplaceLens(t.Context(), "support", client.Lens{Columns: []client.Column{{Name: "x", Question: "upset", Show: client.ShowAnswer}}}); err != nil {
				t.Fatal(err)
			}
			w.sync(o)
			w.want(o, "Drifted=True Changed", "")
			edit(w, o, func(o *v1alpha1.Prism) { o.Spec.DriftPolicy = v1alpha1.Overwrite })
			w.sync(o)
			w.has(1, func(p client.Prism) bool { return len(p.Lens.Columns) == 4 })
		}},
		{"an archive by somebody else makes it not ready", func(t *testing.T, w *world) {
			o := w.tickets()
			w.sync(o)
			if _, err := w.prism.ArchivePrism(t.Context(), "support"); err != nil {
				t.Fatal(err)
			}
			w.sync(o)
			w.want(o, "Ready=False Drifted", "")
			edit(w, o, func(o *v1alpha1.Prism) { o.Spec.DriftPolicy = v1alpha1.Overwrite })
			w.sync(o)
			w.has(1, func(p client.Prism) bool { return p.ArchivedAt == nil })
			w.want(o, "Ready=True Synced", "")
		}},
		{"a change by somebody else at the same moment is not overwritten", func(t *testing.T, w *world) {
			o := w.tickets()
			w.sync(o)
			edit(w, o, text("Upset?"))
			w.behind(func(_ http.ResponseWriter, r *http.Request) (answered bool) {
				if r.Header.Get("If-Match") != "" {
					w.theirs()
				}
				return false
			})
			if _, _, err := w.look(o); err == nil {
				t.Error("the version was made")
			}
			w.accounts = w
			w.has(2, func(p client.Prism) bool { return *p.Version.Instructions == "Theirs." })
			w.sync(o)
			w.want(o, "Drifted=True Changed", "")
		}},
		{"a namespace that the account does not list gets nothing", func(t *testing.T, w *world) {
			o := w.tickets("name: tickets", "name: tickets, namespace: other")
			w.sync(o)
			w.want(o, "Ready=False NotAllowed", "no PrismAccount acme")
			w.want(o, "Synced=False NotAllowed", "the namespace other")
			if _, err := w.prism.ReadPrism(t.Context(), "support"); err == nil {
				t.Error("there is a prism")
			}
		}},
		{"an account that there is not is told in the same words", func(_ *testing.T, w *world) {
			o := w.tickets("acme", "nobody")
			w.sync(o)
			w.want(o, "Ready=False NotAllowed", "no PrismAccount nobody of the namespace prism-system allows the namespace team")
		}},
		{"what Prism refuses has Prism's own words, and the old version stays ready", func(t *testing.T, w *world) {
			o := w.tickets()
			w.sync(o)
			model := "nowhere"
			edit(w, o, func(o *v1alpha1.Prism) { o.Spec.Model = &model })
			w.sync(o)
			_, err := w.prism.CreateVersion(t.Context(), "support", client.NewVersion{Definition: client.Definition{
				Model: model, Fields: []client.Field{{Key: "f"}}, Questions: []client.Question{{Key: "q", Type: client.YesNo, Text: "?"}},
			}})
			refused, ok := err.(*client.Error) //nolint:errorlint // it is not wrapped
			if !ok {
				t.Fatal(err)
			}
			w.want(o, "Synced=False Invalid", refused.Message)
			w.want(o, "Ready=True Synced", "")
			w.has(1, nil)
		}},
		{"a new object that Prism refuses is not ready", func(_ *testing.T, w *world) {
			o := w.tickets("key: topic", "key: upset")
			w.sync(o)
			w.want(o, "Ready=False Invalid", "questions.1.key: must be unique")
		}},
		{"while Prism is away it is tried again, and what was ready stays so", func(t *testing.T, w *world) {
			o := w.tickets()
			w.sync(o)
			w.away = &client.Error{Operation: "readPrism", Status: 503, Code: client.CodeUnavailable, Message: "Try again."}
			if _, _, err := w.look(o); err == nil {
				t.Error("it is not tried again")
			}
			w.want(o, "Synced=False Unavailable", "Try again.")
			w.want(o, "Ready=True Synced", "")
			w.away = nil
			w.sync(o)
			w.want(o, "Synced=True Synced", "")
			w.has(1, nil)
		}},
		{"a 503 that names a pause is tried again after it", func(t *testing.T, w *world) {
			o := w.tickets()
			w.away = &client.Error{Status: 503, Code: client.CodeUnavailable, RetryAfter: 20 * time.Second}
			r := &reconciler[*v1alpha1.Prism]{base: w.base, name: "Prism", make: func() *v1alpha1.Prism { return &v1alpha1.Prism{} }, kind: &prisms{w.base}}
			got, err := r.Reconcile(t.Context(), requestOf(o))
			if err != nil || got.RequeueAfter < 20*time.Second || got.RequeueAfter > 26*time.Second {
				t.Errorf("got %+v, %v", got, err)
			}
		}},
		{"Retain leaves the prism when the object is deleted", func(t *testing.T, w *world) {
			o := w.tickets()
			w.sync(o)
			if err := w.Delete(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			if _, there, _ := w.look(o); there {
				t.Error("the object is held back")
			}
			w.has(1, func(p client.Prism) bool { return p.ArchivedAt == nil })
		}},
		{"Archive archives it first", func(t *testing.T, w *world) {
			o := w.tickets("account: acme", "account: acme\n  deletionPolicy: Archive")
			w.sync(o)
			if err := w.Delete(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			if _, there, err := w.look(o); there || err != nil {
				t.Errorf("the object is held back: %v", err)
			}
			w.has(1, func(p client.Prism) bool { return p.ArchivedAt != nil })
		}},
		{"a deletion does not wait for Prism for ever", func(t *testing.T, w *world) {
			o := w.tickets("account: acme", "account: acme\n  deletionPolicy: Archive")
			w.sync(o)
			w.told()
			if err := w.Delete(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			w.away = &client.ConnectionError{Operation: "archivePrism", Err: http.ErrServerClosed}
			if _, there, _ := w.look(o); !there {
				t.Error("the object went at once")
			}
			w.clock = w.clock.Add(abandonAfter + time.Minute)
			if _, there, _ := w.look(o); there {
				t.Error("the object is held back")
			}
			if told := w.told(); len(told) != 1 || !strings.HasPrefix(told[0], "Warning Abandoned") {
				t.Errorf("events are %q", told)
			}
		}},
		{"a deletion of what is not allowed any more does not wait", func(t *testing.T, w *world) {
			o := w.tickets("account: acme", "account: acme\n  deletionPolicy: Archive")
			w.sync(o)
			edit(w, &v1alpha1.PrismAccount{ObjectMeta: metaOf("acme", release)}, func(a *v1alpha1.PrismAccount) { a.Spec.AllowedNamespaces = nil })
			if err := w.Delete(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			if _, there, _ := w.look(o); there {
				t.Error("the object is held back")
			}
			w.has(1, func(p client.Prism) bool { return p.ArchivedAt == nil })
		}},
		{"an operator that ended after a version and before the status makes no second one", func(t *testing.T, w *world) {
			o := w.tickets()
			w.sync(o)
			status := o.Status.DeepCopy()
			edit(w, o, text("Upset?"))
			w.sync(o)
			o.Status = *status
			if err := w.Status().Update(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			w.sync(o)
			w.has(2, nil)
			w.want(o, "Drifted=False InSync", "")
			w.want(o, "Synced=True Synced", "")
		}},
		{"a change that could not be told of is the operator's own, also after another change of the spec", func(t *testing.T, w *world) {
			o := w.tickets()
			w.sync(o)
			edit(w, o, text("Upset?"))
			apiServer := w.base.Client
			w.base.Client = interceptor.NewClient(apiServer.(kube.WithWatch), interceptor.Funcs{
				SubResourceUpdate: func(ctx context.Context, k kube.Client, sub string, o kube.Object, with ...kube.SubResourceUpdateOption) error {
					if o.(Object).State().ObservedGeneration == o.GetGeneration() {
						return errKilled
					}
					return k.SubResource(sub).Update(ctx, o, with...)
				},
			})
			for _, text := range []func(*v1alpha1.Prism){text("Very upset?"), text("Not upset?")} {
				if _, _, err := w.look(o); err == nil {
					t.Error("it was told of")
				}
				edit(w, o, text)
			}
			w.base.Client = apiServer
			w.sync(o)
			w.has(4, func(p client.Prism) bool { return p.Version.Questions[0].Text == "Not upset?" })
			w.want(o, "Drifted=False InSync", "")
			w.want(o, "Synced=True Synced", "")
			if o.Status.Pending != nil {
				t.Errorf("pending are %q", o.Status.Pending)
			}
			w.theirs()
			w.sync(o)
			w.want(o, "Drifted=True Changed", "")
		}},
		{"a change that ended in the middle goes on", func(t *testing.T, w *world) {
			o := w.tickets()
			w.sync(o)
			name := "Another"
			edit(w, o, func(o *v1alpha1.Prism) { text("Upset?")(o); o.Spec.Name = &name })
			w.behind(func(rw http.ResponseWriter, r *http.Request) (answered bool) {
				if answered = strings.HasSuffix(r.URL.Path, "/name"); answered {
					rw.WriteHeader(http.StatusServiceUnavailable)
				}
				return answered
			})
			if _, _, err := w.look(o); err == nil {
				t.Error("the name was changed")
			}
			w.accounts = w
			w.has(2, func(p client.Prism) bool { return *p.Name == "Support" })
			w.sync(o)
			w.has(2, func(p client.Prism) bool { return *p.Name == "Another" })
			w.want(o, "Drifted=False InSync", "")
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, newWorld(t))
		})
	}
}

func TestAChangeOfAnAccountConcernsItsObjects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	o := w.tickets()
	w.tickets("name: tickets", "name: others", "acme", "another")
	account := &v1alpha1.PrismAccount{ObjectMeta: metaOf("acme", release)}
	if got := w.ofAccount(t.Context(), &v1alpha1.PrismList{}, account); len(got) != 1 || got[0].Name != o.Name {
		t.Errorf("got %v", got)
	}
	account.Namespace = team
	if got := w.ofAccount(t.Context(), &v1alpha1.PrismList{}, account); got != nil {
		t.Errorf("an account that does not count concerns %v", got)
	}
}
