package all_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/redeliver/redeliver/host/ops"
	"github.com/redeliver/redeliver/host/ops/all"
)

var update = flag.Bool("update", false, "write the list of doc.go, schemas/openapi and the types of the page anew")

// TestControlTable compares what is made from the table of operations.
func TestControlTable(t *testing.T) {
	words := map[string]string{}
	dirs, err := filepath.Glob("../*")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range append(dirs, "..", "../../emulator/cosmos", "../../kinds/cosmosdb", "../../kinds/eventhubs") {
		maps.Copy(words, comments(t, dir))
	}
	t.Run("package comment", func(t *testing.T) {
		text, err := os.ReadFile("../../web/doc.go")
		if err != nil {
			t.Fatal(err)
		}
		from := bytes.Index(text, []byte("//\tGET "))
		to := bytes.LastIndex(text, []byte("\n//\t")) + 1
		to += bytes.IndexByte(text[to:], '\n') + 1
		same(t, "../../web/doc.go", string(text), string(text[:from])+listed(all.Table())+string(text[to:]))
	})
	t.Run("OpenAPI", func(t *testing.T) {
		const file = "../../../schemas/openapi/control.json"
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		same(t, file, string(text), described(all.Table(), words))
	})
	t.Run("types of the page", func(t *testing.T) {
		const file = "../../web/ui/app/src/api/types.ts"
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		same(t, file, string(text), typed(all.Table(), words))
	})
	for _, op := range all.Routes(all.Table()) {
		if words[op.Name] == "" {
			t.Errorf("operation %s has no comment", op.Name)
		}
	}
}

// same compares a file with what it should be, or makes it so.
func same(t *testing.T, file, got, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("%s is not what the table makes (go test ./host/ops/all -run TestControlTable -update writes it; -want +got):\n%s", file, diff)
	}
}

// listed is the list of the package comment.
func listed(table ops.Table) string {
	var b strings.Builder
	for _, op := range all.Routes(table) {
		fmt.Fprintf(&b, "//\t%-6s %-35s %s\n", op.Method, op.Path, op.Name)
	}
	return b.String()
}

