package api

import (
	"net/http"

	"github.com/prism-results/prism/pkg/apierr"
	"github.com/prism-results/prism/pkg/calibration"
	"github.com/prism-results/prism/pkg/prism"
)

// ReadQuality measures the answers of a version by labels (spec: quality).
var ReadQuality = Op[ReadQualityRequest, Quality]{measuring("readQuality", ofVersion+"/quality")}

// measuring is an operation that reads thousands of answers and resamples them.
func measuring(name, path string) Declaration {
	return Declaration{
		Name: name, Method: http.MethodGet, Path: path, Tag: "Quality", Role: prism.Reader, Class: Measuring, Wait: MeasureWait,
		Errors: []*apierr.Error{apierr.PrismNotFound(), apierr.VersionNotFound(), apierr.TooFewLabels(12, 30)},
	}
}

// ReadQualityRequest is the request of ReadQuality.
type ReadQualityRequest struct {
	VersionRequest
	// Only the question with this key.
	Question string `query:"question" max:"200"`
	// Only this option of it, of a tags question.
	Option string `query:"option" max:"200"`
	MeasuredAnswers
}

// MeasuredAnswers selects the answers that are measured.
type MeasuredAnswers struct {
	// Only results that this configured model answered.
	Model string `query:"model" max:"200"`
	// Measure what the pinned calibrations make of the stored probabilities.
	Calibrated bool `query:"calibrated"`
}

// Quality is the measures of a version.
type Quality struct {
	// The version.
	Version int `json:"version" min:"1"`
	// In the order of the version. A tags question is followed by its options, each with the measures of a yes_no.
	Questions []QuestionQuality `json:"questions"`
}

// QuestionQuality is the measures of a question. Those that its type does not have, or that need more labels, are null.
type QuestionQuality struct {
	MeasuredQuestion
	Measures
	// Of all options of a tags question together. Absent of other types, and of an option.
	Several *MeasuresOfSeveral `json:"tags,omitzero" null:"true"`
}

// MeasuredQuestion is of what a question was measured.
type MeasuredQuestion struct {
	// The question.
	Question string `json:"question" schema:"Key"`
	// The option of it that was measured; absent if it was measured as a whole.
	Option string `json:"option,omitzero" schema:"Key"`
	// The type of the question.
	Type QuestionType `json:"type"`
	// Labels that were looked at.
	Labels int `json:"labels" min:"0"`
	// Labels that count.
	Counted int `json:"counted" min:"0"`
	// Labels that are left out, as their inputs are examples of the version.
	Examples int `json:"examples" min:"0"`
	// The calibration whose probabilities were measured; null for the stored ones.
	Calibration *string `json:"calibration" form:"uuid"`
}

// Measures are estimates from labels.
type Measures struct {
	// The share of answers that are right, with Wilson's interval.
	Accuracy *Figure `json:"accuracy"`
	// The mean of −ln p of the label.
	LogLoss *Figure `json:"log_loss"`
	// The mean of (p − y)² of a yes_no, 0 to 1, or of Σ(pₖ − yₖ)², 0 to 2.
	Brier *Figure `json:"brier"`
	// The mean of F1 over classes. Of choice and yes_no.
	MacroF1 *Figure `json:"macro_f1"`
	// Each class with 5 labels or more. Of choice and yes_no.
	Classes Nullable[QualityClass] `json:"classes" null:"true"`
	// Answers by label. Of choice and yes_no.
	Confusion *Confusion `json:"confusion"`
	// The ranked probability score, 0 to 1. Of scale.
	RPS *Figure `json:"rps"`
	// The mean distance of level and label, in positions. Of scale.
	MAE *Figure `json:"mae"`
	// Cohen's kappa with quadratic weights. Of scale.
	Kappa *Figure `json:"kappa"`
	// The expected calibration error, debiased (Kumar 2019). From 100 labels on.
	ECE *Figure `json:"ece"`
	// The expected calibration error, not debiased. From 100 labels on.
	ECEPlain *Figure `json:"ece_plain"`
	// Reliability in bins of equal size. From 100 labels on.
	Bins Nullable[ReliabilityBin] `json:"bins" null:"true"`
	// What remains if the least certain answers are left to people.
	Coverage Nullable[CoveragePoint] `json:"coverage" null:"true"`
}

// QualityClass is how well one class is told from the others.
type QualityClass struct {
	// The key of an option, or whether the answer is yes.
	Value any `json:"value"`
	// Labels of the class.
	N int `json:"n" min:"0"`
	// Of the answers with this value, the share that is right; null if there are none.
	Precision *Figure `json:"precision"`
	// Of the labels with this value, the share that is answered so.
	Recall Figure `json:"recall"`
	// The harmonic mean of both.
	F1 Figure `json:"f1"`
}

// Confusion is how often each label was answered by each value.
type Confusion struct {
	// The values, in order.
	Values []any `json:"values"`
	// A row for each label, with a number for each answer.
	Counts [][]int `json:"counts" min:"0"`
}

// ReliabilityBin is answers of similar probability.
type ReliabilityBin struct {
	// Labels.
	N int `json:"n" min:"0"`
	// The mean probability.
	Mean float64 `json:"mean" min:"0" max:"1"`
	// How often it was so.
	Rate float64 `json:"rate" min:"0" max:"1"`
	// The lower end of the 95% interval of the rate.
	Low float64 `json:"low" min:"0" max:"1"`
	// The upper end.
	High float64 `json:"high" min:"0" max:"1"`
}

