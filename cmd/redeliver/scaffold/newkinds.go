package scaffold

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/redeliver/redeliver/cmd/redeliver/cli"
	"github.com/redeliver/redeliver/host/app"
)

// A triggerKind is a trigger as "redeliver new" writes it.
type triggerKind struct {
	name    string // of --trigger
	on      string // what --on means, in words; empty: it has no meaning
	usual   string // --on unless it is given; $ stands for the function's name, % for that in lower case
	parts   bool   // --on has two parts, with a slash between them
	setting string // of the connection unless --connection is given; empty: there is none
	// binding is the trigger in function.json, param the parameter of the function.
	param, binding string
	// try are the commands that have the function run. # stands for --on.
	try []string
	// unbound says why --on has no meaning.
	unbound string
	// further are the ends of the names of functions that come with it: NAMEStep.
	further []string
	// coded kinds are written for functions in code in JavaScript, TypeScript and Python.
	coded bool
}

// newKinds are the triggers that "redeliver new" writes.
var newKinds = []*triggerKind{ // read only
	{
		name: "http", on: "route", usual: "$", param: "req",
		binding: `"type": "httpTrigger", "direction": "in", "name": "req", "route": "{{.Source}}", "methods": ["get", "post"], "authLevel": "anonymous"`,
		try:     []string{"invoke $"},
	},
	{
		name: "timer", on: "schedule", usual: "0 */5 * * * *", param: "timer",
		binding: `"type": "timerTrigger", "direction": "in", "name": "timer", "schedule": "{{.Source}}"`,
		try:     []string{"invoke $"},
	},
	{
		name: "queue", on: "queue", usual: "%", setting: "AzureWebJobsStorage", param: "message",
		binding: `"type": "queueTrigger", "direction": "in", "name": "message", "queueName": "{{.Source}}", "connection": "{{.Connection}}"`,
		try:     []string{"send queue # hello"},
	},
	{
		name: "blob", on: "path", usual: "%/{name}", setting: "AzureWebJobsStorage", param: "blob",
		binding: `"type": "blobTrigger", "direction": "in", "name": "blob", "path": "{{.Source}}", "dataType": "binary", "connection": "{{.Connection}}"`,
		try:     []string{"upload #"},
	},
	{
		name: "servicebus-queue", on: "queue", usual: "%", setting: "AzureWebJobsServiceBus", param: "message",
		binding: `"type": "serviceBusTrigger", "direction": "in", "name": "message", "queueName": "{{.Source}}", "connection": "{{.Connection}}"`,
		try:     []string{"send servicebus # hello"},
	},
	{
		name: "servicebus-topic", on: "TOPIC/SUBSCRIPTION", usual: "%/all", parts: true, setting: "AzureWebJobsServiceBus", param: "message",
		binding: `"type": "serviceBusTrigger", "direction": "in", "name": "message", "topicName": "{{.First}}", "subscriptionName": "{{.Second}}", "connection": "{{.Connection}}"`,
		try:     []string{"send servicebus # hello"},
	},
	{
		name: "eventgrid", param: "event", unbound: "a subscription leads to it",
		binding: `"type": "eventGridTrigger", "direction": "in", "name": "event"`,
		try: []string{"create eventgrid %", "create eventgrid %/all --endpoint $",
			`send eventgrid % '{"subject":"/orders/7","eventType":"Ordered","data":{}}'`},
	},
	{
		name: "eventhub", on: "hub", usual: "%", setting: "AzureWebJobsEventHub", param: "event",
		binding: `"type": "eventHubTrigger", "direction": "in", "name": "event", "eventHubName": "{{.Source}}", "cardinality": "one", "connection": "{{.Connection}}"`,
		try:     []string{"send eventhub # hello"},
	},
	{
		name: "cosmos", on: "DATABASE/CONTAINER", usual: "%/items", parts: true, setting: "AzureWebJobsCosmosDB", param: "documents",
		binding: `"type": "cosmosDBTrigger", "direction": "in", "name": "documents", "databaseName": "{{.First}}", "containerName": "{{.Second}}", "connection": "{{.Connection}}", "createLeaseContainerIfNotExists": true`,
		try:     []string{"create cosmos #", `send cosmos # '{"id":"7"}'`},
	},
	{
		name: "durable", unbound: "a client starts it", further: []string{"Step", "Start"}, coded: true,
		try: []string{`start orchestration $ '{"id":"7"}'`},
	},
}

// embeddedConnections lead to the embedded services, by the setting that names them
// unless another is given.
var embeddedConnections = map[string]string{ // read only
	"AzureWebJobsStorage":    "UseDevelopmentStorage=true",
	"AzureWebJobsServiceBus": cli.BusConnection("localhost"),
	"AzureWebJobsEventHub":   cli.BusConnection("localhost"),
	"AzureWebJobsCosmosDB":   "AccountEndpoint=https://localhost:8081/;AccountKey=C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==",
}

// NewKindNames are the triggers that new writes.
func NewKindNames() (names []string) {
	for _, k := range newKinds {
		names = append(names, k.name)
	}
	return names
}

func kindNames() string { return cli.Choice(NewKindNames()) }

