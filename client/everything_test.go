package client

import (
	"context"
	"reflect"
	"strings"
	"time"

	"github.com/prism-results/prism/pkg/api"
	"github.com/prism-results/prism/pkg/prism"
)

// everything calls each operation with all that it can send.
var everything = withPlain(map[string]func(context.Context, *Client) error{
	"createResult": func(ctx context.Context, c *Client) error {
		_, err := c.CreateResult(ctx, "a", NewResult{
			Fields: map[string]string{"a": "b"}, Text: "t", Version: 1, IdempotencyKey: "k", Ref: "r", Context: "c",
		})
		return err
	},
	"readResult":  func(ctx context.Context, c *Client) error { _, err := c.ReadResult(ctx, "a"); return err },
	"retryResult": func(ctx context.Context, c *Client) error { _, err := c.RetryResult(ctx, "a"); return err },
	"listResults": func(ctx context.Context, c *Client) error {
		f := ResultFilter{
			Prism: "a", Status: OK, Ref: "r", Version: 1, From: time.Unix(1, 0), To: time.Unix(2, 0), Model: "m", KeyID: "k", Run: "a", Assignee: "me",
			Fields: true, ResultSearch: fullSearch, Sort: "-q",
		}
		_, err := c.ListResults(ctx, f, PageOptions{Limit: 1, Cursor: "c"})
		return err
	},
	"exportResults": func(ctx context.Context, c *Client) error {
		_, err := c.ExportResults(ctx, "a", Export{
			Format: CSV, Status: OK, Ref: "r", Version: 1, From: time.Unix(1, 0), To: time.Unix(2, 0), Model: "m", KeyID: "k", Run: "a", Assignee: "me",
			After: "a", ResultSearch: fullSearch, TextStyle: TextStyle{BOM: true, Delimiter: ";", Safe: true}, Raw: true,
		})
		return err
	},
	"exportSelected": func(ctx context.Context, c *Client) error {
		_, err := c.ExportSelected(ctx, "a", []string{"b"}, CSV)
		return err
	},
	"countResults": func(ctx context.Context, c *Client) error {
		f := ResultFilter{
			Prism: "a", Status: OK, Ref: "r", Version: 1, From: time.Unix(1, 0), To: time.Unix(2, 0), Model: "m", KeyID: "k", Run: "a", Assignee: "me",
			ResultSearch: fullSearch,
		}
		_, err := c.CountResults(ctx, f, []string{"q"})
		return err
	},
	"createPrism": func(ctx context.Context, c *Client) error {
		_, err := c.CreatePrism(ctx, NewPrism{Slug: "a", Name: "n", Searchable: new(false), NewVersion: fullVersion})
		return err
	},
	"readPrism": func(ctx context.Context, c *Client) error { _, err := c.ReadPrism(ctx, "a"); return err },
	"listPrisms": func(ctx context.Context, c *Client) error {
		_, err := c.ListPrisms(ctx, PrismFilter{Archived: true, AdHoc: true}, PageOptions{Limit: 1, Cursor: "c"})
		return err
	},
	"createVersion": func(ctx context.Context, c *Client) error {
		_, err := c.CreateVersion(ctx, "a", fullVersion, IfUnchanged(Prism{LatestVersion: 1, ETag: `"e"`}), fromLabels)
		return err
	},
	"listVersions": func(ctx context.Context, c *Client) error {
		_, err := c.ListVersions(ctx, "a", PageOptions{Limit: 1, Cursor: "c"})
		return err
	},
	"setSearchable": func(ctx context.Context, c *Client) error { _, err := c.SetSearchable(ctx, "a", false); return err },
	"renamePrism":   func(ctx context.Context, c *Client) error { _, err := c.RenamePrism(ctx, "a", "n"); return err },
	"readVersion":   func(ctx context.Context, c *Client) error { _, err := c.ReadVersion(ctx, "a", 1); return err },
	"replaceLens": func(ctx context.Context, c *Client) error {
		_, err := c.ReplaceLens(ctx, "a", *fullVersion.Lens)
		return err
	},
	"previewLens": func(ctx context.Context, c *Client) error {
		_, err := c.PreviewLens(ctx, "a", *fullVersion.Lens, nil)
		return err
	},
	"createCalibration": func(ctx context.Context, c *Client) error {
		_, err := c.CreateCalibration(ctx, "a", 1, NewCalibration{Question: "q", Option: "o", Method: AutoCalibration})
		return err
	},
	"listCalibrations": func(ctx context.Context, c *Client) error {
		_, err := c.ListCalibrations(ctx, "a", 1, "q.o", PageOptions{Limit: 1, Cursor: "c"})
		return err
	},
	"readCalibration": func(ctx context.Context, c *Client) error { _, err := c.ReadCalibration(ctx, "a", 1, "a"); return err },
	"pinCalibrations": func(ctx context.Context, c *Client) error {
		_, err := c.PinCalibrations(ctx, "a", 1, map[string]*string{"q": nil})
		return err
	},
	"readPinnedCalibrations": func(ctx context.Context, c *Client) error {
		_, err := c.ReadPinnedCalibrations(ctx, "a", 1)
		return err
	},
	"readQuality": func(ctx context.Context, c *Client) error {
		_, err := c.ReadQuality(ctx, "a", 1, QualityFilter{Question: "q", Option: "o", Model: "m", Calibrated: true})
		return err
	},
	"readThresholds": func(ctx context.Context, c *Client) error {
		_, err := c.ReadThresholds(ctx, "a", 1, QualityFilter{Question: "q", Option: "o", Model: "m", Calibrated: true}, Costs{FalseYes: 5, FalseNo: 1})
		return err
	},
	"compareVersions": func(ctx context.Context, c *Client) error {
		_, err := c.CompareVersions(ctx, "a", 1, 2, "q.o")
		return err
	},
	"tryDefinition": func(ctx context.Context, c *Client) error {
		_, err := c.TryDefinition(ctx, NewTry{
			Definition: Definition{Fields: fullVersion.Fields, Questions: fullVersion.Questions}, Lens: fullVersion.Lens,
			Fields: map[string]string{"a": "b"}, Text: "t", Context: "c",
		})
		return err
	},
	"archivePrism":   func(ctx context.Context, c *Client) error { _, err := c.ArchivePrism(ctx, "a"); return err },
	"unarchivePrism": func(ctx context.Context, c *Client) error { _, err := c.UnarchivePrism(ctx, "a"); return err },
	"createKey": func(ctx context.Context, c *Client) error {
		_, err := c.CreateKey(ctx, NewKey{Name: "n", Role: Reader, ExpiresAt: new(time.Unix(1, 0))})
		return err
	},
	"listKeys": func(ctx context.Context, c *Client) error {
		_, err := c.ListKeys(ctx, PageOptions{Limit: 1, Cursor: "c"})
		return err
	},
	"deleteResult": func(ctx context.Context, c *Client) error { return c.DeleteResult(ctx, "a") },
	"deleteResults": func(ctx context.Context, c *Client) error {
		_, err := c.DeleteResults(ctx, "a", fullDeletion())
		return err
	},
	"retryResults": func(ctx context.Context, c *Client) error {
		_, err := c.RetryResults(ctx, fullRetry(), 1)
		return err
	},
	"readDrift": func(ctx context.Context, c *Client) error { _, err := c.ReadDrift(ctx, "a", 1); return err },
	"readDistribution": func(ctx context.Context, c *Client) error {
		day := time.Unix(0, 0).UTC()
		_, err := c.ReadDistribution(ctx, "a", DistributionFilter{Question: "q", By: DistributionByHour, Zone: "UTC", From: day, To: day.AddDate(0, 0, 1), Version: 1, ResultSearch: ResultSearch{Q: "x", Where: []string{"y"}}})
		return err
	},
	"setDrift": func(ctx context.Context, c *Client) error {
		period := DriftPeriod{From: time.Unix(3600, 0).UTC(), To: time.Unix(7200, 0).UTC()}
		_, err := c.SetDrift(ctx, "a", DriftChange{Watched: true, Version: 1, Reference: &period})
		return err
	},
	"setRetention": func(ctx context.Context, c *Client) error { _, err := c.SetRetention(ctx, "a", nil); return err },
	"listAudit": func(ctx context.Context, c *Client) error {
		f := AuditFilter{From: time.Unix(1, 0), To: time.Unix(2, 0), Actor: "operator"}
		_, err := c.ListAudit(ctx, f, PageOptions{Limit: 1, Cursor: "c"})
		return err
	},
	"putLabels": func(ctx context.Context, c *Client) error {
		_, err := c.PutLabels(ctx, "a", NewLabels{Labels: map[string]LabelValue{"q": "v"}, Sample: RandomSample, Annotator: "n"})
		return err
	},
	"readLabels": func(ctx context.Context, c *Client) error { _, err := c.ReadLabels(ctx, "a"); return err },
	"addLabels": func(ctx context.Context, c *Client) error {
		_, err := c.AddLabels(ctx, "a", ManyLabels{
			Labels: []NewLabel{{ResultID: "a", Ref: new("r"), Question: "q", Value: "v"}}, Sample: RandomSample, Annotator: "n", Version: 1,
		})
		return err
	},
	"listLabels": func(ctx context.Context, c *Client) error {
		_, err := c.ListLabels(ctx, "a", LabelFilter{Version: 1, Question: "q"}, PageOptions{Limit: 1, Cursor: "c"})
		return err
	},
	"listLabelQueue": func(ctx context.Context, c *Client) error {
		_, err := c.ListLabelQueue(ctx, "a", LabelQueue{Question: "q", ResultSearch: fullSearch, Order: RandomSample, Version: 1, Assignee: "me"}, PageOptions{Limit: 1, Cursor: "c"})
		return err
	},
	"createComment": func(ctx context.Context, c *Client) error { _, err := c.CreateComment(ctx, "a", "t"); return err },
	"listComments": func(ctx context.Context, c *Client) error {
		_, err := c.ListComments(ctx, "a", PageOptions{Limit: 1, Cursor: "c"})
		return err
	},
	"deleteComment": func(ctx context.Context, c *Client) error { return c.DeleteComment(ctx, "a", "a") },
	"assignResult":  func(ctx context.Context, c *Client) error { _, err := c.AssignResult(ctx, "a", "m"); return err },
	"assignResults": func(ctx context.Context, c *Client) error {
		_, err := c.AssignResults(ctx, "a", fullAssignment(), 1)
		return err
	},
	"listAssignees": func(ctx context.Context, c *Client) error {
		_, err := c.ListAssignees(ctx, PageOptions{Limit: 1, Cursor: "c"})
		return err
	},
	"createView": func(ctx context.Context, c *Client) error { _, err := c.CreateView(ctx, fullView); return err },
	"listViews": func(ctx context.Context, c *Client) error {
		_, err := c.ListViews(ctx, PageOptions{Limit: 1, Cursor: "c"})
		return err
	},
	"replaceView":   func(ctx context.Context, c *Client) error { _, err := c.ReplaceView(ctx, "a", fullView); return err },
	"deleteView":    func(ctx context.Context, c *Client) error { return c.DeleteView(ctx, "a") },
	"createWebhook": func(ctx context.Context, c *Client) error { _, err := c.CreateWebhook(ctx, fullWebhook); return err },
	"listWebhooks": func(ctx context.Context, c *Client) error {
		_, err := c.ListWebhooks(ctx, PageOptions{Limit: 1, Cursor: "c"})
		return err
	},
	"replaceWebhook": func(ctx context.Context, c *Client) error {
		_, err := c.ReplaceWebhook(ctx, "a", fullWebhook)
		return err
	},
	"deleteWebhook": func(ctx context.Context, c *Client) error { return c.DeleteWebhook(ctx, "a") },
	"listDeliveries": func(ctx context.Context, c *Client) error {
		_, err := c.ListDeliveries(ctx, "a", DeliveryFailed, PageOptions{Limit: 1, Cursor: "c"})
		return err
	},
	"listEvents": func(ctx context.Context, c *Client) error {
		_, err := c.ListEvents(ctx, fullEvents, 1)
		return err
	},
	"followEvents": func(ctx context.Context, c *Client) error { _, err := c.FollowEvents(ctx, fullEvents); return err },
	"addMember": func(ctx context.Context, c *Client) error {
		_, err := c.AddMember(ctx, NewMember{Name: "n", Email: "e", Role: Reader, Claim: &Claim{Name: "n", Value: "v"}})
		return err
	},
	"listMembers": func(ctx context.Context, c *Client) error {
		_, err := c.ListMembers(ctx, PageOptions{Limit: 1, Cursor: "c"})
		return err
	},
	"changeMember": func(ctx context.Context, c *Client) error {
		_, err := c.ChangeMember(ctx, "a", MemberChange{Name: "n", Role: Reader})
		return err
	},
	"removeMember": func(ctx context.Context, c *Client) error { return c.RemoveMember(ctx, "a") },
	"linkMember":   func(ctx context.Context, c *Client) error { _, err := c.LinkMember(ctx, "a"); return err },
	"checkModel":   func(ctx context.Context, c *Client) error { _, err := c.CheckModel(ctx, "a"); return err },
	"listModels":   func(ctx context.Context, c *Client) error { _, err := c.ListModels(ctx); return err },
	"revokeKey":    func(ctx context.Context, c *Client) error { _, err := c.RevokeKey(ctx, "a"); return err },
	"readRecord":   func(ctx context.Context, c *Client) error { _, err := c.ReadRecord(ctx, "a"); return err },
	"listChanges": func(ctx context.Context, c *Client) error {
		_, err := c.ListChanges(ctx, ChangeFilter{After: 1, Prism: "a", Wait: time.Second}, 2)
		return err
	},
	"readUsage": func(ctx context.Context, c *Client) error {
		_, err := c.ReadUsage(ctx, UsageFilter{
			From: time.Unix(0, 0), To: time.Unix(86_400, 0), By: ByModel, Prism: "a", Model: "m", KeyID: "k",
		})
		return err
	},
	"createFile": func(ctx context.Context, c *Client) error {
		_, err := c.CreateFile(ctx, NewFile{Name: "n", Format: FileCSV, Bytes: 1, SHA256: "s"})
		return err
	},
	"putPart":      func(ctx context.Context, c *Client) error { _, err := c.PutPart(ctx, "a", 1, []byte("b")); return err },
	"completeFile": func(ctx context.Context, c *Client) error { _, err := c.CompleteFile(ctx, "a"); return err },
	"listFiles": func(ctx context.Context, c *Client) error {
		_, err := c.ListFiles(ctx, PageOptions{Limit: 1, Cursor: "c"})
		return err
	},
	"readFile":     func(ctx context.Context, c *Client) error { _, err := c.ReadFile(ctx, "a"); return err },
	"listFileRows": func(ctx context.Context, c *Client) error { _, err := c.ListFileRows(ctx, "a", 1, 2); return err },
	"deleteFile":   func(ctx context.Context, c *Client) error { return c.DeleteFile(ctx, "a") },
	"createRun":    func(ctx context.Context, c *Client) error { _, err := c.CreateRun(ctx, "a", fullRun()); return err },
	"listRuns": func(ctx context.Context, c *Client) error {
		_, err := c.ListRuns(ctx, RunFilter{Prism: "a", Status: RunPaused}, PageOptions{Limit: 1, Cursor: "c"})
		return err
	},
	"readRun":   func(ctx context.Context, c *Client) error { _, err := c.ReadRun(ctx, "a"); return err },
	"pauseRun":  func(ctx context.Context, c *Client) error { _, err := c.PauseRun(ctx, "a"); return err },
	"resumeRun": func(ctx context.Context, c *Client) error { _, err := c.ResumeRun(ctx, "a"); return err },
	"cancelRun": func(ctx context.Context, c *Client) error { _, err := c.CancelRun(ctx, "a"); return err },
	"retryRun":  func(ctx context.Context, c *Client) error { _, err := c.RetryRun(ctx, "a"); return err },
	"readFileAgain": func(ctx context.Context, c *Client) error {
		_, err := c.ReadFileAgain(ctx, "a", FileOptions{
			Encoding: "shift_jis", HeaderRow: 2, Sheet: "Answers", Delimiter: ";", OnBadRow: RefuseBadRow,
		})
		return err
	},
	"setRunLimits": func(ctx context.Context, c *Client) error {
		_, err := c.SetRunLimits(ctx, "a", fullRun().RunLimits)
		return err
	},
	"listRunRows": func(ctx context.Context, c *Client) error {
		_, err := c.ListRunRows(ctx, "a", RunRows{
			Format: RowsTSV, Only: RowOK, After: 1, TextStyle: TextStyle{BOM: true, Delimiter: ";", Safe: true}, Raw: true,
		})
		return err
	},
	"followRun": func(ctx context.Context, c *Client) error { _, err := c.FollowRun(ctx, "a"); return err },
})

