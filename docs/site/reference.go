package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// schema is what the reference tells of a JSON Schema.
type schema struct {
	Title       string             `json:"title"`
	Description string             `json:"description"`
	Type        any                `json:"type"` // a name, or several
	Ref         string             `json:"$ref"`
	Properties  map[string]*schema `json:"properties"`
	Required    []string           `json:"required"`
	Items       *schema            `json:"items"`
	Enum        []any              `json:"enum"`
	Default     any                `json:"default"`
	Minimum     any                `json:"minimum"`
	Maximum     any                `json:"maximum"`
	OneOf       []*schema          `json:"oneOf"`
	AnyOf       []*schema          `json:"anyOf"`
	Effect      string             `json:"x-effect"`
	Definitions map[string]*schema `json:"definitions"`
}

// operation is what the reference tells of an operation of OpenAPI.
type operation struct {
	ID          string   `json:"operationId"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Parameters  []struct {
		Name        string  `json:"name"`
		In          string  `json:"in"`
		Required    bool    `json:"required"`
		Description string  `json:"description"`
		Schema      *schema `json:"schema"`
	} `json:"parameters"`
	RequestBody struct {
		Content map[string]struct {
			Schema *schema `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Content map[string]struct {
			Schema *schema `json:"schema"`
		} `json:"content"`
	} `json:"responses"`
}

// reference makes a page of a file below schemas.
func reference(file string, text []byte) ([]byte, error) {
	var b strings.Builder
	var err error
	if strings.Contains(file, "/openapi/") {
		err = describeAPI(&b, file, text)
	} else {
		err = describeFile(&b, file, text)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return []byte(b.String()), nil
}

// describeFile tells the members of a JSON file, each with its path.
func describeFile(b *strings.Builder, file string, text []byte) error {
	var s schema
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	fmt.Fprintf(b, "# %s\n\n%s\n\nMade from [%s](%s%s), which editors read too: `redeliver schema` prints it.\n\n## Members\n\n", s.Title, escaped(s.Description), file, blob, file)
	if err := s.members(b, "", ""); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(s.Definitions)) {
		d := s.Definitions[name]
		fmt.Fprintf(b, "\n## %s\n\n%s\n\n", name, strings.TrimSpace(escaped(d.Description)+kind(d)))
		if err := d.members(b, "", ""); err != nil {
			return err
		}
	}
	return nil
}

// members lists the members of an object, and of those in it.
func (s *schema) members(b *strings.Builder, at, indent string) error {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		m := s.Properties[name]
		if m.Description == "" && m.Ref == "" {
			return fmt.Errorf("%s%s has no description", at, name)
		}
		fmt.Fprintf(b, "%s- **`%s`**%s", indent, name, kind(m))
		if slices.Contains(s.Required, name) {
			b.WriteString(", required")
		}
		if m.Effect == "none" {
			b.WriteString(", without effect here")
		}
		if m.Description != "" {
			fmt.Fprintf(b, ": %s", escaped(m.Description))
		}
		b.WriteString("\n")
		for of := m; of != nil; of = of.Items {
			if err := of.members(b, at+name+".", indent+"    "); err != nil {
				return err
			}
		}
	}
	return nil
}

