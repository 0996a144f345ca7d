using System.Diagnostics;
using Redeliver.Testing;

namespace Shop.Tests;

/// <summary>The program behind the kit: found, one for a process, gone with it.</summary>
public class ProcessTests
{
    private static RedeliverHostOptions Boxes()
    {
        var options = new RedeliverHostOptions();
        options.Functions["Pack"] = FunctionSpec.Queue("boxes").Scripted("succeed");
        return options;
    }

    [Fact]
    public async Task OneProgramServesAllTests()
    {
        var kit = await RedeliverKit.SharedAsync();
        Assert.Same(kit, await RedeliverKit.SharedAsync());
        Assert.Equal((1, "127.0.0.1"), (RedeliverKit.Protocol, kit.Address.Host));
        Assert.NotEqual("", kit.Version);
        Assert.Equal("REDELIVER_KIT", RedeliverKit.Variable);
        await using var host = await kit.StartHostAsync(Boxes());
        await host.SendAsync("boxes", "1");
        Assert.Single(await host.GetAttemptsAsync());
    }

    [Fact]
    public async Task AProgramThatIsNotThere()
    {
        var e = await Assert.ThrowsAsync<RedeliverStartException>(() => RedeliverKit.StartAsync("/no/such/redeliver"));
        Assert.Equal(("no_program", "the program is to be \"/no/such/redeliver\", and there is no such file"), (e.Code, e.Message));
    }

    [Theory]
    [InlineData("""{"kit": 99, "version": "9.9"}""")]
    [InlineData("usage: another program")]
    [InlineData("")]
    public async Task AnotherProgram(string says)
    {
        if (OperatingSystem.IsWindows()) return; // the other program is a script
        var folder = Directory.CreateTempSubdirectory();
        var program = Path.Combine(folder.FullName, "redeliver");
        await File.WriteAllTextAsync(program, $"#!/bin/sh\necho 'what it is' >&2\nprintf '%s\\n' '{says}'\n");
        File.SetUnixFileMode(program, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        var e = await Assert.ThrowsAsync<RedeliverStartException>(() => RedeliverKit.StartAsync(program));
        Assert.Equal("wrong_version", e.Code);
        Assert.Contains("what it is", e.StandardError);
        Assert.Contains("what it is", e.Message);
        Assert.Contains("update Redeliver.Testing and the program", e.Hint);
        folder.Delete(recursive: true);
    }

    [Fact]
    public async Task AProgramThatEndsIsToldOf()
    {
        await using var kit = await RedeliverKit.StartAsync();
        await using var host = await kit.StartHostAsync(Boxes());
        using (var process = Process.GetProcessById(kit.ProcessId!.Value))
        {
            process.Kill();
            await process.WaitForExitAsync();
        }
        var e = await Assert.ThrowsAsync<RedeliverException>(() => host.SendAsync("boxes", "1"));
        Assert.Equal("kit_ended", e.Code);
        Assert.Contains("redeliver kit ended with exit code", e.Message);
    }

    [Fact]
    public async Task ACallThatIsGivenUp()
    {
        await using var host = await RedeliverHost.StartAsync(Boxes());
        using var stop = new CancellationTokenSource();
        await stop.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => host.SendAsync("boxes", "1", cancellationToken: stop.Token));
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => RedeliverHost.StartAsync(Boxes(), stop.Token));
        await host.SendAsync("boxes", "1");
        Assert.Single(await host.GetAttemptsAsync());
    }

    /// <summary>For a test of the test: it is killed, and must leave nothing.</summary>
    [Fact(Explicit = true)]
    public async Task Endless()
    {
        await using var scripted = await RedeliverHost.StartAsync(o => { o.Functions["Pack"] = FunctionSpec.Queue("boxes").Scripted("fail"); o.Ports = true; });
        await using var own = await RedeliverHost.StartAsync(o => o.App = AppFolder.Of("Shop"));
        await using var attached = await RedeliverHost.StartAsync(o => o.Attach<ShipFunctions>());
        for (var i = 0; ; i++)
        {
            var host = (i % 3) switch { 0 => scripted, 1 => own, _ => attached };
            await host.SendJsonAsync("boxes", new Parcel(i));
            Console.WriteLine($"round {i}");
            await host.WaitForPoisonedAsync("Pack");
        }
    }
}
