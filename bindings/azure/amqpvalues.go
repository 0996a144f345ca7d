package azure

import (
	"fmt"
	"time"

	"github.com/Azure/go-amqp"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/messaging"
)

func given(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// outgoingProperties returns properties in types that the client encodes.
func outgoingProperties(properties map[string]any) (map[string]any, error) {
	if properties == nil {
		return nil, nil
	}
	out := make(map[string]any, len(properties))
	for name, value := range properties {
		switch v := value.(type) {
		case bindings.GUID:
			out[name] = amqp.UUID(v)
		case messaging.Encoded:
			return nil, messaging.NewError(messaging.ConditionArgumentError, fmt.Sprintf("property %q: the client cannot send an encoded value", name))
		default:
			out[name] = value
		}
	}
	return out, nil
}

func incomingProperties(properties map[string]any) map[string]any {
	if properties == nil {
		return nil
	}
	out := make(map[string]any, len(properties))
	for name, v := range properties {
		switch v := v.(type) {
		case amqp.UUID:
			out[name] = bindings.GUID(v)
		case amqp.Symbol:
			out[name] = string(v)
		case time.Time:
			out[name] = v.UTC()
		default:
			out[name] = v
		}
	}
	return out
}

// wholeBody is the body of a message that has not just one data section: all of them
// together, or the text or bytes of a value.
func wholeBody(data [][]byte, value any) (b []byte) {
	for _, section := range data {
		b = append(b, section...)
	}
	switch v := value.(type) {
	case string:
		return []byte(v)
	case []byte:
		return v
	}
	return b
}

func utc(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
