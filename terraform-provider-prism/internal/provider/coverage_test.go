package provider

import (
	"testing"

	"github.com/prism-results/prism/pkg/api"
)

// left are the operations that the provider leaves out, and why.
var left = map[string]string{
	// A configuration says what there is; these do something once.
	"createResult":    "asks, once",
	"createDecision":  "asks, in the format of another client",
	"createSystemOne": "asks, in the format of another client",
	"retryResult":     "asks, once more",
	"retryResults":    "asks, once more",
	"tryDefinition":   "asks, and keeps nothing",
	"checkModel":      "asks the model two questions, each time",
	"previewLens":     "shows results with a Lens that is not kept",
	"testWebhook":     "sends an event, once",
	"resendDelivery":  "sends an event, once more",
	"linkMember":      "makes a sign-in link for a person who waits for it",
	"deleteResult":    "is for good: prism_retention says how long results are kept",
	"deleteResults":   "is for good: prism_retention says how long results are kept",

	// Results, and what people make of them, are what a prism is used for, not how it is set.
	"exportResults":  "results are no settings, and a state is no place for their texts",
	"exportSelected": "results are no settings, and a state is no place for their texts",
	"listResults":    "results are no settings, and a state is no place for their texts",
	"countResults":   "results are no settings",
	"readResult":     "results are no settings, and a state is no place for their texts",
	"readRecord":     "results are no settings, and a state is no place for their texts",
	"listChanges":    "results are no settings",
	"putLabels":      "people label results",
	"addLabels":      "people label results",
	"readLabels":     "people label results",
	"listLabels":     "people label results",
	"listLabelQueue": "people label results",
	"createComment":  "people comment on results",
	"listComments":   "people comment on results",
	"deleteComment":  "people comment on results",
	"assignResult":   "people assign results",
	"assignResults":  "people assign results",
	"readAssignee":   "people assign results",
	"listAssignees":  "people assign results",
	"createView":     "people keep views of results where they look at them",
	"listViews":      "people keep views of results where they look at them",
	"replaceView":    "people keep views of results where they look at them",
	"deleteView":     "people keep views of results where they look at them",

	// Files and runs are work that begins and ends.
	"createFile": "a file is deleted by itself", "listFiles": "a file is deleted by itself", "readFile": "a file is deleted by itself",
	"deleteFile": "a file is deleted by itself", "putPart": "a file is deleted by itself", "completeFile": "a file is deleted by itself",
	"readFileAgain": "a file is deleted by itself", "listFileRows": "a file is deleted by itself",
	"createRun": "a run begins and ends", "listRuns": "a run begins and ends", "readRun": "a run begins and ends", "pauseRun": "a run begins and ends",
	"resumeRun": "a run begins and ends", "cancelRun": "a run begins and ends", "retryRun": "a run begins and ends",
	"setRunLimits": "a run begins and ends", "listRunRows": "a run begins and ends", "followRun": "a run begins and ends",

	// What is measured changes with each result and label, so a plan would never be empty.
	"readQuality":            "is measured by labels, which come later than the prism",
	"readThresholds":         "is measured by labels, which come later than the prism",
	"compareVersions":        "is measured by labels, which come later than the prism",
	"createCalibration":      "is measured by labels, which come later than the version",
	"listCalibrations":       "is measured by labels, which come later than the version",
	"readCalibration":        "is measured by labels, which come later than the version",
	"pinCalibrations":        "is chosen by who looks at what was measured",
	"readPinnedCalibrations": "is chosen by who looks at what was measured",
	"readDistribution":       "changes with each result",
	"readUsage":              "changes with each result",
	"listModelStates":        "changes with each call of a model",
	"listDeliveries":         "changes with each event",
	"listEvents":             "changes with each event",
	"followEvents":           "changes with each event",
	"listAudit":              "changes with each change, also with that of an apply",
}

// A new operation is either called by the provider, or left out with a reason.
//
// spec: terraform-operations
func TestEachOperationIsCalledOrLeftOut(t *testing.T) {
	t.Parallel()
	called := map[string]bool{}
	for _, op := range Operations() {
		called[op.Declared().Name] = true
	}
	for _, op := range api.Operations() {
		name := op.Declared().Name
		why, isLeft := left[name]
		switch {
		case called[name] && isLeft:
			t.Errorf("%s is called, and left out because it %s", name, why)
		case !called[name] && why == "":
			t.Errorf("%s is neither called by a resource or a data source, nor left out with a reason", name)
		}
		delete(left, name)
	}
	for name := range left {
		t.Errorf("%s is left out, but no operation", name)
	}
}
