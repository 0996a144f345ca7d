using System.ComponentModel;
using System.Diagnostics;

namespace Redeliver.Testing.Internal;

/// <summary>The program as a child process. It ends when its standard input does: also when this process is killed.</summary>
internal sealed class ChildProgram : IAsyncDisposable
{
    private const string Name = "redeliver";
    private const int Kept = 200, Shown = 20; // lines of standard error

    private readonly Process process;
    private readonly Queue<string> errors = new();

    private readonly Task reading;

    private ChildProgram(Process process)
    {
        this.process = process;
        reading = Task.Run(ReadErrorsAsync); // nothing may stop on a full pipe
    }

    internal int Id => process.Id;
    internal StreamReader Output => process.StandardOutput;
    internal bool HasExited
    {
        get
        {
            try { return process.HasExited; }
            catch (InvalidOperationException) { return true; } // it was disposed of
        }
    }

    /// <summary>The last lines of standard error.</summary>
    internal string Errors
    {
        get { lock (errors) return string.Join('\n', errors.Skip(Math.Max(0, errors.Count - Shown)).Select(line => "  " + line)); }
    }

    internal static ChildProgram Start(string path, params string[] arguments)
    {
        var info = new ProcessStartInfo(path) { UseShellExecute = false, CreateNoWindow = true, RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true };
        foreach (var argument in arguments) info.ArgumentList.Add(argument);
        info.Environment.Remove(RedeliverKit.Variable);
        Process process;
        try { process = Process.Start(info)!; }
        catch (Win32Exception e)
        {
            throw new RedeliverStartException($"the program {path} does not start: {e.Message}", e) { Code = "no_program", Hint = Advice };
        }
        return new ChildProgram(process);
    }

    private const string Advice = "add the package Redeliver.Binary to the test project, or set REDELIVER_BINARY";

    private async Task ReadErrorsAsync()
    {
        while (await process.StandardError.ReadLineAsync().ConfigureAwait(false) is { } line)
        {
            lock (errors)
            {
                errors.Enqueue(line);
                if (errors.Count > Kept) errors.Dequeue();
            }
        }
    }

    /// <summary>The program: as given, as REDELIVER_BINARY says, beside the tests, where the package Redeliver.Binary puts it, or in the PATH.</summary>
    internal static string Find(string? given)
    {
        if ((given ?? Environment.GetEnvironmentVariable("REDELIVER_BINARY")) is { Length: > 0 } path)
            return File.Exists(path) ? Path.GetFullPath(path) : throw new RedeliverStartException($"the program is to be \"{path}\", and there is no such file") { Code = "no_program", Hint = Advice };
        var file = OperatingSystem.IsWindows() ? Name + ".exe" : Name;
        var beside = Path.Combine(AppContext.BaseDirectory, file);
        if (File.Exists(beside)) return Runnable(beside);
        foreach (var folder in (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries))
            if (File.Exists(Path.Combine(folder, file))) return Path.Combine(folder, file);
        throw new RedeliverStartException($"the program {Name} is not on this machine\n{Advice}") { Code = "no_program", Hint = Advice };
    }

    /// <summary>A package of NuGet knows no modes: the file may not be executable.</summary>
    private static string Runnable(string path)
    {
        if (OperatingSystem.IsWindows()) return path;
        var mode = File.GetUnixFileMode(path);
        if ((mode & UnixFileMode.UserExecute) == 0) File.SetUnixFileMode(path, mode | UnixFileMode.UserExecute);
        return path;
    }

    /// <summary>How the program has ended, and what it has said: below an error.</summary>
    internal string LastWords()
    {
        var text = "";
        try
        {
            if (process.WaitForExit(TimeSpan.FromSeconds(1)) && reading.Wait(TimeSpan.FromSeconds(1))) text = $"\nredeliver kit ended with exit code {process.ExitCode}";
        }
        catch (InvalidOperationException) { text = "\nredeliver kit was ended"; }
        return Errors is { Length: > 0 } said ? $"{text}\n{said}" : text;
    }

    /// <summary>Closes standard input, and kills what has not ended then.</summary>
    public async ValueTask DisposeAsync()
    {
        if (HasExited) return;
        try { process.StandardInput.Close(); }
        catch (IOException) { }
        using var limit = new CancellationTokenSource(TimeSpan.FromSeconds(5));
        try { await process.WaitForExitAsync(limit.Token).ConfigureAwait(false); }
        catch (OperationCanceledException) { process.Kill(entireProcessTree: true); }
        process.Dispose();
    }
}
