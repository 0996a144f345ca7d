package process

import (
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// group is the job of a handler: the handler, and what it has started since it was put
// there, which is right after its start. The system ends the job with the host.
type group windows.Handle

// startGroup puts a process into a job of its own; 0 when the system refuses, and then
// only the process itself can be ended.
func startGroup(p *os.Process) group {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		if e := p.WithHandle(func(handle uintptr) { err = windows.AssignProcessToJobObject(job, windows.Handle(handle)) }); e != nil {
			err = e
		}
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0
	}
	return group(job)
}

// kill ends all that is left of the group.
func (g group) kill() {
	if g != 0 {
		_ = windows.TerminateJobObject(windows.Handle(g), 1) // an empty group is fine
	}
}

// groupLeader asks for nothing: the job is made after the start.
func groupLeader(bool) *syscall.SysProcAttr { return nil }

// awaitEnd is of no use here: a job has no number that could be given again.
func awaitEnd(int) bool { return false }

// end ends what is left of the group after its leader, and the group.
func (g group) end() {
	g.kill()
	if g != 0 {
		_ = windows.CloseHandle(windows.Handle(g))
	}
}

// guard is not needed here: the system ends the job.
type guard struct{}

func (g group) guarded() guard { return guard{} }

func (guard) dismiss() {}
