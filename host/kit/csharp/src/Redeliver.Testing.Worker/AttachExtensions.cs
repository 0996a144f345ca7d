using Microsoft.Extensions.DependencyInjection;
using Redeliver.Testing.Worker;

namespace Redeliver.Testing;

/// <summary>Runs an app in the test's own process.</summary>
public static class AttachExtensions
{
    /// <summary>Has the handlers of an isolated app run in this process, by its own Main, and its host.json count.</summary>
    /// <typeparam name="TAnyOfTheApp">Any type of the app, such as Program or a class of functions.</typeparam>
    /// <param name="options">The host's.</param>
    /// <param name="services">Replaces services after the app's own registrations: mocks.</param>
    /// <returns>The app, which its host ends.</returns>
    public static AttachedApp Attach<TAnyOfTheApp>(this RedeliverHostOptions options, Action<IServiceCollection>? services = null)
    {
        ArgumentNullException.ThrowIfNull(options);
        var app = new AttachedApp(typeof(TAnyOfTheApp), services);
        options.Worker = app;
        return app;
    }

    internal const string Hooks = "DOTNET_STARTUP_HOOKS"; // assemblies that the runtime calls before Main

    /// <summary>Gives handlers that ask a <see cref="TimeProvider"/> of their services the host's time: while one sleeps by it, virtual time goes on. The app is as it is, in a process of its own or attached.</summary>
    /// <remarks>What guards work of the real world by a span of such a provider has that span over as soon as time moves.</remarks>
    public static void UseVirtualTime(this RedeliverHostOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        options.Settings[Hooks] = typeof(AttachExtensions).Assembly.Location;
    }
}
