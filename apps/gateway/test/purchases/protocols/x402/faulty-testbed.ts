// Starts a gateway that accepts signed payments and uses faulty nodes.

import type { X402Purchase } from '@svc/api/x402'
import { type FaultyNode, honestly, startFaultyNode } from '@svc/devnet/faulty-node'
import { type LocalChains, startLocalChains } from '@svc/devnet/local-chains'
import type { NodeFaults } from '@svc/devnet/node-faults'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { expectError } from '@svc/devnet/services/market'
import type { Reply } from '@svc/devnet/services/test-gateway'
import type { Variables } from '@svc/service/program/config'
import type { PaymentPayload } from '@x402/core/types'
import { expect } from 'vitest'
import type { Overrides } from '../../../../src/context.ts'
import type { Gateway } from '../../../../src/gateway.ts'
import {
  encoded,
  FAMILIES,
  type Family,
  pay,
  responseIn,
  type SignedHeader,
  signFor,
  treasuryUsdc,
  walletOn,
} from './x402-testbed.ts'

/** The methods that send a payment, read one, and prepare one. */
export const SEND = { primary: 'sendTransaction', evm: 'eth_sendRawTransaction' }
export const READ = { primary: 'getTransaction', evm: 'eth_getTransactionReceipt' }
export const PREPARE = {
  primary: ['simulateTransaction', 'getAccountInfo', 'getBlockHeight'],
  evm: ['eth_call', 'eth_getCode', 'eth_estimateGas', 'eth_getTransactionCount'],
}

/** The method that identifies the chain of a node, and the answer of another chain. */
export const CHAIN = {
  primary: { method: 'getGenesisHash', other: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG' },
  evm: { method: 'eth_chainId', other: '0x1' },
}

/** The answer of a node that accepts a transaction and drops it. */
export const TAKEN = {
  primary: `{"jsonrpc":"2.0","id":1,"result":"${'1'.repeat(64)}"}`,
  evm: `{"jsonrpc":"2.0","id":1,"result":"0x${'00'.repeat(32)}"}`,
}

export interface FaultyTestbed {
  chains: LocalChains
  nodes: Record<Family, FaultyNode>
  /** Adds faults to the node. Its `eth_getLogs` always has the block range of public nodes. */
  fail(family: Family, faults: NodeFaults): void
  gateway: Gateway
  /** Starts another gateway behind the same nodes. */
  open(variables: Variables, overrides?: Overrides): Promise<Gateway>
  sign(family: Family): Promise<SignedHeader>
  /** Signs again with the same wallet for the same quote. */
  signAgain(family: Family, payload: PaymentPayload): Promise<string>
  /** The amount that the treasury has received since its balance was `before`. */
  paidSince(family: Family, before: bigint): Promise<bigint>
  /** Ends the faults of the nodes. */
  calm(): void
  stop(): Promise<void>
}

const PUBLIC_NODE = { logBlocks: 100 }

/** Starts the testbed. Its gateway does not wait: a payment that does not land immediately is pending. */
export async function startFaultyTestbed(): Promise<FaultyTestbed> {
  const chains = await startLocalChains()
  const local = { primary: await chains.primary.startNode(), evm: await chains.evm.startNode(PUBLIC_NODE) }
  const fail = (family: Family, faults: NodeFaults) => local[family].behave({ ...PUBLIC_NODE, ...faults })
  const nodes = { primary: await startFaultyNode(local.primary.url), evm: await startFaultyNode(local.evm.url) }
  const urls = { PRIMARY_RPC_URLS: nodes.primary.url, EVM_RPC_URLS: nodes.evm.url }
  const open = (variables: Variables, overrides?: Overrides) =>
    startTestGateway({ ...chains.variables, ...urls, CHAIN_WAIT_SECONDS: 'x402=0', ...variables }, overrides)
  const gateway = await open({})
  return {
    chains,
    nodes,
    fail,
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
      for (const family of FAMILIES) {
        nodes[family].behave(honestly)
        fail(family, {})
      }
    },
    async stop() {
      await gateway.stop()
      for (const family of FAMILIES) await nodes[family].stop()
      await chains.stop()
    },
  }
}

/** Repeats a payment while it is pending, as its answer asks for. */
export async function payUntilSettled(url: string, text: string): Promise<Reply<X402Purchase>> {
  for (let attempt = 1; ; attempt++) {
    const reply = await pay(url, text)
    const { details } = reply.body as { details?: { reason?: string } } // the body of an error
    if (details?.reason !== 'settlement_pending' || attempt === 10) return reply
  }
}

/** Expects the answer to a pending payment; returns its transaction. */
export function expectPending(reply: Reply<unknown>): string {
  expectError(reply, 503, 'chain_unavailable')
  const { errorReason, success, transaction } = responseIn(reply.headers)
  expect([success, errorReason]).toEqual([false, 'settlement_pending'])
  expect(reply.body).toMatchObject({ details: { reason: 'settlement_pending', transaction } })
  expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
  return transaction
}
