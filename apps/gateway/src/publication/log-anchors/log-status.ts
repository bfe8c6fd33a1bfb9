// The progress of the log, and the status of its witnesses and anchors.

import { formatKey } from '@svc/protocol/transparency/note'
import { type Context, unixNow } from '../../context.ts'
import { countEntries } from '../log/store.ts'
import { findWitnesses } from '../log/witnesses/store.ts'
import { waitingSince } from './due-checkpoint.ts'

export async function logStatus(context: Context) {
  const { config, database, publishedLog } = context
  const answers = new Map((await findWitnesses(database.db)).map((row) => [row.witness, row]))
  const size = (await publishedLog.checkpoint())?.size ?? 0
  const witnesses = (config.transparency.policy?.witnesses ?? []).filter(({ url }) => url !== null)
  return {
    size,
    // A database that was set back has fewer entries than are published.
    waiting: Math.max(0, (await countEntries(database.db)) - size),
    witnesses: witnesses.map(({ name, key }) => ({ name, problem: answers.get(formatKey(key))?.problem ?? null })),
    overdueSeconds: await overdueSeconds(context, size),
  }
}

/** How late the next anchor is; null if checkpoints are not anchored. */
async function overdueSeconds(context: Context, size: number): Promise<number | null> {
  const { logSeconds } = context.config.anchors
  if (!context.primaryChain || logSeconds === 0) return null
  const waiting = await waitingSince(context, size)
  if (!waiting) return 0
  return Math.max(0, unixNow(context) - Math.max(waiting.since + logSeconds, waiting.grownAt))
}

/** Warnings for the admin. */
export function logWarnings({ logIdentity, logWriter }: Pick<Context, 'logIdentity' | 'logWriter'>): string[] {
  const problem = logWriter.problem()
  return [
    ...(logIdentity.signer ? [] : ['LOG_KEY is not the key of the transparency log: this process does not write it']),
    ...(problem === null ? [] : [`the transparency log cannot be published: ${problem}`]),
  ]
}
