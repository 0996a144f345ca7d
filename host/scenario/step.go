package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/redeliver/redeliver/bindings/servicebus"

	hubsapi "github.com/redeliver/redeliver/bindings/eventhubs"
	queueapi "github.com/redeliver/redeliver/bindings/queue"
	"github.com/redeliver/redeliver/host/emulator/eventhubs"
	"github.com/redeliver/redeliver/host/hosttest"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/ops/queues"
	"github.com/redeliver/redeliver/schemas"
)

// A step is one thing that is done: exactly one field is set.
type step struct {
	Send        *send             `json:"send"`
	SendEvents  *sendEvents       `json:"sendEvents"`
	Upload      *upload           `json:"upload"`
	Publish     *publish          `json:"publish"`
	Write       *write            `json:"write"`
	Request     *request          `json:"request"`
	Call        *call             `json:"call"`
	Await       *await            `json:"await"`
	Fault       *fault            `json:"fault"`
	Advance     *span             `json:"advance"`
	Jump        *span             `json:"jump"`
	Settle      bool              `json:"settle"`
	Edit        map[string]string `json:"edit"`
	Remove      string            `json:"remove"`
	ExpireLocks string            `json:"expireLocks"`
	Crash       *crash            `json:"crash"`
	Start       bool              `json:"start"`
	Restart     bool              `json:"restart"`
	ScaleOut    bool              `json:"scaleOut"`
	ScaleIn     int               `json:"scaleIn"`
	Expect      *expect           `json:"expect"`
	Deed        *deed             `json:"-"` // an operation

	StartOrchestration *startOrchestration `json:"startOrchestration"`
	RaiseEvent         *raiseEvent         `json:"raiseEvent"`
	Signal             *signal             `json:"signal"`
	Orchestration      *controlled         `json:"orchestration"`
}

type send struct {
	Queue      string         `json:"queue"`
	ServiceBus string         `json:"serviceBus"`
	Body       body           `json:"body"`
	Bodies     []body         `json:"bodies"`
	Delay      span           `json:"delay"`
	TimeToLive span           `json:"timeToLive"`
	MessageID  string         `json:"messageId"`
	SessionID  *string        `json:"sessionId"`
	Properties map[string]any `json:"properties"`
	Refused    *pattern       `json:"refused"`
}

type sendEvents struct {
	EventHub  string     `json:"eventHub"`
	Key       string     `json:"key"`
	Partition *partition `json:"partition"`
	Bodies    []body     `json:"bodies"`
}

// A partition is the identifier of one, which looks like a number and may be written as one.
type partition string

func (p *partition) UnmarshalJSON(raw []byte) error {
	*p = partition(strings.Trim(string(raw), `"`))
	return nil
}

type upload struct {
	Blob string `json:"blob"`
	Body body   `json:"body"`
}

type publish struct {
	Topic  string           `json:"topic"`
	Events []map[string]any `json:"events"`
}

type write struct {
	Container string            `json:"container"`
	Documents []json.RawMessage `json:"documents"`
}

type request struct {
	App      string            `json:"app"`
	Method   string            `json:"method"`
	Path     string            `json:"path"`
	Headers  map[string]string `json:"headers"`
	Body     body              `json:"body"`
	Patience span              `json:"patience"`
	Expect   *response         `json:"expect"`
}

type call struct {
	Function string `json:"function"`
	Body     body   `json:"body"`
}

type await struct {
	Function      string `json:"function"`
	Kind          string `json:"kind"`
	Settled       string `json:"settled"`
	Attempt       int    `json:"attempt"`
	DeliveryCount int64  `json:"deliveryCount"`

	// Orchestration is an instance whose end is awaited, with this status if there is one.
	Orchestration string `json:"orchestration"`
	Status        string `json:"status"`
}

// start is the time at which the scenario begins.
func (s *Scenario) start(o *hosttest.Options) error {
	if s.Start == "" {
		return nil
	}
	text := strings.ToUpper(strings.Replace(s.Start, " ", "T", 1))
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02T15:04Z07:00", "2006-01-02", "2006-01-02Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			o.Start = t.UTC()
			return nil
		}
	}
	return s.fault("start", fmt.Sprintf("%q is not a time", s.Start), "a time such as 2030-01-01T00:00:00Z")
}

