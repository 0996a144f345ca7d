package app

import (
	"slices"
	"strings"

	"github.com/redeliver/redeliver/schemas"
)

// Warning is a warning of an app. That a kind is not served is told once for all functions,
// at the place of the first.
type Warning struct {
	*schemas.Fault
	Also []string // the names of the other functions
}

// Error is the warning, and who has it too.
func (w Warning) Error() string { return w.Fault.Error() + alsoText(w.Also) }

// alsoText says which other functions something is about; empty for none.
func alsoText(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; the same of " + strings.Join(names, ", ")
}

// Told are the warnings of the app, then those of its functions.
func (a *App) Told() (list []Warning) {
	for _, w := range a.Warnings {
		list = append(list, Warning{Fault: w})
	}
	type said struct{ found, reason, allowed string }
	first := map[said]int{}
	of := map[int]string{}
	for _, f := range a.Functions {
		for _, w := range f.Warnings {
			key := said{w.Found, w.Reason, w.Allowed}
			i, known := first[key]
			switch {
			case !known || of[i] == f.Name || !strings.Contains(w.Reason, unserved):
				first[key], of[len(list)] = len(list), f.Name
				list = append(list, Warning{Fault: w})
			case !slices.Contains(list[i].Also, f.Name):
				list[i].Also = append(list[i].Also, f.Name)
			}
		}
	}
	return list
}

// gathered gathers what several functions have in common: each first of those with one key,
// and the names of the functions that have it, in order.
func gathered[T any, K comparable](list []T, of func(T) (key K, function string)) (firsts []T, functions [][]string) {
	at := map[K]int{}
	for _, v := range list {
		key, function := of(v)
		i, known := at[key]
		if !known {
			i = len(firsts)
			at[key] = i
			firsts, functions = append(firsts, v), append(functions, nil)
		}
		if function != "" && !slices.Contains(functions[i], function) {
			functions[i] = append(functions[i], function)
		}
	}
	return firsts, functions
}
