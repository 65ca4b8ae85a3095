package tabular

import (
	"fmt"
	"io"

	"github.com/prism-results/prism/pkg/prism"
)

// MaxGrowth is how many bytes a file of so many bytes may become: in the copy of its rows, and in the shared texts of a workbook
// (spec: file-growth).
func MaxGrowth(bytes int64) int64 { return min(100*bytes+64<<20, prism.MaxFileBytes) }

// grownRows names the rows in the error of growth.
const grownRows = "The rows"

// growth bounds what a file becomes.
type growth struct {
	part        string // of the file: its rows or its shared texts
	file, grown int64
}

// add counts bytes: *UnusableError if they are too many.
func (g *growth) add(bytes int64) error {
	most := MaxGrowth(g.file)
	if g.grown += bytes; g.grown > most {
		return &UnusableError{fmt.Sprintf("%s have more than %d bytes, the most for a file of %d bytes.", g.part, most, g.file)}
	}
	return nil
}

// boundedCopy is the copy of a file's rows.
type boundedCopy struct {
	growth
	to io.Writer
}

// Write implements io.Writer.
func (b *boundedCopy) Write(p []byte) (int, error) {
	if err := b.add(int64(len(p))); err != nil {
		return 0, err
	}
	return b.to.Write(p)
}
