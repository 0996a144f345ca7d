using Azure.Storage.Queues;
using Microsoft.Azure.Functions.Worker;
using Microsoft.Azure.Functions.Worker.Http;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Logging;

namespace Shop;

public sealed record Parcel(int Id);

public interface ICarrier
{
    Task BookAsync(Parcel parcel, CancellationToken cancellationToken);
}

/// <summary>The carrier of production, which no test reaches.</summary>
public sealed class HttpCarrier : ICarrier
{
    public Task BookAsync(Parcel parcel, CancellationToken cancellationToken) => throw new InvalidOperationException("carrier unavailable");
}

public sealed class ShipFunctions(ICarrier carrier, TimeProvider time, IConfiguration settings, ILogger<ShipFunctions> log)
{
    [Function("Ship")]
    public async Task Ship([ServiceBusTrigger("parcels", Connection = "ServiceBusConnection")] Parcel parcel, CancellationToken cancellationToken)
    {
        log.LogInformation("booking parcel {Id} with {Carrier}", parcel.Id, settings["CARRIER"]);
        await carrier.BookAsync(parcel, cancellationToken);
    }

    [Function("Pack")]
    public async Task Pack([QueueTrigger("boxes")] Parcel parcel, CancellationToken cancellationToken) => await carrier.BookAsync(parcel, cancellationToken);

    [Function("Nap")]
    public async Task Nap([QueueTrigger("naps")] string seconds, CancellationToken cancellationToken)
    {
        var from = time.GetUtcNow();
        await Task.Delay(TimeSpan.FromSeconds(int.Parse(seconds)), time, cancellationToken);
        log.LogInformation("slept {Seconds} s, from {From:yyyy}", (time.GetUtcNow() - from).TotalSeconds, from);
    }

    [Function("Label")]
    public async Task Label([QueueTrigger("orders")] string order, CancellationToken cancellationToken)
    {
        var queue = new QueueClient(settings["AzureWebJobsStorage"], "labels");
        await queue.CreateIfNotExistsAsync(cancellationToken: cancellationToken);
        await queue.SendMessageAsync("label: " + order, cancellationToken);
    }

    [Function("Quote")]
    public async Task<HttpResponseData> Quote([HttpTrigger(AuthorizationLevel.Anonymous, "get")] HttpRequestData request)
    {
        var answer = request.CreateResponse();
        await answer.WriteStringAsync("7 by " + settings["CARRIER"]);
        return answer;
    }

    [Function("Tick")]
    [FixedDelayRetry(4, "00:00:30")]
    public Task Tick([TimerTrigger("0 0 * * * *")] TimerInfo timer, CancellationToken cancellationToken) => carrier.BookAsync(new Parcel(0), cancellationToken);
}
