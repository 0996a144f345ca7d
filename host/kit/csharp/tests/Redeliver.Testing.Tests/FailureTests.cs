using Redeliver.Testing;

namespace Shop.Tests;

/// <summary>A failure says what was wanted, what was found, what happened, and how it is had again.</summary>
public class FailureTests
{
    private static Task<RedeliverHost> FailingAsync(Action<RedeliverHostOptions>? configure = null, [System.Runtime.CompilerServices.CallerMemberName] string test = "") => RedeliverHost.StartAsync(o =>
    {
        o.Name = test;
        o.Functions["Pack"] = FunctionSpec.Queue("parcels").WithFixedDelayRetry(4, TimeSpan.FromSeconds(30)).ScriptedJson("""{"do": "fail", "error": "no box", "log": "packing"}""");
        configure?.Invoke(o);
    });

    [Fact]
    public async Task AnExpectation()
    {
        await using var host = await FailingAsync(o => o.Seed = 5);
        await host.SendAsync("parcels", "7");
        await host.WaitForPoisonedAsync("Pack");
        await host.ExpectAsync("""{"functions": {"Pack": {"attempts": 25}}}""");
        var e = await Assert.ThrowsAsync<RedeliverAssertionException>(() => host.ExpectAsync("""{"functions": {"Pack": {"attempts": 24}}}"""));
        Difference one = Assert.Single(e.Differences);
        Assert.Equal(("functions.Pack.attempts", "Pack made another number of attempts", "24", "25"), (one.Path, one.Message, one.Want, one.Got));
        Assert.StartsWith("functions.Pack.attempts: Pack made another number of attempts\n  want  24\n  got   25\n", e.Message);
        Assert.Contains("attempt 1 of 5 failed: no box", e.Timeline);
        Assert.Contains("2 more like this", e.Message); // equal attempts are one line
        Assert.Equal(string.Join('\n', one.Timeline!), e.Timeline);
        Assert.Contains("\nlogs\n    … ", e.Message);
        Assert.Contains("packing", e.Message);
        Assert.EndsWith("\nseed 5; again with REDELIVER_SEED=5 dotnet test --filter \"FullyQualifiedName~AnExpectation\"", e.Message);
        Assert.Equal(5UL, e.Seed);
    }

    [Fact]
    public async Task AWaitThatIsInVain()
    {
        await using var host = await FailingAsync();
        await host.SendAsync("parcels", "7");
        await host.WaitForPoisonedAsync("Pack");
        var e = await Assert.ThrowsAsync<RedeliverAssertionException>(() => host.WaitForPoisonedAsync("Pack"));
        Assert.StartsWith("a poisoned message of Pack has not come, and nothing is left to happen (its deliveries were settled as released, poisoned); it is 2030-01-", e.Message);
        Assert.Contains("attempt 5 of 5 failed: no box", e.Message);
        Assert.Contains("again with REDELIVER_SEED=1 dotnet test", e.Message);
        var slip = await Assert.ThrowsAsync<RedeliverException>(() => host.WaitForPoisonedAsync("Pak"));
        Assert.Equal("not_found", slip.Code);
        Assert.Contains("did you mean \"Pack\"?", slip.Message);
        await Assert.ThrowsAsync<RedeliverException>(() => host.RunUntilAsync(new JournalPattern { Kind = "settld" }));
    }

    [Fact]
    public async Task AFaultThatNothingHasMet()
    {
        await using var host = await FailingAsync();
        await host.InjectFaultAsync(new ServiceFault("queue", "Delete") { Entity = "parcels" });
        var e = await Assert.ThrowsAsync<RedeliverAssertionException>(() => host.StopAsync());
        Assert.Contains("nothing has met the fault of Delete", e.Message);
        await host.StopAsync(); // once is enough
        var other = await FailingAsync();
        await other.InjectFaultAsync(new ServiceFault("queue", "Delete") { Entity = "parcels" });
        await other.DisposeAsync(); // never throws
        await Assert.ThrowsAsync<InvalidOperationException>(() => other.ResetAsync());
        await using var again = await FailingAsync();
        await again.InjectFaultAsync(new ServiceFault("queue", "Delete") { Entity = "parcels" });
        e = await Assert.ThrowsAsync<RedeliverAssertionException>(() => again.ResetAsync()); // a new host would hide what the old one has not met
        Assert.Contains("nothing has met the fault of Delete", e.Message);
        await again.ResetAsync();
    }

    [Fact]
    public async Task LogsAndTimelineAreTold()
    {
        var told = new List<string>();
        await using (var host = await FailingAsync(o => o.Log = told.Add))
        {
            await host.SendAsync("parcels", "7");
            Assert.Equal("+0s Pack information: packing", told[0]);
            await host.WaitForPoisonedAsync("Pack");
            Assert.Equal(25, told.Count);
        }
        Assert.StartsWith("message ", told[^1]);
        Assert.Contains("attempt 5 of 5 failed: no box", told[^1]);
    }

    [Fact]
    public async Task ARefusedApp()
    {
        var e = await Assert.ThrowsAsync<RedeliverException>(() => RedeliverHost.StartAsync(o => o.Functions["Pack"] = FunctionSpec.Timer("every day").Scripted("succeed")));
        Assert.Contains("every day", e.Message);
        await Assert.ThrowsAsync<RedeliverException>(() => RedeliverHost.StartAsync(_ => { }));
    }
}
