// x402's exact scheme on chains of the Solana family: the payer signs a token transfer, and the gateway adds its
// signature as fee payer and sends it.

import { hash } from 'node:crypto'
import {
  type Address,
  address,
  getBase64EncodedWireTransaction,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type SignatureBytes,
} from '@solana/kit'
import type { SolanaNetwork } from '@svc/api/networks'
import type { SvmPayload, X402Leg } from '@svc/api/x402'
import type { ChainNodes } from '@svc/payments/family'
import { recordAndSend } from '@svc/payments/transactions'
import { MEMO_PROGRAMS } from '@svc/protocol/anchor'
import { toBase58 } from '@svc/protocol/bytes'
import { ed25519PublicKeyFromBase58, ed25519Signer } from '@svc/protocol/keys'
import { ExactSvmScheme } from '@x402/svm/exact/facilitator'
import {
  passesFacilitator,
  type Refusal,
  Refused,
  runFacilitator,
  type SettlementOrder,
  type Settler,
} from './settler.ts'
import { createSolanaChain } from './solana-chain.ts'

/** Limits the cost that a payer can cause: at most 20,000 lamports besides the fee for two signatures. */
const LIMITS = { maxPriorityFeeMicroLamports: 50_000, maxComputeUnits: 400_000, maxRequiredSignatures: 2 }
const MAX_FEE = 30_000

export function createSolanaSettler(network: SolanaNetwork, nodes: ChainNodes, seed: Uint8Array): Settler {
  const key = ed25519Signer(seed)
  const feePayer = address(toBase58(key.publicKey))
  const chain = createSolanaChain(network, nodes)

  /** Call it only for a checked transaction: with our signature, it can spend our coins. */
  function sign(transaction: string): { tx: string; raw: string } {
    const decoded = getTransactionDecoder().decode(Buffer.from(transaction, 'base64'))
    const signature = key.sign(new Uint8Array(decoded.messageBytes)) as SignatureBytes // 64 bytes
    const signatures = { ...decoded.signatures, [feePayer]: signature }
    return { tx: toBase58(signature), raw: getBase64EncodedWireTransaction({ ...decoded, signatures }) }
  }

  return {
    feePayer,
    paymentId(payload) {
      const decoded = 'transaction' in payload ? decode(payload.transaction) : null
      return decoded && hash('sha256', decoded.messageBytes)
    },
    async signer(payload) {
      const decoded = 'transaction' in payload ? decode(payload.transaction) : null
      const owner = decoded?.transfer[OWNER]
      const signature = owner && decoded.signatures[owner]
      const isSigned = signature && ed25519PublicKeyFromBase58(owner)?.verify(decoded.messageBytes, signature)
      return isSigned ? owner : null
    },
    async isUnsent(payload, { extra }) {
      const decoded = 'transaction' in payload ? decode(payload.transaction) : null
      // Each quote has its own memo.
      return extra.memo !== undefined && decoded?.memos.includes(extra.memo) === true
    },
    async settle(order) {
      const { transaction } = order.payload as SvmPayload // validated by `paymentId`
      if (decode(transaction)?.usesFeePayer) return { why: 'invalid', reason: 'fee_payer_in_instruction' }
      return settleChecked(order, transaction)
    },
    async findUse(payload, leg) {
      // Our signature is the transaction's id and becomes known to nodes: sign only what will be sent.
      if (!('transaction' in payload) || !(await isSound(payload, leg))) return null
      const { tx } = sign(payload.transaction)
      return (await chain.isOnChain(tx)) ? { tx } : null
    },
    async findPayments(payload, { extra }) {
      if (!('transaction' in payload) || extra.memo === undefined) return []
      return chain.withMemo(sourceOf(payload.transaction).account, extra.memo)
    },
    resend: ({ raw }) => chain.send(raw),
    async outcome({ tx, height }, _leg, hasFailed) {
      if (hasFailed) return { outcome: 'failed' }
      return { outcome: (await chain.hasExpired(tx, height)) ? 'expired' : 'pending' }
    },
  }

  /** Whether it may be signed, whatever a simulation reports: a transaction that landed fails in the simulation. */
  async function isSound(payload: SvmPayload, leg: X402Leg): Promise<boolean> {
    if (decode(payload.transaction)?.usesFeePayer !== false) return false
    const scheme = new ExactSvmScheme(
      {
        getAddresses: () => [feePayer],
        simulateTransaction: async () => {},
        signTransaction: notNeeded,
        sendTransaction: notNeeded,
        confirmTransaction: notNeeded,
      },
      undefined,
      LIMITS,
    )
    return passesFacilitator(scheme, { leg, payload })
  }

  async function settleChecked(order: SettlementOrder, transaction: string): Promise<Refusal | null> {
    let refusal: Refusal | null = null
    let failure: unknown = null
    const scheme = new ExactSvmScheme(
      {
        getAddresses: () => [feePayer],
        signTransaction: async (unsigned) => sign(unsigned).raw,
        async simulateTransaction(unsigned) {
          refusal = await chain.objection(unsigned, { ...sourceOf(unsigned), amount: BigInt(order.leg.amount) })
          if (refusal) throw new Refused(refusal)
        },
        async sendTransaction() {
          const { tx, raw } = sign(transaction)
          try {
            const payer = sourceOf(transaction).owner
            const recorded = { tx, raw, height: await chain.height(), payer, maxFee: MAX_FEE }
            await recordAndSend(recorded, { record: order.record, send: () => chain.send(raw) })
          } catch (error) {
            if (error instanceof Refused) refusal = error.refusal
            else failure = error
          }
          return tx
        },
        // Our payment reader waits instead: it queries every node, at the configured commitment.
        confirmTransaction: async () => {},
      },
      undefined,
      LIMITS,
    )
    const objection = await runFacilitator(scheme, order)
    if (failure) throw failure
    return refusal ?? objection
  }
}

