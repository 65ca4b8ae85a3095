package prism

import "slices"

// RunStatus is the state of a run (spec: run-states).
type RunStatus string

// The states of runs.
const (
	RunQueued     RunStatus = "queued"
	RunRunning    RunStatus = "running"
	RunPausing    RunStatus = "pausing" // until the calls under way end, at most 16 s
	RunPaused     RunStatus = "paused"
	RunCancelling RunStatus = "cancelling" // until the calls under way end, at most 16 s
	RunCancelled  RunStatus = "cancelled"
	RunFinished   RunStatus = "finished"
)

// Values are all states in the order in which error messages list them.
func (RunStatus) Values() []string {
	return texts([]RunStatus{RunQueued, RunRunning, RunPausing, RunPaused, RunCancelling, RunCancelled, RunFinished})
}

// Settled tells whether a run changes no more unless somebody resumes or retries it.
func (s RunStatus) Settled() bool { return s == RunFinished || s == RunCancelled || s == RunPaused }

// RowsFormat is a format of the rows of a run.
type RowsFormat string

// The formats of rows.
const (
	RowsCSV     RowsFormat = "csv"
	RowsTSV     RowsFormat = "tsv"
	RowsJSONL   RowsFormat = "jsonl"
	RowsXLSX    RowsFormat = "xlsx"
	RowsParquet RowsFormat = "parquet"
)

// Values are all formats in the order in which error messages list them.
func (RowsFormat) Values() []string {
	return texts([]RowsFormat{RowsCSV, RowsTSV, RowsJSONL, RowsXLSX, RowsParquet})
}

// RowsFormatOf is the format in which the rows of a file come back unless another one is asked for: that of the file, but not Parquet,
// which cannot be continued (spec: run-rows-formats).
func RowsFormatOf(f FileFormat) RowsFormat {
	if f != FileParquet && slices.Contains(RowsFormat("").Values(), string(f)) {
		return RowsFormat(f)
	}
	return RowsCSV
}

// RowStatus is the state of a row of a run.
type RowStatus string

// The states. Every row of a run has exactly one.
const (
	RowOK        RowStatus = "ok"
	RowFailed    RowStatus = "failed"  // the model gave no usable answer
	RowInvalid   RowStatus = "invalid" // a call would refuse it
	RowCancelled RowStatus = "cancelled"
	RowPending   RowStatus = "pending"
)
