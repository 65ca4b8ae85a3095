package prism

// MaxFileBytes bounds a file (spec: file-limits).
const MaxFileBytes = 5 << 30

// FileFormat is the format of a file of rows.
type FileFormat string

// The formats of files.
const (
	FileCSV     FileFormat = "csv"
	FileTSV     FileFormat = "tsv"
	FileJSONL   FileFormat = "jsonl"
	FileXLSX    FileFormat = "xlsx" // the first sheet
	FileParquet FileFormat = "parquet"
)

// FileFormats are all formats in the order in which error messages list them.
func FileFormats() []FileFormat {
	return []FileFormat{FileCSV, FileTSV, FileJSONL, FileXLSX, FileParquet}
}

// Values are FileFormats as texts.
func (FileFormat) Values() []string { return texts(FileFormats()) }

// FileStatus is the state of a file (spec: file-states).
type FileStatus string

// The states of files.
const (
	FileUploading FileStatus = "uploading" // until it is completed
	FileReading   FileStatus = "reading"   // its rows are being read
	FileReady     FileStatus = "ready"     // runs can use it
	FileUnusable  FileStatus = "unusable"  // a reason is stored
)
