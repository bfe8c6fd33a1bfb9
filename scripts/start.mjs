// `npm start`, on any Node from 20 on. One process for both steps: each script that npm runs before costs a fifth of a
// second.

import { launch } from './launch.mjs'
import { prepare } from './prepare.mjs'

prepare({ toRun: true })
await launch(new URL('../packages/devnet/src/services/start.ts', import.meta.url))
