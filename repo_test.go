package redeliver_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/redeliver/redeliver"

// A pkg is what `go list -json` says of one package of the module, with its
// paths made relative to the module.
type pkg struct {
	ImportPath string
	Name       string
	Dir        string
	Imports    []string
}

// packages lists the packages of the module.
func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Dir,Imports", "./...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var list []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		p.ImportPath = relative(p.ImportPath)
		for i := range p.Imports {
			p.Imports[i] = relative(p.Imports[i])
		}
		list = append(list, p)
	}
	if len(list) < 20 {
		t.Fatalf("go list found %d packages only", len(list))
	}
	return list
}

// relative turns the import path of one of our packages into "./<path>".
func relative(importPath string) string {
	if rest, ok := strings.CutPrefix(importPath, module); ok && (rest == "" || rest[0] == '/') {
		return "." + rest
	}
	return importPath
}

func ours(importPath string) bool { return importPath == "." || strings.HasPrefix(importPath, "./") }

func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !ours(importPath) && !strings.Contains(first, ".")
}

// within reports whether a path is one of trees, or lies below a tree that ends
// in "/...".
func within(importPath string, trees ...string) bool {
	for _, tree := range trees {
		root, below := strings.CutSuffix(tree, "/...")
		if importPath == root || below && strings.HasPrefix(importPath, root+"/") {
			return true
		}
	}
	return false
}

// contracts are the packages that say what functions bind to, service by service.
func contracts() []string {
	return []string{
		"./bindings", "./bindings/storage", "./bindings/queue", "./bindings/blob",
		"./bindings/messaging", "./bindings/servicebus", "./bindings/eventhubs", "./bindings/cosmos",
	}
}

