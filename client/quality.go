package client

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/prism-results/prism/pkg/api"
)

// QualityFilter selects the answers that are measured; zero values select all.
type QualityFilter struct {
	Question string
	Option   string // of a Tags question
	Model    string // of ListModels, that answered
	// Calibrated measures what the pinned calibrations make of the stored probabilities.
	Calibrated bool
}

func (f QualityFilter) query() url.Values {
	q := url.Values{}
	set(q, "question", f.Question)
	set(q, "option", f.Option)
	set(q, "model", f.Model)
	if f.Calibrated {
		q.Set("calibrated", "true")
	}
	return q
}

// Quality, thresholds and comparisons.
type (
	// Quality is how good the answers of a version are.
	Quality = api.Quality
	// QuestionQuality is how good the answers to a question are. A question with fewer than 30 labels that count has no measures.
	QuestionQuality = api.QuestionQuality
	// MeasuredQuestion is of what a question was measured.
	MeasuredQuestion = api.MeasuredQuestion
	// Measures are estimates from labels. A measure that the type does not have is nil.
	Measures = api.Measures
	// MeasuresOfSeveral are estimates of answers with any number of right options.
	MeasuresOfSeveral = api.MeasuresOfSeveral
	// Retrieval is precision, recall and F1.
	Retrieval = api.Retrieval
	// QualityClass is how well one class is told from the others. Its value is a bool of a yes_no, and else a string.
	QualityClass = api.QualityClass
	// Confusion is how often each label was answered by each value.
	Confusion = api.Confusion
	// ReliabilityBin is answers of similar probability.
	ReliabilityBin = api.ReliabilityBin
	// CoveragePoint is what is kept when answers below a probability are left to people.
	CoveragePoint = api.CoveragePoint
	// Thresholds are where yes should begin and no end, by cost. YesAt and NoAt go into a Column.
	Thresholds = api.Thresholds
	// Threshold is two thresholds and what they do to the labels.
	Threshold = api.Threshold
	// ThresholdCount is how many labels are yes and no on both sides of a probability.
	ThresholdCount = api.ThresholdCount
	// Comparison is two versions on the same labelled inputs.
	Comparison = api.Comparison
	// LeftOut counts inputs that were not compared.
	LeftOut = api.LeftOut
	// ComparedVersion is the measures of one of two versions.
	ComparedVersion = api.ComparedVersion
	// Differences are measures of version b minus those of version a, with paired intervals. Below 0 is better of LogLoss, Brier,
	// RPS and MAE, above 0 of the others. A measure that the type does not have is nil.
	Differences = api.Differences
	// McNemar is McNemar's exact two-sided test of equal accuracy.
	McNemar = api.McNemar
)

// ReadQuality measures a version by labels. It is ErrConflict if no question has 30 labels that count.
func (c *Client) ReadQuality(
	ctx context.Context, prism string, version int, f QualityFilter, options ...CallOption,
) (Quality, error) {
	return fetch[Quality](ctx, c, declared(api.ReadQuality, prism, strconv.Itoa(version)).where(f.query()), options)
}

// Costs are what mistakes and unsure answers cost, in any unit, each from 0 to 1,000,000,000.
type Costs struct {
	FalseYes float64 // a yes that should be no
	FalseNo  float64 // a no that should be yes
	Unsure   float64 // an answer that is left unsure
}

// ReadThresholds chooses thresholds of a YesNo, which f.Question must name, or of the f.Option of a Tags, by cost. Fewer than 30 labels that count are
// ErrConflict.
func (c *Client) ReadThresholds(
	ctx context.Context, prism string, version int, f QualityFilter, costs Costs, options ...CallOption,
) (Thresholds, error) {
	q := f.query()
	for name, cost := range map[string]float64{"false_yes": costs.FalseYes, "false_no": costs.FalseNo, "unsure": costs.Unsure} {
		q.Set(name, strconv.FormatFloat(cost, 'f', -1, 64))
	}
	return fetch[Thresholds](ctx, c, declared(api.ReadThresholds, prism, strconv.Itoa(version)).where(q), options)
}

// CompareVersions compares version b with version a by a question that both have, or by an option of a Tags such as tags.vip. A Tags is
// compared by all options together that both versions have. Fewer than 30 labelled inputs are ErrConflict.
func (c *Client) CompareVersions(
	ctx context.Context, prism string, a, b int, question string, options ...CallOption,
) (Comparison, error) {
	q := url.Values{"a": {strconv.Itoa(a)}, "b": {strconv.Itoa(b)}}
	setTarget(q, question)
	return fetch[Comparison](ctx, c, declared(api.CompareVersions, prism).where(q), options)
}

// setTarget sets a question, or a question and an option with a point between.
func setTarget(q url.Values, target string) {
	question, option, _ := strings.Cut(target, ".")
	set(q, "question", question)
	set(q, "option", option)
}
