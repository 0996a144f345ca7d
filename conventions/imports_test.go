package conventions_test

import (
	"strings"
	"testing"
)

// contracts are the packages that say what functions bind to, service by service.
func contracts() []string {
	return []string{
		"./bindings", "./bindings/storage", "./bindings/queue", "./bindings/blob", "./bindings/table",
		"./bindings/messaging", "./bindings/servicebus", "./bindings/eventhubs", "./bindings/cosmos", "./bindings/durable",
	}
}

// kits are the packages that exist for tests: suites and the test kit.
func kits() []string {
	return []string{"./bindings/bindingtest", "./triggers/triggertest", "./host/hosttest", "./host/hosttest/leaktest", "./host/invokertest", "./host/emulator/store/storetest", "./host/listen/listentest", "./host/ops/toytest"}
}

// An importRule says what some packages may import.
type importRule struct {
	name string
	of   func(p pkg) bool           // the packages it is about
	may  func(imported string) bool // what these may import
}

func importRules() []importRule {
	is := func(trees ...string) func(pkg) bool {
		return func(p pkg) bool { return within(p.ImportPath, trees...) }
	}
	not := func(trees ...string) func(pkg) bool {
		return func(p pkg) bool { return !within(p.ImportPath, trees...) }
	}
	only := func(trees ...string) func(string) bool {
		return func(imported string) bool { return standard(imported) || within(imported, trees...) }
	}
	except := func(trees ...string) func(string) bool {
		return func(imported string) bool { return !within(imported, trees...) }
	}
	and := func(more ...string) []string { return append(contracts(), more...) }
	pluginLibraries := []string{
		"github.com/hashicorp/go-plugin/...", "github.com/hashicorp/go-hclog",
		"google.golang.org/grpc/...", "google.golang.org/protobuf/...",
	}
	return []importRule{
		// Rule 1.
		{
			"outside host and cmd nothing imports host, except that listeners import the clock",
			not("./host/...", "./cmd/...", "./triggers/..."), except("./host/..."),
		},
		{"the clock imports the standard library only", is("./host/clock"), only()},

		// Rule 2.
		{"retrycontext stands alone", is("./retrycontext"), only()},
		{"bindings know the platform's JSON", is("./bindings"), only("./bindings/netjson")},
		{"what services share knows bindings", is("./bindings/storage", "./bindings/messaging"), only("./bindings")},
		{"a storage contract knows what storage shares", is("./bindings/queue", "./bindings/blob", "./bindings/table"), only("./bindings", "./bindings/storage")},
		{"a contract over AMQP knows what AMQP services share", is("./bindings/servicebus", "./bindings/eventhubs"), only("./bindings", "./bindings/messaging")},
		{"JSON as the platform reads it stands alone", is("./bindings/netjson"), only()},
		{"answers know values and their texts", is("./bindings/httpanswer"), only("./bindings", "./bindings/netjson")},
		{"Cosmos DB shares nothing", is("./bindings/cosmos"), only("./bindings")},
		{"a suite for services needs the contracts only", is("./bindings/bindingtest"), only(contracts()...)},
		{"triggers know bindings", is("./triggers"), only("./bindings")},
		{
			"listeners import triggers, bindings, retrycontext and the clock",
			func(p pkg) bool {
				return strings.HasPrefix(p.ImportPath, "./triggers/") && p.ImportPath != "./triggers/blob"
			},
			only(and("./triggers", "./triggers/serving", "./retrycontext", "./host/clock")...),
		},
		{
			"the blob trigger reads its control queue as any queue is read", is("./triggers/blob"),
			only(and("./triggers", "./triggers/queue", "./triggers/hostlock", "./host/clock")...),
		},
		{
			"what a handler author links stays small",
			is("./functions", "./functions/call", "./functions/functionpb"),
			only(append(pluginLibraries, "./functions/call", "./functions/functionpb", "./bindings", "./retrycontext")...),
		},
		{"samples use what every author has", is("./functions/samples/..."), only("./functions")},
		{"only cmd chooses the cloud", not("./cmd/...", "./bindings/azure/..."), except("./bindings/azure/...")},

		// Rule 3.
		{"scenarios run on the kit, outside of tests", is("./host/scenario"), except("testing/...", "./cmd/...")},
		{"only tests and kits import testing", not(append(kits(), "./host/scenario", "./host/kit")...), except("testing/...", "./bindings/bindingtest", "./triggers/triggertest", "./host/invokertest", "./host/hosttest", "./host/hosttest/leaktest", "./host/emulator/store/storetest")},

		// The arrows.
		{
			"below host only its drivers import it",
			func(p pkg) bool {
				return strings.HasPrefix(p.ImportPath, "./host/") && !within(p.ImportPath, "./host/web/...", "./host/ops/...", "./host/hosttest", "./host/redrive")
			},
			except("./host"),
		},
		{"services know no triggers and no handlers", is("./host/emulator/..."), func(imported string) bool {
			return !ours(imported) || within(imported, and("./host/clock", "./host/journal", "./host/listen", "./host/emulator/...", "./schemas")...)
		}},
		{"connections and services know no triggers and no handlers", is("./host/services"), func(imported string) bool {
			return !ours(imported) || within(imported, and("./host/app/...", "./host/clock", "./host/journal", "./host/listen", "./host/emulator/...")...)
		}},
		{"what listeners share knows none of them", is("./host/listen"), only("github.com/rs/zerolog", "golang.org/x/sys/...")},
		{"processes know nothing of what is said to them", is("./host/process"), only("./functions/call", "./host/clock", "golang.org/x/sys/...")},
		{"the ways to handlers know no app", is("./host/plugin", "./host/worker/...", "./host/customhandler"), except("./host", "./host/app/...", "./host/kinds/...", "./triggers/...", "./host/journal")},
		{"what is recorded of outputs knows no attempts and no services", is("./host/recorded"), only("./bindings", "./host/app", "./host/journal")},
		{"the journal knows no host", is("./host/journal"), only("./retrycontext")},
		{"outside of cmd nothing imports a command", not("./cmd/..."), except("./cmd/...")},
		{
			"of the command only run composes servers",
			func(p pkg) bool {
				return within(p.ImportPath, "./cmd/redeliver/...") && p.ImportPath != "./cmd/redeliver/run"
			},
			func(imported string) bool {
				return !within(imported, "./host/emulator/...") || imported == "./host/emulator/servicebus/duration" // how durations are written
			},
		},
		{"what is printed of a host knows no command", is("./cmd/redeliver/show"), except("./cmd/redeliver", "./cmd/redeliver/run", "./cmd/redeliver/verbs", "./cmd/redeliver/remote", "./host/web/...")},
		{"commands for a running host run none", is("./cmd/redeliver/verbs"), except("./cmd/redeliver", "./cmd/redeliver/run")},

		// Each named dependency has one home.
		{"fsnotify is at home in host/watch", not("./host/watch"), except("github.com/fsnotify/fsnotify/...")},
		{"YAML is at home in schemas", not("./schemas"), except("go.yaml.in/...", "gopkg.in/yaml.v3")},
		{"jsonschema is at home in schemas", not("./schemas"), except("github.com/santhosh-tekuri/jsonschema/...")},
		{"go-plugin is at home in host/plugin and functions", not("./host/plugin", "./functions"), except("github.com/hashicorp/...")},
		{"zerolog is at home in cmd and host", not("./cmd/...", "./host/..."), except("github.com/rs/zerolog/...")},
		{"random UUIDs are at home in cmd and what serves requests", not("./cmd/...", "./host/ops/...", "./host/emulator/rest/..."), except("github.com/google/uuid")},
		{"the libraries of telemetry are at home in host/telemetry", not("./host/telemetry/..."), except("github.com/prometheus/...", "go.opentelemetry.io/...")},
		{"hashing in lanes is at home in host/emulator/storage/blobs", not("./host/emulator/storage/blobs"), except("github.com/minio/md5-simd")},
		{"the CRC-64 of storage is at home in host/emulator/rest", not("./host/emulator/rest"), except("github.com/minio/crc64nvme")},
		{"the protocol of assistants is at home in cmd/redeliver/mcp", not("./cmd/redeliver/mcp"), except("github.com/modelcontextprotocol/...")},
		{"cobra is at home in cmd", not("./cmd/..."), except("github.com/spf13/...")},
		{"templates would keep the methods of every type in the binary", not(), except("text/template", "html/template")},
		{"comparing and scripting is for tests", not(kits()...), except("github.com/google/go-cmp/...", "github.com/rogpeppe/go-internal/...")},
	}
}

