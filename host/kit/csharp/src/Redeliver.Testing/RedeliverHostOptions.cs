using System.Diagnostics;
using System.Globalization;
using System.Security.Cryptography;
using System.Text.Json.Nodes;

namespace Redeliver.Testing;

/// <summary>What a host is to be. The members are those of a scenario.</summary>
public sealed class RedeliverHostOptions
{
    /// <summary>Folder of the app: its project, or its build output, which starts faster since nothing is built. Null: an app of <see cref="Functions"/> only.</summary>
    public string? App { get; set; }
    /// <summary>What runs the app's functions in this process. Null: they run in a process of their own.</summary>
    public IAttachedWorker? Worker { get; set; }
    /// <summary>Functions that the test describes, by name.</summary>
    public IDictionary<string, FunctionSpec> Functions { get; } = new Dictionary<string, FunctionSpec>(StringComparer.Ordinal);
    /// <summary>Settings of the app, over local.settings.json. They are settings of this host alone: the environment of the test process stays as it is.</summary>
    public IDictionary<string, string> Settings { get; } = new Dictionary<string, string>(StringComparer.Ordinal);
    /// <summary>Switches, as <c>redeliver start --set</c> takes them.</summary>
    public IDictionary<string, string> Switches { get; } = new Dictionary<string, string>(StringComparer.Ordinal);
    /// <summary>Laid over host.json.</summary>
    public JsonObject? HostJson { get; set; }
    /// <summary>Entities of services, as a scenario has them.</summary>
    public JsonObject? Entities { get; set; }
    /// <summary>Source of all chance: jitter and identities. Default: environment variable REDELIVER_SEED, a number or <c>random</c>, else 1.</summary>
    public ulong? Seed { get; set; }
    /// <summary>Virtual time at the start. Default 2030-01-01T00:00:00Z.</summary>
    public DateTimeOffset? StartTime { get; set; }
    /// <summary>Whether SDK clients in handlers or in the test can connect: listeners at free ports, whose strings are in the app's settings.</summary>
    public bool Ports { get; set; }
    /// <summary>Whether <see cref="RedeliverHost.ScaleOutAsync"/> may start further instances.</summary>
    public bool Instances { get; set; }
    /// <summary>Name of the test, for failures and reports. Default: the method that starts the host.</summary>
    public string? Name { get; set; }
    /// <summary>Real time that a handler, or a call in which none runs, may take; <see cref="Timeout.InfiniteTimeSpan"/> for no limit. Default: environment variable REDELIVER_TIMEOUT in seconds, else 30 s. Under a debugger there is none.</summary>
    public TimeSpan? Timeout
    {
        get => timeout;
        set => timeout = value is null || value == System.Threading.Timeout.InfiniteTimeSpan || value > TimeSpan.Zero ? value : throw new ArgumentOutOfRangeException(nameof(value), value, "the timeout has to be above zero");
    }

    private TimeSpan? timeout;
    /// <summary>Gets what handlers have logged, after each call, and at the end the timeline of all messages: pass <c>output.WriteLine</c> of xunit's ITestOutputHelper, or <c>TestContext.Progress.WriteLine</c> of NUnit.</summary>
    public Action<string>? Log { get; set; }

    internal TimeSpan Limit() => Debugger.IsAttached ? System.Threading.Timeout.InfiniteTimeSpan : Timeout ?? FromEnvironment("REDELIVER_TIMEOUT", TimeSpan.FromSeconds(30), text =>
        double.TryParse(text.TrimEnd('s'), CultureInfo.InvariantCulture, out var seconds) && double.IsFinite(seconds) && seconds > 0 ? TimeSpan.FromSeconds(seconds) : throw new RedeliverException($"REDELIVER_TIMEOUT is \"{text}\", and has to be seconds"));

    internal ulong ChosenSeed() => Seed ?? FromEnvironment("REDELIVER_SEED", 1UL, text =>
        text == "random" ? (ulong)RandomNumberGenerator.GetInt32(1, int.MaxValue)
        : ulong.TryParse(text, CultureInfo.InvariantCulture, out var seed) ? seed : throw new RedeliverException($"REDELIVER_SEED is \"{text}\", and has to be a whole number or random"));

    private static T FromEnvironment<T>(string name, T otherwise, Func<string, T> read) => Environment.GetEnvironmentVariable(name) is { Length: > 0 } text ? read(text) : otherwise;

    internal JsonObject ToJson()
    {
        var sent = new JsonObject { ["seed"] = ChosenSeed() };
        if ((App ?? Worker?.Folder) is { } app) sent["app"] = Path.GetFullPath(app);
        if (Worker is not null) sent["attached"] = true;
        if (Functions.Count > 0) sent["functions"] = new JsonObject(Functions.Select(f => KeyValuePair.Create(f.Key, (JsonNode?)(f.Value ?? throw new ArgumentException($"function {f.Key} is null")).ToJson())));
        if (Settings.Count > 0) sent["settings"] = new JsonObject(Settings.Select(s => KeyValuePair.Create(s.Key, (JsonNode?)(s.Value ?? throw new ArgumentException($"setting {s.Key} is null")))));
        if (Switches.Count > 0) sent["set"] = new JsonArray([.. Switches.Select(s => (JsonNode?)$"{s.Key}={s.Value}")]);
        if (HostJson is not null) sent["host"] = HostJson.DeepClone();
        if (Entities is not null) sent["entities"] = Entities.DeepClone();
        if (StartTime is { } start) sent["start"] = start.UtcDateTime.ToString("O", CultureInfo.InvariantCulture);
        if (Ports) sent["ports"] = true;
        if (Instances) sent["instances"] = true;
        if (Name is not null) sent["name"] = Name;
        return sent;
    }
}
