package table

import (
	"strings"

	"github.com/redeliver/redeliver/bindings/table"
	"github.com/redeliver/redeliver/host/app"
)

// rowKeyLint is the lint of a row key that does not count. Spec tables 9.7 calls it L-17,
// which is the lint of routes.
const rowKeyLint = "L-21"

// lint finds the lints of spec tables 9.7.
func lint(r *app.Review, b *app.Binding) {
	if b.Direction == "out" {
		inserts(r, b)
		return
	}
	given := func(key string) bool { return key == "take" && takeOf(b) > 0 || b.String(key) != "" && key != "take" }
	one := RowKeyCounts(r.App)
	switch {
	case !given("rowKey") || b.Deferred():
	case !one:
		r.Binding(b, rowKeyLint, "rowKey", "the row key does not count: the input is an array of the whole partition; write \"filter\": \"RowKey eq '%s'\"", b.String("rowKey"))
	case given("partitionKey"):
		for _, key := range []string{"filter", "take"} {
			if given(key) {
				r.Binding(b, "L-20", key, "%s does not count beside a partitionKey and a rowKey, which name one entity", key)
			}
		}
	}
	if given("partitionKey") && topOr(b.String("filter")) {
		r.Binding(b, "L-18", "filter", "the filter is joined with the partition by \"and\" without parentheses: its \"or\" finds entities of other partitions; write parentheses around it")
	}
	if takeOf(b) > table.MaxPage {
		r.Binding(b, "L-20", "take", "the service gives at most %d entities in one answer, and refuses a take above that", table.MaxPage)
	}
}

// inserts is L-19.
func inserts(r *app.Review, b *app.Binding) {
	p := r.Function.Policy
	if r.Deliveries == 1 && (p == nil || p.MaxRetryCount == 0) {
		return
	}
	for _, key := range []string{"partitionKey", "rowKey"} {
		text := strings.ToLower(b.String(key))
		if strings.Contains(text, "{rand-guid") || strings.Contains(text, "{sys.randguid") || strings.Contains(text, "{datetime") || strings.Contains(text, "{sys.utcnow") {
			return // another entity in each attempt
		}
	}
	r.Binding(b, "L-19", "tableName", "the output inserts: when the function runs again for the same message after its entity was written, each attempt fails with EntityAlreadyExists (409) and the message is given up; set \"ETag\": \"*\" in the entity to replace it")
}

// topOr reports whether a filter has an "or" outside of parentheses and quotes.
func topOr(filter string) bool {
	depth, quoted, word := 0, false, ""
	for _, c := range filter + " " {
		switch {
		case c == '\'':
			quoted, word = !quoted, ""
		case quoted:
		case c == '(':
			depth, word = depth+1, ""
		case c == ')' || c == ' ':
			if word == "or" && depth == 0 {
				return true
			}
			if word = ""; c == ')' {
				depth--
			}
		default:
			word += string(c)
		}
	}
	return false
}
