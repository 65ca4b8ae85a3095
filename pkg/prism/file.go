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

// OnBadRow is what becomes of a file with a row that cannot be read.
type OnBadRow string

// What becomes of it.
const (
	InvalidBadRow OnBadRow = "invalid" // the row is invalid in runs
	RefuseBadRow  OnBadRow = "refuse"  // the file is unusable
)

// OnBadRows are all of them in the order in which error messages list them.
func OnBadRows() []OnBadRow { return []OnBadRow{InvalidBadRow, RefuseBadRow} }

// Values are OnBadRows as texts.
func (OnBadRow) Values() []string { return texts(OnBadRows()) }

// Encoding is the encoding of a file of text.
type Encoding string

// The encodings. The names are those of browsers.
const (
	AutoEncoding = "auto" // it is found out
	UTF8         = "utf-8"

	UTF16LE     Encoding = "utf-16le"
	UTF16BE     Encoding = "utf-16be"
	Windows1250 Encoding = "windows-1250"
	Windows1251 Encoding = "windows-1251"
	Windows1252 Encoding = "windows-1252"
	Windows1253 Encoding = "windows-1253"
	Windows1254 Encoding = "windows-1254"
	Windows1255 Encoding = "windows-1255"
	Windows1256 Encoding = "windows-1256"
	Windows1257 Encoding = "windows-1257"
	Windows1258 Encoding = "windows-1258"
	Windows874  Encoding = "windows-874"
	ISO88592    Encoding = "iso-8859-2"
	ISO88595    Encoding = "iso-8859-5"
	ISO88597    Encoding = "iso-8859-7"
	ISO885915   Encoding = "iso-8859-15"
	KOI8R       Encoding = "koi8-r"
	Macintosh   Encoding = "macintosh"
	IBM850      Encoding = "ibm850"
	IBM866      Encoding = "ibm866"
	ShiftJIS    Encoding = "shift_jis"
	EUCJP       Encoding = "euc-jp"
	GB18030     Encoding = "gb18030"
	Big5        Encoding = "big5"
	EUCKR       Encoding = "euc-kr"
)

// Encodings are all of them in the order in which error messages list them.
func Encodings() []Encoding {
	return []Encoding{
		AutoEncoding, UTF8, UTF16LE, UTF16BE, Windows1250, Windows1251, Windows1252, Windows1253, Windows1254, Windows1255, Windows1256,
		Windows1257, Windows1258, Windows874, ISO88592, ISO88595, ISO88597, ISO885915, KOI8R, Macintosh, IBM850, IBM866, ShiftJIS, EUCJP,
		GB18030, Big5, EUCKR,
	}
}

// Values are Encodings as texts.
func (Encoding) Values() []string { return texts(Encodings()) }

// CellDelimiter is what separates the cells of csv and tsv.
type CellDelimiter string

// Values are all delimiters.
func (CellDelimiter) Values() []string { return []string{",", ";", "\t", "|", ":"} }
