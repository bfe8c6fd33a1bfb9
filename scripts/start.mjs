// `npm start` on Node 20 or newer. One process runs both steps, because each additional npm script takes a fifth of a
// second.

import { launch } from './launch.mjs'
import { prepare } from './prepare.mjs'

prepare({ toRun: true })
await launch(new URL('../packages/devnet/src/services/start.ts', import.meta.url))
