using System.Text.Json;
using System.Text.Json.Nodes;
using Redeliver.Testing;

namespace Shop.Tests;

/// <summary>Every call of a host, on the services that it is about.</summary>
public class ServicesTests
{
    private static readonly FunctionSpec boxes = FunctionSpec.Queue("boxes").Scripted("succeed");

    private static Task<RedeliverHost> StartAsync(FunctionSpec pack, Action<RedeliverHostOptions>? configure = null) => RedeliverHost.StartAsync(o =>
    {
        o.Functions["Pack"] = pack;
        configure?.Invoke(o);
    });

    private static FunctionSpec Triggered(string trigger) => FunctionSpec.FromJson($$"""{"trigger": {{trigger}}, "handler": "succeed"}""");

    [Fact]
    public async Task TimeMovesWhenItIsToldTo()
    {
        var begin = new DateTimeOffset(2031, 5, 1, 0, 0, 0, TimeSpan.Zero);
        await using var host = await StartAsync(boxes, o => o.StartTime = begin);
        Assert.Equal((begin, begin), (host.Begins, await host.GetUtcNowAsync()));
        Assert.Equal(begin.AddSeconds(30), await host.AdvanceAsync(TimeSpan.FromSeconds(30)));
        Assert.Equal(begin.AddSeconds(30), await host.AdvanceAsync(TimeSpan.Zero));
        Assert.Equal(begin.AddSeconds(30.5), await host.AdvanceAsync(TimeSpan.FromMilliseconds(500)));
        Assert.Equal(begin.AddSeconds(30.5).AddHours(1), await host.JumpAsync(TimeSpan.FromHours(1)));
        Assert.True(await host.NextAsync() >= begin.AddHours(1));
        Assert.True(await host.RunUntilIdleAsync() >= begin.AddHours(1));
    }

    [Fact]
    public async Task Queues()
    {
        await using var host = await StartAsync(FunctionSpec.Queue("boxes").FailingTimes(1, "no tape"));
        var sent = await host.SendJsonAsync("boxes", new { Id = 7 });
        Assert.Equal("failed", (await host.RunUntilAsync(new JournalPattern { Kind = "attempt_ended" })).Status);
        JournalRecord record = await host.WaitForCompletedAsync("Pack");
        Assert.Null(record.Target);
        Assert.Equal(("settled", sent, "Pack", "boxes", 2), (record.Kind, record.MessageId, record.Function, record.Source, record.DeliveryCount));
        Assert.Equal(record.Time, await host.GetUtcNowAsync());
        Assert.True(record.Sequence > 0 && record.Delivery is not null);
        Assert.Equal([AttemptStatus.Failed, AttemptStatus.Succeeded], (await host.GetAttemptsAsync()).Select(a => a.Status));
        await host.SendAsync("later", new byte[] { 0, 0xff }, new QueueSend { Visibility = TimeSpan.FromMinutes(5), TimeToLive = TimeSpan.FromMinutes(9) });
        Assert.Empty(await host.PeekQueueAsync("later"));
        await host.AdvanceAsync(TimeSpan.FromMinutes(5));
        StoredMessage message = Assert.Single(await host.PeekQueueAsync("later"));
        Assert.Equal([0, 0xff], message.Body.ToArray());
        Assert.Equal((0, host.Begins), (message.DeliveryCount, message.Enqueued!.Value.AddSeconds(-message.Enqueued.Value.Subtract(host.Begins).TotalSeconds)));
        await host.AdvanceAsync(TimeSpan.FromMinutes(5));
        Assert.Empty(await host.PeekQueueAsync("later"));
        await host.SendAsync("raw", "plain", new QueueSend { Raw = true });
        Assert.Equal("plain", Assert.Single(await host.PeekQueueAsync("raw")).Text);
        await host.SendJsonAsync("typed", "text", TestJson.Default.String);
        message = Assert.Single(await host.PeekQueueAsync("typed"));
        Assert.Equal(("text", "text"), ((string?)message.Json(), message.Json(TestJson.Default.String)));
    }

