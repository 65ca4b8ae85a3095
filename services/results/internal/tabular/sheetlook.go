package tabular

import (
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// sheetColumn is a column of a sheet that is written.
type sheetColumn struct {
	Column
	letters string // A, B, …
	style   string // the attribute of its numbers, of its days and of its times of day
	long    string // that of its days with a time of day, and of its durations
}

// How numbers of a type are shown whose column has no format of its own.
var (
	lookDay    = Look{Code: "yyyy\\-mm\\-dd"}
	lookMoment = LookMoment
	lookTime   = Look{ID: 21} // h:mm:ss
	lookHours  = Look{ID: 46} // [h]:mm:ss
	// LookPercent shows a probability.
	LookPercent = Look{ID: 9}
	// LookMoment shows a Moment.
	LookMoment = Look{Code: "yyyy\\-mm\\-dd\\ hh:mm:ss"}
)

// sheetLooks are the number formats of a workbook that is written; their styles have the numbers from 1 on.
type sheetLooks []Look

// style is the attribute of cells with a format.
func (l *sheetLooks) style(look Look) string {
	if look == (Look{}) {
		return ""
	}
	at := slices.Index(*l, look)
	if at < 0 {
		at = len(*l)
		*l = append(*l, look)
	}
	return fmt.Sprintf(` s="%d"`, at+1)
}

func (l *sheetLooks) column(number int, c Column) sheetColumn {
	short, long := c.Look, c.Look
	if c.Look == (Look{}) && c.Kind == Date {
		short, long = lookDay, lookMoment
	} else if c.Look == (Look{}) && c.Kind == Clock {
		short, long = lookTime, lookHours
	}
	return sheetColumn{Column: c, letters: columnLetters(number), style: l.style(short), long: l.style(long)}
}

// attributes are those of a cell whose text has the type of the column.
func (c *sheetColumn) attributes(text string) string {
	switch {
	case c.Kind == Boolean:
		return ` t="b"`
	case c.Kind == Date && len(text) > len("2006-01-02"), c.Kind == Clock && (text[2] != ':' || text >= "24"):
		return c.long
	}
	return c.style
}

// width is about that of the longest text of the column, in characters.
func (c *sheetColumn) width() int64 {
	return min(max(int64(utf8.RuneCountInString(c.Name)), c.Longest, 6)+2, 60)
}

// xml is the part with the styles.
func (l *sheetLooks) xml() string {
	var formats, styles strings.Builder
	for i, look := range *l {
		if look.Code != "" {
			look.ID = customFormats + i
			fmt.Fprintf(&formats, `<numFmt numFmtId="%d" formatCode="`, look.ID)
			_ = xml.EscapeText(&formats, []byte(look.Code)) // a Builder has no errors
			formats.WriteString(`"/>`)
		}
		fmt.Fprintf(&styles, `<xf numFmtId="%d" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>`, look.ID)
	}
	own := ""
	if formats.Len() > 0 {
		own = "<numFmts>" + formats.String() + "</numFmts>"
	}
	const general = `<xf numFmtId="0" fontId="0" fillId="0" borderId="0"`
	return `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">` + own +
		`<fonts><font><sz val="11"/><name val="Calibri"/></font></fonts>` +
		`<fills><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
		`<borders><border><left/><right/><top/><bottom/><diagonal/></border></borders>` +
		`<cellStyleXfs>` + general + `/></cellStyleXfs><cellXfs>` + general + ` xfId="0"/>` + styles.String() +
		`</cellXfs><cellStyles><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`
}
