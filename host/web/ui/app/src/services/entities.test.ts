import { expect, test } from "vitest";
import type { Inventory } from "../api/types";
import { entities } from "./entities";

test("a service without a view of its own is listed with what it counts", () => {
  const none = { queues: [], servicebus: [], eventgrid: [], eventhubs: [], cosmos: [], containers: [] };
  const inventory = { ...none, more: { bells: [{ name: "door", count: 2, tone: "low" }, { name: "tower", count: 0, tone: "deep" }] } };
  expect(entities(inventory as unknown as Inventory)).toEqual([
    { service: "bells", name: "door", dead: false, counts: [["count", 2]] },
    { service: "bells", name: "tower", dead: false, counts: [["count", 0]] },
  ]);
});
