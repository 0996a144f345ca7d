package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings/eventhubs"
	"github.com/redeliver/redeliver/schemas"
)

// The only namespace of the official Event Hubs emulator, and its type.
const (
	hubNamespaceName = "emulatorNs1"
	hubNamespaceType = "EventHub"
)

// Hubs are the event hubs of a file. They are plain values and not changed after
// [ParseHubs].
type Hubs struct {
	List []Hub

	// Warnings are about unknown keys, which have no effect.
	Warnings []*schemas.Fault

	doc *schemas.Document
}

// Hub is an event hub, and where it stands in the file.
type Hub struct {
	Name           string
	PartitionCount int
	ConsumerGroups []string // besides $Default, which every hub has
	Path           string   // "UserConfig.NamespaceConfig[0].Entities[0]"
}

// ParseHubs reads the Config.json of the official Event Hubs emulator, which
// has another form than the file of the Service Bus emulator. The name is for
// faults. With faults the result holds the hubs that could be read, to be shown
// and not applied.
func ParseHubs(file string, text []byte) (*Hubs, []*schemas.Fault) {
	doc, fault := schemas.Parse(file, text)
	if fault != nil {
		fault.Kind = "" // this is no file of the platform
		return &Hubs{}, []*schemas.Fault{fault}
	}
	p := hubParser{reader: reader{doc: doc}, out: &Hubs{doc: doc}, names: map[string]string{}}
	p.file()
	schemas.Sort(p.faults)
	schemas.Sort(p.warnings)
	p.out.Warnings = p.warnings
	return p.out, p.faults
}

// Clash is the fault of a hub whose name something else has; by says what and where.
func (h *Hubs) Clash(hub *Hub, by string) *schemas.Fault {
	path := schemas.JoinPath(hub.Path, "Name")
	f := h.doc.Fault(path, h.doc.Found(path), "a name that is not in use", "the name is taken by "+by)
	f.Hint = "case does not count in names of event hubs: rename one of them"
	return f
}

// hubParser reads a file of hubs from its top.
type hubParser struct {
	reader
	out   *Hubs
	names map[string]string // of hubs, lower case: where
}

func (p *hubParser) file() {
	user, ok := p.userConfig("an object with NamespaceConfig")
	if !ok {
		return
	}
	if at, _, ok := user.get("Namespaces"); ok {
		p.otherService(at, eventHubsFile, serviceBusFile)
		return
	}
	user.logging("LoggingConfig")
	if at, ns, ok := user.only("NamespaceConfig"); ok {
		p.namespace(at, ns)
	}
}

func (p *hubParser) namespace(path string, value any) {
	s := p.section(path, value, "Type", "Name", "Entities")
	s.fixed("Type", hubNamespaceType, "the namespace is of another type")
	s.fixed("Name", hubNamespaceName, "the namespace of the emulator has another name")
	if s != nil && !s.given("Entities") {
		s.need("Entities", "a list of event hubs")
	}
	s.items("Entities", p.hub)
}

func (p *hubParser) hub(path string, value any) {
	s := p.section(path, value, "Name", "PartitionCount", "ConsumerGroups")
	h := Hub{Path: path}
	h.Name = p.name(s, "hub", eventhubs.CheckName, p.names)
	h.PartitionCount = s.partitions()
	groups := map[string]string{}
	s.items("ConsumerGroups", func(path string, value any) {
		g := p.section(path, value, "Name", "UserMetadata")
		name := p.name(g, "consumer group", eventhubs.CheckConsumerGroup, groups)
		if name != "" && !strings.EqualFold(name, eventhubs.DefaultConsumerGroup) {
			h.ConsumerGroups = append(h.ConsumerGroups, name)
		}
	})
	p.out.List = append(p.out.List, h)
}

// partitions is the number of partitions of a hub, which the official file has as a
// text.
func (s *section) partitions() int {
	const key = "PartitionCount"
	allowed := fmt.Sprintf("a whole number from 1 to %d, also as a text", eventhubs.MaxPartitions)
	path, v, ok := s.get(key)
	if !ok {
		s.need(key, allowed)
		return 0
	}
	if text, ok := v.(string); ok {
		v = json.Number(text)
	}
	literal, ok := v.(json.Number)
	if !ok {
		s.fault(path, allowed, "not a number")
		return 0
	}
	switch n, err := literal.Int64(); {
	case errors.Is(err, strconv.ErrSyntax):
		s.fault(path, allowed, "not a whole number")
	case err != nil || n < 1 || n > eventhubs.MaxPartitions:
		s.fault(path, allowed, "out of range")
	default:
		return int(n)
	}
	return 0
}
