import { ed25519Signer } from '@svc/protocol/keys'
import { startTestGateway } from '@svc/testbed/gateway'
import { seedFiles, seedLocker } from '@svc/testbed/seed-lockers'
import { seedStatement } from '@svc/testbed/seed-statements'
import { startTestWitness } from '@svc/testbed/witness'
import { expect, it } from 'vitest'
import { findAlarms } from '../../src/alarms/store.ts'

const OWNERS = ['4vJ9JU1bJJE96FWSJKvHsmmFADCg4gpZQff4P3bkLKi', '8opHzTAnfzRpPEx21XtnrVTX28YQuCpAjcn1PczScKh']

it('MON-01 MON-05 MON-06 follows the log of a gateway, which it has objections to only when something is wrong', async () => {
  await using running = new AsyncDisposableStack()
  const gateway = await startTestGateway({ LOG_CHECKPOINT_SECONDS: '3600' })
  running.defer(() => gateway.stop())
  const { vkey } = await (await fetch(`${gateway.url}/v1/log`)).json()
  const witness = await startTestWitness([`log ${vkey} ${gateway.url}/log`], { MONITOR_SECONDS: '0' })
  running.defer(() => witness.stop())
  const { db } = witness.context.database
  const look = async () => {
    await gateway.rooms.log.publish()
    await witness.monitor.round()
    const logs = await db.selectFrom('monitored_logs').select(['judged', 'problem']).execute()
    const alarms = await findAlarms(db, 20)
    return { logs, alarms: alarms.map(({ kind, message }) => `${kind} ${message.split(':')[0]}`).toReversed() }
  }

  await witness.monitor.round()
  const [empty] = await db.selectFrom('monitored_logs').select(['judged', 'problem']).execute()
  expect(empty).toEqual({ judged: 0, problem: null })

  const lockers = []
  for (const owner of OWNERS) {
    const locker = await seedLocker(gateway.context, { owner })
    await seedFiles(gateway.context, locker.locker_id, 2)
    lockers.push(locker)
  }
  for (const locker of [...lockers, ...lockers]) await seedStatement(gateway.context, locker)
  expect(await look()).toEqual({ logs: [{ judged: 4, problem: null }], alarms: [] })
  await seedStatement(gateway.context, lockers[0]!)
  expect(await look()).toEqual({ logs: [{ judged: 5, problem: null }], alarms: [] })

  await seedStatement(gateway.context, lockers[1]!, { signer: ed25519Signer(new Uint8Array(32).fill(9)) })
  await gateway.context.database.db
    .updateTable('statements')
    .set({ record: '{}' })
    .where('receipt_id', '=', lockers[0]!.receipt_id)
    .where('sequence', '=', 3)
    .execute()
  expect(await look()).toEqual({
    logs: [{ judged: 6, problem: null }],
    alarms: ['bad_statement entry 5', 'vanished_statement entry 4'],
  })
})
