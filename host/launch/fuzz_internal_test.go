package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzDescription: a worker.config.json is read, or refused with the file's name unless
// that is what it lacks; and what is read has no more arguments than the file has bytes.
func FuzzDescription(f *testing.F) {
	for _, dir := range []string{"../worker/testdata/dotnet", "../../testdata/broken/language-dotnet-built"} {
		text, err := os.ReadFile(filepath.Join(dir, configFile))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range []string{
		`{"description":{"language":"x","extensions":[".x"],"defaultWorkerPath":"w","workerIndexing":"true","isDisabled":true},"processOptions":{"processStartupTimeout":"00:01:00","maxProcessCount":3}}`,
		`{"Description":{"supportedOperatingSystems":["WINDOWS","linux"],"supportedArchitectures":[]},"profiles":[{"profileName":"p","conditions":[{"conditionType":"environment","conditionName":"HOME","conditionExpression":"(?i)^.*$"}],"description":{"language":"y","arguments":["%X%"]}}]}`,
		`{"description":{},"profiles":[{"conditions":[{"conditionType":"hostProperty","conditionName":"platform","conditionExpression":"("}]}]}`,
		`{"description":null}`, `{"description":{"":{"":1},"isDisabled":{},"workerIndexing":null}}`,
	} {
		f.Add([]byte(text))
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, configFile), text, 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := readDescription(dir, func(string) string { return "value" })
		if err != nil {
			unfit := strings.HasPrefix(err.Error(), "it does not support ")
			if d != nil || err != errNoDescription && !unfit && !strings.Contains(err.Error(), configFile) {
				t.Errorf("%+v, %v", d, err)
			}
			return
		}
		if again, err := readDescription(dir, nil); err != nil && again == nil && len(d.Arguments) > len(text) {
			t.Errorf("%d arguments of %d bytes", len(d.Arguments), len(text))
		}
	})
}
