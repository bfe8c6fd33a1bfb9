// One primary chain in a process of its own.

import { startPrimaryChain } from './start.ts'

const { DEV_PRIMARY_RPC_PORT = '8899', DEV_PRIMARY_STATE_FILE } = process.env

const { url, stop } = await startPrimaryChain({
  port: Number(DEV_PRIMARY_RPC_PORT),
  ...(DEV_PRIMARY_STATE_FILE && { stateFile: DEV_PRIMARY_STATE_FILE }),
})
console.log(`Local primary chain at ${url}`)

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop())
