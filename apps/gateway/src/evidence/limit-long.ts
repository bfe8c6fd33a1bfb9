import type { WireRequest } from '@svc/http-service/wire-request'
import type { AttestationRecord } from '../attestations/record.ts'
import { isLong } from '../attestations/view.ts'
import { limitStranger } from '../auth/limits.ts'
import type { Context } from '../context.ts'

/** About a tenth of a second. */
const FILES_PER_ASK = 50_000

/** An answer with a million files takes seconds, so that it counts for many (T-10). */
export async function limitLong(context: Context, wire: WireRequest, of: AttestationRecord | null): Promise<void> {
  if (!of || !isLong(of)) return
  await limitStranger(context, wire, of.receiptId, Math.ceil(of.record.file_count / FILES_PER_ASK))
}
