// Runs before each test file. A test's own time limit needs its process to reach its timers; a busy loop never does, so
// a thread watches the whole file.

import { afterAll, expect } from 'vitest'
import { watch } from './watch.ts'
// Imported once for all test files of a process.
import './compare-bytes.ts'

/** Many times the duration of the longest file. */
const LIMIT_MS = 10 * 60_000

// `npm run fuzz` gives each property its own time, and each of its cases is watched.
if (!process.env.SVC_FUZZ_SECONDS) watch({ file: expect.getState().testPath ?? 'a test file', limitMs: LIMIT_MS })
afterAll(() => watch(null))