// withPlain adds the operations whose methods are generated, and so take no more than the parts of their path.
func withPlain(calls map[string]func(context.Context, *Client) error) map[string]func(context.Context, *Client) error {
	for _, op := range api.Operations() {
		name := op.Declared().Name
		if calls[name] != nil || op.Declared().Foreign { // clients of others call it
			continue
		}
		calls[name] = func(ctx context.Context, c *Client) error {
			args := []reflect.Value{reflect.ValueOf(ctx)}
			for range strings.Count(op.Declared().Path, "{") {
				args = append(args, reflect.ValueOf("a"))
			}
			out := reflect.ValueOf(c).MethodByName(strings.ToUpper(name[:1]) + name[1:]).Call(args)
			err, _ := out[len(out)-1].Interface().(error)
			return err
		}
	}
	return calls
}

var fromLabels = WithExamplesFromLabels(ExamplesFromLabels{Question: "q", N: 2, Seed: 1})

// dryRuns send an operation's dry_run too.
var dryRuns = map[string]func(context.Context, *Client) error{
	"createPrism": func(ctx context.Context, c *Client) error {
		_, err := c.CreatePrism(ctx, NewPrism{Slug: "a", Name: "n", Searchable: new(false), NewVersion: fullVersion}, WithDryRun())
		return err
	},
	"createVersion": func(ctx context.Context, c *Client) error {
		_, err := c.CreateVersion(ctx, "a", fullVersion, WithDryRun(), IfUnchanged(Prism{LatestVersion: 1, ETag: `"e"`}), fromLabels)
		return err
	},
	"replaceLens": func(ctx context.Context, c *Client) error {
		_, err := c.ReplaceLens(ctx, "a", *fullVersion.Lens, WithDryRun())
		return err
	},
	"createRun": func(ctx context.Context, c *Client) error {
		_, err := c.CreateRun(ctx, "a", fullRun(), WithDryRun())
		return err
	},
	"deleteResults": func(ctx context.Context, c *Client) error {
		_, err := c.DeleteResults(ctx, "a", fullDeletion(), WithDryRun())
		return err
	},
	"retryResults": func(ctx context.Context, c *Client) error {
		_, err := c.RetryResults(ctx, fullRetry(), 1, WithDryRun())
		return err
	},
	"assignResults": func(ctx context.Context, c *Client) error {
		_, err := c.AssignResults(ctx, "a", fullAssignment(), 1, WithDryRun())
		return err
	},
}

