// Package script is the text of a call's field: how long the model takes, how often the call fails, and which answer follows.
// The load and the model share the package, so the load knows the correct answer of each call.
package script

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"time"
)

// Script is the behaviour of the model for one call.
type Script struct {
	// Call names the call; no other has its name.
	Call string
	// Pause is how long the model takes for an answer.
	Pause time.Duration
	// Fails is how often the model has no usable answer, at once, before it has one.
	Fails int
}

const layout = "call %s takes %s fails %d"

// String is the text of a field.
func (s Script) String() string { return fmt.Sprintf(layout, s.Call, s.Pause, s.Fails) }

// Parse reads the text of a field.
func Parse(text string) (Script, error) {
	var s Script
	var pause string
	if _, err := fmt.Sscanf(text, layout, &s.Call, &pause, &s.Fails); err != nil {
		return Script{}, fmt.Errorf("script: %w", err)
	}
	var err error
	if s.Pause, err = time.ParseDuration(pause); err != nil {
		return Script{}, fmt.Errorf("script: %w", err)
	}
	return s, nil
}

// Teams are the options of the choice.
var Teams = [...]string{"billing", "shipping", "security"}

// Answer is the answer of the model to a call.
type Answer struct {
	// Team is an option; it has the probability TeamProbability, and the others share the rest.
	Team string
	// Urgent is the probability of yes. A float64 and its decimal form keep it exactly.
	Urgent float64
}

// TeamProbability is that of the option which is chosen.
const TeamProbability = 0.5

// Answer of the call. Two calls have the same one about once in a million.
func (s Script) Answer() Answer {
	sum := sha256.Sum256([]byte(s.Call))
	n := binary.BigEndian.Uint32(sum[:4])
	const steps = 1 << 20
	return Answer{
		Team:   Teams[sum[4]%uint8(len(Teams))],
		Urgent: float64(n%steps) / steps,
	}
}

// YesNo is how the Lens shows Urgent.
func (a Answer) YesNo() string {
	switch {
	case a.Urgent >= 0.6:
		return "yes"
	case a.Urgent <= 0.4:
		return "no"
	}
	return "unsure"
}