// kits are the packages that exist for tests: suites and the test kit.
func kits() []string {
	return []string{"./bindings/bindingtest", "./triggers/triggertest", "./host/hosttest", "./host/hosttest/leaktest", "./host/invokertest", "./host/emulator/store/storetest"}
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
		{"a storage contract knows what storage shares", is("./bindings/queue", "./bindings/blob"), only("./bindings", "./bindings/storage")},
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
		{"only tests and kits import testing", not(append(kits(), "./host/scenario")...), except("testing/...", "./bindings/bindingtest", "./triggers/triggertest", "./host/invokertest", "./host/hosttest", "./host/hosttest/leaktest", "./host/emulator/store/storetest")},

		// The arrows.
		{
			"below host only its drivers import it",
			func(p pkg) bool {
				return strings.HasPrefix(p.ImportPath, "./host/") && !within(p.ImportPath, "./host/web/...", "./host/hosttest", "./host/redrive")
			},
			except("./host"),
		},
		{"services know no triggers and no handlers", is("./host/emulator/..."), func(imported string) bool {
			return !ours(imported) || within(imported, and("./host/clock", "./host/journal", "./host/listen", "./host/emulator/...", "./schemas")...)
		}},
		{"connections and services know no triggers and no handlers", is("./host/services"), func(imported string) bool {
			return !ours(imported) || within(imported, and("./host/app", "./host/clock", "./host/journal", "./host/listen", "./host/emulator/...")...)
		}},
		{"what listeners share knows none of them", is("./host/listen"), only("github.com/rs/zerolog", "golang.org/x/sys/...")},
		{"processes know nothing of what is said to them", is("./host/process"), only("./functions/call", "./host/clock", "golang.org/x/sys/...")},
		{"the ways to handlers know no app", is("./host/plugin", "./host/worker/...", "./host/customhandler"), except("./host", "./host/app", "./host/kinds/...", "./triggers/...", "./host/journal")},
		{"what is recorded of outputs knows no attempts and no services", is("./host/outputs"), only("./bindings", "./host/app", "./host/journal")},
		{"the journal knows no host", is("./host/journal"), only("./retrycontext")},
		{"nothing imports a command", not(), except("./cmd/...")},

		// Each named dependency has one home.
		{"fsnotify is at home in host/watch", not("./host/watch"), except("github.com/fsnotify/fsnotify/...")},
		{"YAML is at home in schemas", not("./schemas"), except("go.yaml.in/...", "gopkg.in/yaml.v3")},
		{"jsonschema is at home in schemas", not("./schemas"), except("github.com/santhosh-tekuri/jsonschema/...")},
		{"go-plugin is at home in host/plugin and functions", not("./host/plugin", "./functions"), except("github.com/hashicorp/...")},
		{"zerolog is at home in cmd and host", not("./cmd/...", "./host/..."), except("github.com/rs/zerolog/...")},
		{"random UUIDs are at home in cmd and what serves requests", not("./cmd/...", "./host/web", "./host/emulator/rest/..."), except("github.com/google/uuid")},
		{"the libraries of telemetry are at home in host/telemetry", not("./host/telemetry/..."), except("github.com/prometheus/...", "go.opentelemetry.io/...")},
		{"hashing in lanes is at home in host/emulator", not("./host/emulator"), except("github.com/minio/md5-simd")},
		{"the CRC-64 of storage is at home in host/emulator/rest", not("./host/emulator/rest"), except("github.com/minio/crc64nvme")},
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
		{"./host/outputs", "./host/kinds"},
		{"./host/journal", "./bindings"},
		{"./host/listen", "./bindings"},
		{"./host/web", "./cmd/redeliver"},
		{"./cmd/redeliver", "github.com/fsnotify/fsnotify"},
		{"./host/app", "github.com/santhosh-tekuri/jsonschema/v5"},
		{"./host", "github.com/hashicorp/go-plugin"},
		{"./schemas", "github.com/rs/zerolog"},
		{"./host/web", "github.com/spf13/cobra"},
		{"./host/emulator", "github.com/google/uuid"},
		{"./host/emulator/rest", "github.com/minio/md5-simd"},
		{"./host/emulator", "github.com/minio/crc64nvme"},
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

// Only host/listen opens ports and makes servers.
func TestOneListens(t *testing.T) {
	t.Parallel()
	found := 0
	for _, p := range packages(t) {
		for _, name := range goFiles(t, p.Dir) {
			if strings.HasSuffix(name, "_test.go") || within(p.ImportPath, kits()...) {
				continue
			}
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				of, ok := sel.X.(*ast.Ident)
				switch {
				case !ok || !slices.Contains([]string{"net.Listen", "net.ListenTCP", "net.ListenConfig", "http.Server", "http.ListenAndServe", "http.Serve", "tls.Listen", "tls.NewListener", "tls.Server"}, of.Name+"."+sel.Sel.Name):
				case p.ImportPath == "./host/listen":
					found++
				default:
					t.Errorf("%s: %s.%s outside host/listen", fset.Position(sel.Pos()), of.Name, sel.Sel.Name)
				}
				return true
			})
		}
	}
	if found < 5 {
		t.Errorf("%d places in host/listen: the test does not find its subject", found)
	}
}

// Every package says what it is for, and every exported identifier adds
// something to its name.
func TestComments(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		t.Run(p.ImportPath, func(t *testing.T) {
			t.Parallel()
			fset := token.NewFileSet()
			described, code := false, false
			for _, name := range goFiles(t, p.Dir) {
				if strings.HasSuffix(name, "_test.go") {
					continue
				}
				file, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
				if err != nil {
					t.Fatal(err)
				}
				code = true
				described = described || file.Doc.Text() != ""
				if p.Name == "main" || ast.IsGenerated(file) {
					continue
				}
				for _, ident := range undocumented(file) {
					t.Errorf("%s: %s has no comment", filepath.Base(name)+":"+strconv.Itoa(fset.Position(ident.Pos()).Line), ident.Name)
				}
			}
			if code && !described {
				t.Errorf("package %s has no comment", p.ImportPath)
			}
		})
	}
}

func goFiles(t *testing.T, dir string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// undocumented returns the exported identifiers of a file without a comment.
// Members of a group share its comment; the members of types are left to their
// type's comment.
func undocumented(file *ast.File) []*ast.Ident {
	var out []*ast.Ident
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Doc.Text() == "" && d.Name.IsExported() && !wellKnown(d) && exportedReceiver(d) {
				out = append(out, d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() && d.Doc.Text() == "" && s.Doc.Text() == "" {
						out = append(out, s.Name)
					}
				case *ast.ValueSpec:
					if d.Doc.Text() != "" || s.Doc.Text() != "" || s.Comment.Text() != "" {
						continue
					}
					for _, name := range s.Names {
						if name.IsExported() {
							out = append(out, name)
						}
					}
				}
			}
		}
	}
	return out
}

