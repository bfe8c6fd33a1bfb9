// One primary chain in its own process.

import { startPrimaryChain } from './start.ts'

const { DEV_PRIMARY_RPC_PORT = '8899', DEV_PRIMARY_STATE_FILE } = process.env

const port = Number(DEV_PRIMARY_RPC_PORT)
const { url, stop } = await startPrimaryChain({
  port,
  landing: 'at once',
  ...(port !== 0 && { webSocketPort: port + 1 }),
  ...(DEV_PRIMARY_STATE_FILE && { stateFile: DEV_PRIMARY_STATE_FILE }),
})
console.log(`Local primary chain at ${url}`)

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop())