// The measures that are the same in a response as where they are computed.
type (
	// CoveragePoint is what is kept when answers below a probability are left to people.
	CoveragePoint = calibration.CoveragePoint
	// MeasuresOfSeveral are estimates of answers with any number of right options, or differences between those of two versions.
	MeasuresOfSeveral = calibration.MeasuresOfSeveral
	// Retrieval is how much of what is answered is right, and how much of what is right is answered. A figure is null where neither labels
	// nor answers have an option.
	Retrieval = calibration.Retrieval
	// Threshold is two thresholds and what they do to the labels.
	Threshold = calibration.Threshold
	// Differences are differences of measures, with paired intervals. Below 0 is better of losses, above 0 of the others.
	Differences = calibration.Differences
	// McNemar is McNemar's exact test of equal accuracy, two-sided. An answer with several right options is right if it has just those.
	McNemar = calibration.McNemar
)

// ReadThresholds chooses where yes begins and no ends by what mistakes cost (spec: thresholds).
var ReadThresholds = Op[ReadThresholdsRequest, Thresholds]{measuring("readThresholds", ofVersion+"/quality/thresholds")}

// ReadThresholdsRequest is the request of ReadThresholds.
type ReadThresholdsRequest struct {
	VersionRequest
	// The key of a yes_no question, or of a tags question.
	Question string `query:"question" max:"200" required:"true" example:"refund"`
	// The option, of a tags question.
	Option string `query:"option" max:"200"`
	MeasuredAnswers
	// What a yes costs that should be no, in any unit.
	FalseYes float64 `query:"false_yes" min:"0" max:"1000000000" required:"true" example:"5"`
	// What a no costs that should be yes.
	FalseNo float64 `query:"false_no" min:"0" max:"1000000000" required:"true" example:"1"`
	// What an answer costs that is left unsure.
	Unsure float64 `query:"unsure" min:"0" max:"1000000000" required:"true" example:"0.5"`
}

// Thresholds are thresholds of a yes_no, by cost.
type Thresholds struct {
	MeasuredQuestion
	// As sent.
	FalseYes float64 `json:"false_yes" min:"0"`
	// As sent.
	FalseNo float64 `json:"false_no" min:"0"`
	// As sent.
	Unsure float64 `json:"unsure" min:"0"`
	// By theory: yes begins here.
	YesAt float64 `json:"yes_at" min:"0" max:"1"`
	// By theory: no ends here.
	NoAt float64 `json:"no_at" min:"0" max:"1"`
	// What those do to the labels.
	Theory Threshold `json:"theory"`
	// The thresholds that cost the least on these labels. They look better than they will be on new answers.
	Empirical Threshold `json:"empirical"`
	// Labels on both sides of each hundredth, from 0 to 1.
	Counts []ThresholdCount `json:"counts"`
}

// ThresholdCount is labels on both sides of a probability.
type ThresholdCount struct {
	// The probability.
	At float64 `json:"at" min:"0" max:"1"`
	// Labels yes at or above it.
	FromYes int `json:"from_yes" min:"0"`
	// Labels no at or above it.
	FromNo int `json:"from_no" min:"0"`
	// Labels yes at or below it.
	ToYes int `json:"to_yes" min:"0"`
	// Labels no at or below it.
	ToNo int `json:"to_no" min:"0"`
}

// CompareVersions compares two versions on the inputs that both answered (spec: compare).
var CompareVersions = Op[CompareVersionsRequest, Comparison]{measuring("compareVersions", "/v1/prisms/{prism}/compare")}

// CompareVersionsRequest is the request of CompareVersions.
type CompareVersionsRequest struct {
	PrismRequest
	// The number of a version.
	A int32 `query:"a" min:"1" max:"2147483647" required:"true" example:"1"`
	// The number of the version to compare with it.
	B int32 `query:"b" min:"1" max:"2147483647" required:"true" example:"2"`
	// The key of a question that both versions have.
	Question string `query:"question" max:"200" required:"true" example:"refund"`
	// Only this option of it, of a tags question, which is otherwise compared as a whole.
	Option string `query:"option" max:"200"`
}

// Comparison is two versions on the same labelled inputs.
type Comparison struct {
	// The question.
	Question string `json:"question" schema:"Key"`
	// The option of it that was compared; absent if it was compared as a whole.
	Option string `json:"option,omitzero" schema:"Key"`
	// The type of the question.
	Type QuestionType `json:"type"`
	// Labelled inputs that were looked at.
	Labels int `json:"labels" min:"0"`
	// Inputs that were compared.
	Counted int `json:"counted" min:"0"`
	// Inputs that were not compared.
	LeftOut LeftOut `json:"left_out"`
	// Version a.
	A ComparedVersion `json:"a"`
	// Version b.
	B ComparedVersion `json:"b"`
	// b minus a.
	Differences Differences `json:"differences"`
	// McNemar's exact test of equal accuracy.
	McNemar McNemar `json:"mcnemar"`
	// `better`, `worse`, or `not distinguishable with <n> labels`: version b, compared with a.
	Verdict string `json:"verdict"`
}

// LeftOut are inputs that were not compared.
type LeftOut struct {
	// A label is an option that the other version lacks. Of a tags question options of only one version are not compared, and no label is left out.
	OtherOption int `json:"other_option" min:"0"`
	// The results of the versions have different labels.
	OtherLabel int `json:"other_label" min:"0"`
	// The input is an example of one of the versions.
	Examples int `json:"examples" min:"0"`
}

// ComparedVersion is the measures of one of two versions.
type ComparedVersion struct {
	// The version.
	Version int `json:"version" min:"1"`
	Measures
	// Of all options of a tags question together. Absent of other types, and of an option.
	Several *MeasuresOfSeveral `json:"tags,omitzero" null:"true"`
}
