// A gateway and an agent service on one event loop. Sends their addresses to its parent, and answers each message with
// the milliseconds of processor time that the loop has used since the start. Other programs' time does not count.

import { setImmediate } from 'node:timers/promises'
import { freePort } from '@svc/devnet/free-port'
import { startTestAgent } from '@svc/devnet/services/agent'
import { startTestGateway } from '@svc/devnet/services/gateway'

const gateway = await startTestGateway({ INTERNAL_SECRET: 'known-to-the-operator-only' })
const agent = await startTestAgent({ GATEWAY_URL: gateway.url, PORT: String(await freePort()) })

process.on('message', async () => {
  await setImmediate()
  const { user, system } = process.threadCpuUsage()
  process.send?.((user + system) / 1000)
})
process.send?.({ gateway: gateway.url, agent: agent.url })
