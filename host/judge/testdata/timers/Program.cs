// Prints the ticks that the platform's timer library computes in the zone that TZ names,
// as seconds since 1970. A line of the input is a schedule and the moments between which
// it runs, in tabs; the answer is one line.
using System.Globalization;
using Microsoft.Azure.WebJobs.Extensions.Timers;
using NCrontab;

while (Console.ReadLine() is { } line)
{
    var cells = line.Split('\t');
    var fields = cells[0].Split(' ', StringSplitOptions.RemoveEmptyEntries);
    var cron = CrontabSchedule.TryParse(cells[0], new CrontabSchedule.ParseOptions { IncludingSeconds = fields.Length != 5 });
    if (cron == null)
    {
        Console.WriteLine("refused");
        continue;
    }
    var schedule = new CronSchedule(cron);
    var at = DateTimeOffset.FromUnixTimeSeconds(long.Parse(cells[1], CultureInfo.InvariantCulture)).LocalDateTime;
    var end = long.Parse(cells[2], CultureInfo.InvariantCulture);
    var ticks = new List<long>();
    while (ticks.Count < 100000)
    {
        var next = schedule.GetNextOccurrence(at);
        var seconds = new DateTimeOffset(next).ToUnixTimeSeconds();
        if (seconds >= end)
        {
            break;
        }
        ticks.Add(seconds);
        at = next;
    }
    Console.WriteLine(string.Join(' ', ticks));
}
