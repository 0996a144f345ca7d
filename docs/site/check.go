package main

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

const (
	longestCell = 300 // characters of a cell of a table; more is a paragraph
	firstWords  = 120 // characters before the first table of a page
)

// built is a page as the builder made it.
type built struct {
	name string
	root *html.Node
	ids  map[string]bool
}

// check reads the site in dir, and returns its faults and the number of its pages.
func check(root, dir string) (faults []string, pages int, err error) {
	files := map[string]bool{}
	var list []*built
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		files[rel] = true
		text, err := os.ReadFile(name)
		switch {
		case err != nil:
		case strings.HasSuffix(rel, ".css"):
			for _, m := range loadedByStyle.FindAllString(string(text), -1) {
				faults = append(faults, fmt.Sprintf("%s loads %s", rel, m))
			}
		case strings.HasSuffix(rel, ".html"):
			page, err := parse(rel, string(text))
			list = append(list, page)
			return err
		}
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	byName := map[string]*built{}
	for _, p := range list {
		byName[p.name] = p
	}
	for _, p := range list {
		c := checker{root: root, files: files, pages: byName, page: p}
		c.walk(p.root)
		c.tables()
		faults = append(faults, c.faults...)
	}
	slices.Sort(faults)
	return faults, len(list), nil
}

// loadedByStyle is what a style sheet takes from elsewhere.
var loadedByStyle = regexp.MustCompile(`(?:@import\s|url\()\s*["']?(?:https?:)?//[^"')]+`)

func parse(name, text string) (*built, error) {
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	p := &built{name: name, root: root, ids: map[string]bool{"": true, "top": true}}
	each(root, func(n *html.Node) {
		if id := attribute(n, "id"); id != "" {
			p.ids[id] = true
		}
	})
	return p, nil
}

// checker finds the faults of a page.
type checker struct {
	root   string
	files  map[string]bool
	pages  map[string]*built
	page   *built
	faults []string
}

func (c *checker) fault(format string, args ...any) {
	c.faults = append(c.faults, c.page.name+": "+fmt.Sprintf(format, args...))
}

// walk looks at what a page loads, and where its links lead.
func (c *checker) walk(n *html.Node) {
	each(n, func(n *html.Node) {
		switch n.Data {
		case "script", "img", "iframe", "source", "video", "embed":
			c.loads(attribute(n, "src"))
			for part := range strings.SplitSeq(attribute(n, "srcset"), ",") {
				name, _, _ := strings.Cut(strings.TrimSpace(part), " ")
				c.loads(name)
			}
		case "link":
			switch attribute(n, "rel") {
			case "canonical", "next", "prev", "alternate", "edit":
			default:
				c.loads(attribute(n, "href"))
			}
		case "a":
			c.leads(attribute(n, "href"))
		}
		if attribute(n, "data-md-component") == "source" {
			c.fault("asks a repository's host for its figures: repo_url is set")
		}
	})
}

// loads checks a file that a browser takes for a page.
func (c *checker) loads(name string) {
	switch {
	case name == "", strings.HasPrefix(name, "data:"):
	case strings.HasPrefix(name, "//"), strings.Contains(name, "://"):
		c.fault("loads %s", name)
	default:
		c.leads(name)
	}
}

// leads checks that a link leads to something that is there: in the site, or in the repository.
func (c *checker) leads(link string) {
	if file, ok := strings.CutPrefix(link, blob); ok {
		file, _, _ = strings.Cut(file, "#")
		if _, err := os.Stat(filepath.Join(c.root, filepath.FromSlash(file))); err != nil {
			c.fault("%s is not in the repository", file)
		}
		return
	}
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "" || u.Host != "" || link == "" {
		return
	}
	name := c.page.name
	if u.Path != "" {
		name = path.Join(path.Dir(c.page.name), u.Path)
		if strings.HasPrefix(u.Path, "/") {
			name = path.Clean(strings.TrimPrefix(u.Path, "/"))
		}
		if !c.files[name] {
			name = path.Join(name, "index.html")
		}
	}
	switch to := c.pages[name]; {
	case !c.files[name]:
		c.fault("the link %q leads nowhere", link)
	case u.Fragment != "" && to != nil && !to.ids[u.Fragment]:
		c.fault("the link %q: that page has no such heading", link)
	}
}

// tables checks how a page begins, and that no cell is a paragraph.
func (c *checker) tables() {
	var article *html.Node
	each(c.page.root, func(n *html.Node) {
		if n.Data == "article" && article == nil {
			article = n
		}
	})
	if article == nil {
		return
	}
	before, first := 0, true
	var read func(*html.Node)
	read = func(n *html.Node) {
		switch {
		case n.Type == html.TextNode && first:
			before += utf8.RuneCountInString(strings.Join(strings.Fields(n.Data), " "))
		case n.Type == html.ElementNode && n.Data == "img":
			before += firstWords
		case n.Type == html.ElementNode && (n.Data == "h1" || n.Data == "script" || n.Data == "style"):
			return
		case n.Type == html.ElementNode && n.Data == "table" && !strings.Contains(attribute(n, "class"), "highlight"):
			if first && before < firstWords {
				c.fault("begins with a table: say first what it is about")
			}
			first = false
		case n.Type == html.ElementNode && n.Data == "td":
			if text := strings.TrimSpace(textOf(n)); utf8.RuneCountInString(text) > longestCell {
				c.fault("a cell of a table has %d characters, want %d at most: %.40s...", utf8.RuneCountInString(text), longestCell, text)
			}
		}
		for child := n.FirstChild; child != nil; child = child.NextSibling {
			read(child)
		}
	}
	read(article)
}

// each calls f for an element and for all in it.
func each(n *html.Node, f func(*html.Node)) {
	if n.Type == html.ElementNode {
		f(n)
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		each(child, f)
	}
}

func textOf(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		b.WriteString(textOf(child))
	}
	return b.String()
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
