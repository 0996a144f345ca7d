package main

import (
	"errors"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/emulator/servicebus/duration"
)

// span is the value of a flag for a duration above 0: as Go has it, 1m30s, or as
// Service Bus does, PT1M30S. Zero is none.
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
	d, err := time.ParseDuration(text)
	if strings.HasPrefix(text, "P") {
		d, err = duration.Parse(text)
	}
	if err != nil || d <= 0 {
		return errors.New("want a duration above 0, such as 30s, 10m, 24h, PT10M or P14D")
	}
	*s = span(d)
	return nil
}

// Type implements pflag.Value.
func (s *span) Type() string { return "duration" }

// iso is the duration as Service Bus writes it; empty for none.
func (s span) iso() string {
	if s == 0 {
		return ""
	}
	return duration.Format(time.Duration(s))
}

// spanText is a duration of Service Bus in Go's form.
func spanText(iso string) string {
	d, err := duration.Parse(iso)
	if err != nil {
		return iso
	}
	return roundTime(d)
}
