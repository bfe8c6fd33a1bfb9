// The nodes and the key that publish, and how a statement becomes a transaction.

import type { Instruction } from '@solana/kit'
import { createSolanaNodes, type SolanaNodes } from '@svc/chains/solana/nodes'
import { type SignedTransaction, signTransaction } from '@svc/chains/solana/sign-transaction'
import { PRIMARY } from '@svc/payments/networks'
import { toBase58 } from '@svc/protocol/bytes'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import type { Ed25519Signer } from '@svc/protocol/keys'
import { NotPublished } from './errors.ts'
import { unitPriceInstruction } from './instructions.ts'
import { memoWriting, type Writing } from './memo.ts'
import { createRegistryWriter } from './registry/writer.ts'
import type { AnchorConfig } from './settings.ts'

export interface Publisher {
  nodes: SolanaNodes
  /** Base58. */
  signer: string
  writingOf(envelope: EvidenceEnvelope): Promise<Writing>
  /** Signed, not sent. Throws `NotPublished` where the chain would not take it. */
  prepare(instructions: readonly Instruction[]): Promise<SignedTransaction>
}

/** Null where nothing is published. */
export function openPublisher(config: AnchorConfig, key: Ed25519Signer, rpcUrls: readonly string[]): Publisher | null {
  if (config.kind === 'off' || rpcUrls.length === 0) return null
  const nodes = createSolanaNodes(PRIMARY, rpcUrls)
  const signer = toBase58(key.publicKey)
  const priority = config.priorityMicroLamports > 0 ? [unitPriceInstruction(config.priorityMicroLamports)] : []
  const inRegistry = config.kind === 'registry' ? createRegistryWriter(nodes, config.registry, signer) : null

  return {
    nodes,
    signer,
    async writingOf(envelope) {
      const memo = memoWriting(envelope, config.memoProgram, signer)
      return inRegistry ? inRegistry(envelope, memo) : memo
    },
    async prepare(instructions) {
      const signed = signTransaction(key, [...priority, ...instructions], await nodes.lifetime())
      const objection = await nodes.simulate(signed.raw, { sigVerify: true })
      if (objection !== null) throw refusal(objection)
      return signed
    },
  }
}

/** A simulation that fails costs nothing, and the transaction is not sent. */
function refusal(objection: string): NotPublished {
  if (/AccountNotFound|InsufficientFunds|"Custom":1\b/.test(objection)) {
    return new NotPublished('publication_key_unfunded', 'the publication key cannot pay for the transaction')
  }
  return new NotPublished('transaction_refused', objection, { isRetryable: !objection.includes('InstructionError') })
}
