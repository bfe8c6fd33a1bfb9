// A gateway whose clock is fixed at the time given as argument. Prints its URL. With `anchor-log` it then publishes
// the newest checkpoint of its log.

import { writeSync } from 'node:fs'
import { readConfig } from '../../../src/config.ts'
import { startGateway } from '../../../src/gateway.ts'
import { LOG_ANCHORS } from '../../../src/publication/log-anchors/anchor-log.ts'
import { watch } from '../../../src/publication/publisher.ts'

const { config, secrets } = readConfig(process.env)
const [time, task] = process.argv.slice(2)
const now = Number(time)
const { url, context } = await startGateway(config, secrets, { now: () => now })
writeSync(1, `${url}\n`)
if (task === 'anchor-log') await watch(context, LOG_ANCHORS)
