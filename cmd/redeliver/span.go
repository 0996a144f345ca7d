package main

import (
	"errors"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/emulator/servicebus/duration"
)

// span is the value of a flag for a duration above 0: as Go has it, 1m30s, or as
// Service Bus does, PT1M30S. Zero means that the flag is not given.
type span time.Duration

// String implements pflag.Value.
func (s *span) String() string {
	if *s == 0 {
		return ""
	}
	return time.Duration(*s).String()
}

// Set implements pflag.Value.
func (s *span) Set(text string) error {
	d, err := parseSpan(text)
	if err != nil || d <= 0 {
		return errors.New("want a duration above 0, " + spanForms)
	}
	*s = span(d)
	return nil
}

// spanForms says how a duration is written: Go's form has no days.
const spanForms = "such as 30s, 10m, 24h, PT10M or P14D"

// parseSpan reads a duration in either form.
func parseSpan(text string) (time.Duration, error) {
	if strings.HasPrefix(text, "P") {
		return duration.Parse(text)
	}
	return time.ParseDuration(text)
}

// Type implements pflag.Value.
func (s *span) Type() string { return "duration" }

// isoSpan is a span that is kept as Service Bus writes it; empty is none.
type isoSpan string

// String implements pflag.Value.
func (s *isoSpan) String() string { return string(*s) }

// Set implements pflag.Value.
func (s *isoSpan) Set(text string) error {
	var d span
	err := d.Set(text)
	if err == nil {
		*s = isoSpan(duration.Format(time.Duration(d)))
	}
	return err
}

// Type implements pflag.Value.
func (s *isoSpan) Type() string { return "duration" }

// maybe is the value of a flag for a text that may be there and be empty.
type maybe struct{ text **string }

// String implements pflag.Value.
func (m maybe) String() string { return "" }

// Set implements pflag.Value.
func (m maybe) Set(text string) error {
	*m.text = &text
	return nil
}

// Type implements pflag.Value.
func (m maybe) Type() string { return "string" }

// spanText is a duration of Service Bus in Go's form.
func spanText(iso string) string {
	d, err := duration.Parse(iso)
	if err != nil {
		return iso
	}
	return roundTime(d)
}
