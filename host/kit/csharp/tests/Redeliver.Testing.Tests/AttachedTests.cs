using System.Collections.Concurrent;
using System.Text.Json.Nodes;
using Microsoft.Extensions.DependencyInjection;
using Redeliver.Testing;
using Redeliver.Testing.Worker;

namespace Shop.Tests;

/// <summary>The unchanged app in the test's process, with a carrier of the test.</summary>
public class AttachedTests
{
    private static CancellationToken Stop => TestContext.Current.CancellationToken;

    private sealed class NoVan : ICarrier
    {
        public ConcurrentQueue<Parcel> Booked { get; } = new();
        public TimeSpan Takes { get; init; }

        public async Task BookAsync(Parcel parcel, CancellationToken cancellationToken)
        {
            Booked.Enqueue(parcel);
            await Task.Delay(Takes, cancellationToken);
            throw new InvalidOperationException("no van");
        }
    }

    [Fact]
    public async Task TenBookings()
    {
        var carrier = new NoVan();
        await using var host = await RedeliverHost.StartAsync(o => o.Attach<ShipFunctions>(s => s.AddSingleton<ICarrier>(carrier)), Stop);
        await host.SendServiceBusJsonAsync("parcels", new Parcel(7), m => m.MessageId = "m7", Stop);
        await host.WaitForDeadLetteredAsync("parcels", Stop);
        Assert.Equal(Enumerable.Repeat(new Parcel(7), 10), carrier.Booked);
        Assert.Equal(Enumerable.Repeat(1, 10), await host.GetDeliveriesAsync("Ship", Stop));
        Assert.Contains("no van", (await host.GetAttemptsAsync("Ship", Stop))[^1].Error!.Message);
        Assert.Contains((await host.GetLogsAsync("Ship", Stop)), line => line.Text == "booking parcel 7 with local");
    }

    [Fact]
    public async Task FiftyBookingsWithRetryOfHostJson()
    {
        var carrier = new NoVan();
        await using var host = await RedeliverHost.StartAsync(o =>
        {
            o.Attach<ShipFunctions>(s => s.AddSingleton<ICarrier>(carrier));
            o.HostJson = (JsonObject)JsonNode.Parse("""{"retry": {"strategy": "fixedDelay", "maxRetryCount": 4, "delayInterval": "00:00:30"}}""")!;
            o.Settings["CARRIER"] = "test";
        }, Stop);
        await host.SendServiceBusJsonAsync("parcels", new Parcel(7), cancellationToken: Stop);
        await host.WaitForDeadLetteredAsync("parcels", Stop);
        Assert.Equal(50, carrier.Booked.Count);
        Assert.Equal(Enumerable.Repeat(5, 10), await host.GetDeliveriesAsync("Ship", Stop));
        Assert.Contains((await host.GetLogsAsync("Ship", Stop)), line => line.Text == "booking parcel 7 with test");
    }

    [Fact]
    public Task AppsSideBySide() => Task.WhenAll(Enumerable.Range(0, 4).Select(async n =>
    {
        var carrier = new NoVan();
        var app = new AttachedApp(typeof(ShipFunctions), s => s.AddSingleton<ICarrier>(carrier));
        await using var host = await RedeliverHost.StartAsync(new RedeliverHostOptions { Worker = app }, Stop);
        await host.SendJsonAsync("boxes", new Parcel(n), cancellationToken: Stop);
        await host.WaitForPoisonedAsync("Pack", Stop);
        Assert.Equal(Enumerable.Repeat(new Parcel(n), 5), carrier.Booked);
        Assert.Same(carrier, app.Services.GetRequiredService<ICarrier>());
        await host.StopAsync(Stop);
    }));
}
