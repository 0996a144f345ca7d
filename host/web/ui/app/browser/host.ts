import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

/** The program under test: REDELIVER names another than the one on the path. */
export const program = process.env["REDELIVER"] ?? "redeliver";

const patience = 60_000; // only a failing test waits that long

const running = new Set<Host>();
const folders: string[] = [];

/** Ends the hosts that still run, and removes their folders. */
export async function clean(): Promise<void> {
  for (const host of running) await host.stop("SIGKILL");
  for (const dir of folders.splice(0)) rmSync(dir, { recursive: true, force: true });
}

/** A folder with files, until the tests of the file are over. */
export function folder(files: Record<string, string>): string {
  const dir = mkdtempSync(join(tmpdir(), "redeliver-page-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  folders.push(dir);
  return dir;
}

/** A host that runs as a process of its own. */
export class Host {
  private said = "";
  private readonly ended: Promise<void>;

  private constructor(
    private readonly child: ChildProcess,
    /** http://localhost:PORT/admin/redeliver/ */
    public base = "",
    public key = "",
  ) {
    const take = (part: Buffer) => (this.said = (this.said + part.toString()).slice(-200_000));
    child.stdout?.on("data", take);
    child.stderr?.on("data", take);
    running.add(this);
    this.ended = new Promise((resolve) =>
      child.once("exit", () => {
        running.delete(this);
        resolve();
      }),
    );
  }

  /** Starts the app of a folder, or those of several, and waits until they are ready. Ports are free ones, unless flags say another. */
  static async start(dir: string | string[], ...flags: string[]): Promise<Host> {
    const dirs = [dir].flat();
    const named = (flag: string) => flags.includes(flag);
    const ports = ["--port", "--blob-port", "--queue-port"].filter((f) => !named(f)).flatMap((f) => [f, "0"]);
    const rest = ["--output", "plain", ...(named("--data") ? [] : ["--in-memory"])];
    const child = spawn(program, ["start", ...dirs, ...ports, ...rest, ...flags], { stdio: ["ignore", "pipe", "pipe"] });
    const host = new Host(child);
    if (dirs.length === 1) await host.says(/ready in/);
    else for (const d of dirs) await host.says(new RegExp(`${basename(d)} is ready at `));
    if (flags.includes("--enableAuth")) host.key = (JSON.parse(readFileSync(join(dirs[0]!, ".redeliver/keys.json"), "utf8")) as { master: string }).master;
    host.base = (/page +(\S+\/admin\/redeliver\/)ui\//.exec(host.said) ?? /(http:\/\/localhost:\d+)/.exec(host.said))?.[1] ?? "";
    return host;
  }

  get port(): string {
    return new URL(this.base).port;
  }

  /** Waits until the host has written something. */
  async says(what: RegExp): Promise<void> {
    const late = AbortSignal.timeout(patience);
    while (!what.test(this.said)) {
      await new Promise<void>((resolve, reject) => {
        const go = () => resolve();
        this.child.stdout?.once("data", go);
        this.child.stderr?.once("data", go);
        this.child.once("exit", () => reject(new Error(`the host has ended: ${this.said}`)));
        late.addEventListener("abort", () => reject(new Error(`the host does not say ${what}: ${this.said}`)), { once: true });
      });
    }
  }

  /** Calls the control API, and demands that it succeeds. */
  async call(method: string, path: string, body?: BodyInit): Promise<Response> {
    const headers: Record<string, string> = this.key ? { "x-functions-key": this.key } : {};
    const response = await fetch(this.base + path, { method, headers, ...(body === undefined ? {} : { body }) });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response;
  }

  async get<T>(path: string): Promise<T> {
    return (await (await this.call("GET", path)).json()) as T;
  }

  /** Sends a message to a queue, and returns its identity. */
  async send(queue: string, text: BodyInit): Promise<string> {
    return ((await (await this.call("POST", `queues/${queue}/messages`, text)).json()) as { id: string }).id;
  }

  /** Waits until a record of the journal is told. */
  async record(is: (r: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
    const abort = AbortSignal.timeout(patience);
    const headers: Record<string, string> = this.key ? { "x-functions-key": this.key } : {};
    const response = await fetch(`${this.base}journal?since=1&follow=true`, { headers, signal: abort });
    let rest = "";
    for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + part).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const r = JSON.parse(line) as Record<string, unknown>;
        if (is(r)) return r;
      }
    }
    throw new Error("the journal has ended");
  }

  async stop(signal: NodeJS.Signals = "SIGINT"): Promise<void> {
    this.child.kill(signal);
    await this.ended;
  }
}
