package schemas

import (
	"encoding/json"
	"fmt"
	"strings"
)

// crossChecks holds the rules between properties, which a schema cannot say, or
// not in words that help. Each gets the canonical content and leaves alone what
// the schema has found wrong already.
var crossChecks = map[Name][]func(*validation, map[string]any){
	HostJSON: {
		hostVersion,
		batchOrder("extensions.serviceBus", "minMessageBatchSize", "maxMessageBatchSize", 1000),
		batchOrder("extensions.eventHubs", "minEventBatchSize", "maxEventBatchSize", 100),
	},
	FunctionJSON: {
		returnDirection,
		serviceBusEntity,
		cosmosOutput,
		cosmosStart,
		cosmosMode,
	},
}

// hostVersion gives the hints that the platform gives. Source: host:
// HostJsonFileConfigurationSource.cs.
func hostVersion(v *validation, content map[string]any) {
	for _, f := range v.faults {
		if f.Path != "version" {
			continue
		}
		text, _ := content["version"].(string)
		written := v.d.root.member("version")
		switch {
		case strings.HasPrefix(text, "3"):
			f.Hint += "; this is the version of the file format, not of the runtime"
		case f.Found == "" && written != nil && written.kind != nullNode && written.text != "":
			f.Hint += "; the case of this key counts"
		case f.Found != "" && written.kind == numberNode:
			f.Hint += ", as text: a number loses its decimal part"
		}
	}
}

// batchOrder demands that a batch's minimum is not above its maximum. Source:
// the extensions' own check when a listener starts.
func batchOrder(section, low, high string, standard int64) func(*validation, map[string]any) {
	return func(v *validation, content map[string]any) {
		var at any = content
		for key := range strings.SplitSeq(section, ".") {
			at = object(at)[key]
		}
		least, ok := whole(object(at)[low])
		if !ok {
			return
		}
		most, ok := whole(object(at)[high])
		if !ok {
			most = standard
		}
		path := JoinPath(section, low)
		if least > most && !v.seen[path] && !v.seen[JoinPath(section, high)] {
			f := v.d.Fault(path, v.d.Found(path), fmt.Sprintf("a whole number from 1 to %d", most), "greater than "+high)
			f.Kind = KindInvalidOperation
			v.add(f)
		}
	}
}

func whole(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	i, err := n.Int64()
	return i, err == nil
}

// eachBinding calls f with every binding that is an object.
func eachBinding(content map[string]any, f func(path string, b map[string]any)) {
	list, _ := content["bindings"].([]any)
	for i, item := range list {
		if b := object(item); b != nil {
			f(IndexPath("bindings", i), b)
		}
	}
}

// returnDirection demands direction out of the binding $return. Source: host:
// Utility.cs ValidateBinding.
func returnDirection(v *validation, content map[string]any) {
	eachBinding(content, func(path string, b map[string]any) {
		if b["name"] != "$return" || b["direction"] == "out" {
			return
		}
		at := JoinPath(path, "direction")
		f := v.d.Fault(at, v.d.Found(at), `"out"`, "the binding $return must have this direction")
		f.Kind = KindArgument
		v.add(f)
	})
}

// serviceBusEntity demands a queue or a topic. Source: spec messaging 2.2, 2.6.
func serviceBusEntity(v *validation, content map[string]any) {
	eachBinding(content, func(path string, b map[string]any) {
		trigger := b["type"] == "serviceBusTrigger"
		if !trigger && b["type"] != "serviceBus" || b["queueName"] != nil || !trigger && b["queueOrTopicName"] != nil {
			return
		}
		missing, allowed := "", "queueName, or topicName"
		if trigger {
			allowed = "queueName, or topicName with subscriptionName"
		}
		switch {
		case b["topicName"] == nil:
			missing = "queueName"
		case trigger && b["subscriptionName"] == nil:
			missing = "subscriptionName"
		default:
			return
		}
		f := v.d.Fault(JoinPath(path, missing), "", allowed, "is required")
		f.Kind = KindArgumentNull
		v.add(f)
	})
}

// cosmosOutput demands where documents go. An input can be a client that names neither.
// Source: worker: samples/Extensions/CosmosDB.
func cosmosOutput(v *validation, content map[string]any) {
	eachBinding(content, func(path string, b map[string]any) {
		if b["type"] != "cosmosDB" || b["direction"] != "out" {
			return
		}
		for _, key := range []string{"databaseName", "containerName"} {
			if at := JoinPath(path, key); b[key] == nil && !v.seen[at] {
				f := v.d.Fault(at, "", "text", "is required")
				f.Kind = KindArgumentNull
				v.add(f)
			}
		}
	})
}

// cosmosMode refuses a mode that is not built: as LatestVersion the function would get
// other items. The mode cannot begin in the past. Source: spec drift-2026 C-7.
func cosmosMode(v *validation, content map[string]any) {
	eachBinding(content, func(path string, b map[string]any) {
		if b["type"] != "cosmosDBTrigger" || b["changeFeedMode"] != "AllVersionsAndDeletes" {
			return
		}
		at := JoinPath(path, "changeFeedMode")
		v.add(v.d.Fault(at, v.d.Found(at), `"LatestVersion"`, "Redeliver does not serve this mode"))
		for key, set := range map[string]bool{"startFromBeginning": b["startFromBeginning"] == true, "startFromTime": b["startFromTime"] != nil} {
			if at := JoinPath(path, key); set && !v.seen[at] {
				f := v.d.Fault(at, v.d.Found(at), "no start in the past", "changeFeedMode AllVersionsAndDeletes begins now")
				f.Kind = KindInvalidOperation
				v.add(f)
			}
		}
	})
}

// cosmosStart refuses two ways to begin at once. Source: spec messaging 7.
func cosmosStart(v *validation, content map[string]any) {
	eachBinding(content, func(path string, b map[string]any) {
		if b["type"] != "cosmosDBTrigger" || b["startFromTime"] == nil || b["startFromBeginning"] != true {
			return
		}
		at := JoinPath(path, "startFromTime")
		f := v.d.Fault(at, v.d.Found(at), "startFromTime or startFromBeginning", "startFromBeginning is set too")
		f.Kind = KindInvalidOperation
		v.add(f)
	})
}
