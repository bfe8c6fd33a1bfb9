import type { Attest } from '../attestations/attest.ts'
import { createProveFile, type ProveFile } from '../attestations/snapshots/prove-file.ts'
import type { OracleCheck } from '../auth/internal-callers.ts'
import type { Context } from '../context.ts'
import type { KeysAt } from '../keys/signing-keys.ts'
import type { TransparencyLog } from '../log/transparency-log.ts'
import { createDsse } from './dsse.ts'
import { createRecompute } from './recompute/recompute-verify.ts'
import { createSelfVerify } from './recompute/self-verify.ts'
import { createVerify } from './verify.ts'

interface Needs {
  keysAt: KeysAt
  attest: Attest
  mayCompute: OracleCheck
  transparencyLog: TransparencyLog
}

export interface EvidenceContext extends Context, Needs {
  proveFile: ProveFile
  verify: ReturnType<typeof createVerify>
  dsse: ReturnType<typeof createDsse>
  recompute: ReturnType<typeof createRecompute>
  selfVerify: ReturnType<typeof createSelfVerify>
}

export function createEvidence(context: Context, needs: Needs): EvidenceContext {
  const withKeys = { ...context, keysAt: needs.keysAt }
  const proveFile = createProveFile(context.database.db)
  return {
    ...context,
    ...needs,
    proveFile,
    verify: createVerify(withKeys),
    dsse: createDsse({ ...withKeys, proveFile }),
    recompute: createRecompute(withKeys),
    selfVerify: createSelfVerify(withKeys),
  }
}
