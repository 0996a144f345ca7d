using System.Text.Json;
using System.Text.Json.Nodes;
using Redeliver.Testing.Internal;

namespace Redeliver.Testing;

// What goes wrong, ends, and is kept.
public sealed partial class RedeliverHost
{
    /// <summary>Lets operations of a service fail, for the app. One that nothing has met fails <see cref="StopAsync"/>.</summary>
    public Task InjectFaultAsync(ServiceFault fault, CancellationToken cancellationToken = default)
    {
        ArgumentNullException.ThrowIfNull(fault);
        var path = Query("faults", ("service", Named(fault.Service)), ("operation", fault.Operation), ("entity", fault.Entity), ("after", fault.After ? "true" : null), ("lost", fault.Lost ? "true" : null),
            ("error", fault.Error), ("status", Number(fault.Status)), ("times", fault.Times is { } times ? Number(AtLeastOne(times)) : null), ("latency", Span(fault.Latency)));
        return ControlAsync(HttpMethod.Post, path, null, cancellationToken);
    }

    /// <summary>Lets the next writes of a function's output fail.</summary>
    /// <param name="output">FUNCTION, or FUNCTION/BINDING.</param>
    /// <param name="times">How many.</param>
    /// <param name="error">Text of the failure.</param>
    /// <param name="cancellationToken">Gives up the call.</param>
    public Task FailOutputAsync(string output, int times = 1, string error = "", CancellationToken cancellationToken = default) =>
        ControlAsync(HttpMethod.Put, Query("outputs/fault", ("name", Named(output)), ("times", Number(times == -1 ? times : AtLeastOne(times)))), KitHttp.Bytes(System.Text.Encoding.UTF8.GetBytes(error)), cancellationToken);

    /// <summary>Ends the locks of an entity of Service Bus, as if their time were over.</summary>
    public Task ExpireLocksAsync(string path, CancellationToken cancellationToken = default) => DoneAsync("expire-locks", new JsonObject { ["entity"] = Named(path) }, cancellationToken);

    /// <summary>Kills the host now, as kill -9 does. The data stays, and the test goes on: <see cref="StartAgainAsync"/>.</summary>
    public Task CrashAsync(CancellationToken cancellationToken = default) => DoneAsync("crash", [], cancellationToken);

    /// <summary>Asks for a crash at a point of a delivery of a function.</summary>
    /// <param name="function">Function.</param>
    /// <param name="point">Point.</param>
    /// <param name="nth">The how manieth time from now on that the point is reached, restarts included.</param>
    /// <param name="cancellationToken">Gives up the call.</param>
    public Task CrashAtAsync(string function, CrashPoint point, int nth = 1, CancellationToken cancellationToken = default) =>
        DoneAsync("crash", new JsonObject { ["function"] = Named(function), ["point"] = JsonNamingPolicy.CamelCase.ConvertName(point.ToString()), ["nth"] = AtLeastOne(nth) }, cancellationToken);

    /// <summary>Starts the host again on its data. Moves time until a crash that was asked for has come.</summary>
    public Task StartAgainAsync(CancellationToken cancellationToken = default) => DoneAsync("start", null, cancellationToken);

    /// <summary>Ends the host in good order, as Ctrl+C does, and starts it again.</summary>
    public Task RestartAsync(CancellationToken cancellationToken = default) => DoneAsync("restart", null, cancellationToken);

    /// <summary>Starts another instance beside this one: <see cref="RedeliverHostOptions.Instances"/> has to be set.</summary>
    public Task ScaleOutAsync(CancellationToken cancellationToken = default) => DoneAsync("instances", null, cancellationToken);

    /// <summary>Stops an instance, as the platform does.</summary>
    /// <param name="instance">Its number: that of the first is 1.</param>
    /// <param name="cancellationToken">Gives up the call.</param>
    public async Task ScaleInAsync(int instance, CancellationToken cancellationToken = default) =>
        await VerbAsync(HttpMethod.Delete, $"instances/{Number(instance)}", null, Wire.Default.JsonObject, cancellationToken).ConfigureAwait(false);

    /// <summary>Writes files of an app that the test describes, as an editor does, and reloads it.</summary>
    /// <param name="files">Contents by path below the app's folder.</param>
    /// <param name="cancellationToken">Gives up the call.</param>
    public Task EditAsync(IReadOnlyDictionary<string, string> files, CancellationToken cancellationToken = default) =>
        DoneAsync("edit", new JsonObject { ["files"] = new JsonObject(files.Select(f => KeyValuePair.Create(f.Key, (JsonNode?)f.Value))) }, cancellationToken);

    /// <summary>What the services hold, as one archive.</summary>
    public Task<byte[]> SaveStateAsync(CancellationToken cancellationToken = default) => ControlAsync(HttpMethod.Get, "state", null, cancellationToken);

    /// <summary>Takes what <see cref="SaveStateAsync"/> gave, in the place of what the services hold.</summary>
    public Task LoadStateAsync(ReadOnlyMemory<byte> state, CancellationToken cancellationToken = default) => ControlAsync(HttpMethod.Put, "state", KitHttp.Bytes(state), cancellationToken);
}
