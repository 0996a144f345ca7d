package app

import (
	"regexp"
	"strings"

	"github.com/redeliver/redeliver/bindings/blob"
)

// loops is L-16: an output that writes to what triggers the function runs it
// again, without end. Event Grid is not looked at, because a function does not
// name the topic that its events come from.
func (l *linter) loops(f *Function) {
	for _, b := range f.Bindings {
		if b == f.Trigger || !b.Output() || !l.sameService(f.Trigger, b) {
			continue
		}
		if key, target := fed(f.Trigger, b); key != "" {
			l.onBinding("L-16", f, b, key, "the output writes to %s, which triggers this function: every run starts another one, without end unless the handler leaves the output unset", target)
		}
	}
}

// sameService reports whether two bindings mean the same connection.
func (l *linter) sameService(a, b *Binding) bool {
	value := func(b *Binding) string {
		name := b.Connection
		if name == "" {
			if kind := findBindingKind(strings.TrimSuffix(strings.ToLower(b.Type), "trigger")); kind != nil {
				name = kind.Connection
			}
		}
		c, _ := l.app.Settings.Connection(name)
		if c.Value != "" {
			return c.Value
		}
		return strings.ToLower(name)
	}
	return value(a) == value(b)
}

// fed returns the property of an output that names the trigger's own source, and
// that source in words; an empty key when the output goes elsewhere.
func fed(trigger, out *Binding) (key, target string) {
	same := func(key string) bool {
		name := trigger.String(key)
		return name != "" && strings.EqualFold(name, out.String(key))
	}
	switch {
	case trigger.Is("queueTrigger") && out.Is("queue") && same("queueName"),
		trigger.Is("serviceBusTrigger") && out.Is("serviceBus") && same("queueName"):
		return "queueName", "queue " + quoted(trigger, "queueName")
	case trigger.Is("serviceBusTrigger") && out.Is("serviceBus") && same("topicName"):
		return "topicName", "topic " + quoted(trigger, "topicName")
	case trigger.Is("eventHubTrigger") && out.Is("eventHub") && same("eventHubName"):
		return "eventHubName", "event hub " + quoted(trigger, "eventHubName")
	case trigger.Is("cosmosDBTrigger") && out.Is("cosmosDB") && same("databaseName") && same("containerName"):
		return "containerName", "container " + quoted(trigger, "containerName")
	case trigger.Is("blobTrigger") && out.Is("blob") && matches(trigger.String("path"), out.String("path")):
		return "path", "a blob that " + quoted(trigger, "path") + " matches"
	}
	return "", ""
}

func quoted(b *Binding, key string) string { return `"` + b.String(key) + `"` }

var blobExpression = regexp.MustCompile(`\{[^{}]*\}`)

// matches reports whether what an output writes can match the pattern of a
// trigger. One text stands for every expression, so a pattern like {name}.jpg does
// not match an output {name}.png.
func matches(pattern, path string) bool {
	p, err := blob.ParsePattern(pattern)
	if err != nil {
		return false
	}
	container, name, err := blob.ParsePath(blobExpression.ReplaceAllString(path, "any"))
	if err != nil {
		return false
	}
	_, ok := p.Match(container, name)
	return ok
}
