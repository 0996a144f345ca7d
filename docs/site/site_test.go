package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// page is a built page around some text.
func page(body string) string {
	return "<html><head></head><body><article><h1 id=one>One</h1><p>" + strings.Repeat("said first ", 20) + "</p>" + body + "</article></body></html>"
}

// What a page may not have, each with the fault that is told.
func TestCheck(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, body, want string }{
		{"fine", `<a href="../b/#two">b</a><a href="https://example.com">out</a><img src="../p.png">`, ""},
		{"into the repository", `<a href="` + blob + `go.mod">mod</a>`, ""},
		{"not in the repository", `<a href="` + blob + `none.md">none</a>`, "none.md is not in the repository"},
		{"no page", `<a href="../c/">c</a>`, `the link "../c/" leads nowhere`},
		{"no heading", `<a href="../b/#three">b</a>`, `the link "../b/#three": that page has no such heading`},
		{"no heading here", `<a href="#two">b</a>`, `the link "#two": that page has no such heading`},
		{"no picture", `<img src="../q.png">`, `the link "../q.png" leads nowhere`},
		{"a script", `<script src="https://example.com/a.js"></script>`, "loads https://example.com/a.js"},
		{"a style", `<link rel=stylesheet href="//example.com/a.css">`, "loads //example.com/a.css"},
		{"a picture from elsewhere", `<img src="http://example.com/a.png">`, "loads http://example.com/a.png"},
		{"a picture in sizes", `<img src="../p.png" srcset="../p.png 1x, https://example.com/p.png 2x">`, "loads https://example.com/p.png"},
		{"a frame", `<iframe src="https://example.com"></iframe>`, "loads https://example.com"},
		{"the repository's figures", `<div data-md-component="source"></div>`, "asks a repository's host for its figures: repo_url is set"},
		{"a long cell", `<table><tr><td>` + strings.Repeat("x", 301) + `</td></tr></table>`, "a cell of a table has 301 characters, want 300 at most: " + strings.Repeat("x", 40) + "..."},
		{"a cell that is long enough", `<table><tr><td>` + strings.Repeat("x", 300) + `</td></tr></table>`, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, dir, "a/index.html", page(row.body))
			put(t, dir, "b/index.html", page(`<h2 id="two">Two</h2>`))
			put(t, dir, "p.png", "")
			got, pages, err := check(filepath.Join("..", ".."), dir)
			if err != nil || pages != 2 {
				t.Fatalf("%d pages, %v", pages, err)
			}
			want := []string{}
			if row.want != "" {
				want = append(want, "a/index.html: "+row.want)
			}
			if !slices.Equal(got, want) && len(got)+len(want) > 0 {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// A page does not begin with a table, and a style sheet loads nothing.
func TestCheckOfBeginAndStyle(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "index.html", "<html><body><article><h1>One</h1><p>Short.</p><table><tr><td>x</td></tr></table></article></body></html>")
	put(t, dir, "a.css", `@import url("https://example.com/b.css"); p { background: url(//example.com/c.png) } q { background: url(d.png) }`)
	got, _, err := check(filepath.Join("..", ".."), dir)
	want := []string{`a.css loads url("https://example.com/b.css`, "a.css loads url(//example.com/c.png", "index.html: begins with a table: say first what it is about"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

// The links of a page lead to pages and pictures of the site, and else into the repository; a
// block of code is left as it is, and what is said to tests is not shown.
func TestWrite(t *testing.T) {
	t.Parallel()
	root, dir := t.TempDir(), t.TempDir()
	for file := range further {
		put(t, root, file, "{}")
	}
	put(t, root, "go.mod", "")
	put(t, root, "docs/ui/a.png", "")
	put(t, root, "docs/start/b.md", "# B\n")
	put(t, root, "docs/spec/c.md", "# C\n")
	put(t, root, "docs/a.md", "[b](start/b.md#x) [mod](../go.mod) [spec](spec/c.md#y) [arch](../ARCHITECTURE.md) ![p](ui/a.png) [out](https://example.com) [here](#z)\n<!-- no run: a reason -->\n```console\n$ x [b](start/b.md)\n```\n")
	put(t, root, "docs/start/d.md", "[a](../a.md) ![p](../ui/a.png) [host](../../schemas/host.json)\n")
	nav := "nav: [a.md, start/b.md, {D: [{d: start/d.md}]}"
	for _, page := range further {
		nav += ", " + page
	}
	put(t, root, "docs/mkdocs.yml", nav+"]\n")
	if n, err := write(root, dir); err != nil || n != 3+len(further) {
		t.Fatalf("%d pages, %v", n, err)
	}
	for name, want := range map[string]string{
		"a.md":       "[b](start/b.md#x) [mod](" + blob + "go.mod) [spec](" + blob + "docs/spec/c.md#y) [arch](contributing/architecture.md) ![p](ui/a.png) [out](https://example.com) [here](#z)\n```console\n$ x [b](start/b.md)\n```\n",
		"start/d.md": "[a](../a.md) ![p](../ui/a.png) [host](../reference/host-json.md)\n",
	} {
		if got, err := os.ReadFile(filepath.Join(dir, "pages", filepath.FromSlash(name))); err != nil || string(got) != want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, want)
		}
	}

	put(t, root, "docs/a.md", "# A\n\n[none](none.md)\n")
	put(t, root, "docs/mkdocs.yml", strings.Replace(nav, "a.md", "gone.md", 1)+"]\n")
	_, err := write(root, dir)
	want := "docs/mkdocs.yml: nav does not have a.md (docs/a.md)\ndocs/mkdocs.yml: nav has gone.md, and there is no such page\ndocs/a.md:3: \"none.md\" leads nowhere"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// The pages of the repository as they are: each is in the navigation, and each link leads
// somewhere.
func TestPagesOfTheRepository(t *testing.T) {
	t.Parallel()
	n, err := write(filepath.Join("..", ".."), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if n < 60 {
		t.Errorf("%d pages", n)
	}
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := writeFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text)); err != nil {
		t.Fatal(err)
	}
}