    [Fact]
    public async Task AFailedAttemptSaysWhy()
    {
        await using var host = await StartAsync(FunctionSpec.Queue("boxes").WithExponentialBackoffRetry(1, TimeSpan.FromSeconds(90), TimeSpan.FromSeconds(90))
            .ScriptedJson("""{"do": "fail", "error": "no box", "log": "packing"}"""));
        var function = Assert.Single(host.Functions);
        Assert.Equal(new FunctionSummary("Pack", "queueTrigger", "boxes", 2, false, 5, false), function);
        await host.SendAsync("boxes", "1");
        await host.WaitForPoisonedAsync();
        FunctionAttempt first = (await host.GetAttemptsAsync("Pack"))[0];
        Assert.Equal((2, false, 5, false), (function.AttemptsPerDelivery, function.AttemptsUnbounded, function.Deliveries, function.DeliveriesUnbounded));
        Assert.Equal("queueTrigger", function.Trigger);
        Assert.Equal(("Pack", 1, 1, 0, 1, "retry"), (first.Function, first.Delivery, first.Attempt, first.RetryCount, first.MaxRetryCount, first.Decision));
        Assert.Equal((host.Begins, first.Started), (first.Started, first.Ended));
        Assert.NotNull(first.NextDelay);
        Assert.True(first.Took >= TimeSpan.Zero && first.InvocationId.Length > 0 && first.DeliveryId.Length > 0 && first.MessageId is not null && first.DeliveryCount == 1);
        AttemptError error = first.Error!;
        Assert.Contains("no box", error.Message);
        Assert.True(error.Type is null or { Length: > 0 } && error.Stack is null or { Length: > 0 });
        HandlerLog log = Assert.Single(first.Logs);
        Assert.Equal("information", log.Level);
        Assert.Equal(("packing", "Pack"), (log.Text, (await host.GetLogsAsync("Pack"))[0].Function));
        Assert.Equal("poisoned", (await host.GetAttemptsAsync("Pack"))[^1].Settled);
        Assert.Contains("no box", Assert.Single(await host.PeekQueueAsync("boxes-poison")).LastError);
        Assert.Contains("no box", await host.ExplainAsync());
    }

    [Fact]
    public async Task ServiceBus()
    {
        await using var host = await StartAsync(FunctionSpec.ServiceBusTopic("orders", "all").Scripted("fail"), o => o.Entities =
            (JsonObject)JsonNode.Parse("""{"serviceBus": {"topics": {"orders": {"subscriptions": {"all": {"maxDeliveryCount": 2}}}}}}""")!);
        var message = new BusMessage("1") { MessageId = "m1", Subject = "new", ContentType = "text/plain", CorrelationId = "c", SessionId = null, Delay = TimeSpan.FromMinutes(1) };
        message.ApplicationProperties["priority"] = "high";
        Assert.Equal(1, message.Body.Length);
        Assert.Equal("m1", await host.SendServiceBusAsync("orders", message));
        await host.WaitForDeadLetteredAsync("orders/all");
        Assert.Equal(host.Begins.AddMinutes(1), (await host.GetAttemptsAsync("Pack"))[0].Started);
        var dead = Assert.Single(await host.PeekServiceBusAsync("orders/all/$DeadLetterQueue"));
        Assert.Equal(("m1", "1", "high"), (dead.Id, dead.Text, dead.Properties["priority"].GetString()));
        Assert.Equal("MaxDeliveryCountExceeded", dead.Reason);
        Assert.Contains("2", dead.Description);
        Assert.NotNull(dead.State);
        Assert.Equal("{\"a\":1}", System.Text.Encoding.UTF8.GetString(BusMessage.FromJson(new { A = 1 }).Body.Span));
        Assert.Equal("\"a\"", System.Text.Encoding.UTF8.GetString(BusMessage.FromJson("a", TestJson.Default.String).Body.Span));
    }

