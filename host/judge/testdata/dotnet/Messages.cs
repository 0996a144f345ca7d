using System.Text.Json;
using Azure.Storage.Blobs;
using Azure.Storage.Queues.Models;
using Microsoft.Azure.Functions.Worker;

// Functions for messages, blobs and ticks.
public class Messages
{
    const string Prefix = "judge-%JUDGE_RUN%-";

    [Function("Queue")]
    public void Queue([QueueTrigger(Prefix + "queue")] string m, FunctionContext c) => Given.Called(c, m);

    [Function("QueueBytes")]
    public void QueueBytes([QueueTrigger(Prefix + "queuebytes")] byte[] m, FunctionContext c) => Given.Called(c, m);

    [Function("QueueData")]
    public void QueueData([QueueTrigger(Prefix + "queuedata")] BinaryData m, FunctionContext c) => Given.Called(c, m.ToArray());

    [Function("QueueThing")]
    public void QueueThing([QueueTrigger(Prefix + "queuething")] Thing m, FunctionContext c) => Given.Called(c, m);

    [Function("QueueMessage")]
    public void QueueMessage([QueueTrigger(Prefix + "queuemessage")] QueueMessage m, FunctionContext c) => Given.Called(c, new
    {
        m.MessageId, m.PopReceipt, Text = m.Body.ToArray(), m.DequeueCount, InsertionTime = m.InsertedOn, ExpirationTime = m.ExpiresOn, NextVisibleTime = m.NextVisibleOn,
    });

    [Function("QueueParts")]
    public void QueueParts([QueueTrigger(Prefix + "queueparts")] string m, FunctionContext c, string? name, DateTimeOffset insertionTime, int dequeueCount) => Given.Called(c, new { m, name, InsertionTime = insertionTime, dequeueCount });

    [Function("QueueBlob")]
    public void QueueBlob([QueueTrigger(Prefix + "queueblob")] string m, [BlobInput("judge-%JUDGE_RUN%-blob/{name}")] string? blob, FunctionContext c) => Given.Called(c, new { m, blob });

    [Function("Blob")]
    public void Blob([BlobTrigger(Prefix + "blob/{name}")] string m, string name, FunctionContext c) => Given.Called(c, new { m, name });

    [Function("BlobStream")]
    public void BlobStream([BlobTrigger(Prefix + "blobstream/{name}")] Stream m, FunctionContext c)
    {
        var copy = new MemoryStream();
        m.CopyTo(copy);
        Given.Called(c, copy.ToArray());
    }

    [Function("BlobBytes")]
    public void BlobBytes([BlobTrigger(Prefix + "blobbytes/{name}")] byte[] m, FunctionContext c) => Given.Called(c, m);

    [Function("BlobClient")]
    public void BlobClient([BlobTrigger(Prefix + "blobclient/a/{folder}/{file}.{ext}")] BlobClient m, string folder, string file, string ext, FunctionContext c) =>
        Given.Called(c, new { m.Name, m.BlobContainerName, Text = m.DownloadContent().Value.Content.ToArray(), folder, file, ext });

    [Function("BlobThing")]
    public void BlobThing([BlobTrigger(Prefix + "blobthing/{name}")] Thing m, FunctionContext c) => Given.Called(c, m);

    [Function("Timer")]
    public void Timer([TimerTrigger("0 0 0 1 1 *", RunOnStartup = true)] TimerInfo m, FunctionContext c) => Given.Called(c, m);

    [Function("TimerMonitor")]
    public void TimerMonitor([TimerTrigger("0 0 0 1 1 *", RunOnStartup = true, UseMonitor = false)] TimerInfo m, FunctionContext c) => Given.Called(c, m);

    [Function("TimerString")]
    public void TimerString([TimerTrigger("0 0 0 1 1 *")] string m, FunctionContext c) => Given.Called(c, m);

    [Function("FailsQueue")]
    public void FailsQueue([QueueTrigger(Prefix + "failsqueue")] string m, FunctionContext c) => Given.Called(c, m);

    [Function("Fails1Queue")]
    public void Fails1Queue([QueueTrigger(Prefix + "fails1queue")] string m, FunctionContext c) => Given.Called(c, m);

    [Function("FailsBlob")]
    public void FailsBlob([BlobTrigger(Prefix + "failsblob/{name}")] string m, FunctionContext c) => Given.Called(c, m);

    [Function("Fails1Blob")]
    public void Fails1Blob([BlobTrigger(Prefix + "fails1blob/{name}")] string m, FunctionContext c) => Given.Called(c, m);

