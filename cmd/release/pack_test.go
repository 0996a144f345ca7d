package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// tiny is a program of Go, in the place of the real one, which takes a minute to compile.
var tiny = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "tiny")
	if err != nil {
		return "", err
	}
	for name, text := range map[string]string{"go.mod": "module github.com/redeliver/redeliver\n", "main.go": "package main\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return "", err
		}
	}
	cmd := exec.Command("go", "build", "-buildvcs=false", "-ldflags", "-s -w", "-o", "tiny", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	text, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, text)
	}
	return filepath.Join(dir, "tiny"), nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if file, err := tiny(); err == nil {
		os.RemoveAll(filepath.Dir(file))
	}
	if dir, err := once(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// once is a release that tests read.
var once = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "once")
	if err == nil {
		err = pack(dir)
	}
	return dir, err
})

// packed is the folder of a release of tiny programs, not to be changed.
func packed(t *testing.T) string {
	t.Helper()
	dir, err := once()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// pack writes a release of tiny programs into a folder.
func pack(dir string) error {
	file, err := tiny()
	if err != nil {
		return err
	}
	names, err := readNames()
	if err != nil {
		return err
	}
	r := &release{
		version: "0.4.0-rc.1", commit: "a1b2c3d", date: time.Date(2026, 11, 20, 3, 4, 6, 0, time.UTC), root: dir, names: names, platforms: platforms,
		license: []byte("the licence\n"), readme: []byte("# Redeliver\n"), thirdParty: []byte("others\n"),
		manual: []manualFile{{"completions/_redeliver", []byte("#compdef redeliver\n")}, {"man/redeliver.1", []byte(".TH REDELIVER 1\n")}},
	}
	files := map[string]string{}
	for _, p := range platforms {
		files[p.String()] = file
	}
	return r.pack(files, dir)
}

// read returns a file of a release.
func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// packedFile is an entry of an archive, as a reader finds it.
type packedFile struct {
	mode  fs.FileMode
	owner int
	data  []byte
}

func untar(t *testing.T, data []byte) (names []string, files map[string]packedFile) {
	t.Helper()
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if data, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	files = map[string]packedFile{}
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return names, files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		files[h.Name] = packedFile{h.FileInfo().Mode(), h.Uid, text}
	}
}

func unzip(t *testing.T, data []byte) (names []string, files map[string]packedFile) {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	files = map[string]packedFile{}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, f.Name)
		files[f.Name] = packedFile{f.Mode(), 0, text}
	}
	return names, files
}

