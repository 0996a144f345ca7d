package cosmosdb

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/redeliver/redeliver/bindings"
)

// A query is what this host serves of the query language: all documents of a container, or
// those of which some properties have given values.
//
//	SELECT * FROM c
//	SELECT * FROM c WHERE c.kind = {kind} AND c["address"].city = 'Oslo' AND c.open = true
type query struct {
	equal []equality
}

// An equality is a term of a WHERE clause: the value is a constant, or the text of an
// expression.
type equality struct {
	path       []string
	constant   any // as JSON has it
	expression *bindings.Template
}

// errQuery is of a query that is not served.
var errQuery = errors.New(`only "SELECT * FROM c", also with WHERE and terms such as c.kind = {kind} joined by AND, is served`)

var (
	selection = regexp.MustCompile(`(?is)^\s*SELECT\s+(?:\*|VALUE\s+(\w+))\s+FROM\s+(\w+)(?:\s+(?:AS\s+)?(\w+))?\s*(?:\sWHERE\s+(.*))?$`)                           // read only
	term      = regexp.MustCompile(`(?s)^\s*(\w+)((?:\.\w+|\["[^"\\]+"\])+)\s*=\s*(?:\{([^{}]+)\}|'([^'\\{}]*)'|"([^"\\{}]*)"|(-?[0-9.eE+-]+|true|false|null))\s*`) // read only
	steps     = regexp.MustCompile(`\.(\w+)|\["([^"]+)"\]`)                                                                                                         // read only
	joined    = regexp.MustCompile(`(?i)^AND\s`)                                                                                                                    // read only
)

// parseQuery reads a query. The error says what is served.
func parseQuery(text string) (*query, error) {
	m := selection.FindStringSubmatch(text)
	if m == nil {
		return nil, errQuery
	}
	value, alias, rest := m[1], m[2], m[4]
	if m[3] != "" && !strings.EqualFold(m[3], "WHERE") {
		alias = m[3]
	} else if m[3] != "" { // a keyword without terms
		return nil, errQuery
	}
	if value != "" && value != alias {
		return nil, errQuery
	}
	q := &query{}
	for rest != "" {
		m := term.FindStringSubmatch(rest)
		if m == nil || m[1] != alias {
			return nil, fmt.Errorf("%w; not %q", errQuery, strings.TrimSpace(rest))
		}
		e, err := equalityOf(m)
		if err != nil {
			return nil, err
		}
		q.equal = append(q.equal, e)
		if rest = rest[len(m[0]):]; rest == "" {
			break
		}
		and := joined.FindString(rest)
		if and == "" || strings.TrimSpace(rest[len(and):]) == "" {
			return nil, fmt.Errorf("%w; not %q", errQuery, rest)
		}
		rest = rest[len(and):]
	}
	return q, nil
}

func equalityOf(m []string) (e equality, err error) {
	for _, step := range steps.FindAllStringSubmatch(m[2], -1) {
		e.path = append(e.path, step[1]+step[2])
	}
	switch {
	case m[3] != "":
		e.expression, err = bindings.ParseTemplate("{" + m[3] + "}")
	case m[6] != "":
		if json.Unmarshal([]byte(m[6]), &e.constant) != nil {
			err = fmt.Errorf("%w; not %q", errQuery, m[6])
		}
	default:
		e.constant = m[4] + m[5]
	}
	return e, err
}

// resolved is the query for an attempt: expressions are the texts of their values, as the
// extension makes parameters of them (CDB: CosmosDBSqlResolutionPolicy.cs).
func (q *query) resolved(data *bindings.BindingData) (*query, error) {
	out := &query{}
	for _, e := range q.equal {
		if e.expression != nil {
			text, err := e.expression.Resolve(data)
			if err != nil {
				return nil, err
			}
			e.constant = text
		}
		out.equal = append(out.equal, e)
	}
	return out, nil
}

// holds reports whether a document is one of the query's. A property that is missing is equal
// to nothing, not even null.
func (q *query) holds(body []byte) (bool, error) {
	if len(q.equal) == 0 {
		return true, nil
	}
	var document any
	if err := json.Unmarshal(body, &document); err != nil {
		return false, err
	}
	for _, e := range q.equal {
		at, ok := document, true
		for _, name := range e.path {
			object, _ := at.(map[string]any)
			if at, ok = object[name]; !ok {
				return false, nil
			}
		}
		switch at.(type) {
		case map[string]any, []any:
			return false, nil
		}
		if at != e.constant {
			return false, nil
		}
	}
	return true, nil
}
