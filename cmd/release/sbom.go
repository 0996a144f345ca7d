package main

import (
	"bytes"
	"fmt"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/CycloneDX/cyclonedx-gomod/pkg/generate/bin"
	"github.com/rs/zerolog"
)

// sbom lists what a program is made of, by what the linker wrote into it, with the time of
// the commit.
func (r *release) sbom(d *dist, p platform, file string) error {
	generator, err := bin.NewGenerator(file, bin.WithIncludeStdlib(true), bin.WithVersionOverride("v"+r.version), bin.WithLogger(zerolog.Nop()))
	if err != nil {
		return err
	}
	bom, err := generator.Generate()
	if err != nil {
		return fmt.Errorf("bill of materials of %s: %w", p, err)
	}
	bom.Metadata.Timestamp = r.date.Format(time.RFC3339)
	var b bytes.Buffer
	if err := cdx.NewBOMEncoder(&b, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return err
	}
	return d.add(fmt.Sprintf("sbom/redeliver_%s_%s_%s.cdx.json", r.version, p.os, p.arch), "sbom", b.Bytes(), &publication{r.names.Repository.Name, orderPage})
}
