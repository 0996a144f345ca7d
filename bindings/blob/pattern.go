package blob

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"github.com/redeliver/redeliver/bindings"
)

// PathError says why the path of a blob binding was refused, in the words of
// the platform. errors.Is(err, bindings.ErrInvalidName) holds for it.
type PathError struct {
	Path string
	Text string // the platform's text
}

func (e *PathError) Error() string { return e.Text }

// Unwrap returns bindings.ErrInvalidName.
func (e *PathError) Unwrap() error { return bindings.ErrInvalidName }

// ParsePath splits the path of one blob, "container/name", and checks both
// parts. An absolute URL is a path too: its host does not count, nor does the
// account in front of the path where the host is an address or localhost, as
// with an emulator. Settings and binding expressions must have been replaced
// before. The error is a *PathError, *bindings.NameError or *storage.Error.
//
// Source: webjobs storage extension, BlobPath.cs.
func ParsePath(path string) (container, name string, err error) {
	container, name, ok := strings.Cut(withoutHost(path), "/")
	if !ok || container == "" || name == "" {
		return "", "", &PathError{Path: path, Text: fmt.Sprintf(
			"Invalid blob path specified : '%s'. Blob identifiers must be in the format 'container/blob'.", path)}
	}
	if err := ValidateContainerName(container); err != nil {
		return "", "", err
	}
	return container, name, ValidateBoundName(name)
}

// ParseContainerPath splits the path of a container, "container", or of the blobs in it
// whose names begin with a text, "container/text". The errors are those of [ParsePath].
//
// Source: webjobs storage extension, BlobPath.cs, isContainerBinding.
func ParseContainerPath(path string) (container, prefix string, err error) {
	if !strings.Contains(path, "/") {
		return path, "", ValidateContainerName(path)
	}
	return ParsePath(path)
}

// withoutHost turns an absolute URL into "container/name" and leaves every other
// text alone.
func withoutHost(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return path
	}
	rest := strings.TrimPrefix(u.Path, "/")
	host := u.Hostname()
	if _, err := netip.ParseAddr(host); err == nil || strings.EqualFold(host, "localhost") {
		_, rest, _ = strings.Cut(rest, "/")
	}
	return rest
}

// Pattern is the path of a blob trigger: a container, and a pattern for the
// names in it, whose parameters become binding data. It is immutable and may be
// used concurrently.
//
//	uploads                    every blob of the container
//	uploads/{name}.csv         name is all before the last ".csv", slashes included
//	uploads/{{2024}}-{name}    doubled braces stand for themselves
//
// A parameter takes as much as it can. The container is compared ignoring case,
// the rest is not.
//
// Source: webjobs storage extension, ParameterizedBlobPathSource.cs and
// FixedBlobPathSource.cs; webjobs sdk, BindingTemplateSource.cs.
type Pattern struct {
	text      string
	container string
	name      *regexp.Regexp // nil: every name
	names     []string       // of the groups, in order
}

// systemValue finds the values that the system gives: {rand-guid}, {datetime:FORMAT}.
var systemValue = regexp.MustCompile(`(?i)\{(?:rand-guid|datetime:)`) // read only

// ParsePattern reads a pattern. Settings must have been replaced before. The
// error is a *PathError, *bindings.TemplateError, *bindings.NameError or *storage.Error.
func ParsePattern(pattern string) (*Pattern, error) {
	container, name, hasName := strings.Cut(pattern, "/")
	if strings.Contains(pattern, `\`) || container == "" || hasName && name == "" {
		return nil, &PathError{Path: pattern, Text: fmt.Sprintf(
			"Invalid blob trigger path '%s'. Paths must be in the format 'container/blob'.", pattern)}
	}
	if strings.Contains(container, "{") {
		return nil, &PathError{Path: pattern, Text: fmt.Sprintf(
			"Invalid blob path '%s'. Container paths cannot contain {resolve} tokens.", pattern)}
	}
	if err := ValidateContainerName(container); err != nil {
		return nil, err
	}
	p := &Pattern{text: pattern, container: container}
	if !hasName {
		return p, nil
	}
	if _, err := bindings.ParseTemplate(pattern); err != nil {
		return nil, err // with its place in the whole
	}
	template, err := bindings.ParseTemplate(name)
	if err != nil {
		return nil, err
	}
	if template.IsConstant() {
		constant, _ := template.Resolve(nil)
		if err := ValidateBoundName(constant); err != nil {
			return nil, err
		}
	}
	var expression strings.Builder
	for literal, path := range template.Parts() {
		switch {
		case path == nil:
			expression.WriteString(regexp.QuoteMeta(literal))
		case len(path) > 1:
			return nil, &bindings.TemplateError{Template: pattern, Position: 1, Text: fmt.Sprintf(
				"Invalid template '%s'. The parameter name '%s' is invalid.", pattern, strings.Join(path, "."))}
		case systemValue.MatchString(name): // which no name has (observed: host 4.1037)
			return nil, &bindings.TemplateError{Template: pattern, Position: 1, Text: fmt.Sprintf(
				"Invalid blob trigger path '%s'. '{%s}' is a value of the system, and takes no part of a name.", pattern, path[0])}
		default:
			p.names = append(p.names, path[0])
			expression.WriteString("(.*)")
		}
	}
	p.name, err = regexp.Compile("^" + expression.String() + "$")
	return p, err
}

// String returns the pattern as it was written.
func (p *Pattern) String() string { return p.text }

// Container is the container that the pattern looks at.
func (p *Pattern) Container() string { return p.container }

// Parameters returns the names of the parameters, once each, in order.
func (p *Pattern) Parameters() []string {
	var names []string
	seen := map[string]bool{}
	for _, name := range p.names {
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// Match reports whether a blob is meant, and the values of the parameters. Of
// two parameters of one name the last counts.
func (p *Pattern) Match(container, name string) (parameters map[string]string, ok bool) {
	if !strings.EqualFold(container, p.container) {
		return nil, false
	}
	parameters = map[string]string{}
	if p.name == nil {
		return parameters, true
	}
	groups := p.name.FindStringSubmatch(name)
	if groups == nil {
		return nil, false
	}
	for i, parameter := range p.names {
		parameters[parameter] = groups[i+1]
	}
	return parameters, true
}
