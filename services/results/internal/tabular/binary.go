package tabular

import (
	"io"

	"github.com/prism-results/prism/pkg/prism"
)

// readBinary reads xlsx or parquet, which may be compressed.
func readBinary(format prism.FileFormat, o Options, src *io.SectionReader, to io.Writer, c *chunker) (layout Layout, err error) {
	s := &source{ctx: c.ctx, file: src, left: -1}
	packed, err := openContainer(s, format == prism.FileXLSX)
	if err != nil {
		return layout, err
	}
	if packed.kind != "" {
		inside, kept, err := packed.section()
		if err != nil {
			return layout, err
		}
		defer kept.close()
		src = inside
	}
	if format == prism.FileParquet {
		layout, err = readParquet(src, to, c)
	} else {
		layout, err = readWorkbook(o, src, to, c)
	}
	if packed.kind != "" {
		layout.note("The file was expanded from %s.", packed.kind)
	}
	return layout, err
}
