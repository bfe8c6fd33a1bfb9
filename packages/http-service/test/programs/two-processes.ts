// `node two-processes.ts <program>`: two processes of a program beside this one, until they are stopped.

import { createLog } from '../../src/log.ts'
import { startProcesses } from '../../src/processes.ts'
import { runUntilStopped } from '../../src/run.ts'

const program = new URL(process.argv[2] ?? '', import.meta.url)
await runUntilStopped(() => startProcesses({ program, count: 2, log: createLog('info') }))
