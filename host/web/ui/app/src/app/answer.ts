/** The answer about the app. */
export interface AppAnswer {
  generations: Generation[];
  settings: { name: string; source: string; value: string }[];
  endpoints: { service: string; address?: string; connectionString?: string }[];
  findings: Finding[];
  functions: { name: string; language?: string; detail?: string; breaker?: { state?: string; until?: string } }[];
}

export interface Generation {
  number?: number; // a refused edit has none
  at: string;
  current?: boolean;
  refused?: boolean;
  undone?: boolean; // the files are again as the running generation has them
  file?: string;
  reason?: string;
  hint?: string;
  fault?: number; // of an edit that was refused for several: which of them this is, from 1
  faults?: number; // and how many there are
  changes?: string[];
}

export interface Finding {
  severity: string;
  function?: string;
  file?: string;
  line?: number;
  path?: string;
  message: string;
  fix?: string;
  rule?: string;
}
