package run

import (
	"encoding/json"
	"strings"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/ops"
)

// coreToolsLine says how Core Tools use a storage at the usual ports: func 5 wants a table
// service beside it, or ends (spec storage 18 E-1).
func coreToolsLine(blobs, queues string) string {
	if !usualStorage(blobs, queues) {
		return ""
	}
	return "  func 5     uses this storage beside this host with: func run --no-azurite\n"
}

// serviceBus returns the addresses of the namespace for clients and for
// administration; empty when it is not served.
func (s *session) serviceBus() (clients, admin string) {
	if at := s.at[busPort]; at != "" {
		clients = cli.BusConnection(at)
	}
	if at := s.at[busAdminPort]; at != "" {
		admin = cli.BusConnection(at)
	}
	return clients, admin
}

// gridURL is where Event Grid is served, empty when it is not. Clients refuse to send
// a key without TLS, so that where both are spoken it is HTTPS.
func (s *session) gridURL() string {
	at := s.at[gridPort]
	switch {
	case at == "":
		return ""
	case s.flags.tls.wanted():
		return "https://" + at
	}
	return "http://" + at
}

// topicLines are the endpoint and the key of each topic.
func (s *session) topicLines() (lines []string) {
	if s.gridURL() == "" {
		return nil
	}
	for _, info := range s.host.Services().EventGrid().Topics() {
		if topic, err := s.host.Services().EventGrid().Topic(info.Name); err == nil {
			lines = append(lines, cli.TopicEndpoint(s.gridURL(), info.Name)+"  key "+topic.Key)
		}
	}
	return lines
}

// endpointLines say where storage SDKs find the embedded accounts, with connection
// strings ready to paste.
func (s *session) endpointLines() string {
	var t strings.Builder
	if s.otherStorage {
		t.WriteString("  storage    the account of AzureWebJobsStorage; --blob-port, --queue-port and --table-port serve the embedded one\n")
	}
	if s.storage != nil {
		for _, a := range s.accounts {
			blobs, queues := s.storageURLs()
			for _, service := range []struct{ name, url string }{{"blobs", blobs}, {"queues", queues}, {"tables", s.tablesURL()}} {
				if service.url != "" {
					cli.Writef(&t, "  %-10s %s/%s\n", service.name, service.url, a.Name)
				}
			}
			for _, text := range s.connectionStrings(a) {
				cli.Writef(&t, "  storage    %s\n", text)
			}
			t.WriteString(coreToolsLine(blobs, queues))
		}
		if len(s.storageKeys()) > 0 {
			t.WriteString("  keys       \"redeliver keys\" shows the keys of these accounts\n")
		}
	}
	t.WriteString(s.busLines() + s.hubLines() + s.gridLines())
	if s.pair != nil {
		cli.Writef(&t, "  tls        clients have to trust %s\n", s.pair.File)
	}
	cli.Writef(&t, "  data       %s\n", s.dataLine())
	return t.String()
}

// busLines say where Service Bus SDKs find the namespace.
func (s *session) busLines() string {
	var t strings.Builder
	if s.otherBus != "" {
		cli.Writef(&t, "  servicebus the namespace of %s; --servicebus-port serves the embedded one\n", s.otherBus)
	}
	clients, admin := s.serviceBus()
	for _, line := range [][2]string{{"servicebus", clients}, {"sb admin", admin}} {
		if line[1] != "" {
			cli.Writef(&t, "  %-10s %s\n", line[0], line[1])
		}
	}
	if at := s.at[busTLSPort]; at != "" {
		cli.Writef(&t, "  %-10s amqps://%s\n", "sb tls", at)
	}
	return t.String()
}

// hubLines name the address of the hubs, the same as of Service Bus, when there are
// hubs or only services run.
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
	return cli.Textf("  %-10s %s\n", "eventhubs", clients)
}

// gridLines say where publishers find the topics.
func (s *session) gridLines() string {
	var t strings.Builder
	lines := s.topicLines()
	if s.gridURL() != "" && len(lines) == 0 {
		lines = []string{cli.TopicEndpoint(s.gridURL(), "TOPIC") + "  no topics yet"}
	}
	for _, line := range lines {
		cli.Writef(&t, "  %-10s %s\n", "eventgrid", line)
	}
	return t.String()
}

// sayTopics tells readers of the journal where to publish.
func (s *session) sayTopics() {
	for _, line := range s.topicLines() {
		s.out.Say("info", "event grid: "+line)
	}
}

// endpoints are the same for the page.
func (s *session) endpoints() (out []ops.Endpoint) {
	for _, app := range s.apps {
		service := "functions"
		if app.name != "" {
			service += " of " + app.name
		}
		if !s.flags.servicesOnly {
			out = append(out, ops.Endpoint{Service: service, Address: app.web.URL()})
		}
	}
	out = append(out, ops.Endpoint{Service: "admin", Address: s.web.AdminURL() + "/admin/host/status"})
	if s.storage != nil {
		blobs, queues := s.storageURLs()
		for _, a := range s.accounts {
			text := s.connectionStrings(a)[0]
			for _, service := range []struct{ name, url string }{{"blobs", blobs}, {"queues", queues}, {"tables", s.tablesURL()}} {
				if service.url != "" {
					out = append(out, ops.Endpoint{Service: service.name, Address: service.url + "/" + a.Name, ConnectionString: text})
				}
			}
		}
	}
	clients, admin := s.serviceBus()
	for _, e := range []ops.Endpoint{{Service: "servicebus", ConnectionString: clients}, {Service: "servicebus administration", ConnectionString: admin}, {Service: "eventhubs", ConnectionString: clients}} {
		if e.ConnectionString != "" {
			out = append(out, e)
		}
	}
	if url := s.gridURL(); url != "" {
		for _, t := range s.host.Services().EventGrid().Topics() {
			out = append(out, ops.Endpoint{Service: "eventgrid", Address: cli.TopicEndpoint(url, t.Name)})
		}
	}
	return out
}

// tellEndpoints writes where everything listens as the first line before the journal, for
// programs: {"endpoints": [...]}, as the inventory has them.
func tellEndpoints(s *session) {
	line, err := json.Marshal(struct {
		Version   string         `json:"version"`
		Endpoints []ops.Endpoint `json:"endpoints"`
	}{cli.Version(), s.endpoints()})
	if err == nil { // of texts
		s.out.Printf("%s\n", line)
	}
}
