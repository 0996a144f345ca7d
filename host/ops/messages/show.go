package messages

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/redeliver/redeliver/host/ops"
)

// previewLength is how much is shown of a body in a list, in characters.
const previewLength = 256

// TruncatedHeader is a header of a body that is longer than what is shown.
const TruncatedHeader = "X-Redeliver-Truncated"

// mentions reports whether a text in lower case stands in a message.
func mentions(m *ops.ShownMessage, body []byte, text string) bool {
	has := func(in string) bool { return strings.Contains(strings.ToLower(in), text) }
	if has(m.ID) || has(m.MessageID) || has(m.Reason) || utf8.Valid(body) && has(string(body)) {
		return true
	}
	for name, value := range m.Properties {
		if has(name) || has(value) {
			return true
		}
	}
	return false
}

// describeBody shows the beginning of a body.
func describeBody(m *ops.ShownMessage, body []byte) {
	if body == nil {
		return // of a blob, whose size is known
	}
	m.Size = int64(len(body))
	if m.Binary = !utf8.Valid(body); m.Binary {
		return
	}
	n := 0
	for i := range string(body) {
		if n == previewLength {
			body = body[:i]
			break
		}
		n++
	}
	m.Preview = string(body)
}

// byHand has a service do something to a message.
func byHand(ctx context.Context, e *ops.Env, m ops.MessageMoved, without string, of func(*ops.Service) ops.Hand) (ops.MessageMoved, error) {
	k, err := e.Keeper(m.Service)
	if err != nil {
		return m, err
	}
	do := of(k)
	switch {
	case do == nil:
		return m, ops.Refuse(http.StatusBadRequest, fmt.Sprintf("this cannot be done to messages of the service %s: %s", m.Service, without), "")
	case m.ID == "":
		return m, ops.Refuse(http.StatusBadRequest, "id is missing", "GET /messages lists the messages of an entity")
	}
	m, err = do(ctx, e, m)
	return m, k.Told(err)
}