// The import rules of ARCHITECTURE.md, for non-test files.
func TestImports(t *testing.T) {
	t.Parallel()
	list := packages(t)
	for _, rule := range importRules() {
		t.Run(rule.name, func(t *testing.T) {
			t.Parallel()
			for _, p := range list {
				if !rule.of(p) {
					continue
				}
				for _, imported := range p.Imports {
					if !rule.may(imported) {
						t.Errorf("%s imports %s", p.ImportPath, imported)
					}
				}
			}
		})
	}
}

// The rules can fail: each refuses an import that it is about.
func TestImportRulesRefuse(t *testing.T) {
	t.Parallel()
	bad := []struct{ from, to string }{
		{"./schemas", "./host/journal"},
		{"./host/clock", "./host/journal"},
		{"./retrycontext", "./bindings"},
		{"./bindings", "github.com/spf13/cobra"},
		{"./bindings/queue", "./bindings/blob"},
		{"./bindings/eventhubs", "./bindings/servicebus"},
		{"./bindings/messaging", "./bindings/servicebus"},
		{"./bindings/cosmos", "./bindings/storage"},
		{"./bindings/netjson", "./bindings"},
		{"./bindings", "./bindings/queue"},
		{"./bindings/httpanswer", "./bindings/queue"},
		{"./bindings/bindingtest", "./triggers"},
		{"./triggers", "./retrycontext"},
		{"./triggers/queue", "./host/journal"},
		{"./triggers/blob", "./triggers/timer"},
		{"./functions", "github.com/rs/zerolog"},
		{"./functions/samples/orders", "./bindings"},
		{"./host", "./bindings/azure"},
		{"./host", "testing"},
		{"./host", "testing/fstest"},
		{"./host/scenario", "testing"},
		{"./host/app", "go.yaml.in/yaml/v3"},
		{"./host/plugin", "./host"},
		{"./host/process", "./functions/functionpb"},
		{"./host/worker", "./host/app"},
		{"./host/emulator/rest", "./triggers"},
		{"./host/services", "./triggers/queue"},
		{"./host/recorded", "./host/kinds"},
		{"./host/journal", "./bindings"},
		{"./host/listen", "./bindings"},
		{"./host/web", "./cmd/redeliver"},
		{"./cmd/redeliver/verbs", "./host/emulator/amqp"},
		{"./cmd/redeliver/show", "./cmd/redeliver/remote"},
		{"./cmd/redeliver/verbs", "./cmd/redeliver/run"},
		{"./cmd/redeliver", "github.com/fsnotify/fsnotify"},
		{"./host/app", "github.com/santhosh-tekuri/jsonschema/v5"},
		{"./host", "github.com/hashicorp/go-plugin"},
		{"./schemas", "github.com/rs/zerolog"},
		{"./cmd/redeliver", "github.com/modelcontextprotocol/go-sdk/mcp"},
		{"./host/web", "github.com/spf13/cobra"},
		{"./host/emulator/storage", "github.com/google/uuid"},
		{"./host/emulator/rest", "github.com/minio/md5-simd"},
		{"./host/emulator/storage", "github.com/minio/crc64nvme"},
		{"./host", "go.opentelemetry.io/otel/trace"},
		{"./host/web", "github.com/prometheus/client_golang/prometheus"},
		{"./cmd/redeliver", "text/template"},
		{"./host/app", "github.com/google/go-cmp/cmp"},
	}
	rules := importRules()
	refused := make([]bool, len(rules))
	for _, b := range bad {
		found := false
		for i, rule := range rules {
			if rule.of(pkg{ImportPath: b.from}) && !rule.may(b.to) {
				refused[i], found = true, true
			}
		}
		if !found {
			t.Errorf("no rule refuses that %s imports %s", b.from, b.to)
		}
	}
	for i, rule := range rules {
		if !refused[i] {
			t.Errorf("rule %q refuses none of the bad imports", rule.name)
		}
	}
}
