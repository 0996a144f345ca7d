package python

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

const metadata = `Metadata-Version: 2.4
Name: redeliver-testing
Version: %s
Summary: Tests function apps with the real rules of delivery, retries and poison messages, in virtual time
License-Expression: Apache-2.0
Requires-Python: >=3.9
Requires-Dist: redeliver-cli
Classifier: Framework :: Pytest
Classifier: Typing :: Typed
`

const wheelFile = `Wheel-Version: 1.0
Generator: redeliver
Root-Is-Purelib: true
Tag: py3-none-any
`

// entryPoints has pytest find the plugin.
const entryPoints = `[pytest11]
redeliver = redeliver_testing.plugin
`

// WheelName is the name of the file.
func WheelName(version string) string {
	return "redeliver_testing-" + version + "-py3-none-any.whl"
}

// Wheel writes the package as a wheel. The same version of the same sources has the same
// bytes.
func Wheel(w io.Writer, version string) error {
	files, err := Files()
	if err != nil {
		return err
	}
	info := "redeliver_testing-" + version + ".dist-info/"
	files[info+"METADATA"] = fmt.Appendf(nil, metadata, version)
	files[info+"WHEEL"] = []byte(wheelFile)
	files[info+"entry_points.txt"] = []byte(entryPoints)
	names := slices.Sorted(maps.Keys(files))
	var record strings.Builder
	for _, name := range names {
		sum := sha256.Sum256(files[name])
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", name, base64.RawURLEncoding.EncodeToString(sum[:]), len(files[name]))
	}
	fmt.Fprintf(&record, "%sRECORD,,\n", info)
	files[info+"RECORD"] = []byte(record.String())
	z := zip.NewWriter(w)
	for _, name := range append(names, info+"RECORD") {
		h := &zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
		h.SetMode(0o644)
		f, err := z.CreateHeader(h)
		if err == nil {
			_, err = f.Write(files[name])
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}