// Two runs at different places give the same files, byte for byte and mode for mode.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	one, two := packed(t), filepath.Join(t.TempDir(), "elsewhere", "dist")
	if err := pack(two); err != nil {
		t.Fatal(err)
	}
	list := func(dir string) (out []string) {
		err := filepath.WalkDir(dir, func(name string, f fs.DirEntry, err error) error {
			if err != nil || f.IsDir() {
				return err
			}
			info, err := f.Info()
			if err != nil {
				return err
			}
			data, err := os.ReadFile(name)
			out = append(out, fmt.Sprint(strings.TrimPrefix(name, dir), " ", info.Mode(), " ", sum(data)))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	got, want := list(two), list(one)
	if !slices.Equal(got, want) {
		t.Errorf("the second run wrote\n%s\nthe first\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(want) < 40 {
		t.Errorf("%d files", len(want))
	}
}

func TestArchives(t *testing.T) {
	t.Parallel()
	dir := packed(t)
	for name, open := range map[string]func(*testing.T, []byte) ([]string, map[string]packedFile){
		"redeliver_0.4.0-rc.1_linux_arm64.tar.gz": untar, "redeliver_0.4.0-rc.1_darwin_arm64.tar.gz": untar, "redeliver_0.4.0-rc.1_windows_amd64.zip": unzip,
	} {
		_, files := open(t, read(t, dir, name))
		program := "redeliver"
		if strings.Contains(name, "windows") {
			program += ".exe"
		}
		for file, mode := range map[string]fs.FileMode{program: 0o755, "LICENSE": 0o644, "README.md": 0o644, "THIRD_PARTY_LICENSES.txt": 0o644, "completions/_redeliver": 0o644, "man/redeliver.1": 0o644} {
			if f, ok := files[file]; !ok || f.mode != mode || len(f.data) == 0 {
				t.Errorf("%s: %s has mode %v and %d bytes, want mode %v", name, file, f.mode, len(f.data), mode)
			}
		}
	}
}

func TestNpmPackages(t *testing.T) {
	t.Parallel()
	dir := packed(t)
	names, files := untar(t, read(t, dir, "npm/redeliver-cli-win32-arm64-0.4.0-rc.1.tgz"))
	if want := []string{"package/package.json", "package/LICENSE", "package/bin/redeliver.exe"}; !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
	if mode := files["package/bin/redeliver.exe"].mode; mode != 0o755 {
		t.Errorf("the program has mode %v", mode)
	}
	var m map[string]any
	if err := json.Unmarshal(files["package/package.json"].data, &m); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(m["name"], m["version"], m["os"], m["cpu"], m["preferUnplugged"], m["libc"], m["scripts"]); got != "@redeliver/cli-win32-arm640.4.0-rc.1[win32] [arm64] true <nil> <nil>" {
		t.Errorf("package.json says %s", got)
	}

	_, files = untar(t, read(t, dir, "npm/redeliver-cli-0.4.0-rc.1.tgz"))
	if err := json.Unmarshal(files["package/package.json"].data, &m); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(m["name"], m["bin"], m["engines"], m["scripts"], m["dependencies"]); got != "@redeliver/climap[redeliver:bin/redeliver.js] map[node:>=18] <nil> <nil>" {
		t.Errorf("package.json of the command says %s", got)
	}
	want := map[string]any{}
	for _, p := range platforms {
		want["@redeliver/cli-"+p.node] = "0.4.0-rc.1"
	}
	if got := m["optionalDependencies"]; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("optional dependencies %v, want %v", got, want)
	}
	launcher := string(files["package/bin/redeliver.js"].data)
	if files["package/bin/redeliver.js"].mode != 0o755 || !strings.HasPrefix(launcher, "#!/usr/bin/env node\n") || strings.Contains(launcher, "@PLATFORMS@") || strings.Contains(launcher, "@VERSION@") {
		t.Errorf("launcher:\n%s", launcher)
	}
	for _, p := range platforms {
		if !strings.Contains(launcher, `"`+p.node+`"`) {
			t.Errorf("the launcher does not know %s", p.node)
		}
	}
}

func TestWheels(t *testing.T) {
	t.Parallel()
	dir := packed(t)
	for file, tags := range map[string][]string{
		"redeliver_cli-0.4.0rc1-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64.whl":    {"manylinux_2_17_x86_64", "manylinux2014_x86_64", "musllinux_1_1_x86_64"},
		"redeliver_cli-0.4.0rc1-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64.whl": {"manylinux_2_17_aarch64", "manylinux2014_aarch64", "musllinux_1_1_aarch64"},
		"redeliver_cli-0.4.0rc1-py3-none-macosx_12_0_arm64.whl":                                                  {"macosx_12_0_arm64"},
		"redeliver_cli-0.4.0rc1-py3-none-win_amd64.whl":                                                          {"win_amd64"},
	} {
		names, files := unzip(t, read(t, dir, "pypi/"+file))
		const info = "redeliver_cli-0.4.0rc1.dist-info/"
		if names[len(names)-1] != info+"RECORD" || !slices.IsSorted(names[:len(names)-1]) {
			t.Errorf("%s: entries %q, want them sorted and RECORD last", file, names)
		}
		checkRecord(t, file, info, files)
		program := "redeliver_cli-0.4.0rc1.data/scripts/redeliver"
		if strings.Contains(file, "win") {
			program += ".exe"
		}
		for name, f := range files {
			want := fs.FileMode(0o644)
			if name == program {
				want = 0o755
			}
			if f.mode != want {
				t.Errorf("%s: %s has mode %v, want %v", file, name, f.mode, want)
			}
		}
		text := "Wheel-Version: 1.0\nGenerator: redeliver release\nRoot-Is-Purelib: false\n"
		for _, tag := range tags {
			text += "Tag: py3-none-" + tag + "\n"
		}
		if got := string(files[info+"WHEEL"].data); got != text {
			t.Errorf("%s: WHEEL is\n%s\nwant\n%s", file, got, text)
		}
		metadata := string(files[info+"METADATA"].data)
		for _, line := range []string{"Metadata-Version: 2.4", "Name: redeliver-cli", "Version: 0.4.0rc1", "License-Expression: Apache-2.0", "Requires-Python: >=3.9", "Description-Content-Type: text/markdown"} {
			if !strings.Contains(metadata, line+"\n") {
				t.Errorf("%s: METADATA lacks %q", file, line)
			}
		}
	}
}

// checkRecord holds the entries of a wheel against its RECORD.
func checkRecord(t *testing.T, file, info string, files map[string]packedFile) {
	t.Helper()
	seen := 0
	for line := range strings.Lines(string(files[info+"RECORD"].data)) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		if seen++; fields[0] == info+"RECORD" {
			continue // has no hash of itself
		}
		f, ok := files[fields[0]]
		h := sha256.Sum256(f.data)
		if want := "sha256=" + base64.RawURLEncoding.EncodeToString(h[:]); !ok || fields[1] != want || fields[2] != fmt.Sprint(len(f.data)) {
			t.Errorf("%s: RECORD says %q, want %s and %d bytes", file, line, want, len(f.data))
		}
	}
	if seen != len(files) {
		t.Errorf("%s: RECORD has %d lines, want %d", file, seen, len(files))
	}
}

func TestMavenRepository(t *testing.T) {
	t.Parallel()
	dir := packed(t)
	const at = "maven/io/github/redeliver/redeliver-binary/0.4.0-rc.1/redeliver-binary-0.4.0-rc.1"
	for _, classifier := range []string{"linux-x86_64", "linux-aarch_64", "osx-x86_64", "osx-aarch_64", "windows-x86_64", "windows-aarch_64"} {
		jar := read(t, dir, at+"-"+classifier+".jar")
		if got := string(read(t, dir, at+"-"+classifier+".jar.sha256")); got != sum(jar) {
			t.Errorf("%s: checksum %s, want %s", classifier, got, sum(jar))
		}
		names, files := unzip(t, jar)
		program := "META-INF/redeliver/redeliver"
		if strings.HasPrefix(classifier, "windows") {
			program += ".exe"
		}
		if names[0] != "META-INF/" || names[1] != "META-INF/MANIFEST.MF" || len(files[program].data) == 0 {
			t.Errorf("%s: entries %q, want the manifest first, and %s", classifier, names, program)
		}
	}
	if pom := string(read(t, dir, at+".pom")); !strings.Contains(pom, "<version>0.4.0-rc.1</version>") || strings.Contains(pom, "%!") {
		t.Errorf("POM:\n%s", pom)
	}
}

// The formula and the manifest of Scoop have the hashes of the archives.
func TestFormula(t *testing.T) {
	t.Parallel()
	dir := packed(t)
	formula, scoop := string(read(t, dir, "homebrew/redeliver.rb")), string(read(t, dir, "scoop/redeliver.json"))
	found := 0
	for line := range strings.Lines(string(read(t, dir, checksumsFile))) {
		hash, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if !strings.HasPrefix(name, "redeliver_") || strings.HasSuffix(name, "_oci.tar") {
			continue
		}
		found++
		url := "https://github.com/redeliver/redeliver/releases/download/v0.4.0-rc.1/" + name
		if strings.Contains(name, "windows") {
			if !strings.Contains(scoop, fmt.Sprintf("\"url\": %q,\n      \"hash\": %q", url, hash)) {
				t.Errorf("scoop lacks %s:\n%s", name, scoop)
			}
		} else if !strings.Contains(formula, fmt.Sprintf("      url %q\n      sha256 %q\n", url, hash)) {
			t.Errorf("the formula lacks %s:\n%s", name, formula)
		}
	}
	if found != 6 || strings.Count(formula, "on_arm do") != 2 || !strings.Contains(formula, `version "0.4.0-rc.1"`) {
		t.Errorf("%d archives in the list, formula\n%s", found, formula)
	}
}

func TestImageLayout(t *testing.T) {
	t.Parallel()
	dir := packed(t)
	type descriptor struct {
		Digest      string            `json:"digest"`
		MediaType   string            `json:"mediaType"`
		Annotations map[string]string `json:"annotations"`
		Platform    struct{ OS, Architecture string }
	}
	blob := func(digest string) []byte { return read(t, dir, "oci/blobs/"+strings.ReplaceAll(digest, ":", "/")) }
	decode := func(data []byte, into any) {
		t.Helper()
		if err := json.Unmarshal(data, into); err != nil {
			t.Fatal(err)
		}
	}
	var top, all struct{ Manifests []descriptor }
	decode(read(t, dir, "oci/index.json"), &top)
	if len(top.Manifests) != 1 || top.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "0.4.0-rc.1" {
		t.Fatalf("index.json has %+v, want one named entry", top)
	}
	decode(blob(top.Manifests[0].Digest), &all)
	if len(all.Manifests) != 2 || all.Manifests[0].Platform.Architecture != "amd64" || all.Manifests[1].Platform.Architecture != "arm64" {
		t.Fatalf("the index has %+v", all)
	}
	for _, m := range all.Manifests {
		var image struct {
			Config descriptor
			Layers []descriptor
		}
		decode(blob(m.Digest), &image)
		var config struct {
			Architecture, Created string
			Config                struct {
				User, WorkingDir string
				Entrypoint, Cmd  []string
			}
		}
		decode(blob(image.Config.Digest), &config)
		if got := fmt.Sprint(config); got != "{"+m.Platform.Architecture+" 2026-11-20T03:04:06Z {65532:65532 /app [/usr/bin/redeliver] [start --services-only --container --data /data]}}" {
			t.Errorf("config %s", got)
		}
		if len(image.Layers) != 1 {
			t.Fatalf("%d layers", len(image.Layers))
		}
		_, files := untar(t, blob(image.Layers[0].Digest))
		for name, want := range map[string]packedFile{
			"usr/bin/redeliver": {mode: 0o755}, "app/": {mode: fs.ModeDir | 0o755, owner: 65532}, "data/": {mode: fs.ModeDir | 0o755, owner: 65532}, "tmp/": {mode: fs.ModeDir | fs.ModeSticky | 0o777},
		} {
			if f, ok := files[name]; !ok || f.mode != want.mode || f.owner != want.owner {
				t.Errorf("%s: mode %v, owner %d, want %v and %d", name, f.mode, f.owner, want.mode, want.owner)
			}
		}
	}
}

func TestBillOfMaterials(t *testing.T) {
	t.Parallel()
	dir := packed(t)
	text := string(read(t, dir, "sbom/redeliver_0.4.0-rc.1_linux_amd64.cdx.json"))
	for _, want := range []string{`"bomFormat": "CycloneDX"`, `"timestamp": "2026-11-20T03:04:06Z"`, `"version": "v0.4.0-rc.1"`, `"name": "std"`} {
		if !strings.Contains(text, want) {
			t.Errorf("the bill of materials lacks %s:\n%s", want, text)
		}
	}
	if strings.Contains(text, "serialNumber") {
		t.Error("it has a number that is another one in each run")
	}
}
