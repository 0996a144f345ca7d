package eventgrid

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/redeliver/redeliver/host/listen"
)

// Topic describes a topic. Zero fields have the defaults that their comments
// name.
type Topic struct {
	Name        string `json:"name"`                  // 1 to 50 letters, digits and hyphens; unique ignoring case
	Key         string `json:"key,omitempty"`         // access key; "": made from the seed
	InputSchema Schema `json:"inputSchema,omitempty"` // "": EventGridSchema

	// Resource is the field topic of events, a resource ID; "": the ID of a custom
	// topic of this name.
	Resource string `json:"resource,omitempty"`
}

// resourceGroup is where our topics and accounts are, for resource IDs.
const resourceGroup = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/redeliver"

// StorageResource is the resource ID of an embedded storage account: the topic of
// its events.
func StorageResource(account string) string {
	return resourceGroup + "/providers/Microsoft.Storage/storageAccounts/" + account
}

// Subscription describes an event subscription, in the words of
// redeliver.eventGrid in host.json.
type Subscription struct {
	Name string `json:"name"` // unique in its topic ignoring case

	// Function or Endpoint, the URL of a web hook on loopback, is who gets the
	// events.
	Function string `json:"function,omitempty"`
	Endpoint string `json:"endpoint,omitempty"`

	EventDeliverySchema Schema `json:"eventDeliverySchema,omitempty"` // "": as the topic's

	IncludedEventTypes     []string `json:"includedEventTypes,omitempty"` // none: all
	SubjectBeginsWith      string   `json:"subjectBeginsWith,omitempty"`
	SubjectEndsWith        string   `json:"subjectEndsWith,omitempty"`
	IsSubjectCaseSensitive bool     `json:"isSubjectCaseSensitive,omitempty"`
	AdvancedFilters        []Filter `json:"advancedFilters,omitempty"`

	MaxDeliveryAttempts      int `json:"maxDeliveryAttempts,omitempty"`      // 1 to 30; 0: 30
	EventTimeToLiveInMinutes int `json:"eventTimeToLiveInMinutes,omitempty"` // 1 to 1440; 0: 1440

	// DeadLetterContainer is a blob container, by name or by resource ID. "":
	// events that are given up are dropped.
	DeadLetterContainer string `json:"deadLetterContainer,omitempty"`

	MaxEventsPerBatch             int `json:"maxEventsPerBatch,omitempty"`             // 1 to 5000; 0 or 1: no batches
	PreferredBatchSizeInKilobytes int `json:"preferredBatchSizeInKilobytes,omitempty"` // 1 to 1024; 0: 64

	DeliveryHeaders map[string]string `json:"deliveryHeaders,omitempty"` // 10 at most
}

// End is the end of an event that its endpoint never accepts.
func (s *Subscription) End() string {
	if s.DeadLetterContainer == "" {
		return "dropped by Event Grid: no container for dead letters"
	}
	return fmt.Sprintf("dead letter in container %q", s.DeadLetterContainer)
}

const (
	maxBatch          = 5000
	maxBatchKilobytes = 1024
	defaultBatchSize  = 64
	maxHeaders        = 10
	maxHeaderValue    = 4096
)

// State is where a subscription is on its way to getting events.
type State string

// The states.
const (
	Active               State = "Succeeded"
	AwaitingManualAction State = "AwaitingManualAction" // until validationUrl is fetched
	ValidationFailed     State = "Failed"               // it was not, within five minutes
)

type topic struct {
	Topic
	subscriptions []*subscription // in order of creation
	unwritten     bool            // its maker still waits for the disk
}

type subscription struct {
	Subscription
	topic    *topic
	schema   Schema // of delivery
	upper    string // name in upper case
	types    map[string]bool
	filters  []filter
	attempts int
	ttl      time.Duration
	batch    int // events in a request; 0: no batches
	size     int // bytes at which a batch is full
	account  string
	place    string // container of dead letters
	endpoint *endpoint

	lacks     Reason // why it is not there yet
	awaitedBy string // the app that waits for it: see Grid.Await
	state     State
	code      string // of a validation that is not complete
	until     time.Time
}

// source is how the journal names the subscription.
func (s *subscription) source() string { return s.topic.Name + "/" + s.Name }

var (
	// Lengths are checked beside the patterns: a count in them costs each start.
	topicName  = regexp.MustCompile(`^[A-Za-z0-9-]+$`)               // read only
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$") // read only; RFC 9110, 5.6.2
)

// check fills in defaults.
func (t *Topic) check() error {
	if len(t.Name) > 50 || !topicName.MatchString(t.Name) {
		return badRequest("topic %q: a name has 1 to 50 letters, digits and hyphens", t.Name)
	}
	switch t.InputSchema {
	case "":
		t.InputSchema = EventGridSchema
	case EventGridSchema, CloudEventSchema:
	default:
		return badRequest("topic %q: unknown inputSchema %q", t.Name, t.InputSchema)
	}
	if t.Resource == "" {
		t.Resource = resourceGroup + "/providers/Microsoft.EventGrid/topics/" + t.Name
	}
	return nil
}

