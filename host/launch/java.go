package launch

import (
	"context"

	"github.com/redeliver/redeliver/host/worker/shim"
)

// compileJava has found start the classes of the worker for Java, not its source.
func compileJava(ctx context.Context, found *Found) error {
	last := len(found.Args) - 1
	folder, class, err := shim.CompileJava(ctx, JavaCompiler(found.Path), found.Args[last])
	found.Args = append(found.Args[:last:last], "-cp", folder, class)
	return err
}
