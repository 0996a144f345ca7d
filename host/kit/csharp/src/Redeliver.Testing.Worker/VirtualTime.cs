using System.Reflection;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Hosting;

namespace Redeliver.Testing.Worker;

/// <summary>Gives the handlers of an unchanged app their host's time. It knows the worker's library by names alone: an app has the version that it has.</summary>
internal static class VirtualTime
{
    private const string Execution = "Microsoft.Azure.Functions.Worker.Middleware.FunctionExecutionDelegate";

    /// <summary>Every host that is built in this process from now on.</summary>
    internal static void Install() => HostHook.Install(builder => builder.ConfigureServices((_, services) => AddTo(services)));

    /// <summary>Registers the provider last, which wins over TimeProvider.System, and notes at each call whose it is.</summary>
    internal static void AddTo(IServiceCollection services)
    {
        services.AddSingleton<TimeProvider>(VirtualTimeProvider.Instance);
        for (var i = 0; i < services.Count; i++)
            if (services[i] is { ServiceType.FullName: Execution, ImplementationFactory: { } made } one)
                services[i] = ServiceDescriptor.Singleton(one.ServiceType, provider => new Noted((Delegate)made(provider), one.ServiceType).Around());
    }

    /// <summary>The execution of a function, around which its invocation is noted.</summary>
    private sealed class Noted(Delegate inner, Type type)
    {
        private readonly PropertyInfo id = Property(type.GetMethod("Invoke")!.GetParameters()[0].ParameterType, "InvocationId");
        private readonly PropertyInfo trace = Property(type.GetMethod("Invoke")!.GetParameters()[0].ParameterType, "TraceContext");

        internal Delegate Around() => Delegate.CreateDelegate(type, this, typeof(Noted).GetMethod(nameof(InvokeAsync), BindingFlags.Instance | BindingFlags.NonPublic)!);

        private async Task InvokeAsync(object context)
        {
            var attributes = trace.GetValue(context) is { } told ? Property(trace.PropertyType, "Attributes").GetValue(told) as IReadOnlyDictionary<string, string> : null;
            using var invocation = Invocation.Begin((string)id.GetValue(context)!, attributes);
            await ((Task)inner.DynamicInvoke(context)!).ConfigureAwait(false);
        }

        private static PropertyInfo Property(Type of, string name) => of.GetProperty(name) ?? throw new MissingMemberException(of.FullName, name);
    }
}
