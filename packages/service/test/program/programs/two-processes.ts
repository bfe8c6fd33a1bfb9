// `node two-processes.ts <program> [port]`: two processes of a program beside this one, until they are stopped.

import { createLog } from '../../../src/program/log.ts'
import { startProcesses } from '../../../src/program/processes.ts'
import { runUntilStopped } from '../../../src/program/run.ts'

const program = new URL(process.argv[2] ?? '', import.meta.url)
const address = { host: '127.0.0.1', port: Number(process.argv[3] ?? 0) }
await runUntilStopped(() => startProcesses({ program, count: 2, address, log: createLog('info') }))
