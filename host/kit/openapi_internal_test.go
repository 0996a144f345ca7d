package kit

import (
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/redeliver/redeliver/host/ops"
)

var update = flag.Bool("update", false, "write schemas/openapi/kit.json")

type object = map[string]any

// TestOpenAPI holds the description of the protocol against the types that it is made of.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	d := &describer{words: comments(t), schemas: object{}}
	paths := object{}
	for _, v := range verbs() {
		at, _ := paths[Prefix+v.Path].(object)
		if at == nil {
			at = object{}
			paths[Prefix+v.Path] = at
		}
		at[strings.ToLower(v.Method)] = d.operation(v)
	}
	d.schema(reflect.TypeFor[Announcement]())
	var codes []Code
	codes = append(codes, Codes()...)
	refused := d.schema(reflect.TypeFor[Refused]())
	d.schemas["Refused"].(object)["properties"].(object)["code"] = object{"type": "string", "enum": codes}
	text, err := json.MarshalIndent(object{
		"openapi": "3.1.0", "info": object{"title": "The protocol of redeliver kit", "version": "1"}, "paths": paths,
		"components": object{
			"schemas":         d.schemas,
			"responses":       object{"Refused": object{"description": "Why nothing was done.", "content": object{"application/json": object{"schema": refused}}}},
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}},
		},
		"security": []object{{"token": []string{}}},
	}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("..", "..", "schemas", "openapi", "kit.json")
	if *update {
		if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, _ := os.ReadFile(file); string(got) != string(text)+"\n" {
		t.Errorf("%s is not what the types say: go test ./host/kit -run TestOpenAPI -update", file)
	}
}

// comments are the comments of the types and their fields.
func comments(t *testing.T) map[string]string {
	out := map[string]string{}
	files, _ := filepath.Glob("*.go") // the pattern is good
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range f.Decls {
			g, ok := decl.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, spec := range g.Specs {
				s, ok := spec.(*ast.TypeSpec)
				if !ok {
					continue
				}
				out[s.Name.Name] = words(g.Doc.Text())
				if fields, ok := s.Type.(*ast.StructType); ok {
					for _, field := range fields.Fields.List {
						for _, n := range field.Names {
							out[s.Name.Name+"."+n.Name] = words(field.Comment.Text())
						}
					}
				}
			}
		}
	}
	return out
}

func words(text string) string { return strings.Join(strings.Fields(text), " ") }

// describer makes schemas of types.
type describer struct {
	words   map[string]string
	schemas object
}

func (d *describer) operation(v verb) object {
	out := object{"operationId": v.Name, "description": d.words[v.Name]}
	var params []object
	for _, p := range v.Params() {
		params = append(params, object{"name": p.Name, "in": p.In, "required": p.In == "path", "schema": d.schema(p.Field.Type)})
	}
	if params != nil {
		out["parameters"] = params
	}
	if v.JSON {
		out["requestBody"] = object{"content": object{"application/json": object{"schema": d.schema(v.In)}}}
	}
	done := object{"description": "Done."}
	if v.Out != reflect.TypeFor[ops.None]() {
		done["content"] = object{"application/json": object{"schema": d.schema(v.Out)}}
	}
	status := "200"
	if v.Status == 201 {
		status = "201"
	}
	out["responses"] = object{status: done, "default": object{"$ref": "#/components/responses/Refused"}}
	return out
}

func (d *describer) schema(t reflect.Type) object {
	switch t {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[Span]():
		return object{"type": "string", "description": d.words["Span"]}
	case reflect.TypeFor[json.RawMessage]():
		return object{"type": "object"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.schema(t.Elem())
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice:
		return object{"type": "array", "items": d.schema(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": d.schema(t.Elem())}
	case reflect.Interface:
		return object{}
	case reflect.Struct:
		return d.structure(t)
	}
	return object{"type": "integer"}
}

func (d *describer) structure(t reflect.Type) object {
	ref := object{"$ref": "#/components/schemas/" + t.Name()}
	if d.schemas[t.Name()] != nil {
		return ref
	}
	properties := object{}
	out := object{"type": "object", "properties": properties}
	d.schemas[t.Name()] = out
	if text := d.words[t.Name()]; text != "" {
		out["description"] = text
	}
	var required []string
	for _, f := range reflect.VisibleFields(t) {
		name, more, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		schema := d.schema(f.Type)
		if text := d.words[t.Name()+"."+f.Name]; text != "" {
			schema["description"] = text
		}
		properties[name] = schema
		if more != "omitempty" {
			required = append(required, name)
		}
	}
	if required != nil {
		out["required"] = required
	}
	return ref
}
