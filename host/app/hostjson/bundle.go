package hostjson

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/redeliver/redeliver/host/app/document"
	"github.com/redeliver/redeliver/schemas"
)

// The platform's own extension bundle, and the lowest version of it that the host
// takes (host: extensionrequirements.json).
const standardBundle = "Microsoft.Azure.Functions.ExtensionBundle"

var (
	lowestBundle = bundleVersion{2, 6, 1}
	oldBundles   = bundleVersion{4} // all below are deprecated
)

// bundleIDs are the bundles that exist.
var bundleIDs = []string{standardBundle, standardBundle + ".Preview", standardBundle + ".Experimental", standardBundle + ".Workflows"} // read only

// packageID matches the ID of a bundle: the name of a NuGet package (NuGet:
// PackageIdValidator.cs).
var packageID = regexp.MustCompile(`^\w+([.-]\w+)*$`) // read only

const longestPackageID = 100

// bundleVersion holds the parts of a version, without what follows a dash.
type bundleVersion [4]int

func (v bundleVersion) compare(w bundleVersion) int {
	for i := range v {
		if c := cmp.Compare(v[i], w[i]); c != 0 {
			return c
		}
	}
	return 0
}

// versionRange is a range of NuGet: [4.*, 5.0.0), [2.6.1], 3.3.0.
type versionRange struct {
	high    bundleVersion
	bounded bool // there is a highest version
	within  bool // and it is in the range
}

// below reports whether all versions of the range are lower than v.
func (r versionRange) below(v bundleVersion) bool {
	if !r.bounded {
		return false
	}
	c := r.high.compare(v)
	return c < 0 || c == 0 && !r.within
}

var (
	plainVersion    = regexp.MustCompile(`^(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:\.(\d+))?(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$`) // read only
	floatingVersion = regexp.MustCompile(`^(?:\d+\.){0,3}\*$|^(?:\d+\.){0,3}\d+-(?:[0-9A-Za-z.-]*)\*$`)                          // read only
)

func parseBundleVersion(text string) (v bundleVersion, ok bool) {
	m := plainVersion.FindStringSubmatch(text)
	if m == nil {
		return v, false
	}
	for i, part := range m[1:] {
		if part == "" {
			continue
		}
		n, err := strconv.ParseInt(part, 10, 32)
		if err != nil {
			return v, false
		}
		v[i] = int(n)
	}
	return v, true
}

// parseVersionRange reads a range as the host does, which lets the lower end float
// (NuGet: VersionRangeFactory.cs).
func parseVersionRange(text string) (r versionRange, ok bool) {
	text = strings.TrimSpace(text)
	low := func(part string) (v bundleVersion, ok bool) {
		if floatingVersion.MatchString(part) {
			return v, true
		}
		return parseBundleVersion(part)
	}
	if len(text) == 0 {
		return r, false
	}
	if text[0] != '[' && text[0] != '(' {
		_, ok = low(text)
		return r, ok
	}
	end := text[len(text)-1]
	if len(text) < 2 || end != ']' && end != ')' {
		return r, false
	}
	r.within = end == ']'
	parts := strings.Split(text[1:len(text)-1], ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	switch {
	case len(parts) > 2, strings.Join(parts, "") == "":
		return r, false
	case len(parts) == 1:
		// One version is the whole range, and must be in it.
		if r.high, ok = parseBundleVersion(parts[0]); !ok {
			_, ok = low(parts[0])
			return versionRange{}, ok && text[0] == '[' && r.within
		}
		r.bounded = true
		return r, text[0] == '[' && r.within
	}
	if parts[0] != "" {
		if _, ok := low(parts[0]); !ok {
			return r, false
		}
	}
	if parts[1] == "" {
		return r, true
	}
	r.bounded = true
	r.high, ok = parseBundleVersion(parts[1])
	return r, ok
}

// readBundle reads extensionBundle as the host does (spec host-and-retry 6.2; host:
// ExtensionBundleConfigurationHelper.cs). For .NET the host loads no bundle.
func (l *configReader) readBundle(r document.Reader) {
	const at, idPath, versionPath = "extensionBundle", "extensionBundle.id", "extensionBundle.version"
	if !r.Has(at) {
		return
	}
	b := &ExtensionBundle{ID: r.Text(idPath, ""), Version: r.Text(versionPath, "")}
	l.config.ExtensionBundle = b
	bad := func(path, allowed, reason string) *schemas.Fault {
		f := r.Doc.Fault(path, r.Doc.Found(path), allowed, reason)
		f.Kind = schemas.KindArgument
		return f
	}
	if l.NoBundle() {
		w := bad(at, "", "apps in .NET have their extensions in their packages: the bundle is not used")
		w.Kind, w.Found, w.Hint = "", "", "remove the section"
		l.Warn(w)
		return
	}
	id, version := strings.TrimSpace(b.ID), strings.TrimSpace(b.Version)
	if id != "" && (!packageID.MatchString(id) || len(id) > longestPackageID) {
		l.Fault(bad(idPath, "the name of a package, such as "+standardBundle, "not the name of a bundle"))
		return
	}
	const ranges = "a range of versions, such as [4.*, 5.0.0) or [4.0.0, 5.0.0)"
	in, ok := parseVersionRange(version)
	if !ok {
		if version != "" { // the schema misses it
			l.Fault(bad(versionPath, ranges, "not a range of versions"))
		}
		return
	}
	known := false
	for _, name := range bundleIDs {
		known = known || strings.EqualFold(name, id)
	}
	if id != "" && !known {
		w := bad(idPath, strings.Join(bundleIDs, ", "), "no bundle of this name is known")
		w.Kind = ""
		l.Warn(w)
	}
	if !strings.EqualFold(id, standardBundle) {
		return
	}
	l.earlierBundle, b.Before3 = in.below(oldBundles), in.below(bundleVersion{3})
	switch {
	case in.below(lowestBundle):
		f := bad(versionPath, "", fmt.Sprintf("the host refuses versions of this bundle below %d.%d.%d", lowestBundle[0], lowestBundle[1], lowestBundle[2]))
		f.Kind, f.Hint = schemas.KindInvalidOperation, "write [4.*, 5.0.0)"
		l.Fault(f)
	case l.earlierBundle:
		w := bad(versionPath, "", "the versions of this range are deprecated")
		w.Kind, w.Hint = "", "bundle 4 is current: write [4.*, 5.0.0), and the present names of the properties of Cosmos DB bindings"
		l.Warn(w)
	}
}