// kind is the type of a value, its limits and its default, in brackets.
func kind(s *schema) string {
	var out []string
	switch t := s.Type.(type) {
	case string:
		out = append(out, t)
	case []any:
		var names []string
		for _, n := range t {
			names = append(names, fmt.Sprint(n))
		}
		out = append(out, strings.Join(names, " or "))
	}
	of := s
	if s.Items != nil {
		of = s.Items
		if t, ok := of.Type.(string); ok {
			out = []string{"list of " + t}
		}
	}
	if of.Ref != "" {
		name := of.Ref[strings.LastIndex(of.Ref, "/")+1:]
		text := fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name))
		if of != s {
			text = "list of " + text
		}
		out = []string{text}
	}
	if len(s.Enum) > 0 {
		var words []string
		for _, e := range s.Enum {
			words = append(words, fmt.Sprintf("`%v`", e))
		}
		out = append(out, strings.Join(words, ", "))
	}
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		out = append(out, fmt.Sprintf("%v to %v", s.Minimum, s.Maximum))
	case s.Minimum != nil:
		out = append(out, fmt.Sprintf("%v or more", s.Minimum))
	case s.Maximum != nil:
		out = append(out, fmt.Sprintf("at most %v", s.Maximum))
	}
	if s.Default != nil {
		text, _ := json.Marshal(s.Default)
		out = append(out, "default `"+string(text)+"`")
	}
	if len(out) == 0 {
		return ""
	}
	return " (" + strings.Join(out, "; ") + ")"
}

// describeAPI tells the operations of OpenAPI, by their tags, and the values that they send.
func describeAPI(b *strings.Builder, file string, text []byte) error {
	var api struct {
		Info struct {
			Title       string `json:"title"`
			Description string `json:"description"`
		} `json:"info"`
		Paths      map[string]map[string]operation `json:"paths"`
		Components struct {
			Schemas map[string]*schema `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(text, &api); err != nil {
		return err
	}
	fmt.Fprintf(b, "# %s\n\n%s\n\nMade from [%s](%s%s).\n", api.Info.Title, escaped(api.Info.Description), file, blob, file)
	groups := map[string]string{}
	for _, p := range slices.Sorted(maps.Keys(api.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(api.Paths[p])) {
			op := api.Paths[p][method]
			if op.Description == "" {
				return fmt.Errorf("%s has no description", op.ID)
			}
			group := "operations"
			if len(op.Tags) > 0 {
				group = op.Tags[0]
			}
			groups[group] += op.text(strings.ToUpper(method), p)
		}
	}
	for _, group := range slices.Sorted(maps.Keys(groups)) {
		fmt.Fprintf(b, "\n## Operations: %s\n%s", group, groups[group])
	}
	b.WriteString("\n## Values\n")
	for _, name := range slices.Sorted(maps.Keys(api.Components.Schemas)) {
		s := api.Components.Schemas[name]
		fmt.Fprintf(b, "\n### %s\n\n%s\n\n", name, strings.TrimSpace(escaped(s.Description)+kind(s)))
		for _, member := range slices.Sorted(maps.Keys(s.Properties)) {
			m := s.Properties[member]
			fmt.Fprintf(b, "- **`%s`**%s", member, kind(m))
			if m.Description != "" {
				fmt.Fprintf(b, ": %s", escaped(m.Description))
			}
			b.WriteString("\n")
		}
	}
	return nil
}

// text tells an operation.
func (op operation) text(method, at string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s\n\n`%s %s`\n\n%s\n\n", op.ID, method, at, escaped(op.Description))
	for _, p := range op.Parameters {
		fmt.Fprintf(&b, "- **`%s`**, in the %s%s", p.Name, p.In, kind(p.Schema))
		if p.Required {
			b.WriteString(", required")
		}
		if p.Description != "" {
			fmt.Fprintf(&b, ": %s", escaped(p.Description))
		}
		b.WriteString("\n")
	}
	for _, c := range op.RequestBody.Content {
		if c.Schema != nil {
			fmt.Fprintf(&b, "- body%s\n", kind(c.Schema))
		}
	}
	for _, code := range slices.Sorted(maps.Keys(op.Responses)) {
		for _, c := range op.Responses[code].Content {
			if c.Schema != nil && code != "default" {
				fmt.Fprintf(&b, "- %s%s\n", code, kind(c.Schema))
			}
		}
	}
	return b.String()
}

// escaped is plain text as Markdown.
func escaped(text string) string {
	return strings.NewReplacer("<", "&lt;", "*", `\*`, "_", `\_`, "[", `\[`, "\n", " ").Replace(text)
}
