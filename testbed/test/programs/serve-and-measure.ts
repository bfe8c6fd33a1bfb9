// A gateway and an agent service on one event loop. Sends their addresses to its parent, and answers its messages in
// milliseconds of processor time: what the loop has used since the start, or how long the same work takes it now. What
// other programs use does not count.

import { setImmediate } from 'node:timers/promises'
import { freePort } from '@svc/devnet/free-port'
import { parseStrictJson } from '@svc/protocol/strict-json'
import { startTestAgent } from '../../src/agent.ts'
import { startTestGateway } from '../../src/gateway.ts'

const gateway = await startTestGateway({ INTERNAL_SECRET: 'known-to-the-operator-only' })
const agent = await startTestAgent({ GATEWAY_URL: gateway.url, PORT: String(await freePort()) })

function workedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

const SAMPLE = JSON.stringify(Array.from({ length: 2_000 }, (_, i) => ({ name: `file ${i}`, size: i })))

function paceMs(): number {
  const before = workedMs()
  for (let i = 0; i < 20; i++) parseStrictJson(SAMPLE, SAMPLE.length)
  return workedMs() - before
}

process.on('message', async (what) => {
  await setImmediate()
  process.send?.(what === 'pace' ? paceMs() : workedMs())
})
process.send?.({ gateway: gateway.url, agent: agent.url })
