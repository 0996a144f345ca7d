using Redeliver.Testing;

namespace Shop.Tests;

/// <summary>The founding examples of all kits, without code of an app.</summary>
public class FoundingTests
{
    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    private static FunctionSpec Pack => FunctionSpec.Queue("parcels").WithFixedDelayRetry(4, TimeSpan.FromSeconds(30)).Scripted("fail");

    [Fact]
    public async Task TenDeliveriesThenTheDeadLetterQueue()
    {
        await using var host = await RedeliverHost.StartAsync(o => o.Functions["Ship"] = FunctionSpec.ServiceBusQueue("parcels").Scripted("fail"), Stop);
        await host.SendServiceBusJsonAsync("parcels", new { Id = 7 }, m => m.MessageId = "m7", Stop);
        await host.WaitForDeadLetteredAsync("parcels", Stop);
        Assert.Equal(Enumerable.Repeat(1, 10), await host.GetDeliveriesAsync("Ship", Stop));
        var dead = Assert.Single(await host.PeekServiceBusAsync("parcels/$DeadLetterQueue", Stop));
        Assert.Equal(("m7", "MaxDeliveryCountExceeded"), (dead.Id, dead.Reason));
    }

    [Fact]
    public async Task FiftyAttemptsWithAPolicy()
    {
        await using var host = await RedeliverHost.StartAsync(o => o.Functions["Ship"] =
            FunctionSpec.ServiceBusQueue("parcels").WithFixedDelayRetry(4, TimeSpan.FromSeconds(30)).Scripted("fail"), Stop);
        await host.SendServiceBusJsonAsync("parcels", new { Id = 7 }, m => m.MessageId = "m7", Stop);
        await host.WaitForDeadLetteredAsync("parcels", Stop);
        Assert.Equal(Enumerable.Repeat(5, 10), await host.GetDeliveriesAsync("Ship", Stop));
        var last = (await host.GetAttemptsAsync("Ship", Stop))[^1];
        Assert.Equal((10, 5, 4, "exhausted"), (last.Delivery, last.Attempt, last.RetryCount, last.Decision));
    }

    [Fact]
    public async Task PoisonAfterFive()
    {
        await using var host = await RedeliverHost.StartAsync(o => o.Functions["Pack"] = FunctionSpec.Queue("parcels").Scripted("fail"), Stop);
        await host.SendAsync("parcels", "7", cancellationToken: Stop);
        await host.WaitForPoisonedAsync("Pack", Stop);
        Assert.Equal([1, 1, 1, 1, 1], await host.GetDeliveriesAsync("Pack", Stop));
    }

    [Fact]
    public async Task ACrashBetweenAttemptsBeginsTheCountAnew()
    {
        await using var host = await RedeliverHost.StartAsync(o => o.Functions["Pack"] = Pack, Stop);
        await host.CrashAtAsync("Pack", CrashPoint.BetweenAttempts, 3, Stop);
        await host.SendAsync("parcels", "7", cancellationToken: Stop);
        await host.StartAgainAsync(Stop);
        await host.WaitForPoisonedAsync("Pack", Stop);
        Assert.Equal([3, 5, 5, 5, 5], await host.GetDeliveriesAsync("Pack", Stop));
    }
}
