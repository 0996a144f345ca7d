import { expect, test } from "vitest";
import { EventReader } from "./events";

const stream = ": alive\n\nevent: records\nid: 7\ndata: [1,\ndata: 2]\n\nevent: missed\r\ndata: {}\r\n\r\ndata: last\n\n";

test("events come out whole, wherever the parts of the response end", () => {
  const want = [
    { event: "records", id: "7", data: "[1,\n2]" },
    { event: "missed", id: "7", data: "{}" },
    { event: "message", id: "7", data: "last" },
  ];
  for (const size of [1, 2, 7, stream.length]) {
    const reader = new EventReader();
    const got = [];
    for (let i = 0; i < stream.length; i += size) got.push(...reader.push(stream.slice(i, i + size)));
    expect(got).toEqual(want);
  }
});
