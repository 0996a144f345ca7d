package cli

import (
	"errors"
	"time"

	"github.com/redeliver/redeliver/host/emulator/servicebus/duration"
	"github.com/redeliver/redeliver/host/timespan"
)

// Span is the value of a flag for a duration above 0, in a form of package timespan. Zero means
// that the flag is not given.
type Span time.Duration

// String implements pflag.Value.
func (s *Span) String() string {
	if *s == 0 {
		return ""
	}
	return time.Duration(*s).String()
}

// Set implements pflag.Value.
func (s *Span) Set(text string) error {
	d, err := timespan.Parse(text)
	if err != nil || d <= 0 {
		return errors.New("want a duration above 0, " + timespan.Forms)
	}
	*s = Span(d)
	return nil
}

// Type implements pflag.Value.
func (s *Span) Type() string { return "duration" }

// IsoSpan is a span that is kept as Service Bus writes it; empty is none.
type IsoSpan string

// String implements pflag.Value.
func (s *IsoSpan) String() string { return string(*s) }

// Set implements pflag.Value.
func (s *IsoSpan) Set(text string) error {
	var d Span
	err := d.Set(text)
	if err == nil {
		*s = IsoSpan(duration.Format(time.Duration(d)))
	}
	return err
}

// Type implements pflag.Value.
func (s *IsoSpan) Type() string { return "duration" }

// Maybe is the value of a flag for a text that may be there and be empty.
type Maybe struct{ Text **string }

// String implements pflag.Value.
func (m Maybe) String() string { return "" }

// Set implements pflag.Value.
func (m Maybe) Set(text string) error {
	*m.Text = &text
	return nil
}

// Type implements pflag.Value.
func (m Maybe) Type() string { return "string" }

// SpanText is a duration of Service Bus in Go's form.
func SpanText(iso string) string {
	d, err := duration.Parse(iso)
	if err != nil {
		return iso
	}
	return RoundTime(d)
}