// comments are the comments of types, "Message", and of their fields, "Message.Body".
func comments(t *testing.T, dir string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(dir + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	set, files := token.NewFileSet(), []*ast.File{}
	for _, path := range paths {
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	pkg, err := doc.NewFromFiles(set, files, dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, typ := range pkg.Types {
		out[typ.Name] = line(typ.Doc)
		s, ok := typ.Decl.Specs[0].(*ast.TypeSpec).Type.(*ast.StructType)
		for i := 0; ok && i < len(s.Fields.List); i++ {
			f := s.Fields.List[i]
			for _, name := range f.Names {
				out[typ.Name+"."+name.Name] = line(cmp.Or(f.Doc.Text(), f.Comment.Text()))
			}
		}
	}
	return out
}

func line(text string) string { return strings.Join(strings.Fields(text), " ") }

type object = map[string]any

// A describer makes the OpenAPI description of the table.
type describer struct {
	words   map[string]string
	schemas object
	types   map[string]reflect.Type // by the names of schemas
}

// paths are the operations by path and method, with the schemas that they need.
func paths(table ops.Table, words map[string]string) (paths, schemas object) {
	d := describer{words, object{}, map[string]reflect.Type{}}
	paths = object{}
	for _, op := range all.Routes(table) {
		path, ok := paths[ops.Prefix+op.Path].(object)
		if !ok {
			path = object{}
			paths[ops.Prefix+op.Path] = path
		}
		path[strings.ToLower(op.Method)] = d.operation(op)
	}
	return paths, d.schemas
}

func described(table ops.Table, words map[string]string) string {
	paths, schemas := paths(table, words)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	_ = enc.Encode(object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Redeliver control API", "version": "0",
			"description": "The API by which the commands of redeliver, and other tools, drive a running host. Where keys are asked for, it wants the master key.",
		},
		"servers":  []any{object{"url": "http://localhost:7071"}},
		"security": []any{object{}, object{"key": []string{}}},
		"paths":    paths,
		"components": object{
			"schemas":         schemas,
			"securitySchemes": object{"key": object{"type": "apiKey", "in": "header", "name": "X-Functions-Key"}},
		},
	})
	return b.String()
}

func (d *describer) operation(r ops.Route) object {
	out := object{"operationId": r.Name, "tags": []string{r.Service()}, "description": d.words[r.Name]}
	parameters := []any{}
	for _, p := range r.Params() {
		words := cmp.Or(d.words[r.Name+"."+p.Field.Name], p.Field.Tag.Get("usage"))
		if p.In == "body" {
			out["requestBody"] = object{"content": object{"application/octet-stream": object{}}, "description": words}
			continue
		}
		parameter := object{"name": p.Name, "in": p.In, "schema": d.parameter(p)}
		if p.Required {
			parameter["required"] = true
		}
		if words != "" {
			parameter["description"] = words
		}
		parameters = append(parameters, parameter)
	}
	if len(parameters) > 0 {
		out["parameters"] = parameters
	}
	if r.JSON {
		out["requestBody"] = object{"content": object{"application/json": object{"schema": d.fields(r.In)}}}
	}
	answer := object{"description": http.StatusText(r.Status)}
	switch r.Out {
	case reflect.TypeFor[ops.None]():
	case reflect.TypeFor[ops.Stream]():
		answer["content"] = object{"*/*": object{}}
	default:
		answer["content"] = object{"application/json": object{"schema": d.schema(r.Out)}}
	}
	refusal := object{"description": "The operation is refused.", "content": object{"application/json": object{"schema": d.schema(reflect.TypeFor[ops.Error]())}}}
	out["responses"] = object{fmt.Sprint(r.Status): answer, "default": refusal}
	return out
}

func (d *describer) parameter(p ops.Param) object {
	t := p.Field.Type
	if t == reflect.TypeFor[time.Duration]() {
		return object{"type": "string", "examples": []string{"1h30m"}}
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	out := d.schema(t)
	for tag, key := range map[string]string{"min": "minimum", "max": "maximum", "default": "default"} {
		if text, ok := p.Field.Tag.Lookup(tag); ok {
			out[key] = json.Number(text)
		}
	}
	return out
}

// schema is the schema of a type; a struct is described once.
func (d *describer) schema(t reflect.Type) object {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[json.RawMessage](), t.Kind() == reflect.Interface, t.Implements(reflect.TypeFor[json.Marshaler]()):
		return object{}
	case t == reflect.TypeFor[[]byte]():
		return object{"type": "string", "contentEncoding": "base64"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return object{"anyOf": []any{d.schema(t.Elem()), object{"type": "null"}}}
	case reflect.Slice, reflect.Array:
		return object{"type": "array", "items": d.schema(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": d.schema(t.Elem())}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	case reflect.Struct:
		if other, ok := d.types[t.Name()]; !ok {
			d.types[t.Name()] = t // before its fields: it may hold itself
			d.schemas[t.Name()] = d.fields(t)
		} else if other != t {
			panic(fmt.Sprintf("%s and %s have one name", t, other))
		}
		return object{"$ref": "#/components/schemas/" + t.Name()}
	}
	return object{"type": "integer"}
}

// fields are the fields of a struct as JSON has them.
func (d *describer) fields(t reflect.Type) object {
	properties, required := object{}, []string{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "" || name == "-" {
			continue
		}
		optional := strings.Contains(options, "omit")
		typ := f.Type
		if optional && typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		schema := d.schema(typ)
		if words := cmp.Or(d.words[owner(t, f).Name()+"."+f.Name], f.Tag.Get("usage")); words != "" {
			schema["description"] = words
		}
		if properties[name] = schema; !optional {
			required = append(required, name)
		}
	}
	out := object{"type": "object", "properties": properties}
	if words := d.words[t.Name()]; words != "" {
		out["description"] = words
	}
	if len(required) > 0 {
		slices.Sort(required)
		out["required"] = required
	}
	return out
}

// owner is the struct, embedded perhaps, that has a field.
func owner(t reflect.Type, f reflect.StructField) reflect.Type {
	for _, i := range f.Index[:len(f.Index)-1] {
		t = t.Field(i).Type
	}
	return t
}