var fullView = NewView{
	Name: "n", Filters: ViewFilters{
		Prism: "a", Status: OK, Ref: new(string), Version: 1, From: &Time{Time: time.Unix(1, 0)}, To: &Time{Time: time.Unix(2, 0)}, Model: "m",
		Key: prism.KeyID{UUID: prism.UUID{1}}, Run: prism.RunID{UUID: prism.UUID{2}}, Assignee: "me", Q: "a", Where: fullSearch.Where, Sort: "-q",
	}, Columns: []string{"c"}, Default: true,
}

var fullWebhook = NewWebhook{
	URL: "https://a", Events: []EventType{EventResultCreated}, Prisms: []string{"a"}, Status: OK,
	Condition: &EventCondition{Column: "c", Op: CellIs, Value: "v"}, Answers: true, RunRows: true, Enabled: new(false),
}

var fullEvents = EventFilter{Events: []EventType{EventResultCreated, EventRunFinished}, Prism: "a", Answers: true, RunRows: true, After: "1.1"}

var fullSearch = ResultSearch{Q: "a", Where: []string{"q:labelled"}}

func fullDeletion() ResultDeletion {
	return ResultDeletion{
		Ref: new(string), From: new(time.Unix(0, 0)), Before: new(time.Unix(1, 0)), Status: OK, Version: 1, Model: "m",
		Key: prism.KeyID{UUID: prism.UUID{1}}, Run: prism.RunID{UUID: prism.UUID{2}}, Assignee: "me",
		IDs: []prism.ResultID{{UUID: prism.UUID{3}}}, SearchMembers: SearchMembers(fullSearch), Expect: new(1),
	}
}

