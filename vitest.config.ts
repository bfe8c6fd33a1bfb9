import { availableParallelism } from 'node:os'
import { playwright } from '@vitest/browser-playwright'
import { defineConfig } from 'vitest/config'
import { chromiumPath } from './scripts/chromium.ts'

const WATCH_FILE = 'scripts/test-setup/watch-file.ts'
const LIMIT_PROPERTIES = 'scripts/test-setup/limit-properties.ts'

export default defineConfig({
  test: {
    // Tests wait a good deal for what they started: one more than there are cores keeps them busy.
    maxWorkers: availableParallelism() + 1,
    projects: [
      {
        test: {
          name: 'node',
          include: [
            'packages/*/src/**/*.test.ts',
            'apps/*/src/**/*.test.ts',
            'testbed/src/**/*.test.ts',
            'contracts/**/*.test.ts',
          ],
          isolate: false,
          setupFiles: [WATCH_FILE, LIMIT_PROPERTIES],
          testTimeout: 30_000,
          hookTimeout: 60_000,
          expect: { poll: { timeout: 20_000 } },
        },
      },
      {
        test: {
          name: 'acceptance',
          include: ['acceptance/**/*.test.ts'],
          isolate: false,
          setupFiles: [WATCH_FILE],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['packages/protocol/src/**/*.test.ts', 'packages/verifier/src/**/*.test.ts'],
          exclude: ['**/*.node.test.ts'],
          setupFiles: [LIMIT_PROPERTIES],
          testTimeout: 120_000,
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({
              launchOptions: {
                executablePath: chromiumPath(),
                args: [
                  '--no-sandbox',
                  '--disable-gpu',
                  '--disable-background-networking',
                  '--disable-component-update',
                ],
              },
            }),
            instances: [{ browser: 'chromium' }],
          },
        },
      },
    ],
  },
})
