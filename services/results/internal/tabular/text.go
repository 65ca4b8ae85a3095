package tabular

import (
	"bytes"
	"errors"
	"io"

	"github.com/prism-results/prism/pkg/prism"
)

// textFile is a file of csv, tsv or jsonl. Its text is the file itself, or what it expands and decodes to.
type textFile struct {
	container
	options  Options
	encoding string // that it is read in
	sure     bool
	settled  bool // the encoding is not to be guessed if the text is not UTF-8
	breaks   bool // lines end in CR
	changed  bool // the text is not the file itself
	copied   io.Writer
	written  int64 // to copied
}

// readText reads csv, tsv or jsonl. If the text proves to be not UTF-8, it begins anew with the encoding that it seems to have.
func readText(
	format prism.FileFormat, options Options, src *io.SectionReader, copied io.Writer, begin func() *chunker,
) (layout Layout, c *chunker, err error) {
	c = begin()
	t := &textFile{options: options, copied: copied}
	s := &source{ctx: c.ctx, file: src, left: -1}
	if t.container, err = openContainer(s, false); err == nil {
		err = t.begin(format != prism.FileJSONL)
	}
	for again := true; err == nil && again; {
		if layout, err = t.read(format, c); errors.Is(err, errOtherEncoding) {
			c = begin()
			err = t.guess()
			continue
		}
		again = false
	}
	layout.Encoding, layout.EncodingSure = t.encoding, t.sure
	layout.Copied = t.changed
	t.describe(&layout)
	return layout, c, err
}

func (t *textFile) read(format prism.FileFormat, c *chunker) (Layout, error) {
	switch format {
	case prism.FileTSV:
		return t.readSeparated('\t', c)
	case prism.FileJSONL:
		return t.readLines(c)
	default:
		return t.readSeparated(',', c)
	}
}

// begin finds the encoding by the option or by the first bytes, and how lines end.
func (t *textFile) begin(lines bool) error {
	r, err := t.container.open()
	if err != nil {
		return err
	}
	start := make([]byte, 64<<10)
	n, err := io.ReadFull(r, start)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	start = start[:n]
	t.encoding, t.sure = prism.UTF8, true
	wide, err := wideEncoding(start[:min(n, 4<<10)])
	switch {
	case t.options.Encoding != "" && t.options.Encoding != prism.AutoEncoding:
		t.encoding, t.settled = t.options.Encoding, true
	case err != nil:
		return err
	case wide != "":
		t.encoding, t.settled = string(wide), true
	default:
		t.settled = bytes.HasPrefix(start, []byte("\ufeff"))
	}
	t.changed = t.kind != "" || t.encoding != prism.UTF8
	if lines {
		text := make([]byte, 64<<10)
		n, _ := io.ReadFull(decoded(prism.Encoding(t.encoding), bytes.NewReader(start)), text) // a cut character says nothing
		t.breaks = endsInCR(text[:n])
		t.changed = t.changed || t.breaks
	}
	return nil
}

// endsInCR reports whether lines end in CR alone.
func endsInCR(start []byte) bool {
	quoted, sawCR := false, false
	for _, b := range start {
		switch {
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '\n':
			return false
		case b == '\r':
			sawCR = true
		}
	}
	return sawCR
}

// guess finds the encoding of a text that is not UTF-8.
func (t *textFile) guess() error {
	r, err := t.container.open()
	if err != nil {
		return err
	}
	sample, err := sampleText(r)
	if err != nil {
		return err
	}
	e, sure := guessEncoding(sample)
	t.encoding, t.sure, t.settled = string(e), sure, true
	t.changed = t.changed || e != prism.UTF8
	return nil
}

// open begins to read the text.
func (t *textFile) open() (*window, error) {
	r, err := t.container.open()
	if err != nil {
		return nil, err
	}
	r = decoded(prism.Encoding(t.encoding), r)
	if t.breaks {
		r = lineBreaks{r}
	}
	return newWindow(r)
}

// lineBreaks changes CR to LF.
type lineBreaks struct{ from io.Reader }

// Read implements io.Reader.
func (l lineBreaks) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	for i, b := range p[:n] {
		if b == '\r' {
			p[i] = '\n'
		}
	}
	return n, err
}

// describe says what was done to the text.
func (t *textFile) describe(l *Layout) {
	if t.kind != "" {
		l.note("The file was expanded from %s.", t.kind)
	}
	switch {
	case t.encoding == prism.UTF8 || t.encoding == "":
	case t.sure:
		l.note("The file was read as %s.", t.encoding)
	default:
		l.note("The file is not UTF-8. It was read as %s, which is a guess: look at the texts.", t.encoding)
	}
	if t.breaks {
		l.note("Lines end in CR, which was read as a line break.")
	}
}
