using System.Net;
using System.Text.Json;
using Microsoft.Azure.Functions.Worker;
using Microsoft.Azure.Functions.Worker.Http;
using Microsoft.Extensions.Logging;

namespace Shop;

/// <summary>A message on the queue "orders".</summary>
/// <param name="Fail">makes every attempt fail</param>
/// <param name="Flaky">how many attempts of a delivery fail</param>
public record Order(string? Id, bool Fail = false, int Flaky = 0);

public class PaymentException(string message) : Exception(message);

/// <summary>The answer to a request, and the order for the queue, if there is one.</summary>
public class Placed
{
    [QueueOutput("orders")]
    public string? Order { get; set; }

    public required HttpResponseData Response { get; set; }
}

/// <summary>
/// The orders app: orders come in over HTTP, wait in a queue, are processed, and leave an
/// invoice to send. Some orders fail, which is the point:
/// <code>
/// redeliver start functions/samples/orders-dotnet
/// redeliver send queue orders '{"id":"7","fail":true}'
/// </code>
/// The policy in host.json (4 retries) covers every function but Report, which has one of its
/// own. The attributes for policies go with timers, Event Hubs, Cosmos DB and Kafka only:
/// with another trigger the build fails.
/// </summary>
public class Orders(ILogger<Orders> logger)
{
    private static readonly JsonSerializerOptions Json = new(JsonSerializerDefaults.Web);

    /// <summary>Answers POST /api/orders and puts the order on the queue.</summary>
    [Function("PlaceOrder")]
    public async Task<Placed> PlaceOrder([HttpTrigger(AuthorizationLevel.Anonymous, "post", Route = "orders")] HttpRequestData request)
    {
        string body = await request.ReadAsStringAsync() ?? "";
        string? id = null;
        try
        {
            id = JsonSerializer.Deserialize<Order>(body, Json)?.Id;
        }
        catch (JsonException)
        {
            // the answer says what is wanted
        }
        // An answer, not a failure: no retry.
        HttpResponseData response = request.CreateResponse(id is null ? HttpStatusCode.BadRequest : HttpStatusCode.Accepted);
        response.Headers.Add("Content-Type", "text/plain; charset=utf-8");
        await response.WriteStringAsync(id is null ? "want {\"id\":\"...\"}\n" : $"order {id} accepted\n");
        return new Placed { Order = id is null ? null : body, Response = response };
    }

    /// <summary>
    /// Handles one order. An exception is tried again by the policy, and after the last
    /// attempt by the queue.
    /// </summary>
    [Function("ProcessOrder")]
    [QueueOutput("invoices")]
    public string ProcessOrder([QueueTrigger("orders")] Order order, FunctionContext context)
    {
        RetryContext? retry = context.RetryContext; // null without a policy
        if (retry is not null && retry.RetryCount == retry.MaxRetryCount)
        {
            logger.LogWarning("last attempt of this delivery");
        }
        if (order.Fail || (retry?.RetryCount ?? 0) < order.Flaky)
        {
            throw new PaymentException("payment service unavailable");
        }
        logger.LogInformation("order {Id} processed", order.Id);
        return JsonSerializer.Serialize(new { order = order.Id });
    }

    [Function("SendInvoice")]
    public void SendInvoice([QueueTrigger("invoices")] string invoice)
    {
        logger.LogInformation("invoice {Invoice} sent", invoice);
    }

    [Function("Heartbeat")]
    public void Heartbeat([TimerTrigger("0 */5 * * * *")] TimerInfo timer)
    {
        logger.LogInformation("still here, past due: {PastDue}", timer.IsPastDue);
    }

    /// <summary>A policy of its own: 5 retries, 10 s apart.</summary>
    [Function("Report")]
    [FixedDelayRetry(5, "00:00:10")]
    public void Report([TimerTrigger("0 0 3 * * *")] TimerInfo timer)
    {
        logger.LogInformation("report of {Time}", timer.ScheduleStatus?.Last);
    }
}
