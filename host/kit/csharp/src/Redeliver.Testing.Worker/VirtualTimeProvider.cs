namespace Redeliver.Testing.Worker;

/// <summary>The time of the host whose handler asks: it stands still while the handler runs, and goes on while it waits by this provider. Outside of handlers it is the machine's.</summary>
internal sealed class VirtualTimeProvider : TimeProvider
{
    internal static VirtualTimeProvider Instance { get; } = new();

    /// <inheritdoc/>
    public override DateTimeOffset GetUtcNow() => Invocation.Current?.Now ?? System.GetUtcNow();
    /// <inheritdoc/>
    public override long GetTimestamp() => GetUtcNow().UtcTicks;
    /// <inheritdoc/>
    public override long TimestampFrequency => TimeSpan.TicksPerSecond;
    /// <inheritdoc/>
    public override TimeZoneInfo LocalTimeZone => TimeZoneInfo.Utc; // as on the platform

    /// <inheritdoc/>
    public override ITimer CreateTimer(TimerCallback callback, object? state, TimeSpan dueTime, TimeSpan period)
    {
        if (Invocation.Current is not { } invocation) return System.CreateTimer(callback, state, dueTime, period);
        var timer = new VirtualTimer(invocation, callback, state);
        timer.Change(dueTime, period);
        return timer;
    }
}

/// <summary>A timer of a handler.</summary>
internal sealed class VirtualTimer(Invocation invocation, TimerCallback callback, object? state) : ITimer
{
    private readonly ExecutionContext? flow = ExecutionContext.Capture();

    /// <summary>When it is due; null: never. The invocation guards it.</summary>
    internal DateTimeOffset? Due { get; set; }
    internal TimeSpan Period { get; private set; }

    public bool Change(TimeSpan dueTime, TimeSpan period)
    {
        invocation.Set(this, () =>
        {
            Due = dueTime == Timeout.InfiniteTimeSpan ? null : invocation.Now + dueTime;
            Period = period;
        });
        return true;
    }

    internal void Fire()
    {
        if (flow is null) callback(state);
        else ExecutionContext.Run(flow, s => callback(s), state);
    }

    public void Dispose() => Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
    public ValueTask DisposeAsync()
    {
        Dispose();
        return default;
    }
}
