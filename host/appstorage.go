package host

import "github.com/redeliver/redeliver/host/emulator/storage"

// StorageOutside returns the setting by which the app's own storage
// (AzureWebJobsStorage) is an account outside this host, or the empty string. An
// app that does not run has none.
func (h *Host) StorageOutside() string {
	a := h.App()
	if a == nil || h.connections.Instead() {
		return ""
	}
	conn, ok := a.Settings.Connection("Storage")
	if !ok {
		return ""
	}
	if _, ours := h.connections.StorageOf(conn); ours {
		return ""
	}
	return conn.Setting
}

// AppStorage returns the embedded storage account that the app's own storage
// (AzureWebJobsStorage) means: what is put there its functions find. It is the
// first account, [services.FirstAccount], for an app that does not run, that names no
// storage, or whose storage is outside.
func (h *Host) AppStorage() *storage.Storage {
	if a := h.App(); a != nil {
		if conn, ok := a.Settings.Connection("Storage"); ok {
			if account, ours := h.connections.StorageOf(conn); ours {
				return account
			}
		}
	}
	return h.embedded.Storage()
}
