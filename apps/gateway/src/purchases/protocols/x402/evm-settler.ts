// x402's exact scheme on EVM chains: the payer signs an EIP-3009 authorization, and the gateway sends the transaction
// that uses it.

import { setTimeout as pause } from 'node:timers/promises'
import type { EvmNetwork } from '@svc/api/networks'
import type { EvmPayload, SvmPayload, X402Leg } from '@svc/api/x402'
import { mutex } from '@svc/concurrency/locks'
import { maxFeeGwei } from '@svc/payments/evm/account'
import { authorizationId, readAuthorizationId } from '@svc/payments/evm/authorizations'
import { Reverted } from '@svc/payments/evm/errors'
import type { ChainNodes } from '@svc/payments/family'
import { recordAndSend } from '@svc/payments/transactions'
import { paymentReference } from '@svc/protocol/ids'
import { authorizationTypes } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/facilitator'
import {
  type Abi,
  type Address,
  concat,
  encodeFunctionData,
  type Hex,
  parseTransaction,
  recoverTypedDataAddress,
  slice,
  stringToHex,
} from 'viem'
import { createEvmChain, type EvmChain } from './evm-chain.ts'
import { type Refusal, Refused, runFacilitator, type SettlementOrder, type Settler } from './settler.ts'

const MAX_ATTEMPTS = 10
const PAUSE_MS = 50

export function createEvmSettler(network: EvmNetwork, nodes: ChainNodes, key: Uint8Array): Settler {
  const chain = createEvmChain(network, nodes, key)
  // One at a time, so that no two transactions use the same nonce.
  const sending = mutex()

  /** Signs again when another gateway with this key used the nonce. The authorization still pays only once. */
  async function send({ record, payload }: SettlementOrder, to: Address, data: Hex): Promise<Hex> {
    const payer = (payload as EvmPayload).authorization.from.toLowerCase() // validated by `paymentId`
    const [costs, height] = await Promise.all([chain.costs({ to, data }), chain.height()])
    const done = await sending.acquire()
    try {
      let replacing: string | undefined
      for (let attempt = 1; ; attempt++) {
        const signed = await chain.sign({ to, data, ...costs })
        const result = await recordAndSend(signed, {
          record: ({ tx, raw }) => record({ tx, raw, height, payer, maxFee: maxFeeGwei(raw) }, replacing),
          send: ({ raw }) => chain.send(raw),
        })
        if (result?.sent !== 'nonce_taken' || attempt === MAX_ATTEMPTS) return signed.tx
        replacing = signed.tx
        await pause(Math.random() * PAUSE_MS * attempt)
      }
    } finally {
      done()
    }
  }

  return {
    feePayer: null,
    paymentId(payload) {
      if (!('authorization' in payload)) return null
      return authorizationId(payload.authorization)
    },
    signer: signerOf,
    async isUnsent(payload, leg) {
      if (!('authorization' in payload)) return false
      const isOver = BigInt(payload.authorization.validBefore) <= BigInt(Math.floor(Date.now() / 1000))
      return isForLeg(payload, leg) && !isOver && !(await chain.isUsed(leg.asset, payload.authorization))
    },
    async findUse(payload, leg, since) {
      if (!('authorization' in payload) || !isForLeg(payload, leg)) return null
      const { authorization } = payload
      if ((await signerOf(payload, leg)) !== authorization.from.toLowerCase()) return null
      if (!(await chain.isUsed(leg.asset, authorization))) return null
      const found = await chain.findUse(leg.asset, authorization, await chain.heightAt(since))
      return { tx: found.outcome === 'landed' ? found.tx : null }
    },
    // Check payer and leg first; otherwise unauthenticated callers could cause unlimited reads (T-10).
    async findPayments(payload, leg, since) {
      if (!('authorization' in payload) || !isForLeg(payload, leg)) return []
      const { from } = payload.authorization
      if ((await signerOf(payload, leg)) !== from.toLowerCase()) return []
      const paid = { from, to: leg.payTo, amount: BigInt(leg.amount) }
      return chain.transfers(leg.asset, paid, await chain.heightAt(since))
    },
    settle: (order) => settleWith(chain, send, order),
    async resend({ raw }) {
      await chain.send(raw as Hex)
    },
    async outcome({ payment_id, raw, height, searched_to }, leg, hasFailed) {
      const authorization = readAuthorizationId(payment_id)
      const isAlive = !hasFailed && (await chain.canStillLand(raw as Hex))
      const final = await chain.finalized()
      if (await chain.isUsed(leg.asset, authorization))
        return chain.findUse(leg.asset, authorization, searched_to ?? height)
      if (isAlive) return { outcome: 'pending' }
      const until = validBefore(raw as Hex)
      if (final.time < until) return { outcome: 'open', until, hasFailed }
      // An authorization that is unused after its last block stays unused. A node's newest block may be older.
      if (await chain.isUsed(leg.asset, authorization, final.height)) return { outcome: 'pending' }
      return { outcome: hasFailed ? 'failed' : 'expired' }
    },
  }
}

