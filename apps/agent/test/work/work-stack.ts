// An agent stack with delegated lockers: tests change the gateway's stored data and then advance the clock by days.

import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Tasks } from '@svc/api/agent/tasks'
import type { JobRun } from '@svc/database/queue/queue'
import { forAllTests } from '@svc/devnet/for-tests'
import { writable } from '@svc/devnet/writable'
import type { SignedFinding } from '@svc/protocol/finding'
import type { Locker } from '@svc/sdk'
import type { Variables } from '@svc/service/program/config'
import { afterEach } from 'vitest'
import type { Overrides } from '../../src/context.ts'
import { findingsAfter } from '../../src/work/findings/store.ts'
import { recentRuns } from '../../src/work/runs/store.ts'
import { startAgentStack } from '../agent-stack.ts'
import { ed25519Wallet } from '../wallets.ts'

export const DAY = 86_400

/** An active delegation with its locker and owner. */
export type TestDelegation = Awaited<ReturnType<WorkStack['addDelegation']>>

export type WorkStack = Awaited<ReturnType<typeof startWorkStack>>

/** A job with its own id. */
export function newJob(): JobRun {
  return { id: randomUUID(), attempt: 1, isLast: false, signal: new AbortController().signal }
}

/** For another process on the same database and gateway. */
export function processVariables({ chains, context, proxy }: WorkStack): Variables {
  return { ...chains.agentVariables, DATA_DIR: context.config.dataDir, GATEWAY_URL: proxy.url }
}

const WATCH: Tasks = { watch: { every_hours: 24, read_bytes: true } }

/** For the file or describe block that calls it. The stack is available from `beforeAll` on. */
export function useWorkStack(variables?: () => Variables, overrides?: Overrides): WorkStack {
  const stack = forAllTests(() => startWorkStack(variables?.(), overrides))
  afterEach(() => stack.endAllDelegations())
  return stack
}

async function startWorkStack(variables?: Variables, overrides?: Overrides) {
  const stack = await startAgentStack(variables, overrides)
  const { gateway, agent, proxy, clock } = stack
  const { context } = agent
  const { db } = context.database
  let interruption: (() => Promise<unknown>) | null = null
  const { client: createGatewayClient } = context.gateway
  context.gateway = {
    ...context.gateway,
    client(signer) {
      const client = createGatewayClient(signer)
      return {
        ...client,
        async verify(...which) {
          const work = interruption
          interruption = null
          await work?.()
          return client.verify(...which)
        },
      }
    },
  }

  /** Where the gateway stores the bytes of a file. */
  async function storedPath({ locker }: { locker: Locker }, filename: string): Promise<string> {
    const { object_id } = await gateway.context.database.db
      .selectFrom('files')
      .select('object_id')
      .where('locker_id', '=', locker.locker_id)
      .where('filename', '=', filename)
      .executeTakeFirstOrThrow()
    const id = object_id as string
    return join(gateway.context.config.storage.localFolder, 'objects', id.slice(0, 2), id)
  }

  /** Advances the clock by this many seconds and runs all due jobs. */
  function advanceAndRun(seconds: number) {
    clock.advance(seconds)
    return stack.runJobs()
  }

  return {
    ...stack,
    context,
    storedPath,
    advanceAndRun,
    async addDelegation(tasks: Tasks = WATCH) {
      const owner = await stack.grantSubscription(ed25519Wallet())
      const locker = await stack.seedLocker(owner)
      const { delegation_id: id, agent_pubkey } = await stack.delegateAndRegister(owner, locker, tasks)
      // The key is already registered, and the clock determines due runs.
      await writable(db).deleteFrom('jobs').where('kind', 'in', ['check-registration', 'mirror', 'watch']).execute()
      const client = stack.client(owner)
      const log = () => findingsAfter(db, id, 0, 10_000)
      /** Newest first. */
      const runs = () => recentRuns(db, id, 100)
      let seen = 0
      /** Findings since the last call. */
      const newFindings = async (): Promise<[kind: string, detail: SignedFinding['detail']][]> => {
        const all = await log()
        const added = all.slice(seen)
        seen = all.length
        return added.map(({ kind, detail }) => [kind, detail])
      }
      return {
        id,
        owner,
        locker,
        agentPubkey: agent_pubkey,
        /** The owner's client of the gateway. */
        client,
        put: async (filename: string, text: string) => void (await client.put(locker, filename, Buffer.from(text))),
        log,
        newFindings,
        newKinds: async () => (await newFindings()).map(([kind]) => kind),
        runs,
        outcomes: async () => (await runs()).map(({ outcome }) => outcome),
        lastSummary: async (): Promise<Record<string, unknown>> => JSON.parse((await runs())[0]!.summary),
      }
    },
    nextMinute: () => advanceAndRun(60),
    nextDay: () => advanceAndRun(DAY),
    watch: ({ id }: { id: string }, job = newJob()) => agent.modules.work.watch(id, job),
    overwriteStored: async (of: { locker: Locker }, filename: string, text: string) =>
      writeFile(await storedPath(of, filename), text),
    deleteStored: async (of: { locker: Locker }, filename: string) => rm(await storedPath(of, filename)),
    /** Runs once in the middle of the next watch, after it has listed the files and before it reads any. */
    duringNextWatch(work: () => Promise<unknown>) {
      interruption = work
    },
    /** Clears the work that earlier tests left. */
    async endAllDelegations() {
      proxy.behave()
      await writable(db)
        .updateTable('delegations')
        .set({ state: 'ended', ended_at: 0, check_at: null, mirror_at: null, watch_at: null })
        .where('ended_at', 'is', null)
        .execute()
      await writable(db)
        .deleteFrom('jobs')
        .where('kind', 'in', ['mirror', 'watch', 'tell', 'check-registration'])
        .execute()
    },
  }
}
