package schemas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/redeliver/redeliver/retrycontext"
	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Formats of our own.
const (
	formatTimeSpan = "timespan" // what retrycontext.ParseTimeSpan reads
	formatInt32    = "int32"    // the platform's whole numbers
	formatUTC      = "utctime"  // an ISO 8601 time; UTC if it does not say
)

// A compiled schema is immutable.
type compiled struct {
	raw    map[string]any
	shape  *shape
	schema *jsonschema.Schema
	style  style
	// attributes: values become properties of .NET attributes, where a number is a boolean.
	attributes bool
}

// style is how the platform reads the values of a file.
type style uint8

const (
	// strictStyle: no value is converted.
	strictStyle style = iota
	// objectStyle: Newtonsoft.Json fills an object. Keys in any letter case, text
	// for numbers and booleans, numbers for text.
	objectStyle
	// configStyle: the configuration binder of .NET. As objectStyle, but every
	// value was text before; keys that differ by case are one; null is nothing.
	configStyle
)

var styles = map[Name]style{
	HostJSON:      configStyle,
	FunctionJSON:  objectStyle,
	LocalSettings: objectStyle,
	WorkerConfig:  configStyle,
	Journal:       strictStyle,
	Scenario:      strictStyle,
}

// compilers compile each schema at its first use and keep it.
var compilers = func() map[Name]func() *compiled {
	m := map[Name]func() *compiled{}
	for _, name := range Names() {
		m[name] = sync.OnceValue(func() *compiled { return compile(name) })
	}
	return m
}()

// load returns the compiled schema. It panics for a name that is not in Names.
func load(name Name) *compiled {
	get, ok := compilers[name]
	if !ok {
		panic(fmt.Sprintf("schemas: no schema %q", name))
	}
	return get()
}

// compile panics on a bad schema: it is embedded, and a test compiles them all.
func compile(name Name) *compiled { return compileAs(name, decodeSchema(name), Schema(name)) }

func compileAs(name Name, raw map[string]any, text []byte) *compiled {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft7
	c.AssertFormat = true
	c.Formats[formatTimeSpan] = isTimeSpan
	c.Formats[formatInt32] = isInt32
	c.Formats[formatUTC] = isUTC
	c.RegisterExtension(keySpan, nil, spanCompiler{})
	id, _ := raw["$id"].(string)
	if err := c.AddResource(id, bytes.NewReader(text)); err != nil {
		panic("schemas: " + err.Error())
	}
	schema, err := c.Compile(id)
	if err != nil {
		panic("schemas: " + err.Error())
	}
	return &compiled{raw: raw, shape: newShape(raw, raw), schema: schema, style: styles[name], attributes: name == FunctionJSON}
}

func isTimeSpan(v any) bool {
	s, ok := v.(string)
	if !ok {
		return true
	}
	_, err := retrycontext.ParseTimeSpan(s)
	return err == nil
}

func isInt32(v any) bool {
	n, ok := v.(json.Number)
	if !ok {
		return true
	}
	f, err := n.Float64()
	return err != nil || math.MinInt32 <= f && f <= math.MaxInt32
}

var utcTime = regexp.MustCompile(`^\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?)?([Zz]|[+-]\d\d:\d\d)?$`)

func isUTC(v any) bool {
	s, ok := v.(string)
	if !ok {
		return true
	}
	if !utcTime.MatchString(s) {
		return false
	}
	s = strings.ToUpper(strings.Replace(s, " ", "T", 1))
	for _, layout := range []string{"2006-01-02", "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		for _, zone := range []string{"", "Z07:00"} {
			if _, err := time.Parse(layout+zone, s); err == nil {
				return true
			}
		}
	}
	return false
}

// spanCompiler adds the keyword x-span.
type spanCompiler struct{}

// span is a compiled x-span: a nil limit is none.
type span struct {
	minimum, maximum, above *time.Duration
	also                    []time.Duration
}

func (spanCompiler) Compile(_ jsonschema.CompilerContext, schema map[string]any) (jsonschema.ExtSchema, error) {
	limits := object(schema[keySpan])
	if limits == nil {
		return nil, nil
	}
	s := span{}
	for key, field := range map[string]**time.Duration{"minimum": &s.minimum, "maximum": &s.maximum, "above": &s.above} {
		text, ok := limits[key].(string)
		if !ok {
			continue
		}
		d, err := retrycontext.ParseTimeSpan(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", keySpan, key, err)
		}
		*field = &d
	}
	for _, text := range texts(limits["also"]) {
		d, err := retrycontext.ParseTimeSpan(text)
		if err != nil {
			return nil, fmt.Errorf("%s: also: %w", keySpan, err)
		}
		s.also = append(s.also, d)
	}
	return s, nil
}

func (s span) Validate(ctx jsonschema.ValidationContext, v any) error {
	text, ok := v.(string)
	if !ok {
		return nil
	}
	d, err := retrycontext.ParseTimeSpan(text)
	if err != nil {
		return nil // the format says so
	}
	for _, also := range s.also {
		if d == also {
			return nil
		}
	}
	if s.minimum != nil && d < *s.minimum || s.maximum != nil && d > *s.maximum || s.above != nil && d <= *s.above {
		return ctx.Error(keySpan, "out of range")
	}
	return nil
}
