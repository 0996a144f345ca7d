using System.Text.Json;
using Microsoft.Extensions.Configuration;
using Microsoft.Extensions.Primitives;

namespace Redeliver.Testing.Worker;

/// <summary>What a worker's process would have in its environment and on its command line, as configuration of one app. It may grow while the app runs.</summary>
internal sealed class WorkerSettings : IConfigurationSource, IConfigurationProvider
{
    private readonly object gate = new();
    private readonly Dictionary<string, string?> values = new(StringComparer.OrdinalIgnoreCase); // guarded by gate

    public IConfigurationProvider Build(IConfigurationBuilder builder) => this;

    /// <summary>Takes variables, whose names have two underscores for a colon.</summary>
    internal void Use(IEnumerable<KeyValuePair<string, string>> more)
    {
        lock (gate)
            foreach (var (name, value) in more) values[name.Replace("__", ":", StringComparison.Ordinal)] = value;
    }

    public bool TryGet(string key, out string? value)
    {
        lock (gate) return values.TryGetValue(key, out value);
    }

    public void Set(string key, string? value)
    {
        lock (gate) values[key] = value;
    }

    public IEnumerable<string> GetChildKeys(IEnumerable<string> earlierKeys, string? parentPath)
    {
        var below = parentPath is null ? "" : parentPath + ConfigurationPath.KeyDelimiter;
        lock (gate)
        {
            return [.. values.Keys.Where(k => k.StartsWith(below, StringComparison.OrdinalIgnoreCase)).Select(k => k[below.Length..].Split(ConfigurationPath.KeyDelimiter)[0]).Concat(earlierKeys)
                .Order(StringComparer.OrdinalIgnoreCase)];
        }
    }

    public IChangeToken GetReloadToken() => new Never();
    public void Load() { }

    /// <summary>Who reads a setting finds its value; nobody is told of a change.</summary>
    private sealed class Never : IChangeToken, IDisposable
    {
        public bool HasChanged => false;
        public bool ActiveChangeCallbacks => false;
        public IDisposable RegisterChangeCallback(Action<object?> callback, object? state) => this;
        public void Dispose() { }
    }
}

/// <summary>The values of local.settings.json, which a host gives to its worker.</summary>
internal static class LocalSettings
{
    internal static Dictionary<string, string> Of(string? folder)
    {
        var values = new Dictionary<string, string>(StringComparer.OrdinalIgnoreCase);
        if (folder is null || Path.Combine(folder, "local.settings.json") is var file && !File.Exists(file)) return values;
        using var text = JsonDocument.Parse(File.ReadAllBytes(file), new() { CommentHandling = JsonCommentHandling.Skip, AllowTrailingCommas = true });
        if (text.RootElement.TryGetProperty("Values", out var given))
            foreach (var one in given.EnumerateObject()) values[one.Name] = one.Value.ToString();
        return values;
    }
}
