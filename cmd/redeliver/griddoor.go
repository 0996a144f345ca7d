package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/emulator/amqp"
	"github.com/redeliver/redeliver/host/emulator/eventgrid"
	"github.com/redeliver/redeliver/host/emulator/rest/grid"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/host/listen"
)

// defaultGridPort is where publishers find Event Grid (spec messaging 5.3).
const defaultGridPort = 60101

// gridFlags say where the embedded Event Grid is served.
type gridFlags struct {
	port  doorPort
	given bool // the flag was
}

// addGrid adds the flag of Event Grid.
func addGrid(cmd *cobra.Command, f *gridFlags) {
	f.port = defaultGridPort
	cmd.Flags().Var(&f.port, "eventgrid-port", "port at which publishers find the topics of Event Grid, when the app has some; 0 for any free one, off for none")
}

// finish notes whether the flag was given.
func (f *gridFlags) finish(cmd *cobra.Command) { f.given = cmd.Flags().Changed("eventgrid-port") }

// gridWanted reports whether Event Grid is to be served: the port was named,
// host.json describes topics, others are there since an earlier run, or a setting
// says that publishers look for them here.
func (s *session) gridWanted(a *app.App) bool {
	switch topics := bytes.TrimSpace(a.Config.EventGrid.Topics); {
	case s.flags.grid.port == noDoor:
		return false
	case s.flags.servicesOnly, s.flags.grid.given, len(topics) > 0 && !bytes.Equal(topics, []byte("[]")):
		return true
	}
	for _, value := range a.Settings.All() {
		if usualGrid(value) {
			return true
		}
	}
	return s.host != nil && slices.ContainsFunc(s.host.Services().EventGrid().Topics(), publishable)
}

// usualGrid reports whether a setting's value is the endpoint of a topic at the usual
// port of this machine.
func usualGrid(value string) bool {
	u, err := url.Parse(value)
	if err != nil || u.Port() != strconv.Itoa(defaultGridPort) || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	return listen.Loopback(u.Hostname())
}

// publishable reports whether a topic is one that clients publish to: not that of a
// storage account.
func publishable(t eventgrid.TopicInfo) bool {
	return !strings.Contains(t.Resource, "/providers/Microsoft.Storage/")
}

// openGrid serves the embedded Event Grid on loopback only, over HTTP and, with
// --tls, HTTPS at the same port, and tells the host where.
func (s *session) openGrid(wanted bool) error {
	if !wanted {
		return nil
	}
	opts := &amqp.Options{Port: int(s.flags.grid.port), TLSPort: noDoor, Guard: s.web.Guard(), Logger: s.log, HTTP: grid.Handler(s.clock, s.host.Services().EventGrid(), nil)}
	if s.flags.tls.wanted() {
		pair, err := s.certificate()
		if err != nil {
			return err
		}
		opts.TLS = pair.Config()
	}
	// This server tells HTTP and HTTPS apart at one port. Who speaks AMQP here finds
	// nothing.
	server := amqp.NewServer(noNodes{}, opts)
	if err := server.Start(); err != nil {
		var port *amqp.PortError
		if !errors.As(err, &port) {
			return err
		}
		if !port.Busy() {
			return fmt.Errorf("cannot listen on port %d for Event Grid: %w", port.Port, port.Err)
		}
		return hinted(fmt.Errorf("the Event Grid port %d is in use: is another emulator running?", port.Port),
			"stop it, or choose another port: --eventgrid-port 0 takes any free one, off none")
	}
	s.grid = server
	var others []string
	if s.flags.grid.port == 0 { // settings were written before anybody knew the port
		others = append(others, textf("http://127.0.0.1:%d", defaultGridPort))
	}
	s.host.Connections().EventGridAt(s.gridURL(), others...)
	return nil
}

// noNodes is a backend without any.
type noNodes struct{}

func (noNodes) Attach(*amqp.AttachRequest) (*amqp.Grant, error) {
	return nil, errors.New("this port is for publishers of Event Grid, which speak HTTP")
}

// gridURL is where Event Grid is served, empty when it is not. Clients refuse to send
// a key without TLS, so that where both are spoken it is HTTPS.
func (s *session) gridURL() string {
	switch {
	case s.grid == nil:
		return ""
	case s.flags.tls.wanted():
		return "https://" + s.grid.Addr()
	}
	return "http://" + s.grid.Addr()
}

// topicEndpoint is where events for a topic are published.
func topicEndpoint(base, topic string) string { return base + "/" + topic + "/api/events" }

// topicLines are the endpoint and the key of each topic.
func (s *session) topicLines() (lines []string) {
	if s.grid == nil {
		return nil
	}
	for _, info := range s.host.Services().EventGrid().Topics() {
		if topic, err := s.host.Services().EventGrid().Topic(info.Name); err == nil {
			lines = append(lines, topicEndpoint(s.gridURL(), info.Name)+"  key "+topic.Key)
		}
	}
	return lines
}

// gridLines say where publishers find the topics.
func (s *session) gridLines() string {
	var t strings.Builder
	lines := s.topicLines()
	if s.grid != nil && len(lines) == 0 {
		lines = []string{topicEndpoint(s.gridURL(), "TOPIC") + "  no topics yet"}
	}
	for _, line := range lines {
		writef(&t, "  %-10s %s\n", "eventgrid", line)
	}
	return t.String()
}

// hubLines say where clients of Event Hubs find the hubs, when there are any, or the
// services are all that runs: where those of Service Bus go.
func (s *session) hubLines() string {
	clients, _ := s.serviceBus()
	if clients == "" {
		return ""
	}
	some := s.flags.servicesOnly
	s.clock.Inside("list hubs", func() {
		list, err := s.host.Services().EventHubs().Hubs(s.host.Services().EventGrid().Context())
		some = some || err == nil && len(list) > 0
	})
	if !some {
		return ""
	}
	return textf("  %-10s %s\n", "eventhubs", clients)
}

// closeGrid ends the door of Event Grid.
func (s *session) closeGrid() {
	if s.grid != nil {
		s.grid.Close()
	}
}

// sayTopics tells those who read the journal where to publish.
func (s *session) sayTopics() {
	for _, line := range s.topicLines() {
		s.out.say("info", "event grid: "+line)
	}
}

// answered is the status that Event Grid was given at the end of a delivery, if any,
// and whether it was one after which it tries again.
func answered(rec *journal.Record) (text string, refused bool) {
	i := slices.IndexFunc(rec.Fields, func(f journal.Field) bool { return f.Key == "http_status" })
	if i < 0 {
		return "", false
	}
	return "with " + rec.Fields[i].Value, !strings.HasPrefix(rec.Fields[i].Value, "2")
}

// jsonText is a value as JSON; it is one that always has some.
func jsonText(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
