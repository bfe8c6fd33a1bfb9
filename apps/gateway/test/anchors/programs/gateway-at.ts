// A gateway whose clock stands still at the time given as argument. Prints its URL.

import { writeSync } from 'node:fs'
import { readConfig } from '../../../src/config.ts'
import { startGateway } from '../../../src/gateway.ts'

const { config, secrets } = readConfig(process.env)
const now = Number(process.argv[2])
const { url } = await startGateway(config, secrets, { now: () => now })
writeSync(1, `${url}\n`)
