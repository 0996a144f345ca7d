package app

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/schemas"
)

// BindingKind holds the facts of one binding type of the platform, other than the
// triggers of this host, which are [Kind]. A type that is in no table is misspelt.
type BindingKind struct {
	// Type is the canonical spelling; types match ignoring case.
	Type string
	// Of names the service or feature of the type, in words.
	Of string
	// Odd says what the platform makes of a direction that is not written as its word.
	Odd DirectionRule
	// Directions are the directions that the platform knows, such as "out"; triggers
	// have "trigger".
	Directions []string
	// Served lists the Directions that this host serves itself. In the others
	// the type is foreign: its trigger does not run, its output is recorded,
	// its input has a fixed value or stops its function.
	Served []string
	// Unserved says what of one input is not served although the direction is, as the end
	// of "the type ..."; empty: it is served. An input of such a type takes a fixed value,
	// where host.json has one for it, in the place of what its service holds. Nil: all are
	// served, and none takes one.
	Unserved func(b *Binding) string
	// Connection is the name that an empty "connection" stands for, where a direction is
	// served; "" for bindings without connections.
	Connection string
	// Answers is set for the output that is the answer to a request. It is sent once,
	// after the last attempt, and stores nothing.
	Answers bool
	// Validate checks what only this type knows, where a direction is served. A fault of a
	// property that has one already is not told. Nil: nothing.
	Validate func(a *App, f *Function, b *Binding) []*schemas.Fault
	// Warn finds what is wrong and does not keep the function from being loaded. Nil:
	// nothing.
	Warn func(a *App, f *Function, b *Binding) []*schemas.Fault
	// Lint finds the lints that only this type knows, in a function without faults. Nil:
	// none.
	Lint func(r *Review, b *Binding)
}

// serves reports whether a direction of the type is served.
func (k *BindingKind) serves(direction string) bool { return slices.Contains(k.Served, direction) }

// foreignKinds are the binding types of the platform that this host does not serve,
// triggers among them.
//
// Sources: extensions.json of Microsoft.Azure.Functions.ExtensionBundle; the binding
// attributes in the repositories of the extensions for Dapr, OpenAI, Redis, Model Context
// Protocol and Web PubSub for Socket.IO; decorators/constants.py of
// azure-functions-python-library; for directions the samples of function.json in the
// reference of each extension on learn.microsoft.com. Not read type by type: MySQL, and
// the first version.
var foreignKinds = []BindingKind{ // read only
	{Type: "sqlTrigger", Of: "Azure SQL", Directions: onlyTrigger},
	{Type: "sql", Of: "Azure SQL", Directions: inOrOut},
	{Type: "mysqlTrigger", Of: "MySQL", Directions: onlyTrigger},
	{Type: "mysql", Of: "MySQL", Directions: inOrOut},
	{Type: "kusto", Of: "Azure Data Explorer", Directions: inOrOut},
	{Type: "kafkaTrigger", Of: "Kafka", Directions: onlyTrigger},
	{Type: "kafka", Of: "Kafka", Directions: onlyOut},
	{Type: "rabbitMQTrigger", Of: "RabbitMQ", Directions: onlyTrigger},
	{Type: "rabbitMQ", Of: "RabbitMQ", Directions: onlyOut},
	{Type: "redisPubSubTrigger", Of: "Redis", Directions: onlyTrigger},
	{Type: "redisListTrigger", Of: "Redis", Directions: onlyTrigger},
	{Type: "redisStreamTrigger", Of: "Redis", Directions: onlyTrigger},
	{Type: "redis", Of: "Redis", Directions: inOrOut},
	{Type: "sendGrid", Of: "SendGrid", Directions: onlyOut},
	{Type: "twilioSms", Of: "Twilio", Directions: onlyOut},

	{Type: "signalRTrigger", Of: "SignalR Service", Directions: onlyTrigger},
	{Type: "signalR", Of: "SignalR Service", Directions: onlyOut},
	{Type: "signalRConnectionInfo", Of: "SignalR Service", Directions: onlyIn},
	{Type: "signalRNegotiation", Of: "SignalR Service", Directions: onlyIn},
	{Type: "signalREndpoints", Of: "SignalR Service", Directions: onlyIn},
	{Type: "webPubSubTrigger", Of: "Web PubSub", Directions: onlyTrigger},
	{Type: "webPubSub", Of: "Web PubSub", Directions: onlyOut},
	{Type: "webPubSubConnection", Of: "Web PubSub", Directions: onlyIn},
	{Type: "webPubSubContext", Of: "Web PubSub", Directions: onlyIn},
	{Type: "webPubSubRequest", Of: "Web PubSub", Directions: onlyIn},
	{Type: "socketIOTrigger", Of: "Web PubSub", Directions: onlyTrigger},
	{Type: "socketIO", Of: "Web PubSub", Directions: onlyOut},
	{Type: "socketIONegotiation", Of: "Web PubSub", Directions: onlyIn},

	{Type: "daprServiceInvocationTrigger", Of: "Dapr", Directions: onlyTrigger},
	{Type: "daprTopicTrigger", Of: "Dapr", Directions: onlyTrigger},
	{Type: "daprBindingTrigger", Of: "Dapr", Directions: onlyTrigger},
	{Type: "daprState", Of: "Dapr", Directions: inOrOut},
	{Type: "daprSecret", Of: "Dapr", Directions: onlyIn},
	{Type: "daprPublish", Of: "Dapr", Directions: onlyOut},
	{Type: "daprInvoke", Of: "Dapr", Directions: onlyOut},
	{Type: "daprBinding", Of: "Dapr", Directions: onlyOut},

	{Type: "mcpToolTrigger", Of: "Model Context Protocol", Directions: onlyTrigger},
	{Type: "mcpResourceTrigger", Of: "Model Context Protocol", Directions: onlyTrigger},
	{Type: "mcpPromptTrigger", Of: "Model Context Protocol", Directions: onlyTrigger},
	{Type: "mcpToolProperty", Of: "Model Context Protocol", Directions: onlyIn},
	{Type: "assistantSkillTrigger", Of: "OpenAI", Directions: onlyTrigger},
	{Type: "assistantCreate", Of: "OpenAI", Directions: onlyOut},
	{Type: "assistantPost", Of: "OpenAI", Directions: onlyIn},
	{Type: "assistantQuery", Of: "OpenAI", Directions: onlyIn},
	{Type: "textCompletion", Of: "OpenAI", Directions: onlyIn},
	{Type: "embeddings", Of: "OpenAI", Directions: onlyIn},
	{Type: "embeddingsStore", Of: "OpenAI", Directions: onlyOut},
	{Type: "semanticSearch", Of: "OpenAI", Directions: onlyIn},
	{Type: "authenticationEventsTrigger", Of: "Entra ID authentication events", Directions: onlyTrigger},
	{Type: "connectorTrigger", Of: "Logic Apps connectors", Directions: onlyTrigger},

	{Type: "documentDB", Of: versionOne, Directions: inOrOut},
	{Type: "mobileTable", Of: versionOne, Directions: inOrOut},
	{Type: "notificationHub", Of: versionOne, Directions: onlyOut},
	{Type: "bot", Of: versionOne, Directions: onlyOut},
	{Type: "apiHubFileTrigger", Of: versionOne, Directions: onlyTrigger},
	{Type: "apiHubFile", Of: versionOne, Directions: []string{"in", "out", "inout"}},
	{Type: "apiHubTable", Of: versionOne, Directions: inOrOut},
}

