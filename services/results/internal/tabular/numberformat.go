package tabular

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// numberFormat is the part of an Excel number format that changes the meaning of a number.
type numberFormat struct {
	date, clock bool // it shows a date, a time of day
	elapsed     bool // it shows a duration
	digits      int  // the number is padded with zeros to this many digits; 0: it is not
	look        Look
}

// epoch is the date system of a workbook: the day from which it counts days.
type epoch int

const (
	epoch1900 epoch = iota
	epoch1904
)

// builtIn is the format with a built-in id, which files do not describe (ECMA-376 part 1, 18.8.30).
func builtIn(id int) numberFormat {
	switch {
	case id >= 14 && id <= 17, id >= 27 && id <= 31, id == 36, id >= 50 && id <= 54, id == 57, id == 58:
		return numberFormat{date: true}
	case id >= 18 && id <= 21, id >= 32 && id <= 35, id == 45, id == 47, id == 55, id == 56:
		return numberFormat{clock: true}
	case id == 22:
		return numberFormat{date: true, clock: true}
	case id == 46:
		return numberFormat{elapsed: true}
	}
	return numberFormat{}
}

// parseFormat reads the code of a format, such as yyyy\-mm\-dd or [h]:mm:ss;@. Only its first section is used, that of positive
// numbers.
func parseFormat(code string) numberFormat {
	var f numberFormat
	if n := len(code); n > 1 && n <= 15 && strings.Trim(code, "0") == "" {
		return numberFormat{digits: n}
	}
	code = strings.ToLower(code)
	months := false
	for i := 0; i < len(code) && code[i] != ';'; i++ {
		switch code[i] {
		case '"':
			i += max(strings.IndexByte(code[i+1:], '"'), 0) + 1
		case '\\', '_', '*':
			i++ // the next character is shown
		case '[':
			end := max(strings.IndexByte(code[i:], ']'), 0)
			if inside := strings.Trim(code[i:i+end], "["); inside != "" && strings.Trim(inside, inside[:1]) == "" &&
				strings.IndexByte("hms", inside[0]) >= 0 {
				f.elapsed = true
			}
			i += end
		case 'a':
			if strings.HasPrefix(code[i:], "am/pm") {
				i, f.clock = i+4, true
			}
		case 'y', 'd':
			f.date = true
		case 'h', 's':
			f.clock = true
		case 'm':
			months = true
		case 'g': // General
			if strings.HasPrefix(code[i:], "general") {
				i += len("general") - 1
			}
		}
	}
	if months && !f.clock && !f.elapsed {
		f.date = true
	}
	return f
}

// maxSerial is the day after 9999-12-31, the last day that Excel shows.
const maxSerial = 2_958_466

// cell is the cell of a stored number. Its text has dates and times as in ISO 8601, everything else without its number format.
func (f numberFormat) cell(value string, from epoch) typed {
	number, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsInf(number, 0) || math.IsNaN(number) {
		return typed{Text: value}
	}
	c := typed{Kind: Number, Look: f.look}
	if f.date || f.clock || f.elapsed {
		if text, ok := f.time(number, from); ok {
			c.Text, c.Kind = text, Clock
		}
	}
	switch {
	case c.Kind == Number:
		c.Text = plain(number)
		if f.digits > 0 {
			c.Kind = Padded
		}
		if f.digits > len(c.Text) && number >= 0 && strings.Trim(c.Text, "0123456789") == "" {
			c.Text = strings.Repeat("0", f.digits-len(c.Text)) + c.Text
		}
	case f.date:
		c.Kind = Date
		if from == epoch1904 {
			number += days1904
		}
	}
	if again, ok := stored(c.Kind, c.Text); !ok || again != number {
		c.Exact = strconv.FormatFloat(number, 'g', -1, 64)
	}
	return c
}

// iso is the cell of a date or time in ISO 8601, which strict workbooks have instead of numbers: a day may have its midnight, and a time of
// day the day before the first one.
func (f numberFormat) iso(value string) typed {
	number, ok := stored(Date, strings.Replace(value, "1899-12-30T", "1899-12-31T", 1))
	switch {
	case ok && (f.date || f.clock || f.elapsed):
		return f.cell(strconv.FormatFloat(number, 'g', -1, 64), epoch1900)
	case !strings.Contains(value, "-"):
		return typedOf(Clock, value)
	}
	return typedOf(Date, value)
}

// days1904 is the first day that a workbook of 1904 counts from, as one of 1900 counts it.
const days1904 = 1462

func (f numberFormat) time(days float64, from epoch) (string, bool) {
	if days < 0 || days >= maxSerial {
		return "", false
	}
	seconds := int64(math.Round(days * secondsOfDay))
	if f.elapsed && !f.date {
		return strconv.FormatInt(seconds/3600, 10) + time.Unix(seconds, 0).UTC().Format(":04:05"), true
	}
	if !f.date {
		return time.Unix(seconds, 0).UTC().Format(time.TimeOnly), true
	}
	day := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC) // Excel's 1900 has a 29 February, day 60
	if from == epoch1904 {
		day = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	} else if days < firstMarch1900-1 {
		day = day.AddDate(0, 0, 1)
	}
	if !f.clock {
		return day.AddDate(0, 0, int(days)).Format(time.DateOnly), true
	}
	moment := day.AddDate(0, 0, int(seconds/secondsOfDay)).Add(time.Duration(seconds%secondsOfDay) * time.Second)
	return moment.Format("2006-01-02T15:04:05"), true
}

// plain formats a number with Excel's 15 digits, and with an exponent only if it is very small or very large.
func plain(number float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(number, 'e', 14, 64), 64)
	if err != nil {
		rounded = number
	}
	if abs := math.Abs(rounded); rounded != 0 && (abs < 1e-9 || abs >= 1e21) {
		return strconv.FormatFloat(rounded, 'E', -1, 64)
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
