// For tests: a local chain, a node in front of it that can be made to fail, and accounts.

import { randomBytes } from 'node:crypto'
import { EVM } from '@svc/api/networks'
import { FINALITY_DEPTH } from '@svc/devnet/evm-chain/chain'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { connectAs, type DevClient } from '@svc/devnet/evm-chain/dev-client'
import { startEvmChain } from '@svc/devnet/evm-chain/start'
import { type FaultyNode, honestly, startFaultyNode } from '@svc/devnet/faulty-node'
import { formatEther, parseEther, toHex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { createEvmAccount, type EvmAccount } from '../../src/evm/account.ts'

/** The balance of a new key, in wei. */
export const FUNDS = parseEther('10')

export interface TestChain {
  /** The URL of the chain itself. */
  url: string
  node: FaultyNode
  /** Controls the chain, and has coins. */
  dev: DevClient
  /** A new key that has `FUNDS`. */
  fundedKey(): Promise<Uint8Array>
  /** Queries through the node. */
  open(key: Uint8Array): EvmAccount
  /** Queries through the node, and another one that is behind the chain by more blocks than finality takes. */
  openWithLag(key: Uint8Array): Promise<EvmAccount>
  calm(): void
  /** Mines what was sent, and makes it final. */
  settle(): Promise<void>
  stop(): Promise<void>
}

export async function startTestChain(): Promise<TestChain> {
  const chain = await startEvmChain({ port: 0 })
  const node = await startFaultyNode(chain.url)
  const dev = connectAs(DEV_PAYERS[0]!, chain.url)
  return {
    url: chain.url,
    node,
    dev,
    async fundedKey() {
      const key = randomBytes(32)
      await dev.faucet(privateKeyToAddress(toHex(key)), 'MON', formatEther(FUNDS))
      return key
    },
    open: (key) => createEvmAccount(EVM, [node.url], key),
    async openWithLag(key) {
      const { url } = await chain.startNode({ behind: 2 * FINALITY_DEPTH })
      return createEvmAccount(EVM, [node.url, url], key)
    },
    calm: () => node.behave(honestly),
    settle: chain.chain.settle,
    async stop() {
      await node.stop()
      await chain.stop()
    },
  }
}

/** The answer of a node that accepts a transaction and drops it. */
export const TAKEN = `{"jsonrpc":"2.0","id":1,"result":"0x${'00'.repeat(32)}"}`
export const OUT_OF_ORDER = 'out of order'