var (
	onlyTrigger = []string{"trigger"}   // read only
	onlyIn      = []string{"in"}        // read only
	onlyOut     = []string{"out"}       // read only
	inOrOut     = []string{"in", "out"} // read only
)

const versionOne = "the first version of Azure Functions"

// foreignTrigger returns the facts of a trigger of the platform that this host does
// not serve; nil when typ is no such trigger.
func (l *indexer) foreignTrigger(typ string) *BindingKind {
	if l.opts.Kinds.trigger(typ) != nil {
		return nil
	}
	if kind := l.opts.Kinds.binding(typ); kind != nil && slices.Contains(kind.Directions, "trigger") {
		return kind
	}
	return nil
}

// directions are the words of a binding's direction, by the numbers of the platform's enum.
var directions = [...]string{"in", "out", "inout"} // read only

// directionOf is the direction that the platform's enum makes of a value: a word in any
// case, its number, also as text, several with commas between them. asNamed says that it
// is written as a word. A value that is none comes back as text.
func directionOf(v any) (direction string, asNamed bool) {
	text := strings.ToLower(document.ScalarText(v))
	_, isNumber := v.(json.Number)
	if _, isText := v.(string); !isText && !isNumber || text == "" {
		return text, true
	}
	sum := 0
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		n := -1
		for i, word := range directions {
			if part == word {
				n = i
			}
		}
		if n < 0 {
			var err error
			if n, err = strconv.Atoi(part); err != nil {
				return text, true
			}
		}
		sum |= n
	}
	if sum < 0 || sum >= len(directions) {
		return text, false
	}
	return directions[sum], directions[sum] == text
}

// A DirectionRule says what the platform makes of a direction that its enum reads and that
// is not written as the word (observed: host 4.1037).
type DirectionRule int

// The rules.
const (
	WordsOnly      DirectionRule = iota // the function is in error
	AnyDirection                        // it counts
	LateDirections                      // each delivery fails
)

// readDirection reads a binding's direction.
func readDirection(b *Binding, kinds *Kinds) {
	asNamed := false
	if b.Direction, asNamed = directionOf(b.Value("direction")); b.Direction == "" {
		b.Direction = "in"
	}
	if asNamed {
		return
	}
	rule := WordsOnly
	if kind := kinds.trigger(b.Type); kind != nil {
		rule = kind.Odd
	} else if kind := kinds.binding(b.Type); kind != nil {
		rule = kind.Odd
	}
	if rule == AnyDirection && !slices.Contains(directions[:], b.Direction) {
		rule = WordsOnly
	}
	b.odd = rule
}

// odd is the rule for a fault about a binding's direction.
func (f *Function) odd(fault *schemas.Fault) DirectionRule {
	for _, b := range f.Bindings {
		if fault.Path == b.PathOf("direction") {
			return b.odd
		}
	}
	return WordsOnly
}
