package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)    // read only
	fenced  = regexp.MustCompile("(?ms)^```.*?^```$")  // read only
	heading = regexp.MustCompile(`(?m)^#+ +(.+)$`)     // read only
	dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)   // read only
	outside = regexp.MustCompile(`^(?:[a-z]+:|//|#!)`) // read only
)

// anchors are the names under which the headings of a page are found.
func anchors(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		out[strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return out
}

// pages returns the pages of this folder and of those in it, without the specification.
func pages(t *testing.T) (list []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name == "spec":
			return filepath.SkipDir
		case strings.HasSuffix(name, ".md"):
			list = append(list, filepath.ToSlash(name))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// fromHere is a file's path from this folder, also where a page above names it by its folder.
func fromHere(file string) string {
	file = filepath.ToSlash(filepath.Clean(file))
	return filepath.FromSlash(strings.TrimPrefix(file, "../docs/"))
}

// Every link of a page leads to a file, and to a heading where it names one.
func TestLinks(t *testing.T) {
	t.Parallel()
	root, err := filepath.Glob("../*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages := append(pages(t), root...)
	links, reached := 0, map[string]bool{}
	for _, page := range pages {
		text := read(t, page)
		for _, m := range link.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			if outside.MatchString(m[1]) {
				continue
			}
			links++
			name, anchor, _ := strings.Cut(m[1], "#")
			file := page
			if name != "" {
				file = filepath.Join(filepath.Dir(page), filepath.FromSlash(name))
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: %q leads nowhere", page, m[1])
				continue
			}
			reached[fromHere(file)] = true
			if anchor != "" && strings.HasSuffix(file, ".md") && !anchors(read(t, file))[anchor] {
				t.Errorf("%s: %q: the page has no such heading", page, m[1])
			}
		}
	}
	if links < 150 {
		t.Errorf("%d links were found", links)
	}
	for _, page := range pages {
		if strings.HasPrefix(page, "..") {
			continue
		}
		if !reached[page] {
			t.Errorf("no page leads to %s", page)
		}
	}
}