func fullAssignment() ResultAssignment {
	return ResultAssignment{
		Member: new("m"), Ref: new(string), From: new(time.Unix(0, 0)), To: new(time.Unix(1, 0)), Status: OK, Version: 1, Model: "m", Key: "k", Run: "r",
		Assignee: "me", IDs: []string{"i"}, SearchMembers: SearchMembers(fullSearch),
	}
}

func fullRetry() ResultRetry {
	return ResultRetry{Prism: "a", From: new(time.Unix(1, 0)), To: new(time.Unix(2, 0)), SearchMembers: SearchMembers(fullSearch)}
}

func fullRun() NewRun {
	return NewRun{
		FileID: "f", Fields: map[string]string{"a": "b"}, Labels: map[string]string{"q": "c"}, Ref: "r", Context: "c", FromLabelsOf: 1,
		FromResults: &ResultsOfRun{
			IDs: []string{"i"}, Status: OK, Version: 1, From: &time.Time{}, To: &time.Time{}, SearchMembers: SearchMembers(fullSearch),
		},
		Version: 1, Name: "n",
		RunLimits: RunLimits{RowsPerSecond: new(1.0), Concurrency: new(1)}, PauseAtFailures: new(0.5), IdempotencyKey: "k",
	}
}

var fullVersion = NewVersion{
	Definition: Definition{
		Instructions: "i",
		Model:        "m",
		Escalate:     &Escalate{To: "n", Below: 0.5, Questions: []string{"q"}},
		Fields:       []Field{{Key: "f", Label: "F"}},
		Questions:    []Question{{Key: "q", Type: YesNo, Text: "?"}},
		Examples: []Example{{
			Fields: ExampleFields{{Key: "f", Value: "v"}}, Answers: ExampleAnswers{{Question: "q", Value: []byte("true")}},
			Result: prism.ResultID{UUID: prism.UUID{1}},
		}},
	},
	Lens: &Lens{Columns: []Column{{Name: "q", Question: "q", Show: ShowAnswer}}},
}