// step carries out a step.
func (r *run) step(s *step) {
	switch {
	case taskHub{r}.orchestrate(s):
	case s.Deed != nil:
		r.deed(s.Deed)
	case s.Send != nil:
		r.send(s.Send)
	case s.SendEvents != nil:
		r.sendEvents(s.SendEvents)
	case s.Upload != nil:
		container, _, _ := strings.Cut(s.Upload.Blob, "/")
		r.mustKnow("upload.blob", aContainer, container)
		r.h.Upload(s.Upload.Blob, s.Upload.Body.text())
		r.brought.blob(s.Upload.Blob, s.Upload.Body.text())
	case s.Publish != nil:
		r.publish(s.Publish)
	case s.Write != nil:
		r.write(s.Write)
	case s.Request != nil:
		r.request(s.Request)
	case s.Call != nil:
		r.mustKnow("call.function", aFunction, s.Call.Function)
		r.h.Call(s.Call.Function, s.Call.Body.text())
	case s.Await != nil:
		r.await(s.Await)
	case s.Fault != nil:
		r.fault(s.Fault)
	case s.Advance != nil:
		r.h.Advance(time.Duration(*s.Advance))
	case s.Jump != nil:
		r.h.Jump(time.Duration(*s.Jump))
	case s.Settle:
		r.h.Settle()
	case s.Edit != nil:
		r.edit(s.Edit)
	case s.Remove != "":
		r.mustHave(s.Remove)
		p, own, _ := r.cast.of(s.Remove) // checked
		if err := p.h.Remove(own); err != nil {
			r.Fatalf("the app without %s is refused: %v", s.Remove, err)
		}
	case s.ExpireLocks != "":
		r.mustKnow("expireLocks", anEntity, busPath(s.ExpireLocks))
		r.h.ExpireServiceBusLocks(s.ExpireLocks)
	case s.Crash != nil:
		r.crash(s.Crash)
	case s.Start, s.Restart:
		r.start(s.Restart)
	case s.ScaleOut:
		r.scaleOut()
	case s.ScaleIn > 0:
		r.scaleIn(s.ScaleIn)
	case s.Expect != nil:
		inspection{r}.expect(schemas.JoinPath(r.at, "expect"), s.Expect)
	}
}

func (r *run) send(s *send) {
	bodies := texts(s.Bodies)
	if s.Bodies == nil {
		bodies = []string{s.Body.text()}
	}
	if s.Queue != "" {
		r.mustKnow("send.queue", aQueue, s.Queue)
	} else {
		r.mustKnow("send.serviceBus", anEntity, busPath(s.ServiceBus))
	}
	switch {
	case s.ServiceBus != "":
		r.sendServiceBus(s, bodies)
	case s.Delay == 0 && s.TimeToLive == 0:
		r.cast.receiver(queues.Service, s.Queue).SendAll(s.Queue, bodies...)
	default:
		for _, body := range bodies {
			r.cast.receiver(queues.Service, s.Queue).SendWith(s.Queue, body, &queueapi.PutOptions{Visibility: time.Duration(s.Delay), TTL: time.Duration(s.TimeToLive)})
		}
	}
}

func (r *run) sendServiceBus(s *send, bodies []string) {
	messages := make([]*servicebus.Message, len(bodies))
	for i, text := range bodies {
		m := &servicebus.Message{Body: []byte(text), MessageID: s.MessageID, SessionID: s.SessionID, TimeToLive: time.Duration(s.TimeToLive)}
		if s.Delay > 0 {
			m.ScheduledEnqueueTime = r.h.Clock().Now().Add(time.Duration(s.Delay))
		}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			if m.ApplicationProperties == nil {
				m.ApplicationProperties = map[string]any{}
			}
			m.ApplicationProperties[name] = property(s.Properties[name])
		}
		messages[i] = m
	}
	if s.Refused == nil {
		r.h.SendServiceBus(s.ServiceBus, messages...)
		return
	}
	var err error
	r.h.Act("send to "+s.ServiceBus, func(ctx context.Context) {
		err = r.h.Services().ServiceBus().Send(ctx, s.ServiceBus, messages...)
	})
	if err == nil || !s.Refused.matches(err.Error()) {
		at := schemas.JoinPath(schemas.JoinPath(r.at, "send"), "refused")
		r.mismatch(at, "the entity has not refused it so", s.Refused.String(), fmt.Sprint(err), nil)
	}
}

