package grid

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/listen"
)

// mostSkipped is how much of a request that is refused is read all the same: a
// client that is still sending would otherwise see a broken connection in the place
// of the answer.
const mostSkipped = 32 << 20

// readBody reads the body of a request, however it is sent, without the byte order
// mark that some editors put before it.
func readBody(in *listen.Body) ([]byte, error) {
	body, err := in.Small(eventgrid.MaxPublish)
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return nil, &eventgrid.Error{
			Status: http.StatusRequestEntityTooLarge, Code: "PayloadTooLarge",
			Message: fmt.Sprintf("The maximum size (%d) has been exceeded.", eventgrid.MaxPublish),
		}
	}
	if err != nil {
		return nil, badRequest("the body cannot be read: " + err.Error())
	}
	return bytes.TrimPrefix(body, []byte("\ufeff")), nil
}

// parse reads the events of a request by its content type. Without a more exact
// one, JSON has the schema of the topic.
func parse(r *http.Request, body []byte, schema eventgrid.Schema) ([]*eventgrid.Event, error) {
	media := mediaType(r.Header.Get("Content-Type"))
	structured, batch := media == "application/cloudevents+json", media == "application/cloudevents-batch+json"
	binary := !structured && !batch && r.Header.Get("Ce-Specversion") != ""
	switch {
	case (structured || batch || binary) && schema != eventgrid.CloudEventSchema:
		return nil, badRequest("the topic takes events of the Event Grid schema, and the request holds CloudEvents")
	case binary:
		event, err := fromHeaders(r.Header, media, body)
		if err != nil {
			return nil, err
		}
		return eventgrid.ParseEvents(event, schema)
	case !utf8.Valid(body):
		return nil, badRequest("the body is not UTF-8")
	}
	switch first := firstByte(body); {
	case structured && first == '[':
		return nil, badRequest("the body is an array, and its content type means one event: use application/cloudevents-batch+json")
	case batch && first == '{':
		return nil, badRequest("the body is one event, and its content type means an array: use application/cloudevents+json")
	}
	events, err := eventgrid.ParseEvents(body, schema)
	if err == nil && len(events) == 0 {
		err = badRequest("the array holds no events")
	}
	return events, err
}

// mediaType is a content type without its parameters.
func mediaType(contentType string) string {
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		media, _, _ = strings.Cut(strings.ToLower(contentType), ";")
	}
	return strings.TrimSpace(media)
}

// firstByte is the first byte of JSON that is no space, 0 if there is none.
func firstByte(body []byte) byte {
	if trimmed := bytes.TrimLeft(body, " \t\r\n"); len(trimmed) > 0 {
		return trimmed[0]
	}
	return 0
}
