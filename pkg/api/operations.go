package api

import "regexp"

// Operations are all operations that are declared, in the order of the OpenAPI document.
func Operations() []Operation {
	return []Operation{
		CreateResult, CreateDecision, CreateSystemOne, ExportResults, ExportSelected, ListResults, CountResults, ReadResult, ReadRecord, RetryResult, DeleteResult, DeleteResults, RetryResults, ListChanges,
		CreatePrism, ListPrisms, ReadPrism, RenamePrism, CreateVersion, ListVersions, ReadVersion, ReplaceLens, PreviewLens, TryDefinition,
		SetRetention, SetSearchable, ArchivePrism, UnarchivePrism, ListModels, ListModelStates, CheckModel,
		ReadQuality, ReadThresholds, CompareVersions,
		CreateCalibration, ListCalibrations, ReadCalibration, PinCalibrations, ReadPinnedCalibrations,
		ReadDrift, SetDrift, ReadDistribution,
		CreateFile, ListFiles, ReadFile, DeleteFile, PutPart, CompleteFile, ReadFileAgain, ListFileRows,
		CreateRun, ListRuns, ReadRun, PauseRun, ResumeRun, CancelRun, RetryRun, SetRunLimits, ListRunRows, FollowRun,
		PutLabels, ReadLabels, AddLabels, ListLabels, ListLabelQueue,
		CreateKey, ListKeys, RevokeKey,
		AddMember, ListMembers, ChangeMember, RemoveMember, LinkMember,
		CreateComment, ListComments, DeleteComment, AssignResult, AssignResults, ReadAssignee, ListAssignees,
		CreateView, ListViews, ReplaceView, DeleteView,
		CreateWebhook, ListWebhooks, ReadWebhook, ReplaceWebhook, DeleteWebhook, TestWebhook, RotateWebhook,
		ListDeliveries, ResendDelivery, ListEvents, FollowEvents,
		ListAudit, ReadUsage, ReadAccount,
	}
}

var byName = func() map[string]Operation {
	all := make(map[string]Operation)
	for _, op := range Operations() {
		all[op.Declared().Name] = op
	}
	return all
}()

// Find finds an operation by its name.
func Find(name string) (Operation, bool) {
	op, ok := byName[name]
	return op, ok
}

var slug = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$`)

// Forms are the patterns of strings by the names that the tag form has (spec: definition-keys, slug-form).
var Forms = map[string]*regexp.Regexp{
	"api-key":  regexp.MustCompile(`^prism_[0-9A-Za-z]{38}$`),
	"actor":    regexp.MustCompile(`^(operator|retention|webhooks|[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12})$`),
	"assignee": regexp.MustCompile(`^(me|none|[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12})$`),
	"email":    regexp.MustCompile(`^[^\s@]{1,64}@[^\s@]{1,189}$`), // nothing checks that the mailbox exists
	"key":      regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`),
	"column":   regexp.MustCompile(`^[A-Za-z0-9_ .-]{1,64}$`),
	"slug":     slug,
	"prism":    slug, // and never a UUID, so that the {prism} of a path has one meaning
}