// wellKnown are the methods whose meaning the standard library gives.
func wellKnown(d *ast.FuncDecl) bool {
	return d.Recv != nil && slices.Contains([]string{
		"Error", "Unwrap", "Is", "As", "String", "MarshalJSON", "UnmarshalJSON", "Len", "Less", "Swap", "Push", "Pop", "Read", "Write", "ServeHTTP",
	}, d.Name.Name)
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	expr := d.Recv.List[0].Type
	for {
		switch e := expr.(type) {
		case *ast.StarExpr:
			expr = e.X
		case *ast.IndexExpr:
			expr = e.X
		case *ast.IndexListExpr:
			expr = e.X
		case *ast.Ident:
			return e.IsExported()
		default:
			return true
		}
	}
}

// serviceWords are how services are named.
var serviceWords = regexp.MustCompile(`(?i)queue|blob|service ?bus|event ?(grid|hub)|cosmos`)

// servicesNamed returns what a text says of services.
func servicesNamed(text string) []string { return serviceWords.FindAllString(text, -1) }

// The host names no service: what is one kind's stands in its package below host/kinds,
// and what the services have in common in host/services.
func TestHostNamesNoService(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("host/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if words := servicesNamed(string(text)); len(words) > 0 {
			t.Errorf("%s names %q", file, words)
		}
	}
	for _, text := range []string{"// of a queue", "ns *servicebus.Namespace", "the Event Hubs namespace", `Is("cosmosDBTrigger")`} {
		if len(servicesNamed(text)) != 1 {
			t.Errorf("%q would not be seen", text)
		}
	}
}

// kindsCompared returns where a file compares the type of a binding with the name of a kind.
func kindsCompared(file *ast.File) (at []token.Pos) {
	named := func(exprs ...ast.Expr) bool {
		return slices.ContainsFunc(exprs, func(e ast.Expr) bool {
			text, ok := e.(*ast.BasicLit)
			return ok && text.Kind == token.STRING && strings.HasSuffix(text.Value, `Trigger"`)
		})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		found := false
		switch n := n.(type) {
		case *ast.CallExpr:
			sel, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || len(n.Args) == 0 {
				break
			}
			_, text := n.Args[0].(*ast.BasicLit)
			found = text && sel.Sel.Name == "Is" || sel.Sel.Name == "EqualFold" && named(n.Args...)
		case *ast.BinaryExpr:
			found = (n.Op == token.EQL || n.Op == token.NEQ) && named(n.X, n.Y)
		case *ast.CaseClause:
			found = named(n.List...)
		}
		if found {
			at = append(at, n.Pos())
		}
		return true
	})
	return at
}

// The peculiarities of a kind stand in its package below host/kinds. Code elsewhere asks a
// kind for its properties, and never compares its name. Conditions in schemas are exempt.
func TestKindsAreComparedAtHome(t *testing.T) {
	t.Parallel()
	fset := token.NewFileSet()
	home := 0
	for _, p := range packages(t) {
		for _, name := range goFiles(t, p.Dir) {
			if strings.HasSuffix(name, "_test.go") || within(p.ImportPath, kits()...) {
				continue
			}
			file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range kindsCompared(file) {
				if within(p.ImportPath, "./host/kinds/...", "./schemas") {
					home++
					continue
				}
				t.Errorf("%s: a kind is compared by its name", fset.Position(at))
			}
		}
	}
	if home < 5 {
		t.Errorf("%d places below host/kinds: the test does not find its subject", home)
	}
	for _, body := range []string{
		`_ = f.Trigger.Is("queueTrigger")`, `_ = b.Is("http")`, `_ = rec.Trigger == "cosmosDBTrigger"`,
		`_ = strings.EqualFold(rec.Trigger, "blobTrigger")`, `switch typ { case "timerTrigger": }`,
	} {
		file, err := parser.ParseFile(fset, "", "package p; func f() { "+body+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(kindsCompared(file)) != 1 {
			t.Errorf("%s would not be seen", body)
		}
	}
}
