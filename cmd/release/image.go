package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// imageUser runs the program in a container; it owns the folders that it writes into.
const imageUser = 65532

// imageData is the folder of the data, for a volume.
const imageData = "/data"

// imagePorts are where the services are: the control API, blobs, queues, Service Bus and its
// administration, Event Grid.
var imagePorts = map[string]struct{}{ // read only
	"7071/tcp": {}, "10000/tcp": {}, "10001/tcp": {}, "10002/tcp": {}, "5672/tcp": {}, "5300/tcp": {}, "60101/tcp": {},
}

// imageCommand is what a container does without a command: it serves the services. The data
// has a folder of its own, for a volume.
var imageCommand = []string{"start", "--services-only", "--container", "--data", imageData} // read only

// image writes the images of the platforms as an OCI layout, and the layout as one file.
// index.json has one entry, the index of all platforms: with the images themselves there
// skopeo refuses, because it finds more than one.
func (r *release) image(d *dist, programs map[string][]byte) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	found := false
	for _, p := range r.platforms {
		if p.os != "linux" {
			continue
		}
		found = true
		img, err := r.imageOf(p, programs[p.String()])
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.os, Architecture: p.arch}}})
	}
	if !found {
		return nil
	}
	dir := filepath.Join(d.dir, "oci")
	to, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	if err := to.AppendIndex(index, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": r.version})); err != nil {
		return err
	}
	return r.noteLayout(d, dir)
}

// noteLayout lists the files of the layout, and packs them into one archive.
func (r *release) noteLayout(d *dist, dir string) error {
	publish := &publication{r.names.Image.Name, orderImage}
	var entries []entry
	err := filepath.WalkDir(dir, func(name string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.Chmod(name, 0o644); err != nil { // the library gives each another one
			return err
		}
		within, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		within = filepath.ToSlash(within)
		entries = append(entries, entry{name: within, mode: 0o644, data: data})
		d.note("oci/"+within, "oci", data, publish)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	data, err := tarred(entries, r.date)
	if err != nil {
		return err
	}
	return d.add("redeliver_"+r.version+"_oci.tar", "oci", data, publish)
}

// imageOf is the image of a platform: one layer, with nothing but the program and the
// folders that it needs. Root certificates and time zones are compiled into the program.
func (r *release) imageOf(p platform, program []byte) (v1.Image, error) {
	content, err := tarred([]entry{
		{name: "app/", mode: 0o755, owner: imageUser},
		{name: "data/", mode: 0o755, owner: imageUser},
		{name: "tmp/", mode: 0o1777},
		{name: "usr/", mode: 0o755},
		{name: "usr/bin/", mode: 0o755},
		{name: "usr/bin/redeliver", mode: 0o755, data: program},
		{name: "usr/share/", mode: 0o755},
		{name: "usr/share/licenses/", mode: 0o755},
		{name: "usr/share/licenses/LICENSE", mode: 0o644, data: r.license},
		{name: "usr/share/licenses/THIRD_PARTY_LICENSES.txt", mode: 0o644, data: r.thirdParty},
	}, r.date)
	if err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
	layer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(9))
	if err != nil {
		return nil, err
	}
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	img, err = mutate.Append(img, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: r.date}, CreatedBy: "release"}})
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(img, r.imageConfig(img, p))
}

func (r *release) imageConfig(img v1.Image, p platform) *v1.ConfigFile {
	config, err := img.ConfigFile()
	if err != nil { // it is in memory
		panic(err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = p.os, p.arch, v1.Time{Time: r.date}
	home := "https://" + r.names.Repository.Name
	config.Config = v1.Config{
		User: "65532:65532", WorkingDir: "/app", Entrypoint: []string{"/usr/bin/redeliver"}, Cmd: imageCommand,
		Env:     []string{"PATH=/usr/bin"},
		Volumes: map[string]struct{}{imageData: {}}, ExposedPorts: imagePorts,
		Labels: map[string]string{
			"org.opencontainers.image.title":       "Redeliver",
			"org.opencontainers.image.description": tagline,
			"org.opencontainers.image.url":         home,
			"org.opencontainers.image.source":      home,
			"org.opencontainers.image.version":     r.version,
			"org.opencontainers.image.revision":    r.commit,
			"org.opencontainers.image.licenses":    "Apache-2.0",
		},
	}
	return config
}