// newSubscription checks a description and makes it ready.
func newSubscription(t *topic, d Subscription) (*subscription, error) {
	s := &subscription{
		Subscription: d, topic: t, schema: d.EventDeliverySchema, upper: strings.ToUpper(d.Name),
		attempts: d.MaxDeliveryAttempts, ttl: time.Duration(d.EventTimeToLiveInMinutes) * time.Minute,
		batch: d.MaxEventsPerBatch, size: d.PreferredBatchSizeInKilobytes << 10,
	}
	fail := func(format string, args ...any) (*subscription, error) {
		return nil, badRequest("event subscription %q of topic %q: %s", d.Name, t.Name, fmt.Sprintf(format, args...))
	}
	switch {
	case d.Name == "" || strings.ContainsAny(d.Name, "/\\?#"):
		return fail("a name is needed, without slashes")
	case d.Function == "" && d.Endpoint == "":
		return fail("function or endpoint is needed: who gets the events")
	case d.Function != "" && d.Endpoint != "":
		return fail("function and endpoint exclude each other")
	case s.attempts < 0 || s.attempts > DefaultAttempts:
		return fail("maxDeliveryAttempts is %d; allowed are 1 to %d", s.attempts, DefaultAttempts)
	case d.EventTimeToLiveInMinutes < 0 || d.EventTimeToLiveInMinutes > int(DefaultTimeToLive/time.Minute):
		return fail("eventTimeToLiveInMinutes is %d; allowed are 1 to 1440", d.EventTimeToLiveInMinutes)
	case s.batch < 0 || s.batch > maxBatch:
		return fail("maxEventsPerBatch is %d; allowed are 1 to %d", s.batch, maxBatch)
	case d.PreferredBatchSizeInKilobytes < 0 || d.PreferredBatchSizeInKilobytes > maxBatchKilobytes:
		return fail("preferredBatchSizeInKilobytes is %d; allowed are 1 to %d", d.PreferredBatchSizeInKilobytes, maxBatchKilobytes)
	case len(d.DeliveryHeaders) > maxHeaders:
		return fail("%d delivery headers; the limit is %d", len(d.DeliveryHeaders), maxHeaders)
	}
	for name, value := range d.DeliveryHeaders {
		switch {
		case len(name) > 256 || !headerName.MatchString(name):
			return fail("delivery header %q: that is no name of a header", name)
		case len(value) > maxHeaderValue || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			return fail("delivery header %q: at most %d bytes, in one line", name, maxHeaderValue)
		}
	}
	if d.Endpoint != "" {
		if err := CheckWebHook(d.Endpoint); err != nil {
			return fail("%v", err)
		}
	}
	switch s.schema {
	case "":
		s.schema = t.InputSchema
	case t.InputSchema, CloudEventSchema:
	case EventGridSchema:
		return fail("events of a CloudEvents topic are delivered as CloudEvents only")
	default:
		return fail("unknown eventDeliverySchema %q", s.schema)
	}
	var err error
	if s.filters, err = compileFilters(d.AdvancedFilters); err != nil {
		return fail("%v", err)
	}
	if s.account, s.place, err = container(d.DeadLetterContainer); err != nil {
		return fail("%v", err)
	}
	s.defaults()
	return s, nil
}

func (s *subscription) defaults() {
	if s.attempts == 0 {
		s.attempts = DefaultAttempts
	}
	if s.ttl == 0 {
		s.ttl = DefaultTimeToLive
	}
	if s.batch == 1 {
		s.batch = 0
	}
	if s.size == 0 {
		s.size = defaultBatchSize << 10
	}
	for _, t := range s.IncludedEventTypes {
		if s.types == nil {
			s.types = map[string]bool{}
		}
		s.types[fold(t)] = true
	}
}

// wants reports whether an event passes all filters.
func (s *subscription) wants(f *fields) bool {
	if s.types != nil && !s.types[fold(f.e.Type)] {
		return false
	}
	subject, begin, end := f.e.Subject, s.SubjectBeginsWith, s.SubjectEndsWith
	if !s.IsSubjectCaseSensitive {
		subject, begin, end = fold(subject), fold(begin), fold(end)
	}
	if !strings.HasPrefix(subject, begin) || !strings.HasSuffix(subject, end) {
		return false
	}
	for i := range s.filters {
		if !s.filters[i].matches(f) {
			return false
		}
	}
	return true
}

var containerResource = regexp.MustCompile(`(?i)^/subscriptions/[^/]+/resourceGroups/[^/]+/providers/Microsoft\.Storage/storageAccounts/([^/]+)/blobServices/default/containers/([^/]+)$`) // read only

// container reads the place of dead letters: a container's name or resource ID.
func container(text string) (account, name string, err error) {
	if !strings.Contains(text, "/") {
		return "", text, nil
	}
	parts := containerResource.FindStringSubmatch(text)
	if parts == nil {
		return "", "", fmt.Errorf("deadLetterContainer %q is neither a container's name nor its resource ID", text)
	}
	return parts[1], parts[2], nil
}

// CheckWebHook says what is wrong with the URL of a web hook: it must be http or
// https, on this machine.
func CheckWebHook(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return fmt.Errorf("endpoint %q is no http or https URL", text)
	}
	if !listen.Loopback(u.Hostname()) {
		return fmt.Errorf("endpoint %q is not on this machine: events are delivered to loopback addresses only", text)
	}
	return nil
}

// loopbackAddress is where a connection to host:port goes: names of this machine
// are not looked up.
func loopbackAddress(hostport string) (string, error) {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil {
		return "", err
	}
	if _, err := netip.ParseAddr(host); err != nil {
		if !listen.Loopback(host) {
			return "", &net.DNSError{Err: "not on this machine", Name: host, IsNotFound: true}
		}
		host = "localhost"
	} else if !listen.Loopback(host) {
		return "", fmt.Errorf("address %s is not on this machine", host)
	}
	return net.JoinHostPort(host, port), nil
}
