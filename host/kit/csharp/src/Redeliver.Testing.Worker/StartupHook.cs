/// <summary>DOTNET_STARTUP_HOOKS with this assembly gives an unchanged app in a process of its own its host's time.</summary>
internal static class StartupHook
{
    /// <summary>The runtime calls it before Main.</summary>
    public static void Initialize() => Redeliver.Testing.Worker.VirtualTime.Install();
}
