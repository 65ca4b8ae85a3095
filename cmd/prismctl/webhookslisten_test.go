package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// spec: event-stream
func TestEventsThatAreFollowedArePrintedAndForwardedSigned(t *testing.T) {
	t.Parallel()
	const body = `{"type":"run.started","data":{}}`
	got := ""
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		mac := hmac.New(sha256.New, []byte("key"))
		_, _ = io.WriteString(mac, r.Header.Get("Webhook-Id")+"."+r.Header.Get("Webhook-Timestamp")+"."+string(sent))
		if r.Header.Get("Webhook-Signature") == "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) {
			got = string(sent)
		}
	}))
	t.Cleanup(receiver.Close)
	var out, errs strings.Builder
	a := &app{out: &printer{Writer: &out}, err: &printer{Writer: &errs}}
	f := &forwarder{app: a, target: strings.TrimPrefix(receiver.URL, "http://")}
	if err := f.sign("whsec_" + base64.StdEncoding.EncodeToString([]byte("key"))); err != nil {
		t.Fatal(err)
	}
	after := "1.1"
	stream := io.NopCloser(strings.NewReader(": no event\n\nid: 1.2\nevent: run.started\ndata: " + body + "\n\n"))
	if err := f.pass(t.Context(), stream, &after); err != nil {
		t.Fatal(err)
	}
	if after != "1.2" || got != body || out.String() != body+"\n" || !strings.Contains(errs.String(), "evt_1_2 → 200") {
		t.Errorf("behind %s, forwarded %q, printed %q and %q", after, got, out.String(), errs.String())
	}
	if err := f.sign("secret"); err == nil {
		t.Error("a secret of another form was taken")
	}
}
