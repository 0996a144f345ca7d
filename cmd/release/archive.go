package main

import "fmt"

// archiveName is the file of a platform's archive.
func (r *release) archiveName(p platform) string {
	ending := "tar.gz"
	if p.os == "windows" {
		ending = "zip"
	}
	return fmt.Sprintf("redeliver_%s_%s_%s.%s", r.version, p.os, p.arch, ending)
}

// archive packs the program of a platform for people who unpack it themselves: with its
// licences, completions and manual pages.
func (r *release) archive(d *dist, p platform, program []byte) error {
	entries := []entry{
		{name: p.program(), mode: 0o755, data: program},
		{name: "LICENSE", mode: 0o644, data: r.license},
		{name: "README.md", mode: 0o644, data: r.readme},
		{name: "THIRD_PARTY_LICENSES.txt", mode: 0o644, data: r.thirdParty},
	}
	for _, f := range r.manual {
		entries = append(entries, entry{name: f.name, mode: 0o644, data: f.data})
	}
	pack := tarGz
	if p.os == "windows" {
		pack = zipped
	}
	data, err := pack(entries, r.date)
	if err != nil {
		return err
	}
	return d.add(r.archiveName(p), "archive", data, &publication{r.names.Repository.Name, orderPage})
}
