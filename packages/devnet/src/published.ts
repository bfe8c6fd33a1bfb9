// What a transaction on the local chains makes public.

import type { LocalChains } from './local-chains.ts'
import { call } from './primary-chain/dev-client.ts'

/** The bytes of a transaction that was sent, or its calldata on the EVM chain, one character each. */
export async function publishedBy({ primary, evm, settle }: LocalChains, tx: string): Promise<string> {
  await settle()
  if (tx.startsWith('0x')) {
    const { result } = await call(evm.url, 'eth_getTransactionByHash', [tx])
    return Buffer.from((result as { input: string }).input.slice(2), 'hex').toString('latin1')
  }
  const options = { encoding: 'base64', maxSupportedTransactionVersion: 0 }
  const { result } = await call(primary.url, 'getTransaction', [tx, options])
  return Buffer.from((result as { transaction: [string] }).transaction[0], 'base64').toString('latin1')
}
