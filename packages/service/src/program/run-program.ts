// `node run-program.ts <program> [<bundle>]`: one of several processes of a service. See processes.ts.

import { importProgram } from './bundle.ts'
import type { Runnable } from './processes.ts'

const [program = '', bundle = null] = process.argv.slice(2)
const { run } = await importProgram<Runnable>(new URL(program), bundle)
await run()
