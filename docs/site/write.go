package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// blob is where a file of the repository is read that is no page.
const blob = "https://github.com/redeliver/redeliver/blob/main/"

// further are files outside docs that are pages, by the name of the page.
var further = map[string]string{
	"ARCHITECTURE.md":              "contributing/architecture.md",
	"CONTRIBUTING.md":              "contributing/contributing.md",
	"CHANGELOG.md":                 "contributing/changes.md",
	"schemas/host.json":            "reference/host-json.md",
	"schemas/function.json":        "reference/function-json.md",
	"schemas/local.settings.json":  "reference/local-settings-json.md",
	"schemas/scenario.json":        "reference/scenario.md",
	"schemas/journal.json":         "reference/journal.md",
	"schemas/openapi/control.json": "reference/control-api.md",
	"schemas/openapi/kit.json":     "reference/kit-api.md",
} // read only

// write writes the pages of the repository root, and the builder's configuration, to dir. It
// returns how many pages there are.
func write(root, dir string) (int, error) {
	pages, err := pagesOf(root)
	if err != nil {
		return 0, err
	}
	config, err := os.ReadFile(filepath.Join(root, "docs", "mkdocs.yml"))
	if err != nil {
		return 0, err
	}
	config = withKits(config, pages)
	faults := unlisted(config, pages)
	if err := os.RemoveAll(filepath.Join(dir, "pages")); err != nil {
		return 0, err
	}
	for file, page := range pages {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			return 0, err
		}
		if strings.HasSuffix(file, ".json") {
			text, err = reference(file, text)
		} else {
			text, err = relinked(root, file, page, text, pages)
		}
		if err == nil {
			err = writeFile(filepath.Join(dir, "pages", filepath.FromSlash(page)), text)
		}
		faults = append(faults, err)
	}
	pictures := filepath.Join(dir, "pages", "ui")
	if err := os.RemoveAll(pictures); err != nil {
		return 0, err
	}
	faults = append(faults, os.CopyFS(pictures, os.DirFS(filepath.Join(root, "docs", "ui"))),
		writeFile(filepath.Join(dir, "pages", "site.css"), style), writeFile(filepath.Join(dir, "mkdocs.yml"), config))
	return len(pages), errors.Join(faults...)
}

// pagesOf returns the files that are pages, with the names of the pages.
func pagesOf(root string) (map[string]string, error) {
	pages := map[string]string{}
	for file, page := range further {
		pages[file] = page
	}
	docs := filepath.Join(root, "docs")
	err := filepath.WalkDir(docs, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "spec": // its tables are for developers, beside the code that cites them
			return filepath.SkipDir
		case strings.HasSuffix(name, ".md"):
			rel, err := filepath.Rel(docs, name)
			rel = filepath.ToSlash(rel)
			pages["docs/"+rel] = rel
			return err
		}
		return nil
	})
	return pages, err
}

// withKits leaves a kit out of the navigation whose page is not there.
func withKits(config []byte, pages map[string]string) []byte {
	var out []string
	for line := range strings.SplitSeq(string(config), "\n") {
		page := named.FindString(line)
		if _, ok := pages["docs/"+page]; ok || !strings.HasPrefix(page, "kits/") {
			out = append(out, line)
		}
	}
	return []byte(strings.Join(out, "\n"))
}

// named is the name of a page in the navigation.
var named = regexp.MustCompile(`[a-z][\w/-]*\.md|\bREADME\.md`)

// unlisted returns an error for each page that the navigation does not have, and for each name
// in it that is no page.
func unlisted(config []byte, pages map[string]string) (faults []error) {
	_, nav, _ := strings.Cut(string(config), "nav:")
	listed := map[string]bool{}
	for _, page := range named.FindAllString(nav, -1) {
		listed[page] = true
	}
	for file, page := range pages {
		if !listed[page] {
			faults = append(faults, fmt.Errorf("docs/mkdocs.yml: nav does not have %s (%s)", page, file))
		}
		delete(listed, page)
	}
	for page := range listed {
		faults = append(faults, fmt.Errorf("docs/mkdocs.yml: nav has %s, and there is no such page", page))
	}
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return faults
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)                        // read only
	outside = regexp.MustCompile(`^(?:[a-z]+:|//|#)`)                      // read only
	orders  = regexp.MustCompile(`^<!-- (?:no run|wait|run|/?names)\b.*$`) // read only: for tests and generators
)

// relinked is a page whose links lead to pages, and else to addresses.
func relinked(root, file, page string, text []byte, pages map[string]string) ([]byte, error) {
	var faults []error
	var out []string
	fence := false
	for i, line := range strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n") {
		if strings.HasPrefix(line, "```") {
			fence = !fence
		} else if !fence {
			if orders.MatchString(line) {
				continue
			}
			line = link.ReplaceAllStringFunc(line, func(found string) string {
				target := found[2 : len(found)-1]
				if outside.MatchString(target) {
					return found
				}
				name, anchor, _ := strings.Cut(target, "#")
				to := path.Join(path.Dir(file), name)
				if name == "" {
					to = file
				}
				if anchor != "" {
					anchor = "#" + anchor
				}
				if of, ok := pages[to]; ok {
					return "](" + relative(page, of) + anchor + ")"
				}
				if strings.HasPrefix(to, "docs/ui/") {
					return "](" + relative(page, strings.TrimPrefix(to, "docs/")) + ")"
				}
				if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(to))); err != nil {
					faults = append(faults, fmt.Errorf("%s:%d: %q leads nowhere", file, i+1, target))
				}
				return "](" + blob + to + anchor + ")"
			})
		}
		out = append(out, line)
	}
	return []byte(strings.Join(out, "\n")), errors.Join(faults...)
}

// relative is the way from one page to another.
func relative(from, to string) string {
	return strings.Repeat("../", strings.Count(from, "/")) + to
}

func writeFile(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o600)
}
