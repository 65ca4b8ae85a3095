package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// QualityFilter selects the answers that are measured; zero values select all.
type QualityFilter struct {
	Question string
	Model    string // of ListModels, that answered
	// Calibrated measures what the pinned calibrations make of the stored probabilities.
	Calibrated bool
}

func (f QualityFilter) query() url.Values {
	q := url.Values{}
	set(q, "question", f.Question)
	set(q, "model", f.Model)
	if f.Calibrated {
		q.Set("calibrated", "true")
	}
	return q
}

// Quality is how good the answers of a version are.
type Quality struct {
	Version   int               `json:"version"`
	Questions []QuestionQuality `json:"questions"` // in the order of the version
}

// QuestionQuality is how good the answers to a question are. A question with fewer than 30 labels that count has no measures.
type QuestionQuality struct {
	Question    string       `json:"question"`
	Type        QuestionType `json:"type"`
	Labels      int          `json:"labels"`      // that were looked at
	Counted     int          `json:"counted"`     // that count: all measures are of these
	Calibration *string      `json:"calibration"` // whose probabilities were measured; nil: the stored ones
	Measures
}

// Measures are estimates from labels. A measure that the type does not have is nil.
type Measures struct {
	Accuracy  *Figure          `json:"accuracy"` // share of answers that are right
	LogLoss   *Figure          `json:"log_loss"`
	Brier     *Figure          `json:"brier"`    // 0 to 1 of a yes_no, else 0 to 2
	MacroF1   *Figure          `json:"macro_f1"` // of Choice and YesNo, as the next two
	Classes   []QualityClass   `json:"classes"`  // with 5 labels or more
	Confusion *Confusion       `json:"confusion"`
	RPS       *Figure          `json:"rps"`       // ranked probability score, 0 to 1, of Scale
	MAE       *Figure          `json:"mae"`       // mean distance of level and label, in positions, of Scale
	Kappa     *Figure          `json:"kappa"`     // Cohen's, with quadratic weights, of Scale
	ECE       *Figure          `json:"ece"`       // expected calibration error, debiased; from 100 labels on, as the next two
	ECEPlain  *Figure          `json:"ece_plain"` // not debiased: too high with few labels
	Bins      []ReliabilityBin `json:"bins"`
	Coverage  []CoveragePoint  `json:"coverage"`
}

// QualityClass is how well one class is told from the others.
type QualityClass struct {
	Value     LabelValue `json:"value"`
	N         int        `json:"n"`         // its labels
	Precision *Figure    `json:"precision"` // nil: it was never answered
	Recall    Figure     `json:"recall"`
	F1        Figure     `json:"f1"`
}

// Confusion is how often each label was answered by each value.
type Confusion struct {
	Values []LabelValue `json:"values"`
	Counts [][]int      `json:"counts"` // a row for each label, with a number for each answer
}

// ReliabilityBin is answers of similar probability.
type ReliabilityBin struct {
	N    int     `json:"n"`
	Mean float64 `json:"mean"` // of the probabilities
	Rate float64 `json:"rate"` // how often it was so
	Low  float64 `json:"low"`  // of the 95% interval of the rate
	High float64 `json:"high"`
}

// CoveragePoint is what is kept when answers below a probability are left to people.
type CoveragePoint struct {
	At   float64 `json:"at"`   // the least probability that is kept
	Kept float64 `json:"kept"` // share of the answers
	Risk float64 `json:"risk"` // share of the kept ones that is wrong
}

// ReadQuality measures a version by labels. It is ErrConflict if no question has 30 labels that count.
func (c *Client) ReadQuality(
	ctx context.Context, prism string, version int, f QualityFilter, options ...CallOption,
) (Quality, error) {
	k := request("readQuality", http.MethodGet, ofVersion(prism, version, "quality")...).where(f.query())
	return fetch[Quality](ctx, c, k, options)
}

// Costs are what mistakes and unsure answers cost, in any unit, each from 0 to 1,000,000,000.
type Costs struct {
	FalseYes float64 // a yes that should be no
	FalseNo  float64 // a no that should be yes
	Unsure   float64 // an answer that is left unsure
}

