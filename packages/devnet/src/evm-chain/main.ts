// One EVM chain in its own process.

import { join } from 'node:path'
import { EVM } from '@svc/api/networks'
import { DEV_PAYERS, DEV_TREASURY } from './dev-accounts.ts'
import { startEvmChain } from './start.ts'

const { DEV_EVM_RPC_PORT, DATA_DIR } = process.env
const running = await startEvmChain({
  port: Number(DEV_EVM_RPC_PORT ?? 8545),
  landing: 'at once',
  ...(DATA_DIR ? { stateFile: join(DATA_DIR, 'evm-chain.jsonl') } : {}),
})
console.log(`EVM chain ${EVM.chainId} on ${running.url}${DATA_DIR ? `, kept in ${DATA_DIR}` : ', in memory only'}`)
console.log(`treasury ${DEV_TREASURY.address}`)
for (const { address, privateKey } of DEV_PAYERS) console.log(`payer    ${address}  key ${privateKey}`)

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void running.stop())
