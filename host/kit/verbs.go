package kit

import (
	"context"
	"net/http"

	"github.com/redeliver/redeliver/host/ops"
)

// verbs are the operations of the kit.
func verbs() []verb {
	start := verb{Route: ops.RouteOf(StartHost{})}
	start.do = func(ctx context.Context, k *Kit, _ *Host, r *http.Request) (any, error) {
		var in StartHost
		if err := decode(r, &in); err != nil {
			return nil, err
		}
		return in.start(ctx, k)
	}
	return []verb{
		start, of(Ready{}), of(EndHost{}), of(Drive{}), of(Expect{}), of(GetAttempts{}), of(GetHolds{}), of(GetRecords{}), of(Call{}), of(Crash{}), of(StartAgain{}),
		of(Restart{}), of(ScaleOut{}), of(ScaleIn{}), of(ExpireLocks{}), of(Edit{}), of(Step{}), of(ClockWait{}),
	}
}
