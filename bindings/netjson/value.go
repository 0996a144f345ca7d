package netjson

import "strings"

// Object is a JSON object. Its members stand in the order of the text; of those of one name
// only the last is there.
type Object struct{ Members []Member }

// Member is a member of an object.
type Member struct {
	Name  string
	Value any
}

// Get returns the member of that name: the one with this spelling, else the first that has
// it in any case.
func (o *Object) Get(name string) (any, bool) {
	for i := range o.Members {
		if o.Members[i].Name == name {
			return o.Members[i].Value, true
		}
	}
	for i := range o.Members {
		if strings.EqualFold(o.Members[i].Name, name) {
			return o.Members[i].Value, true
		}
	}
	return nil, false
}

// Undefined is a value that a script would not know: the word undefined, or nothing before
// a comma.
type Undefined struct{}

// Constructor is a call of a constructor, as scripts have them: new Date(0).
type Constructor struct {
	Name      string
	Arguments []any
}
