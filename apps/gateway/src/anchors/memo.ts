import type { Instruction } from '@solana/kit'
import type { Anchor } from '@svc/api/attestations'
import { anchorMemo, anchorPayload } from '@svc/protocol/anchor'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import { memoInstruction } from './instructions.ts'

/** What one transaction writes to publish a statement. */
export interface Writing {
  type: 'chain_memo_v2' | 'chain_sas_v1'
  instructions: Instruction[]
  sas?: NonNullable<Anchor['sas']>
}

export function memoWriting(envelope: EvidenceEnvelope, memoProgram: string, signer: string): Writing {
  const memo = anchorMemo(anchorPayload(envelope))
  return { type: 'chain_memo_v2', instructions: [memoInstruction(memo, memoProgram, signer)] }
}
