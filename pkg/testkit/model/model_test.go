package model_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prism-results/prism/pkg/testkit/model"
)

func ask(t *testing.T, m *model.Model, state string) (status int, body string) {
	t.Helper()
	resp, err := http.Post(m.BaseURL()+"/systemone", "application/json", strings.NewReader(`{"model":"m","state":{"message":"`+state+`"},"questions":{
		"team":{"type":"choice","instructions":"?","criteria":{"b":"first","a":null}},
		"urgent":{"type":"noul","instructions":"?","criteria":null},
		"tone":{"type":"score","instructions":"?","criteria":["calm","furious"]}}}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func TestAScriptIsFoundByItsTagAndCountsItsCalls(t *testing.T) {
	t.Parallel()
	m := model.New(func(model.Request) model.Step { return model.Status(418) })
	t.Cleanup(m.Close)
	first, second := m.Script(model.Status(429, "Retry-After", "1"), model.Likely()), m.Script()
	if status, _ := ask(t, m, "hello "+first.Tag+"."); status != 429 {
		t.Errorf("status %d", status)
	}
	if status, _ := ask(t, m, first.Tag); status != 200 {
		t.Errorf("status %d", status)
	}
	if status, _ := ask(t, m, "nobody"); status != 418 {
		t.Errorf("the policy is not asked: status %d", status)
	}
	if first.Calls() != 2 || second.Calls() != 0 {
		t.Errorf("%d and %d calls", first.Calls(), second.Calls())
	}
	if got := first.Requests()[1].Questions[0].Names; len(got) != 2 || got[0] != "b" {
		t.Errorf("options in the order sent are %v", got)
	}
}

func TestAnswersHaveTheDocumentedShape(t *testing.T) {
	t.Parallel()
	m := model.New(nil)
	t.Cleanup(m.Close)
	s := m.Script(model.Answer(model.Answers{"tone": model.Levels{0.25, 0.75}}))
	_, body := ask(t, m, s.Tag)
	var got struct {
		Object  string
		Answers struct {
			Team struct {
				Type, Choice  string
				Probabilities map[string]float64
			}
			Urgent struct {
				Type string
				Noul float64
			}
			Tone struct {
				Type          string
				Score         float64
				Legend        map[string]string
				Probabilities map[string]float64
			}
		}
		Usage struct {
			InputTokens int `json:"input_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	a := got.Answers
	if got.Object != "structured_decision" || a.Team.Choice != "b" || a.Team.Probabilities["b"] != 0.75 || a.Urgent.Noul != 0.75 ||
		a.Tone.Score != 0.75 || a.Tone.Legend["1"] != "furious" || a.Tone.Probabilities["1"] != 0.75 || got.Usage.InputTokens == 0 {
		t.Errorf("got %s", body)
	}
}

func TestAHeldCallGetsItsResponseWhenReleased(t *testing.T) {
	t.Parallel()
	m := model.New(nil)
	t.Cleanup(m.Close)
	release := make(chan struct{})
	s := m.Script(model.Hold(release, model.Likely()))
	done := make(chan int, 1)
	go func() {
		status, _ := ask(t, m, s.Tag)
		done <- status
	}()
	if err := s.Await(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	close(release)
	if status := <-done; status != 200 {
		t.Errorf("status %d", status)
	}
}

func TestABrokenConnectionAndAnUnknownMemberGetNoAnswers(t *testing.T) {
	t.Parallel()
	m := model.New(nil)
	t.Cleanup(m.Close)
	s := m.Script(model.Cut())
	if _, err := http.Post(m.BaseURL()+"/systemone", "application/json", strings.NewReader(`{"state":{"a":"`+s.Tag+`"},"questions":{}}`)); err == nil {
		t.Error("a response came")
	}
	resp, err := http.Post(m.BaseURL()+"/systemone", "application/json", strings.NewReader(`{"state":{},"questions":{"q":{"type":"noul","more":1}}}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != 422 {
		t.Errorf("status %d", resp.StatusCode)
	}
}

func TestCloseEndsWhatHangs(t *testing.T) {
	t.Parallel()
	m := model.New(nil)
	s := m.Script(model.Hang())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		resp, err := http.Post(m.BaseURL()+"/systemone", "application/json", strings.NewReader(`{"state":{"a":"`+s.Tag+`"},"questions":{}}`))
		if err == nil {
			_ = resp.Body.Close()
		}
	}()
	if err := s.Await(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	m.Close()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("the call still hangs")
	}
}
