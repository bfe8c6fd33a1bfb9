// What publishing works with: the nodes, the key, and how a statement becomes a transaction.

import type { Instruction } from '@solana/kit'
import { toBase58 } from '@svc/protocol/bytes'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import type { Ed25519Signer } from '@svc/protocol/keys'
import { unitPriceInstruction } from './instructions.ts'
import { createPublicationNodes, type PublicationNodes } from './publication-nodes.ts'
import { NotPublished } from './push-errors.ts'
import { createRegistryWriter } from './registry/registry-writing.ts'
import type { AnchorConfig } from './settings.ts'
import { type SignedTransaction, signTransaction } from './sign-transaction.ts'
import { memoWriting, type Writing } from './writing.ts'

export interface Publisher {
  nodes: PublicationNodes
  /** Base58. */
  signer: string
  writingOf(envelope: EvidenceEnvelope): Promise<Writing>
  /** Signed, not sent. Throws `NotPublished` where the chain would not take it. */
  prepare(instructions: readonly Instruction[]): Promise<SignedTransaction>
}

/** Null where nothing is published. */
export function openPublisher(config: AnchorConfig, key: Ed25519Signer, rpcUrls: readonly string[]): Publisher | null {
  if (config.kind === 'off' || rpcUrls.length === 0) return null
  const nodes = createPublicationNodes(rpcUrls)
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
      const objection = await nodes.objection(signed.raw)
      if (objection !== null) throw refusal(objection)
      return signed
    },
  }
}

/** A simulation that fails has cost nothing, and the transaction was not sent. */
function refusal(objection: string): NotPublished {
  if (/AccountNotFound|InsufficientFunds|"Custom":1\b/.test(objection)) {
    return new NotPublished('publication_key_unfunded', 'the publication key cannot pay for the transaction')
  }
  return new NotPublished('transaction_refused', objection, { isRetryable: !objection.includes('InstructionError') })
}
