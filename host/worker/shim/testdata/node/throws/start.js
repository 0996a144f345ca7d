throw new Error("no configuration");
