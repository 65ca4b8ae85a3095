package wire

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/contract"
	"github.com/prism-results/prism/pkg/prism"
	"github.com/prism-results/prism/pkg/strictjson"
)

// FuzzDecodeError: any response of a service that is not a success becomes an error. An error with a type keeps type and
// value on every further hop.
func FuzzDecodeError(f *testing.F) {
	for _, body := range []string{
		`{"API":{"status":404,"code":"not_found","message":"Prism not found"}}`, `{"KeyTaken":true}`,
		`{"RetriedBy":"0190b5a8-7c00-7abc-8def-00000000002a"}`, `{"API":null}`, `{"API":{}}`, `{"KeyTaken":false}`, `{}`, `[]`, `null`, ``,
		`{"API":{"status":1e400}}`, `{"RetriedBy":"urn:uuid:0190b5a8-7c00-7abc-8def-00000000002a"}`, `{"API":{"message":"\ud800"}}`,
		`{"KeyTaken":true,"RetriedBy":"0190b5a8-7c00-7abc-8def-00000000002a"}`, `{"API":{"status":503,"message":"Service Unavailable"},"Seconds":60}`,
		`{"API":{"status":404},"Seconds":-1}`, `{"Seconds":60}`,
	} {
		f.Add(statusFailure, []byte(body))
	}
	f.Add(statusUnavailable, []byte(nil))
	f.Add(statusFault, []byte(`{"KeyTaken":true}`))
	f.Add(200, []byte(`{}`))
	f.Add(444, []byte(`0`)) // a server that ran no method
	f.Add(statusUnknown, []byte(nil))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		err := decodeError(status, body)
		if err == nil {
			t.Fatalf("%d %q is no error", status, body)
		}
		if errors.Is(err, errFault) {
			return
		}
		if status != statusFailure && status != statusUnavailable {
			if status < 400 || status > 499 || !errors.Is(err, contract.ErrUnavailable) {
				t.Fatalf("%d %q became %v", status, body, err)
			}
			return // no method ran
		}
		again, sent := encodeError(err)
		if again != status {
			t.Fatalf("%v travels on as %d, came as %d", err, again, status)
		}
		if back := decodeError(again, sent); !sameError(back, err) {
			t.Fatalf("%#v travels on as %#v", err, back)
		}
	})
}

// FuzzEncodeError: errors of the catalogue arrive with type and value, also wrapped; what cannot be carried is a fault.
func FuzzEncodeError(f *testing.F) {
	f.Add(409, "conflict", "Only a failed result can be retried.", []byte("0123456789abcdef"), uint8(0))
	f.Add(400, "validation_failed", "Invalid request: fields.\u00e9: \u0000", []byte{}, uint8(1))
	f.Add(503, "", "\xff", []byte{1}, uint8(2))
	f.Add(60, "", "", []byte{1}, uint8(5))
	f.Fuzz(func(t *testing.T, status int, code, message string, id []byte, kind uint8) {
		var by prism.ResultID
		copy(by.UUID[:], id)
		by.UUID[6] = 0x70 // a result's id is never zero
		err := []error{
			&apierr.Error{Status: status, Code: apierr.Code(code), Message: message},
			contract.ErrKeyTaken, &contract.RetriedError{By: by}, contract.ErrUnavailable, errors.New(message),
			apierr.UnavailableFor(time.Duration(status) * time.Second),
		}[kind%6]
		back := decodeError(encodeError(fmt.Errorf("wrapped: %w", err)))
		typed := kind%6 != 4 && (kind%6 != 0 || utf8.ValidString(code) && utf8.ValidString(message))
		switch {
		case typed && !sameError(back, err):
			t.Fatalf("%#v arrived as %#v", err, back)
		case !typed && !errors.Is(back, errFault):
			t.Fatalf("%#v arrived as %#v, want a fault", err, back)
		case !typed && message != "" && len(message) > 3 && bytes.Contains([]byte(back.Error()), []byte(message)):
			t.Fatalf("a fault repeats %q", message)
		}
	})
}

func sameError(got, want error) bool {
	var api *apierr.Error
	var retried *contract.RetriedError
	later, _ := errors.AsType[*apierr.RetryAfterError](want)
	switch {
	case later != nil:
		return errors.Is(got, later)
	case errors.As(want, &api):
		return errors.Is(got, api)
	case errors.As(want, &retried):
		var r *contract.RetriedError
		return errors.As(got, &r) && *r == *retried
	}
	return errors.Is(got, want)
}

// travels decodes as the receiver does, and if that succeeds encodes and decodes again: what was understood once is
// understood in the same way after any number of hops.
func travels[T any](t *testing.T, body []byte) {
	t.Helper()
	var first, second T
	if strictjson.Unmarshal(body, &first) != nil {
		return
	}
	sent, err := strictjson.Marshal(first)
	if err != nil {
		t.Fatalf("%q was read, and cannot be written: %v", body, err)
	}
	if err := strictjson.Unmarshal(sent, &second); err != nil {
		t.Fatalf("%q was written, and cannot be read: %v", sent, err)
	}
	again, err := strictjson.Marshal(second)
	if err != nil || !bytes.Equal(again, sent) {
		t.Fatalf("%q became %q, %v", sent, again, err)
	}
}

// FuzzMessages: arguments and responses of every method.
func FuzzMessages(f *testing.F) {
	const id = `"0190b5a8-7c00-7abc-8def-00000000002a"`
	for i, body := range []string{
		`{"Key":[],"Prism":{"ID":` + id + `,"Slug":"a"},"Version":1,"IdempotencyKey":"k","Format":"csv"}`,
		`{"Account":` + id + `,"Stored":{"ID":` + id + `,"Input":{"Version":{"version":1,"fields":[{"key":"a"}]},"Fields":[{"Key":"a","Value":"b"}]}}}`,
		`{"Account":` + id + `,"Fields":[{"Key":"a","Value":"\u0000"}],"Outcome":{"Answers":"e30=","TookMS":1},"RetryOf":` + id + `}`,
		`{"Key":"","ID":` + id + `,"Format":"raw"}`,
		`{"Query":{"Prism":{"Slug":"a"},"From":"2026-11-21T10:00:00.5+01:00","To":"0001-01-01T00:00:00Z"}}`,
		`{"Request":{"slug":"a","fields":[{"key":"a"}],"questions":[{"key":"q","type":"scale","text":"t","levels":[{"key":"l","label":"L","value":1e3}]}],"lens":{"columns":[{"name":"n","question":"q","show":"answer","yes_at":0.5}]}}}`,
		`{"Answers":"e30","Error":"x","TookMS":-1}`, `{"Number":1.5}`, `[]`, `{`, ``, "\xff",
	} {
		f.Add(uint8(i), []byte(body))
	}
	f.Fuzz(func(t *testing.T, kind uint8, body []byte) {
		kinds := []func(*testing.T, []byte){
			travels[createQuery], travels[createFacts], travels[contract.Save], travels[argsResult],
			travels[operationArgs[api.ExportResultsRequest]], travels[operationArgs[api.CreatePrismRequest]], travels[contract.Outcome],
			travels[operationArgs[api.ReplaceLensRequest]], travels[contract.RetryFacts],
			travels[operationArgs[api.ListResultsRequest]], travels[contract.Ask], travels[ask],
		}
		kinds[int(kind)%len(kinds)](t, body)
	})
}
