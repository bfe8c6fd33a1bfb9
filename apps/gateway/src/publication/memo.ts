// The instructions that publish a statement: a memo with its digest. The attestation registry adds its own.

import { AccountRole, address, type Instruction } from '@solana/kit'
import type { Anchor } from '@svc/api/attestations'
import { anchorMemo, anchorPayload } from '@svc/protocol/anchor'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'

/** The instructions of one transaction, and the type of anchor that they make. */
export interface AnchorInstructions {
  type: 'chain_memo_v2' | 'chain_sas_v1'
  instructions: Instruction[]
  sas?: NonNullable<Anchor['sas']>
  /** The rent of a new account, in lamports. */
  deposit: number
}

export function anchorMemoInstructions(
  envelope: EvidenceEnvelope,
  memoProgram: string,
  signer: string,
): AnchorInstructions {
  const memo = anchorMemo(anchorPayload(envelope))
  return { type: 'chain_memo_v2', instructions: [memoInstruction(memo, memoProgram, signer)], deposit: 0 }
}

/** Names the signer as an account, so that the memo program itself checks who signed. */
export function memoInstruction(memo: Uint8Array, memoProgram: string, signer: string): Instruction {
  return {
    programAddress: address(memoProgram),
    accounts: [{ address: address(signer), role: AccountRole.READONLY_SIGNER }],
    data: memo,
  }
}