    [Fact]
    public async Task TheLocksOfAnEntityEnd()
    {
        await using var host = await StartAsync(FunctionSpec.ServiceBusQueue("parcels").ScriptedJson("""[{"do": "succeed", "take": "30s", "times": 1}, "succeed"]"""));
        Assert.Equal(2, new[] { AttemptStatus.TimedOut, AttemptStatus.Unknown }.Except((await host.GetAttemptsAsync()).Select(a => a.Status)).Count());
        await host.SendServiceBusAsync("parcels", "1");
        await host.ExpireLocksAsync("parcels");
        await host.RunUntilAsync(new JournalPattern { Kind = "lock_expired" });
        await host.WaitForCompletedAsync("Pack");
        Assert.Equal([1, 1], await host.GetDeliveriesAsync("Pack"));
    }

    [Fact]
    public async Task EventGridAndEventHubs()
    {
        await using var hubs = await StartAsync(Triggered("""{"type": "eventHubTrigger", "eventHubName": "telemetry"}"""));
        await hubs.CrashAtAsync("Pack", CrashPoint.AfterCheckpoint);
        await hubs.SendEventsAsync("telemetry", ["0"], "key");
        await hubs.StartAgainAsync();
        await hubs.SendEventsAsync("telemetry", ["1", "2"], "key");
        await hubs.WaitForCheckpointedAsync("Pack");
        await Assert.ThrowsAsync<ArgumentException>(() => hubs.SendEventsAsync("telemetry", []));
        await using var grid = await StartAsync(Triggered("""{"type": "eventGridTrigger"}"""), o => o.HostJson =
            (JsonObject)JsonNode.Parse("""{"redeliver": {"eventGrid": {"topics": [{"name": "orders", "subscriptions": [{"name": "pack", "function": "Pack"}]}]}}}""")!);
        Assert.Equal(["e1"], await grid.PublishAsync("orders", """{"id": "e1", "eventType": "Order", "subject": "orders/7", "eventTime": "2030-01-01T00:00:00Z", "data": {}, "dataVersion": "1"}"""));
        await grid.WaitForSettledAsync("Pack");
        await grid.InjectFaultAsync(new ServiceFault("eventgrid", "Deliver") { Status = 503, Times = 1 });
        await grid.PublishAsync("orders", """[{"id": "e2", "eventType": "Order", "subject": "orders/7", "eventTime": "2030-01-01T00:00:00Z", "data": {}, "dataVersion": "1"}]""");
        await grid.WaitForSettledAsync("Pack");
        await grid.StopAsync();
    }

    [Fact]
    public async Task BlobsAndDocuments()
    {
        await using var blobs = await StartAsync(Triggered("""{"type": "blobTrigger", "path": "labels/{name}"}"""));
        await blobs.UploadAsync("labels/7.txt", "label"u8.ToArray(), "text/plain");
        await blobs.WaitForSettledAsync("Pack");
        Assert.Equal("label"u8.ToArray(), await blobs.DownloadAsync("labels/7.txt"));
        await Assert.ThrowsAsync<RedeliverException>(() => blobs.DownloadAsync("labels/8.txt"));
        await Assert.ThrowsAsync<ArgumentException>(() => blobs.DownloadAsync("labels"));
        await using var cosmos = await StartAsync(Triggered("""{"type": "cosmosDBTrigger", "databaseName": "shop", "containerName": "orders", "createLeaseContainerIfNotExists": true, "startFromBeginning": true}"""));
        Assert.Equal(["7"], await cosmos.WriteAsync("shop/orders", """{"id": "7"}"""));
        await cosmos.WaitForSettledAsync("Pack");
        Assert.Equal("7", (string?)Assert.Single(await cosmos.GetDocumentsAsync("shop/orders"))["id"]);
    }

