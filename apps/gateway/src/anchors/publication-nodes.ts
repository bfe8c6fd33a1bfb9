// What publishing asks of the nodes of the primary chain.

import { setTimeout as pause } from 'node:timers/promises'
import {
  type Address,
  assertIsBlockhash,
  type Base64EncodedWireTransaction,
  type Blockhash,
  createSolanaRpc,
  type Signature,
} from '@solana/kit'
import { PRIMARY } from '@svc/payments/networks'

const TIMEOUT_MS = 10_000
/** How long others are waited for when one has answered. */
const PATIENCE_MS = 1000
const CONFIRMED = { commitment: 'confirmed', encoding: 'base64' } as const

/** No node answers. */
export class ChainUnavailable extends Error {
  override name = 'ChainUnavailable'
}

export interface Lifetime {
  blockhash: Blockhash
  lastValidBlockHeight: bigint
}

/** What one node knows of a transaction. */
export interface Sighting {
  /** Of the newest finalized block, read before the status: what was in a block up to it would show there. */
  finalizedHeight: number
  status: { slot: number; commitment: 'confirmed' | 'finalized'; error: string | null } | null
}

export interface Costs {
  slot: number
  blockTime: number | null
  feeLamports: number
  rentLamports: number
}

export interface AccountOnChain {
  owner: string
  data: Uint8Array
}

export type PublicationNodes = ReturnType<typeof createPublicationNodes>

export function createPublicationNodes(rpcUrls: readonly string[], timeoutMs = TIMEOUT_MS) {
  const nodes = rpcUrls.map((url) => createNode(url, timeoutMs))

  /** Asks all at once; the first good answer counts. */
  async function first<T>(ask: (node: Node) => Promise<T>): Promise<T> {
    try {
      return await Promise.any(nodes.map(ask))
    } catch (error) {
      throw new ChainUnavailable('no node of the primary chain answers', { cause: error })
    }
  }

  return {
    lifetime: (): Promise<Lifetime> => first((node) => node.lifetime()),

    /** Why a transaction would fail, null when it would not. One node that would take it is enough: it may be ahead. */
    async objection(raw: string): Promise<string | null> {
      const objections: string[] = []
      const simulate = async (node: Node) => {
        const objection = await node.objection(raw)
        if (objection === null) return null
        objections.push(objection)
        throw new Error(objection)
      }
      return first(simulate).catch((error) => {
        if (objections[0] === undefined) throw error
        return objections[0]
      })
    },

    /** Until one has taken it; the others get it, too. Only the chain tells what became of it. */
    async send(raw: string): Promise<void> {
      await Promise.any(nodes.map((node) => node.send(raw))).catch(() => {})
    },

    /** Of each transaction, what every node says that answers in time; nothing where none does. */
    async sightings(txs: readonly string[]): Promise<Sighting[][]> {
      const answered: Sighting[][] = []
      const asked = nodes.map(async (node) => answered.push(await node.sightings(txs)))
      await Promise.any(asked).catch(() => {})
      await Promise.race([Promise.allSettled(asked), pause(PATIENCE_MS, null, { ref: false })])
      return txs.map((_, i) => answered.flatMap((ofNode) => ofNode[i] ?? []))
    },

    costs: (tx: string): Promise<Costs> => first((node) => node.costs(tx)),
    account: (address: string): Promise<AccountOnChain | null> => first((node) => node.account(address)),
    balance: (address: string): Promise<bigint> => first((node) => node.balance(address)),
  }
}

type Node = ReturnType<typeof createNode>

function createNode(url: string, timeoutMs: number) {
  const rpc = createSolanaRpc(url)
  let isRightChain = false

  async function ask<T>(question: (abortSignal: AbortSignal) => Promise<T>): Promise<T> {
    const abortSignal = AbortSignal.timeout(timeoutMs)
    if (!isRightChain) {
      const genesis: string = await rpc.getGenesisHash().send({ abortSignal })
      if (genesis !== PRIMARY.genesisHash) throw new Error('a node of another chain')
      isRightChain = true
    }
    return question(abortSignal)
  }

  return {
    lifetime: (): Promise<Lifetime> =>
      ask(async (abortSignal) => {
        const { value } = await rpc.getLatestBlockhash({ commitment: 'confirmed' }).send({ abortSignal })
        assertIsBlockhash(value.blockhash)
        whole(value.lastValidBlockHeight)
        return value
      }),

    objection: (raw: string) =>
      ask(async (abortSignal) => {
        const { value } = await rpc
          .simulateTransaction(raw as Base64EncodedWireTransaction, { ...CONFIRMED, sigVerify: true })
          .send({ abortSignal })
        if (value.err === undefined) throw new Nonsense()
        return value.err === null ? null : errorText(value.err)
      }),

    send: (raw: string) =>
      ask((abortSignal) =>
        rpc
          .sendTransaction(raw as Base64EncodedWireTransaction, { encoding: 'base64', skipPreflight: true })
          .send({ abortSignal }),
      ),

    sightings: (txs: readonly string[]): Promise<Sighting[]> =>
      ask(async (abortSignal) => {
        const finalizedHeight = whole(await rpc.getBlockHeight({ commitment: 'finalized' }).send({ abortSignal }))
        const { value } = await rpc
          .getSignatureStatuses(txs as Signature[], { searchTransactionHistory: true })
          .send({ abortSignal })
        return value.map((status) => ({ finalizedHeight, status: sightedStatus(status) }))
      }),

    costs: (tx: string): Promise<Costs> =>
      ask(async (abortSignal) => {
        const found = await rpc
          .getTransaction(tx as Signature, { ...CONFIRMED, maxSupportedTransactionVersion: 0 })
          .send({ abortSignal })
        if (!found?.meta) throw new Error('a node that does not know the transaction yet')
        const { fee, preBalances, postBalances } = found.meta
        const spent = preBalances[0]! - postBalances[0]! // that of who pays
        return {
          slot: whole(found.slot),
          blockTime: found.blockTime === null ? null : whole(found.blockTime),
          feeLamports: whole(fee),
          rentLamports: whole(spent - fee),
        }
      }),

    account: (address: string): Promise<AccountOnChain | null> =>
      ask(async (abortSignal) => {
        const { value } = await rpc.getAccountInfo(address as Address, CONFIRMED).send({ abortSignal })
        return value && { owner: value.owner, data: Buffer.from(value.data[0], 'base64') }
      }),

    balance: (address: string): Promise<bigint> =>
      ask(
        async (abortSignal) =>
          (await rpc.getBalance(address as Address, { commitment: 'confirmed' }).send({ abortSignal })).value,
      ),
  }
}

interface SignatureStatus {
  slot: bigint
  confirmationStatus: string | null
  err: unknown
}

/** What a node has only processed may still vanish: it is as good as not there. */
function sightedStatus(status: SignatureStatus | null): Sighting['status'] {
  if (status === null || status.confirmationStatus === 'processed') return null
  const { confirmationStatus: commitment, err } = status
  if ((commitment !== 'confirmed' && commitment !== 'finalized') || err === undefined) throw new Nonsense()
  return { slot: whole(status.slot), commitment, error: err === null ? null : errorText(err) }
}

/** As good as no answer: another node may have a better one. */
class Nonsense extends Error {
  override message = 'a node answers nonsense'
}

/** Types do not bind nodes. */
function whole(value: unknown): number {
  if (typeof value !== 'bigint') throw new Nonsense()
  return Number(value)
}

function errorText(error: unknown): string {
  return JSON.stringify(error, (_, value) => (typeof value === 'bigint' ? Number(value) : value))
}
