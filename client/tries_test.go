package client

import (
	"errors"
	"testing"
)

func TestAFailedTryIsAnErrorWithTheTry(t *testing.T) {
	t.Parallel()
	const failed = `{"status":"failed","error":"The model did not answer within 15 seconds.","error_code":"timeout","took_ms":15000,` +
		`"raw":null,"json":null,"model":null,"usage":null,"label_mass":null,"absent":null,"order_disagreement":null,"rounds":null,"escalation":null}`
	_, err := answering(t, 502, jsonType, failed).TryDefinition(t.Context(), NewTry{Text: "t"})
	var e *FailedError
	if !errors.As(err, &e) || e.Try == nil || e.Result != nil || *e.Try.ErrorCode != ErrorTimeout || e.RequestID != "r-1" ||
		e.Error() != "prism: tryDefinition: The model did not answer within 15 seconds." {
		t.Errorf("got %v", err)
	}
	for _, page := range []string{"<h1>proxy</h1>", "null", `{"status":"ok"}`, failedJSON[:20]} {
		if _, err := answering(t, 502, jsonType, page).TryDefinition(t.Context(), NewTry{Text: "t"}); !errors.Is(err, ErrUnexpected) {
			t.Errorf("%s: got %v", page, err)
		}
	}
}

func TestATryKeepsTheOrderOfItsAnswers(t *testing.T) {
	t.Parallel()
	const answered = `{"status":"ok","error":null,"error_code":null,"took_ms":5,"raw":{"z":{"type":"yes_no","probability":0.5},` +
		`"a":{"type":"yes_no","probability":1}},"json":{"z":"unsure","a":1},"model":null,"usage":null,"label_mass":null,"absent":null,"order_disagreement":null,"rounds":null,"escalation":null}`
	try, err := answering(t, 200, jsonType, answered).TryDefinition(t.Context(), NewTry{Text: "t"})
	if err != nil || len(try.Answers) != 2 || try.Answers[0].Question != "z" || len(try.Row) != 2 || try.Row[1] != (Cell{Column: "a", Value: 1.0}) {
		t.Errorf("got %+v, %v", try, err)
	}
}

func TestATryWhoseTextIsNotUTF8IsNotSent(t *testing.T) {
	t.Parallel()
	c := answering(t, 200, jsonType, `{}`)
	for _, sent := range []NewTry{{Text: "\xff"}, {Context: "\xff"}, {Fields: map[string]string{"\xff": ""}}} {
		if _, err := c.TryDefinition(t.Context(), sent); err == nil || errors.Is(err, ErrUnexpected) {
			t.Errorf("%+v: %v", sent, err)
		}
	}
}
