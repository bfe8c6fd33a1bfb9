// x402's exact scheme on the EVM chain: the payer signs an EIP-3009 authorization, the gateway sends the transaction
// that uses it.

import { setTimeout as pause } from 'node:timers/promises'
import type { EvmPayload } from '@svc/api/x402'
import { mutex } from '@svc/concurrency/locks'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import { type Abi, type Address, concat, encodeFunctionData, type Hex, stringToHex } from 'viem'
import { Reverted } from '../evm/trouble.ts'
import { createEvmNode, type EvmNode } from './evm-node.ts'
import { type Refusal, Refused, runFacilitator, type SettlementOrder, type Settler } from './settler.ts'

const MAX_TRIES = 10
const PAUSE_MS = 50

export function createEvmSettler({ rpcUrls, key }: { rpcUrls: readonly string[]; key: Uint8Array }): Settler {
  const node = createEvmNode(rpcUrls, key)
  // One at a time, so that no two transactions take the same number.
  const sending = mutex()

  /** A number that another gateway with this key took first costs one more try, never a second payment. */
  async function send({ note }: SettlementOrder, to: Address, data: Hex): Promise<Hex> {
    const [costs, height] = await Promise.all([node.costs({ to, data }), node.height()])
    const done = await sending.acquire()
    try {
      let replacing: string | undefined
      for (let tries = 1; ; tries++) {
        const signed = await node.sign({ to, data, ...costs })
        if (!(await note({ ...signed, height }, replacing))) return signed.tx
        if ((await node.send(signed.raw)) !== 'number_taken' || tries === MAX_TRIES) return signed.tx
        replacing = signed.tx
        await pause(Math.random() * PAUSE_MS * tries)
      }
    } finally {
      done()
    }
  }

  return {
    feePayer: null,
    paymentId(payload) {
      if (!('authorization' in payload)) return null
      const { from, nonce } = payload.authorization
      return `${from}:${nonce}`.toLowerCase()
    },
    settle: (order) => settleWith(node, send, order),
    async resend({ raw }) {
      await node.send(raw as Hex)
    },
    async fate({ payment_id, raw, height }, leg, hasFailed) {
      const [from, nonce] = payment_id.split(':') as [Address, Hex]
      const authorization = { token: leg.asset as Address, from, nonce }
      if (await node.isUsed(authorization)) return node.findUse(authorization, height)
      return !hasFailed && (await node.canStillCome(raw as Hex)) ? 'may_come' : 'never'
    },
  }
}

type Send = (order: SettlementOrder, to: Address, data: Hex) => Promise<Hex>

async function settleWith(node: EvmNode, send: Send, order: SettlementOrder): Promise<Refusal | null> {
  let refusal: Refusal | null = null
  let failure: unknown = null
  /** The facilitator would take what goes wrong here for a fault of the payment, and would go on asking. */
  async function noting<T>(work: () => Promise<T>): Promise<T> {
    if (refusal) throw new Refused(refusal)
    try {
      return await work()
    } catch (error) {
      if (error instanceof Refused) refusal = error.refusal
      else if (!(error instanceof Reverted)) failure = error
      throw error
    }
  }
  const { authorization } = order.payload as EvmPayload // by its id, which was taken
  const scheme = new ExactEvmScheme(
    {
      getAddresses: () => [node.address],
      readContract: (call) => noting(() => node.readContract(call)),
      // The library starts this and does not always wait for it: a rejection would end the process.
      getCode: ({ address }) => noting(() => node.code(address, authorization.from)).catch(() => undefined),
      // The calldata names the quote, so that nobody else can confirm this transaction for one of his own (ADD-03).
      writeContract: ({ address, abi, functionName, args }) =>
        noting(() => {
          const call = encodeFunctionData({ abi: abi as Abi, functionName, args: [...args] })
          return send(order, address, concat([call, stringToHex(order.leg.extra.pay_req_id)]))
        }),
      // Our own reader waits: it asks every node, for as many confirmations as are configured.
      waitForTransactionReceipt: async () => ({ status: 'success' }),
      verifyTypedData: notNeeded,
      sendTransaction: notNeeded,
    },
    { simulateInSettle: true },
  )
  const objection = await runFacilitator(scheme, order)
  if (failure) throw failure
  return refusal ?? objection
}

async function notNeeded(): Promise<never> {
  throw new Error('EIP-3009 does not need this')
}
