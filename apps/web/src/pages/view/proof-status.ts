// The status of a proof. A proof is about bytes: it counts for this file only if the hashes are equal.

import type { InclusionProof } from '@svc/api/proofs'
import { texts } from '#texts/view'
import type { Tone } from '../../ui/status.tsx'
import type { OpenedFile } from './source.ts'

const t = texts.proof

/** The gateway's answer: an untrusted proof, or the reason why there is none. */
export type Answer = 'hidden' | 'none' | 'failed' | { proof: unknown }

export interface ProofStatus {
  tone: Tone
  title: string
  text: string
}

/** `computed` is the SHA-256 of the received bytes in hex; null before all are read. */
export function proofStatus(
  answer: Answer,
  { size, hash: recorded }: Pick<OpenedFile, 'size' | 'hash'>,
  computed: string | null,
): ProofStatus {
  if (answer === 'hidden') return { tone: 'neutral', title: t.hidden, text: t.hiddenText }
  if (answer === 'none') return { tone: 'neutral', title: t.none, text: t.noneText }
  const proof = answer === 'failed' ? null : readProof(answer.proof)
  if (!proof) return { tone: 'neutral', title: t.failed, text: t.failedText }
  const { file_entry, anchor } = proof
  const hash = computed ?? recorded
  if (file_entry.size_bytes !== size || (hash !== null && file_entry.content_hash !== `sha256:${hash}`))
    return { tone: 'warn', title: t.other, text: t.otherText }
  if (hash === null) return { tone: 'neutral', title: t.unknown, text: t.unknownText }
  if (!anchor) return { tone: 'info', title: t.signed, text: t.signedText }
  const at = anchor.block_time ? t.provenAt(texts.moment(new Date(anchor.block_time * 1000))) : t.published
  return { tone: 'good', title: t.proven, text: at }
}

interface ReadProof {
  file_entry: Pick<InclusionProof['file_entry'], 'size_bytes' | 'content_hash'>
  anchor: { block_time: number | null } | null
}

/** Null if the answer is not a proof: no gateway answer may break the page. */
function readProof(answer: unknown): ReadProof | null {
  const { file_entry, anchor } = fieldsOf(answer)
  const { size_bytes, content_hash } = fieldsOf(file_entry)
  if (typeof size_bytes !== 'number' || typeof content_hash !== 'string') return null
  const { block_time } = fieldsOf(anchor)
  const isTime = typeof block_time === 'number' && !Number.isNaN(new Date(block_time * 1000).getTime())
  const isAnchor = typeof anchor === 'object' && anchor !== null
  return {
    file_entry: { size_bytes, content_hash },
    anchor: isAnchor ? { block_time: isTime ? block_time : null } : null,
  }
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}
