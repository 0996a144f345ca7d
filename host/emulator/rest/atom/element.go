package atom

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxDepth is how deep elements may nest; an entry with a rule has 7 levels.
const maxDepth = 32

// element is one element of a document. Namespaces are not looked at: clients bind
// and spell them in many ways, and names alone are unambiguous.
type element struct {
	name     string
	attrs    []xml.Attr
	text     string // directly in it
	children []*element
}

// child returns the first child of that name; nil if there is none, or if it is
// marked as nil (xsi:nil).
func (e *element) child(name string) *element {
	for _, c := range e.children {
		if c.name == name {
			if c.attr("nil") == "true" {
				return nil
			}
			return c
		}
	}
	return nil
}

// attr returns an attribute by its name without prefix; empty if there is none.
func (e *element) attr(name string) string {
	for _, a := range e.attrs {
		if a.Name.Local == name && a.Name.Space != "xmlns" {
			return a.Value
		}
	}
	return ""
}

// kind is the xsi:type of the element, without prefix.
func (e *element) kind() string {
	t := strings.TrimSpace(e.attr("type"))
	return t[strings.LastIndexByte(t, ':')+1:]
}

func malformed(err error) error {
	return fail(http.StatusBadRequest, "the request body is not well-formed: %v", err)
}

// parseEntry returns the description in the content of an entry.
func parseEntry(b []byte) (*element, error) {
	root, err := parseDocument(b)
	if err != nil {
		return nil, malformed(err)
	}
	if root.name != "entry" {
		return nil, fail(http.StatusBadRequest, "the request body is %q; want an ATOM entry", root.name)
	}
	content := root.child("content")
	if content == nil || len(content.children) != 1 {
		return nil, fail(http.StatusBadRequest, "the entry needs a content with one description in it")
	}
	return content.children[0], nil
}

// parseDocument reads a document of which nothing may be left over.
func parseDocument(b []byte) (*element, error) {
	dec := xml.NewDecoder(bytes.NewReader(bytes.TrimPrefix(b, []byte("\ufeff"))))
	var root *element
	var open []*element
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			if root == nil {
				return nil, errors.New("it is empty")
			}
			return root, nil
		}
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			e := &element{name: t.Name.Local, attrs: t.Attr}
			switch {
			case len(open) > 0:
				parent := open[len(open)-1]
				parent.children = append(parent.children, e)
			case root != nil:
				return nil, errors.New("something follows the document")
			default:
				root = e
			}
			if open = append(open, e); len(open) > maxDepth {
				return nil, fmt.Errorf("elements are nested more than %d deep", maxDepth)
			}
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			switch {
			case len(open) > 0:
				open[len(open)-1].text += string(t)
			case len(bytes.TrimSpace(t)) > 0:
				return nil, errors.New("text stands outside of the document")
			}
		case xml.Directive:
			return nil, errors.New("it has a document type definition")
		}
	}
}