    [Function("FailsTimer")]
    public void FailsTimer([TimerTrigger("0 0 0 1 1 *", RunOnStartup = true)] TimerInfo m, FunctionContext c) => Given.Called(c, m);

    [Function("FailsTimerFixed")]
    [FixedDelayRetry(2, "00:00:00.1")]
    public void FailsTimerFixed([TimerTrigger("0 0 0 1 1 *", RunOnStartup = true)] TimerInfo m, FunctionContext c) => Given.Called(c, m);

    [Function("Fails2TimerExpo")]
    [ExponentialBackoffRetry(2, "00:00:00.1", "00:00:00.3")]
    public void Fails2TimerExpo([TimerTrigger("0 0 0 1 1 *", RunOnStartup = true)] TimerInfo m, FunctionContext c) => Given.Called(c, m);

    [Function("Fails4TimerEver")]
    [FixedDelayRetry(-1, "00:00:00.1")]
    public void Fails4TimerEver([TimerTrigger("0 0 0 1 1 *", RunOnStartup = true)] TimerInfo m, FunctionContext c) => Given.Called(c, m);

    [Function("OutString")]
    [QueueOutput(Prefix + "outstring-out")]
    public string? OutString([QueueTrigger(Prefix + "outstring")] string m, FunctionContext c)
    {
        Given.Called(c, m);
        return m == "null" ? null : m;
    }

    [Function("OutList")]
    [QueueOutput(Prefix + "outlist-out")]
    public string[]? OutList([QueueTrigger(Prefix + "outlist")] string m, FunctionContext c)
    {
        Given.Called(c, m);
        return m == "null" ? null : m.Split(',', StringSplitOptions.RemoveEmptyEntries);
    }

    [Function("OutThing")]
    [QueueOutput(Prefix + "outthing-out")]
    public Thing? OutThing([QueueTrigger(Prefix + "outthing")] string m, FunctionContext c)
    {
        Given.Called(c, m);
        return m == "null" ? null : new Thing(m, 1, null);
    }

    [Function("OutThings")]
    [QueueOutput(Prefix + "outthings-out")]
    public Thing[] OutThings([QueueTrigger(Prefix + "outthings")] string m, FunctionContext c)
    {
        Given.Called(c, m);
        return m.Split(',').Select(n => new Thing(n, 1, null)).ToArray();
    }

    [Function("OutJson")]
    [QueueOutput(Prefix + "outjson-out")]
    public JsonElement OutJson([QueueTrigger(Prefix + "outjson")] string m, FunctionContext c)
    {
        Given.Called(c, m);
        return JsonDocument.Parse(m).RootElement;
    }

    [Function("OutBytes")]
    [QueueOutput(Prefix + "outbytes-out")]
    public byte[] OutBytes([QueueTrigger(Prefix + "outbytes")] byte[] m, FunctionContext c)
    {
        Given.Called(c, m);
        return m;
    }

    [Function("OutNumber")]
    [QueueOutput(Prefix + "outnumber-out")]
    public double OutNumber([QueueTrigger(Prefix + "outnumber")] string m, FunctionContext c)
    {
        Given.Called(c, m);
        return double.Parse(m, System.Globalization.CultureInfo.InvariantCulture);
    }

    [Function("OutBlob")]
    [BlobOutput("judge-%JUDGE_RUN%-made/{name}")]
    public string? OutBlob([QueueTrigger(Prefix + "outblob")] string m, FunctionContext c)
    {
        Given.Called(c, m);
        return m;
    }

    [Function("OutSeveral")]
    public Several OutSeveral([QueueTrigger(Prefix + "outseveral")] string m, FunctionContext c)
    {
        Given.Called(c, m);
        return new Several { First = m, Second = m.Length > 1 ? [m, m] : null, Third = m };
    }

    [Function("FailsOut")]
    [QueueOutput(Prefix + "failsout-out")]
    public string FailsOut([QueueTrigger(Prefix + "failsout")] string m, FunctionContext c)
    {
        Given.Called(c, m);
        return m;
    }

    public class Several
    {
        [QueueOutput(Prefix + "outseveral-out")]
        public string? First { get; set; }

        [QueueOutput(Prefix + "outseveral-out")]
        public string[]? Second { get; set; }

        [BlobOutput("judge-%JUDGE_RUN%-made/{queueTrigger}.txt")]
        public string? Third { get; set; }
    }
}
