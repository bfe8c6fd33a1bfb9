// Real operations of a gateway that stop between their atomic steps, where the model stops: before they commit, write to
// the journal, show what others committed, sign, send or answer.

import { createCommit } from '@svc/database/commit'
import { writable } from '@svc/devnet/writable'
import type { Context } from '@svc/gateway/context'
import type { DocumentId } from '@svc/gateway/continuity/document-id'
import type { Schema } from '@svc/gateway/db/schema'
import { ServiceError } from '@svc/service/service-error'

/** Where an operation may stop. */
export type Stop = 'commit' | 'recordInJournal' | 'requireWritten' | 'signNext' | 'send' | 'answer'

export interface Stepped {
  /** Where it has stopped; null when it has ended. */
  at: Stop | null
  /** Lets it go on to its next stop, or to its end. */
  resume(): Promise<void>
  /** What it answered. */
  ended: Promise<PromiseSettledResult<unknown>>
}

export async function startStepped(
  context: Context,
  work: (stepped: Context) => Promise<unknown>,
  /** Those of the operation; it passes the others. */
  stops: readonly Stop[],
  changes: Partial<Context> = {},
): Promise<Stepped> {
  let arrived = Promise.withResolvers<void>()
  let released = Promise.withResolvers<void>()
  async function stopAt(stop: Stop): Promise<void> {
    if (!stops.includes(stop)) return
    stepped.at = stop
    released = Promise.withResolvers()
    arrived.resolve()
    await released.promise
  }

  const { database, continuity, statementKeys, primaryChain } = context
  const { guard } = continuity
  const inner = createCommit<Schema, DocumentId>(writable(database.db), database.dialect, {
    ...guard,
    begin() {
      const record = guard.begin()
      return async (tx, ids) => {
        const journal = await record(tx, ids)
        return async () => {
          await stopAt('recordInJournal')
          await journal()
        }
      }
    },
  })
  const commit: typeof database.commit = async (run, options) => {
    await stopAt('commit')
    return inner(run, options)
  }
  const requireWritten: typeof continuity.requireWritten = async (...ids) => {
    if (ids.length > 0) await stopAt('requireWritten')
    return continuity.requireWritten(...ids)
  }
  const current: typeof statementKeys.current = async () => {
    await stopAt('signNext')
    return statementKeys.current()
  }
  const nodes = primaryChain && {
    ...primaryChain.nodes,
    async send(raw: string) {
      await stopAt('send')
      return primaryChain.nodes.send(raw)
    },
  }
  const parts = {
    ...context,
    database: { ...database, commit },
    continuity: { ...continuity, requireWritten },
    statementKeys: { ...statementKeys, current },
    primaryChain: primaryChain && nodes && { ...primaryChain, nodes },
    ...changes,
  }
  const stepped: Stepped = {
    at: null,
    async resume() {
      stepped.at = null
      arrived = Promise.withResolvers()
      released.resolve()
      await Promise.race([arrived.promise, stepped.ended])
    },
    ended: Promise.resolve({ status: 'fulfilled', value: null }),
  }
  stepped.ended = (async () => {
    const [outcome] = await Promise.allSettled([work(parts)])
    if (isAnswered(outcome!)) await stopAt('answer')
    return outcome!
  })()
  await Promise.race([arrived.promise, stepped.ended])
  return stepped
}

/** Refusals of which nobody needs a record are not answers, nor is a statement that another caller wrote. */
function isAnswered(outcome: PromiseSettledResult<unknown>): boolean {
  if (outcome.status === 'fulfilled') return (outcome.value as { isNew?: boolean } | null)?.isNew !== false
  return outcome.reason instanceof ServiceError && 'noted_for_refund' in (outcome.reason.body('').details ?? {})
}
