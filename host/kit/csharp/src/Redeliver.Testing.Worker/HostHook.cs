using System.Diagnostics;
using Microsoft.Extensions.Hosting;

namespace Redeliver.Testing.Worker;

/// <summary>Gets hold of the host that an app's own Main builds, as the test servers of web frameworks do: Microsoft.Extensions.Hosting tells of it by a DiagnosticListener.</summary>
internal sealed class HostHook : IObserver<DiagnosticListener>, IObserver<KeyValuePair<string, object?>>, IDisposable
{
    private static readonly AsyncLocal<HostHook?> flow = new();

    private readonly Action<IHostBuilder> building;
    private readonly Action<IHost>? built;
    private readonly bool onlyOfThisFlow;
    private readonly List<IDisposable> subscriptions = [];

    private HostHook(Action<IHostBuilder> building, Action<IHost>? built, bool onlyOfThisFlow)
    {
        (this.building, this.built, this.onlyOfThisFlow) = (building, built, onlyOfThisFlow);
        flow.Value = this;
        subscriptions.Add(DiagnosticListener.AllListeners.Subscribe(this));
    }

    /// <summary>Calls for each host that is built until the hook is disposed of; or for those alone whose Main runs in this flow of control, since others build hosts of other tests.</summary>
    internal static HostHook Install(Action<IHostBuilder> building, Action<IHost>? built = null, bool onlyOfThisFlow = false) => new(building, built, onlyOfThisFlow);

    void IObserver<DiagnosticListener>.OnNext(DiagnosticListener value)
    {
        if (value.Name == "Microsoft.Extensions.Hosting") subscriptions.Add(value.Subscribe(this));
    }

    void IObserver<KeyValuePair<string, object?>>.OnNext(KeyValuePair<string, object?> value)
    {
        if (onlyOfThisFlow && flow.Value != this) return;
        if (value is { Key: "HostBuilding", Value: IHostBuilder builder }) building(builder);
        if (value is { Key: "HostBuilt", Value: IHost host }) built?.Invoke(host);
    }

    public void Dispose()
    {
        foreach (var one in subscriptions.ToArray()) one.Dispose();
    }

    void IObserver<DiagnosticListener>.OnCompleted() { }
    void IObserver<DiagnosticListener>.OnError(Exception error) { }
    void IObserver<KeyValuePair<string, object?>>.OnCompleted() { }
    void IObserver<KeyValuePair<string, object?>>.OnError(Exception error) { }
}
