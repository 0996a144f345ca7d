// Package table is the table input and output as the host knows them: entities that a
// function is given, and those that it sets.
//
// What an extension bundle brings decides the details: [Legacy]. Rules: spec tables 9.
package table

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/app"
	"github.com/redeliver/redeliver/host/kinds"
	"github.com/redeliver/redeliver/schemas"
)

// Binding is the table input and output.
func Binding() kinds.Binding {
	both := []string{"in", "out"}
	return kinds.Binding{
		BindingKind: app.BindingKind{
			Type: "table", Of: "Table storage", Odd: app.LateDirections, Directions: both, Served: both, Connection: "Storage",
			Validate: validate, Warn: kinds.Late(badName), Lint: lint,
		},
		Output: func(f *kinds.Function, b *app.Binding) (kinds.Output, error) { return newOutput(f, b) },
		Input:  func(f *kinds.Function, b *app.Binding) (kinds.Input, error) { return newInput(f, b) },
	}
}

func validate(a *app.App, f *app.Function, b *app.Binding) []*schemas.Fault {
	return append(kinds.Early(badName)(a, f, b), badTexts(b)...)
}

// tableName is the form of a name as the extension checks it (TX: TableAttribute.cs).
var tableName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{2,62}$`) // read only

// checkName checks the name of a table before it is used.
func checkName(name string) error {
	if !tableName.MatchString(name) {
		return fmt.Errorf("Validation failed for property 'TableName', value '%s'. The field TableName must match the regular expression '%s'.", name, tableName) //lint:ignore ST1005 the platform's text
	}
	return nil
}

// badName checks a constant name. One with expressions is checked when it is used.
func badName(b *app.Binding) []*schemas.Fault {
	name := b.String("tableName")
	template, err := bindings.ParseTemplate(name)
	if err != nil || !template.IsConstant() {
		return nil
	}
	if err := checkName(name); err != nil {
		return []*schemas.Fault{{
			Path: b.PathOf("tableName"), Found: schemas.Quote(name), Allowed: "3 to 63 ASCII letters and digits, a letter first",
			Reason: err.Error(), Kind: schemas.KindArgument,
		}}
	}
	return nil
}

// texts are the properties that may have expressions.
var texts = []string{"tableName", "partitionKey", "rowKey", "filter"} // read only

// badTexts finds expressions that cannot be read.
func badTexts(b *app.Binding) []*schemas.Fault {
	var faults []*schemas.Fault
	for _, key := range texts {
		if _, err := bindings.ParseTemplate(b.String(key)); err != nil {
			faults = append(faults, &schemas.Fault{
				Path: b.PathOf(key), Found: schemas.Quote(b.String(key)), Allowed: "a text, also with {expressions}",
				Reason: strings.TrimSuffix(err.Error(), "."), Kind: schemas.KindArgument,
			})
		}
	}
	return faults
}

// Legacy reports whether an app has the table bindings of an extension bundle before
// version 3, which came with the extension for storage 4.x (T-1, T-3, T-4).
func Legacy(a *app.App) bool {
	return a.Config.ExtensionBundle != nil && a.Config.ExtensionBundle.Before3
}

// RowKeyCounts reports whether an input of the app reads one entity where it has both keys:
// the switch tableRowKey, by the bundle where it has no value.
func RowKeyCounts(a *app.App) bool {
	if set := a.Switches.TableRowKey; set != "" {
		return set == "honoured"
	}
	return Legacy(a)
}

// named is what a binding names in words of its file, with expressions.
type named struct {
	account table.Account
	name    *bindings.Template
	keys    [2]*bindings.Template // partition and row; nil: none
	filter  *bindings.Template    // nil: none
	take    int
	legacy  bool
}

func newNamed(f *kinds.Function, b *app.Binding) (*named, error) {
	account, err := f.Tables(b.Connection)
	if err != nil {
		return nil, err
	}
	n := &named{account: account, legacy: Legacy(f.App()), take: takeOf(b)}
	for i, to := range []**bindings.Template{&n.name, &n.keys[0], &n.keys[1], &n.filter} {
		text, set := b.Value(texts[i]).(string)
		if !set {
			continue
		}
		if *to, err = bindings.ParseTemplate(text); err != nil {
			return nil, err
		}
	}
	if n.name == nil {
		return nil, fmt.Errorf("binding %q names no table", b.Name)
	}
	return n, nil
}

// takeOf is the property take; 0: all.
func takeOf(b *app.Binding) int {
	n, _ := strconv.Atoi(fmt.Sprint(b.Value("take")))
	return max(n, 0)
}

// table is the table that the binding means in an attempt.
func (n *named) table(a kinds.Attempt) (string, error) {
	name, err := n.name.Resolve(a.Data())
	if err != nil {
		return "", err
	}
	return name, checkName(name)
}

// key is the partition key (0) or the row key (1) of the binding; nil: it has none.
func (n *named) key(a kinds.Attempt, which int) (*string, error) {
	if n.keys[which] == nil {
		return nil, nil
	}
	text, err := n.keys[which].Resolve(a.Data())
	return &text, err
}
