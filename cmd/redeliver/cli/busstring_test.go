package cli

import "testing"

func TestBusConnection(t *testing.T) {
	t.Parallel()
	const rest = ";SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true;"
	for address, want := range map[string]string{
		"127.0.0.1:5672": "Endpoint=sb://127.0.0.1" + rest,
		"127.0.0.1:5300": "Endpoint=sb://127.0.0.1:5300" + rest,
	} {
		if got := BusConnection(address); got != want {
			t.Errorf("busConnection(%q) = %q, want %q", address, got, want)
		}
	}
}
