package judge_test

import (
	"os"
	"testing"

	"github.com/redeliver/redeliver/host/hosttest/leaktest"
)

// handlerRole is the argument that makes the test binary the custom handler of an app.
const handlerRole = "custom-handler-of-the-judge"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == handlerRole {
		serveHandler(os.Args[2])
		return
	}
	leaktest.Main(m, removeDotnet)
}
