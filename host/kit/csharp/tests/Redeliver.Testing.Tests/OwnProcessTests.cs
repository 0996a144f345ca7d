using System.Text.Json.Nodes;
using Redeliver.Testing;

namespace Shop.Tests;

/// <summary>The app as it ships, in a process of its own.</summary>
public class OwnProcessTests(ITestOutputHelper output)
{
    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    [Fact]
    public async Task TenDeliveriesThenTheDeadLetterQueue()
    {
        await using var host = await RedeliverHost.StartAsync(o => { o.App = AppFolder.Of("Shop"); o.Log = output.WriteLine; }, Stop);
        await host.SendServiceBusJsonAsync("parcels", new { Id = 7 }, m => m.MessageId = "m7", Stop);
        await host.WaitForDeadLetteredAsync("parcels", Stop);
        Assert.Equal(Enumerable.Repeat(1, 10), await host.GetDeliveriesAsync("Ship", Stop));
        var dead = Assert.Single(await host.PeekServiceBusAsync("parcels/$DeadLetterQueue", Stop));
        Assert.Equal("MaxDeliveryCountExceeded", dead.Reason);
        Assert.Contains("carrier unavailable", (await host.GetAttemptsAsync("Ship", Stop))[^1].Error!.Message);
    }

    [Fact]
    public async Task FiftyAttemptsWithRetryOfHostJson()
    {
        await using var host = await RedeliverHost.StartAsync(o =>
        {
            o.App = AppFolder.Of("Shop");
            o.HostJson = (JsonObject)JsonNode.Parse("""{"retry": {"strategy": "fixedDelay", "maxRetryCount": 4, "delayInterval": "00:00:30"}}""")!;
        }, Stop);
        await host.SendServiceBusJsonAsync("parcels", new { Id = 7 }, m => m.MessageId = "m7", Stop);
        await host.WaitForDeadLetteredAsync("parcels", Stop);
        Assert.Equal(Enumerable.Repeat(5, 10), await host.GetDeliveriesAsync("Ship", Stop));
    }

    [Fact]
    public async Task ATimerHasThePolicyOfItsAttribute()
    {
        await using var host = await RedeliverHost.StartAsync(o => o.App = AppFolder.Of("Shop"), Stop);
        await host.RunUntilAsync(new JournalPattern { Kind = "retries_exhausted", Function = "Tick" }, Stop);
        var attempts = await host.GetAttemptsAsync("Tick", Stop);
        Assert.Equal([0, 1, 2, 3, 4], attempts.Select(a => a.RetryCount));
        Assert.Equal(TimeSpan.FromSeconds(30), attempts[0].NextDelay);
        Assert.Equal(4, attempts[0].MaxRetryCount);
    }

    [Fact]
    public async Task TwoHostsOfOneFolder()
    {
        await using var one = await RedeliverHost.StartAsync(o => { o.App = AppFolder.Of("Shop"); o.Settings["CARRIER"] = "north"; }, Stop);
        await using var other = await RedeliverHost.StartAsync(o => { o.App = AppFolder.Of("Shop"); o.Settings["CARRIER"] = "south"; }, Stop);
        using var ofOne = one.CreateClient();
        using var ofOther = other.CreateClient();
        Assert.Equal(("7 by north", "7 by south"), (await ofOne.GetStringAsync("api/Quote", Stop), await ofOther.GetStringAsync("api/Quote", Stop)));
    }

    [Fact]
    public void AnAppThatIsNotNamedIsToldOf()
    {
        var e = Assert.Throws<RedeliverException>(() => AppFolder.Of("Shp"));
        Assert.Equal(("Redeliver.Testing.Tests names no app \"Shp\"; it names Shop", "no_app"), (e.Message, e.Code));
        Assert.Contains("OutputItemType=\"RedeliverApp\"", e.Hint);
    }
}
