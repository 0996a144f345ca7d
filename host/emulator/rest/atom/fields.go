package atom

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/emulator/servicebus/duration"
)

// fields reads the settings of a description and keeps the first fault. A setting
// that is not there has its default, for which descriptions use the zero value; so
// zero itself, where it is written down, is a fault.
type fields struct {
	of  *element
	err error
}

func (f *fields) fail(name, value, want string) {
	if f.err == nil {
		f.err = fail(http.StatusBadRequest, "the value %q of %s is not valid; want %s", value, name, want)
	}
}

// scalar returns the text of a setting without blanks around it.
func (f *fields) scalar(name string) (string, bool) {
	c := f.of.child(name)
	if c == nil {
		return "", false
	}
	return strings.TrimSpace(c.text), true
}

// text returns the text of a setting as it stands.
func (f *fields) text(name string) string {
	if c := f.of.child(name); c != nil {
		return c.text
	}
	return ""
}

func (f *fields) optionalText(name string) *string {
	if c := f.of.child(name); c != nil {
		return &c.text
	}
	return nil
}

func (f *fields) flag(name string) *bool {
	s, ok := f.scalar(name)
	if !ok {
		return nil
	}
	v := false
	switch s {
	case "true", "True", "1":
		v = true
	case "false", "False", "0":
	default:
		f.fail(name, s, "true or false")
		return nil
	}
	return &v
}

func (f *fields) number(name string) int {
	s, ok := f.scalar(name)
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 1 || n > math.MaxInt32 {
		f.fail(name, s, "a whole number from 1 to 2147483647")
		return 0
	}
	return int(n)
}

func (f *fields) duration(name string) time.Duration {
	s, ok := f.scalar(name)
	if !ok {
		return 0
	}
	d, err := duration.Parse(s)
	if err != nil || d <= 0 {
		f.fail(name, s, "an ISO 8601 duration of more than zero, such as PT1M")
		return 0
	}
	return d
}
