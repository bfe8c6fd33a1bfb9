// How far a log was read. Whoever signs a log could sign another one in its place: only who remembers it would notice.

import type { Finding } from '@svc/api/agent/delegations'
import type { Context } from '../context.ts'
import { UntrueAnswer } from '../errors.ts'
import { journalEntry } from '../journal-entry.ts'

type LastRead = Pick<Finding, 'sequence' | 'digest'>

/** That the log goes on from where it was when it was last read; from now on, from where it is. */
export async function requireContinued(context: Context, delegationId: string, log: readonly Finding[]): Promise<void> {
  const entry = journalEntry<LastRead>(context.journal, `findings ${context.baseUrl} ${delegationId}`)
  const known = await entry.read()
  if (known && log[known.sequence - 1]?.digest !== known.digest)
    throw new UntrueAnswer(`entry ${known.sequence} of the log is gone, or not what it was when it was last read`)
  const last = log.at(-1)
  if (!last || last.sequence === known?.sequence) return
  // Where somebody else noted it meanwhile, his reading is as good.
  await entry.write({ sequence: last.sequence, digest: last.digest })
}
