package tabular

// NewSheetWriter writes xlsx with smaller sheets than Excel's.
var NewSheetWriter = newSheetWriter

// Strings are the shared strings of a workbook.
type Strings struct{ sharedStrings }

func NewStrings() *Strings { return &Strings{} }

func (s *Strings) Add(text string) error           { return s.add([]byte(text)) }
func (s *Strings) At(number int64) (string, error) { return s.at(number) }
func (s *Strings) InMemory() bool                  { return s.texts.file == nil }
