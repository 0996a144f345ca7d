using Redeliver.Testing;

namespace Shop.Tests;

/// <summary>Slips with which a test would pass whatever happens.</summary>
public class SlipsTests
{
    private static Task<RedeliverHost> StartAsync([System.Runtime.CompilerServices.CallerMemberName] string test = "") =>
        RedeliverHost.StartAsync(o => { o.Name = test; o.Functions["Pack"] = FunctionSpec.Queue("parcels").Scripted("fail"); });

    [Fact]
    public async Task NullIsNotAll()
    {
        await using var host = await StartAsync();
        string none = null!;
        foreach (var call in new Func<Task>[]
        {
            () => host.GetAttemptsAsync(none), () => host.GetDeliveriesAsync(none), () => host.ExplainAsync(none), () => host.GetLogsAsync(none), () => host.GetJournalAsync((JournalPattern)null!),
            () => host.WaitForSettledAsync(none), () => host.WaitForCompletedAsync(none), () => host.WaitForPoisonedAsync(""), () => host.WaitForCheckpointedAsync(none), () => host.WaitForDeadLetteredAsync(none),
            () => host.PeekQueueAsync(none), () => host.GetOutputsAsync(none), () => host.SendAsync(none, "7"), () => host.SendJsonAsync<object>("parcels", null!), () => host.CrashAtAsync(none, CrashPoint.BeforeSettle),
            () => host.CrashAtAsync("Pack", CrashPoint.BeforeSettle, 0), () => host.FailOutputAsync("Pack", 0), () => host.ExpireLocksAsync(none), () => host.InjectFaultAsync(new ServiceFault("queue", "Put") { Times = 0 }),
        })
            await Assert.ThrowsAnyAsync<ArgumentException>(call);
        Assert.Throws<ArgumentNullException>(() => new JournalPattern { Kind = "settled", Function = none });
        Assert.Throws<ArgumentNullException>(() => new ServiceFault("queue") { Entity = none });
        Assert.Throws<ArgumentOutOfRangeException>(() => new RedeliverHostOptions { Timeout = TimeSpan.Zero });
        Assert.Empty(await host.GetAttemptsAsync());
    }

    [Theory]
    [InlineData("null", "then is null"), InlineData("{}", "it expects nothing"), InlineData("""{"functions": {"Pack": {"attempts": null}}}""", "cannot be read as a whole number")]
    [InlineData("""{"functions": {"Pack": {"attempt": 0}}}""", "did you mean \"attempts\"")]
    public async Task AnExpectationOfNothing(string then, string says)
    {
        await using var host = await StartAsync();
        var e = await Assert.ThrowsAsync<RedeliverException>(() => host.ExpectAsync(then));
        Assert.Equal("bad_request", e.Code);
        Assert.Contains(says, e.Message);
    }

    [Fact]
    public async Task TimeMovesForward()
    {
        await using var host = await StartAsync();
        Assert.Equal("bad_request", (await Assert.ThrowsAsync<RedeliverException>(() => host.AdvanceAsync(TimeSpan.FromSeconds(-1)))).Code);
    }

    [Fact]
    public async Task ACallThatNobodyAwaits()
    {
        await using var host = await RedeliverHost.StartAsync(o => o.Functions["Pack"] = FunctionSpec.Queue("parcels").WithFixedDelayRetry(-1, TimeSpan.FromMilliseconds(1)).Scripted("fail"));
        await host.SendAsync("parcels", "7");
        var moves = host.AdvanceAsync(TimeSpan.FromDays(300));
        var e = await Assert.ThrowsAsync<RedeliverAssertionException>(() => host.StopAsync());
        Assert.StartsWith("called, and not awaited: drive", e.Message);
        await Assert.ThrowsAnyAsync<Exception>(() => moves);
    }
}
