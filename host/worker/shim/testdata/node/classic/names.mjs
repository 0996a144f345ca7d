export const a = 1; export async function index() { return { out: "index of a module" }; }