// Thresholds are where yes should begin and no end, by cost. YesAt and NoAt go into a Column.
type Thresholds struct {
	Question    string           `json:"question"`
	Type        QuestionType     `json:"type"`
	Labels      int              `json:"labels"`      // that were looked at
	Counted     int              `json:"counted"`     // that count
	Calibration *string          `json:"calibration"` // whose probabilities were measured; nil: the stored ones
	FalseYes    float64          `json:"false_yes"`   // the costs as sent
	FalseNo     float64          `json:"false_no"`
	Unsure      float64          `json:"unsure"`
	YesAt       float64          `json:"yes_at"` // by theory, for calibrated probabilities
	NoAt        float64          `json:"no_at"`
	Theory      Threshold        `json:"theory"`    // what YesAt and NoAt do to the labels
	Empirical   Threshold        `json:"empirical"` // what costs the least on these labels, and more on new answers
	Counts      []ThresholdCount `json:"counts"`    // of each hundredth from 0 to 1
}

// Threshold is two thresholds and what they do to the labels.
type Threshold struct {
	YesAt    float64 `json:"yes_at"`
	NoAt     float64 `json:"no_at"`
	Yes      int     `json:"yes"` // how many answers are yes
	No       int     `json:"no"`
	Unsure   int     `json:"unsure"`
	FalseYes int     `json:"false_yes"` // of Yes
	FalseNo  int     `json:"false_no"`  // of No
	Total    float64 `json:"total"`     // cost of all
	Mean     float64 `json:"mean"`      // cost of one
}

// ThresholdCount is how many labels are yes and no on both sides of a probability.
type ThresholdCount struct {
	At      float64 `json:"at"`
	FromYes int     `json:"from_yes"` // at or above it
	FromNo  int     `json:"from_no"`
	ToYes   int     `json:"to_yes"` // at or below it
	ToNo    int     `json:"to_no"`
}

// ReadThresholds chooses thresholds of a YesNo, which f.Question must name, by cost. Fewer than 30 labels that count are
// ErrConflict.
func (c *Client) ReadThresholds(
	ctx context.Context, prism string, version int, f QualityFilter, costs Costs, options ...CallOption,
) (Thresholds, error) {
	q := f.query()
	for name, cost := range map[string]float64{"false_yes": costs.FalseYes, "false_no": costs.FalseNo, "unsure": costs.Unsure} {
		q.Set(name, strconv.FormatFloat(cost, 'f', -1, 64))
	}
	k := request("readThresholds", http.MethodGet, ofVersion(prism, version, "quality", "thresholds")...).where(q)
	return fetch[Thresholds](ctx, c, k, options)
}

// Comparison is two versions on the same labelled inputs.
type Comparison struct {
	Question    string          `json:"question"`
	Type        QuestionType    `json:"type"`
	Labels      int             `json:"labels"`  // labelled inputs that were looked at
	Counted     int             `json:"counted"` // inputs that were compared
	LeftOut     LeftOut         `json:"left_out"`
	A           ComparedVersion `json:"a"`
	B           ComparedVersion `json:"b"`
	Differences Differences     `json:"differences"`
	McNemar     McNemar         `json:"mcnemar"`
	// Verdict is of version b: "better", "worse", or "not distinguishable with <n> labels".
	Verdict string `json:"verdict"`
}

// LeftOut counts inputs that were not compared.
type LeftOut struct {
	OtherOption int `json:"other_option"` // a label is an option that the other version lacks
	OtherLabel  int `json:"other_label"`  // the versions have different labels
}

// ComparedVersion is the measures of one of two versions.
type ComparedVersion struct {
	Version int `json:"version"`
	Measures
}

// Differences are measures of version b minus those of version a, with paired intervals. Below 0 is better of LogLoss, Brier, RPS
// and MAE, above 0 of the others. A measure that the type does not have is nil.
type Differences struct {
	Accuracy Figure  `json:"accuracy"`
	LogLoss  Figure  `json:"log_loss"`
	Brier    Figure  `json:"brier"`
	MacroF1  *Figure `json:"macro_f1"`
	RPS      *Figure `json:"rps"`
	MAE      *Figure `json:"mae"`
	Kappa    *Figure `json:"kappa"`
}

// McNemar is McNemar's exact two-sided test of equal accuracy.
type McNemar struct {
	OnlyA int     `json:"only_a"` // answers that only version a had right
	OnlyB int     `json:"only_b"`
	P     float64 `json:"p"`
}

// CompareVersions compares version b with version a by a question that both have. Fewer than 30 labelled inputs are ErrConflict.
func (c *Client) CompareVersions(
	ctx context.Context, prism string, a, b int, question string, options ...CallOption,
) (Comparison, error) {
	q := url.Values{"a": {strconv.Itoa(a)}, "b": {strconv.Itoa(b)}, "question": {question}}
	return fetch[Comparison](ctx, c, request("compareVersions", http.MethodGet, "prisms", prism, "compare").where(q), options)
}
