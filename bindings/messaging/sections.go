package messaging

import "time"

// Encoded is a value in its AMQP encoding, constructor and all: a
// described type (timespan, URI, date with offset), a decimal, a character. The
// service passes it on byte for byte; in a filter it compares with nothing.
type Encoded []byte

// Wire holds the sections of an AMQP message in their encoding, each
// with its descriptor; an empty one was not there. The service keeps them, passes
// them on and never looks inside; neither does it change them: receivers of one
// message share them.
//
// When the service has changed a field that a section repeats, it says so in the
// flags, and the server encodes that section anew from the plain fields.
type Wire struct {
	Header                []byte // durable, priority; ttl and delivery count are not read from here
	Annotations           []byte // the annotations that the server keeps
	Properties            []byte
	ApplicationProperties []byte
	Body                  []byte // one or several sections
	Footer                []byte

	// PropertiesChanged: the plain fields differ from Properties, which still
	// tells what they do not have (user id, creation time, ...).
	PropertiesChanged bool
	// ApplicationPropertiesChanged: the map is what counts.
	ApplicationPropertiesChanged bool

	// DeliveryAnnotations are the sender's annotations, without the ones that
	// the service sets.
	DeliveryAnnotations []byte
}

// Size is the number of bytes of all sections.
func (w *Wire) Size() int {
	return len(w.Header) + len(w.Annotations) + len(w.Properties) + len(w.ApplicationProperties) + len(w.Body) + len(w.Footer) + len(w.DeliveryAnnotations)
}

// Forever as a wait means: until the context ends. Any negative
// duration does.
const Forever = time.Duration(-1)

// MaxID is the length of a message's, session's or partition key's
// identifier in characters (spec messaging 1.4).
const MaxID = 128
