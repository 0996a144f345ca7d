package hubs

import (
	"strconv"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/host/emulator/amqp/wire"
)

// selectorFilter is the name of the filter that says where to begin.
const selectorFilter = "apache.org:selector-filter:string"

// latest is the offset that means the end.
const latest = "@latest"

// positionOf reads the filter of a source; without one it is the beginning.
func positionOf(filter wire.Map) (eventhubs.Position, error) {
	v := filter.Get(selectorFilter)
	if d, ok := v.(*wire.Described); ok {
		v = d.Value
	}
	if v == nil {
		return eventhubs.Position{}, nil
	}
	text, ok := v.(string)
	if !ok {
		return eventhubs.Position{}, argumentf("the selector is a %T: want a string", v)
	}
	return parseSelector(text)
}

// parseSelector reads "amqp.annotation.NAME > 'VALUE'", with or without quotes, and
// ">=" for the position itself.
func parseSelector(text string) (p eventhubs.Position, err error) {
	refused := argumentf("selector %q: want x-opt-offset, x-opt-sequence-number or x-opt-enqueued-time of amqp.annotation, > or >=, and a value", text)
	name, value, ok := strings.Cut(text, ">")
	if !ok {
		return p, refused
	}
	value, p.Inclusive = strings.CutPrefix(value, "=")
	value = strings.TrimSpace(value)
	if len(value) >= 2 && value[0] == '\'' && value[len(value)-1] == '\'' {
		value = value[1 : len(value)-1]
	}
	name, ok = strings.CutPrefix(strings.TrimSpace(name), "amqp.annotation.")
	if !ok || value == "" {
		return p, refused
	}
	switch name {
	case string(annOffset):
		if value == latest {
			p.Latest, p.Inclusive = true, false
			return p, nil
		}
		p.Offset = value
		return p, nil
	case string(annSequenceNumber):
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return p, refused
		}
		p.SequenceNumber = &n
		return p, nil
	case string(annEnqueuedTime):
		ms, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			return p, refused
		}
		p.EnqueuedTime = time.UnixMilli(ms).UTC()
		return p, nil
	}
	return p, refused
}
