import { defineConfig } from "vite";

// The page is served below /admin/redeliver/ui/ and its policy lets no inline code run:
// relative addresses, and no polyfill that a script would put in.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../dist",
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    // npm run dev beside a host: REDELIVER_HOST=http://127.0.0.1:7071
    // The host takes the pages of the host that a request names: it is the one of the page.
    proxy: { "/admin": { target: process.env["REDELIVER_HOST"] ?? "http://127.0.0.1:7071", changeOrigin: false } },
  },
});
