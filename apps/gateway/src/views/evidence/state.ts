import type { Context } from '../../context.ts'
import { createProveFile, type ProveFile } from '../../evidence/snapshots/prove-file.ts'
import { createDsse } from './dsse.ts'
import { createRecompute } from './recompute/recompute-verify.ts'
import { createSelfVerify } from './recompute/self-verify.ts'
import { createVerify } from './verify.ts'

interface EvidenceState {
  proveFile: ProveFile
  verify: ReturnType<typeof createVerify>
  dsse: ReturnType<typeof createDsse>
  recompute: ReturnType<typeof createRecompute>
  selfVerify: ReturnType<typeof createSelfVerify>
}

declare module '../../context.ts' {
  interface Context extends EvidenceState {}
}

export function openEvidence(context: Context): EvidenceState {
  return {
    proveFile: createProveFile(context.database.db),
    verify: createVerify(context),
    dsse: createDsse(context),
    recompute: createRecompute(context),
    selfVerify: createSelfVerify(context),
  }
}