    [Fact]
    public async Task RequestsAndCalls()
    {
        await using var host = await StartAsync(FunctionSpec.Http().ScriptedJson("""[{"do": "fail", "times": 1}, {"do": "succeed", "body": {"price": 7}}]""").WithFixedDelayRetry(2, TimeSpan.FromSeconds(10)));
        using var client = host.CreateClient();
        client.DefaultRequestHeaders.Add("Authorization", "Bearer of-the-function");
        Assert.Equal(7, (int)JsonNode.Parse(await client.GetStringAsync("api/Pack"))!["price"]!);
        Assert.Equal(host.Begins.AddSeconds(10), await host.GetUtcNowAsync());
        Assert.Equal(404, (int)(await client.GetAsync("api/nothing")).StatusCode);
        await host.CrashAsync();
        Assert.Equal("host_down", (await Assert.ThrowsAsync<RedeliverException>(() => client.GetAsync("api/Pack"))).Code); // the kit's word, and no answer of a function
        await using var other = await StartAsync(boxes);
        Assert.Equal(new CallResult(Succeeded: true, Attempts: 1), await other.CallAsync("Pack", "1"));
        var e = await Assert.ThrowsAsync<RedeliverException>(() => other.CallAsync("Pakc"));
        Assert.Contains("Pack", e.Message);
    }

    [Fact]
    public async Task WhatFailsOnDemand()
    {
        await using var host = await StartAsync(FunctionSpec.FromJson("""
            {"trigger": {"type": "queueTrigger", "queueName": "boxes"}, "bindings": [{"type": "queue", "direction": "out", "name": "copy", "queueName": "copies"}], "handler": {"outputs": {"copy": "1"}}}
            """));
        await host.FailOutputAsync("Pack", 1, "full");
        await host.SendAsync("boxes", "1");
        await host.WaitForCompletedAsync("Pack");
        Assert.Equal([AttemptStatus.Failed, AttemptStatus.Succeeded], (await host.GetAttemptsAsync("Pack")).Select(a => a.Status));
        Assert.Equal("1", Assert.Single(await host.PeekQueueAsync("copies")).Text);
        await host.InjectFaultAsync(new ServiceFault("queue", "Delete") { Entity = "boxes", Times = 1, Error = "busy", Latency = TimeSpan.FromSeconds(1) });
        await host.SendAsync("boxes", "2");
        await host.WaitForSettledAsync("Pack");
        await host.InjectFaultAsync(new ServiceFault(Service: "queue", Operation: "Delete") { Lost = true });
        await host.SendAsync("boxes", "3");
        await host.WaitForSettledAsync("Pack");
        await host.InjectFaultAsync(new ServiceFault("queue", "Put") { After = true });
        await host.SendAsync("boxes", "4"); // the test's own hand meets no fault
    }

    [Fact]
    public async Task OutputsThatAreRecorded()
    {
        await using var host = await StartAsync(FunctionSpec.FromJson("""
            {"trigger": {"type": "queueTrigger", "queueName": "boxes"}, "bindings": [{"type": "signalR", "direction": "out", "name": "notice", "hubName": "orders"}], "handler": {"outputs": {"notice": {"target": "packed"}}}}
            """));
        await host.SendAsync("boxes", "1");
        await host.WaitForSettledAsync();
        Assert.Contains("packed", Assert.Single(await host.GetOutputsAsync("Pack"))["body"]!.ToJsonString());
    }

    [Fact]
    public async Task AHostEndsAndBeginsAgain()
    {
        await using var host = await StartAsync(boxes);
        await host.SendAsync("boxes", "1", new QueueSend { Visibility = TimeSpan.FromMinutes(1) });
        await host.CrashAsync();
        var e = await Assert.ThrowsAsync<RedeliverException>(() => host.WaitForSettledAsync());
        Assert.Equal("host_down", e.Code);
        Assert.Contains("start it again", e.Hint);
        await host.StartAgainAsync();
        await host.WaitForCompletedAsync("Pack");
        await host.RestartAsync();
        await host.SendAsync("boxes", "2");
        await host.WaitForCompletedAsync("Pack");
        foreach (var point in new[] { CrashPoint.AfterReceive, CrashPoint.BeforeHandler, CrashPoint.AfterHandler, CrashPoint.BeforeSettle, CrashPoint.AfterSettle })
        {
            await host.CrashAtAsync("Pack", point);
            await host.SendAsync("boxes", "3");
            await host.StartAgainAsync();
            await host.RunUntilIdleAsync();
        }
        Assert.Contains(await host.GetAttemptsAsync(), a => a.Status == AttemptStatus.Lost);
    }

