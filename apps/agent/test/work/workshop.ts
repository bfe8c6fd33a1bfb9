// For tests: an agency whose agent never really waits for the gateway, and places it works at.

import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Tasks } from '@svc/api/agent/tasks'
import type { Variables } from '@svc/http-service/config'
import type { SignedFinding } from '@svc/protocol/finding'
import type { JobRun } from '@svc/queue/queue'
import { type Client, createClient, type Locker, type Signer } from '@svc/sdk'
import type { Context, Overrides } from '../../src/context.ts'
import { dbJournal } from '../../src/gateway/db-journal.ts'
import { findingsAfter, type RunRow, recentRuns } from '../../src/work/store.ts'
import { type Agency, ed25519Person, openAgency, type Person } from '../agency.ts'

export const DAY = 86_400

/** A locker that was delegated, its owner, and what the owner sees of the gateway. */
export interface Place {
  owner: Person
  locker: Locker
  delegationId: string
  agentPubkey: string
  client: Client
  put(filename: string, text: string): Promise<void>
  log(): Promise<SignedFinding[]>
  /** What was found since the last look. */
  news(): Promise<[kind: string, detail: SignedFinding['detail']][]>
  /** The newest first. */
  runs(): Promise<RunRow[]>
}

/** A job of its own. */
export function newJob(): JobRun {
  return { id: randomUUID(), attempt: 1, signal: new AbortController().signal }
}

export interface Workshop extends Agency {
  context: Context
  place(tasks?: Tasks): Promise<Place>
  /** A minute later, with all that is due by then done. */
  soon(): ReturnType<Agency['drain']>
  /** A day later. */
  nextDay(): ReturnType<Agency['drain']>
  /** Where the gateway keeps the bytes of a file. */
  bytesOf(place: Place, filename: string): Promise<string>
  overwrite(place: Place, filename: string, text: string): Promise<void>
  lose(place: Place, filename: string): Promise<void>
  /** Is done once, in the middle of the next watch: when files are listed, and none is read yet. */
  meanwhile(work: () => Promise<unknown>): void
  /** Nobody works at the places of earlier tests. */
  leaveAll(): Promise<void>
}

const WATCH: Tasks = { watch: { every_hours: 24, read_bytes: true } }

export async function openWorkshop(variables?: Variables, overrides?: Overrides): Promise<Workshop> {
  const agency = await openAgency(variables, overrides)
  const { gateway, agent, between, clock } = agency
  const { context } = agent
  const { db } = context.database
  let interruption: (() => Promise<unknown>) | null = null
  const impatientClient = (signer?: Signer): Client => {
    const options = { baseUrl: between.url, journal: dbJournal(db), onWarning: () => {}, ...(signer && { signer }) }
    const wait = async (_ms: number, signal?: AbortSignal) => signal?.throwIfAborted()
    const client = createClient(options, { now: clock.now, wait })
    return {
      ...client,
      async verify(...which) {
        const work = interruption
        interruption = null
        await work?.()
        return client.verify(...which)
      },
    }
  }
  context.gateway = { ...context.gateway, client: impatientClient }

  async function bytesOf({ locker }: Place, filename: string): Promise<string> {
    const { object_id } = await gateway.context.database.db
      .selectFrom('files')
      .select('object_id')
      .where('locker_id', '=', locker.locker_id)
      .where('filename', '=', filename)
      .executeTakeFirstOrThrow()
    const id = object_id as string
    return join(gateway.context.config.storage.localFolder, 'objects', id.slice(0, 2), id)
  }

  function workUntil(seconds: number) {
    clock.advance(seconds)
    return agency.drain()
  }

  return {
    ...agency,
    context,
    bytesOf,
    async place(tasks = WATCH) {
      const owner = await agency.grant(ed25519Person())
      const locker = await agency.locker(owner)
      const { delegation_id: delegationId, agent_pubkey } = await agency.delegateActively(owner, locker, tasks)
      // The key was looked for already, and what there is to do is found by the clock.
      await db.deleteFrom('jobs').where('kind', 'in', ['check-registration', 'mirror', 'watch']).execute()
      const client = agency.client(owner)
      const log = () => findingsAfter(db, delegationId, 0, 10_000)
      let looked = 0
      return {
        owner,
        locker,
        delegationId,
        agentPubkey: agent_pubkey,
        client,
        put: async (filename, text) => void (await client.put(locker, filename, Buffer.from(text))),
        log,
        async news() {
          const all = await log()
          const news = all.slice(looked)
          looked = all.length
          return news.map(({ kind, detail }) => [kind, detail])
        },
        runs: () => recentRuns(db, delegationId, 100),
      }
    },
    soon: () => workUntil(60),
    nextDay: () => workUntil(DAY),
    overwrite: async (place, filename, text) => writeFile(await bytesOf(place, filename), text),
    lose: async (place, filename) => rm(await bytesOf(place, filename)),
    meanwhile(work) {
      interruption = work
    },
    async leaveAll() {
      between.behave()
      await db
        .updateTable('delegations')
        .set({ state: 'ended', ended_at: 0, check_at: null, mirror_at: null, watch_at: null })
        .where('ended_at', 'is', null)
        .execute()
      await db.deleteFrom('jobs').where('kind', 'in', ['mirror', 'watch', 'tell', 'check-registration']).execute()
    },
  }
}
