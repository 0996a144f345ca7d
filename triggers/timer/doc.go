// Package timer is the timer trigger: it reads schedules, waits for their ticks
// and keeps account of them, so that a tick that was missed while the host was
// down is made up for.
//
// Read [ParseSchedule] and [Schedule.Next] first: all that is peculiar to the
// platform's schedules (fields that must all match, summer time, intervals) is
// there and needs no clock. [Listener] then only waits, runs and writes down;
// its rules for a missed tick are in missed.go.
//
// Left out: the settings of an app (a schedule comes here with its %NAME%
// already replaced), the lock that lets one of several instances run a timer
// (this host is one instance), and the schedule classes of compiled C#.
//
// The rules were read in the platform's timer extension (CronSchedule.cs,
// TimerSchedule.cs, ScheduleMonitor.cs, TimerListener.cs) and in the NCrontab
// library that it uses. Time zones come from package time: a program that must
// not depend on the zone files of its machine imports time/tzdata.
package timer