/** The last second of the year 9999. */
const NEVER_EXPIRES = 253_402_300_799

/** The fifth argument of the call; each argument has 32 bytes. */
function validBefore(raw: Hex): number {
  const { data = '0x' } = parseTransaction(raw)
  return Math.min(Number(BigInt(slice(data, 4 + 4 * 32, 4 + 5 * 32))), NEVER_EXPIRES)
}

function isForLeg({ authorization: { to, value } }: EvmPayload, { payTo, amount }: X402Leg): boolean {
  return to.toLowerCase() === payTo.toLowerCase() && BigInt(value) === BigInt(amount)
}

async function signerOf(payload: EvmPayload | SvmPayload, { network, asset, extra }: X402Leg): Promise<string | null> {
  if (!('authorization' in payload)) return null
  const { from, to, value, validAfter, validBefore, nonce } = payload.authorization
  try {
    const signer = await recoverTypedDataAddress({
      domain: {
        name: extra.name,
        version: extra.version as string, // every signable leg has a version
        chainId: Number(network.split(':')[1]),
        verifyingContract: asset as Address,
      },
      types: authorizationTypes,
      primaryType: 'TransferWithAuthorization',
      message: {
        from: from as Address,
        to: to as Address,
        value: BigInt(value),
        validAfter: BigInt(validAfter),
        validBefore: BigInt(validBefore),
        nonce: nonce as Hex,
      },
      signature: payload.signature as Hex,
    })
    return signer.toLowerCase()
  } catch {
    // Not a signature of a key.
    return null
  }
}

/** An error of the facilitator. */
const NONCE_USED = 'invalid_exact_evm_nonce_already_used'

type Send = (order: SettlementOrder, to: Address, data: Hex) => Promise<Hex>

async function settleWith(chain: EvmChain, send: Send, order: SettlementOrder): Promise<Refusal | null> {
  let refusal: Refusal | null = null
  let failure: unknown = null
  /** Preserves our errors: the facilitator would blame the payment and continue. */
  async function keepingErrors<T>(work: () => Promise<T>): Promise<T> {
    if (refusal) throw new Refused(refusal)
    try {
      return await work()
    } catch (error) {
      if (error instanceof Refused) refusal = error.refusal
      else if (!(error instanceof Reverted)) failure = error
      throw error
    }
  }
  const { authorization } = order.payload as EvmPayload // validated by `paymentId`
  const scheme = new ExactEvmScheme(
    {
      getAddresses: () => [chain.address],
      readContract: (call) => keepingErrors(() => chain.readContract(call)),
      // The library does not always await this: a rejection would end the process.
      getCode: ({ address }) => keepingErrors(() => chain.code(address, authorization.from)).catch(() => undefined),
      // The calldata names the quote, so that the transaction cannot be confirmed for another quote (ADD-03).
      writeContract: ({ address, abi, functionName, args }) =>
        keepingErrors(() => {
          const call = encodeFunctionData({ abi: abi as Abi, functionName, args: [...args] })
          return send(order, address, concat([call, stringToHex(paymentReference(order.leg.extra.pay_req_id))]))
        }),
      // Our payment reader waits instead: it queries every node for the configured number of confirmations.
      waitForTransactionReceipt: async () => ({ status: 'success' }),
      verifyTypedData: notNeeded,
      sendTransaction: notNeeded,
    },
    { simulateInSettle: true },
  )
  const objection = await runFacilitator(scheme, order)
  if (failure) throw failure
  if (objection?.why === 'invalid' && objection.reason === NONCE_USED) return { why: 'used', reason: NONCE_USED }
  return refusal ?? (objection && (await fundsRefusal(chain, order))) ?? objection
}

/** The facilitator reports a low balance only for tokens with a known error message. */
async function fundsRefusal(chain: EvmChain, { leg, payload }: SettlementOrder): Promise<Refusal | null> {
  const payer = (payload as EvmPayload).authorization.from // validated by `paymentId`
  try {
    const available = await chain.balance(leg.asset, payer)
    return available < BigInt(leg.amount) ? { why: 'insufficient_funds', payer, available } : null
  } catch (error) {
    if (error instanceof Refused) return null
    throw error
  }
}

async function notNeeded(): Promise<never> {
  throw new Error('EIP-3009 does not need this')
}
