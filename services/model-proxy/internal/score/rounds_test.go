package score

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/prism-results/prism/pkg/prism"
)

// grouped draws a question with many options, some of which name groups.
func grouped(t *rapid.T) prism.Question {
	q := prism.Question{Key: "q", Type: prism.Choice, Text: "?", InsufficientInformation: rapid.Bool().Draw(t, "insufficient")}
	named := rapid.IntRange(0, 32).Draw(t, "groups")
	for i := range rapid.IntRange(20, 254).Draw(t, "options") {
		o := prism.Option{Key: fmt.Sprint("k", i), Label: "L"}
		if g := rapid.IntRange(0, named).Draw(t, "group"); g > 0 {
			o.Group = fmt.Sprint("g", g)
		}
		q.Options = append(q.Options, o)
	}
	return q
}

// answerTo draws an answer to a question, some of whose probabilities are 0.
func answerTo(t *rapid.T, q prism.Question) *prism.Answer {
	ps := rapid.SliceOfN(rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 1)), len(q.AnswerKeys()), len(q.AnswerKeys())).Draw(t, "ps")
	ps[rapid.IntRange(0, len(ps)-1).Draw(t, "most")] += 0.5
	prism.Normalize(ps)
	return Ordered(q, ps)
}

// only is a question with those of its options that have one of the keys, in its own order.
func only(q prism.Question, keys []string) prism.Question {
	q.Options = slices.DeleteFunc(slices.Clone(q.Options), func(o prism.Option) bool { return !slices.Contains(keys, o.Key) })
	return q
}

// bruteForce is the rule option-groups, word for word. It is nil if there is no usable answer.
func bruteForce(q prism.Question, groups []*prism.Answer, last func(asked []string) *prism.Answer) map[string]float64 {
	all, over := map[string]float64{}, 0.0
	allNone := true
	for _, g := range groups {
		in := 0.0
		for _, p := range g.Probabilities[:len(g.Probabilities)-1] { // behind them none of these
			all[p.Key] = p.Probability
			over += p.Probability
			in += p.Probability
		}
		allNone = allNone && in < 0.05
	}
	if allNone {
		return nil
	}
	for key := range all {
		all[key] /= over
	}
	var asked []string
	for len(asked) < 16 && len(asked) < len(q.Options) {
		best := ""
		for _, o := range q.Options {
			if !slices.Contains(asked, o.Key) && (best == "" || all[o.Key] > all[best]) {
				best = o.Key
			}
		}
		asked = append(asked, best)
	}
	s := 0.0
	for _, key := range asked {
		s += all[key]
	}
	for _, p := range last(asked).Probabilities {
		all[p.Key] = s * p.Probability
	}
	return all
}

// spec: option-groups, probabilities-of-an-answer, chosen-key
func TestRoundsAreWhatTheRuleSays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := grouped(t)
		size := rapid.IntRange(1, 100).Draw(t, "size")
		var groups []*prism.Answer
		seen := map[string]bool{}
		for _, options := range q.Groups(size) {
			if len(options) > size {
				t.Fatalf("%d options in a group of %d", len(options), size)
			}
			for _, o := range options {
				if seen[o.Key] || o.Group != options[0].Group {
					t.Fatalf("%v is in a group with %v, or was asked before", o, options[0])
				}
				seen[o.Key] = true
			}
			groups = append(groups, answerTo(t, Group(q, options)))
		}
		if len(seen) != len(q.Options) {
			t.Fatalf("%d of %d options are in groups", len(seen), len(q.Options))
		}
		if rapid.IntRange(0, 9).Draw(t, "none everywhere") == 0 {
			for _, g := range groups {
				ps := make([]float64, len(g.Probabilities))
				for i := range ps[:len(ps)-1] {
					ps[i] = 0.04 / float64(len(ps)-1)
				}
				ps[len(ps)-1] = 0.96
				g.SetProbabilities(ps, nil)
			}
		}
		var second *prism.Answer
		want := bruteForce(q, groups, func(asked []string) *prism.Answer {
			second = answerTo(t, only(q, asked))
			return second
		})
		shares, ok := Shares(q, groups, 0.05)
		if ok != (want != nil) {
			t.Fatalf("usable is %v", ok)
		}
		if !ok {
			return
		}
		last := LastRound(q, shares, 20)
		if got := last.AnswerKeys(); !slices.Equal(got, only(q, keysOf(second)).AnswerKeys()) {
			t.Fatalf("asked %v, want %v", got, keysOf(second))
		}
		a := Rounds(q, shares, second)
		sum, most := 0.0, 0.0
		for i, p := range a.Probabilities {
			if p.Key != q.AnswerKeys()[i] || math.Abs(p.Probability-want[p.Key]) > 1e-12 {
				t.Errorf("%s has %v, want %v", p.Key, p.Probability, want[p.Key])
			}
			sum, most = sum+p.Probability, max(most, p.Probability)
		}
		if math.Abs(sum-1) > 1e-15 || prism.Answers([]prism.Answer{*a})[0].Chosen == "" {
			t.Errorf("sums to %v", sum)
		}
		if i := slices.IndexFunc(a.Probabilities, func(p prism.KeyProbability) bool { return p.Probability == most }); a.Chosen != a.Probabilities[i].Key {
			t.Errorf("chose %s", a.Chosen)
		}
	})
}

func keysOf(a *prism.Answer) (keys []string) {
	for _, p := range a.Probabilities {
		keys = append(keys, p.Key)
	}
	return keys
}

