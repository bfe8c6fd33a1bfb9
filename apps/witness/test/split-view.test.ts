// A gateway that shows two histories, with a real witness, its monitor and the verifier: which of them detects what.

import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { seedFiles, seedLocker } from '@svc/devnet/services/seed-lockers'
import { seedStatement } from '@svc/devnet/services/seed-statements'
import { startTestWitness, type TestWitness } from '@svc/devnet/services/witness'
import { writable } from '@svc/devnet/writable'
import { formatKey, type NoteKey } from '@svc/protocol/transparency/note'
import { type Policy, readPolicy } from '@svc/protocol/transparency/policy'
import { verifyBundle } from '@svc/verifier'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findAlarms } from '../src/alarms/store.ts'

type Gateway = Awaited<ReturnType<typeof startTestGateway>>
type SeededLocker = Awaited<ReturnType<typeof seedLocker>>

const OWNER = '4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi'
const ORIGIN = 'gateway.example/log'

describe('a gateway with two histories', { shuffle: false }, () => {
  let folder: string
  let policyFile: string
  let witness: TestWitness
  let honest: Gateway
  let locker: SeededLocker
  let policy: Policy

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-split-view-'))
    policyFile = join(folder, 'policy')
    witness = await startTestWitness([], { MONITOR_SECONDS: '0' })
    const line = `witness w ${formatKey(witness.context.key)} ${witness.url}\nquorum w\n`
    await writeFile(policyFile, line)
    honest = await startGateway()
    locker = await openLocker(honest)
    const log = formatKey(keyOf(honest))
    await appendFile(witness.logsFile, `log ${log} ${honest.url}/log\n`)
    policy = readPolicy(`log ${log}\n${line}`) as Policy
    await publish(honest, locker, 2)
  })
  afterAll(async () => {
    await honest.stop()
    await witness.stop()
    await rm(folder, { recursive: true, force: true })
  })

  /** Another process with the same keys and another database has another history. */
  const startGateway = () =>
    startTestGateway({
      LOG_KEY: 'a1'.repeat(32),
      LOG_ORIGIN: ORIGIN,
      LOG_POLICY_FILE: policyFile,
      LOG_CHECKPOINT_SECONDS: '3600',
      LOGBOOK_DIR: 'off',
    })
  const keyOf = ({ context }: Gateway): NoteKey => context.logIdentity.key

  async function openLocker({ context }: Gateway): Promise<SeededLocker> {
    const opened = await seedLocker(context, { owner: OWNER })
    await seedFiles(context, opened.locker_id, 2)
    return opened
  }

  async function publish(gateway: Gateway, of: SeededLocker, statements: number): Promise<void> {
    for (let i = 0; i < statements; i++) await seedStatement(gateway.context, of)
    await gateway.context.publishLog()
    // The next run publishes the cosignatures.
    await gateway.context.publishLog()
  }

  async function factsOf(gateway: Gateway, { receipt_id }: SeededLocker) {
    const answer = await fetch(`${gateway.url}/v1/storage/evidence-bundle?receipt_id=${receipt_id}`)
    const verified = await verifyBundle([new Uint8Array(await answer.arrayBuffer())], { policy })
    if (verified.refused) throw new Error(verified.refused.why)
    const { log_included, log_cosigned } = verified.facts
    return [log_included?.value, log_cosigned?.value]
  }

  const alarms = async () => (await findAlarms(witness.context.database.db, 20)).map(({ kind }) => kind)

  it('T-114 MON-01 an honest history is included and cosigned without an alarm', async () => {
    expect(await factsOf(honest, locker)).toEqual(['passed', 'passed'])
    await witness.monitor.round()
    expect(await alarms()).toEqual([])
  })

  it('T-114 a second history is detected by the witness, and by the verifier of its reader', async () => {
    const other = await startGateway()
    const second = await openLocker(other)
    await publish(other, second, 2)
    // The statement is in a log of this name, key and size, but no witness vouches for it.
    expect(await factsOf(other, second)).toEqual(['passed', 'failed'])
    expect(await alarms()).toEqual(['fork'])
    // Not even after it grows.
    await publish(other, second, 3)
    expect(await factsOf(other, second)).toEqual(['passed', 'failed'])
    expect(await alarms()).toContain('fork')
    expect(await factsOf(honest, locker)).toEqual(['passed', 'passed'])
    await other.stop()
  })

  it('T-114 MON-05 a dropped statement is detected by the monitor', async () => {
    const { db } = honest.context.database
    await writable(db)
      .updateTable('statements')
      .set({ record: '{}' })
      .where('receipt_id', '=', locker.receipt_id)
      .execute()
    await witness.monitor.round()
    expect(await alarms()).toContain('vanished_statement')
  })
})
