package kit

import (
	"net/http"
	"regexp"
	"slices"

	"github.com/redeliver/redeliver/functions/call"
	"github.com/redeliver/redeliver/host/journal"
	"github.com/redeliver/redeliver/schemas"
	"github.com/redeliver/redeliver/triggers"
)

// attemptEnds are how attempts end.
var attemptEnds = []string{"succeeded", "failed", "timed_out"} // read only

// expression reports whether a text of a pattern is a regular expression.
func expression(text string) bool {
	return len(text) >= 2 && text[0] == '/' && text[len(text)-1] == '/'
}

// words refuses texts of a pattern that no record has where the words are known, and gives the
// function its name as records have it.
func (h *Host) words(of string, pattern, fields map[string]any) error {
	for _, one := range []struct {
		member, none string
		known        []string
	}{
		{"kind", "no record is of kind", texts(journal.Kinds())},
		{"decision", "no delivery is settled as", texts(triggers.AllDecisions())},
		{"level", "no line of a handler has the level", levels()},
	} {
		if text, ok := pattern[one.member].(string); ok {
			if err := among(of+"."+one.member+": "+one.none, text, one.known); err != nil {
				return err
			}
		}
	}
	if status, ok := pattern["status"].(string); ok && (pattern["kind"] == string(journal.AttemptEnded) || pattern["kind"] == nil && schemas.Meant(status, attemptEnds) != "") {
		if err := among(of+".status: no attempt ends as", status, attemptEnds); err != nil {
			return err
		}
	}
	if source, ok := pattern["source"].(string); ok && !expression(source) {
		if near := h.session.MeantSource(source); near != "" {
			return refuse(http.StatusNotFound, NotFound, "%s.source: nothing is called %q; did you mean %q?", of, source, near)
		}
	}
	if function, ok := pattern["function"].(string); ok && !expression(function) {
		known, err := h.session.Known(function)
		if err != nil {
			return refuse(http.StatusNotFound, NotFound, "%s.function: %v", of, err)
		}
		fields["function"] = known
	}
	return nil
}

// among refuses a word that is none of those, and an expression that matches none of them.
func among(none, text string, known []string) error {
	if slices.Contains(known, text) {
		return nil
	}
	if expression(text) {
		e, err := regexp.Compile(text[1 : len(text)-1])
		if err != nil || slices.ContainsFunc(known, e.MatchString) {
			return nil // scenario.Pattern refuses the former
		}
	}
	return slip(none, text, known)
}

func slip(what, name string, known []string) *Refused {
	out := refuse(http.StatusBadRequest, BadRequest, "%s %q", what, name)
	if near := schemas.Meant(name, known); near != "" {
		return refuse(http.StatusBadRequest, BadRequest, "%s %q; did you mean %q?", what, name, near)
	}
	return out
}

func texts[T ~string](list []T) (out []string) {
	for _, one := range list {
		out = append(out, string(one))
	}
	return out
}

// levels are those of what handlers write.
func levels() (out []string) {
	for level := call.Trace; level <= call.Critical; level++ {
		out = append(out, level.String())
	}
	return out
}
