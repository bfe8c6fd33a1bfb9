// Access to the primary chain for publishing: its nodes, and the publication key that signs the transactions.

import { address, type Instruction } from '@solana/kit'
import type { Anchor } from '@svc/api/attestations'
import { ROLES } from '@svc/api/networks'
import { createSolanaNodes, type SolanaNodes } from '@svc/payments/solana/nodes'
import { type SignedTransaction, signTransaction } from '@svc/payments/solana/sign-transaction'
import { anchorPayload } from '@svc/protocol/anchor'
import { toBase58 } from '@svc/protocol/bytes'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import type { Ed25519Signer } from '@svc/protocol/keys'
import type { PublicationTable } from '../db/schema.ts'
import { NotPublished } from './errors.ts'
import { anchorMemoInstructions } from './memo.ts'
import { createRegistryWriter } from './registry/writer.ts'
import type { AnchorConfig } from './settings.ts'
import type { Statement } from './store.ts'

export interface PrimaryChain {
  nodes: SolanaNodes
  /** Base58. */
  signer: string
  /**
   * Simulates and signs the transaction of a statement; the caller records it and then sends it. `at`: Unix seconds.
   * Throws `NotPublished` if the chain would reject it.
   */
  prepareStatement(statement: Statement, envelope: EvidenceEnvelope, at: number): Promise<PreparedPublication>
  /** Like `prepareStatement`, for any instructions. */
  prepare(instructions: readonly Instruction[]): Promise<SignedTransaction>
  /** The most that a transaction costs besides rent, in lamports. */
  maxFee: number
}

export interface PreparedPublication {
  publication: PublicationTable
  /** The most that it can cost, in lamports. */
  fee: number
  /** The rent that it locks in a new account, in lamports. */
  deposit: number
}

/** The fee of a transaction with one signature. */
const BASE_FEE = 5000
/** No transaction may use more compute units. */
const MAX_COMPUTE_UNITS = 1_400_000

interface ChainNodes {
  rpcUrls: readonly string[]
  /** How many nodes must agree on the outcome of a transaction. */
  quorum: number
}

/** Null if nothing is published. */
export function openPrimaryChain(
  config: AnchorConfig,
  key: Ed25519Signer,
  { rpcUrls, quorum }: ChainNodes,
): PrimaryChain | null {
  if (!config.isOn) return null
  const nodes = createSolanaNodes(ROLES.publication, rpcUrls, { quorum })
  const signer = toBase58(key.publicKey)
  const priority = config.priorityMicroLamports > 0 ? [unitPriceInstruction(config.priorityMicroLamports)] : []
  const maxFee = BASE_FEE + Math.ceil((config.priorityMicroLamports * MAX_COMPUTE_UNITS) / 1_000_000)
  const addRegistry = config.kind === 'registry' ? createRegistryWriter(nodes, config.registry, signer) : null

  async function prepare(instructions: readonly Instruction[]): Promise<SignedTransaction> {
    const signed = signTransaction(key, [...priority, ...instructions], await nodes.lifetime())
    const objection = await nodes.simulate(signed.raw, { sigVerify: true })
    if (objection !== null) throw simulationFailed(objection)
    return signed
  }

  return {
    nodes,
    signer,
    prepare,
    maxFee,
    async prepareStatement({ receipt_id, sequence }, envelope, at) {
      const memo = anchorMemoInstructions(envelope, config.memoProgram, signer)
      const { type, instructions, sas, deposit } = addRegistry ? await addRegistry(envelope, memo) : memo
      const signed = await prepare(instructions)
      // The parts of the anchor that are known before the transaction is in a block.
      const draft: Anchor = {
        type,
        chain: ROLES.publication.caip2,
        tx: signed.tx,
        slot: null,
        block_time: null,
        signer,
        statement_digest: envelope.statement_digest,
        snapshot_id: envelope.body.snapshot_id,
        payload: { ...anchorPayload(envelope) },
        envelope_version: 2,
        ...(sas && { sas }),
      }
      const publication: PublicationTable = {
        ...signed,
        receipt_id,
        sequence,
        draft: JSON.stringify(draft),
        state: 'sent',
        fee_lamports: null,
        rent_lamports: null,
        sent_at: at,
      }
      return { publication, fee: maxFee, deposit }
    },
  }
}

/** A failed simulation costs nothing, and the transaction is not sent. */
function simulationFailed(objection: string): NotPublished {
  if (/AccountNotFound|InsufficientFunds|"Custom":1\b/.test(objection)) {
    return new NotPublished('publication_key_unfunded', 'the publication key cannot pay for the transaction')
  }
  return new NotPublished('transaction_refused', objection, { isRetryable: !objection.includes('InstructionError') })
}

const COMPUTE_BUDGET = address('ComputeBudget111111111111111111111111111111')
const SET_UNIT_PRICE = 3

/** Buys priority over other transactions. */
function unitPriceInstruction(microLamports: number): Instruction {
  const data = Buffer.alloc(9)
  data.writeUInt8(SET_UNIT_PRICE)
  data.writeBigUInt64LE(BigInt(microLamports), 1)
  return { programAddress: COMPUTE_BUDGET, data }
}
