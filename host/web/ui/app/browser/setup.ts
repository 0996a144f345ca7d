import { afterAll } from "vitest";
import { clean } from "./host";

// Whatever a test leaves behind, a failing one most of all: this runs after its own hooks.
afterAll(clean);
