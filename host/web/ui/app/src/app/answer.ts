/** The answer about the app. */
export interface AppAnswer {
  generations: Generation[];
  settings: { name: string; source: string; value: string }[];
  endpoints: { service: string; address: string; connectionString?: string }[];
  findings: Finding[];
  functions: { name: string; language?: string; breaker?: { state?: string; until?: string } }[];
}

export interface Generation {
  number: number;
  at: string;
  current?: boolean;
  refused?: boolean;
  reason?: string;
  changes?: string[];
}

export interface Finding {
  severity: string;
  file?: string;
  path?: string;
  message: string;
  fix?: string;
  rule?: string;
}
