package distribution

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/answerjson"
	"github.com/prism-results/prism/pkg/prism"
)

const (
	// Bins is the number of bins of the probability of yes: one for each hundredth.
	Bins = 101
	// Unit is how many of Counts.Probability are the probability 1.
	Unit = 1_000_000

	quarter          = 15 * time.Minute
	quartersOfAnHour = 4
)

// Counts are sums over answers to a question.
type Counts struct {
	// Values are answers by what they say. An answer that says any number of keys is counted under several, and each of them under
	// severalKeys with the key behind: no value of another answer begins so.
	Values      map[string]int64
	Bins        []int64 // by the probability of yes; nil without a yes_no
	Probability int64   // the sum of the probabilities of yes, and of what was answered
	// Labelled are the answers with a label, and Right those whose label is the answer.
	Labelled, Right int64
}

// several are the answers that say any number of keys, and severalKeys begins what each of them says. No key has a point.
const (
	several     = "."
	severalKeys = "."
)

// Answers is how many there are.
func (c *Counts) Answers() (n int64) {
	for value, count := range c.Values {
		if value == several || !strings.HasPrefix(value, severalKeys) {
			n += count
		}
	}
	return n
}

// Add adds other counts.
func (c *Counts) Add(more *Counts) {
	if c.Values == nil {
		c.Values = make(map[string]int64, len(more.Values))
	}
	for value, n := range more.Values {
		c.Values[value] += n
	}
	if c.Bins == nil && more.Bins != nil {
		c.Bins = make([]int64, Bins)
	}
	for bin, n := range more.Bins {
		c.Bins[bin] += n
	}
	c.Probability += more.Probability
	c.Labelled += more.Labelled
	c.Right += more.Right
}

func (c *Counts) count(a *prism.Answer) {
	if c.Values == nil {
		c.Values = map[string]int64{}
	}
	if a.Type.Classes() == prism.Multiple {
		c.Values[several]++
		for _, key := range a.Replies() {
			c.Values[severalKeys+key]++
		}
	} else {
		c.Values[a.Value()]++
	}
	p := a.Certainty()
	if a.Type.Classes() == prism.Binary {
		p = a.Probability
		if c.Bins == nil {
			c.Bins = make([]int64, Bins)
		}
		c.Bins[int(math.Round(p*(Bins-1)))]++
	}
	c.Probability += int64(math.Round(p * Unit))
}

// hour is the counts of the quarters of an hour.
type hour [quartersOfAnHour]Counts

var errCounts = errors.New("distribution: not stored counts")

// encode writes unsigned varints. Of each quarter: the number of values, of each its length, itself and its count; the number of bins with a
// count, of each how far it is behind the one before, and its count; the sum of probabilities, labelled, right.
func (h *hour) encode() (b []byte) {
	put := func(n int64) { b = binary.AppendUvarint(b, uint64(n)) } //nolint:gosec // sums of answers that were given are not negative
	for i := range h {
		c := &h[i]
		values := make([]string, 0, len(c.Values))
		for value := range c.Values {
			values = append(values, value)
		}
		slices.Sort(values)
		put(int64(len(values)))
		for _, value := range values {
			put(int64(len(value)))
			b = append(b, value...)
			put(c.Values[value])
		}
		some := 0
		for _, n := range c.Bins {
			if n != 0 {
				some++
			}
		}
		put(int64(some))
		before := 0
		for bin, n := range c.Bins {
			if n != 0 {
				put(int64(bin - before))
				put(n)
				before = bin
			}
		}
		put(c.Probability)
		put(c.Labelled)
		put(c.Right)
	}
	return b
}

// decode reads what encode wrote.
func (h *hour) decode(b []byte) error {
	failed := false
	next := func(most int64) int64 {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(most) { //nolint:gosec // a constant, or a length
			failed = true
			return 0
		}
		b = b[size:]
		return int64(n) //nolint:gosec // most bounds it
	}
	for i := range h {
		c := &h[i]
		values := next(int64(len(b)))
		c.Values = make(map[string]int64, values)
		for range values {
			length := next(int64(len(b)))
			if length > int64(len(b)) { // without the bytes of the length itself
				return errCounts
			}
			value := string(b[:length])
			b = b[length:]
			c.Values[value] = next(math.MaxInt64)
		}
		bin := int64(0)
		for range next(Bins) {
			bin += next(Bins)
			n := next(math.MaxInt64)
			if failed || bin >= Bins {
				return errCounts
			}
			if c.Bins == nil {
				c.Bins = make([]int64, Bins)
			}
			c.Bins[bin] = n
		}
		c.Probability, c.Labelled, c.Right = next(math.MaxInt64), next(math.MaxInt64), next(math.MaxInt64)
		if failed {
			return errCounts
		}
	}
	if len(b) > 0 {
		return errCounts
	}
	return nil
}

// slot names the sums of an hour.
type slot struct {
	prism    prism.UUID
	question string
	version  int32
	at       int64 // when the hour begins, in seconds
}

// sums are what is added to the sums of hours. They can be negative.
type sums struct {
	hours  map[slot]*hour
	parser answerjson.Parser
}

func newSums() *sums { return &sums{hours: map[slot]*hour{}} }

// quarter is where an answer to a question is counted.
func (s *sums) quarter(r *counted, question string) *Counts {
	of := slot{r.prism, question, r.version, r.at.Truncate(time.Hour).Unix()}
	h := s.hours[of]
	if h == nil {
		h = &hour{}
		s.hours[of] = h
	}
	return &h[r.at.Sub(r.at.Truncate(time.Hour))/quarter]
}

// counted is a result that is counted.
type counted struct {
	id, prism prism.UUID
	version   int32
	at        time.Time
	answers   []byte
	// fresh: its answers are not counted yet. example: its input is an example of its version, so its labels are not counted.
	fresh, example bool
	// labels are those that it has, by question, and countedRight whether those that are counted are right.
	labels       map[string]string
	countedRight map[string]bool
}

// keptLabel is a label that is counted, or with removed one that is not any more.
type keptLabel struct {
	result         prism.UUID
	question       string
	right, removed bool
}

// add adds the answers of a result, if it is fresh, and what its labels are since they were counted. It returns what changes in the
// labels that are counted. Answers of a release that stored them otherwise are not counted.
func (s *sums) add(r *counted) (changed []keptLabel) {
	answers, err := s.parser.Parse(r.answers)
	if err != nil {
		return nil
	}
	for i := range answers {
		a := &answers[i]
		if r.fresh {
			s.quarter(r, a.Question).count(a)
		}
		label, labelled := r.labels[a.Question]
		labelled = labelled && !r.example
		right, wasLabelled := r.countedRight[a.Question]
		now := labelled && label == a.Value()
		if labelled == wasLabelled && now == right {
			continue
		}
		c := s.quarter(r, a.Question)
		c.Labelled += number(labelled) - number(wasLabelled)
		c.Right += number(now) - number(right)
		changed = append(changed, keptLabel{r.id, a.Question, now, !labelled})
	}
	return changed
}

func number(is bool) int64 {
	if is {
		return 1
	}
	return 0
}
