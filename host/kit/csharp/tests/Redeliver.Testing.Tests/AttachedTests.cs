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

/// <summary>What a host says to the worker of a test: the app that the package brings, looked at from outside.</summary>
public class WorkerTests
{
    private sealed class Watched(IAttachedWorker app) : IAttachedWorker
    {
        public AttachedWorkerPlace? Place { get; private set; }
        public IReadOnlyDictionary<string, string>? Environment { get; private set; }
        public bool Disposed { get; private set; }
        public string? Folder => app.Folder;

        public Task ConnectAsync(AttachedWorkerPlace place, IReadOnlyDictionary<string, string> settings, CancellationToken cancellationToken)
        {
            Place = place;
            Assert.Equal("test", settings["CARRIER"]);
            return app.ConnectAsync(place, settings, cancellationToken);
        }

        public void UseEnvironment(IReadOnlyDictionary<string, string> environment) => app.UseEnvironment(Environment = environment);

        public ValueTask DisposeAsync()
        {
            Disposed = true;
            return app.DisposeAsync();
        }
    }

    [Fact]
    public async Task AWorkerIsToldWhereItsHostIs()
    {
        var worker = new Watched(new AttachedApp(typeof(ShipFunctions)));
        await using (var host = await RedeliverHost.StartAsync(o => { o.Worker = worker; o.Settings["CARRIER"] = "test"; o.Ports = true; }))
        {
            Assert.StartsWith("127.0.0.1:", worker.Place!.Address);
            Assert.StartsWith("attach:", worker.Place.Id);
            Assert.True(worker.Place.RequestId.Length > 0 && worker.Place.MaxMessageLength > 1 << 20);
            Assert.Equal(("test", host.GetConnectionString("storage")), (worker.Environment!["CARRIER"], worker.Environment["AzureWebJobsStorage"]));
            await host.SendAsync("orders", "7"); // its handler sends by an SDK of its own
            await host.WaitForCompletedAsync("Label");
            Assert.Equal("label: 7", Assert.Single(await host.PeekQueueAsync("labels")).Text);
        }
        Assert.True(worker.Disposed);
    }

    [Fact]
    public void AnAppThatDoesNotRunHasNoServices() => Assert.Throws<InvalidOperationException>(() => new AttachedApp(typeof(ShipFunctions)).Services);
}

/// <summary>Same seed, same journal: with handlers that take real time.</summary>
public class SameJournalTests
{
    private sealed class SlowCarrier : ICarrier
    {
        public async Task BookAsync(Parcel parcel, CancellationToken cancellationToken)
        {
            await Task.Delay(Random.Shared.Next(4), cancellationToken); // of real time, another one in each run
            if (parcel.Id % 2 == 0) throw new InvalidOperationException("no van");
        }
    }

    [Fact]
    public async Task SameSeedSameJournal()
    {
        var rounds = int.Parse(Environment.GetEnvironmentVariable("REDELIVER_SOAK") ?? "3");
        var first = await RunAsync();
        Assert.True(first.Count > 50);
        for (var round = 1; round < rounds; round++) Assert.Equal(first, await RunAsync());
    }

    private static async Task<List<string>> RunAsync()
    {
        await using var host = await RedeliverHost.StartAsync(o => o.Attach<ShipFunctions>(s => s.AddSingleton<ICarrier>(new SlowCarrier())));
        for (var i = 0; i < 6; i++) await host.SendJsonAsync("boxes", new Parcel(i));
        await host.SendServiceBusJsonAsync("parcels", new Parcel(8), m => m.MessageId = "m8");
        await host.RunUntilIdleAsync();
        return [.. (await host.GetJournalAsync()).Select(r => (r with { Others = null }).ToString() + string.Join(",", r.Others!.Where(o => o.Key is not ("took" or "took_ms" or "duration")).Select(o => $"{o.Key}={o.Value}")))];
    }
}

/// <summary>A handler holds virtual time, and the host's limit ends it by name.</summary>
public class LimitTests
{
    private sealed class StuckCarrier : ICarrier
    {
        public TaskCompletionSource Called { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
        public TaskCompletionSource Until { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Task BookAsync(Parcel parcel, CancellationToken cancellationToken)
        {
            Called.TrySetResult();
            return Until.Task;
        }
    }

    [Fact]
    public async Task AHandlerThatDoesNotReturn()
    {
        var (carrier, options) = (new StuckCarrier(), new RedeliverHostOptions());
        options.Attach<ShipFunctions>(s => s.AddSingleton<ICarrier>(carrier));
        await using var host = await RedeliverHost.StartAsync(options);
        var sending = host.SendJsonAsync("boxes", new Parcel(7));
        await carrier.Called.Task;
        var running = Assert.Single(await host.GetRunningAsync());
        Assert.Equal((AttemptStatus.Running, host.Begins), (running.Status, await host.GetUtcNowAsync()));
        options.Timeout = TimeSpan.FromSeconds(1);
        var e = await Assert.ThrowsAsync<RedeliverTimeoutException>(() => sending);
        Assert.StartsWith("Pack attempt 1 has run for 1 s\n", e.Message);
        Assert.Equal("timeout", e.Code);
        options.Timeout = null;
        carrier.Until.SetResult();
        await Assert.ThrowsAsync<InvalidOperationException>(() => host.ResetAsync());
    }

    [Fact]
    public async Task AHandlerThatNeverReturnsEndsWithItsHost()
    {
        var (carrier, options) = (new StuckCarrier(), new RedeliverHostOptions());
        options.Attach<ShipFunctions>(s => s.AddSingleton<ICarrier>(carrier));
        Task sending;
        await using (var host = await RedeliverHost.StartAsync(options))
        {
            sending = host.SendJsonAsync("boxes", new Parcel(7));
            await carrier.Called.Task;
        }
        await Record.ExceptionAsync(() => sending); // an answer, or that the host is gone: which comes first is open
        carrier.Until.SetResult();
    }
}
