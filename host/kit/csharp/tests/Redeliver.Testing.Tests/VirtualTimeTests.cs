using Redeliver.Testing;

namespace Shop.Tests;

/// <summary>A handler that sleeps by the TimeProvider of its services sleeps in virtual time.</summary>
public class VirtualTimeTests
{
    private static async Task NapAsync(Action<RedeliverHostOptions> configure)
    {
        await using var host = await RedeliverHost.StartAsync(o => { o.UseVirtualTime(); configure(o); });
        await host.SendAsync("naps", "90000");
        await host.WaitForCompletedAsync("Nap");
        var attempt = Assert.Single(await host.GetAttemptsAsync("Nap"));
        Assert.Equal((AttemptStatus.Succeeded, TimeSpan.FromHours(25)), (attempt.Status, attempt.Ended - attempt.Started));
        Assert.Contains(await host.GetLogsAsync("Nap"), line => line.Text == "slept 90000 s, from 2030");
    }

    [Fact] public Task Attached() => NapAsync(o => { o.Attach<ShipFunctions>(); o.HostJson = Endless(); });

    [Fact] public Task InAProcessOfItsOwn() => NapAsync(o => { o.App = AppFolder.Of("Shop"); o.HostJson = Endless(); });

    private static System.Text.Json.Nodes.JsonObject Endless() => new() { ["functionTimeout"] = "-1" };

    [Fact]
    public async Task TimeGoesOnNoFurtherThanItIsMoved()
    {
        await using var host = await RedeliverHost.StartAsync(o => { o.UseVirtualTime(); o.Attach<ShipFunctions>(); });
        await host.SendAsync("naps", "60");
        await host.AdvanceAsync(TimeSpan.FromSeconds(59));
        var running = Assert.Single(await host.GetRunningAsync());
        Assert.Equal(host.Begins.AddSeconds(60), running.WaitsUntil);
        await host.AdvanceAsync(TimeSpan.FromSeconds(1));
        Assert.Equal(AttemptStatus.Succeeded, Assert.Single(await host.GetAttemptsAsync("Nap")).Status);
    }
}
