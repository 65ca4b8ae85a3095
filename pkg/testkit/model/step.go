package model

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Step writes the response of one call. ctx ends when the caller disconnects and when the model is closed.
type Step func(ctx context.Context, w http.ResponseWriter, req Request)

// Answers are answers by question: Options, Yes, Levels or Raw.
type Answers map[string]any

// Options answers a choice: the probability of each option.
type Options map[string]float64

// Yes answers a noul: the probability of yes.
type Yes float64

// Levels answers a score: the probability of each level.
type Levels []float64

// Raw is an answer in JSON, sent as it is.
type Raw string

// Likely answers every question in favour of its first option, of yes, or of its first level.
func Likely() Step { return Answer(nil) }

// Answer gives these answers, and likely ones to the other questions.
func Answer(answers Answers) Step {
	return func(_ context.Context, w http.ResponseWriter, req Request) { writeAnswers(w, req, answers) }
}

// Status refuses with the status and headers (name, value, name, value …).
func Status(code int, header ...string) Step {
	return func(_ context.Context, w http.ResponseWriter, _ Request) {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"error":{"message":%q,"type":"error","code":%d}}`, BodyMark, code)
	}
}

// Body responds with 200 and this body.
func Body(body string) Step {
	return func(_ context.Context, w http.ResponseWriter, _ Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	}
}

// Hang sends nothing until the caller disconnects.
func Hang() Step {
	return func(ctx context.Context, _ http.ResponseWriter, _ Request) { <-ctx.Done() }
}

// Hold takes the step when the channel is closed or receives.
func Hold(until <-chan struct{}, then Step) Step {
	return func(ctx context.Context, w http.ResponseWriter, req Request) {
		select {
		case <-until:
			then(ctx, w, req)
		case <-ctx.Done():
		}
	}
}

// After takes the step after a pause.
func After(pause time.Duration, then Step) Step {
	return func(ctx context.Context, w http.ResponseWriter, req Request) {
		timer := time.NewTimer(pause)
		defer timer.Stop()
		select {
		case <-timer.C:
			then(ctx, w, req)
		case <-ctx.Done():
		}
	}
}

// Drip sends headers at once and then white space, a byte at a time, without end.
func Drip() Step {
	return func(ctx context.Context, w http.ResponseWriter, _ Request) {
		w.Header().Set("Content-Type", "application/json")
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			if _, err := w.Write([]byte(" ")); err != nil {
				return
			}
			if f, ok := w.(http.Flusher); ok {
				f.Flush()
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}
}

// Cut closes the connection without a response.
func Cut() Step {
	return func(_ context.Context, w http.ResponseWriter, _ Request) {
		if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = conn.Close()
		}
	}
}

func writeAnswers(w http.ResponseWriter, req Request, answers Answers) {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"id":"decision-1","object":"structured_decision","created":1790000000,"model":%q,"answers":{`, req.Model)
	for i, q := range req.Questions {
		if i > 0 {
			b.WriteByte(',')
		}
		answer, ok := answers[q.ID]
		if !ok {
			answer = q.likely()
		}
		fmt.Fprintf(&b, "%q:%s", q.ID, q.encode(answer))
	}
	b.WriteString(`},"usage":{"input_tokens":142,"output_tokens":3},"diagnostics":{"` + BodyMark + `":{"label_mass":0.93}`)
	for _, q := range req.Questions {
		fmt.Fprintf(&b, `,%q:{"label_mass":0.93}`, q.ID)
	}
	b.WriteString("}}")
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b.Bytes())
}

// encode writes an answer with the members that vLLM sends. The confidences are wrong on purpose, because Prism computes
// its own (spec: confidence).
func (q Question) encode(answer any) []byte {
	var v any
	switch a := answer.(type) {
	case Raw:
		return []byte(a)
	case Options:
		v = map[string]any{"type": "choice", "choice": q.Names[0], "probabilities": a, "confidence": 0.123}
	case Yes:
		v = map[string]any{"type": "noul", "noul": a, "probabilities": map[string]any{"yes": a, "no": 1 - a}, "confidence": 0.123}
	case Levels:
		legend, ps, mean := map[string]string{}, map[string]float64{}, 0.0
		for i, p := range a {
			legend[strconv.Itoa(i)] = q.Names[min(i, len(q.Names)-1)]
			ps[strconv.Itoa(i)] = p
			mean += p * float64(i)
		}
		v = map[string]any{"type": "score", "score": mean, "legend": legend, "probabilities": ps, "confidence": 0.123}
	}
	b, _ := json.Marshal(v)
	return b
}

func (q Question) likely() any {
	other := 0.25 / float64(max(len(q.Names)-1, 1))
	switch q.Type {
	case "choice":
		a := Options{}
		for i, name := range q.Names {
			a[name] = other
			if i == 0 {
				a[name] = 0.75
			}
		}
		return a
	case "score":
		a := make(Levels, len(q.Names))
		for i := range a {
			a[i] = other
			if i == 0 {
				a[i] = 0.75
			}
		}
		return a
	default:
		return Yes(0.75)
	}
}
