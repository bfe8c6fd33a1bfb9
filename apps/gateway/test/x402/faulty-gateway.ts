// For tests: a gateway that takes signed payments through nodes that fail as told.

import { type FaultyNode, honestly, startFaultyNode } from '@svc/devnet/faulty-node'
import { type LocalChains, startLocalChains } from '@svc/devnet/local-chains'
import type { Variables } from '@svc/http-service/config'
import { startTestGateway } from '@svc/testbed/gateway'
import type { PaymentPayload } from '@x402/core/types'
import { expect } from 'vitest'
import type { Overrides } from '../../src/context.ts'
import type { Gateway } from '../../src/gateway.ts'
import { expectError, type Reply } from '../purchases/market.ts'
import {
  encoded,
  FAMILIES,
  type Family,
  responseIn,
  type SignedHeader,
  signFor,
  treasuryUsdc,
  walletOn,
} from './x402-gateway.ts'

/** What chains call it to send a payment, to look at one, and what is asked of them before one is sent. */
export const SEND = { primary: 'sendTransaction', evm: 'eth_sendRawTransaction' }
export const READ = { primary: 'getTransaction', evm: 'eth_getTransactionReceipt' }
export const TRY = {
  primary: ['simulateTransaction', 'getAccountInfo', 'getBlockHeight'],
  evm: ['eth_call', 'eth_getCode', 'eth_estimateGas', 'eth_getTransactionCount'],
}

/** What tells the chain of a node, and what a node of another chain answers. */
export const CHAIN = {
  primary: { method: 'getGenesisHash', other: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG' },
  evm: { method: 'eth_chainId', other: '0x1' },
}

/** Of a node that takes a transaction and forgets it. */
export const TAKEN = {
  primary: `{"jsonrpc":"2.0","id":1,"result":"${'1'.repeat(64)}"}`,
  evm: `{"jsonrpc":"2.0","id":1,"result":"0x${'00'.repeat(32)}"}`,
}

export interface FaultyShop {
  chains: LocalChains
  nodes: Record<Family, FaultyNode>
  gateway: Gateway
  /** Another gateway behind the same nodes. */
  open(variables: Variables, overrides?: Overrides): Promise<Gateway>
  sign(family: Family): Promise<SignedHeader>
  /** By the same wallet, for the same quote, another signature. */
  signAgain(family: Family, payload: PaymentPayload): Promise<string>
  /** How much the treasury has got since it held that much. */
  paidSince(family: Family, before: bigint): Promise<bigint>
  /** Nodes tell the truth again. */
  calm(): void
  stop(): Promise<void>
}

/** It does not wait for a chain: what is not there at once is pending. */
export async function openFaultyShop(): Promise<FaultyShop> {
  const chains = await startLocalChains({ finalAtOnce: true })
  const nodes = { primary: await startFaultyNode(chains.primary.url), evm: await startFaultyNode(chains.evm.url) }
  const urls = { PRIMARY_RPC_URLS: nodes.primary.url, EVM_RPC_URLS: nodes.evm.url }
  const open = (variables: Variables, overrides?: Overrides) =>
    startTestGateway({ ...chains.variables, ...urls, X402_WAIT_SECONDS: '0', ...variables }, overrides)
  const gateway = await open({})
  return {
    chains,
    nodes,
    gateway,
    open,
    sign: async (family) => signFor(await walletOn(family, chains), gateway.url),
    async signAgain(family, { accepted, resource }) {
      const client = await walletOn(family, chains)
      const required = { x402Version: 2, resource: resource!, accepts: [accepted] }
      return encoded(await client.createPaymentPayload(required))
    },
    paidSince: async (family, before) => (await treasuryUsdc(family, chains)) - before,
    calm() {
      for (const family of FAMILIES) nodes[family].behave(honestly)
    },
    async stop() {
      await gateway.stop()
      for (const family of FAMILIES) await nodes[family].stop()
      await chains.stop()
    },
  }
}

/** The transaction that was sent. */
export function expectPending(reply: Reply<unknown>): string {
  expectError(reply, 503, 'chain_unavailable')
  const { errorReason, success, transaction } = responseIn(reply.headers)
  expect([success, errorReason]).toEqual([false, 'settlement_pending'])
  expect(reply.body).toMatchObject({ details: { reason: 'settlement_pending', transaction } })
  expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
  return transaction
}