// spec: option-groups
func TestRoundsOfAModelThatIsConsistentAreWhatItKnows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := grouped(t)
		q.InsufficientInformation = false
		knows := answerTo(t, q)
		of := func(keys []string) (ps []float64) { return knows.ProbabilitiesOf(keys) }
		var groups []*prism.Answer
		for _, options := range q.Groups(16) {
			part := Group(q, options)
			ps, left := of(part.AnswerKeys()[:len(options)]), 1.0
			for _, p := range ps {
				left -= p
			}
			groups = append(groups, Ordered(part, append(ps, max(left, 0))))
		}
		shares, ok := Shares(q, groups, 0)
		if !ok {
			t.Fatal("no usable answer")
		}
		last := LastRound(q, shares, 20)
		ps := of(last.AnswerKeys())
		prism.Normalize(ps)
		for i, p := range Rounds(q, shares, Ordered(last, ps)).Probabilities {
			if math.Abs(p.Probability-knows.Probabilities[i].Probability) > 1e-12 {
				t.Errorf("%s has %v, want %v", p.Key, p.Probability, knows.Probabilities[i].Probability)
			}
		}
	})
}

// spec: option-groups
func TestGroupsAreThoseThatAreNamedOrEvenOnes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		groups string // of each option, in order
		size   int
		want   string
	}{
		"consecutive ones, as even as possible": {"-----------------", 8, "[[0 1 2 3 4 5] [6 7 8 9 10 11] [12 13 14 15 16]]"},
		"one that fits":                         {"----", 4, "[[0 1 2 3]]"},
		"those that are named":                  {"abba-a-", 16, "[[0 3 5] [1 2] [4 6]]"},
		"a larger one is split":                 {"aabaaa", 3, "[[0 1 3] [4 5] [2]]"},
		"one each":                              {"---", 1, "[[0] [1] [2]]"},
	} {
		var q prism.Question
		for i, g := range c.groups {
			o := prism.Option{Key: fmt.Sprint(i)}
			if g != '-' {
				o.Group = string(g)
			}
			q.Options = append(q.Options, o)
		}
		var got [][]string
		for _, options := range q.Groups(c.size) {
			var keys []string
			for _, o := range options {
				keys = append(keys, o.Key)
			}
			got = append(got, keys)
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: got %v, want %s", name, got, c.want)
		}
	}
}

// spec: option-groups
func TestTheLabelOfNoneIsNoOptionsKey(t *testing.T) {
	t.Parallel()
	q := prism.Question{Key: "q", Type: prism.Choice, InsufficientInformation: true, Options: []prism.Option{
		{Key: "none_of_these", Label: "N"}, {Key: "none_of_these_", Label: "N"}, {Key: "a", Label: "A"},
	}}
	group := Group(q, q.Options[:1])
	if keys := group.AnswerKeys(); fmt.Sprint(keys) != "[none_of_these none_of_these__]" || len(q.Options) != 3 || q.Options[1].Key != "none_of_these_" {
		t.Errorf("got %v of %v", keys, q.Options)
	}
	shares, ok := Shares(q, []*prism.Answer{Ordered(group, []float64{0.5, 0.5}), Ordered(Group(q, q.Options[1:]), []float64{0, 0.25, 0.75})}, 0.05)
	if !ok || math.Abs(shares[0]-2.0/3) > 1e-15 || shares[1] != 0 || math.Abs(shares[2]-1.0/3) > 1e-15 {
		t.Errorf("got %v, %v", shares, ok)
	}
}

// spec: stated-options
func TestOptionsThatAreNotStatedShareWhatIsLeft(t *testing.T) {
	t.Parallel()
	q := choice(20)
	key := func(i int) string { return q.AnswerKeys()[i] }
	for name, c := range map[string]struct {
		stated map[string]float64
		first  float64 // 0: no usable answer
		other  float64 // of the last option
	}{
		"one of them":           {map[string]float64{key(0): 0.81}, 0.81, 0.01},
		"certain":               {map[string]float64{key(0): 1}, 1, 0},
		"rounded up":            {map[string]float64{key(0): 0.9, key(1): 0.14}, 0.9 / 1.04, 0},
		"all the same":          {map[string]float64{key(0): 0.05}, 0.05, 0.05},
		"another one is likely": {map[string]float64{key(0): 0.04}, 0, 0},
		"nothing is stated":     {map[string]float64{}, 0, 0},
		"no option":             {map[string]float64{"other": 1}, 0, 0},
		"all zero":              {map[string]float64{key(0): 0, key(1): 0}, 0, 0},
		"too much":              {map[string]float64{key(0): 0.9, key(1): 0.3}, 0, 0},
		"negative":              {map[string]float64{key(0): 0.9, key(1): -0.1}, 0, 0},
		"none":                  {map[string]float64{key(0): 0.9, key(1): math.NaN()}, 0, 0},
	} {
		a := Stated(q, c.stated)
		if a == nil || c.first == 0 {
			if (a == nil) != (c.first == 0) {
				t.Errorf("%s: got %+v", name, a)
			}
			continue
		}
		if math.Abs(a.Probabilities[0].Probability-c.first) > 1e-12 || math.Abs(a.Probabilities[19].Probability-c.other) > 1e-12 || a.Chosen != key(0) {
			t.Errorf("%s: chose %s, %+v", name, a.Chosen, a.Probabilities)
		}
	}
}
