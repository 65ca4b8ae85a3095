import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { globalSetup: "test/prism.ts", testTimeout: 300_000, hookTimeout: 300_000 },
});