// property is the value of an application property: whole numbers are long, and an object
// is a text that is repeated.
func property(v any) any {
	if object, ok := v.(map[string]any); ok {
		text, _ := object["repeat"].(string)
		times, _ := object["times"].(json.Number)
		n, _ := times.Int64()
		return strings.Repeat(text, int(min(max(n, 0), longestRepeat)))
	}
	n, ok := v.(json.Number)
	if !ok {
		return v
	}
	if i, err := n.Int64(); err == nil {
		return i
	}
	f, _ := n.Float64()
	return f
}

// longestRepeat is how often the text of a property is repeated at the most.
const longestRepeat = 1 << 20

func (r *run) sendEvents(s *sendEvents) {
	r.mustKnow("sendEvents.eventHub", aHub, s.EventHub)
	if !r.h.Services().EventHubs().Has(s.EventHub) {
		r.h.CreateEventHub(eventhubs.Hub{Name: s.EventHub})
	}
	bodies := texts(s.Bodies)
	r.brought.events(s.EventHub, bodies)
	if s.Partition == nil {
		r.h.SendEvents(s.EventHub, s.Key, bodies...)
		return
	}
	r.mustKnow("sendEvents.partition", aPartition, s.EventHub+"/"+string(*s.Partition))
	events := make([]*hubsapi.Event, len(bodies))
	for i, text := range bodies {
		events[i] = &hubsapi.Event{Body: []byte(text)}
	}
	var err error
	r.h.Act("send to "+s.EventHub, func(ctx context.Context) {
		err = r.h.Services().EventHubs().SendEvents(ctx, s.EventHub, &hubsapi.SendOptions{PartitionID: string(*s.Partition)}, events...)
	})
	if err != nil {
		r.Fatalf("%v", err)
	}
}

// publish gives the events what they lack.
func (r *run) publish(p *publish) {
	r.mustKnow("publish.topic", aTopic, p.Topic)
	events := make([]map[string]any, len(p.Events))
	for i, e := range p.Events {
		events[i] = map[string]any{
			"id": fmt.Sprint(r.published + i + 1), "subject": "/", "eventType": "Scenario", "dataVersion": "1", "data": map[string]any{},
			"eventTime": r.h.Clock().Now().Format(time.RFC3339Nano),
		}
		maps.Copy(events[i], e)
	}
	text, err := json.Marshal(events)
	if err != nil {
		r.Fatalf("%v", err)
	}
	r.h.PublishEvents(p.Topic, string(text))
	r.published += len(p.Events)
}

func (r *run) write(w *write) {
	r.mustKnow("write.container", aCosmos, w.Container)
	database, container, _ := strings.Cut(w.Container, "/")
	documents := make([]string, len(w.Documents))
	for i, d := range w.Documents {
		documents[i] = string(d)
	}
	r.h.WriteCosmos(database, container, documents...)
	r.brought.documents(w.Container, w.Documents)
}

func (r *run) await(a *await) {
	if a.Orchestration != "" {
		taskHub{r}.awaitOrchestration(a)
		return
	}
	if a.Function != "" {
		r.mustKnow("await.function", aFunction, a.Function)
	}
	function := r.cast.full(a.Function)
	r.h.Await(func(rec *journal.Record) bool {
		return (function == "" || strings.EqualFold(rec.Function, function)) &&
			(a.Kind == "" || string(rec.Kind) == a.Kind) &&
			(a.Settled == "" || rec.Kind == journal.Settled && rec.Decision == a.Settled) &&
			(a.Attempt == 0 || rec.Attempt == a.Attempt) &&
			(a.DeliveryCount == 0 || rec.DeliveryCount == a.DeliveryCount)
	})
}

// mustHave ends the run at a step that removes what is not there.
func (r *run) mustHave(name string) {
	given := name
	p, name, _ := r.cast.of(given) // checked
	dir := p.app().Dir
	if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); err == nil || !filepath.IsLocal(filepath.FromSlash(name)) {
		return // what is outside is refused elsewhere
	}
	have := names{}
	entries, _ := os.ReadDir(filepath.Join(dir, filepath.FromSlash(path.Dir(name)))) // none: nothing is near
	for _, e := range entries {
		have.add(aFile, path.Join(path.Dir(name), e.Name()))
	}
	reason, list := have.unknown(aFile, name)
	r.mismatch(schemas.JoinPath(r.at, "remove"), reason, list, schemas.Quote(given), nil)
	runtime.Goexit()
}

func (r *run) edit(files map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		p, own, _ := r.cast.of(name) // checked
		if err := p.h.Edit(own, files[name]); err != nil {
			r.Fatalf("the edit of %s is refused: %v", name, err)
		}
	}
}