async function notNeeded(): Promise<never> {
  throw new Error('a check needs no signature')
}

interface Decoded {
  messageBytes: Uint8Array
  /**
   * An instruction names the fee payer. Stock wallets never do this, and a program could take the coins of a signer.
   */
  usesFeePayer: boolean
  /** The accounts of the instruction where the scheme expects the transfer. */
  transfer: Address[]
  memos: string[]
  signatures: Readonly<Record<Address, SignatureBytes | null>>
}

/** The index of the payer among the accounts of the transfer. */
const OWNER = 3

function decode(transaction: string): Decoded | null {
  try {
    const bytes = Buffer.from(transaction, 'base64')
    if (bytes.toString('base64') !== transaction) return null
    const { messageBytes, signatures } = getTransactionDecoder().decode(bytes)
    const message = getCompiledTransactionMessageDecoder().decode(messageBytes)
    if (message.version !== 0 && message.version !== 'legacy') return null
    const accounts = message.instructions.map(({ accountIndices = [] }) => accountIndices)
    const memos = message.instructions.filter(({ programAddressIndex }) =>
      MEMO_PROGRAMS.includes(message.staticAccounts[programAddressIndex] ?? ''),
    )
    return {
      messageBytes: new Uint8Array(messageBytes),
      signatures,
      usesFeePayer: accounts.some((indices) => indices.includes(0)),
      transfer: (accounts[2] ?? []).flatMap((index) => message.staticAccounts[index] ?? []),
      memos: memos.map(({ data }) => Buffer.from(data ?? []).toString()),
    }
  } catch {
    return null
  }
}

/** The paying token account and its signer. The facilitator has checked the position of the transfer. */
function sourceOf(transaction: string): { account: Address; owner: Address } {
  const transfer = decode(transaction)?.transfer ?? []
  const [account, owner] = [transfer[0], transfer[OWNER]]
  if (!account || !owner) throw new Refused({ why: 'invalid', reason: 'no_transfer' })
  return { account, owner }
}