    [Fact]
    public async Task InstancesShareTheWork()
    {
        await using var host = await StartAsync(boxes, o => o.Instances = true);
        await host.ScaleOutAsync();
        await host.SendAsync("boxes", "1");
        await host.WaitForSettledAsync();
        await host.ScaleInAsync(2);
        await host.SendAsync("boxes", "1");
        await host.WaitForSettledAsync();
    }

    [Fact]
    public async Task StateIsKeptAndDropped()
    {
        await using var host = await StartAsync(boxes, o => o.Seed = 3);
        await host.SendAsync("kept", "1");
        var state = await host.SaveStateAsync();
        await host.AdvanceAsync(TimeSpan.FromHours(1));
        await host.ResetAsync();
        Assert.Equal((host.Begins, 3UL), (await host.GetUtcNowAsync(), host.Seed));
        await host.LoadStateAsync(state);
        Assert.Equal("1", Assert.Single(await host.PeekQueueAsync("kept")).Text);
    }

    [Fact]
    public async Task StepsAndEdits()
    {
        await using var host = await StartAsync(boxes, o => { o.Settings["A"] = "b"; o.Switches["workerCrash"] = "stop"; });
        await host.DoAsync("""{"send": {"queue": "boxes", "bodies": [1, 2]}}""");
        await host.RunUntilIdleAsync();
        Assert.Equal(2, (await host.GetAttemptsAsync()).Count);
        Assert.Empty(await host.GetRunningAsync());
        await host.EditAsync(new Dictionary<string, string> { ["host.json"] = """{"version": "2.0", "extensions": {"queues": {"maxDequeueCount": 2}}}""" });
        Assert.Contains(await host.GetJournalAsync(), r => r.Others!.TryGetValue("generation", out var generation) && generation.GetInt32() == 2);
        var received = (await host.GetJournalAsync(new JournalPattern { Kind = "attempt_started", Function = "Pack", Others = new Dictionary<string, JsonElement> { ["attempt"] = JsonSerializer.SerializeToElement(1) } }))[0];
        Assert.Equal((1, 0), (received.Attempt, received.RetryCount));
        Assert.NotNull(received.Invocation);
    }

    [Fact]
    public async Task PlacesNeedPorts()
    {
        await using var without = await StartAsync(boxes);
        Assert.Throws<InvalidOperationException>(() => without.GetConnectionString("storage"));
        await using var host = await StartAsync(boxes, o => o.Ports = true);
        Assert.StartsWith("DefaultEndpointsProtocol=http;", host.GetConnectionString("storage"));
        foreach (var service in new[] { "servicebus", "eventhubs", "blobs", "queues", "eventgrid" }) Assert.Contains("127.0.0.1", host.GetConnectionString(service));
        Assert.Throws<ArgumentException>(() => host.GetConnectionString("cosmos"));
    }

    [Fact]
    public Task HostsSideBySide() => Task.WhenAll(Enumerable.Range(0, 20).Select(async n =>
    {
        await using var host = await StartAsync(FunctionSpec.Queue("boxes").Scripted("fail"));
        for (var i = 0; i <= n; i++) await host.SendAsync("boxes", $"{i}");
        for (var i = 0; i <= n; i++) await host.WaitForPoisonedAsync("Pack");
        Assert.Equal(n + 1, (await host.PeekQueueAsync("boxes-poison")).Count);
    }));
}

[System.Text.Json.Serialization.JsonSerializable(typeof(string))]
internal sealed partial class TestJson : System.Text.Json.Serialization.JsonSerializerContext;
