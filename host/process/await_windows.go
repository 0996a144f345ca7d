package process

import "golang.org/x/sys/windows"

// awaitStranger waits for the end of a process that another one has started. It reports whether
// it could.
func awaitStranger(pid int) bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return err == windows.ERROR_INVALID_PARAMETER // there is none
	}
	defer windows.CloseHandle(h)
	_, err = windows.WaitForSingleObject(h, windows.INFINITE)
	return err == nil
}
