package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/schemas"
)

// renamedKeys warns about keys of host.json that have another name now.
func (l *hostFile) renamedKeys(r document.Reader) {
	for _, n := range schemas.RenamedKeys(schemas.HostJSON) {
		old := document.Below(n.In, n.Old)
		if !r.Has(old) {
			continue
		}
		w := r.Doc.Fault(old, "", n.New, "")
		w.Reason, w.Hint = renameWords(n, r.Has(document.Below(n.In, n.New)))
		if n.In == "" && n.New != "" {
			w.Reason = fmt.Sprintf("%s stood at the top of host.json in version 1, and is ignored there", n.Old)
			w.Hint = "move it to " + n.New
			switch {
			case n.Read && r.HasSection(n.New):
				w.Reason = fmt.Sprintf("%s belongs below extensions since version 2.0, and is ignored beside %s", n.Old, n.New)
			case n.Read:
				w.Reason = fmt.Sprintf("%s belongs below extensions since version 2.0; Redeliver reads it here too, and the platform does not", n.Old)
			case strings.HasPrefix(n.New, "extensions."):
				w.Reason = fmt.Sprintf("%s belongs below extensions since version 2.0, and is ignored at the top of host.json", n.Old)
			}
		}
		l.warn(w)
	}
	l.app.nearMisses = withoutRenamed(l.app.nearMisses, schemas.HostJSON)
}

// hasVersion1 reports whether host.json has sections at its top that stood there in
// version 1.
func hasVersion1(doc *schemas.Document) bool {
	for _, n := range schemas.RenamedKeys(schemas.HostJSON) {
		if _, given := doc.Lookup(n.Old); n.In == "" && given {
			return true
		}
	}
	return false
}

// renameWords says what became of a key, and what to do. beside is set when its
// successor is given too.
func renameWords(n schemas.Renamed, beside bool) (reason, hint string) {
	switch {
	case n.New == "":
		return n.Old + " no longer has an effect", "remove it"
	case beside:
		return fmt.Sprintf("%s is the older name of %s and is ignored beside it", n.Old, n.New), "remove it"
	case n.Read:
		return fmt.Sprintf("%s is the older name of %s", n.Old, n.New), "rename it to " + n.New
	}
	return fmt.Sprintf("%s is the older name of %s and is no longer read", n.Old, n.New), "rename it to " + n.New
}

// withoutRenamed leaves out the near misses that are keys of earlier versions.
func withoutRenamed(near []*schemas.Fault, file schemas.Name) (kept []*schemas.Fault) {
	for _, f := range near {
		known := false
		for _, n := range schemas.RenamedKeys(file) {
			known = known || file == schemas.HostJSON && strings.EqualFold(f.Path, document.Below(n.In, n.Old)) ||
				file == schemas.FunctionJSON && strings.EqualFold(f.Path[strings.LastIndex(f.Path, ".")+1:], n.Old)
		}
		if !known {
			kept = append(kept, f)
		}
	}
	return kept
}

// renamedProperties deals with the properties of a binding that have another name
// now: it reads the old names that still count, and warns about all.
func (l *loader) renamedProperties(f *Function, b *Binding) {
	for _, n := range schemas.RenamedKeys(schemas.FunctionJSON) {
		if !b.Is(n.In) {
			continue
		}
		old, value, given := document.Member(b.Props, n.Old)
		now, _, beside := document.Member(b.Props, n.New)
		given, beside = given && value != nil, beside && b.Value(n.New) != nil
		earlier := n.Bundle > 0 && l.host.earlierBundle
		switch {
		case n.Also != nil && (!given || slices.ContainsFunc(n.Also, func(key string) bool { return b.Value(key) != nil }) ||
			n.With != "" && !strings.EqualFold(b.String(n.With), n.Word)):
		case earlier && beside:
			f.warnAt(b.PathOf(now), "", n.Old, fmt.Sprintf("%s is the name of bundle %d; the bundle that host.json names knows it as %s", n.New, n.Bundle, n.Old), "name bundle 4 in host.json, or rename it to "+n.Old)
		case !given:
		case earlier, n.Also != nil:
			b.rename(old, n.New)
		case n.Bundle > 0:
			f.warnAt(schemas.JoinPath(b.Path, old), "", n.New,
				fmt.Sprintf("%s is the name of bundles 2 and 3, and is ignored: bundle %d and later know it as %s", n.Old, n.Bundle, n.New), "rename it to "+n.New)
		default:
			reason, hint := renameWords(n, beside)
			f.warnAt(schemas.JoinPath(b.Path, old), "", n.New, reason, hint)
		}
	}
}

// rename has a property stand under another key; paths keep the one of the file.
func (b *Binding) rename(from, to string) {
	if b.earlier == nil {
		b.earlier = map[string]string{}
	}
	b.earlier[to] = from
	b.Props[to] = b.Props[from]
	delete(b.Props, from)
}

// renameHint is the hint for a property that is missing and given under an older name.
func (f *Function) renameHint(fault *schemas.Fault) {
	for _, b := range f.Bindings {
		name, ok := strings.CutPrefix(fault.Path, b.Path+".")
		if !ok || fault.Hint != "" {
			continue
		}
		for _, n := range schemas.RenamedKeys(schemas.FunctionJSON) {
			if b.Is(n.In) && n.New == name && b.Value(n.Old) != nil {
				fault.Hint = fmt.Sprintf("%s is its older name: rename that to %s", n.Old, n.New)
			}
		}
	}
}