func kindOf(name string) *triggerKind {
	for _, k := range newKinds {
		if k.name == name {
			return k
		}
	}
	return nil
}

// names are those of the function and of the further ones that come with it.
func (n *newFunction) names() []string {
	names := []string{n.name}
	for _, end := range n.kind.further {
		names = append(names, n.name+end)
	}
	return names
}

// newFunction is what "redeliver new" writes.
type newFunction struct {
	kind               *triggerKind
	name               string
	source, connection string
	words              map[string]string // for the places of a template
}

// newFunctionOf checks the words of the command line.
func newFunctionOf(name, trigger, on, connection string) (*newFunction, error) {
	kind := kindOf(trigger)
	switch {
	case !app.ValidName(name):
		return nil, cli.Misused(fmt.Errorf("%q is no name of a function: want a letter, then letters, digits, \"-\" or \"_\", 128 at most", name))
	case strings.EqualFold(name, "host"):
		return nil, cli.Misused(fmt.Errorf("%q is no name of a function: the platform keeps it for itself", name))
	case trigger == "":
		return nil, cli.Hinted(cli.Misused(fmt.Errorf("--trigger is missing")), "want "+kindNames())
	case kind == nil:
		return nil, cli.Mistaken(fmt.Errorf("--trigger %q: want %s", trigger, kindNames()), trigger, NewKindNames())
	case on != "" && kind.on == "":
		return nil, cli.Misused(fmt.Errorf("--on: a function of kind %s is bound to no name: %s", kind.name, kind.unbound))
	case connection != "" && kind.setting == "":
		return nil, cli.Misused(fmt.Errorf("--connection: a trigger of kind %s has none", kind.name))
	}
	for flag, value := range map[string]string{"on": on, "connection": connection} {
		if strings.ContainsAny(value, "\"'`\\\n\r\t$") {
			return nil, cli.Misused(fmt.Errorf("--%s %q: it holds a character that the code of a function cannot", flag, value))
		}
	}
	n := &newFunction{kind: kind, name: name, source: on, connection: connection}
	if n.source == "" {
		n.source = strings.NewReplacer("$", name, "%", lowerName(name)).Replace(kind.usual)
	}
	if n.connection == "" {
		n.connection = kind.setting
	}
	first, second, two := strings.Cut(n.source, "/")
	if kind.parts && (first == "" || second == "" || strings.Contains(second, "/")) {
		return nil, cli.Misused(fmt.Errorf("--on %q: want %s", on, kind.on))
	}
	if kind.name == "blob" && (first == "" || !two) {
		return nil, cli.Misused(fmt.Errorf("--on %q: want CONTAINER/PATTERN, for instance %s", on, lowerName(name)+"/{name}"))
	}
	n.words = map[string]string{
		"Name": name, "Source": n.source, "First": first, "Second": second, "Connection": n.connection,
		"Snake": pythonName(name),
	}
	return n, nil
}

// nameWord matches a word of a name: "OnNewOrder" is on, new and order.
var nameWord = regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)

func wordsOf(name string) []string {
	words := nameWord.FindAllString(name, -1)
	for i := range words {
		words[i] = strings.ToLower(words[i])
	}
	return words
}

// lowerName is a name as queues, containers and hubs have them.
func lowerName(name string) string {
	lower := strings.Join(wordsOf(name), "-")
	if len(lower) < 3 {
		lower += "-items" // the least length of a queue's name is 3
	}
	return strings.TrimRight(lower[:min(len(lower), 50)], "-")
}

// pythonName is the name of the function in Python. One word alone could be a keyword, or
// the name of the app or of a module.
func pythonName(name string) string {
	words := wordsOf(name)
	if len(words) == 1 {
		words = append(words, "function")
	}
	return strings.Join(words, "_")
}

// goName is a part of an identifier in Go.
func goName(name string) string {
	var b strings.Builder
	for _, part := range strings.FieldsFunc(name, func(c rune) bool { return c == '-' || c == '_' }) {
		b.WriteString(strings.ToUpper(part[:1]) + part[1:])
	}
	return b.String()
}

// section is the part of a template for the kind of the function.
func (n *newFunction) section(template string) string {
	text, err := newApp.ReadFile("newapp/" + template)
	if err != nil { // a template of ours
		panic(err)
	}
	_, rest, found := strings.Cut("\n"+string(text), "\n== "+n.kind.name+"\n")
	if !found {
		panic(template + " has no section " + n.kind.name)
	}
	own, _, _ := strings.Cut(rest, "\n== ")
	return strings.TrimRight(own, "\n") + "\n"
}

// fill puts words into the places of a template.
func (n *newFunction) fill(template string) string {
	for name, word := range n.words {
		template = strings.ReplaceAll(template, "{{."+name+"}}", word)
	}
	return template
}

// functionFile is the function.json of the function; response is the name of what answers
// an HTTP request.
func (n *newFunction) functionFile(response string) string {
	bindings := "    { " + n.fill(n.kind.binding) + " }"
	if n.kind.name == "http" {
		bindings += ",\n    { \"type\": \"http\", \"direction\": \"out\", \"name\": \"" + response + "\" }"
	}
	return "{\n  \"bindings\": [\n" + bindings + "\n  ]\n}\n"
}
