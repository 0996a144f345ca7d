package host

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/bindings"
	"github.com/redeliver/redeliver/host/app"
)

// fixedInput gives a handler a value that host.json has for an input which is not served:
// the first one whose conditions the properties of the attempt meet.
type fixedInput struct {
	b          *app.Binding
	properties []property // that tell the values apart
}

// property is a property of a binding: its text, with expressions where it has some that can
// be read.
type property struct {
	name, text string
	template   *bindings.Template // nil: the text is as it stands
}

func newFixedInput(b *app.Binding) fixedInput {
	in := fixedInput{b: b}
	for _, name := range app.Named(b.Fixed) {
		p := property{name: name, text: b.String(name)}
		p.template, _ = bindings.ParseTemplate(p.text)
		in.properties = append(in.properties, p)
	}
	return in
}

func (i fixedInput) binding() *app.Binding { return i.b }

func (i fixedInput) read(_ context.Context, d *delivery) (bindings.Value, error) {
	data, has, said := d.bindingData(), map[string]string{}, []string{}
	for _, p := range i.properties {
		text := p.text
		if p.template != nil {
			var err error
			if text, err = p.template.Resolve(data); err != nil {
				return bindings.Value{}, err
			}
		}
		has[p.name] = text
		said = append(said, p.name+" "+strconv.Quote(text))
	}
next:
	for _, f := range i.b.Fixed {
		for name, want := range f.When {
			if has[name] != want {
				continue next
			}
		}
		return f.Value, nil
	}
	return bindings.Value{}, fmt.Errorf("no fixed value of host.json, at redeliver.inputs.%s.%s, is for %s", d.f.def.Name, i.b.Name, strings.Join(said, ", "))
}
