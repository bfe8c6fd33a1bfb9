// A test gateway with lockers that have statements, and public reads of them.

import type { Anchor } from '@svc/api/attestations'
import { seedFiles, seedLocker } from '@svc/devnet/services/seed-lockers'
import { seedOracleRecord, seedStatement } from '@svc/devnet/services/seed-statements'
import {
  ed25519Identity,
  openTestGateway,
  type Reply,
  type TestGateway,
  type TestGatewayOptions,
  type TestLocker,
} from '@svc/devnet/services/test-gateway'
import { anchorPayload } from '@svc/protocol/anchor'
import type { EvidenceEnvelope } from '@svc/protocol/evidence'
import { expect } from 'vitest'
import type { Locker } from '../../../src/db/schema.ts'
import { findLockerOf } from '../../../src/files/store.ts'

type StatementOptions = NonNullable<Parameters<typeof seedStatement>[2]>
type OracleOptions = NonNullable<Parameters<typeof seedOracleRecord>[2]>

export interface EvidenceGateway extends TestGateway {
  /** A locker with confirmed files whose bytes are uploaded. */
  filled(files: Record<string, string>, options?: { provider?: string }): Promise<FilledLocker>
  /** A locker with this many confirmed files that have rows but no bytes. */
  listed(count: number): Promise<Locker>
  /** Adds the next statement about a locker. */
  state(locker: Locker, options?: StatementOptions): ReturnType<typeof seedStatement>
  /** Adds a record of the oracle era. */
  stateAsOracle(locker: Locker, options?: OracleOptions): ReturnType<typeof seedOracleRecord>
  read<Body>(
    path: string,
    query?: Record<string, string | number>,
    headers?: Record<string, string>,
  ): Promise<Reply<Body>>
  /** Reads and expects a 200. */
  get<Body>(path: string, query?: Record<string, string | number>): Promise<Body>
}

export interface FilledLocker extends Locker {
  put: TestLocker['put']
  call: TestLocker['call']
  removeFile(filename: string): Promise<void>
}

export async function openEvidenceGateway(
  variables: Record<string, string> = {},
  overrides: TestGatewayOptions = {},
): Promise<EvidenceGateway> {
  const instance = await openTestGateway(variables, overrides)
  const { context } = instance.gateway
  const at = variables.DATABASE_URL ? { databaseUrl: variables.DATABASE_URL } : {}

  async function read<Body>(path: string, query: Record<string, string | number> = {}, headers = {}) {
    const params = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]))
    return instance.send<Body>('GET', `${path}?${params}`, undefined, headers)
  }

  return {
    ...instance,
    async filled(files, options) {
      const locker = await instance.locker(ed25519Identity(), options)
      for (const [filename, bytes] of Object.entries(files)) await locker.put(filename, bytes)
      const row = await findLockerOf(context.database.db, { locker_id: locker.lockerId })
      return {
        ...(row as Locker),
        put: locker.put,
        call: locker.call,
        async removeFile(filename) {
          const { status } = await locker.call(['locker:write'], 'DELETE', `/files/${filename}`)
          expect(status).toBe(200)
        },
      }
    },
    async listed(count) {
      const locker = await seedLocker(context, { owner: ed25519Identity().identity })
      await seedFiles(context, locker.locker_id, count)
      return locker
    },
    state: (locker, options = {}) => seedStatement(context, locker, { ...at, ...options }),
    stateAsOracle: (locker, options = {}) => seedOracleRecord(context, locker, { ...at, ...options }),
    read,
    async get<Body>(path: string, query = {}) {
      const { status, body } = await read<Body>(path, query)
      expect(status, JSON.stringify(body)).toBe(200)
      return body
    },
  }
}

/** A locker with three statements, about one, two and three files. */
export async function chainOfThree(instance: EvidenceGateway): Promise<FilledLocker> {
  const locker = await instance.filled({ 'a.txt': 'one' })
  await instance.state(locker)
  for (const [filename, bytes] of [
    ['b.txt', 'two'],
    ['c.txt', 'three'],
  ] as const) {
    instance.clock.advance(60)
    await locker.put(filename, bytes)
    await instance.state(locker)
  }
  return locker
}

/** The anchor of a published statement. */
export function memoAnchor(envelope: EvidenceEnvelope, { finalized = false } = {}): Anchor {
  const { statement_digest, body } = envelope
  return {
    type: 'chain_memo_v2',
    chain: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    tx: '2HWbttxt1tLbyPz9tMtDfxubb4Y3UgPh9CReeVMZikfnAyjafLLB6yEUtztsVtJsCdVWDgDyq19xEVhGFf9KLPyY',
    slot: 400_000_000,
    block_time: body.issued_at_unix + 2,
    signer: '7QueGPEE8H99wiWQpybDxNhpaczLKwoFiC45AGuMbrU4',
    fee_lamports: 5000,
    commitment: finalized ? 'finalized' : 'confirmed',
    finalized,
    statement_digest,
    snapshot_id: body.snapshot_id,
    payload: { ...anchorPayload(envelope) },
    envelope_version: 2,
  }
}

/** The anchor of a record of the oracle era. */
export const ORACLE_ANCHOR: Anchor = {
  type: 'oracle_v2',
  chain: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  tx: '2HWbttxt1tLbyPz9tMtDfxubb4Y3UgPh9CReeVMZikfnAyjafLLB6yEUtztsVtJsCdVWDgDyq19xEVhGFf9KLPyY',
  slot: 300_000_000,
  account: 'EWawNEy7KU8VmH5b2W9oQuieq64djdFYBtPDWm8BHDBY',
  envelope_version: 1,
}
